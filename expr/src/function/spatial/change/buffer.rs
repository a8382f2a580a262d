//! ST_Buffer: all places within a distance; ST_Buffer_Strategy: how its edge is drawn.
//!
//! A strategy is 12 bytes: its number (4 bytes, little endian), then its parameter as a double.

use super::super::{answer_shape, geographic, invalid};
use super::super::{check_on_globe, geometry, globe, name_of, not_for_srs, plane, wrong_arguments};
use super::Geometry;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::tree::Expr;
use conditions::Condition;
use geo::Buffer;
use geo::buffer::{BufferStyle, LineCap, LineJoin};
use std::f64::consts::TAU;
use types::geometry::{Point, Shape};
use types::{Value, work};

/// `@@max_points_in_geometry`, as it is unless set.
const POINTS_MAX: f64 = 65_536.0;
const POINTS: f64 = 32.0;
const MITER: f64 = 5.0;
const STRATEGY_BYTES: usize = 12;

/// The names of strategies, by number from 1 on, and whether they have a parameter.
const STRATEGIES: [(&str, bool); 6] = [
    ("end_round", true),
    ("end_flat", false),
    ("join_round", true),
    ("join_miter", true),
    ("point_circle", true),
    ("point_square", false),
];

pub(super) fn strategy<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(name) = env.text(&args[0])? else { return Err(wrong_arguments(call)) };
    let found = STRATEGIES.iter().position(|(known, _)| known.as_bytes().eq_ignore_ascii_case(&name));
    let number = found.ok_or_else(|| wrong_arguments(call))?;
    let (name, has_parameter) = STRATEGIES[number];
    let parameter = match args.get(1) {
        None => None,
        Some(arg) => match env.double(arg)? {
            None => return Ok(Value::Null),
            some => some,
        },
    };
    if parameter.is_some() != has_parameter || parameter.is_some_and(|parameter| parameter <= 0.0) {
        return Err(wrong_arguments(call));
    }
    if name != "join_miter" && parameter.is_some_and(|points| points > POINTS_MAX) {
        let (max, function) = (POINTS_MAX.into(), name_of(call).into());
        return Err(Error::from(Condition::GisMaxPointsOverflowed { max, function }).into());
    }
    let mut bytes = (number as u32 + 1).to_le_bytes().to_vec();
    bytes.extend_from_slice(&parameter.unwrap_or(0.0).to_le_bytes());
    Ok(Value::Bytes(bytes.into()))
}

/// The edge of a buffer. Numbers of points are those of a whole circle.
struct Edge {
    /// `None`: flat.
    end: Option<f64>,
    /// `Err`: the longest tip of a miter.
    join: Result<f64, f64>,
    /// `None`: squares.
    point: Option<f64>,
}

/// What the strategies behind the distance say.
fn edge<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Step<Option<Edge>> {
    let mut edge = Edge { end: Some(POINTS), join: Ok(POINTS), point: Some(POINTS) };
    let mut given = [false; 3];
    for arg in args {
        let bytes = match env.eval(arg)? {
            Value::Null => return Ok(None),
            Value::Bytes(bytes) if bytes.len() == STRATEGY_BYTES => bytes,
            _ => return Err(wrong_arguments(call)),
        };
        let (number, parameter) = bytes.split_first_chunk::<4>().ok_or_else(|| wrong_arguments(call))?;
        let parameter = f64::from_le_bytes(*parameter.first_chunk().ok_or_else(|| wrong_arguments(call))?);
        let number = u32::from_le_bytes(*number);
        let is_sound = parameter.is_finite() && parameter <= POINTS_MAX && (parameter > 0.0 || matches!(number, 2 | 6));
        if !is_sound || !(1..=6).contains(&number) || std::mem::replace(&mut given[(number as usize - 1) / 2], true) {
            return Err(wrong_arguments(call));
        }
        match number {
            1 => edge.end = Some(parameter),
            2 => edge.end = None,
            3 => edge.join = Ok(parameter),
            4 => edge.join = Err(parameter),
            5 => edge.point = Some(parameter),
            _ => edge.point = None,
        }
    }
    Ok(Some(edge))
}

