//! Compares the models with the database. `main.rs` lists the rules that must hold.

use crate::load::DATABASE;
use crate::model::{ACCOUNT_TABLES, ACCOUNTS, Events, Models, NEVER, OPENING_BALANCE, Side, SideTable, Transfers, payload};
use crate::side::{settle, value};
use mysql::prelude::Queryable;
use mysql::{Conn, Error};
use std::collections::{BTreeMap, BTreeSet};
use tests::Address;

/// All checks; the failures found. An error is a query that did not run.
pub fn all(models: &mut Models, address: &Address) -> Result<Vec<String>, String> {
    let mut conn = address.connect_to(DATABASE).map_err(|e| e.to_string())?;
    let mut found = Vec::new();
    let mut run = || -> Result<(), Error> {
        accounts(&mut conn, &mut found)?;
        for (client, model) in models.transfers.iter_mut().enumerate() {
            ledger(&mut conn, client as u32, model, &mut found)?;
        }
        ledger_as_a_whole(&mut conn, &mut found)?;
        for (client, model) in models.events.iter_mut().enumerate() {
            events(&mut conn, client as u32, model, &mut found)?;
        }
        events_as_a_whole(&mut conn, &models.events, &mut found)?;
        side_tables(&mut conn, &mut models.side, &mut found)
    };
    run().map_err(|e| format!("a check did not run: {e}"))?;
    Ok(found)
}

fn expect<T: PartialEq + std::fmt::Debug>(found: &mut Vec<String>, what: &str, got: T, want: T) {
    if got != want {
        let short = |v: &T| format!("{v:?}").chars().take(200).collect::<String>();
        found.push(format!("{what}: got {}, want {}", short(&got), short(&want)));
    }
}

/// C2, and C3 for the accounts.
fn accounts(conn: &mut Conn, found: &mut Vec<String>) -> Result<(), Error> {
    let mut total = 0;
    for table in ACCOUNT_TABLES {
        let rows: Vec<(u32, String, i64)> = conn.query(format!("SELECT id, owner, balance FROM {table} ORDER BY id"))?;
        expect(found, &format!("{table}: ids"), rows.iter().map(|r| r.0).collect::<Vec<_>>(), (0..ACCOUNTS).collect());
        total += rows.iter().map(|r| r.2).sum::<i64>();
        let mut by_owner: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        let mut by_balance: BTreeMap<i64, u32> = BTreeMap::new();
        for (id, owner, balance) in &rows {
            by_owner.entry(owner).or_default().push(*id);
            *by_balance.entry(*balance).or_default() += 1;
        }
        for (owner, ids) in by_owner {
            let got: Vec<u32> = conn.exec(format!("SELECT id FROM {table} WHERE owner = ? ORDER BY id"), (owner,))?;
            expect(found, &format!("{table}: ids by index owner = '{owner}'"), got, ids);
        }
        let low = by_balance.keys().next().copied().unwrap_or(0);
        let high = by_balance.keys().next_back().copied().unwrap_or(0);
        let sql =
            format!("SELECT balance, COUNT(*) FROM {table} WHERE balance BETWEEN ? AND ? GROUP BY balance ORDER BY balance");
        let got: Vec<(i64, u32)> = conn.exec(sql, (low, high))?;
        expect(found, &format!("{table}: balances by index"), got, by_balance.into_iter().collect());
    }
    let want = OPENING_BALANCE * i64::from(ACCOUNTS) * ACCOUNT_TABLES.len() as i64;
    expect(found, "the sum of all balances", total, want);
    let never: Vec<u32> = conn.query(format!("SELECT id FROM {} WHERE owner = 'never'", ACCOUNT_TABLES[0]))?;
    expect(found, "accounts of an open transaction", never, Vec::new());
    Ok(())
}

