//! The kinds of geometries.

use serde::{Deserialize, Serialize};

/// The kinds of geometries, by their numbers in WKB. `Geometry` is the type of a column that takes any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GeometryKind {
    Geometry,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    Collection,
}

impl GeometryKind {
    pub const ALL: [Self; 8] = [
        Self::Geometry,
        Self::Point,
        Self::LineString,
        Self::Polygon,
        Self::MultiPoint,
        Self::MultiLineString,
        Self::MultiPolygon,
        Self::Collection,
    ];

    pub fn of_number(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// The number in WKB.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The name in capitals, as ST_GeometryType has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Geometry => "GEOMETRY",
            Self::Point => "POINT",
            Self::LineString => "LINESTRING",
            Self::Polygon => "POLYGON",
            Self::MultiPoint => "MULTIPOINT",
            Self::MultiLineString => "MULTILINESTRING",
            Self::MultiPolygon => "MULTIPOLYGON",
            Self::Collection => "GEOMCOLLECTION",
        }
    }

    /// The name as SHOW CREATE TABLE prints it.
    pub fn lower_name(self) -> &'static str {
        match self {
            Self::Geometry => "geometry",
            Self::Point => "point",
            Self::LineString => "linestring",
            Self::Polygon => "polygon",
            Self::MultiPoint => "multipoint",
            Self::MultiLineString => "multilinestring",
            Self::MultiPolygon => "multipolygon",
            Self::Collection => "geomcollection",
        }
    }

    /// The kind of a name in capitals.
    pub fn of_name(name: &[u8]) -> Option<Self> {
        if name == b"GEOMETRYCOLLECTION" {
            return Some(Self::Collection);
        }
        Self::ALL.into_iter().find(|kind| kind.name().as_bytes() == name)
    }

    /// Does a column of this kind take a geometry of the other?
    pub fn takes(self, other: Self) -> bool {
        use GeometryKind as K;
        self == K::Geometry
            || self == other
            || self == K::Collection && matches!(other, K::MultiPoint | K::MultiLineString | K::MultiPolygon)
    }
}
