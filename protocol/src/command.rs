//! Commands: what a client asks for once it is logged in.
//!
//! A [`Command`] borrows everything from its payload. Parameters of a prepared statement are left encoded, because only the session
//! knows how many the statement has and what types it was given last: see [`crate::Parameters`].

use crate::constants::{Capabilities, command_byte};
use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::handshake::ChangeUser;
use crate::parameters::{NamedParameters, StmtExecute};

/// One command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command<'a> {
    /// No answer: close the connection.
    Quit,
    /// `USE name`
    InitDb {
        database: &'a [u8],
    },
    /// One statement, or several where multi-statements are agreed.
    Query {
        sql: &'a [u8],
        attributes: NamedParameters<'a>,
    },
    /// Columns of a table (`wildcard` is a LIKE pattern), as definitions with defaults. Deprecated, used by old command line clients.
    FieldList {
        table: &'a [u8],
        wildcard: &'a [u8],
    },
    /// A line of text about the server.
    Statistics,
    /// SHOW PROCESSLIST
    ProcessInfo,
    ProcessKill {
        connection_id: u32,
    },
    Ping,
    ChangeUser(ChangeUser<'a>),
    ResetConnection,
    /// FLUSH of something.
    Refresh {
        what: u8,
    },
    Shutdown,
    Debug,
    StmtPrepare {
        sql: &'a [u8],
    },
    StmtExecute(StmtExecute<'a>),
    /// Appends to a parameter's value; never answered.
    StmtSendLongData {
        statement_id: u32,
        parameter: u16,
        data: &'a [u8],
    },
    /// Never answered.
    StmtClose {
        statement_id: u32,
    },
    StmtReset {
        statement_id: u32,
    },
    /// Rows of an open cursor.
    StmtFetch {
        statement_id: u32,
        rows: u32,
    },
    /// 0: multi-statements on; 1: off.
    SetOption {
        option: u16,
    },
    RegisterReplica(RegisterReplica<'a>),
    /// COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID
    BinlogDump(BinlogDump<'a>),
}

/// What a replica says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterReplica<'a> {
    pub server_id: u32,
    pub host: &'a [u8],
    pub user: &'a [u8],
    pub password: &'a [u8],
    pub port: u16,
}

/// From where a client wants the binary log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinlogDump<'a> {
    pub flags: u16,
    pub server_id: u32,
    /// Empty: the first one, or the one that the GTIDs lead to.
    pub file: &'a [u8],
    pub position: u64,
    /// Of COM_BINLOG_DUMP_GTID: the set that the client has, encoded.
    pub gtids: Option<&'a [u8]>,
}

impl<'a> BinlogDump<'a> {
    fn parse(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("COM_BINLOG_DUMP", body);
        let position = u64::from(cursor.u32("position")?);
        let flags = cursor.u16("flags")?;
        let server_id = cursor.u32("server id")?;
        Ok(Self { flags, server_id, file: until_zero(cursor.rest()), position, gtids: None })
    }

    fn parse_gtid(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("COM_BINLOG_DUMP_GTID", body);
        let flags = cursor.u16("flags")?;
        let server_id = cursor.u32("server id")?;
        let length = cursor.u32("length of the file's name")? as usize;
        // Some clients send zero bytes for no name.
        let file = until_zero(cursor.bytes(length, "file")?);
        let position = cursor.u64("position")?;
        let length = cursor.u32("length of the set")? as usize;
        let gtids = cursor.bytes(length, "set of GTIDs")?;
        Ok(Self { flags, server_id, file, position, gtids: Some(gtids) })
    }
}

/// A name as C has it.
fn until_zero(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len())]
}

impl<'a> RegisterReplica<'a> {
    fn parse(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("COM_REGISTER_REPLICA", body);
        let server_id = cursor.u32("server id")?;
        let mut text = |field| {
            let length = usize::from(cursor.u8(field)?);
            cursor.bytes(length, field)
        };
        let (host, user, password) = (text("host")?, text("user")?, text("password")?);
        Ok(Self { server_id, host, user, password, port: cursor.u16("port")? })
    }
}

impl<'a> Command<'a> {
    /// Parses a payload; `agreed` are the capabilities of both sides.
    #[inline]
    pub fn parse(payload: &'a [u8], agreed: Capabilities) -> Result<Self> {
        let Some((&code, body)) = payload.split_first() else {
            return Err(Error::Malformed { packet: "command", field: "command byte", offset: 0 });
        };
        match code {
            command_byte::QUERY => Self::parse_query(body, agreed),
            command_byte::STMT_EXECUTE => StmtExecute::parse(body).map(Command::StmtExecute),
            _ => Self::parse_other(code, body, agreed),
        }
    }

