//! Checks the rows that a statement has read.

use super::model::{Candidates, Column, Known, Row, Rows, Time};
use super::values;
use std::collections::BTreeMap;
use std::ops::Range;

/// A value as text; `None` is NULL.
pub type Field = Option<Vec<u8>>;

/// The rows that a statement selects.
#[derive(Clone, Debug)]
pub enum Filter {
    All,
    Id(i64),
    Between(i64, i64),
    Owner(usize),
    Value(Column, Vec<u8>),
}

impl Filter {
    fn takes(&self, table: usize, sessions: usize, id: i64, row: &Row) -> bool {
        match self {
            Filter::All => true,
            Filter::Id(wanted) => id == *wanted,
            Filter::Between(least, most) => (*least..=*most).contains(&id),
            Filter::Owner(owner) => id as usize % sessions == *owner,
            Filter::Value(column, value) => expected(table, *column, id, row).as_ref() == Some(value),
        }
    }
}

/// The expected contents of a column in a row.
pub fn expected(table: usize, column: Column, id: i64, row: &Row) -> Field {
    match row.get(&column) {
        Some(version) => Some(values::value(table, column, id, *version)),
        None => values::default(table, column),
    }
}

/// Rows of one table, by key.
pub type Found = BTreeMap<i64, BTreeMap<Column, Field>>;

/// Sorts the rows by key. An error describes rows that are wrong in any state of the table.
pub fn sort(table: usize, sessions: usize, names: &[String], rows: &[Vec<Field>]) -> Result<(Vec<Column>, Found), String> {
    let key = names.iter().position(|name| name == "id").ok_or("no key")?;
    let owner = names.iter().position(|name| name == "owner").ok_or("no owner")?;
    let columns: Vec<(usize, Column)> =
        names.iter().enumerate().filter_map(|(place, name)| Some((place, values::number(name)?))).collect();
    if columns.len() + 2 != names.len() {
        return Err(format!("columns nobody has made: {names:?}"));
    }
    let mut found = Found::new();
    for row in rows {
        let number = |place: usize| -> Option<i64> { std::str::from_utf8(row[place].as_ref()?).ok()?.parse().ok() };
        let (Some(id), Some(of)) = (number(key), number(owner)) else {
            return Err(format!("a row without a key: {}", show(row)));
        };
        if of as usize != id as usize % sessions {
            return Err(format!("row {id} has owner {of}"));
        }
        for (place, column) in &columns {
            if !may_be(table, *column, id, &row[*place]) {
                return Err(format!(
                    "row {id} of t{table} has in c{column} a value of another place: {}",
                    show(&row[*place..=*place])
                ));
            }
        }
        let values = columns.iter().map(|(place, column)| (*column, row[*place].clone())).collect();
        if found.insert(id, values).is_some() {
            return Err(format!("row {id} twice"));
        }
    }
    Ok((columns.into_iter().map(|(_, column)| column).collect(), found))
}

/// Does the value belong to the row and column, in any version?
fn may_be(table: usize, column: Column, id: i64, field: &Field) -> bool {
    let Some(value) = field else { return values::default(table, column).is_none() };
    if Some(value) == values::default(table, column).as_ref() {
        return true;
    }
    let text = String::from_utf8_lossy(value);
    match values::kind(column) {
        values::Kind::Number => {
            // Without its version.
            let place = |version| String::from_utf8_lossy(&values::value(table, column, id, version)).into_owned();
            let head = place(0);
            text.len() == head.len() && text[..text.len() - 6] == head[..head.len() - 6]
        }
        _ => text.starts_with(&format!("t{table}{}r{id}v", values::name(column))),
    }
}

/// The number of rows that a session has in a table, as the triggers count it.
pub fn count_of(table: usize, sessions: usize, owner: usize, rows: &Rows) -> usize {
    rows.range((table, i64::MIN)..=(table, i64::MAX)).filter(|((_, id), _)| *id as usize % sessions == owner).count()
}

/// Are these exactly the rows of the state?
pub fn is_state(table: usize, sessions: usize, owner: usize, filter: &Filter, state: &Rows, found: &Found) -> bool {
    let of_owner = |id: i64| id as usize % sessions == owner;
    let range = (table, i64::MIN)..=(table, i64::MAX);
    let mut wanted = state.range(range).filter(|((_, id), row)| filter.takes(table, sessions, *id, row));
    let mut there = found.iter().filter(|(id, _)| of_owner(**id));
    loop {
        match (wanted.next(), there.next()) {
            (None, None) => return true,
            (Some(((_, id), row)), Some((found_id, fields))) if id == found_id => {
                if fields.iter().any(|(column, field)| *field != expected(table, *column, *id, row)) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Checks a read: the session's own rows against `own`, the rows of others against the states of a snapshot. An error says what is wrong.
pub fn judge(
    known: &Known,
    candidates: Option<&mut Candidates>,
    own: Option<(usize, &Rows)>,
    table: usize,
    filter: &Filter,
    span: Range<Time>,
    found: &Found,
) -> Result<(), String> {
    let sessions = known.rows.len();
    if let Some((session, rows)) = own
        && !is_state(table, sessions, session, filter, rows, found)
    {
        return Err(format!("of its own rows it reads {}, and has {}", show_found(found), show_rows(table, rows)));
    }
    let Some(candidates) = candidates else { return Ok(()) };
    for session in (0..sessions).filter(|session| own.is_none_or(|(own, _)| own != *session)) {
        let states = &known.rows[session];
        let fits = |rows: &std::sync::Arc<Rows>| is_state(table, sessions, session, filter, rows, found);
        if !candidates.narrow(session, states, span.clone(), fits) {
            let possible: Vec<String> =
                states.possible(span).map(|n| states.get(n).map_or(String::new(), |r| show_rows(table, r))).collect();
            return Err(format!("of session {session} it reads {}, and may read one of {possible:#?}", show_found(found)));
        }
    }
    Ok(())
}

fn short(field: &Field) -> String {
    match field {
        None => "NULL".into(),
        Some(value) => {
            let text = String::from_utf8_lossy(&value[..value.len().min(40)]).into_owned();
            if value.len() > 40 { format!("{text}.. ({} bytes)", value.len()) } else { text }
        }
    }
}

pub fn show(row: &[Field]) -> String {
    row.iter().map(short).collect::<Vec<_>>().join(", ")
}

pub fn show_found(found: &Found) -> String {
    let row = |(id, fields): (&i64, &BTreeMap<Column, Field>)| {
        let fields: Vec<String> = fields.iter().map(|(column, field)| format!("c{column}={}", short(field))).collect();
        format!("{id}: {}", fields.join(" "))
    };
    format!("[{}]", found.iter().map(row).collect::<Vec<_>>().join("; "))
}

pub fn show_rows(table: usize, rows: &Rows) -> String {
    let row = |((_, id), row): (&(usize, i64), &Row)| {
        let fields: Vec<String> = row.iter().map(|(column, version)| format!("c{column}v{version}")).collect();
        format!("{id}: {}", fields.join(" "))
    };
    format!("[{}]", rows.range((table, i64::MIN)..=(table, i64::MAX)).map(row).collect::<Vec<_>>().join("; "))
}
