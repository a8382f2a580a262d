//! Random statements that change rows. Each runs in a transaction that is rolled back, so it always meets the rows of its schema.
//!
//! H1: a statement over several tables assigns constants and ids only: what else it reads, and in which order, is not determined.

use crate::expression::{Maker, Scope};
use crate::kinds::{Kind, Style};
use crate::piece::Piece;
use crate::query;
use crate::schema::{Column, Table};
use crate::seq;

/// A change of one of the schema's tables.
pub fn change(maker: &mut Maker) -> Piece {
    let at = maker.dice.below(maker.schema.tables.len());
    let table = maker.schema.tables[at].clone();
    // Values of computed columns are refused before all others.
    let is_computed = table.create.text().contains(crate::plain::GENERATED);
    if maker.schema.style == Style::Plain && !is_computed && maker.dice.chance(35) {
        return match maker.dice.below(5) {
            0 | 1 => insert_or_update(maker, &table),
            2 => replace_query(maker, &table),
            3 => update_by_groups(maker, &table),
            _ => delete_by_query(maker, &table),
        };
    }
    match maker.dice.below(12) {
        0..=2 => insert(maker, &table),
        3 => insert_query(maker, &table),
        4 => replace(maker, &table),
        5..=7 => update(maker, &table),
        8 => update_joined(maker, &table),
        9 => delete_joined(maker, &table),
        _ => delete(maker, &table),
    }
}

/// A change of the rows of this table, which it reads in an order.
pub fn of_one_table(maker: &mut Maker, table: &Table) -> Piece {
    match maker.dice.below(6) {
        0 | 1 => insert(maker, table),
        2 => replace(maker, table),
        3 | 4 => update(maker, table),
        _ => delete(maker, table),
    }
}

fn word(maker: &mut Maker, ignore: usize) -> &'static str {
    if maker.dice.chance(ignore) { " IGNORE" } else { "" }
}

/// Rows of constant expressions.
fn rows(maker: &mut Maker, table: &Table) -> Piece {
    let scope = Scope::default();
    let rows = (0..if maker.in_program { 1 } else { maker.dice.between(1, 4) })
        .map(|_| {
            let id = maker.dice.between(1, 20);
            let mut cells = vec![Piece::from(format!("{id}"))];
            for column in &table.columns[1..] {
                cells.push(match maker.dice.below(10) {
                    0 => "DEFAULT".into(),
                    1..=3 => maker.expression(&scope, column.kind, 1),
                    _ => maker.literal(column.kind).expr(),
                });
            }
            let width = cells.len();
            seq!["(", Piece::list(", ", width, cells), ")"]
        })
        .collect();
    Piece::list(", ", 1, rows)
}

fn insert(maker: &mut Maker, table: &Table) -> Piece {
    let ignore = word(maker, 25);
    let rows = rows(maker, table);
    let on_duplicate = if maker.dice.chance(40) { on_duplicate(maker, table) } else { Piece::empty() };
    seq![format!("INSERT{ignore} INTO {} VALUES ", table.name), rows, on_duplicate]
}

fn on_duplicate(maker: &mut Maker, table: &Table) -> Piece {
    let scope = Scope { columns: query::qualified(&table.name, &table.columns), ..Scope::default() };
    let columns = chosen(maker, table);
    let items = columns
        .iter()
        .map(|c| {
            let value = match maker.dice.below(3) {
                0 if !maker.in_program => Piece::from(format!("VALUES({})", c.name)),
                1 => maker.literal(c.kind),
                _ => maker.expression(&scope, c.kind, 1),
            };
            seq![format!("{} = ", c.name), value.expr()]
        })
        .collect();
    seq![" ON DUPLICATE KEY UPDATE ", Piece::list(", ", 1, items)].maybe()
}

/// Some of a table's columns, each once, never its `id`.
fn chosen(maker: &mut Maker, table: &Table) -> Vec<Column> {
    let mut columns = table.columns[1..].to_vec();
    maker.dice.shuffle(&mut columns);
    columns.truncate(maker.dice.between(1, 3));
    columns
}

