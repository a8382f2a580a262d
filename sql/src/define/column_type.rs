//! The types of columns.

use super::collation_of;
use crate::ast::{DataType, TypeName};
use crate::{DefinitionError, Error, Result};
use conditions::Condition;
use std::collections::HashMap;
use std::sync::Arc;
use types::geometry::srs;
use types::vector::{DIMENSIONS_DEFAULT, DIMENSIONS_MAX};
use types::{CollationId, ColumnType, LobSize, TypeKind};

/// A column's type from its syntax.
pub fn column_type(name: &str, data_type: &DataType<'_>, table_collation: CollationId) -> Result<ColumnType> {
    let definition = Error::from;
    let mut display_width = None;
    let mut float_decimals = None;
    let kind = match data_type.name {
        TypeName::TinyInt(width) => integer(TypeKind::TinyInt, width, &mut display_width),
        TypeName::SmallInt(width) => integer(TypeKind::SmallInt, width, &mut display_width),
        TypeName::MediumInt(width) => integer(TypeKind::MediumInt, width, &mut display_width),
        TypeName::Int(width) => integer(TypeKind::Int, width, &mut display_width),
        TypeName::BigInt(width) => integer(TypeKind::BigInt, width, &mut display_width),
        TypeName::Decimal { precision, scale } => decimal(name, precision, scale).map_err(definition)?,
        TypeName::Float(digits) => {
            (display_width, float_decimals) = check_digits(name, digits).map_err(definition)?;
            TypeKind::Float
        }
        TypeName::Double(digits) => {
            (display_width, float_decimals) = check_digits(name, digits).map_err(definition)?;
            TypeKind::Double
        }
        TypeName::Bit(length) if length > 64 => {
            return Err(definition(DefinitionError::DisplayWidth { column: name.to_owned(), max: 64 }));
        }
        TypeName::Bit(0) => return Err(definition(DefinitionError::InvalidSize(name.to_owned()))),
        TypeName::Bit(length) => TypeKind::Bit { length: length as u8 },
        TypeName::Char(length) => TypeKind::Char { length: length_of(name, length, 255).map_err(definition)? },
        TypeName::VarChar(length) => TypeKind::VarChar { length: length_of(name, length, 16383).map_err(definition)? },
        TypeName::Binary(length) => TypeKind::Binary { length: length_of(name, length, 255).map_err(definition)? },
        TypeName::VarBinary(length) => TypeKind::VarBinary { length: length_of(name, length, 65535).map_err(definition)? },
        TypeName::TinyText => TypeKind::Text(LobSize::Tiny),
        TypeName::Text(Some(length)) | TypeName::Blob(Some(length)) if length > u64::from(u32::MAX) => {
            return Err(definition(DefinitionError::DisplayWidth { column: name.to_owned(), max: u32::MAX }));
        }
        TypeName::Text(length) => TypeKind::Text(lob_size(length, 4)),
        TypeName::MediumText => TypeKind::Text(LobSize::Medium),
        TypeName::LongText => TypeKind::Text(LobSize::Long),
        TypeName::TinyBlob => TypeKind::Blob(LobSize::Tiny),
        TypeName::Blob(length) => TypeKind::Blob(lob_size(length, 1)),
        TypeName::MediumBlob => TypeKind::Blob(LobSize::Medium),
        TypeName::LongBlob => TypeKind::Blob(LobSize::Long),
        TypeName::Date => TypeKind::Date,
        TypeName::Time(fsp) => TypeKind::Time { fsp: fraction(name, fsp).map_err(definition)? },
        TypeName::DateTime(fsp) => TypeKind::DateTime { fsp: fraction(name, fsp).map_err(definition)? },
        TypeName::Timestamp(fsp) => TypeKind::Timestamp { fsp: fraction(name, fsp).map_err(definition)? },
        TypeName::Year => TypeKind::Year,
        TypeName::Enum(members) => TypeKind::Enum { members: member_list(members) },
        TypeName::Set(members) => TypeKind::Set { members: member_list(members) },
        TypeName::Json => TypeKind::Json,
        TypeName::Geometry(_) if data_type.srid.is_some_and(|srid| srs::find(srid).is_none()) => {
            return Err(Condition::SrsNotFound { srid: data_type.srid.unwrap_or_default().into() }.into());
        }
        TypeName::Geometry(kind) => TypeKind::Geometry { kind, srid: data_type.srid },
        TypeName::Vector(dimensions) => {
            let dimensions = dimensions.unwrap_or(DIMENSIONS_DEFAULT.into());
            if dimensions > DIMENSIONS_MAX.into() {
                let bytes = dimensions.saturating_mul(4);
                let (bytes, dimensions, column) = (bytes.into(), dimensions.into(), name.into());
                return Err(Condition::ExceedsVectorMaxDimensions { bytes, dimensions, column }.into());
            }
            TypeKind::Vector { dimensions: dimensions as u32 }
        }
    };
    let mut ty = ColumnType::new(kind);
    ty.unsigned = data_type.unsigned || data_type.zerofill;
    ty.zerofill = data_type.zerofill;
    ty.display_width = display_width;
    ty.float_decimals = float_decimals;
    set_collation(&mut ty, data_type, table_collation)?;
    check_members(name, &ty).map_err(definition)?;
    Ok(ty)
}