pub(super) fn buffer<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(Geometry { srid, shape }) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    let Some(distance) = env.double(&args[1])? else { return Ok(Value::Null) };
    let Some(edge) = edge(env, call, &args[2..])? else { return Ok(Value::Null) };
    let system = geographic(srid)?;
    let is_area = matches!(shape, Shape::Polygon(_) | Shape::MultiPolygon(_));
    if distance < 0.0 && !is_area {
        return Err(wrong_arguments(call));
    }
    if let Some(system) = system {
        let Shape::Point(centre) = shape else { return Err(not_for_srs(call, &[shape.kind()], true, "")) };
        check_on_globe(call, &shape)?;
        let points = edge.point.unwrap_or(4.0);
        let at = |angle: f64| globe::in_direction(&system.ellipsoid, centre, 90.0 - angle.to_degrees(), distance);
        return answer_shape(srid, circle(points, at)?);
    }
    if distance == 0.0 || shape.is_empty() {
        return answer_shape(srid, shape);
    }
    let buffered = buffered(&shape, distance, &edge)?.ok_or_else(|| invalid(call))?;
    answer_shape(srid, buffered)
}

/// A ring of at least three points, from angle 0 against the clock.
fn circle(points: f64, at: impl Fn(f64) -> Point) -> Step<Shape> {
    let count = (points as usize).max(3);
    work::spend(count * 64)?;
    let mut ring: Vec<Point> = (0..count).map(|n| at(TAU * n as f64 / count as f64)).collect();
    ring.extend(ring.first().copied());
    Ok(Shape::Polygon(vec![ring]))
}

fn around_point(centre: Point, distance: f64, edge: &Edge) -> Step<Shape> {
    match edge.point {
        Some(points) => circle(points, |angle| Point::new(centre.x + distance * angle.cos(), centre.y + distance * angle.sin())),
        None => {
            let corner = |x: f64, y: f64| Point::new(centre.x + x * distance, centre.y + y * distance);
            let ring = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0), corner(-1.0, -1.0)];
            Ok(Shape::Polygon(vec![ring]))
        }
    }
}

/// `None`: the library failed.
fn buffered(shape: &Shape, distance: f64, edge: &Edge) -> Step<Option<Shape>> {
    if let Shape::Point(centre) = shape {
        return around_point(*centre, distance, edge).map(Some);
    }
    let mut polygons: Vec<geo::Polygon<f64>> = Vec::new();
    for member in shape.clone().members() {
        match member {
            Shape::Point(centre) => {
                if let Shape::Polygon(rings) = around_point(centre, distance, edge)? {
                    polygons.push(plane::polygon(&rings));
                }
            }
            Shape::LineString(_) | Shape::Polygon(_) => {
                let points = member.point_count() as f64 * edge.join.unwrap_or(POINTS).max(edge.end.unwrap_or(1.0));
                work::spend((points * 1024.0) as usize)?;
                let style = BufferStyle::new(distance)
                    .line_cap(edge.end.map_or(LineCap::Butt, |points| LineCap::Round(TAU / points)))
                    .line_join(match edge.join {
                        Ok(points) => LineJoin::Round(TAU / points),
                        // The sharpest angle whose tip is so long.
                        Err(limit) => LineJoin::Miter(2.0 * (1.0 / limit.max(MITER.recip())).min(1.0).asin()),
                    });
                let Some(made) = plane::guarded(|| plane::to_geo(&member).buffer_with_style(style)) else { return Ok(None) };
                polygons.extend(made.0);
            }
            other => match buffered(&other, distance, edge)? {
                None => return Ok(None),
                Some(Shape::Polygon(rings)) => polygons.push(plane::polygon(&rings)),
                Some(Shape::MultiPolygon(several)) => polygons.extend(several.iter().map(plane::polygon)),
                Some(_) => {}
            },
        }
    }
    let Some(all) = plane::guarded(|| geo::unary_union(&polygons)) else { return Ok(None) };
    let mut polygons: Vec<_> = all.0.iter().map(plane::rings_of).collect();
    Ok(Some(match polygons.len() {
        0 => Shape::EMPTY,
        1 => Shape::Polygon(polygons.remove(0)),
        _ => Shape::MultiPolygon(polygons),
    }))
}
