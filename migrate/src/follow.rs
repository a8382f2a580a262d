//! The target as a replica of the source, or the source as a replica of the target.

use crate::end::{End, text};
use crate::error::{Error, Result};
use crate::journal::{Journal, Phase};
use crate::parts::Move;
use crate::progress::{count, duration};
use mysql::{Conn, Row};
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(100);

/// Begins to follow the source, and waits until everything is applied that happened during the copy. M1
///
/// # Errors
/// The servers'; the replica has stopped.
pub fn catch_up(of: &Move<'_>, journal: &mut Journal) -> Result<()> {
    let mut to = of.target.connect()?;
    if !is_subset(&of.target, &mut to, &journal.begin)? {
        let missing = missing(&of.target, &mut to, &journal.begin)?;
        of.target.run(&mut to, &format!("SET GLOBAL gtid_purged = '+{missing}'"))?;
    }
    // A restart of the target keeps both. M4
    of.target.run(&mut to, "SET PERSIST super_read_only = ON")?;
    of.target.run(&mut to, "SET PERSIST replica_exec_mode = 'IDEMPOTENT'")?;
    if status_row(&of.target, &mut to)?.is_none() {
        follow(&of.target, &mut to, &of.source, of.flags.source_address.as_deref())?;
    }
    of.target.run(&mut to, "START REPLICA")?;
    wait(of, &of.target, &mut to, &journal.copied, None, "catching up")?;
    // Between two groups; those that are here have brought every row to the source's state.
    of.target.run(&mut to, "SET GLOBAL replica_exec_mode = 'STRICT'")?;
    of.target.run(&mut to, "RESET PERSIST replica_exec_mode")?;
    journal.phase = Phase::Following;
    journal.write()
}

/// Waits until the target has what the source has now.
///
/// # Errors
/// The servers'; the replica has stopped.
pub fn wait_in_step(of: &Move<'_>) -> Result<()> {
    wait(of, &of.target, &mut of.target.connect()?, &of.source.executed()?, None, "following")
}

/// Makes `replica` one of `source`. `address`: the source's, as the replica reaches it.
pub fn follow(replica: &End, conn: &mut Conn, source: &End, address: Option<&str>) -> Result<()> {
    let is_new = replica.product(conn)?.has_new_words();
    let (host, port) = match address.map(|address| address.rsplit_once(':').unwrap_or((address, "3306"))) {
        Some((host, port)) => {
            (host.to_owned(), port.parse().map_err(|_| Error(format!("'{host}:{port}' has no number of a port")))?)
        }
        None => (source.host(), source.port()),
    };
    let word = if is_new { "SOURCE" } else { "MASTER" };
    let statement = if is_new { "CHANGE REPLICATION SOURCE TO" } else { "CHANGE MASTER TO" };
    let public_key = if replica.product(conn)?.number >= (8, 0) { format!(", GET_{word}_PUBLIC_KEY = 1") } else { String::new() };
    // Who asked for encrypted connections wants the servers' own to be, too. What authorities the replica has, we do not know.
    let ssl = if source.is_encrypted() { format!(", {word}_SSL = 1") } else { String::new() };
    let options = format!(
        "{word}_HOST = {}, {word}_PORT = {port}, {word}_USER = {}, {word}_PASSWORD = {}, {word}_AUTO_POSITION = 1{public_key}{ssl}, \
         {word}_CONNECT_RETRY = 5, {word}_RETRY_COUNT = 86400",
        text(&host),
        text(source.user()),
        text(source.password())
    );
    // The statement has a password, so no message repeats it.
    mysql::prelude::Queryable::query_drop(conn, format!("{statement} {options}")).map_err(replica.wrong(statement))
}

/// START, STOP or RESET REPLICA, in the server's words.
pub fn say(replica: &End, conn: &mut Conn, verb: &str, rest: &str) -> Result<()> {
    let noun = if replica.product(conn)?.has_new_words() { "REPLICA" } else { "SLAVE" };
    replica.run(conn, &format!("{verb} {noun}{rest}"))
}

fn status_row(replica: &End, conn: &mut Conn) -> Result<Option<Row>> {
    let noun = if replica.product(conn)?.has_new_words() { "REPLICA" } else { "SLAVE" };
    Ok(replica.rows(conn, &format!("SHOW {noun} STATUS"))?.into_iter().next())
}

