//! What geometries are made of: kind, dimension, envelope, points, rings, members.

use super::types_of::geometry as any_geometry;
use super::{answer_shape, geographic, geometry, not_for_srs, plane, wrong_arguments};
use crate::eval::{Env, Evaluated, Step};
use crate::function::row::{Places, functions, named};
use crate::function::rules;
use crate::tree::Expr;
use types::Value;
use types::geometry::{Envelope, Geometry, GeometryKind, Point, Shape};

functions! {
    SpatialParts;

    ST_GEOMETRYTYPE = named(&[("ST_GEOMETRYTYPE", 1, 1)]).typed(rules::text::<15>).texts(Places::NONE)
        => |env, call, args| {
            let Some(geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
            Ok(Value::text(geometry.shape.kind().name().as_bytes()))
        };
    ST_DIMENSION = named(&[("ST_DIMENSION", 1, 1)]).typed(rules::bigint).texts(Places::NONE).digits(9)
        => |env, call, args| {
            let Some(geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
            Ok(geometry.shape.dimension().map_or(Value::Null, |dimension| Value::Int(dimension.into())))
        };
    ST_ISEMPTY = named(&[("ST_ISEMPTY", 1, 1)]).typed(rules::boolean).texts(Places::NONE)
        => |env, call, args| {
            let Some(geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
            Ok(Value::Int(geometry.shape.is_empty().into()))
        };
    ST_ISSIMPLE = named(&[("ST_ISSIMPLE", 1, 1)]).typed(rules::boolean).texts(Places::NONE)
        => |env, call, args| {
            let Some(geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
            geographic(geometry.srid)?;
            Ok(Value::Int(plane::is_simple(&geometry.shape)?.into()))
        };
    ST_ISCLOSED = named(&[("ST_ISCLOSED", 1, 1)]).typed(rules::boolean).texts(Places::NONE)
        => |env, call, args| {
            let Some(geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
            let is_closed = |line: &Vec<Point>| line.first() == line.last();
            Ok(match &geometry.shape {
                Shape::LineString(line) => Value::Int(is_closed(line).into()),
                Shape::MultiLineString(lines) => Value::Int(lines.iter().all(is_closed).into()),
                _ => Value::Null,
            })
        };
    ST_ENVELOPE = named(&[("ST_ENVELOPE", 1, 1)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| envelope(env, call, args);

    ST_STARTPOINT = named(&[("ST_STARTPOINT", 1, 1)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| point_of_line(env, call, args, |line| line.first().copied());
    ST_ENDPOINT = named(&[("ST_ENDPOINT", 1, 1)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| point_of_line(env, call, args, |line| line.last().copied());
    ST_POINTN = named(&[("ST_POINTN", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| {
            let Some(at) = place(env, &args[1])? else { return Ok(Value::Null) };
            point_of_line(env, call, args, |line| line.get(at).copied())
        };
    ST_NUMPOINTS = named(&[("ST_NUMPOINTS", 1, 1)]).typed(rules::bigint).texts(Places::NONE).digits(9)
        => |env, call, args| count(env, call, args, |shape| match shape {
            Shape::LineString(line) => Some(line.len()),
            _ => None,
        });
    ST_EXTERIORRING = named(&[("ST_EXTERIORRING", 1, 1)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| ring(env, call, args, 0);
    ST_INTERIORRINGN = named(&[("ST_INTERIORRINGN", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| {
            let Some(at) = place(env, &args[1])? else { return Ok(Value::Null) };
            ring(env, call, args, at.saturating_add(1))
        };
    ST_NUMINTERIORRINGS = named(&[("ST_NUMINTERIORRINGS", 1, 1), ("ST_NUMINTERIORRING", 1, 1)])
        .typed(rules::bigint).texts(Places::NONE).digits(9)
        => |env, call, args| count(env, call, args, |shape| match shape {
            Shape::Polygon(rings) => Some(rings.len() - 1),
            _ => None,
        });
    ST_NUMGEOMETRIES = named(&[("ST_NUMGEOMETRIES", 1, 1)]).typed(rules::bigint).texts(Places::NONE).digits(9)
        => |env, call, args| count(env, call, args, |shape| match shape {
            Shape::MultiPoint(points) => Some(points.len()),
            Shape::MultiLineString(lines) => Some(lines.len()),
            Shape::MultiPolygon(polygons) => Some(polygons.len()),
            Shape::Collection(members) => Some(members.len()),
            _ => None,
        });
    ST_GEOMETRYN = named(&[("ST_GEOMETRYN", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| member(env, call, args);
}

/// A number of a part, counted from 1, as a position; `None`: NULL. A number that is no part is one beyond all.
fn place<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Option<usize>> {
    let Some(number) = env.integer(arg)? else { return Ok(None) };
    Ok(Some(usize::try_from(number - 1).unwrap_or(usize::MAX)))
}

fn point_of_line<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], point: impl Fn(&[Point]) -> Option<Point>) -> Evaluated<'a> {
    let Some(Geometry { srid, shape }) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    let Shape::LineString(line) = shape else { return Ok(Value::Null) };
    match point(&line) {
        Some(point) => answer_shape(srid, Shape::Point(point)),
        None => Ok(Value::Null),
    }
}

fn count<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], count: fn(&Shape) -> Option<usize>) -> Evaluated<'a> {
    let Some(geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    Ok(count(&geometry.shape).map_or(Value::Null, |count| Value::Int(count as i64)))
}

fn ring<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], at: usize) -> Evaluated<'a> {
    let Some(Geometry { srid, shape }) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    let Shape::Polygon(mut rings) = shape else { return Ok(Value::Null) };
    if at >= rings.len() {
        return Ok(Value::Null);
    }
    answer_shape(srid, Shape::LineString(rings.swap_remove(at)))
}

fn member<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(at) = place(env, &args[1])? else { return Ok(Value::Null) };
    let Some(Geometry { srid, shape }) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    if matches!(shape, Shape::Point(_) | Shape::LineString(_) | Shape::Polygon(_)) {
        return Ok(Value::Null);
    }
    let mut members = shape.members();
    if at >= members.len() {
        return Ok(Value::Null);
    }
    answer_shape(srid, members.swap_remove(at))
}

/// A box as a geometry: a polygon, a line along an axis, or a point.
pub(super) fn shape_of_box(envelope: &Envelope) -> Shape {
    let Envelope { min, max } = *envelope;
    match envelope.dimension() {
        0 => Shape::Point(min),
        1 => Shape::LineString(vec![min, max]),
        _ => Shape::Polygon(vec![vec![min, Point::new(max.x, min.y), max, Point::new(min.x, max.y), min]]),
    }
}

fn envelope<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(Geometry { srid, shape }) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    if geographic(srid)?.is_some() {
        return Err(not_for_srs(call, &[shape.kind()], true, ""));
    }
    answer_shape(srid, shape.envelope().map_or(Shape::EMPTY, |envelope| shape_of_box(&envelope)))
}

/// ST_MakeEnvelope(point, point)
pub(super) fn make_envelope<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some((first, second)) = super::pair(env, call, args)? else { return Ok(Value::Null) };
    let (Shape::Point(a), Shape::Point(b)) = (&first.shape, &second.shape) else { return Err(wrong_arguments(call)) };
    if geographic(first.srid)?.is_some() {
        return Err(not_for_srs(call, &[GeometryKind::Point, GeometryKind::Point], true, ""));
    }
    let mut envelope = Envelope::NOTHING;
    envelope.add(*a);
    envelope.add(*b);
    answer_shape(first.srid, shape_of_box(&envelope))
}
