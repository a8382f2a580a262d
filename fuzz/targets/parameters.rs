//! Executions of one prepared statement, one after the other: types are remembered, long data comes between them.
//!
//! Checked beyond "no panic": as many values as parameters, unless there is an error; what is decoded can be encoded as a row again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::{Capabilities, Command, PacketWriter, Parameters, RowEncoder, RowFormat};
use types::{ColumnType, TypeKind, Value};

fuzz_target!(|data: &[u8]| {
    let Some((&[count, choice], mut rest)) = data.split_first_chunk::<2>() else { return };
    let count = usize::from(count % 40);
    let agreed = match choice & 1 {
        0 => Capabilities::SUPPORTED,
        _ => Capabilities::SUPPORTED.without(Capabilities::QUERY_ATTRIBUTES),
    };
    let mut parameters = Parameters::new(count);
    let mut values = Vec::new();
    while let Some((&length, behind)) = rest.split_first() {
        let (payload, behind) = behind.split_at(usize::from(length).min(behind.len()));
        rest = behind;
        match Command::parse(payload, agreed) {
            Ok(Command::StmtSendLongData { parameter, data, .. }) => {
                let _ = parameters.append_long_data(parameter, data, 1000);
            }
            Ok(Command::StmtExecute(execute)) => {
                let mut bound = types::recycle(values);
                if let Ok(all) = parameters.bind(&execute, agreed) {
                    let complete = all.map(|value| value.map(|value| bound.push(value))).all(|value| value.is_ok());
                    assert!(!complete || bound.len() == count);
                }
                encode(&bound);
                values = types::recycle(bound);
                parameters.forget_long_data();
            }
            _ => {}
        }
    }
});

fn encode(values: &[Value<'_>]) {
    let mut writer = PacketWriter::new();
    for format in [RowFormat::Text, RowFormat::Binary] {
        let mut row = RowEncoder::new(format, values.len());
        row.begin(&mut writer);
        for (place, value) in values.iter().enumerate() {
            row.value(&mut writer, value, &ColumnType::new(kind(place + values.len())));
        }
        row.end(&mut writer);
    }
}

fn kind(number: usize) -> TypeKind {
    match number % 8 {
        0 => TypeKind::TinyInt,
        1 => TypeKind::BigInt,
        2 => TypeKind::Double,
        3 => TypeKind::VarChar { length: 100 },
        4 => TypeKind::DateTime { fsp: 6 },
        5 => TypeKind::Time { fsp: 3 },
        6 => TypeKind::Decimal { precision: 20, scale: 4 },
        _ => TypeKind::Bit { length: 33 },
    }
}
