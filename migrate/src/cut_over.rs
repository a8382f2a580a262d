//! Changes the server that applications write at: to the target, and back again.
//!
//! ```text
//! close the one (super_read_only) -> the other has everything -> open the other -> the one follows the other
//! ```
//! M4 (`lib.rs`). Until the other one is opened, an error opens the first one again, and nothing has changed.

use crate::end::{End, quoted};
use crate::error::{Error, Result};
use crate::follow::{self, missing};
use crate::journal::{Journal, Phase};
use crate::parts::Move;
use crate::progress::duration;
use crate::verify;
use mysql::Conn;
use std::time::{Duration, Instant};

/// So many transactions of its own a target may have before a 5.7 is told of each.
const EMPTY_GROUPS_MAX: u64 = 10_000;

/// From the source to the target.
///
/// # Errors
/// The servers'; rows that differ; the target did not catch up in time. The source is open then.
pub fn run(of: &Move<'_>, journal: &mut Journal) -> Result<String> {
    if journal.phase != Phase::Following {
        return Err(Error(format!(
            "the move is at '{}': only one that is at '{}' can be cut over",
            journal.phase.name(),
            Phase::Following.name()
        )));
    }
    let (mut from, mut to) = (of.source.connect()?, of.target.connect()?);
    // What can be waited for is waited for while applications write.
    follow::wait_in_step(of)?;
    let closed = close(&of.source, &mut from, of.flags.patience)?;
    let began = Instant::now();
    let moved = (|| {
        let executed = of.source.executed_by(&mut from)?;
        follow::wait(of, &of.target, &mut to, &executed, Some(Duration::from_secs(of.flags.patience)), "cutting over")?;
        verify::run_again(of, &journal.unsettled)?;
        of.target.run(&mut to, "STOP REPLICA")?;
        of.target.run(&mut to, "RESET REPLICA ALL")?;
        // What the target has executed now is of this move, or came from the source: the way back leaves it out.
        let known = of.target.executed_by(&mut to)?;
        journal.phase = Phase::CutOver;
        journal.unsettled.clear();
        journal.write()?;
        Ok(known)
    })();
    let known = match moved {
        Ok(known) => known,
        Err(error) => return Err(reopened(&of.source, &mut from, closed, error)),
    };
    open(&of.target, &mut to)?;
    let closed_for = duration(began.elapsed().as_secs_f64());
    set_events(of, &mut to, journal, "ENABLE")?;
    let mut told = format!("{} is open for writing; applications could not write for {closed_for}\n", of.target.name());
    if of.flags.no_way_back {
        return Ok(told);
    }
    match way_back(of, &mut from, &known) {
        Ok(()) => {
            told.push_str(&format!("{} follows it and stays read-only: 'heddle migrate go-back' goes back\n", of.source.name()))
        }
        Err(error) => told.push_str(&format!("there is NO way back without loss, since the old server cannot follow: {error}\n")),
    }
    Ok(told)
}

/// From the target to the source.
///
/// # Errors
/// The servers'; the source did not catch up in time. The target is open then.
pub fn go_back(of: &Move<'_>, journal: &mut Journal) -> Result<String> {
    if journal.phase != Phase::CutOver {
        return Err(Error(format!("the move is at '{}': there is nothing to go back from", journal.phase.name())));
    }
    let (mut from, mut to) = (of.source.connect()?, of.target.connect()?);
    follow::wait(of, &of.source, &mut from, &of.target.executed()?, None, "following")?;
    set_events(of, &mut to, journal, "DISABLE ON SLAVE")?;
    let closed = close(&of.target, &mut to, of.flags.patience)?;
    let began = Instant::now();
    let moved = (|| {
        let executed = of.target.executed_by(&mut to)?;
        follow::wait(of, &of.source, &mut from, &executed, Some(Duration::from_secs(of.flags.patience)), "going back")?;
        follow::say(&of.source, &mut from, "STOP", "")?;
        follow::say(&of.source, &mut from, "RESET", " ALL")?;
        journal.phase = Phase::Following;
        journal.write()
    })();
    if let Err(error) = moved {
        let error = reopened(&of.target, &mut to, closed, error);
        set_events(of, &mut to, journal, "ENABLE")?;
        return Err(error);
    }
    open(&of.source, &mut from)?;
    let closed_for = duration(began.elapsed().as_secs_f64());
    of.target.run(&mut to, "SET PERSIST super_read_only = ON")?;
    follow::follow(&of.target, &mut to, &of.source, of.flags.source_address.as_deref())?;
    of.target.run(&mut to, "START REPLICA")?;
    Ok(format!("{} is open for writing again; applications could not write for {closed_for}\n", of.source.name()))
}

