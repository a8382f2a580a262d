//! Geometries from numbers, other geometries, texts, bytes, documents and geohashes.

use super::types_of::{geometry as any_geometry, point};
use super::{AxisOrder, answer, answer_shape, axis_order, check_on_globe, geometry, invalid, name_of};
use super::{srid_argument, system, unexpected_kind, wrong_arguments};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Pause, Step};
use crate::function::row::{ANY, Null, Parameters, Places, functions, named};
use crate::function::rules;
use crate::tree::Expr;
use conditions::Condition;
use types::geometry::{GeoJsonError, Geometry, GeometryKind, Point, ReadRules, Shape, geohash, read_geojson};
use types::{Value, work};

functions! {
    SpatialMake;

    POINT = named(&[("POINT", 2, 2)]).typed(point).texts(Places::NONE).parameters(Parameters::Double)
        => |env, _, args| make_point(env, args);
    LINESTRING = named(&[("LINESTRING", 1, ANY)]).typed(any_geometry).texts(Places::NONE) => |env, call, args| line(env, call, args);
    POLYGON = named(&[("POLYGON", 1, ANY)]).typed(any_geometry).texts(Places::NONE) => |env, call, args| polygon(env, call, args);
    MULTIPOINT = named(&[("MULTIPOINT", 1, ANY)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| members(env, call, args, GeometryKind::Point);
    MULTILINESTRING = named(&[("MULTILINESTRING", 1, ANY)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| members(env, call, args, GeometryKind::LineString);
    MULTIPOLYGON = named(&[("MULTIPOLYGON", 1, ANY)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| members(env, call, args, GeometryKind::Polygon);
    GEOMETRYCOLLECTION = named(&[("GEOMETRYCOLLECTION", 0, ANY), ("GEOMCOLLECTION", 0, ANY)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| members(env, call, args, GeometryKind::Geometry);

    ST_GEOMFROMTEXT = named(&[("ST_GEOMFROMTEXT", 1, 3), ("ST_GEOMETRYFROMTEXT", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_text(env, call, args, GeometryKind::Geometry);
    ST_POINTFROMTEXT = named(&[("ST_POINTFROMTEXT", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_text(env, call, args, GeometryKind::Point);
    ST_LINEFROMTEXT = named(&[("ST_LINEFROMTEXT", 1, 3), ("ST_LINESTRINGFROMTEXT", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_text(env, call, args, GeometryKind::LineString);
    ST_POLYFROMTEXT = named(&[("ST_POLYFROMTEXT", 1, 3), ("ST_POLYGONFROMTEXT", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_text(env, call, args, GeometryKind::Polygon);
    ST_MPOINTFROMTEXT = named(&[("ST_MPOINTFROMTEXT", 1, 3), ("ST_MULTIPOINTFROMTEXT", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_text(env, call, args, GeometryKind::MultiPoint);
    ST_MLINEFROMTEXT = named(&[("ST_MLINEFROMTEXT", 1, 3), ("ST_MULTILINESTRINGFROMTEXT", 1, 3)])
        .typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_text(env, call, args, GeometryKind::MultiLineString);
    ST_MPOLYFROMTEXT = named(&[("ST_MPOLYFROMTEXT", 1, 3), ("ST_MULTIPOLYGONFROMTEXT", 1, 3)])
        .typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_text(env, call, args, GeometryKind::MultiPolygon);
    ST_GEOMCOLLFROMTEXT = named(&[
            ("ST_GEOMCOLLFROMTEXT", 1, 3), ("ST_GEOMCOLLFROMTXT", 1, 3), ("ST_GEOMETRYCOLLECTIONFROMTEXT", 1, 3),
        ]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_text(env, call, args, GeometryKind::Collection);

    ST_GEOMFROMWKB = named(&[("ST_GEOMFROMWKB", 1, 3), ("ST_GEOMETRYFROMWKB", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_wkb(env, call, args, GeometryKind::Geometry);
    ST_POINTFROMWKB = named(&[("ST_POINTFROMWKB", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_wkb(env, call, args, GeometryKind::Point);
    ST_LINEFROMWKB = named(&[("ST_LINEFROMWKB", 1, 3), ("ST_LINESTRINGFROMWKB", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_wkb(env, call, args, GeometryKind::LineString);
    ST_POLYFROMWKB = named(&[("ST_POLYFROMWKB", 1, 3), ("ST_POLYGONFROMWKB", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_wkb(env, call, args, GeometryKind::Polygon);
    ST_MPOINTFROMWKB = named(&[("ST_MPOINTFROMWKB", 1, 3), ("ST_MULTIPOINTFROMWKB", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_wkb(env, call, args, GeometryKind::MultiPoint);
    ST_MLINEFROMWKB = named(&[("ST_MLINEFROMWKB", 1, 3), ("ST_MULTILINESTRINGFROMWKB", 1, 3)])
        .typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_wkb(env, call, args, GeometryKind::MultiLineString);
    ST_MPOLYFROMWKB = named(&[("ST_MPOLYFROMWKB", 1, 3), ("ST_MULTIPOLYGONFROMWKB", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_wkb(env, call, args, GeometryKind::MultiPolygon);
    ST_GEOMCOLLFROMWKB = named(&[("ST_GEOMCOLLFROMWKB", 1, 3), ("ST_GEOMETRYCOLLECTIONFROMWKB", 1, 3)])
        .typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_wkb(env, call, args, GeometryKind::Collection);

    ST_GEOMFROMGEOJSON = named(&[("ST_GEOMFROMGEOJSON", 1, 3)]).typed(any_geometry).texts(Places::NONE)
        => |env, call, args| from_geojson(env, call, args);
    ST_POINTFROMGEOHASH = named(&[("ST_POINTFROMGEOHASH", 2, 2)]).typed(point).null(Null::AnyArgument).texts(Places::NONE)
        => |env, call, args| point_from_geohash(env, call, args);
    ST_LATFROMGEOHASH = named(&[("ST_LATFROMGEOHASH", 1, 1)]).typed(rules::double).null(Null::AnyArgument).texts(Places::NONE)
        => |env, call, args| {
            Ok(decoded(env, call, &args[0])?.map_or(Value::Null, |(_, latitude)| Value::Double(latitude)))
        };
    ST_LONGFROMGEOHASH = named(&[("ST_LONGFROMGEOHASH", 1, 1)]).typed(rules::double).null(Null::AnyArgument).texts(Places::NONE)
        => |env, call, args| {
            Ok(decoded(env, call, &args[0])?.map_or(Value::Null, |(longitude, _)| Value::Double(longitude)))
        };
    ST_MAKEENVELOPE = named(&[("ST_MAKEENVELOPE", 2, 2)]).typed(super::types_of::polygon).texts(Places::NONE)
        => |env, call, args| super::parts::make_envelope(env, call, args);
}

fn make_point<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(x), Some(y)) = (env.double(&args[0])?, env.double(&args[1])?) else { return Ok(Value::Null) };
    answer(&Geometry::point(0, x, y))
}

/// The arguments of a call that makes a geometry of others; `None`: one is NULL.
fn pieces<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Step<Option<Vec<Shape>>> {
    // Their types tell it.
    if let Some(other) = args.iter().find(|arg| !arg.ty.is_geometry()) {
        let value = env.print(other);
        return Err(Error::from(Condition::IllegalValueForType { kind: "non geometric".into(), value: value.into() }).into());
    }
    let mut pieces = Vec::with_capacity(args.len());
    for arg in args {
        let Some(piece) = geometry(env, call, arg)? else { return Ok(None) };
        pieces.push(piece.shape);
    }
    Ok(Some(pieces))
}

/// As in MySQL, what is made of others has SRID 0.
fn line<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(pieces) = pieces(env, call, args)? else { return Ok(Value::Null) };
    let points = points_of(call, pieces)?;
    if points.len() < 2 {
        return Err(invalid(call));
    }
    answer_shape(0, Shape::LineString(points))
}

fn points_of(call: &Expr, pieces: Vec<Shape>) -> Step<Vec<Point>> {
    let point = |piece| if let Shape::Point(point) = piece { Ok(point) } else { Err(wrong_arguments(call)) };
    pieces.into_iter().map(point).collect()
}

fn polygon<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(pieces) = pieces(env, call, args)? else { return Ok(Value::Null) };
    let mut rings = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let Shape::LineString(ring) = piece else { return Err(wrong_arguments(call)) };
        if ring.len() < 4 || ring.first() != ring.last() {
            return Err(invalid(call));
        }
        rings.push(ring);
    }
    answer_shape(0, Shape::Polygon(rings))
}

/// MULTIPOINT and the like; of `Geometry`, a collection of any.
fn members<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], kind: GeometryKind) -> Evaluated<'a> {
    let Some(pieces) = pieces(env, call, args)? else { return Ok(Value::Null) };
    let shape = match kind {
        GeometryKind::Geometry => Some(Shape::Collection(pieces)),
        _ => Shape::gathered(kind, pieces),
    };
    answer_shape(0, shape.ok_or_else(|| wrong_arguments(call))?)
}

/// The options behind the value: SRID and axis order; `None`: one is NULL.
fn system_and_order<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Step<Option<(u32, AxisOrder)>> {
    let srid = match args.get(1) {
        None => Some(0),
        Some(arg) => srid_argument(env, call, arg)?,
    };
    let Some(srid) = srid else { return Ok(None) };
    system(srid)?;
    Ok(axis_order(env, call, args.get(2))?.map(|order| (srid, order)))
}

fn finished<'a>(
    call: &Expr,
    shape: Option<Shape>,
    wanted: GeometryKind,
    form: &str,
    srid: u32,
    order: AxisOrder,
) -> Evaluated<'a> {
    let mut shape = shape.ok_or_else(|| invalid(call))?;
    let kind = shape.kind();
    if wanted != GeometryKind::Geometry && wanted != kind {
        return Err(unexpected_kind(call, form, kind));
    }
    if order.swaps(srid) {
        shape.swap_axes();
    }
    if types::geometry::srs::is_geographic(srid) {
        check_on_globe(call, &shape)?;
    }
    answer_shape(srid, shape)
}

fn from_text<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], wanted: GeometryKind) -> Evaluated<'a> {
    let Some(text) = env.text(&args[0])? else { return Ok(Value::Null) };
    let Some((srid, order)) = system_and_order(env, call, args)? else { return Ok(Value::Null) };
    work::spend(text.len() * 8)?;
    finished(call, Shape::from_wkt(&text), wanted, "WKT", srid, order)
}

fn from_wkb<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], wanted: GeometryKind) -> Evaluated<'a> {
    let bytes = match env.eval(&args[0])? {
        Value::Null => return Ok(Value::Null),
        Value::Bytes(bytes) => bytes,
        _ => return Err(invalid(call)),
    };
    let Some((srid, order)) = system_and_order(env, call, args)? else { return Ok(Value::Null) };
    work::spend(bytes.len() * 4)?;
    finished(call, Shape::from_wkb(&bytes), wanted, "WKB", srid, order)
}

fn from_geojson<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let document = env.eval(&args[0])?;
    if matches!(document, Value::Null) {
        return Ok(Value::Null);
    }
    let mut drop_more_dimensions = false;
    if let Some(arg) = args.get(1) {
        let Some(option) = env.integer(arg)? else { return Ok(Value::Null) };
        if !(1..=4).contains(&option) {
            return Err(wrong_value(call, "option", option));
        }
        drop_more_dimensions = option != 1;
    }
    let srid = match args.get(2) {
        None => None,
        Some(arg) => match srid_argument(env, call, arg)? {
            None => return Ok(Value::Null),
            some => some,
        },
    };
    if let Some(srid) = srid {
        system(srid)?;
    }
    let Some(document) = crate::function::read_document(&document, &args[0].ty, 0, "st_geomfromgeojson")? else {
        return Ok(Value::Null);
    };
    match read_geojson(&document, ReadRules { drop_more_dimensions, srid }) {
        Ok(None) => Ok(Value::Null),
        Ok(Some(geometry)) => {
            if system(geometry.srid)?.is_some_and(|system| system.is_geographic()) {
                check_on_globe(call, &geometry.shape)?;
            }
            answer(&geometry)
        }
        Err(error) => Err(geojson_error(call, error)),
    }
}

#[cold]
fn geojson_error(call: &Expr, error: GeoJsonError) -> Pause {
    let function = name_of(call).into();
    Error::from(match error {
        GeoJsonError::MissingMember(member) => Condition::InvalidGeojsonMissingMember { function, member: member.into() },
        GeoJsonError::WrongType { member, wanted } => {
            Condition::InvalidGeojsonWrongType { function, member: member.into(), wanted: wanted.into() }
        }
        GeoJsonError::Unspecified => Condition::InvalidGeojsonUnspecified { function },
        GeoJsonError::Dimensions(found) => Condition::DimensionUnsupported { function, found: found.into() },
    })
    .into()
}

/// 1411
#[cold]
pub(super) fn wrong_value(call: &Expr, what: &str, value: impl std::fmt::Display) -> Pause {
    let (what, value) = (what.into(), value.into());
    Error::from(Condition::WrongValueForType { what, value, function: name_of(call).into() }).into()
}

/// Longitude and latitude of a geohash.
fn decoded<'a>(env: &Env<'a>, call: &Expr, arg: &'a Expr) -> Step<Option<(f64, f64)>> {
    let Some(text) = env.text(arg)? else { return Ok(None) };
    geohash::decode(&text).map(Some).ok_or_else(|| {
        let (what, value) = ("geohash".into(), String::from_utf8_lossy(&text).into());
        let function = name_of(call).to_ascii_uppercase().into();
        Error::from(Condition::WrongValueForType { what, value, function }).into()
    })
}

fn point_from_geohash<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some((longitude, latitude)) = decoded(env, call, &args[0])? else { return Ok(Value::Null) };
    let Some(srid) = srid_argument(env, call, &args[1])? else { return Ok(Value::Null) };
    system(srid)?;
    answer(&Geometry::point(srid, longitude, latitude))
}