/// C1 for the transfers of one client.
fn ledger(conn: &mut Conn, client: u32, model: &mut Transfers, found: &mut Vec<String>) -> Result<(), Error> {
    let rows: Vec<(u32, i64)> = conn.exec("SELECT seq, amount FROM ledger WHERE client = ? ORDER BY seq", (client,))?;
    let mut whole: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    for (seq, amount) in rows {
        whole.entry(seq / 2).or_default().push(amount);
    }
    for (number, amounts) in &whole {
        if amounts.len() != 2 || amounts.iter().sum::<i64>() != 0 {
            found.push(format!("client {client}: transfer {number} is half there: {amounts:?}"));
        }
    }
    if let Some(number) = model.in_flight.take()
        && whole.contains_key(&number)
    {
        model.acknowledged.insert(number);
    }
    let there: BTreeSet<u32> = whole.into_keys().collect();
    let lost: Vec<&u32> = model.acknowledged.difference(&there).take(5).collect();
    let extra: Vec<&u32> = there.difference(&model.acknowledged).take(5).collect();
    expect(found, &format!("client {client}: acknowledged transfers that are lost"), lost, Vec::new());
    expect(found, &format!("client {client}: transfers that were never committed"), extra, Vec::new());
    Ok(())
}

/// C3 and C5 for the ledger.
fn ledger_as_a_whole(conn: &mut Conn, found: &mut Vec<String>) -> Result<(), Error> {
    let by_row: Option<(u64, Option<i64>)> = conn.query_first("SELECT COUNT(*), CAST(SUM(amount) AS SIGNED) FROM ledger")?;
    let by_index: Option<(u64, Option<i64>)> =
        conn.query_first("SELECT COUNT(*), CAST(SUM(amount) AS SIGNED) FROM ledger WHERE amount BETWEEN -1000 AND 1000")?;
    expect(found, "ledger: rows and sum by index amount", &by_index, &by_row);
    expect(found, "ledger: the sum", by_row.and_then(|r| r.1).unwrap_or(0), 0);
    let twice: Vec<(u32, u32)> = conn.query("SELECT client, seq FROM ledger GROUP BY client, seq HAVING COUNT(*) > 1")?;
    expect(found, "ledger: duplicates in a unique key", twice, Vec::new());
    let never: Option<u64> = conn.exec_first("SELECT COUNT(*) FROM ledger WHERE client = ?", (NEVER,))?;
    expect(found, "ledger: rows of an open transaction", never, Some(0));
    if let Some((client, seq)) = conn.query_first::<(u32, u32), _>("SELECT client, seq FROM ledger ORDER BY id LIMIT 1")? {
        let again = conn.exec_drop("INSERT INTO ledger (client, seq, amount) VALUES (?, ?, 0)", (client, seq));
        let code = if let Err(Error::MySqlError(e)) = again { e.code } else { 0 };
        expect(found, "ledger: a duplicate is refused", code, 1062);
    }
    Ok(())
}

/// C1 for the events of one client, every byte of them.
fn events(conn: &mut Conn, client: u32, model: &mut Events, found: &mut Vec<String>) -> Result<(), Error> {
    let rows: Vec<(u32, u32, String)> =
        conn.exec("SELECT k, version, payload FROM events WHERE client = ? ORDER BY k", (client,))?;
    let there: BTreeMap<u32, u32> = rows.iter().map(|(k, version, _)| (*k, *version)).collect();
    for (k, version, text) in &rows {
        if *text != payload(client, *k, *version) {
            found.push(format!("client {client}: event {k} version {version} has another payload"));
        }
    }
    let in_flight = std::mem::take(&mut model.in_flight);
    let done = in_flight.iter().filter(|c| there.get(&c.key).copied() == c.after).count();
    let undone = in_flight.iter().filter(|c| there.get(&c.key).copied() == c.before).count();
    if done == in_flight.len() {
        in_flight.into_iter().for_each(|c| model.apply(c));
    } else if undone != in_flight.len() {
        found.push(format!("client {client}: a transaction is half there: {in_flight:?}"));
    }
    for (k, version) in &model.rows {
        if there.get(k) != Some(version) {
            found.push(format!("client {client}: event {k} is {:?}, acknowledged was version {version}", there.get(k)));
        }
    }
    for k in there.keys().filter(|k| !model.rows.contains_key(k)) {
        found.push(format!("client {client}: event {k} is there, but was deleted or never committed"));
    }
    Ok(())
}

