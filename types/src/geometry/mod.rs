//! Geometries: their shape, their bytes and their texts.
//!
//! ```text
//! stored    SRID (4 bytes, little endian), then WKB, little endian all through    a value of a geometry column, as clients send and get it
//! WKB       byte order (1), kind (4), counts (4) and coordinates (8 + 8)          ST_AsBinary, ST_GeomFromWKB
//! WKT       POINT(1 2)                                                            ST_AsText, ST_GeomFromText
//! GeoJSON   {"type": "Point", "coordinates": [1.0, 2.0]}                          ST_AsGeoJSON, ST_GeomFromGeoJSON
//! ```
//!
//! G1: coordinates are finite. Of a geographic reference system, x is the longitude and y the latitude, in degrees, whatever order its texts have.
//! G2: no collection holds others deeper than [`DEPTH_MAX`], so recursion over a geometry is bounded. No count is believed that the bytes behind it
//!     do not have room for.
//! G3: only a GEOMETRYCOLLECTION may be empty.

pub mod cells;
pub mod geohash;
mod geojson;
pub mod kind;
mod rings;
pub mod srs;
pub mod units;
mod wkb;
mod wkt;

pub use geojson::as_document;
pub use geojson::{GeoJsonError, Options as GeoJsonOptions, ReadRules, read as read_geojson, to_json as to_geojson};
pub use kind::GeometryKind;
pub use rings::{directed, ring_area};
pub use wkb::{envelope_of, is_well_formed, kind_of, srid_of};

/// How deep collections may hold each other.
pub const DEPTH_MAX: usize = 64;

/// A place: x and y, or longitude and latitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

/// The rings of a polygon: the outer one, then its holes. Each ends where it begins.
pub type Rings = Vec<Vec<Point>>;

/// A geometry without its reference system.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Point(Point),
    LineString(Vec<Point>),
    Polygon(Rings),
    MultiPoint(Vec<Point>),
    MultiLineString(Vec<Vec<Point>>),
    MultiPolygon(Vec<Rings>),
    Collection(Vec<Shape>),
}

/// A geometry and the number of its reference system.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub srid: u32,
    pub shape: Shape,
}

/// The smallest box around a geometry, sides parallel to the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Envelope {
    pub min: Point,
    pub max: Point,
}

impl Envelope {
    /// The box that holds nothing yet.
    pub const NOTHING: Self =
        Self { min: Point { x: f64::INFINITY, y: f64::INFINITY }, max: Point { x: f64::NEG_INFINITY, y: f64::NEG_INFINITY } };

    pub fn add(&mut self, point: Point) {
        self.min = Point::new(self.min.x.min(point.x), self.min.y.min(point.y));
        self.max = Point::new(self.max.x.max(point.x), self.max.y.max(point.y));
    }

    pub fn is_nothing(&self) -> bool {
        self.min.x > self.max.x
    }

    /// 0: a point, 1: a line along an axis, 2: it has an area.
    pub fn dimension(&self) -> u8 {
        u8::from(self.min.x < self.max.x) + u8::from(self.min.y < self.max.y)
    }

    /// Do they have a point in common?
    pub fn meets(&self, other: &Self) -> bool {
        self.min.x <= other.max.x && other.min.x <= self.max.x && self.min.y <= other.max.y && other.min.y <= self.max.y
    }

    /// Is every point of the other one in this one?
    pub fn covers(&self, other: &Self) -> bool {
        self.min.x <= other.min.x && other.max.x <= self.max.x && self.min.y <= other.min.y && other.max.y <= self.max.y
    }
}

impl Shape {
    pub const EMPTY: Self = Self::Collection(Vec::new());

    pub fn kind(&self) -> GeometryKind {
        match self {
            Self::Point(_) => GeometryKind::Point,
            Self::LineString(_) => GeometryKind::LineString,
            Self::Polygon(_) => GeometryKind::Polygon,
            Self::MultiPoint(_) => GeometryKind::MultiPoint,
            Self::MultiLineString(_) => GeometryKind::MultiLineString,
            Self::MultiPolygon(_) => GeometryKind::MultiPolygon,
            Self::Collection(_) => GeometryKind::Collection,
        }
    }

