//! Geometries made of others: unions, differences, hulls, buffers, simpler ones, other reference systems.

use super::types_of::{geometry as any_geometry, point};
use super::wrong_arguments;
use super::{Geometry, answer, answer_shape, geographic, geometry, invalid, not_for_srs, pair, plane, srid_argument, system};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::function::row::{Places, functions, named};
use crate::function::rules;
use crate::tree::Expr;
use conditions::Condition;
use types::geometry::{Point, Rings, Shape};
use types::{Value, work};

mod buffer;
mod overlay;
mod project;

use overlay::Operation;

functions! {
    SpatialChanges;

    ST_UNION = named(&[("ST_UNION", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| combine(env, call, args, Operation::Union);
    ST_INTERSECTION = named(&[("ST_INTERSECTION", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| combine(env, call, args, Operation::Intersection);
    ST_DIFFERENCE = named(&[("ST_DIFFERENCE", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| combine(env, call, args, Operation::Difference);
    ST_SYMDIFFERENCE = named(&[("ST_SYMDIFFERENCE", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| combine(env, call, args, Operation::SymDifference);
    ST_BUFFER = named(&[("ST_BUFFER", 2, 5)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| buffer::buffer(env, call, args);
    ST_BUFFER_STRATEGY = named(&[("ST_BUFFER_STRATEGY", 1, 2)]).typed(rules::binary::<16>).texts(Places::NONE)
        => |env, call, args| buffer::strategy(env, call, args);
    ST_CONVEXHULL = named(&[("ST_CONVEXHULL", 1, 1)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| convex_hull(env, call, args);
    ST_CENTROID = named(&[("ST_CENTROID", 1, 1)]).typed(point).texts(Places::NONE) => |env, call, args| centroid(env, call, args);
    ST_SIMPLIFY = named(&[("ST_SIMPLIFY", 2, 2)]).typed(any_geometry).texts(Places::NONE) => |env, call, args| simplify(env, call, args);
    ST_TRANSFORM = named(&[("ST_TRANSFORM", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| transform(env, call, args);
}

fn combine<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], operation: Operation) -> Evaluated<'a> {
    let Some((first, second)) = pair(env, call, args)? else { return Ok(Value::Null) };
    let shape = overlay::overlay(operation, &first.shape, &second.shape)?;
    answer_shape(first.srid, shape.ok_or_else(|| invalid(call))?)
}

/// A geometry of the plane; `None`: NULL.
///
/// # Errors
/// 3618
fn planar<'a>(env: &Env<'a>, call: &Expr, arg: &'a Expr, more: &str) -> Step<Option<Geometry>> {
    let Some(geometry) = geometry(env, call, arg)? else { return Ok(None) };
    if geographic(geometry.srid)?.is_some() {
        return Err(not_for_srs(call, &[geometry.shape.kind()], true, more));
    }
    Ok(Some(geometry))
}

fn convex_hull<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(geometry) = planar(env, call, &args[0], "")? else { return Ok(Value::Null) };
    let mut places = Vec::new();
    geometry.shape.for_each_point(&mut |point| places.push(point));
    work::spend(places.len().saturating_mul(256))?;
    let mut corners = plane::hull(places);
    let shape = match corners[..] {
        [] => return Ok(Value::Null),
        [place] => Shape::Point(place),
        [a, b] => Shape::LineString(vec![a, b]),
        [first, ..] => {
            corners.push(first);
            Shape::Polygon(vec![corners])
        }
    };
    answer_shape(geometry.srid, shape)
}

fn centroid<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(geometry) = planar(env, call, &args[0], "")? else { return Ok(Value::Null) };
    work::spend(geometry.shape.point_count().saturating_mul(64))?;
    // A polygon without an area has no centre.
    if geometry.shape.dimension() == Some(2) && plane::area(&geometry.shape) == 0.0 {
        return Err(invalid(call));
    }
    match plane::centroid(&geometry.shape) {
        Some(centre) => answer_shape(geometry.srid, Shape::Point(centre)),
        None => Ok(Value::Null),
    }
}

fn simplify<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(geometry) = planar(env, call, &args[0], ", ...")? else { return Ok(Value::Null) };
    let Some(distance) = env.double(&args[1])? else { return Ok(Value::Null) };
    if distance.is_nan() || distance <= 0.0 {
        return Err(wrong_arguments(call));
    }
    match simpler(&geometry.shape, distance)? {
        Some(shape) => answer_shape(geometry.srid, shape),
        None => Ok(Value::Null),
    }
}

/// `None`: nothing is left of it.
fn simpler(shape: &Shape, distance: f64) -> Step<Option<Shape>> {
    let line = |line: &Vec<Point>| plane::simplified(line, distance);
    let rings = |rings: &Rings| -> Step<Option<Rings>> {
        let mut left = Vec::with_capacity(rings.len());
        for (at, ring) in rings.iter().enumerate() {
            let ring = plane::simplified(ring, distance)?;
            if ring.len() >= 4 {
                left.push(ring);
            } else if at == 0 {
                return Ok(None);
            }
        }
        Ok(Some(left))
    };
    Ok(match shape {
        Shape::Point(_) | Shape::MultiPoint(_) => Some(shape.clone()),
        Shape::LineString(points) => Some(Shape::LineString(line(points)?)),
        Shape::MultiLineString(lines) => {
            Some(Shape::MultiLineString(lines.iter().map(line).collect::<std::result::Result<_, _>>()?))
        }
        Shape::Polygon(polygon) => rings(polygon)?.map(Shape::Polygon),
        Shape::MultiPolygon(polygons) => {
            let left: Vec<Rings> = polygons.iter().filter_map(|polygon| rings(polygon).transpose()).collect::<Step<_>>()?;
            (!left.is_empty()).then_some(Shape::MultiPolygon(left))
        }
        Shape::Collection(members) => {
            let left: Vec<Shape> =
                members.iter().filter_map(|member| simpler(member, distance).transpose()).collect::<Step<_>>()?;
            (members.is_empty() || !left.is_empty()).then_some(Shape::Collection(left))
        }
    })
}

fn transform<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(mut geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    let Some(srid) = srid_argument(env, call, &args[1])? else { return Ok(Value::Null) };
    let (from, to) = (system(geometry.srid)?, system(srid)?);
    let Some(from) = from else {
        return Err(Error::from(Condition::TransformSourceSrsNotSupported { srid: geometry.srid.into() }).into());
    };
    let Some(to) = to else {
        return Err(Error::from(Condition::TransformTargetSrsNotSupported { srid: srid.into() }).into());
    };
    if geometry.srid == srid {
        return answer(&geometry);
    }
    work::spend(geometry.shape.point_count().saturating_mul(512))?;
    let mut all_fit = true;
    geometry.shape.change_points(&mut |point| {
        *point = project::project(&to, project::unproject(&from, *point));
        all_fit &= point.x.is_finite() && point.y.is_finite();
    });
    if !all_fit {
        return Err(invalid(call));
    }
    geometry.srid = srid;
    answer(&geometry)
}
