//! Values, types and their encodings: what a row is made of, on no floor but its own.
//!
//! This crate knows MySQL's data types, how their values compare, convert, print and are stored.
//! It knows nothing of pages, sessions, packets or syntax, and does no I/O.
//!
//! - [`Value`] is one SQL value, borrowed where it can be; [`ColumnType`] is a static type, of a column or of an expression.
//! - [`schema`] is the immutable description of databases, tables and indexes; [`show_create`] prints it.
//! - [`row`] is the stored encoding of a row; [`key`] encodes values so that `memcmp` orders them.
//! - [`compact`] encodes numbers so for keys that stay in memory.
//! - [`event`] says when the server runs which program by itself.
//! - [`fulltext`] cuts texts into words, and says how well a row answers a search.
//! - [`partition`] says which partition of its table a row belongs to.
//! - [`convert`] takes a value into a column, between types, and to text, with MySQL's warnings and errors as data.
//! - [`geometry`] is places, lines and areas: their bytes and texts, cells for an index, reference systems.
//! - [`json`] is documents: parsing, printing, storing, comparing, finding parts.
//! - [`work`] counts what takes long, so that it can be ended.
//! - [`decimal`], [`temporal`] and [`collation`] are the arithmetic of exact numbers, of dates and times, and of strings.
//!
//! MySQL's behaviour is checked in against what a server answered: the `.txt` files beside the tests.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

pub mod charset;
pub mod collation;
mod column_type;
pub mod compact;
pub mod convert;
pub mod decimal;
pub mod definition;
pub mod element;
mod error;
pub mod event;
pub mod fulltext;
pub mod geometry;
pub mod json;
pub mod key;
pub mod partition;
pub mod row;
pub mod schema;
pub mod show_create;
mod sql_mode;
pub mod statistics;
pub mod temporal;
mod value;
pub mod vector;
pub mod vector_code;
mod wide;
mod width;
pub mod work;
pub mod xml;
pub mod xpath;

pub use column_type::{CollationId, ColumnType, LobSize, TypeKind};
pub use convert::{Problem, StoreContext, Warnings, store, write_text};
pub use decimal::Decimal;
pub use error::{Error, Result};
pub use key::{KeyCodec, KeyPart};
pub use row::{ExternalRef, RowLayout, StoredRow};
pub use sql_mode::SqlMode;
pub use value::{Date, DateTime, Time, Value, recycle};
