//! The client whose tables come and go: CREATE, INSERT, CREATE INDEX, DROP INDEX, TRUNCATE, DROP.

use crate::load::{Step, sort_error};
use crate::model::{Side, SideTable};
use mysql::Conn;
use mysql::prelude::Queryable;
use rand::Rng;
use rand::rngs::StdRng;

/// Tables at a time.
const TABLES_MAX: usize = 6;

/// One statement on one table.
pub fn step(conn: &mut Conn, rng: &mut StdRng, side: &mut Side) -> Step {
    let chosen = rng.random_range(0..side.tables.len().max(1));
    let existing = side.tables.iter().nth(chosen).map(|(number, table)| (*number, table.clone()));
    let create = side.tables.len() < TABLES_MAX && (existing.is_none() || rng.random_range(0..5) == 0);
    let (number, before, after, sql) = match existing {
        Some((number, table)) if !create => change(rng, number, table),
        _ => {
            let number = side.next;
            side.next += 1;
            let sql = format!("CREATE TABLE side_{number} (id INT PRIMARY KEY, v INT NOT NULL, s VARCHAR(50), UNIQUE KEY (s))");
            (number, None, Some(SideTable::default()), sql)
        }
    };
    side.in_flight = Some((number, before, after.clone()));
    match conn.query_drop(&sql) {
        Ok(()) => {
            settle(side, number, after);
            side.in_flight = None;
            side.statements += 1;
            Step::Done
        }
        Err(e) => {
            let step = sort_error(&e, &sql);
            if !matches!(step, Step::Gone) {
                side.in_flight = None;
            }
            step
        }
    }
}

/// Writes a state into the model.
pub fn settle(side: &mut Side, number: u32, state: Option<SideTable>) {
    match state {
        Some(table) => drop(side.tables.insert(number, table)),
        None => drop(side.tables.remove(&number)),
    }
}

fn change(rng: &mut StdRng, number: u32, table: SideTable) -> (u32, Option<SideTable>, Option<SideTable>, String) {
    let mut after = table.clone();
    let name = format!("side_{number}");
    let sql = match rng.random_range(0..10) {
        0 => return (number, Some(table), None, format!("DROP TABLE {name}")),
        1 => {
            after.rows.clear();
            format!("TRUNCATE TABLE {name}")
        }
        2 if !table.indexed => {
            after.indexed = true;
            format!("CREATE INDEX iv ON {name} (v)")
        }
        3 if table.indexed => {
            after.indexed = false;
            format!("DROP INDEX iv ON {name}")
        }
        4 => {
            after.rows.retain(|id| id % 3 != 0);
            format!("DELETE FROM {name} WHERE id % 3 = 0")
        }
        _ => {
            let first = table.rows.last().map_or(0, |last| last + 1);
            let ids: Vec<u32> = (first..first + rng.random_range(1..40)).collect();
            after.rows.extend(&ids);
            let rows: Vec<String> = ids.iter().map(|id| format!("({id}, {}, 'row {id}')", value(*id))).collect();
            format!("INSERT INTO {name} VALUES {}", rows.join(", "))
        }
    };
    (number, Some(table), Some(after), sql)
}

/// Column v of a row.
pub fn value(id: u32) -> u32 {
    id * 7 % 100
}