/// C3 and C5 for the events.
fn events_as_a_whole(conn: &mut Conn, models: &[Events], found: &mut Vec<String>) -> Result<(), Error> {
    let rows: u64 = models.iter().map(|m| m.rows.len() as u64).sum();
    let by_row: Option<u64> = conn.query_first("SELECT COUNT(*) FROM events")?;
    let by_index: Option<u64> = conn.query_first("SELECT COUNT(*) FROM events WHERE version >= 0")?;
    expect(found, "events: rows", by_row, Some(rows));
    expect(found, "events: rows by index version_client", by_index, Some(rows));
    let mut want: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (client, model) in models.iter().enumerate() {
        for version in model.rows.values() {
            *want.entry((*version, client as u32)).or_default() += 1;
        }
    }
    let sql = "SELECT version, client, COUNT(*) FROM events WHERE version >= 0 GROUP BY version, client ORDER BY version, client";
    let got: Vec<(u32, u32, u64)> = conn.query(sql)?;
    let got: BTreeMap<(u32, u32), u64> = got.into_iter().map(|(v, c, n)| ((v, c), n)).collect();
    expect(found, "events: counts by index version_client", got, want);
    let never: Option<u64> = conn.exec_first("SELECT COUNT(*) FROM events WHERE client = ?", (NEVER,))?;
    expect(found, "events: rows of an open transaction", never, Some(0));
    Ok(())
}

/// C4, and C1 and C3 for the side tables.
fn side_tables(conn: &mut Conn, side: &mut Side, found: &mut Vec<String>) -> Result<(), Error> {
    let names: Vec<String> = conn.query("SHOW TABLES LIKE 'side%'")?;
    let mut there: BTreeMap<u32, SideTable> = BTreeMap::new();
    for name in names {
        let number = name.trim_start_matches("side_").parse().unwrap_or(u32::MAX);
        let rows: Vec<(u32, u32, String)> = conn.query(format!("SELECT id, v, s FROM {name} ORDER BY id"))?;
        if rows.iter().any(|(id, v, s)| *v != value(*id) || *s != format!("row {id}")) {
            found.push(format!("{name}: a row has another value"));
        }
        let shown: Option<(String, String)> = conn.query_first(format!("SHOW CREATE TABLE {name}"))?;
        let indexed = shown.is_some_and(|(_, text)| text.contains("`iv`"));
        let rows: BTreeSet<u32> = rows.into_iter().map(|r| r.0).collect();
        let by_index: Vec<u32> = conn.query(format!("SELECT id FROM {name} WHERE v BETWEEN 0 AND 1000 ORDER BY id"))?;
        expect(found, &format!("{name}: rows by index iv"), by_index.into_iter().collect::<BTreeSet<_>>(), rows.clone());
        let by_key: Option<u64> = conn.query_first(format!("SELECT COUNT(*) FROM {name} WHERE s LIKE 'row %'"))?;
        expect(found, &format!("{name}: rows by unique key s"), by_key, Some(rows.len() as u64));
        there.insert(number, SideTable { rows, indexed });
    }
    if let Some((number, before, after)) = side.in_flight.take() {
        let now = there.get(&number).cloned();
        if now == after {
            settle(side, number, after);
        } else if now != before {
            found.push(format!("side_{number}: neither as before nor as after the statement without an answer"));
        }
    }
    let keys = |t: &BTreeMap<u32, SideTable>| t.keys().copied().collect::<Vec<_>>();
    expect(found, "side tables", keys(&there), keys(&side.tables));
    for (number, table) in &side.tables {
        if there.get(number).is_some_and(|t| t != table) {
            found.push(format!("side_{number}: rows or index differ from what was acknowledged"));
        }
    }
    Ok(())
}
