//! Rows: round trips of every type, old rows, damaged bytes.

use super::*;
use crate::schema::ColumnDefault;
use crate::{LobSize, TypeKind as K};
use proptest::prelude::*;
use std::sync::Arc;

fn column(kind: TypeKind, nullable: bool) -> ColumnDef {
    ColumnDef::new("", ColumnType::new(kind), nullable)
}

fn text(bytes: &[u8]) -> Value<'_> {
    Value::Bytes(Cow::Borrowed(bytes))
}

fn members() -> Arc<[String]> {
    ["red", "green", "blue"].map(String::from).into()
}

fn all_kinds() -> Vec<ColumnDef> {
    let kinds = [
        K::TinyInt,
        K::SmallInt,
        K::MediumInt,
        K::Int,
        K::BigInt,
        K::Decimal { precision: 10, scale: 2 },
        K::Float,
        K::Double,
        K::Char { length: 10 },
        K::VarChar { length: 300 },
        K::Text(LobSize::Regular),
        K::Date,
        K::Time { fsp: 6 },
        K::DateTime { fsp: 6 },
        K::Timestamp { fsp: 6 },
        K::Year,
        K::Enum { members: members() },
        K::Set { members: members() },
        K::Bit { length: 12 },
        K::Json,
    ];
    kinds.into_iter().map(|kind| column(kind, true)).collect()
}

fn moment() -> crate::DateTime {
    crate::DateTime { date: crate::Date::new(2024, 2, 29), hour: 23, minute: 59, second: 58, micros: 123_456 }
}

fn sample() -> Vec<Value<'static>> {
    vec![
        Value::Int(-128),
        Value::Int(-32768),
        Value::Int(-8_388_608),
        Value::Int(i32::MIN.into()),
        Value::Int(i64::MIN),
        Value::Decimal(crate::Decimal::parse_exact("-12345678.90").unwrap()),
        Value::Double(1.5),
        Value::Double(-1e300),
        text(b"char"),
        text(b""),
        text(b"some text"),
        Value::Date(crate::Date::new(9999, 12, 31)),
        Value::Time(crate::Time { micros: -3_020_399_000_000 }),
        Value::DateTime(moment()),
        Value::DateTime(moment()),
        Value::Int(2155),
        text(b"green"),
        text(b"red,blue"),
        Value::UInt(0xabc),
        text(b"{}"),
    ]
}

#[test]
fn every_kind_round_trips() {
    let layout = RowLayout::from_columns(&all_kinds());
    let mut bytes = Vec::new();
    layout.encode(&sample(), &mut bytes).unwrap();
    let row = StoredRow::new(&layout, &bytes).unwrap();
    for (i, value) in sample().iter().enumerate() {
        assert_eq!(&row.get(i).unwrap(), value, "column {i}");
        assert!(!row.is_null(i).unwrap());
    }
    assert_eq!(row.ordinal(16), Ok(Some(2)));
    assert_eq!(row.ordinal(17), Ok(Some(5)));
    assert!(matches!(row.get(16).unwrap(), Value::Bytes(Cow::Borrowed(_))));
}

#[test]
fn nulls_and_not_nulls() {
    let layout = RowLayout::from_columns(&all_kinds());
    let mut bytes = Vec::new();
    layout.encode(&vec![Value::Null; layout.columns()], &mut bytes).unwrap();
    let row = StoredRow::new(&layout, &bytes).unwrap();
    assert!((0..layout.columns()).all(|i| row.get(i) == Ok(Value::Null)));
    let strict = RowLayout::from_columns(&[column(K::Int, false)]);
    assert_eq!(strict.encode(&[Value::Null], &mut bytes), Err(Error::Null { column: 0 }));
    assert_eq!(strict.encode(&[text(b"1")], &mut bytes), Err(Error::WrongKind { column: 0 }));
}

#[test]
fn zero_dates_and_unsigned() {
    let layout = RowLayout::from_columns(&[
        column(K::Date, false),
        column(K::DateTime { fsp: 0 }, false),
        column(K::Timestamp { fsp: 0 }, false),
        column(K::Year, false),
        ColumnDef { ty: ColumnType::unsigned(K::TinyInt), ..column(K::Null, false) },
        ColumnDef { ty: ColumnType::unsigned(K::BigInt), ..column(K::Null, false) },
    ]);
    let values = [
        Value::Date(crate::Date::ZERO),
        Value::DateTime(crate::DateTime::ZERO),
        Value::DateTime(crate::DateTime::ZERO),
        Value::Int(0),
        Value::UInt(255),
        Value::UInt(u64::MAX),
    ];
    let mut bytes = Vec::new();
    layout.encode(&values, &mut bytes).unwrap();
    let row = StoredRow::new(&layout, &bytes).unwrap();
    for (i, value) in values.iter().enumerate() {
        assert_eq!(&row.get(i).unwrap(), value);
    }
}

