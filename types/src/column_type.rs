//! Static types: of columns and of expressions.

use crate::geometry::kind::GeometryKind;
use serde::{Deserialize, Serialize};

/// MySQL's collation number (as in `information_schema.COLLATIONS.ID` and on the wire).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CollationId(pub u16);

impl CollationId {
    pub const LATIN1_SWEDISH_CI: Self = Self(8);
    pub const UTF8MB4_GENERAL_CI: Self = Self(45);
    pub const UTF8MB4_BIN: Self = Self(46);
    pub const BINARY: Self = Self(63);
    pub const UTF8MB4_0900_AI_CI: Self = Self(255);
}

/// The four sizes of TEXT and BLOB; their length prefix has 1, 2, 3 or 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LobSize {
    Tiny,
    Regular,
    Medium,
    Long,
}

/// The kind of a type with its parameters; lengths of strings are in characters, of binary types in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TypeKind {
    /// The type of a bare NULL.
    Null,
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Float,
    Double,
    Char {
        length: u32,
    },
    VarChar {
        length: u32,
    },
    Text(LobSize),
    Binary {
        length: u32,
    },
    VarBinary {
        length: u32,
    },
    Blob(LobSize),
    Date,
    /// Fractional digits, 0 to 6.
    Time {
        fsp: u8,
    },
    DateTime {
        fsp: u8,
    },
    Timestamp {
        fsp: u8,
    },
    Year,
    Enum {
        members: std::sync::Arc<[String]>,
    },
    Set {
        members: std::sync::Arc<[String]>,
    },
    Bit {
        length: u8,
    },
    Json,
    /// A geometry of this kind, in this reference system if one is given.
    Geometry {
        kind: GeometryKind,
        srid: Option<u32>,
    },
    /// At most so many 32-bit floating point numbers.
    Vector {
        dimensions: u32,
    },
}

/// A static type: kind, sign, and the collation of strings (`BINARY` for everything else).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ColumnType {
    pub kind: TypeKind,
    pub unsigned: bool,
    pub zerofill: bool,
    /// `INT(11)`: SHOW CREATE prints it only if MySQL 8.4 still does (`TINYINT(1)`, ZEROFILL).
    pub display_width: Option<u8>,
    /// `FLOAT(7,3)` and `DOUBLE(7,3)`: digits after the point.
    pub float_decimals: Option<u8>,
    pub collation: CollationId,
}

impl ColumnType {
    /// The name of an ENUM's ordinal; the empty text for 0.
    pub fn member_name(&self, ordinal: u64) -> Option<&[u8]> {
        let TypeKind::Enum { members } = &self.kind else { return None };
        match ordinal {
            0 => Some(b""),
            n => members.get(usize::try_from(n - 1).ok()?).map(|member| member.as_bytes()),
        }
    }

    /// A type of this kind, signed, without display width; strings are utf8mb4_0900_ai_ci, the rest binary.
    pub fn new(kind: TypeKind) -> Self {
        let collation = match kind {
            TypeKind::Char { .. }
            | TypeKind::VarChar { .. }
            | TypeKind::Text(_)
            | TypeKind::Enum { .. }
            | TypeKind::Set { .. } => CollationId::UTF8MB4_0900_AI_CI,
            TypeKind::Json => CollationId::UTF8MB4_BIN,
            _ => CollationId::BINARY,
        };
        Self { kind, unsigned: false, zerofill: false, display_width: None, float_decimals: None, collation }
    }

    pub fn unsigned(kind: TypeKind) -> Self {
        Self { unsigned: true, ..Self::new(kind) }
    }

    /// The largest value of an integer type; `None` for other types.
    pub fn integer_max(&self) -> Option<u64> {
        let bits = match self.kind {
            TypeKind::TinyInt => 8,
            TypeKind::SmallInt => 16,
            TypeKind::MediumInt => 24,
            TypeKind::Int => 32,
            TypeKind::BigInt => 64,
            _ => return None,
        };
        Some(u64::MAX >> (64 - bits + u32::from(!self.unsigned)))
    }

    /// BINARY, VARBINARY, the BLOBs, and geometries and vectors, which are bytes to all that knows nothing of them.
    pub fn is_binary_string(&self) -> bool {
        use TypeKind as T;
        matches!(self.kind, T::Binary { .. } | T::VarBinary { .. } | T::Blob(_) | T::Geometry { .. } | T::Vector { .. })
    }

    pub fn is_vector(&self) -> bool {
        matches!(self.kind, TypeKind::Vector { .. })
    }

    /// The kind of a geometry type.
    pub fn geometry_kind(&self) -> Option<GeometryKind> {
        if let TypeKind::Geometry { kind, .. } = self.kind { Some(kind) } else { None }
    }

    pub fn is_geometry(&self) -> bool {
        matches!(self.kind, TypeKind::Geometry { .. })
    }

    /// A type of geometries of this kind, of any reference system.
    pub fn geometry(kind: GeometryKind) -> Self {
        Self::new(TypeKind::Geometry { kind, srid: None })
    }

    /// CHAR, VARCHAR, the TEXTs and the binary strings.
    pub fn is_string(&self) -> bool {
        self.is_binary_string() || matches!(self.kind, TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Text(_))
    }

    pub fn is_integer(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt | TypeKind::Year
        )
    }

    pub fn is_temporal(&self) -> bool {
        matches!(self.kind, TypeKind::Date | TypeKind::Time { .. } | TypeKind::DateTime { .. } | TypeKind::Timestamp { .. })
    }

    /// Digits of the fraction of temporal types, else 0.
    pub fn fsp(&self) -> u8 {
        match self.kind {
            TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => fsp,
            _ => 0,
        }
    }
}