    /// Has it no point? Of a collection: nor any of its members.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Collection(members) => members.iter().all(Self::is_empty),
            _ => false,
        }
    }

    /// 0, 1 or 2; of a collection that of its largest member; `None`: it is empty.
    pub fn dimension(&self) -> Option<u8> {
        match self {
            Self::Point(_) | Self::MultiPoint(_) => Some(0),
            Self::LineString(_) | Self::MultiLineString(_) => Some(1),
            Self::Polygon(_) | Self::MultiPolygon(_) => Some(2),
            Self::Collection(members) => members.iter().filter_map(Self::dimension).max(),
        }
    }

    /// Every point of it, in the order of its bytes.
    pub fn for_each_point(&self, visit: &mut dyn FnMut(Point)) {
        match self {
            Self::Point(point) => visit(*point),
            Self::LineString(points) | Self::MultiPoint(points) => points.iter().for_each(|point| visit(*point)),
            Self::Polygon(lines) | Self::MultiLineString(lines) => lines.iter().flatten().for_each(|point| visit(*point)),
            Self::MultiPolygon(polygons) => polygons.iter().flatten().flatten().for_each(|point| visit(*point)),
            Self::Collection(members) => members.iter().for_each(|member| member.for_each_point(visit)),
        }
    }

    /// Changes every point.
    pub fn change_points(&mut self, change: &mut dyn FnMut(&mut Point)) {
        match self {
            Self::Point(point) => change(point),
            Self::LineString(points) | Self::MultiPoint(points) => points.iter_mut().for_each(change),
            Self::Polygon(lines) | Self::MultiLineString(lines) => lines.iter_mut().flatten().for_each(change),
            Self::MultiPolygon(polygons) => polygons.iter_mut().flatten().flatten().for_each(change),
            Self::Collection(members) => members.iter_mut().for_each(|member| member.change_points(change)),
        }
    }

    pub fn swap_axes(&mut self) {
        self.change_points(&mut |point| std::mem::swap(&mut point.x, &mut point.y));
    }

    pub fn point_count(&self) -> usize {
        let mut count = 0;
        self.for_each_point(&mut |_| count += 1);
        count
    }

    /// The box around it; `None`: it is empty.
    pub fn envelope(&self) -> Option<Envelope> {
        let mut envelope = Envelope::NOTHING;
        self.for_each_point(&mut |point| envelope.add(point));
        (!envelope.is_nothing()).then_some(envelope)
    }

    /// Its members: of a geometry that is not made of several, itself.
    pub fn members(self) -> Vec<Shape> {
        match self {
            Self::MultiPoint(points) => points.into_iter().map(Self::Point).collect(),
            Self::MultiLineString(lines) => lines.into_iter().map(Self::LineString).collect(),
            Self::MultiPolygon(polygons) => polygons.into_iter().map(Self::Polygon).collect(),
            Self::Collection(members) => members,
            single => vec![single],
        }
    }
}

impl Geometry {
    pub fn new(srid: u32, shape: Shape) -> Self {
        Self { srid, shape }
    }

    pub fn point(srid: u32, x: f64, y: f64) -> Self {
        Self::new(srid, Shape::Point(Point::new(x, y)))
    }

    /// Reads a stored geometry; `None`: the bytes are none.
    pub fn from_stored(bytes: &[u8]) -> Option<Self> {
        let (srid, wkb) = bytes.split_first_chunk::<4>()?;
        Some(Self { srid: u32::from_le_bytes(*srid), shape: wkb::read_stored(wkb)? })
    }

    pub fn to_stored(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        out.extend_from_slice(&self.srid.to_le_bytes());
        wkb::write(&self.shape, &mut out);
        out
    }
}

impl Shape {
    /// Reads WKB of either byte order.
    pub fn from_wkb(bytes: &[u8]) -> Option<Self> {
        wkb::read(bytes)
    }

    pub fn to_wkb(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        wkb::write(self, &mut out);
        out
    }

    /// Reads WKT, coordinates in the order in which they are written.
    pub fn from_wkt(text: &[u8]) -> Option<Self> {
        wkt::read(text)
    }

    pub fn to_wkt(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        wkt::write(self, &mut out);
        out
    }
}

#[cfg(test)]
mod tests;