/// A column of the status, by its new name, whatever the server calls it.
fn shown(row: &Row, name: &str) -> String {
    let old = name.replace("Replica", "Slave").replace("Source", "Master");
    let value = |name: &str| row.get_opt::<Option<String>, _>(name).and_then(|value| value.ok());
    value(name).or_else(|| value(&old)).flatten().unwrap_or_default()
}

/// What a replica cannot go on with; empty: nothing.
fn trouble(row: &Row) -> String {
    let (sql, io) = (shown(row, "Last_SQL_Error"), shown(row, "Last_IO_Error"));
    if sql.is_empty() { io } else { sql }
}

fn is_subset(end: &End, conn: &mut Conn, set: &str) -> Result<bool> {
    Ok(end.first::<u64>(conn, &format!("SELECT GTID_SUBSET({}, @@GLOBAL.gtid_executed)", text(set)))? == 1)
}

/// What of a set a server has not executed.
pub fn missing(end: &End, conn: &mut Conn, set: &str) -> Result<String> {
    let set: String = end.first(conn, &format!("SELECT GTID_SUBTRACT({}, @@GLOBAL.gtid_executed)", text(set)))?;
    Ok(set.split_whitespace().collect())
}

/// How many transactions a set has.
fn size(set: &str) -> u64 {
    // Each interval is `N` or `N-M`, behind the UUID (and perhaps a tag).
    let intervals = set.split(',').flat_map(|of| of.split(':').skip(1)).filter_map(|interval| {
        let (low, high) = interval.split_once('-').unwrap_or((interval, interval));
        Some(high.parse::<u64>().ok()?.saturating_sub(low.parse().ok()?) + 1)
    });
    intervals.sum()
}

/// Waits until a replica has executed a set.
///
/// # Errors
/// It has stopped with an error; it has not done it in `patience`.
pub fn wait(of: &Move<'_>, replica: &End, conn: &mut Conn, set: &str, patience: Option<Duration>, what: &str) -> Result<()> {
    let began = Instant::now();
    let mut first = None;
    loop {
        let missing = missing(replica, conn, set)?;
        if missing.is_empty() {
            return Ok(());
        }
        let left = size(&missing);
        let first = *first.get_or_insert(left);
        let Some(row) = status_row(replica, conn)? else {
            return Err(Error(format!("{} is no replica any more", replica.name())));
        };
        if shown(&row, "Replica_SQL_Running") == "No" {
            let why = trouble(&row);
            // What the applier could not do is set right by hand, or by another try.
            return Err(Error(format!("{}: the replica has stopped: {why}", replica.name())));
        }
        let seconds = began.elapsed().as_secs_f64();
        if patience.is_some_and(|patience| began.elapsed() > patience) {
            return Err(Error(format!(
                "{} has not applied {} transactions in {}",
                replica.name(),
                count(left),
                duration(seconds)
            )));
        }
        of.progress.show(|| {
            let rate = first.saturating_sub(left) as f64 / seconds.max(0.001);
            let until = if rate > 0.0 { format!(", about {} left", duration(left as f64 / rate)) } else { String::new() };
            let trouble = trouble(&row);
            let trouble = if trouble.is_empty() { String::new() } else { format!(" ({trouble})") };
            format!("{what}: {} transactions to apply{until}{trouble}", count(left))
        });
        std::thread::sleep(LOOK);
    }
}

/// One line about a replica.
pub fn status(replica: &End, source: &End) -> Result<String> {
    let mut conn = replica.connect()?;
    let Some(row) = status_row(replica, &mut conn)? else { return Ok(format!("{} follows nobody\n", replica.name())) };
    let left = size(&missing(replica, &mut conn, &source.executed()?)?);
    let (io, sql, trouble) = (shown(&row, "Replica_IO_Running"), shown(&row, "Replica_SQL_Running"), trouble(&row));
    let trouble = if trouble.is_empty() { String::new() } else { format!(": {trouble}") };
    Ok(format!(
        "{} follows {}: receiver {io}, applier {sql}, {} transactions to apply{trouble}\n",
        replica.name(),
        source.name(),
        count(left)
    ))
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn the_size_of_a_set_of_gtids_is_counted() {
        let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
        assert_eq!(size(""), 0);
        assert_eq!(size(&format!("{uuid}:1-5:7,{uuid}:tag:1-10")), 16);
    }
}
