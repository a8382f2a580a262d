//! Geometries as texts, bytes and documents; their coordinates and reference systems.

use super::make::wrong_value;
use super::types_of::{changed_or_double, changed_or_integer, geometry as any_geometry, long_text};
use super::{answer, axis_order, check_argument_on_globe, check_on_globe, geographic, geometry, is_other_type, name_of};
use super::{out_of_range, plane, srid_argument, system, unexpected_kind};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::function::row::{Null, Places, functions, named};
use crate::function::rules;
use crate::tree::Expr;
use conditions::Condition;
use types::geometry::{GeoJsonOptions, Geometry, Point, Shape, geohash, to_geojson};
use types::{Value, work};

functions! {
    SpatialShow;

    ST_ASTEXT = named(&[("ST_ASTEXT", 1, 2), ("ST_ASWKT", 1, 2)]).typed(long_text).texts(Places::NONE)
        => |env, call, args| as_text(env, call, args);
    ST_ASBINARY = named(&[("ST_ASBINARY", 1, 2), ("ST_ASWKB", 1, 2)]).typed(rules::long_blob).texts(Places::NONE)
        => |env, call, args| as_binary(env, call, args);
    ST_ASGEOJSON = named(&[("ST_ASGEOJSON", 1, 3)]).typed(rules::json).texts(Places::NONE)
        => |env, call, args| as_geojson(env, call, args);
    ST_GEOHASH = named(&[("ST_GEOHASH", 2, 3)]).typed(rules::text::<100>).null(Null::AnyArgument).texts(Places::NONE)
        => |env, call, args| as_geohash(env, call, args);
    ST_SRID = named(&[("ST_SRID", 1, 2)]).typed(changed_or_integer).texts(Places::NONE).digits(9)
        => |env, call, args| srid(env, call, args);
    ST_X = named(&[("ST_X", 1, 2)]).typed(changed_or_double).texts(Places::NONE)
        => |env, call, args| coordinate(env, call, args, Axis::First);
    ST_Y = named(&[("ST_Y", 1, 2)]).typed(changed_or_double).texts(Places::NONE)
        => |env, call, args| coordinate(env, call, args, Axis::Second);
    ST_LATITUDE = named(&[("ST_LATITUDE", 1, 2)]).typed(changed_or_double).texts(Places::NONE)
        => |env, call, args| coordinate(env, call, args, Axis::Latitude);
    ST_LONGITUDE = named(&[("ST_LONGITUDE", 1, 2)]).typed(changed_or_double).texts(Places::NONE)
        => |env, call, args| coordinate(env, call, args, Axis::Longitude);
    ST_SWAPXY = named(&[("ST_SWAPXY", 1, 1)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| {
            let Some(mut geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
            geometry.shape.swap_axes();
            answer(&geometry)
        };
    ST_ISVALID = named(&[("ST_ISVALID", 1, 1)]).typed(rules::boolean).texts(Places::NONE)
        => |env, call, args| Ok(match valid(env, call, &args[0])? {
            None => Value::Null,
            Some((_, is_valid)) => Value::Int(is_valid.into()),
        });
    ST_VALIDATE = named(&[("ST_VALIDATE", 1, 1)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| match valid(env, call, &args[0])? {
            Some((geometry, true)) => answer(&geometry),
            _ => Ok(Value::Null),
        };
}

fn as_text<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(shape) = ordered(env, call, args)? else { return Ok(Value::Null) };
    let text = shape.to_wkt();
    work::spend(text.len() * 4)?;
    Ok(Value::Bytes(text.into()))
}

fn as_binary<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(shape) = ordered(env, call, args)? else { return Ok(Value::Null) };
    Ok(Value::Bytes(shape.to_wkb().into()))
}

/// The shape with its axes in the order of texts.
fn ordered<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Step<Option<Shape>> {
    let Some(Geometry { srid, mut shape }) = geometry(env, call, &args[0])? else { return Ok(None) };
    let Some(order) = axis_order(env, call, args.get(1))? else { return Ok(None) };
    if order.swaps(srid) {
        shape.swap_axes();
    }
    Ok(Some(shape))
}

fn as_geojson<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    if is_other_type(&args[0].ty) {
        return Err(Error::from(Condition::IncorrectType { argument: "geometry".into(), function: name_of(call).into() }).into());
    }
    let Some(geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    let mut digits = None;
    if let Some(arg) = args.get(1) {
        let Some(wanted) = env.integer(arg)? else { return Ok(Value::Null) };
        const DIGITS_MAX: i128 = i32::MAX as i128;
        if !(0..=DIGITS_MAX).contains(&wanted) {
            return Err(wrong_value(call, "max decimal digits", wanted));
        }
        digits = u32::try_from(wanted).ok();
    }
    let mut options = GeoJsonOptions::default();
    if let Some(arg) = args.get(2) {
        let Some(bits) = env.integer(arg)? else { return Ok(Value::Null) };
        if !(0..=7).contains(&bits) {
            return Err(wrong_value(call, "options", bits));
        }
        options = GeoJsonOptions { bounding_box: bits & 1 != 0, short_crs: bits & 2 != 0, long_crs: bits & 4 != 0 };
    }
    // Geometries of no system name none.
    if geometry.srid == 0 {
        options = GeoJsonOptions { short_crs: false, long_crs: false, ..options };
    }
    let document = to_geojson(&geometry, digits, options);
    work::finish()?;
    Ok(Value::Bytes(document.to_binary().into()))
}

fn as_geohash<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let place = if args.len() == 3 {
        let (longitude, latitude) = (env.double(&args[0])?, env.double(&args[1])?);
        longitude.zip(latitude)
    } else {
        if is_other_type(&args[0].ty) {
            return Err(Error::from(Condition::IncorrectType { argument: "point".into(), function: name_of(call).into() }).into());
        }
        match geometry(env, call, &args[0])? {
            None => None,
            Some(Geometry { shape: Shape::Point(point), .. }) => Some((point.x, point.y)),
            Some(_) => {
                return Err(
                    Error::from(Condition::IncorrectType { argument: "point".into(), function: name_of(call).into() }).into()
                );
            }
        }
    };
    let (Some((longitude, latitude)), Some(length)) = (place, env.integer(&args[args.len() - 1])?) else {
        return Ok(Value::Null);
    };
    let length = usize::try_from(length).ok().filter(|length| (1..=geohash::LENGTH_MAX).contains(length));
    let length = length.ok_or_else(|| out_of_range(call, "max geohash length"))?;
    if !(-180.0..=180.0).contains(&longitude) {
        return Err(out_of_range(call, "longitude"));
    }
    if !(-90.0..=90.0).contains(&latitude) {
        return Err(out_of_range(call, "latitude"));
    }
    Ok(Value::Bytes(geohash::encode(longitude, latitude, length).into_bytes().into()))
}

fn srid<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(mut geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    let Some(arg) = args.get(1) else { return Ok(Value::Int(geometry.srid.into())) };
    let Some(srid) = srid_argument(env, call, arg)? else { return Ok(Value::Null) };
    if geographic(srid)?.is_some() {
        check_argument_on_globe(call, &geometry.shape)?;
    }
    geometry.srid = srid;
    answer(&geometry)
}

#[derive(Clone, Copy, PartialEq)]
enum Axis {
    First,
    Second,
    Latitude,
    Longitude,
}

/// The coordinate of a point, or the point with another one.
fn coordinate<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], axis: Axis) -> Evaluated<'a> {
    let Some(geometry) = geometry(env, call, &args[0])? else { return Ok(Value::Null) };
    let Shape::Point(mut point) = geometry.shape else {
        return Err(unexpected_kind(call, "POINT", geometry.shape.kind()));
    };
    let is_geographic = system(geometry.srid)?.is_some_and(|system| system.is_geographic());
    if matches!(axis, Axis::Latitude | Axis::Longitude) && !is_geographic {
        let (function, srid) = (name_of(call).into(), geometry.srid.into());
        return Err(Error::from(Condition::SrsNotGeographic { function, srid }).into());
    }
    let is_x = match axis {
        // The first axis of a geographic system is the latitude.
        Axis::First => !is_geographic,
        Axis::Second => is_geographic,
        Axis::Longitude => true,
        Axis::Latitude => false,
    };
    let Some(arg) = args.get(1) else { return Ok(Value::Double(if is_x { point.x } else { point.y })) };
    let Some(wanted) = env.double(arg)? else { return Ok(Value::Null) };
    if is_x {
        point.x = wanted
    } else {
        point.y = wanted
    }
    let shape = Shape::Point(Point::new(point.x, point.y));
    if is_geographic {
        check_on_globe(call, &shape)?;
    }
    answer(&Geometry::new(geometry.srid, shape))
}

/// A geometry, and whether it is valid: no ring crosses itself, no line is a single place, and so on.
fn valid<'a>(env: &Env<'a>, call: &Expr, arg: &'a Expr) -> Step<Option<(Geometry, bool)>> {
    let Some(geometry) = geometry(env, call, arg)? else { return Ok(None) };
    if geographic(geometry.srid)?.is_some() {
        check_argument_on_globe(call, &geometry.shape)?;
    }
    let is_valid = plane::is_valid(&geometry.shape)?;
    Ok(Some((geometry, is_valid)))
}
