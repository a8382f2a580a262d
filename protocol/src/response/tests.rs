//! Answers byte for byte, and as another implementation reads them.

use super::*;
use mysql_common::constants::{CapabilityFlags, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    CommonOkPacket, ErrPacket, OkPacketDeserializer, ResultSetTerminator, StmtPacket,
    session_state_change::SessionStateChange as Theirs,
};
use mysql_common::proto::MyDeserialize;
use types::{CollationId, ColumnType, TypeKind};

const OLD: Capabilities = Capabilities::SUPPORTED.without(Capabilities::DEPRECATE_EOF).without(Capabilities::SESSION_TRACK);
const NEW: Capabilities = Capabilities::SUPPORTED;

fn written(fill: impl FnOnce(&mut PacketWriter)) -> Vec<u8> {
    let mut writer = PacketWriter::new();
    fill(&mut writer);
    writer.bytes().to_vec()
}

fn flags(capabilities: Capabilities) -> CapabilityFlags {
    CapabilityFlags::from_bits_truncate(capabilities.0)
}

#[test]
fn ok_packets() {
    let ok = OkPacket { affected_rows: 3, last_insert_id: 300, status: Status::AUTOCOMMIT, warnings: 1, ..OkPacket::default() };
    assert_eq!(written(|w| ok.write(w, OLD)), b"\x09\0\0\0\0\x03\xfc\x2c\x01\x02\0\x01\0");
    assert_eq!(written(|w| ok.write(w, NEW)), b"\x09\0\0\0\0\x03\xfc\x2c\x01\x02\0\x01\0");
    let ok = OkPacket { info: "hi", changes: &[StateChange::Schema("d")], ..OkPacket::default() };
    assert_eq!(written(|w| ok.write(w, OLD)), b"\x0a\0\0\0\0\0\0\0\0\0\0\x02hi");
    assert_eq!(written(|w| ok.write(w, NEW)), b"\x0f\0\0\0\0\0\0\0\x40\0\0\x02hi\x04\x01\x02\x01d");
}

#[test]
fn another_implementation_reads_state_changes() {
    let state = TransactionState { explicit: true, read: true, wrote: true, result_set: true, ..Default::default() }.text();
    assert_eq!(state, "T_R_W_S_");
    let changes = [
        StateChange::SystemVariable { name: "autocommit", value: "OFF" },
        StateChange::Schema("shop"),
        StateChange::Any,
        StateChange::TransactionCharacteristics("START TRANSACTION;"),
        StateChange::TransactionState(&state),
    ];
    let status = Status::AUTOCOMMIT.with(Status::IN_TRANSACTION);
    let bytes = written(|w| OkPacket { status, changes: &changes, ..OkPacket::default() }.write(w, NEW));
    let ok = OkPacketDeserializer::<CommonOkPacket>::deserialize(flags(NEW), &mut ParseBuf(&bytes[4..])).unwrap().into_inner();
    let all = StatusFlags::SERVER_STATUS_AUTOCOMMIT | StatusFlags::SERVER_STATUS_IN_TRANS;
    assert_eq!(ok.status_flags(), all | StatusFlags::SERVER_SESSION_STATE_CHANGED);
    let info = ok.session_state_info().unwrap();
    let texts: Vec<String> = info.iter().map(|change| format!("{:?}", change.decode().unwrap())).collect();
    assert!(matches!(info[0].decode(), Ok(Theirs::SystemVariables(list)) if list[0].name_str() == "autocommit"));
    assert!(matches!(info[1].decode(), Ok(Theirs::Schema(name)) if name.as_str() == "shop"), "{texts:?}");
    assert!(matches!(info[2].decode(), Ok(Theirs::IsTracked(true))), "{texts:?}");
    assert!(matches!(info[3].decode(), Ok(Theirs::TransactionCharacteristics(_))), "{texts:?}");
    assert!(matches!(info[4].decode(), Ok(Theirs::TransactionState(_))), "{texts:?}");
}

#[test]
fn the_end_of_rows() {
    let ok = OkPacket { status: Status::AUTOCOMMIT.with(Status::MORE_RESULTS), warnings: 2, ..OkPacket::default() };
    assert_eq!(written(|w| put_rows_end(w, OLD, &ok)), b"\x05\0\0\0\xfe\x02\0\x0a\0");
    let bytes = written(|w| put_rows_end(w, NEW, &ok));
    assert_eq!(bytes, b"\x07\0\0\0\xfe\0\0\x0a\0\x02\0");
    let read = OkPacketDeserializer::<ResultSetTerminator>::deserialize(flags(NEW), &mut ParseBuf(&bytes[4..])).unwrap();
    assert_eq!(read.into_inner().warnings(), 2);
}

