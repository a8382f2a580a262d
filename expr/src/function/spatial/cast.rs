//! CAST(geometry AS POINT) and to the other kinds.

use crate::error::{Error, Result};
use conditions::Condition;
use types::geometry::{Geometry, GeometryKind, Point, Rings, Shape, ring_area};
use types::{Value, work};

/// The bytes of a value that is not NULL, as a geometry of the wanted kind.
///
/// # Errors
/// 3037: it is no geometry; 4032, 4033: it cannot be one of that kind.
pub(crate) fn cast(value: &Value<'_>, wanted: GeometryKind) -> Result<Vec<u8>> {
    let geometry = match value {
        Value::Bytes(bytes) => {
            work::spend(bytes.len() * 8)?;
            Geometry::from_stored(bytes)
        }
        _ => None,
    };
    let Some(Geometry { srid, shape }) = geometry else {
        let kind = if wanted == GeometryKind::Collection { "geometrycollection" } else { wanted.lower_name() };
        return Err(Condition::GisInvalidData { function: format!("cast_as_{kind}").into() }.into());
    };
    let kind = shape.kind();
    let shape = if kind == wanted { Some(shape) } else { converted(shape, wanted)? };
    match shape {
        Some(shape) => Ok(Geometry::new(srid, shape).to_stored()),
        None => Err(invalid_cast(kind, wanted)),
    }
}

#[cold]
fn invalid_cast(from: GeometryKind, to: GeometryKind) -> Error {
    Condition::InvalidCastToGeometry { from: from.name().into(), to: to.name().into() }.into()
}

/// The rings of lines: the first goes against the clock, the others with it. `None`: one is no ring.
///
/// # Errors
/// 4033
fn as_rings(lines: Vec<Vec<Point>>) -> Result<Option<Rings>> {
    for (at, ring) in lines.iter().enumerate() {
        if ring.len() < 4 || ring.first() != ring.last() {
            return Ok(None);
        }
        if (ring_area(ring) > 0.0) != (at == 0) {
            let (from, to) = (GeometryKind::LineString.name().into(), GeometryKind::Polygon.name().into());
            return Err(Condition::InvalidCastPolygonRingDirection { from, to }.into());
        }
    }
    Ok(Some(lines))
}

/// `None`: there is no such cast.
fn converted(shape: Shape, wanted: GeometryKind) -> Result<Option<Shape>> {
    use GeometryKind as K;
    Ok(match (wanted, shape) {
        (K::Collection, shape) => Some(Shape::Collection(shape.members())),
        // The only member of another.
        (K::Point, Shape::MultiPoint(points)) if points.len() == 1 => Some(Shape::Point(points[0])),
        (K::LineString, Shape::MultiLineString(mut lines)) if lines.len() == 1 => Some(Shape::LineString(lines.remove(0))),
        (K::Polygon, Shape::MultiPolygon(mut polygons)) if polygons.len() == 1 => Some(Shape::Polygon(polygons.remove(0))),
        (K::Point | K::LineString | K::Polygon, Shape::Collection(mut members))
            if members.len() == 1 && members[0].kind() == wanted =>
        {
            Some(members.remove(0))
        }
        (K::LineString, Shape::MultiPoint(points)) if points.len() > 1 => Some(Shape::LineString(points)),
        (K::LineString, Shape::Polygon(mut rings)) if rings.len() == 1 => Some(Shape::LineString(rings.remove(0))),
        (K::Polygon, Shape::LineString(line)) => as_rings(vec![line])?.map(Shape::Polygon),
        (K::Polygon, Shape::MultiLineString(lines)) => as_rings(lines)?.map(Shape::Polygon),
        (K::MultiPoint, Shape::Point(point)) => Some(Shape::MultiPoint(vec![point])),
        (K::MultiPoint, Shape::LineString(points)) => Some(Shape::MultiPoint(points)),
        (K::MultiLineString, Shape::LineString(line)) => Some(Shape::MultiLineString(vec![line])),
        (K::MultiLineString, Shape::Polygon(rings)) => Some(Shape::MultiLineString(rings)),
        (K::MultiLineString, Shape::MultiPolygon(polygons)) if polygons.iter().all(|rings| rings.len() == 1) => {
            Some(Shape::MultiLineString(polygons.into_iter().flatten().collect()))
        }
        (K::MultiPolygon, Shape::Polygon(rings)) => Some(Shape::MultiPolygon(vec![rings])),
        (K::MultiPolygon, Shape::MultiLineString(lines)) => {
            let mut polygons = Vec::with_capacity(lines.len());
            for line in lines {
                let Some(rings) = as_rings(vec![line])? else { return Ok(None) };
                polygons.push(rings);
            }
            Some(Shape::MultiPolygon(polygons))
        }
        (K::MultiPoint, Shape::Collection(members)) if !members.is_empty() => Shape::gathered(K::Point, members),
        (K::MultiLineString, Shape::Collection(members)) if !members.is_empty() => Shape::gathered(K::LineString, members),
        (K::MultiPolygon, Shape::Collection(members)) if !members.is_empty() => Shape::gathered(K::Polygon, members),
        _ => None,
    })
}
