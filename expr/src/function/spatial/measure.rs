//! Lengths, areas and distances, on the plane and on the globe.

use super::types_of::geometry as any_geometry;
use super::{Geometry, GeometryKind, answer_shape, geographic, geometry, globe, name_of, not_for_srs, out_of_range};
use super::{pair, plane, system, unexpected_kind, wrong_arguments};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::function::row::{Places, functions, named};
use crate::function::rules;
use crate::tree::Expr;
use conditions::Condition;
use types::geometry::srs::{Ellipsoid, Srs, SrsKind};
use types::geometry::{Envelope, Point, Shape, ring_area, units};
use types::{Value, work};

functions! {
    SpatialMeasures;

    ST_DISTANCE = named(&[("ST_DISTANCE", 2, 3)]).typed(rules::double).texts(Places::NONE) => |env, call, args| distance(env, call, args);
    ST_DISTANCE_SPHERE = named(&[("ST_DISTANCE_SPHERE", 2, 3)]).typed(rules::double).texts(Places::NONE)
        => |env, call, args| distance_on_sphere(env, call, args);
    ST_FRECHETDISTANCE = named(&[("ST_FRECHETDISTANCE", 2, 3)]).typed(rules::double).texts(Places::NONE)
        => |env, call, args| between_points(env, call, args, true);
    ST_HAUSDORFFDISTANCE = named(&[("ST_HAUSDORFFDISTANCE", 2, 3)]).typed(rules::double).texts(Places::NONE)
        => |env, call, args| between_points(env, call, args, false);
    ST_LENGTH = named(&[("ST_LENGTH", 1, 2)]).typed(rules::double).texts(Places::NONE) => |env, call, args| length(env, call, args);
    ST_AREA = named(&[("ST_AREA", 1, 1)]).typed(rules::double).texts(Places::NONE) => |env, call, args| area(env, call, args);
    ST_LINEINTERPOLATEPOINT = named(&[("ST_LINEINTERPOLATEPOINT", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| along(env, call, args, Along::Fraction);
    ST_LINEINTERPOLATEPOINTS = named(&[("ST_LINEINTERPOLATEPOINTS", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| along(env, call, args, Along::EachFraction);
    ST_POINTATDISTANCE = named(&[("ST_POINTATDISTANCE", 2, 2)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| along(env, call, args, Along::Distance);
}

/// A measure in the unit that an argument names; `None`: the argument is NULL.
///
/// # Errors
/// 3882, 3902
fn in_unit<'a>(env: &Env<'a>, call: &Expr, srid: u32, measure: f64, unit: Option<&'a Expr>) -> Step<Option<f64>> {
    let Some(unit) = unit else { return Ok(Some(measure)) };
    let Some(name) = env.text(unit)? else { return Ok(None) };
    let shown = || String::from_utf8_lossy(&name).into_owned();
    if system(srid)?.is_none() {
        let (function, unit) = (name_of(call).into(), shown().into());
        return Err(Error::from(Condition::GeometryInUnknownLengthUnit { function, srid: srid.into(), unit }).into());
    }
    match units::metres_of(&name) {
        Some(metres) => Ok(Some(measure / metres)),
        None => Err(Error::from(Condition::UnitNotFound { unit: shown().into() }).into()),
    }
}

fn number<'a>(measure: Option<f64>) -> Evaluated<'a> {
    Ok(measure.map_or(Value::Null, Value::Double))
}

fn distance<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some((first, second)) = pair(env, call, args)? else { return Ok(Value::Null) };
    if first.shape.is_empty() || second.shape.is_empty() {
        return Ok(Value::Null);
    }
    let measure = match geographic(first.srid)? {
        None => plane::distance(&first.shape, &second.shape)?,
        Some(system) => {
            super::check_argument_on_globe(call, &first.shape)?;
            super::check_argument_on_globe(call, &second.shape)?;
            globe::distance(&system.ellipsoid, &first.shape, &second.shape)?
        }
    };
    number(in_unit(env, call, first.srid, measure, args.get(2))?)
}

/// The points of a POINT or MULTIPOINT.
fn only_points(shape: &Shape) -> Option<Vec<Point>> {
    match shape {
        Shape::Point(point) => Some(vec![*point]),
        Shape::MultiPoint(points) => Some(points.clone()),
        _ => None,
    }
}

fn distance_on_sphere<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some((first, second)) = pair(env, call, args)? else { return Ok(Value::Null) };
    let geographic = geographic(first.srid)?;
    let radius = match args.get(2) {
        None => None,
        Some(arg) => match env.double(arg)? {
            None => return Ok(Value::Null),
            some => some,
        },
    };
    if radius.is_some_and(|radius| radius <= 0.0) {
        return Err(Error::from(Condition::NonpositiveRadius { function: name_of(call).into() }).into());
    }
    let kinds = [first.shape.kind(), second.shape.kind()];
    let is_projected = system(first.srid)?.is_some_and(|system| matches!(system.kind, SrsKind::Projected(_)));
    if is_projected {
        let call = format!("{}({}, {})", name_of(call), kinds[0].name(), kinds[1].name()).into();
        return Err(Error::from(Condition::NotImplementedForProjectedSrs { call }).into());
    }
    let (Some(a), Some(b)) = (only_points(&first.shape), only_points(&second.shape)) else {
        return Err(not_for_srs(call, &kinds, geographic.is_some(), ""));
    };
    super::check_on_globe(call, &first.shape)?;
    super::check_on_globe(call, &second.shape)?;
    // The mean radius of the Earth, where the geometries have no system.
    const EARTH_RADIUS: f64 = 6_370_986.0;
    let radius = radius.or(geographic.map(|system| system.ellipsoid.mean_radius())).unwrap_or(EARTH_RADIUS);
    work::spend(a.len().saturating_mul(b.len()).saturating_mul(64))?;
    let pairs = a.iter().flat_map(|from| b.iter().map(move |to| globe::on_sphere(radius, *from, *to)));
    let shortest = pairs.fold(f64::INFINITY, f64::min);
    Ok(Value::Double(shortest))
}

/// The places that a discrete distance is measured between: the corners of lines, each of them.
fn corners(shape: &Shape) -> Vec<Vec<Point>> {
    match shape {
        Shape::LineString(line) => vec![line.clone()],
        Shape::MultiLineString(lines) => lines.clone(),
        Shape::Point(point) => vec![vec![*point]],
        Shape::MultiPoint(points) => vec![points.clone()],
        _ => Vec::new(),
    }
}

/// ST_FrechetDistance and ST_HausdorffDistance, both of the corners alone.
fn between_points<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], is_frechet: bool) -> Evaluated<'a> {
    let Some((first, second)) = pair(env, call, args)? else { return Ok(Value::Null) };
    let geographic = geographic(first.srid)?;
    if first.shape.is_empty() || second.shape.is_empty() {
        return Ok(Value::Null);
    }
    use GeometryKind as K;
    let kinds = [first.shape.kind(), second.shape.kind()];
    let are_lines = kinds == [K::LineString, K::LineString];
    let have_several = matches!(
        kinds,
        [K::Point | K::MultiPoint, K::MultiPoint]
            | [K::MultiPoint, K::Point]
            | [K::LineString | K::MultiLineString, K::MultiLineString]
            | [K::MultiLineString, K::LineString]
    );
    let are_possible = are_lines || !is_frechet && have_several;
    if !are_possible {
        return Err(not_for_srs(call, &kinds, geographic.is_some(), ""));
    }
    let (a, b) = (corners(&first.shape), corners(&second.shape));
    let count = |lines: &[Vec<Point>]| lines.iter().map(Vec::len).sum::<usize>();
    work::spend(count(&a).saturating_mul(count(&b)).saturating_mul(64))?;
    let between = |from: Point, to: Point| match &geographic {
        Some(system) => globe::between(&system.ellipsoid, from, to),
        None => plane::between(from, to),
    };
    let measure =
        if is_frechet { plane::frechet(&a[0], &b[0], &between)? } else { plane::hausdorff(&a.concat(), &b.concat(), &between)? };
    number(in_unit(env, call, first.srid, measure, args.get(2))?)
}

/// The steps of a line on the plane or the globe.
fn step_lengths(line: &[Point], globe_of: Option<&Ellipsoid>) -> Vec<f64> {
    let between = |pair: &[Point]| match globe_of {
        Some(ellipsoid) => globe::between(ellipsoid, pair[0], pair[1]),
        None => plane::between(pair[0], pair[1]),
    };
    line.windows(2).map(between).collect()
}

fn length<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(Geometry { srid, shape }) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    let system = geographic(srid)?;
    let lines = match shape {
        Shape::LineString(line) => vec![line],
        Shape::MultiLineString(lines) => lines,
        _ => return Ok(Value::Null),
    };
    let ellipsoid = system.as_ref().map(|system| &system.ellipsoid);
    let measure = lines.iter().map(|line| step_lengths(line, ellipsoid).iter().sum::<f64>()).sum();
    number(in_unit(env, call, srid, measure, args.get(1))?)
}

fn area<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(Geometry { srid, shape }) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    let polygons = match shape {
        Shape::Polygon(rings) => vec![rings],
        Shape::MultiPolygon(polygons) => polygons,
        other => return Err(unexpected_kind(call, "POLYGON/MULTIPOLYGON", other.kind())),
    };
    let system = geographic(srid)?;
    let ring_area = |ring: &Vec<Point>| match &system {
        Some(system) => globe::ring_area(&system.ellipsoid, ring),
        None => ring_area(ring).abs(),
    };
    let of_polygon = |rings: &Vec<Vec<Point>>| {
        let (outer, holes) = rings.split_first().expect("a polygon has a ring");
        ring_area(outer) - holes.iter().map(ring_area).sum::<f64>()
    };
    Ok(Value::Double(polygons.iter().map(of_polygon).sum()))
}