    #[inline]
    fn parse_query(body: &'a [u8], agreed: Capabilities) -> Result<Self> {
        if !agreed.has(Capabilities::QUERY_ATTRIBUTES) {
            return Ok(Command::Query { sql: body, attributes: NamedParameters::NONE });
        }
        let mut cursor = Cursor::new("COM_QUERY", body);
        let attributes = NamedParameters::parse_query(&mut cursor)?;
        Ok(Command::Query { sql: cursor.rest(), attributes })
    }

    fn parse_other(code: u8, body: &'a [u8], agreed: Capabilities) -> Result<Self> {
        Ok(match code {
            command_byte::QUIT => Command::Quit,
            command_byte::INIT_DB => Command::InitDb { database: body },
            command_byte::FIELD_LIST => {
                let mut cursor = Cursor::new("COM_FIELD_LIST", body);
                Command::FieldList { table: cursor.until_zero_or_end(), wildcard: cursor.until_zero_or_end() }
            }
            command_byte::STATISTICS => Command::Statistics,
            command_byte::PROCESS_INFO => Command::ProcessInfo,
            command_byte::PROCESS_KILL => {
                Command::ProcessKill { connection_id: Cursor::new("COM_PROCESS_KILL", body).u32("connection id")? }
            }
            command_byte::PING => Command::Ping,
            command_byte::CHANGE_USER => {
                Command::ChangeUser(ChangeUser::parse(&mut Cursor::new("COM_CHANGE_USER", body), agreed)?)
            }
            command_byte::RESET_CONNECTION => Command::ResetConnection,
            command_byte::REFRESH => Command::Refresh { what: Cursor::new("COM_REFRESH", body).u8("what to refresh")? },
            command_byte::SHUTDOWN => Command::Shutdown,
            command_byte::DEBUG => Command::Debug,
            command_byte::STMT_PREPARE => Command::StmtPrepare { sql: body },
            command_byte::STMT_SEND_LONG_DATA => {
                let mut cursor = Cursor::new("COM_STMT_SEND_LONG_DATA", body);
                Command::StmtSendLongData {
                    statement_id: cursor.u32("statement id")?,
                    parameter: cursor.u16("parameter number")?,
                    data: cursor.rest(),
                }
            }
            command_byte::STMT_CLOSE => {
                Command::StmtClose { statement_id: Cursor::new("COM_STMT_CLOSE", body).u32("statement id")? }
            }
            command_byte::STMT_RESET => {
                Command::StmtReset { statement_id: Cursor::new("COM_STMT_RESET", body).u32("statement id")? }
            }
            command_byte::STMT_FETCH => {
                let mut cursor = Cursor::new("COM_STMT_FETCH", body);
                Command::StmtFetch { statement_id: cursor.u32("statement id")?, rows: cursor.u32("row count")? }
            }
            command_byte::SET_OPTION => Command::SetOption { option: Cursor::new("COM_SET_OPTION", body).u16("option")? },
            command_byte::REGISTER_REPLICA => Command::RegisterReplica(RegisterReplica::parse(body)?),
            command_byte::BINLOG_DUMP => Command::BinlogDump(BinlogDump::parse(body)?),
            command_byte::BINLOG_DUMP_GTID => Command::BinlogDump(BinlogDump::parse_gtid(body)?),
            code => return Err(Error::UnknownCommand { code }),
        })
    }

    /// Does the client expect no answer at all, not even an error?
    pub fn is_silent(payload: &[u8]) -> bool {
        matches!(payload.first(), Some(&(command_byte::STMT_SEND_LONG_DATA | command_byte::STMT_CLOSE | command_byte::QUIT)))
    }

