//! Spatial functions: what they share.
//!
//! - `make`: geometries from numbers, texts, bytes, documents, geohashes.
//! - `show`: geometries as texts, bytes, documents; coordinates and reference systems.
//! - `parts`: dimension, envelope, points and members.
//! - `relate`: MBR... and ST_Contains and its kind.
//! - `measure`: lengths, areas, distances.
//! - `change`: unions, hulls, buffers, other reference systems.
//! - `plane` computes on the plane, with the crate `geo`; `globe` on an ellipsoid.
//!
//! P1: a call names itself in messages in small letters. An argument that is no geometry is error 3037, two reference systems are 3033, one that
//!     does not exist is 3548.
//! P2: of a geographic system, texts and bytes have the latitude first unless an option says otherwise; a value has x = longitude.

pub(crate) mod cast;
pub(crate) mod change;
pub(crate) mod collect;
mod globe;
pub(crate) mod make;
pub(crate) mod measure;
pub(crate) mod parts;
mod plane;
pub(crate) mod relate;
pub(crate) mod show;

use crate::error::Error;
use crate::eval::{Env, Evaluated, Pause, Step};
use crate::tree::{Expr, ExprKind};
use conditions::Condition;
use types::geometry::srs::{self, Srs};
use types::geometry::{Geometry, GeometryKind, Point, Shape};
use types::{ColumnType, TypeKind, Value, work};

/// Units of work for each point of a geometry that is read.
const POINT_UNITS: usize = 64;

/// The name of the call in messages. P1
#[cold]
pub(super) fn name_of(call: &Expr) -> String {
    match &call.kind {
        ExprKind::Call { function, .. } => function.name().to_ascii_lowercase(),
        _ => String::new(),
    }
}

/// 3037
#[cold]
pub(super) fn invalid(call: &Expr) -> Pause {
    Error::from(Condition::GisInvalidData { function: name_of(call).into() }).into()
}

/// 1210
#[cold]
pub(super) fn wrong_arguments(call: &Expr) -> Pause {
    Error::from(Condition::WrongArguments { what: name_of(call).into() }).into()
}

/// 1690
#[cold]
pub(super) fn out_of_range(call: &Expr, what: &'static str) -> Pause {
    Error::OutOfRange { what, expression: name_of(call) }.into()
}

/// 3516
#[cold]
pub(super) fn unexpected_kind(call: &Expr, wanted: &str, found: GeometryKind) -> Pause {
    let (what, kind) = (wanted.into(), found.name().into());
    Error::from(Condition::UnexpectedGeometryType { what, kind, function: name_of(call).into() }).into()
}

/// 3618, 3704: not there for geometries of such systems.
#[cold]
pub(super) fn not_for_srs(call: &Expr, kinds: &[GeometryKind], is_geographic: bool, more: &str) -> Pause {
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    let call = format!("{}({}{more})", name_of(call), kinds.join(", ")).into();
    Error::from(if is_geographic {
        Condition::NotImplementedForGeographicSrs { call }
    } else {
        Condition::NotImplementedForCartesianSrs { call }
    })
    .into()
}

/// An argument that is a geometry; `None`: it is NULL.
///
/// # Errors
/// 3037
pub(super) fn geometry<'a>(env: &Env<'a>, call: &Expr, arg: &'a Expr) -> Step<Option<Geometry>> {
    match env.eval(arg)? {
        Value::Null => Ok(None),
        Value::Bytes(bytes) => {
            work::spend(bytes.len() * (POINT_UNITS / 16))?;
            Geometry::from_stored(&bytes).map(Some).ok_or_else(|| invalid(call))
        }
        _ => Err(invalid(call)),
    }
}

/// Two geometries of one reference system.
///
/// # Errors
/// 3033, 3037, 3548
pub(super) fn pair<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr]) -> Step<Option<(Geometry, Geometry)>> {
    let Some(first) = geometry(env, call, &args[0])? else { return Ok(None) };
    let Some(second) = geometry(env, call, &args[1])? else { return Ok(None) };
    if first.srid != second.srid {
        return Err(different_srids(call, first.srid, second.srid));
    }
    system(first.srid)?;
    Ok(Some((first, second)))
}

#[cold]
fn different_srids(call: &Expr, first: u32, second: u32) -> Pause {
    let function = name_of(call).into();
    Error::from(Condition::GisDifferentSrids { function, first: first.into(), second: second.into() }).into()
}

/// The reference system of a number; `None`: it is the plane without a unit.
///
/// # Errors
/// 3548
pub(super) fn system(srid: u32) -> Step<Option<Srs>> {
    if srid == srs::CARTESIAN {
        return Ok(None);
    }
    match srs::find(srid) {
        Some(found) => Ok(Some(found)),
        None => Err(Error::from(Condition::SrsNotFound { srid: srid.into() }).into()),
    }
}

/// The geographic system of a number; `None`: it is a plane.
pub(super) fn geographic(srid: u32) -> Step<Option<Srs>> {
    Ok(system(srid)?.filter(Srs::is_geographic))
}

/// A SRID that is given as an argument; `None`: it is NULL.
///
/// # Errors
/// 1690
pub(super) fn srid_argument<'a>(env: &Env<'a>, call: &Expr, arg: &'a Expr) -> Step<Option<u32>> {
    let Some(number) = env.integer(arg)? else { return Ok(None) };
    u32::try_from(number).map(Some).map_err(|_| out_of_range(call, "SRID"))
}

pub(super) fn answer<'a>(geometry: &Geometry) -> Evaluated<'a> {
    let bytes = geometry.to_stored();
    work::spend(bytes.len())?;
    Ok(Value::Bytes(bytes.into()))
}

