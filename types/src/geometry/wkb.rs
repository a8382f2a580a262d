//! Well-known binary, and the stored form made of it.

use super::{DEPTH_MAX, Envelope, GeometryKind, Point, Rings, Shape};

/// Byte order, kind.
const HEADER_BYTES: usize = 5;
const COUNT_BYTES: usize = 4;
const POINT_BYTES: usize = 16;
const SRID_BYTES: usize = 4;
const LITTLE_ENDIAN: u8 = 1;

/// The bytes that are still to be read.
struct Reader<'a> {
    rest: &'a [u8],
    is_little: bool,
    /// Only little endian, and lines may have a single point: what is stored was checked when it was made.
    is_stored: bool,
}

impl Reader<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(if self.is_little { u32::from_le_bytes(*bytes) } else { u32::from_be_bytes(*bytes) })
    }

    fn f64(&mut self) -> Option<f64> {
        let (bytes, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        let number = if self.is_little { f64::from_le_bytes(*bytes) } else { f64::from_be_bytes(*bytes) };
        // G1
        number.is_finite().then_some(number)
    }

    fn point(&mut self) -> Option<Point> {
        Some(Point { x: self.f64()?, y: self.f64()? })
    }

    /// The number of things of at least so many bytes. G2
    fn count(&mut self, bytes_min: usize) -> Option<usize> {
        let count = usize::try_from(self.u32()?).ok()?;
        (count.checked_mul(bytes_min)? <= self.rest.len()).then_some(count)
    }

    fn points(&mut self, fewest: usize) -> Option<Vec<Point>> {
        let count = self.count(POINT_BYTES)?;
        let fewest = if self.is_stored { 1 } else { fewest };
        if count < fewest {
            return None;
        }
        (0..count).map(|_| self.point()).collect()
    }

    fn rings(&mut self) -> Option<Rings> {
        let count = self.count(COUNT_BYTES).filter(|count| *count > 0)?;
        let mut rings = Vec::with_capacity(count);
        for _ in 0..count {
            let ring = self.points(4)?;
            if !self.is_stored && ring.first() != ring.last() {
                return None;
            }
            rings.push(ring);
        }
        Some(rings)
    }

    /// Byte order and kind.
    fn header(&mut self) -> Option<GeometryKind> {
        let (order, rest) = self.rest.split_first()?;
        if *order > 1 || self.is_stored && *order != LITTLE_ENDIAN {
            return None;
        }
        self.rest = rest;
        self.is_little = *order == LITTLE_ENDIAN;
        GeometryKind::of_number(self.u32()?)
    }

    /// The members of a geometry made of several of one kind.
    fn several<T>(&mut self, kind: GeometryKind, read: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count(HEADER_BYTES).filter(|count| *count > 0)?;
        (0..count).map(|_| if self.header()? == kind { read(self) } else { None }).collect()
    }

    fn shape(&mut self, depth: usize) -> Option<Shape> {
        if depth > DEPTH_MAX {
            return None;
        }
        Some(match self.header()? {
            GeometryKind::Geometry => return None,
            GeometryKind::Point => Shape::Point(self.point()?),
            GeometryKind::LineString => Shape::LineString(self.points(2)?),
            GeometryKind::Polygon => Shape::Polygon(self.rings()?),
            GeometryKind::MultiPoint => Shape::MultiPoint(self.several(GeometryKind::Point, Self::point)?),
            GeometryKind::MultiLineString => {
                Shape::MultiLineString(self.several(GeometryKind::LineString, |reader| reader.points(2))?)
            }
            GeometryKind::MultiPolygon => Shape::MultiPolygon(self.several(GeometryKind::Polygon, Self::rings)?),
            GeometryKind::Collection => {
                let count = self.count(HEADER_BYTES)?;
                Shape::Collection((0..count).map(|_| self.shape(depth + 1)).collect::<Option<_>>()?)
            }
        })
    }

    fn whole(mut self) -> Option<Shape> {
        let shape = self.shape(0)?;
        self.rest.is_empty().then_some(shape)
    }
}