/// Says whether the moved events run at the target, which is open for writing.
fn set_events(of: &Move<'_>, to: &mut Conn, journal: &Journal, state: &str) -> Result<()> {
    let alter = |(database, event): &(String, String)| format!("ALTER EVENT {}.{} {state}", quoted(database), quoted(event));
    journal.events.iter().try_for_each(|event| of.target.run(to, &alter(event)))
}

/// `super_read_only` and `read_only`, as they were.
type ReadOnly = (u64, u64);

/// Closes a server for writing.
fn close(end: &End, conn: &mut Conn, patience: u64) -> Result<ReadOnly> {
    let before = end.first(conn, "SELECT @@GLOBAL.super_read_only, @@GLOBAL.read_only")?;
    // It waits for transactions that have written.
    end.run(conn, &format!("SET SESSION lock_wait_timeout = {}", patience.max(1)))?;
    let closed = end.run(conn, "SET GLOBAL super_read_only = ON").and_then(|()| end_transactions(end, conn));
    match closed {
        Ok(()) => Ok(before),
        Err(error) => Err(reopened(end, conn, before, error)),
    }
}

/// Ends the connections whose transactions hold row locks. None of them can commit any more, and as a replica the server would wait for their locks.
fn end_transactions(end: &End, conn: &mut Conn) -> Result<()> {
    let query = "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_rows_locked + trx_rows_modified > 0 AND \
                 trx_mysql_thread_id NOT IN (0, CONNECTION_ID())";
    for connection in end.rows::<u64>(conn, query)? {
        match end.run(conn, &format!("KILL {connection}")) {
            Ok(()) => {}
            // It may have gone by itself.
            Err(_) if !end.rows::<u64>(conn, query)?.contains(&connection) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn open(end: &End, conn: &mut Conn) -> Result<()> {
    if end.product(conn)?.is_heddle {
        // It was set for the time of the move (`follow::catch_up`).
        end.run(conn, "RESET PERSIST IF EXISTS super_read_only")?;
    }
    end.run(conn, "SET GLOBAL super_read_only = OFF")?;
    end.run(conn, "SET GLOBAL read_only = OFF")
}

/// The error that ended a cut-over, and what became of the server that was closed.
fn reopened(end: &End, conn: &mut Conn, (super_read_only, read_only): ReadOnly, error: Error) -> Error {
    let open = end
        .run(conn, &format!("SET GLOBAL super_read_only = {super_read_only}"))
        .and_then(|()| end.run(conn, &format!("SET GLOBAL read_only = {read_only}")));
    match open {
        Ok(()) => Error(format!("{error}\n{} is as it was before", end.name())),
        Err(second) => Error(format!("{error}\n{} IS STILL READ-ONLY: {second}", end.name())),
    }
}

/// The source becomes a replica of the target. `known`: what the target had executed before applications wrote there.
fn way_back(of: &Move<'_>, from: &mut Conn, known: &str) -> Result<()> {
    let own = missing(&of.source, from, known)?;
    if !own.is_empty() {
        if of.source.product(from)?.number >= (8, 0) {
            of.source.run(from, &format!("SET GLOBAL gtid_purged = '+{own}'"))?;
        } else {
            empty_groups(&of.source, from, &own)?;
        }
    }
    follow::follow(&of.source, from, &of.target, of.flags.target_address.as_deref())?;
    follow::say(&of.source, from, "START", "")
}

/// Tells a 5.7, whose `gtid_purged` cannot grow, that it has executed a set: a transaction without changes for each.
fn empty_groups(end: &End, conn: &mut Conn, set: &str) -> Result<()> {
    let mut left = EMPTY_GROUPS_MAX;
    for of in set.split(',') {
        let mut parts = of.split(':');
        let uuid = parts.next().unwrap_or_default();
        for interval in parts {
            let (low, high) = interval.split_once('-').unwrap_or((interval, interval));
            let wrong = || Error(format!("{}: '{set}' is no set of GTIDs", end.name()));
            let (low, high): (u64, u64) = (low.parse().map_err(|_| wrong())?, high.parse().map_err(|_| wrong())?);
            for number in low..=high {
                left = left
                    .checked_sub(1)
                    .ok_or_else(|| Error(format!("the target has more than {EMPTY_GROUPS_MAX} transactions of its own")))?;
                end.run(conn, &format!("SET gtid_next = '{uuid}:{number}'"))?;
                end.run(conn, "BEGIN")?;
                end.run(conn, "COMMIT")?;
            }
        }
    }
    end.run(conn, "SET gtid_next = 'AUTOMATIC'")
}