/// Also where the column has got a default since.
#[test]
fn rows_older_than_a_column_read_null() {
    let mut columns = vec![column(K::Int, false), column(K::VarChar { length: 9 }, true)];
    let old = RowLayout::from_columns(&columns);
    let mut bytes = Vec::new();
    old.encode(&[Value::Int(7), text(b"x")], &mut bytes).unwrap();
    columns.push(column(K::Int, true));
    columns.push(ColumnDef { default: ColumnDefault::Literal(Some("new".into())), ..column(K::VarChar { length: 9 }, true) });
    let new = RowLayout::from_columns(&columns);
    let row = StoredRow::new(&new, &bytes).unwrap();
    assert_eq!(row.get(0), Ok(Value::Int(7)));
    assert_eq!(row.get(1), Ok(text(b"x")));
    for added in [2, 3] {
        assert_eq!((row.get(added), row.is_null(added)), (Ok(Value::Null), Ok(true)));
    }
    let mut changed = Vec::new();
    new.encode_changed(row, &[(0, Value::Int(8))], &mut changed).unwrap();
    let row = StoredRow::new(&new, &changed).unwrap();
    assert_eq!((row.get(0), row.get(3)), (Ok(Value::Int(8)), Ok(Value::Null)));
    assert_eq!(row.head, 4);
}

#[test]
fn rows_older_than_a_column_have_what_it_says() {
    let mut columns = vec![column(K::Int, true)];
    let old = RowLayout::from_columns(&columns);
    let mut bytes = Vec::new();
    old.encode(&[Value::Int(7)], &mut bytes).unwrap();
    let missing = |kind, nullable, text: &str| ColumnDef { missing: Some(text.into()), ..column(kind, nullable) };
    columns.push(missing(K::BigInt, false, "-5"));
    columns.push(missing(K::VarChar { length: 9 }, true, "new"));
    columns.push(missing(K::DateTime { fsp: 3 }, false, "2024-02-29 01:02:03.456"));
    columns.push(missing(K::VarBinary { length: 9 }, false, "00FF"));
    columns.push(column(K::Int, true));
    let new = RowLayout::from_columns(&columns);
    let row = StoredRow::new(&new, &bytes).unwrap();
    let check = |row: StoredRow<'_>| {
        assert_eq!((row.get(1), row.get(2)), (Ok(Value::Int(-5)), Ok(text(b"new"))));
        assert_eq!((row.get(4), row.get(5)), (Ok(text(&[0, 255])), Ok(Value::Null)));
        assert!(matches!(row.get(3), Ok(Value::DateTime(at)) if at.micros == 456_000), "{:?}", row.get(3));
    };
    check(row);
    let mut changed = Vec::new();
    new.encode_changed(row, &[(0, Value::Null)], &mut changed).unwrap();
    let row = StoredRow::new(&new, &changed).unwrap();
    assert_eq!((row.head, row.get(0)), (6, Ok(Value::Null)));
    check(row);
}

#[test]
fn changes_keep_the_rest() {
    let layout = RowLayout::from_columns(&all_kinds());
    let mut bytes = Vec::new();
    layout.encode(&sample(), &mut bytes).unwrap();
    let row = StoredRow::new(&layout, &bytes).unwrap();
    for changes in [vec![(3, Value::Int(5)), (0, Value::Null)], vec![(9, text(b"longer")), (3, Value::Int(5))]] {
        let mut out = vec![9, 9];
        layout.encode_changed(row, &changes, &mut out).unwrap();
        let after = StoredRow::new(&layout, &out[2..]).unwrap();
        for (i, value) in sample().iter().enumerate() {
            let expected = changes.iter().find(|c| c.0 == i).map_or(value, |c| &c.1);
            assert_eq!(&after.get(i).unwrap(), expected);
        }
    }
}