/// WKB of either byte order; lines have two points or more, rings four or more and an end where they begin.
pub(super) fn read(bytes: &[u8]) -> Option<Shape> {
    Reader { rest: bytes, is_little: true, is_stored: false }.whole()
}

/// The WKB of a stored geometry.
pub(super) fn read_stored(bytes: &[u8]) -> Option<Shape> {
    Reader { rest: bytes, is_little: true, is_stored: true }.whole()
}

/// The SRID of a stored geometry.
pub fn srid_of(stored: &[u8]) -> Option<u32> {
    stored.first_chunk::<SRID_BYTES>().map(|bytes| u32::from_le_bytes(*bytes))
}

/// The kind of a stored geometry, from its header.
pub fn kind_of(stored: &[u8]) -> Option<GeometryKind> {
    let header = stored.get(SRID_BYTES..SRID_BYTES + HEADER_BYTES)?;
    let (order, kind) = header.split_first()?;
    if *order != LITTLE_ENDIAN {
        return None;
    }
    GeometryKind::of_number(u32::from_le_bytes(*kind.first_chunk()?)).filter(|kind| *kind != GeometryKind::Geometry)
}

/// Are the bytes a stored geometry?
pub fn is_well_formed(stored: &[u8]) -> bool {
    stored.get(SRID_BYTES..).is_some_and(|wkb| read_stored(wkb).is_some())
}

/// The box around a stored geometry; `None`: it is empty, or the bytes are none.
pub fn envelope_of(stored: &[u8]) -> Option<Envelope> {
    // The form of most: one point.
    if let Some(GeometryKind::Point) = kind_of(stored) {
        let mut reader = Reader { rest: stored.get(SRID_BYTES + HEADER_BYTES..)?, is_little: true, is_stored: true };
        let point = reader.point()?;
        return Some(Envelope { min: point, max: point });
    }
    read_stored(stored.get(SRID_BYTES..)?)?.envelope()
}

fn put_count(count: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_header(kind: GeometryKind, out: &mut Vec<u8>) {
    out.push(LITTLE_ENDIAN);
    out.extend_from_slice(&kind.number().to_le_bytes());
}

fn put_point(point: Point, out: &mut Vec<u8>) {
    out.extend_from_slice(&point.x.to_le_bytes());
    out.extend_from_slice(&point.y.to_le_bytes());
}

fn put_points(points: &[Point], out: &mut Vec<u8>) {
    put_count(points.len(), out);
    points.iter().for_each(|point| put_point(*point, out));
}

fn put_rings(rings: &[Vec<Point>], out: &mut Vec<u8>) {
    put_count(rings.len(), out);
    rings.iter().for_each(|ring| put_points(ring, out));
}

/// Appends WKB, little endian.
pub(super) fn write(shape: &Shape, out: &mut Vec<u8>) {
    put_header(shape.kind(), out);
    match shape {
        Shape::Point(point) => put_point(*point, out),
        Shape::LineString(points) => put_points(points, out),
        Shape::Polygon(rings) => put_rings(rings, out),
        Shape::MultiPoint(points) => {
            put_count(points.len(), out);
            for point in points {
                put_header(GeometryKind::Point, out);
                put_point(*point, out);
            }
        }
        Shape::MultiLineString(lines) => {
            put_count(lines.len(), out);
            for line in lines {
                put_header(GeometryKind::LineString, out);
                put_points(line, out);
            }
        }
        Shape::MultiPolygon(polygons) => {
            put_count(polygons.len(), out);
            for polygon in polygons {
                put_header(GeometryKind::Polygon, out);
                put_rings(polygon, out);
            }
        }
        Shape::Collection(members) => {
            put_count(members.len(), out);
            members.iter().for_each(|member| write(member, out));
        }
    }
}
