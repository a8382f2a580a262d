//! Logins as real clients send them, and greetings as they read them.

use super::*;
use crate::packet::HEADER_BYTES;
use crate::{CACHING_SHA2_PASSWORD, NATIVE_PASSWORD, auth};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{HandshakePacket, HandshakeResponse};
use mysql_common::proto::{MyDeserialize, MySerialize};
use proptest::prelude::*;

const NONCE: [u8; NONCE_BYTES] = *b"abcdefghijklmnopqrst";

fn response(login: Login<'_>) -> LoginResponse<'_> {
    match login {
        Login::Response(response) => response,
        Login::TlsRequest { .. } => panic!("a response"),
    }
}

#[test]
fn another_implementation_reads_the_greeting() {
    let mut writer = PacketWriter::new();
    Greeting {
        version: "8.4.0-heddle-0.1.0",
        connection_id: 77,
        nonce: &NONCE,
        capabilities: Capabilities::SUPPORTED,
        collation: 255,
        status: Status::AUTOCOMMIT,
        plugin: CACHING_SHA2_PASSWORD,
    }
    .write(&mut writer);
    let packet = HandshakePacket::deserialize((), &mut ParseBuf(&writer.bytes()[HEADER_BYTES..])).unwrap();
    assert_eq!(packet.protocol_version(), 10);
    assert_eq!(packet.server_version_ref(), b"8.4.0-heddle-0.1.0");
    assert_eq!(packet.connection_id(), 77);
    assert_eq!(packet.nonce(), NONCE);
    assert_eq!(packet.capabilities().bits(), Capabilities::SUPPORTED.0);
    assert_eq!(packet.default_collation(), 255);
    assert_eq!(packet.auth_plugin_name_ref(), Some(CACHING_SHA2_PASSWORD.as_bytes()));
}

#[test]
fn another_implementations_login_is_read() {
    use mysql_common::constants::CapabilityFlags;
    use mysql_common::packets::AuthPlugin;
    let proof = auth::sha2_proof(b"secret", &NONCE);
    let attributes = [("_os".to_string(), "Linux".to_string()), ("program_name".to_string(), "x".repeat(300))];
    let bytes = {
        let mut out = Vec::new();
        HandshakeResponse::new(
            Some(&proof[..]),
            (8, 4, 0),
            Some(&b"root"[..]),
            Some(&b"shop"[..]),
            Some(AuthPlugin::CachingSha2Password),
            CapabilityFlags::from_bits_truncate(Capabilities::SUPPORTED.0),
            Some(attributes.iter().cloned().collect()),
            1 << 24,
        )
        .serialize(&mut out);
        out
    };
    let login = response(Login::parse(&bytes, Capabilities::SUPPORTED).unwrap());
    assert_eq!(login.user, b"root");
    assert_eq!(login.proof, proof);
    assert_eq!(login.database, Some(&b"shop"[..]));
    assert_eq!(login.plugin, Some(CACHING_SHA2_PASSWORD.as_bytes()));
    assert_eq!(login.packet_bytes_max, 1 << 24);
    let mut read: Vec<_> = login.attributes.iter().map(|(n, v)| (n.to_vec(), v.to_vec())).collect();
    read.sort();
    assert_eq!(read, attributes.map(|(n, v)| (n.into_bytes(), v.into_bytes())));
    for length in 0..bytes.len() {
        let _ = Login::parse(&bytes[..length], Capabilities::SUPPORTED);
    }
}

fn login_head(capabilities: Capabilities) -> Vec<u8> {
    let mut bytes = capabilities.0.to_le_bytes().to_vec();
    bytes.extend((1u32 << 24).to_le_bytes());
    bytes.push(45);
    bytes.extend([0; 23]);
    bytes
}

#[test]
fn a_tls_request_is_a_login_that_stops_short() {
    let capabilities = Capabilities::SUPPORTED.with(Capabilities::SSL);
    assert_eq!(Login::parse(&login_head(capabilities), capabilities), Ok(Login::TlsRequest { capabilities }));
}

#[test]
fn old_and_short_logins_are_refused() {
    assert_eq!(Login::parse(&[0x85, 0xa0, 0, 0], Capabilities::SUPPORTED), Err(Error::OldProtocol));
    let head = login_head(Capabilities::SUPPORTED);
    assert_eq!(
        Login::parse(&head[..31], Capabilities::SUPPORTED),
        Err(Error::Malformed { packet: "login", field: "filler", offset: 9 })
    );
    assert_eq!(
        Login::parse(&head, Capabilities::SUPPORTED),
        Err(Error::Malformed { packet: "login", field: "user", offset: 32 })
    );
}

#[test]
fn a_login_without_database_and_plugin() {
    let capabilities = Capabilities::PROTOCOL_41.with(Capabilities::SECURE_CONNECTION);
    let mut bytes = login_head(capabilities);
    bytes.extend(b"root\0\0");
    let login = response(Login::parse(&bytes, Capabilities::SUPPORTED).unwrap());
    assert_eq!((login.user, login.proof, login.database, login.plugin), (&b"root"[..], &b""[..], None, None));
    assert_eq!(login.collation, 45);
}

#[test]
fn change_user() {
    let mut bytes = b"bob\0\x03abcshop\0".to_vec();
    bytes.extend([45, 0]);
    bytes.extend(NATIVE_PASSWORD.as_bytes());
    bytes.extend(b"\0\x06\x01a\x03foo");
    let mut cursor = Cursor::new("COM_CHANGE_USER", &bytes);
    let change = ChangeUser::parse(&mut cursor, Capabilities::SUPPORTED).unwrap();
    assert_eq!((change.user, change.proof, change.database), (&b"bob"[..], &b"abc"[..], Some(&b"shop"[..])));
    assert_eq!((change.collation, change.plugin), (Some(45), Some(NATIVE_PASSWORD.as_bytes())));
    assert_eq!(change.attributes.iter().collect::<Vec<_>>(), [(&b"a"[..], &b"foo"[..])]);
    let mut short = Cursor::new("COM_CHANGE_USER", b"bob\0\0\0");
    let change = ChangeUser::parse(&mut short, Capabilities::SUPPORTED).unwrap();
    assert_eq!((change.user, change.database, change.collation), (&b"bob"[..], None, None));
}

#[test]
fn plugin_messages() {
    let mut writer = PacketWriter::new();
    put_auth_switch(&mut writer, NATIVE_PASSWORD, &NONCE);
    put_fast_auth_ok(&mut writer);
    put_full_auth_request(&mut writer);
    let expected = b"\x2c\0\0\0\xfemysql_native_password\0abcdefghijklmnopqrst\0\x02\0\0\x01\x01\x03\x02\0\0\x02\x01\x04";
    assert_eq!(writer.bytes(), expected);
}

proptest! {
    #[test]
    fn random_logins_never_panic(capabilities: u32, bytes: Vec<u8>) {
        let mut login = login_head(Capabilities(capabilities).with(Capabilities::PROTOCOL_41));
        login.extend(bytes);
        if let Ok(Login::Response(login)) = Login::parse(&login, Capabilities::SUPPORTED) {
            let _ = login.attributes.iter().count();
        }
    }
}