fn integer(kind: TypeKind, width: Option<u8>, display_width: &mut Option<u8>) -> TypeKind {
    *display_width = width;
    kind
}

fn decimal(name: &str, precision: u32, scale: u32) -> std::result::Result<TypeKind, DefinitionError> {
    let column = || name.to_owned();
    if scale > 30 {
        return Err(DefinitionError::TooBigScale { column: column(), scale, max: 30 });
    }
    if precision > 65 {
        return Err(DefinitionError::TooBigPrecision { column: column(), precision, max: 65 });
    }
    if scale > precision {
        return Err(DefinitionError::ScaleOverPrecision(column()));
    }
    Ok(TypeKind::Decimal { precision: precision as u8, scale: scale as u8 })
}

/// `FLOAT(m,d)`: all digits, and those after the point.
fn check_digits(name: &str, digits: Option<(u8, u8)>) -> std::result::Result<(Option<u8>, Option<u8>), DefinitionError> {
    match digits {
        Some((precision, decimals)) if decimals > precision => Err(DefinitionError::ScaleOverPrecision(name.to_owned())),
        Some((_, decimals)) if decimals > 30 => {
            Err(DefinitionError::TooBigScale { column: name.to_owned(), scale: decimals.into(), max: 30 })
        }
        digits => Ok(digits.unzip()),
    }
}

fn fraction(name: &str, fsp: u8) -> std::result::Result<u8, DefinitionError> {
    if fsp > 6 {
        return Err(DefinitionError::TooBigPrecision { column: name.to_owned(), precision: fsp.into(), max: 6 });
    }
    Ok(fsp)
}

fn length_of(name: &str, length: u64, max: u64) -> std::result::Result<u32, DefinitionError> {
    match u32::try_from(length) {
        // The limit of a VARCHAR is in bytes; it is checked with the table's other rules.
        Err(_) => Err(DefinitionError::DisplayWidth { column: name.to_owned(), max: u32::MAX }),
        Ok(short) if length <= max || max == 16383 && length <= 65535 => Ok(short),
        _ => Err(DefinitionError::ColumnTooLong { column: name.to_owned(), max }),
    }
}

/// TEXT(n) and BLOB(n) are the smallest type that holds n characters.
fn lob_size(length: Option<u64>, bytes_per_char: u64) -> LobSize {
    match length.map(|length| length.saturating_mul(bytes_per_char)) {
        None => LobSize::Regular,
        Some(bytes) if bytes < 1 << 8 => LobSize::Tiny,
        Some(bytes) if bytes < 1 << 16 => LobSize::Regular,
        Some(bytes) if bytes < 1 << 24 => LobSize::Medium,
        Some(_) => LobSize::Long,
    }
}

/// As in MySQL, members lose their trailing spaces.
fn member_list(members: &[&[u8]]) -> Arc<[String]> {
    members.iter().map(|member| String::from_utf8_lossy(member).trim_end_matches(' ').to_owned()).collect()
}

/// 1291: members that are equal by the column's collation.
fn check_members(name: &str, ty: &ColumnType) -> std::result::Result<(), DefinitionError> {
    let (members, kind) = match &ty.kind {
        TypeKind::Enum { members } => (members, "ENUM"),
        TypeKind::Set { members } => (members, "SET"),
        _ => return Ok(()),
    };
    let mut seen: HashMap<Vec<u8>, &String> = HashMap::with_capacity(members.len());
    for member in members.iter() {
        let mut key = Vec::new();
        types::collation::sort_key(member.as_bytes(), ty.collation, &mut key);
        if let Some(first) = seen.insert(key, member) {
            return Err(DefinitionError::DuplicateMember { column: name.to_owned(), value: first.clone(), kind });
        }
    }
    Ok(())
}

/// Strings get the column's collation, else the default of its character set, else the table's collation.
fn set_collation(ty: &mut ColumnType, data_type: &DataType<'_>, table: CollationId) -> Result<()> {
    let is_text = matches!(
        ty.kind,
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Text(_) | TypeKind::Enum { .. } | TypeKind::Set { .. }
    );
    if !is_text {
        let Some(written) = data_type.collation else { return Ok(()) };
        let collation = collation_of(None, Some(written), table)?;
        if (ty.is_binary_string() || ty.kind == TypeKind::Json) && collation != CollationId::BINARY {
            let (collation, charset) = (written.to_owned(), "binary".to_owned());
            return Err(Error::CollationMismatch { collation, charset });
        }
        return Ok(());
    }
    let mut collation = collation_of(data_type.charset, data_type.collation, table)?;
    if data_type.binary && data_type.collation.is_none() {
        let charset = collation.charset();
        let name = format!("{charset}_bin");
        collation = collation_of(None, Some(&name), collation)?;
    }
    ty.collation = collation;
    // CHARACTER SET binary turns a character type into a binary type.
    if collation == CollationId::BINARY {
        ty.kind = match &ty.kind {
            TypeKind::Char { length } => TypeKind::Binary { length: *length },
            TypeKind::VarChar { length } => TypeKind::VarBinary { length: *length },
            TypeKind::Text(size) => TypeKind::Blob(*size),
            other => other.clone(),
        };
    }
    Ok(())
}
