//! Column definitions: what a client learns about a column before its values.
//!
//! [`WireType::of`] is the table from our types to the type, character set, length, flags and decimals that MySQL 8.4 sends.

use crate::constants::{column_flag, field_type};
use crate::packet::PacketWriter;
use crate::put::{put_length_encoded_bytes, put_u16, put_u32};
use types::charset::Charset;
use types::{CollationId, ColumnType, LobSize, TypeKind};

/// The decimals of a value without a fixed number of them.
pub const DECIMALS_NOT_FIXED: u8 = 31;

/// One column of a result set. Empty names where there is no table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnDefinition<'a> {
    pub database: &'a str,
    /// The alias.
    pub table: &'a str,
    pub original_table: &'a str,
    pub name: &'a str,
    pub original_name: &'a str,
    pub wire: WireType,
    /// The character set of the client's results, in which the names are sent. `None`: UTF-8.
    pub results: Option<Charset>,
}

/// The fixed part of a definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireType {
    /// One of [`field_type`].
    pub field_type: u8,
    /// 63 for everything but text.
    pub collation: u16,
    /// Display width, or bytes of text.
    pub length: u32,
    /// Of [`column_flag`].
    pub flags: u16,
    pub decimals: u8,
}

impl ColumnDefinition<'static> {
    /// A `?` of a prepared statement.
    pub const PARAMETER: Self = ColumnDefinition {
        database: "",
        table: "",
        original_table: "",
        name: "?",
        original_name: "",
        wire: WireType {
            field_type: field_type::VAR_STRING,
            collation: CollationId::BINARY.0,
            length: 0,
            flags: column_flag::BINARY,
            decimals: 0,
        },
        results: None,
    };
}

impl<'a> ColumnDefinition<'a> {
    /// A column that is not a table's: an expression, or a column of SHOW.
    pub fn expression(name: &'a str, ty: &ColumnType, nullable: bool, results: Option<CollationId>) -> Self {
        let mut wire = WireType::of(ty, results);
        wire.set_flag(column_flag::NOT_NULL, !nullable);
        let is_geometry = matches!(ty.kind, TypeKind::Geometry { .. });
        if is_text(&ty.kind) || is_binary_string(&ty.kind) && !is_geometry || ty.kind == TypeKind::Json {
            wire.decimals = DECIMALS_NOT_FIXED;
        }
        match ty.kind {
            TypeKind::Text(LobSize::Long) | TypeKind::Blob(LobSize::Long) => wire.field_type = field_type::LONG_BLOB,
            TypeKind::Json => wire.collation = results.unwrap_or(CollationId::UTF8MB4_BIN).0,
            _ => {}
        }
        Self { name, wire, results: results.map(Charset::of), ..Self::default() }
    }

    /// A column that is computed for the result itself: it has neither a column's flags nor its width.
    pub fn computed(name: &'a str, ty: &ColumnType, nullable: bool, results: Option<CollationId>) -> Self {
        let mut column = Self::expression(name, ty, nullable, results);
        let wire = &mut column.wire;
        wire.set_flag(column_flag::BLOB, false);
        if is_number(&ty.kind) || ty.kind == TypeKind::Null {
            wire.set_flag(column_flag::BINARY, true);
        }
        match ty.kind {
            TypeKind::BigInt if ty.display_width.is_none() => wire.length = 21,
            TypeKind::Double if ty.float_decimals.is_none() => wire.length = 23,
            // Whole characters.
            TypeKind::Json => wire.length = u32::MAX - 3,
            // GROUP_CONCAT
            TypeKind::Text(LobSize::Regular) => {
                let width = wire.length / u32::from(u16::MAX);
                (wire.field_type, wire.length) = (field_type::LONG_BLOB, 16_384 * width);
            }
            _ => {}
        }
        column
    }

    pub fn write(&self, writer: &mut PacketWriter) {
        let start = writer.begin();
        self.put_fixed(writer.payload());
        writer.end(start);
    }

    /// A definition in the answer to COM_FIELD_LIST: with the default value.
    pub fn write_with_default(&self, writer: &mut PacketWriter, default: Option<&[u8]>) {
        let start = writer.begin();
        let out = writer.payload();
        self.put_fixed(out);
        match default {
            Some(default) => put_length_encoded_bytes(out, default),
            None => out.push(0xfb),
        }
        writer.end(start);
    }

