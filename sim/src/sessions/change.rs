//! Changes of a session's own rows: the statement and its effect.

use super::model::{Column, Row, Rows};
use super::session::Session;
use super::statement::{Statement, table_name};
use super::values;

/// A statement that changes rows, and its effect.
pub struct Change {
    pub statement: Statement,
    pub table: usize,
    /// The rows after the statement.
    pub after: Rows,
    pub affected: u64,
    /// The row exists already; the server must answer 1062.
    pub is_duplicate: bool,
    pub columns: Vec<Column>,
}

impl Session {
    /// New versions for some columns of a row.
    fn versions(&mut self, columns: &[Column]) -> Row {
        let mut known = self.model.lock();
        columns.iter().map(|column| (*column, known.version(self.number))).collect()
    }

    pub fn insert(&mut self, table: usize, working: Rows) -> Change {
        let id = if self.rng.chance(1, 8) {
            self.own_id()
        } else {
            // A key that no row has, if there is one.

            (0..10).map(|_| self.own_id()).find(|id| !working.contains_key(&(table, *id))).unwrap_or_else(|| self.own_id())
        };
        let columns = self.some_columns(table, 5);
        let row = self.versions(&columns);
        let names: String = columns.iter().map(|column| format!(", {}", values::name(*column))).collect();
        let marks = ", ?".repeat(columns.len());
        let text = format!("INSERT INTO {} (id, owner{names}) VALUES (?, ?{marks})", table_name(table));
        let mut statement = Statement::new(text).number(id).number(self.number as i64);
        for (column, version) in columns.iter().map(|column| (*column, row[column])) {
            statement = statement.value(column, values::value(table, column, id, version));
        }
        let is_duplicate = working.contains_key(&(table, id));
        let mut after = working;
        if !is_duplicate {
            after.insert((table, id), row);
        }
        Change { statement, table, after, affected: 1, is_duplicate, columns }
    }

    /// Changes several rows; all of them change, or none.
    pub fn insert_many(&mut self, table: usize, working: Rows) -> Change {
        let columns = self.some_columns(table, 3);
        let names: String = columns.iter().map(|column| format!(", {}", values::name(*column))).collect();
        let count = self.rng.within(2..=5);
        let row = format!("(?, ?{})", ", ?".repeat(columns.len()));
        let all = vec![row; count as usize].join(", ");
        let mut statement = Statement::new(format!("INSERT INTO {} (id, owner{names}) VALUES {all}", table_name(table)));
        let (mut after, mut is_duplicate) = (working.clone(), false);
        for _ in 0..count {
            let id = if self.rng.chance(1, 12) {
                self.own_id()
            } else {
                (0..10).map(|_| self.own_id()).find(|id| !after.contains_key(&(table, *id))).unwrap_or_else(|| self.own_id())
            };
            let row = self.versions(&columns);
            statement = statement.number(id).number(self.number as i64);
            for (column, version) in columns.iter().map(|column| (*column, row[column])) {
                statement = statement.value(column, values::value(table, column, id, version));
            }
            is_duplicate |= after.insert((table, id), row).is_some();
        }
        let after = if is_duplicate { working } else { after };
        Change { statement, table, after, affected: count, is_duplicate, columns }
    }

    pub fn replace(&mut self, table: usize, working: Rows) -> Change {
        let id = self.own_id();
        let columns = self.some_columns(table, 3);
        let row = self.versions(&columns);
        let names: String = columns.iter().map(|column| format!(", {}", values::name(*column))).collect();
        let marks = ", ?".repeat(columns.len());
        let updates = self.rng.chance(1, 2) && !columns.is_empty();
        let tail = if updates {
            let set = |column: &Column| format!("{0} = VALUES({0})", values::name(*column));
            format!(" ON DUPLICATE KEY UPDATE {}", columns.iter().map(set).collect::<Vec<_>>().join(", "))
        } else {
            String::new()
        };
        let verb = if updates { "INSERT" } else { "REPLACE" };
        let text = format!("{verb} INTO {} (id, owner{names}) VALUES (?, ?{marks}){tail}", table_name(table));
        let mut statement = Statement::new(text).number(id).number(self.number as i64);
        for (column, version) in columns.iter().map(|column| (*column, row[column])) {
            statement = statement.value(column, values::value(table, column, id, version));
        }
        let mut after = working;
        let was_there = after.contains_key(&(table, id));
        match after.get_mut(&(table, id)) {
            Some(there) if updates => there.extend(row),
            _ => drop(after.insert((table, id), row)),
        }
        Change { statement, table, after, affected: 1 + u64::from(was_there), is_duplicate: false, columns }
    }

    pub fn update(&mut self, table: usize, working: Rows) -> Change {
        let id = self.own_id();
        let columns = self.some_columns(table, 3);
        let row = self.versions(&columns);
        let set: Vec<String> = columns.iter().map(|column| format!("{} = ?", values::name(*column))).collect();
        let text = if set.is_empty() {
            // The table has no column besides its key.
            format!("UPDATE {} SET owner = owner WHERE id = ?", table_name(table))
        } else {
            format!("UPDATE {} SET {} WHERE id = ?", table_name(table), set.join(", "))
        };
        let mut statement = Statement::new(text);
        for (column, version) in columns.iter().map(|column| (*column, row[column])) {
            statement = statement.value(column, values::value(table, column, id, version));
        }
        let statement = statement.number(id);
        let mut after = working;
        let there = after.get_mut(&(table, id));
        let affected = u64::from(there.is_some() && !columns.is_empty());
        if let Some(there) = there {
            there.extend(row);
        }
        Change { statement, table, after, affected, is_duplicate: false, columns }
    }

    /// The rows between two keys.
    pub fn update_many(&mut self, table: usize, working: Rows) -> Change {
        let (one, two) = (self.any_id(), self.any_id());
        let (least, most) = (one.min(two), one.max(two));
        let columns = self.some_columns(table, 1);
        let versions = self.versions(&columns);
        let set = columns.first().and_then(|column| Some((*column, values::expression(table, *column, versions[column])?)));
        let rule = if self.rng.chance(1, 2) { "owner = ? AND id BETWEEN ? AND ?" } else { "owner = ? AND id >= ? AND id <= ?" };
        let text = match &set {
            Some((column, expression)) => {
                format!("UPDATE {} SET {} = {expression} WHERE {rule}", table_name(table), values::name(*column))
            }
            None => format!("DELETE FROM {} WHERE {rule}", table_name(table)),
        };
        let statement = Statement::new(text).number(self.number as i64).number(least).number(most);
        let mut after = working;
        let hit: Vec<(usize, i64)> = after.range((table, least)..=(table, most)).map(|(key, _)| *key).collect();
        for key in &hit {
            match (&set, after.get_mut(key)) {
                (Some((column, _)), Some(row)) => drop(row.insert(*column, versions[column])),
                _ => drop(after.remove(key)),
            }
        }
        let columns = set.iter().map(|(column, _)| *column).collect();
        Change { statement, table, after, affected: hit.len() as u64, is_duplicate: false, columns }
    }

    pub fn delete(&mut self, table: usize, working: Rows) -> Change {
        let id = self.own_id();
        let statement = Statement::new(format!("DELETE FROM {} WHERE id = ?", table_name(table))).number(id);
        let mut after = working;
        let affected = u64::from(after.remove(&(table, id)).is_some());
        Change { statement, table, after, affected, is_duplicate: false, columns: Vec::new() }
    }
}