#[test]
fn external_columns_and_wide_offsets() {
    let columns = [column(K::Int, false), column(K::Text(LobSize::Long), true), column(K::Text(LobSize::Long), true)];
    let layout = RowLayout::from_columns(&columns);
    let long = vec![b'x'; 40_000];
    let reference = ExternalRef { blob: 77, length: 1 << 40 };
    let (number, big) = (Value::Int(1), text(&long));
    for wide in [false, true] {
        let mut bytes = Vec::new();
        let field = |column| match column {
            0 => Field::Value(&number),
            1 => Field::External(reference),
            _ if wide => Field::Value(&big),
            _ => Field::Value(&Value::Null),
        };
        layout.encode_fields(field, &mut bytes).unwrap();
        let row = StoredRow::new(&layout, &bytes).unwrap();
        assert_eq!(row.external(1), Ok(Some(reference)));
        assert_eq!(row.external(2), Ok(None));
        assert!(row.has_external());
        assert_eq!(row.get(1), Err(Error::External { column: 1 }));
        assert_eq!(row.is_null(2), Ok(!wide));
        let mut copy = Vec::new();
        layout.encode_changed(row, &[(2, text(b"short"))], &mut copy).unwrap();
        let row = StoredRow::new(&layout, &copy).unwrap();
        assert_eq!(row.external(1), Ok(Some(reference)));
        assert_eq!(row.get(2), Ok(text(b"short")));
    }
}

proptest! {
    #[test]
    fn damaged_rows_never_panic(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8), cut in any::<prop::sample::Index>()) {
        let layout = RowLayout::from_columns(&all_kinds());
        let mut bytes = Vec::new();
        layout.encode(&sample(), &mut bytes).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Ok(row) = StoredRow::new(&layout, &bytes) {
            for i in 0..layout.columns() {
                let _ = (row.get(i), row.is_null(i), row.ordinal(i), row.external(i));
            }
            let _ = row.has_external();
            let mut out = Vec::new();
            let _ = layout.encode_changed(row, &[(9, text(b"y"))], &mut out);
        }
    }
}

/// What a row was written with, by what the values of the column are made from.
type Written = std::collections::HashMap<u64, Option<u64>>;

/// A table under definition after definition, and its rows as they were written.
struct Ages {
    def: TableDef,
    /// What the values of each column are made from.
    ids: Vec<u64>,
    next_id: u64,
    rows: Vec<(u64, Vec<u8>, Written)>,
}

impl Ages {
    fn new() -> Self {
        let def = TableDef::new(
            crate::schema::TableId(1),
            "d",
            "t",
            vec![column(K::Int, false), column(K::VarChar { length: 9 }, true)],
        );
        Self { def, ids: vec![0, 1], next_id: 2, rows: Vec::new() }
    }

    /// The value of a row in the column at a place; `None` in rows older than the column.
    fn value(&self, place: usize, seed: Option<u64>) -> Value<'static> {
        let column = &self.def.columns[place];
        let Some(seed) = seed.map(|seed| seed.wrapping_mul(31) ^ self.ids[place]) else {
            return column.missing.as_ref().map_or(Value::Null, |_| Value::Int(77));
        };
        match column.ty.kind {
            _ if column.nullable && seed % 3 == 0 => Value::Null,
            K::VarChar { .. } => Value::Bytes(format!("{seed:05}").as_bytes()[..seed as usize % 5].to_vec().into()),
            K::TinyInt => Value::Int(seed as i8 as i64),
            K::Int => Value::Int(seed as i32 as i64),
            _ => Value::Int(seed as i64),
        }
    }

    fn write(&mut self, seed: u64) {
        let layout = RowLayout::new(&self.def);
        let values: Vec<_> = (0..self.ids.len()).map(|place| self.value(place, Some(seed))).collect();
        let mut bytes = Vec::new();
        layout.encode(&values, &mut bytes).unwrap();
        self.rows.push((seed, bytes, self.ids.iter().map(|id| (*id, Some(seed))).collect()));
    }

    /// One column of a row gets the value of another seed.
    fn change(&mut self, row: usize, place: usize, seed: u64) {
        let layout = RowLayout::new(&self.def);
        let value = self.value(place, Some(seed));
        let (_, bytes, seeds) = &mut self.rows[row];
        let mut changed = Vec::new();
        layout.encode_changed(StoredRow::new(&layout, bytes).unwrap(), &[(place, value)], &mut changed).unwrap();
        assert!(!StoredRow::new(&layout, &changed).unwrap().has_dropped());
        *bytes = changed;
        seeds.insert(self.ids[place], Some(seed));
    }

    /// Column `k` is the one at `sources[k]`, or the given one.
    fn alter(&mut self, sources: &[Option<usize>], new: &ColumnDef) {
        let history = history::RowHistory::after(&self.def, sources);
        let mut next = || {
            self.next_id += 1;
            self.next_id - 1
        };
        self.ids = sources.iter().map(|source| source.map_or_else(&mut next, |place| self.ids[place])).collect();
        let columns = sources.iter().map(|source| source.map_or(new, |place| &self.def.columns[place]).clone()).collect();
        (self.def.columns, self.def.history) = (columns, history);
    }

    fn check(&self) {
        let layout = RowLayout::new(&self.def);
        for (_, bytes, seeds) in &self.rows {
            let row = StoredRow::new(&layout, bytes).unwrap();
            for (place, id) in self.ids.iter().enumerate() {
                assert_eq!(row.get(place), Ok(self.value(place, seeds.get(id).copied().flatten())), "{:?}", self.def.history);
            }
        }
    }
}