    /// The name SHOW PROCESSLIST gives the command.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Quit => "Quit",
            Command::InitDb { .. } => "Init DB",
            Command::Query { .. } => "Query",
            Command::FieldList { .. } => "Field List",
            Command::Statistics => "Statistics",
            Command::ProcessInfo => "Processlist",
            Command::ProcessKill { .. } => "Kill",
            Command::Ping => "Ping",
            Command::ChangeUser(_) => "Change user",
            Command::ResetConnection => "Reset Connection",
            Command::Refresh { .. } => "Refresh",
            Command::Shutdown => "Shutdown",
            Command::Debug => "Debug",
            Command::StmtPrepare { .. } => "Prepare",
            Command::StmtExecute(_) => "Execute",
            Command::StmtSendLongData { .. } => "Long Data",
            Command::StmtClose { .. } => "Close stmt",
            Command::StmtReset { .. } => "Reset stmt",
            Command::StmtFetch { .. } => "Fetch",
            Command::SetOption { .. } => "Set option",
            Command::RegisterReplica(_) => "Register Replica",
            Command::BinlogDump(dump) if dump.gtids.is_some() => "Binlog Dump GTID",
            Command::BinlogDump(_) => "Binlog Dump",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Capabilities = Capabilities::SUPPORTED.without(Capabilities::QUERY_ATTRIBUTES);

    fn check(payload: &[u8], expected: Command<'_>) {
        assert_eq!(Command::parse(payload, PLAIN), Ok(expected));
    }

    #[test]
    fn commands() {
        check(b"\x01", Command::Quit);
        check(b"\x02shop", Command::InitDb { database: b"shop" });
        check(b"\x03SELECT 1", Command::Query { sql: b"SELECT 1", attributes: NamedParameters::NONE });
        check(b"\x04t\0a%", Command::FieldList { table: b"t", wildcard: b"a%" });
        check(b"\x04t\0", Command::FieldList { table: b"t", wildcard: b"" });
        check(b"\x09", Command::Statistics);
        check(b"\x0a", Command::ProcessInfo);
        check(b"\x0c\x07\0\0\0", Command::ProcessKill { connection_id: 7 });
        check(b"\x0e", Command::Ping);
        check(b"\x16SELECT ?", Command::StmtPrepare { sql: b"SELECT ?" });
        check(b"\x18\x02\0\0\0\x01\0xyz", Command::StmtSendLongData { statement_id: 2, parameter: 1, data: b"xyz" });
        check(b"\x19\x02\0\0\0", Command::StmtClose { statement_id: 2 });
        check(b"\x1a\x02\0\0\0", Command::StmtReset { statement_id: 2 });
        check(b"\x1b\x01\0", Command::SetOption { option: 1 });
        check(b"\x1c\x02\0\0\0\x64\0\0\0", Command::StmtFetch { statement_id: 2, rows: 100 });
        check(b"\x1f", Command::ResetConnection);
    }

    #[test]
    fn bad_commands() {
        let error = |payload: &[u8]| Command::parse(payload, PLAIN).unwrap_err();
        assert_eq!(error(b""), Error::Malformed { packet: "command", field: "command byte", offset: 0 });
        assert_eq!(error(b"\x77"), Error::UnknownCommand { code: 0x77 });
        assert_eq!(error(b"\x00"), Error::UnknownCommand { code: 0 });
        assert_eq!(error(b"\x19\x01"), Error::Malformed { packet: "COM_STMT_CLOSE", field: "statement id", offset: 0 });
        assert!(!Error::UnknownCommand { code: 0 }.is_fatal());
    }

    #[test]
    fn silent_commands() {
        assert!(Command::is_silent(b"\x18\0"));
        assert!(Command::is_silent(b"\x19"));
        assert!(!Command::is_silent(b"\x1a"));
    }

    #[test]
    fn query_attributes() {
        // no attributes, one set
        let with = Capabilities::SUPPORTED;
        assert_eq!(
            Command::parse(b"\x03\0\x01SELECT 1", with),
            Ok(Command::Query { sql: b"SELECT 1", attributes: NamedParameters::NONE })
        );
        let payload = b"\x03\x02\x01\x02\x01\xfe\0\x01a\x03\0\x02bb\x02hiDO 1";
        let Ok(Command::Query { sql, attributes }) = Command::parse(payload, with) else { panic!("a query") };
        assert_eq!(sql, b"DO 1");
        let read: Vec<_> = attributes.iter().map(Result::unwrap).collect();
        assert_eq!(read[0], (&b"a"[..], types::Value::Bytes(b"hi"[..].into())));
        assert_eq!(read[1], (&b"bb"[..], types::Value::Null));
        assert_eq!(read.len(), 2);
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(payload: Vec<u8>, code in 0u8..0x20, plain: bool) {
            let agreed = if plain { PLAIN } else { Capabilities::SUPPORTED };
            let _ = Command::parse(&payload, agreed);
            let mut framed = vec![code];
            framed.extend(payload);
            if let Ok(Command::Query { attributes, .. }) = Command::parse(&framed, agreed) {
                let _ = attributes.iter().count();
            }
        }
    }
}