#[derive(Clone, Copy, PartialEq)]
enum Along {
    Fraction,
    EachFraction,
    Distance,
}

/// A place on a line, found from its start.
fn place_at(line: &[Point], steps: &[f64], system: Option<&Srs>, distance: f64) -> Point {
    let mut left = distance;
    for (pair, step) in line.windows(2).zip(steps) {
        if left <= *step && *step > 0.0 {
            return match system {
                Some(system) => globe::on_the_way(&system.ellipsoid, pair[0], pair[1], left / step),
                None => plane::on_the_way(pair[0], pair[1], left / step),
            };
        }
        left -= step;
    }
    *line.last().expect("a line has points")
}

/// ST_LineInterpolatePoint, ST_LineInterpolatePoints, ST_PointAtDistance
fn along<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], mode: Along) -> Evaluated<'a> {
    let Some(Geometry { srid, shape }) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    let Some(wanted) = env.double(&args[1])? else { return Ok(Value::Null) };
    let Shape::LineString(line) = shape else { return Err(unexpected_kind(call, "LINESTRING", shape.kind())) };
    let system = geographic(srid)?;
    let steps = step_lengths(&line, system.as_ref().map(|system| &system.ellipsoid));
    let whole: f64 = steps.iter().sum();
    let most = if mode == Along::Distance { whole } else { 1.0 };
    if !(0.0..=most).contains(&wanted) {
        return Err(out_of_range(call, "Distance"));
    }
    let at = |distance: f64| place_at(&line, &steps, system.as_ref(), distance);
    match mode {
        Along::Distance => answer_shape(srid, Shape::Point(at(wanted))),
        Along::Fraction => answer_shape(srid, Shape::Point(at(wanted * whole))),
        Along::EachFraction => {
            let count = if wanted == 0.0 { 1.0 } else { (1.0 / wanted).floor() };
            const POINTS_MAX: f64 = 1_048_576.0;
            if count > POINTS_MAX {
                return Err(wrong_arguments(call));
            }
            work::spend((count as usize).saturating_mul(16 * steps.len()))?;
            let first = if wanted == 0.0 { 0 } else { 1 };
            let points = (first..first + count as u64).map(|n| at(wanted * whole * n as f64)).collect();
            answer_shape(srid, Shape::MultiPoint(points))
        }
    }
}

/// The box that rows must meet for which a condition over a geometry column is true: the constant argument's. `None`: it is NULL or empty, so
/// none is.
///
/// # Errors
/// The argument's own.
pub fn search_box<'a>(env: &Env<'a>, call: &Expr, constant: &'a Expr) -> Step<Option<Envelope>> {
    Ok(geometry(env, call, constant)?.and_then(|geometry| geometry.shape.envelope()))
}
