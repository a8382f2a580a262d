//! MySQL's client/server protocol, the server's side: bytes in, bytes out. No sockets, no sessions, no SQL.
//!
//! ```text
//! socket bytes -> [CompressedReader] -> PacketReader -> Login | Command -> Parameters -> types::Value
//! types::Value -> RowEncoder | OkPacket | ... -> PacketWriter -> [CompressedWriter] -> socket bytes
//! ```
//! What is read borrows from the input; what is written goes straight into the output buffer. Nothing here panics on what a client
//! sends, and nothing allocates on the way of a small query but the growth of buffers that are kept.
//!
//! It must never know: files, threads, the catalog, plans, accounts. MySQL's error numbers for [`Error`] are `server`'s.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

pub mod auth;
mod binary;
mod column;
mod command;
mod compress;
mod constants;
mod cursor;
mod error;
mod handshake;
mod packet;
mod parameters;
mod put;
mod response;
mod row;
mod text;

pub use column::{ColumnDefinition, DECIMALS_NOT_FIXED, WireType};
pub use command::{BinlogDump, Command, RegisterReplica};
pub use compress::{CompressedReader, CompressedWriter, Unpacked};
pub use constants::{
    CACHING_SHA2_PASSWORD, Capabilities, NATIVE_PASSWORD, NONCE_BYTES, Status, column_flag, command_byte, field_type,
};
pub use cursor::Cursor;
pub use error::{Error, Result};
pub use handshake::{
    Attributes, ChangeUser, Greeting, Login, LoginResponse, put_auth_more_data, put_auth_switch, put_fast_auth_ok,
    put_full_auth_request,
};
pub use packet::{
    FRAME_BYTES_MAX, HEADER_BYTES, LOGIN_PAYLOAD_BYTES_MAX, PacketReader, PacketStart, PacketWriter, Read, STREAM_ABOVE,
};
pub use parameters::{NamedParameters, ParameterType, Parameters, StmtExecute, Values};
pub use put::{put_length_encoded, put_length_encoded_bytes, put_u16, put_u24, put_u32, put_u64, put_zero_terminated};
pub use response::{
    EncodedHead, MESSAGE_BYTES_MAX, OkPacket, PrepareOk, StateChange, TransactionState, put_column_count, put_definitions_end,
    put_encoded_error, put_eof, put_error, put_error_for_greeting, put_local_infile_request, put_result_head, put_rows_end,
    put_statistics,
};
pub use row::{RowEncoder, RowFormat};