    fn put_fixed(&self, out: &mut Vec<u8>) {
        for name in ["def", self.database, self.table, self.original_table, self.name, self.original_name] {
            match self.results {
                Some(charset) => put_length_encoded_bytes(out, &charset.encode(name.as_bytes())),
                None => put_length_encoded_bytes(out, name.as_bytes()),
            }
        }
        out.push(12);
        put_u16(out, self.wire.collation);
        put_u32(out, self.wire.length);
        out.push(self.wire.field_type);
        put_u16(out, self.wire.flags);
        out.push(self.wire.decimals);
        out.extend_from_slice(&[0, 0]);
    }
}

impl WireType {
    /// How a type goes over the wire to a client whose results are in the character set of `results`
    /// (`None`: character_set_results = NULL, text goes out as it is stored).
    pub fn of(ty: &ColumnType, results: Option<CollationId>) -> Self {
        use field_type as f;
        let field_type = match &ty.kind {
            TypeKind::Null => f::NULL,
            TypeKind::TinyInt => f::TINY,
            TypeKind::SmallInt => f::SHORT,
            TypeKind::MediumInt => f::INT24,
            TypeKind::Int => f::LONG,
            TypeKind::BigInt => f::LONGLONG,
            TypeKind::Decimal { .. } => f::NEWDECIMAL,
            TypeKind::Float => f::FLOAT,
            TypeKind::Double => f::DOUBLE,
            TypeKind::Char { .. } | TypeKind::Binary { .. } | TypeKind::Enum { .. } | TypeKind::Set { .. } => f::STRING,
            TypeKind::VarChar { .. } | TypeKind::VarBinary { .. } => f::VAR_STRING,
            TypeKind::Text(_) | TypeKind::Blob(_) => f::BLOB,
            TypeKind::Date => f::DATE,
            TypeKind::Time { .. } => f::TIME,
            TypeKind::DateTime { .. } => f::DATETIME,
            TypeKind::Timestamp { .. } => f::TIMESTAMP,
            TypeKind::Year => f::YEAR,
            TypeKind::Bit { .. } => f::BIT,
            TypeKind::Json => f::JSON,
            TypeKind::Geometry { .. } => f::GEOMETRY,
            TypeKind::Vector { .. } => f::VECTOR,
        };
        let length = ty.display_length();
        let mut wire = Self { field_type, collation: 63, length, flags: flags_of(ty), decimals: decimals_of(ty) };
        if is_text(&ty.kind) && ty.collation != CollationId::BINARY {
            let shown = results.unwrap_or(ty.collation);
            wire.collation = shown.0;
            wire.length = wire.length.saturating_mul(shown.character_bytes_max());
        }
        wire
    }

    pub fn set_flag(&mut self, flag: u16, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }
}

fn flags_of(ty: &ColumnType) -> u16 {
    use column_flag::*;
    let by_kind = match &ty.kind {
        TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. } | TypeKind::Vector { .. } => BLOB,
        TypeKind::Enum { .. } => ENUM,
        TypeKind::Set { .. } => SET,
        // One that is computed is unsigned, and has no leading zeros.
        TypeKind::Year if !ty.unsigned => UNSIGNED | ZEROFILL,
        TypeKind::Bit { .. } => UNSIGNED,
        _ => 0,
    };
    let temporal = matches!(
        ty.kind,
        TypeKind::Date | TypeKind::Time { .. } | TypeKind::DateTime { .. } | TypeKind::Timestamp { .. } | TypeKind::Json
    );
    let binary_text = (is_text(&ty.kind) || is_binary_string(&ty.kind)) && is_binary_collation(ty.collation);
    by_kind
        | if temporal || binary_text { BINARY } else { 0 }
        | if ty.unsigned { UNSIGNED } else { 0 }
        | if ty.zerofill { ZEROFILL } else { 0 }
}

fn decimals_of(ty: &ColumnType) -> u8 {
    match ty.kind {
        TypeKind::Decimal { scale, .. } => scale,
        TypeKind::Float | TypeKind::Double => ty.float_decimals.unwrap_or(DECIMALS_NOT_FIXED),
        TypeKind::Vector { .. } => DECIMALS_NOT_FIXED,
        TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => fsp,
        _ => 0,
    }
}

fn is_text(kind: &TypeKind) -> bool {
    matches!(
        kind,
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Text(_) | TypeKind::Enum { .. } | TypeKind::Set { .. }
    )
}

fn is_number(kind: &TypeKind) -> bool {
    use TypeKind as T;
    matches!(kind, T::TinyInt | T::SmallInt | T::MediumInt | T::Int | T::BigInt | T::Year)
        || matches!(kind, T::Decimal { .. } | T::Float | T::Double)
}