fn insert_query(maker: &mut Maker, table: &Table) -> Piece {
    let ignore = word(maker, 25);
    let at = maker.dice.below(maker.schema.tables.len());
    let from = maker.schema.tables[at].clone();
    let scope = query::scope_of(&query::qualified("s", &from.columns), &[]);
    let mut items = vec![Piece::from("s.id + 50")];
    for column in &table.columns[1..] {
        items.push(maker.expression(&scope, column.kind, 1));
    }
    let width = items.len();
    let filter = maker.condition(&scope, 2);
    seq![
        format!("INSERT{ignore} INTO {} SELECT ", table.name),
        Piece::list(", ", width, items),
        format!(" FROM {} AS s", from.name),
        seq![" WHERE ", filter].maybe(),
        " ORDER BY s.id"
    ]
}

/// INSERT ... SELECT whose rows meet rows that are there.
fn insert_or_update(maker: &mut Maker, table: &Table) -> Piece {
    let query = rows_of_another(maker, table);
    let seq = seq![format!("INSERT INTO {} ", table.name), query];
    let columns = chosen(maker, table);
    let scope = Scope { columns: query::qualified(&table.name, &table.columns), ..Scope::default() };
    let items = columns
        .iter()
        .map(|c| {
            let value = match maker.dice.below(3) {
                0 | 1 if !maker.in_program => Piece::from(format!("VALUES({})", c.name)),
                _ => maker.expression(&scope, c.kind, 1),
            };
            seq![format!("{} = ", c.name), value.expr()]
        })
        .collect();
    seq![seq, " ON DUPLICATE KEY UPDATE ", Piece::list(", ", 1, items)]
}

/// A query whose rows fit a table, with the ids of the table that they come from.
fn rows_of_another(maker: &mut Maker, table: &Table) -> Piece {
    let at = maker.dice.below(maker.schema.tables.len());
    let from = maker.schema.tables[at].clone();
    let scope = query::scope_of(&query::qualified("s", &from.columns), &[]);
    let mut items = vec![Piece::from(maker.dice.pick(&["s.id", "s.id + 3", "s.id * 2"]))];
    for column in &table.columns[1..] {
        items.push(maker.expression(&scope, column.kind, 1));
    }
    let width = items.len();
    let filter = seq![" WHERE ", maker.condition(&scope, 2)].maybe();
    seq!["SELECT ", Piece::list(", ", width, items), format!(" FROM {} AS s", from.name), filter, " ORDER BY s.id"]
}

fn replace_query(maker: &mut Maker, table: &Table) -> Piece {
    let query = rows_of_another(maker, table);
    seq![format!("REPLACE INTO {} ", table.name), query]
}

/// A table that is changed by the grouped sums of another.
fn update_by_groups(maker: &mut Maker, table: &Table) -> Piece {
    let at = maker.dice.below(maker.schema.tables.len());
    let other = maker.schema.tables[at].clone();
    let key = maker.dice.choose(&other.columns).name.clone();
    let call = maker.dice.pick(&["COUNT(*)", "SUM(s.id)", "MAX(s.id)"]);
    let groups = Scope {
        columns: vec![Column { name: "x.id".into(), kind: Kind::Int }, Column { name: "g.n".into(), kind: Kind::Int }],
        ..Scope::default()
    };
    let columns: Vec<Column> = chosen(maker, table);
    let items = columns.iter().map(|c| seq![format!("x.{} = ", c.name), maker.expression(&groups, c.kind, 1)]).collect();
    let word = maker.dice.pick(&["JOIN", "JOIN", "LEFT JOIN"]);
    let filter = seq![" WHERE ", maker.condition(&groups, 1)].maybe();
    seq![
        format!(
            "UPDATE {} AS x {word} (SELECT s.{key} AS k, {call} AS n FROM {} AS s GROUP BY s.{key}) AS g ON x.id = g.k SET ",
            table.name, other.name
        ),
        Piece::list(", ", 1, items),
        filter
    ]
}