pub(super) fn answer_shape<'a>(srid: u32, shape: Shape) -> Evaluated<'a> {
    answer(&Geometry::new(srid, shape))
}

/// The axes of texts and bytes, as an option names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AxisOrder {
    OfSystem,
    LongLat,
    LatLong,
}

impl AxisOrder {
    /// Do texts of the system have y first? P2
    fn swaps(self, srid: u32) -> bool {
        self != Self::LongLat && srs::is_geographic(srid)
    }
}

/// The options `axis-order=...`; `None`: NULL.
///
/// # Errors
/// 3558 to 3560, 3564
pub(super) fn axis_order<'a>(env: &Env<'a>, call: &Expr, arg: Option<&'a Expr>) -> Step<Option<AxisOrder>> {
    let Some(arg) = arg else { return Ok(Some(AxisOrder::OfSystem)) };
    let Some(text) = env.text(arg)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&text).into_owned();
    if text.trim().is_empty() {
        return Ok(Some(AxisOrder::OfSystem));
    }
    let function = || name_of(call).into();
    let mut order = None;
    for pair in text.split(',') {
        let parts: Vec<&str> = pair.split('=').map(str::trim).collect();
        let [key, value] = parts[..] else {
            return Err(Error::from(Condition::InvalidOptionKeyValuePair { pair: pair.into(), function: function() }).into());
        };
        if !key.eq_ignore_ascii_case("axis-order") {
            return Err(Error::from(Condition::InvalidOptionKey { key: key.into(), function: function() }).into());
        }
        let wanted = match value.to_ascii_lowercase().as_str() {
            "srid-defined" => AxisOrder::OfSystem,
            "long-lat" => AxisOrder::LongLat,
            "lat-long" => AxisOrder::LatLong,
            _ => {
                let (value, key) = (value.into(), "axis-order".into());
                return Err(Error::from(Condition::InvalidOptionValue { value, key, function: function() }).into());
            }
        };
        if order.replace(wanted).is_some() {
            return Err(Error::from(Condition::DuplicateOptionKey { key: "axis-order".into(), function: function() }).into());
        }
    }
    Ok(Some(order.unwrap_or(AxisOrder::OfSystem)))
}

/// Which of the two coordinates is outside of its range, with its value.
enum Outside {
    Longitude(f64),
    Latitude(f64),
}

fn outside(point: Point) -> Option<Outside> {
    if !(-90.0..=90.0).contains(&point.y) {
        Some(Outside::Latitude(point.y))
    } else if !(-180.0..=180.0).contains(&point.x) {
        Some(Outside::Longitude(point.x))
    } else {
        None
    }
}

fn first_outside(shape: &Shape) -> Option<Outside> {
    let mut found = None;
    shape.for_each_point(&mut |point| {
        if found.is_none() {
            found = outside(point);
        }
    });
    found
}

/// Are all points on the globe?
///
/// # Errors
/// 3616, 3617
pub(super) fn check_on_globe(call: &Expr, shape: &Shape) -> Step<()> {
    let function = || name_of(call).into();
    match first_outside(shape) {
        None => Ok(()),
        Some(Outside::Longitude(value)) => {
            Err(Error::from(Condition::LongitudeOutOfRange { value: six_digits(value).into(), function: function() }).into())
        }
        Some(Outside::Latitude(value)) => {
            Err(Error::from(Condition::LatitudeOutOfRange { value: six_digits(value).into(), function: function() }).into())
        }
    }
}

/// As [`check_on_globe`], of a geometry that is an argument.
///
/// # Errors
/// 3731, 3732
pub(super) fn check_argument_on_globe(call: &Expr, shape: &Shape) -> Step<()> {
    let function = || name_of(call).into();
    match first_outside(shape) {
        None => Ok(()),
        Some(Outside::Longitude(value)) => Err(Error::from(Condition::GeometryParamLongitudeOutOfRange {
            function: function(),
            value: six_digits(value).into(),
        })
        .into()),
        Some(Outside::Latitude(value)) => {
            Err(Error::from(Condition::GeometryParamLatitudeOutOfRange { function: function(), value: six_digits(value).into() })
                .into())
        }
    }
}

fn six_digits(number: f64) -> String {
    format!("{number:.6}")
}

/// Is the argument neither a geometry nor NULL?
pub(super) fn is_other_type(ty: &ColumnType) -> bool {
    !ty.is_geometry() && ty.kind != TypeKind::Null
}

/// Rules of types.
pub(super) mod types_of {
    use crate::function::rules::{Typed, Typing};
    use crate::tree::Expr;
    use types::geometry::GeometryKind;
    use types::{CollationId, ColumnType, LobSize, TypeKind};

    pub fn geometry(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
        Ok(ColumnType::geometry(GeometryKind::Geometry))
    }

    pub fn point(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
        Ok(ColumnType::geometry(GeometryKind::Point))
    }

    pub fn polygon(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
        Ok(ColumnType::geometry(GeometryKind::Polygon))
    }

    /// A geometry if another coordinate is given, else the coordinate.
    pub fn changed_or_double(_: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
        Ok(if args.len() > 1 { ColumnType::geometry(GeometryKind::Geometry) } else { crate::typing::double() })
    }

    pub fn changed_or_integer(_: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
        Ok(if args.len() > 1 { ColumnType::geometry(GeometryKind::Geometry) } else { crate::typing::bigint(false) })
    }

    pub fn long_text(typing: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
        Ok(ColumnType { collation: typing.literal_collation(), ..ColumnType::new(TypeKind::Text(LobSize::Long)) })
    }
}