fn is_binary_string(kind: &TypeKind) -> bool {
    use TypeKind as T;
    matches!(kind, T::Binary { .. } | T::VarBinary { .. } | T::Blob(_) | T::Geometry { .. } | T::Vector { .. })
}

/// Collations that order by code point or byte.
fn is_binary_collation(collation: CollationId) -> bool {
    /// `binary`, `latin1_bin`, `ascii_bin`, `utf8mb3_bin`, `utf8mb4_bin`, `utf8mb4_0900_bin`
    const BINARY: [u16; 6] = [63, 47, 65, 83, 46, 309];
    BINARY.contains(&collation.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use column_flag::*;
    use std::sync::Arc;

    /// Type byte, character set, length, flags, decimals, as MySQL 8.4 sends them to a utf8mb4 client.
    fn check(ty: ColumnType, field_type: u8, collation: u16, length: u32, flags: u16, decimals: u8) {
        let wire = WireType::of(&ty, Some(CollationId::UTF8MB4_0900_AI_CI));
        assert_eq!(wire, WireType { field_type, collation, length, flags, decimals }, "{ty:?}");
    }

    #[test]
    fn types_as_mysql_sends_them() {
        use TypeKind::*;
        let new = ColumnType::new;
        let members: Arc<[String]> = ["a".to_string(), "größe".to_string()].into();
        check(new(TinyInt), 1, 63, 4, 0, 0);
        check(ColumnType::unsigned(TinyInt), 1, 63, 3, UNSIGNED, 0);
        check(ColumnType { display_width: Some(1), ..new(TinyInt) }, 1, 63, 1, 0, 0);
        check(new(Int), 3, 63, 11, 0, 0);
        check(ColumnType::unsigned(BigInt), 8, 63, 20, UNSIGNED, 0);
        check(new(MediumInt), 9, 63, 9, 0, 0);
        check(new(Decimal { precision: 10, scale: 2 }), 246, 63, 12, 0, 2);
        check(ColumnType::unsigned(Decimal { precision: 10, scale: 0 }), 246, 63, 10, UNSIGNED, 0);
        check(new(Float), 4, 63, 12, 0, 31);
        check(new(Double), 5, 63, 22, 0, 31);
        check(new(Char { length: 120 }), 254, 255, 480, 0, 0);
        check(new(VarChar { length: 20 }), 253, 255, 80, 0, 0);
        check(ColumnType { collation: CollationId::UTF8MB4_BIN, ..new(VarChar { length: 20 }) }, 253, 255, 80, BINARY, 0);
        check(new(Text(LobSize::Regular)), 252, 255, 262_140, BLOB, 0);
        check(new(Text(LobSize::Long)), 252, 255, u32::MAX, BLOB, 0);
        check(new(Blob(LobSize::Regular)), 252, 63, 65_535, BLOB | BINARY, 0);
        check(new(VarBinary { length: 16 }), 253, 63, 16, BINARY, 0);
        check(new(Date), 10, 63, 10, BINARY, 0);
        check(new(Time { fsp: 0 }), 11, 63, 10, BINARY, 0);
        check(new(DateTime { fsp: 6 }), 12, 63, 26, BINARY, 6);
        check(new(Timestamp { fsp: 0 }), 7, 63, 19, BINARY, 0);
        check(new(Year), 13, 63, 4, UNSIGNED | ZEROFILL, 0);
        check(new(Enum { members: members.clone() }), 254, 255, 20, ENUM, 0);
        check(new(Set { members }), 254, 255, 28, SET, 0);
        check(new(Bit { length: 9 }), 16, 63, 9, UNSIGNED, 0);
        check(new(Json), 245, 63, u32::MAX, BLOB | BINARY, 0);
        check(new(Null), 6, 63, 0, 0, 0);
    }

    #[test]
    fn the_result_character_set_decides_length() {
        let ty = ColumnType::new(TypeKind::VarChar { length: 10 });
        let wire = |results| (WireType::of(&ty, results).collation, WireType::of(&ty, results).length);
        assert_eq!(wire(Some(CollationId::LATIN1_SWEDISH_CI)), (8, 10));
        assert_eq!(wire(Some(CollationId(33))), (33, 30));
        assert_eq!(wire(None), (255, 40));
    }

    #[test]
    fn an_expression_has_no_fixed_decimals() {
        let ty = ColumnType::new(TypeKind::VarChar { length: 1 });
        let definition = ColumnDefinition::expression("a", &ty, false, None);
        assert_eq!((definition.wire.decimals, definition.wire.flags), (31, NOT_NULL));
    }
}