proptest! {
    #[test]
    fn rows_of_all_ages_are_read(steps in proptest::collection::vec((0u8..6, any::<u32>(), any::<u32>()), 1..if cfg!(miri) { 16 } else { 60 })) {
        let mut ages = Ages::new();
        for (what, a, b) in steps {
            let (count, a, b) = (ages.ids.len(), a as usize, b as usize);
            let mut sources: Vec<Option<usize>> = (0..count).map(Some).collect();
            match what {
                0 => {
                    let kinds = [K::Int, K::VarChar { length: 9 }, K::BigInt, K::TinyInt];
                    let missing = (b % 3 == 0 && a % 4 != 1).then(|| "77".to_string());
                    let new = ColumnDef { missing, ..column(kinds[a % 4].clone(), b % 3 > 0) };
                    let new = ColumnDef { nullable: new.missing.is_none(), ..new };
                    sources.insert(b % (count + 1), None);
                    ages.alter(&sources, &new);
                }
                1 if count > 1 => {
                    sources.remove(a % count);
                    ages.alter(&sources, &column(K::Int, true));
                }
                2 => {
                    // One goes, one comes, and the others are turned.
                    sources.rotate_left(a % count);
                    sources[b % count] = None;
                    ages.alter(&sources, &column(K::VarChar { length: 9 }, true));
                }
                3 if !ages.rows.is_empty() => ages.change(a % ages.rows.len(), b % count, a as u64),
                _ => ages.write(a as u64),
            }
            ages.check();
        }
    }
}

#[test]
fn large_values_of_dropped_columns_are_handed_out() {
    let blob = || column(K::Blob(LobSize::Long), true);
    let mut def = TableDef::new(crate::schema::TableId(1), "d", "t", vec![blob(), column(K::Int, true), blob(), blob()]);
    let reference = |blob| ExternalRef { blob, length: 5000 };
    let external =
        |column: usize| if column == 1 { Field::Value(&Value::Null) } else { Field::External(reference(column as u64)) };
    let (mut bytes, before) = (Vec::new(), RowLayout::new(&def));
    before.encode_fields(external, &mut bytes).unwrap();
    let dropped = |def: &TableDef, bytes: &[u8]| {
        let (layout, mut found) = (RowLayout::new(def), Vec::new());
        let row = StoredRow::new(&layout, bytes).unwrap();
        row.dropped_externals(&mut found).unwrap();
        (row.external(0).unwrap(), found)
    };
    assert_eq!(dropped(&def, &bytes), (Some(reference(0)), vec![]));
    // Twice: the first, then the third goes. What is left is the last, and the number in front of it.
    for (sources, left, found) in [
        (vec![Some(2), Some(1), Some(3)], reference(2), vec![reference(0)]),
        (vec![Some(2), Some(1)], reference(3), vec![reference(0), reference(2)]),
    ] {
        let history = history::RowHistory::after(&def, &sources);
        def.columns = sources.iter().map(|source| def.columns[source.unwrap()].clone()).collect();
        def.history = history;
        assert_eq!(dropped(&def, &bytes), (Some(left), found));
    }
    let layout = RowLayout::new(&def);
    let mut changed = Vec::new();
    layout.encode_changed(StoredRow::new(&layout, &bytes).unwrap(), &[(1, Value::Int(1))], &mut changed).unwrap();
    assert_eq!(dropped(&def, &changed), (Some(reference(3)), vec![]));
}
