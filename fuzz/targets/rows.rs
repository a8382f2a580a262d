//! Stored rows and keys of one table with a column of every kind, as they might lie on a damaged page.
//!
//! Checked beyond "no panic": a row whose columns can all be read is encoded again, and reads the same; keys made of it give its values
//! back where they can.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use types::schema::{ColumnDef, IndexColumn, TableDef, TableId};
use types::{ColumnType, KeyCodec, LobSize, RowLayout, StoredRow, TypeKind, Value};

struct Fixture {
    layout: RowLayout,
    /// With the columns they are made of.
    keys: Vec<(KeyCodec, Vec<usize>)>,
}

fuzz_target!(|data: &[u8]| {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    let fixture = FIXTURE.get_or_init(fixture);
    let Some((&choice, bytes)) = data.split_first() else { return };
    if choice & 1 == 0 {
        row(fixture, bytes);
    } else {
        key(&fixture.keys[usize::from(choice >> 1) % fixture.keys.len()].0, bytes);
    }
});

fn row(fixture: &Fixture, bytes: &[u8]) {
    let Ok(row) = StoredRow::new(&fixture.layout, bytes) else { return };
    let columns = fixture.layout.columns();
    for column in 0..columns {
        let _ = (row.is_null(column), row.ordinal(column), row.external(column), row.variable_bytes(column));
    }
    let values: Result<Vec<Value<'_>>, _> = (0..columns).map(|column| row.get(column)).collect();
    let Ok(values) = values else { return };
    if row.has_external() {
        return;
    }
    let mut encoded = Vec::new();
    if fixture.layout.encode(&values, &mut encoded).is_err() {
        return;
    }
    let again = StoredRow::new(&fixture.layout, &encoded).expect("an encoded row is a row");
    for (column, value) in values.iter().enumerate() {
        let read = again.get(column).expect("an encoded column can be read");
        // Debug text, because NaN is not equal to itself.
        assert_eq!(format!("{read:?}"), format!("{value:?}"), "column {column}");
    }
    for (codec, columns) in &fixture.keys {
        encode_key(codec, columns, &values);
    }
}

fn encode_key(codec: &KeyCodec, columns: &[usize], values: &[Value<'_>]) {
    let mut encoded = Vec::new();
    if codec.encode_values(values, &mut encoded).is_err() {
        return;
    }
    for (part, &column) in columns.iter().enumerate() {
        if codec.parts()[part].is_reversible() {
            let read = codec.decode(&encoded, part).expect("an encoded key can be read");
            assert_eq!(format!("{read:?}"), format!("{:?}", values[column]), "column {column} of a key");
        }
    }
    assert_eq!(codec.offset(&encoded, columns.len()), Ok(encoded.len()));
}

fn key(codec: &KeyCodec, bytes: &[u8]) {
    for part in 0..=codec.parts().len() {
        let _ = codec.offset(bytes, part);
    }
    for (part, what) in codec.parts().iter().enumerate() {
        if what.is_reversible() {
            let _ = codec.decode(bytes, part);
        }
    }
}

fn fixture() -> Fixture {
    let table = table();
    let key = |columns: &[usize]| {
        let parts: Vec<_> =
            columns.iter().map(|&column| IndexColumn { column, prefix: None, descending: column % 5 == 4 }).collect();
        (KeyCodec::from_columns(&table, &parts), columns.to_vec())
    };
    let mut keys: Vec<_> =
        (0..table.columns.len()).filter(|&column| is_key(&table.columns[column].ty.kind)).map(|c| key(&[c])).collect();
    keys.push(key(&[0, 1, 14, 5, 16]));
    Fixture { layout: RowLayout::new(&table), keys }
}

fn is_key(kind: &TypeKind) -> bool {
    !matches!(kind, TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. })
}

fn table() -> TableDef {
    use TypeKind::*;
    let members: std::sync::Arc<[String]> = ["a".to_owned(), "b".to_owned(), "c".to_owned()].into();
    let kinds = vec![
        TinyInt,
        SmallInt,
        MediumInt,
        Int,
        BigInt,
        Decimal { precision: 20, scale: 4 },
        Decimal { precision: 65, scale: 30 },
        Float,
        Double,
        Date,
        Time { fsp: 6 },
        DateTime { fsp: 0 },
        Timestamp { fsp: 3 },
        Year,
        VarChar { length: 100 },
        Char { length: 10 },
        VarBinary { length: 100 },
        Binary { length: 4 },
        Text(LobSize::Regular),
        Blob(LobSize::Long),
        Enum { members: members.clone() },
        Set { members },
        Bit { length: 12 },
        Json,
    ];
    let column = |(place, kind): (usize, TypeKind)| ColumnDef::new(format!("c{place}"), if place % 7 == 3 { ColumnType::unsigned(kind) } else { ColumnType::new(kind) }, place % 3 != 0);
    TableDef::new(TableId(1), "d", "t", kinds.into_iter().enumerate().map(column).collect())
}