#[test]
fn errors() {
    let bytes = written(|w| put_error(w, 1146, b"42S02", "Table 'a.b' doesn't exist"));
    assert_eq!(bytes[..13], *b"\x22\0\0\0\xff\x7a\x04#42S02");
    match ErrPacket::deserialize(flags(NEW), &mut ParseBuf(&bytes[4..])).unwrap() {
        ErrPacket::Error(error) => {
            assert_eq!((error.error_code(), error.message_str().as_ref()), (1146, "Table 'a.b' doesn't exist"));
            assert_eq!(error.sql_state_ref().unwrap().as_str(), "42S02");
        }
        ErrPacket::Progress(_) => panic!("an error"),
    }
    let long = written(|w| put_error(w, 1064, b"42000", &"ä".repeat(400)));
    assert_eq!(long.len(), 4 + 9 + 512);
}

#[test]
fn a_long_message_is_cut_between_characters() {
    let bytes = written(|w| put_error(w, 1064, b"42000", &format!("x{}", "ä".repeat(400))));
    assert_eq!(bytes.len(), 4 + 9 + 511);
    assert!(std::str::from_utf8(&bytes[13..]).is_ok());
}

fn columns() -> [ColumnDefinition<'static>; 2] {
    let int = ColumnType::new(TypeKind::Int);
    let text = ColumnType::new(TypeKind::VarChar { length: 20 });
    let utf8mb4 = Some(CollationId::UTF8MB4_0900_AI_CI);
    [ColumnDefinition::expression("a", &int, true, utf8mb4), ColumnDefinition::expression("b", &text, false, utf8mb4)]
}

#[test]
fn a_result_head_byte_for_byte() {
    let bytes = written(|w| put_result_head(w, OLD, &columns(), Status::AUTOCOMMIT));
    let mut expected = b"\x01\0\0\0\x02".to_vec();
    expected.extend(b"\x17\0\0\x01\x03def\0\0\0\x01a\0\x0c\x3f\0\x0b\0\0\0\x03\0\0\0\0\0");
    expected.extend(b"\x17\0\0\x02\x03def\0\0\0\x01b\0\x0c\xff\0\x50\0\0\0\xfd\x01\0\x1f\0\0");
    expected.extend(b"\x05\0\0\x03\xfe\0\0\x02\0");
    assert_eq!(bytes, expected);
}

#[test]
fn an_encoded_head_is_the_same_anywhere() {
    for agreed in [OLD, NEW, NEW.with(Capabilities::OPTIONAL_RESULTSET_METADATA)] {
        let head = EncodedHead::new(agreed, &columns());
        for first in [0, 1, 2, 254] {
            let direct = written(|w| {
                w.set_sequence(first);
                put_result_head(w, agreed, &columns(), Status::AUTOCOMMIT);
            });
            let mut writer = PacketWriter::new();
            writer.set_sequence(first);
            head.write(&mut writer, agreed, Status::AUTOCOMMIT);
            assert_eq!(writer.bytes(), direct);
            let packets = if agreed.has(Capabilities::DEPRECATE_EOF) { 3 } else { 4 };
            assert_eq!(writer.sequence(), first.wrapping_add(packets));
        }
    }
}

#[test]
fn prepared() {
    let answer = PrepareOk { statement_id: 5, columns: 2, parameters: 1, warnings: 0 };
    let bytes = written(|w| answer.write(w, NEW, &columns(), Status::AUTOCOMMIT));
    assert_eq!(bytes[..16], *b"\x0c\0\0\0\0\x05\0\0\0\x02\0\x01\0\0\0\0");
    assert_eq!(bytes[16..43], *b"\x17\0\0\x01\x03def\0\0\0\x01?\0\x0c\x3f\0\0\0\0\0\xfd\x80\0\0\0\0");
    let packet = StmtPacket::deserialize((), &mut ParseBuf(&bytes[4..16])).unwrap();
    assert_eq!((packet.statement_id(), packet.num_columns(), packet.num_params()), (5, 2, 1));
    let with_eof = written(|w| answer.write(w, OLD, &columns(), Status::AUTOCOMMIT));
    assert_eq!(with_eof.len(), bytes.len() + 2 * 9);
}

#[test]
fn other_answers() {
    assert_eq!(written(|w| put_local_infile_request(w, b"/tmp/a")), b"\x07\0\0\0\xfb/tmp/a");
    assert_eq!(written(|w| put_statistics(w, "Uptime: 1")), b"\x09\0\0\0Uptime: 1");
    assert_eq!(written(|w| columns()[0].write_with_default(w, None)).last(), Some(&0xfb));
    assert_eq!(written(|w| put_eof(w, 0, Status::default())), b"\x05\0\0\0\xfe\0\0\0\0");
}
