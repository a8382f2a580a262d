//! The maximum width of a type's values as text.

use crate::{CollationId, ColumnType, LobSize, TypeKind};

impl ColumnType {
    /// The characters of the longest value; of long strings and of binary ones the bytes.
    pub fn display_length(&self) -> u32 {
        let sign = u32::from(!self.unsigned);
        if let (TypeKind::Float | TypeKind::Double, Some(width), Some(_)) = (&self.kind, self.display_width, self.float_decimals)
        {
            return width.into();
        }
        if let Some(width) = self.display_width
            && self.is_integer()
            && self.kind != TypeKind::Year
        {
            return width.into();
        }
        match &self.kind {
            TypeKind::Null => 0,
            TypeKind::TinyInt => 3 + sign,
            TypeKind::SmallInt => 5 + sign,
            TypeKind::MediumInt => 8 + sign,
            TypeKind::Int => 10 + sign,
            TypeKind::BigInt => 20,
            TypeKind::Decimal { precision, scale } => u32::from(*precision) + u32::from(*scale > 0) + sign,
            TypeKind::Float => 12,
            TypeKind::Double => 22,
            TypeKind::Char { length }
            | TypeKind::VarChar { length }
            | TypeKind::Binary { length }
            | TypeKind::VarBinary { length } => *length,
            TypeKind::Text(size) | TypeKind::Blob(size) => lob_bytes_max(*size),
            TypeKind::Date => 10,
            TypeKind::Time { fsp } => 10 + fraction_length(*fsp),
            TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => 19 + fraction_length(*fsp),
            TypeKind::Year => 4,
            TypeKind::Enum { members } => longest_member(members),
            TypeKind::Set { members } => all_members(members),
            TypeKind::Bit { length } => u32::from(*length),
            TypeKind::Json | TypeKind::Geometry { .. } => u32::MAX,
            TypeKind::Vector { dimensions } => *dimensions * crate::vector::NUMBER_BYTES as u32,
        }
    }

    /// Most bytes of an element of this type in MySQL's key of a multi-valued index.
    pub fn element_bytes(&self) -> usize {
        // Nine digits are four bytes.
        let digits = |digits: u8| usize::from(digits / 9) * 4 + usize::from(digits % 9).div_ceil(2);
        let fraction = |fsp: u8| usize::from(fsp.div_ceil(2));
        match self.kind {
            TypeKind::BigInt => 8,
            TypeKind::Decimal { precision, scale } => digits(precision.saturating_sub(scale)) + digits(scale),
            TypeKind::Date => 3,
            TypeKind::Time { fsp } => 3 + fraction(fsp),
            TypeKind::DateTime { fsp } => 5 + fraction(fsp),
            _ => self.field_bytes(),
        }
    }

    /// The bytes of a field that holds any value, in the type's own character set: of rows of fixed lengths.
    pub fn field_bytes(&self) -> usize {
        let length = self.display_length() as usize;
        match self.kind {
            TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Enum { .. } | TypeKind::Set { .. } => {
                length * self.collation.character_bytes_max() as usize
            }
            _ => length,
        }
    }
}

impl CollationId {
    /// The longest character of the collation's character set, in bytes.
    pub fn character_bytes_max(self) -> u32 {
        self.info().map_or(1, |info| info.char_bytes_max.into())
    }
}

fn fraction_length(fsp: u8) -> u32 {
    if fsp > 0 { u32::from(fsp) + 1 } else { 0 }
}

fn lob_bytes_max(size: LobSize) -> u32 {
    match size {
        LobSize::Tiny => 0xff,
        LobSize::Regular => 0xffff,
        LobSize::Medium => 0xff_ffff,
        LobSize::Long => u32::MAX,
    }
}

fn longest_member(members: &[String]) -> u32 {
    members.iter().map(|member| member.chars().count() as u32).max().unwrap_or(0)
}

fn all_members(members: &[String]) -> u32 {
    let characters: usize = members.iter().map(|member| member.chars().count()).sum();
    (characters + members.len().saturating_sub(1)) as u32
}