/// Rows that a query finds in other tables.
fn delete_by_query(maker: &mut Maker, table: &Table) -> Piece {
    let at = maker.dice.below(maker.schema.tables.len());
    let other = maker.schema.tables[at].clone();
    let scope = query::scope_of(&query::qualified("s", &other.columns), &[]);
    let filter = seq![" WHERE ", maker.condition(&scope, 2)].maybe();
    let word = maker.dice.pick(&["IN", "IN", "NOT IN"]);
    if maker.dice.chance(50) {
        let derived = format!("(SELECT s.id FROM {} AS s", other.name);
        return seq![format!("DELETE FROM {} WHERE id {word} (SELECT id FROM ", table.name), derived, filter, ") AS w)"];
    }
    seq![format!("DELETE x FROM {} AS x JOIN (SELECT s.id FROM {} AS s", table.name, other.name), filter, ") AS w ON x.id = w.id"]
}

fn replace(maker: &mut Maker, table: &Table) -> Piece {
    let rows = rows(maker, table);
    seq![format!("REPLACE INTO {} VALUES ", table.name), rows]
}

fn update(maker: &mut Maker, table: &Table) -> Piece {
    let ignore = word(maker, 20);
    let mut scope = query::scope_of(&query::qualified(&table.name, &table.columns), &[]);
    scope.subqueries = maker.schema.style == Style::Plain;
    let items = chosen(maker, table)
        .iter()
        .map(|c| {
            let value = if maker.dice.chance(5) { "DEFAULT".into() } else { maker.expression(&scope, c.kind, 2) };
            seq![format!("{} = ", c.name), value]
        })
        .collect();
    let filter = seq![" WHERE ", maker.condition(&scope, 2)].maybe();
    let limit =
        if maker.dice.chance(30) { Piece::from(format!(" LIMIT {}", maker.dice.below(6))).maybe() } else { Piece::empty() };
    seq![format!("UPDATE{ignore} {} SET ", table.name), Piece::list(", ", 1, items), filter, " ORDER BY id", limit]
}

fn update_joined(maker: &mut Maker, table: &Table) -> Piece {
    let at = maker.dice.below(maker.schema.tables.len());
    let other = maker.schema.tables[at].clone();
    let columns = [query::qualified("x", &table.columns), query::qualified("y", &other.columns)].concat();
    let mut scope = query::scope_of(&columns, &[]);
    scope.subqueries = false;
    let constants = Scope { columns: vec![Column { name: "x.id".into(), kind: Kind::Int }], ..Scope::default() };
    let items = chosen(maker, table)
        .iter()
        .map(|c| seq![format!("x.{} = ", c.name), maker.expression(&constants, c.kind, 1)]) // H1
        .collect();
    let on = maker.condition(&scope, 1);
    let filter = seq![" WHERE ", maker.condition(&scope, 2)].maybe();
    let word = maker.dice.pick(&["JOIN", "LEFT JOIN"]);
    seq![format!("UPDATE {} AS x {word} {} AS y ON ", table.name, other.name), on, " SET ", Piece::list(", ", 1, items), filter]
}

fn delete(maker: &mut Maker, table: &Table) -> Piece {
    let scope = query::scope_of(&query::qualified(&table.name, &table.columns), &[]);
    let filter = seq![" WHERE ", maker.condition(&scope, 2)].maybe();
    let limit =
        if maker.dice.chance(30) { Piece::from(format!(" LIMIT {}", maker.dice.below(6))).maybe() } else { Piece::empty() };
    seq![format!("DELETE FROM {}", table.name), filter, " ORDER BY id", limit]
}

fn delete_joined(maker: &mut Maker, table: &Table) -> Piece {
    let at = maker.dice.below(maker.schema.tables.len());
    let other = maker.schema.tables[at].clone();
    let columns = [query::qualified("x", &table.columns), query::qualified("y", &other.columns)].concat();
    let mut scope = query::scope_of(&columns, &[]);
    scope.subqueries = false;
    let on = maker.condition(&scope, 1);
    let filter = seq![" WHERE ", maker.condition(&scope, 2)].maybe();
    let targets = maker.dice.pick(&["x", "x, y", "y"]);
    seq![format!("DELETE {targets} FROM {} AS x JOIN {} AS y ON ", table.name, other.name), on, filter]
}
