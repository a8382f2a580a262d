//! Relations of two geometries: of their boxes (MBR...), and of themselves (ST_Contains and its kind).
//!
//! R1: a geometry without a point has no relation: NULL.
//! R2: the inside of a box is that of its sides: of a side without a length, its only place.

use super::{Geometry, geographic, pair, plane};
use crate::eval::{Env, Evaluated, Step};
use crate::function::row::{Places, Row, functions, named};
use crate::function::rules;
use crate::tree::Expr;
use types::Value;
use types::geometry::{Envelope, Shape};

functions! {
    SpatialRelations;

    MBRCONTAINS = relation(&[("MBRCONTAINS", 2, 2)]) => |env, call, args| boxes(env, call, args, |a, b| a.covers(b) && insides_meet(a, b));
    MBRWITHIN = relation(&[("MBRWITHIN", 2, 2)]) => |env, call, args| boxes(env, call, args, |a, b| b.covers(a) && insides_meet(a, b));
    MBRCOVERS = relation(&[("MBRCOVERS", 2, 2)]) => |env, call, args| boxes(env, call, args, Envelope::covers);
    MBRCOVEREDBY = relation(&[("MBRCOVEREDBY", 2, 2)]) => |env, call, args| boxes(env, call, args, |a, b| b.covers(a));
    MBRDISJOINT = relation(&[("MBRDISJOINT", 2, 2)]) => |env, call, args| boxes(env, call, args, |a, b| !a.meets(b));
    MBREQUALS = relation(&[("MBREQUALS", 2, 2)]) => |env, call, args| boxes(env, call, args, |a, b| a == b);
    MBRINTERSECTS = relation(&[("MBRINTERSECTS", 2, 2)]) => |env, call, args| boxes(env, call, args, Envelope::meets);
    MBROVERLAPS = relation(&[("MBROVERLAPS", 2, 2)]) => |env, call, args| boxes(env, call, args, overlap);
    MBRTOUCHES = relation(&[("MBRTOUCHES", 2, 2)])
        => |env, call, args| boxes(env, call, args, |a, b| a.meets(b) && !insides_meet(a, b));

    ST_CONTAINS = relation(&[("ST_CONTAINS", 2, 2)]) => |env, call, args| shapes(env, call, args, plane::Relation::Contains);
    ST_WITHIN = relation(&[("ST_WITHIN", 2, 2)]) => |env, call, args| shapes(env, call, args, plane::Relation::Within);
    ST_CROSSES = relation(&[("ST_CROSSES", 2, 2)]) => |env, call, args| shapes(env, call, args, plane::Relation::Crosses);
    ST_DISJOINT = relation(&[("ST_DISJOINT", 2, 2)]) => |env, call, args| shapes(env, call, args, plane::Relation::Disjoint);
    ST_EQUALS = relation(&[("ST_EQUALS", 2, 2)]) => |env, call, args| shapes(env, call, args, plane::Relation::Equals);
    ST_INTERSECTS = relation(&[("ST_INTERSECTS", 2, 2)]) => |env, call, args| shapes(env, call, args, plane::Relation::Intersects);
    ST_OVERLAPS = relation(&[("ST_OVERLAPS", 2, 2)]) => |env, call, args| shapes(env, call, args, plane::Relation::Overlaps);
    ST_TOUCHES = relation(&[("ST_TOUCHES", 2, 2)]) => |env, call, args| shapes(env, call, args, plane::Relation::Touches);
}

const fn relation(names: &'static [crate::function::row::Name]) -> Row {
    named(names).typed(rules::boolean).texts(Places::NONE)
}

/// R2
fn insides_meet(a: &Envelope, b: &Envelope) -> bool {
    let meet = |(low, high): (f64, f64), (from, to): (f64, f64)| match (low < high, from < to) {
        (true, true) => low < to && from < high,
        (true, false) => low < from && from < high,
        (false, true) => from < low && low < to,
        (false, false) => low == from,
    };
    meet((a.min.x, a.max.x), (b.min.x, b.max.x)) && meet((a.min.y, a.max.y), (b.min.y, b.max.y))
}

/// Their insides meet, and neither holds the other. As in MySQL, a line and an area overlap, too, and so do two lines that cross.
fn overlap(a: &Envelope, b: &Envelope) -> bool {
    insides_meet(a, b) && !a.covers(b) && !b.covers(a)
}

fn boxes<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], test: fn(&Envelope, &Envelope) -> bool) -> Evaluated<'a> {
    let Some((first, second)) = pair(env, call, args)? else { return Ok(Value::Null) };
    check(call, &first, &second)?;
    // R1
    let (Some(a), Some(b)) = (first.shape.envelope(), second.shape.envelope()) else { return Ok(Value::Null) };
    Ok(Value::Int(test(&a, &b).into()))
}

fn check(call: &Expr, first: &Geometry, second: &Geometry) -> Step<()> {
    if geographic(first.srid)?.is_some() {
        super::check_argument_on_globe(call, &first.shape)?;
        super::check_argument_on_globe(call, &second.shape)?;
    }
    Ok(())
}

fn shapes<'a>(env: &Env<'a>, call: &Expr, args: &'a [Expr], relation: plane::Relation) -> Evaluated<'a> {
    let Some((first, second)) = pair(env, call, args)? else { return Ok(Value::Null) };
    check(call, &first, &second)?;
    // R1
    let (Some(a), Some(b)) = (first.shape.dimension(), second.shape.dimension()) else { return Ok(Value::Null) };
    let has_none = match relation {
        plane::Relation::Crosses => a == 2 || b == 0,
        plane::Relation::Overlaps => a != b,
        plane::Relation::Touches => a == 0 && has_places(&second.shape) || b == 0 && has_places(&first.shape),
        _ => false,
    };
    if has_none {
        return Ok(Value::Null);
    }
    Ok(Value::Int(plane::relates(relation, &first.shape, &second.shape)?.into()))
}

/// Is a single place among its members?
fn has_places(shape: &Shape) -> bool {
    match shape {
        Shape::Point(_) | Shape::MultiPoint(_) => true,
        Shape::Collection(members) => members.iter().any(has_places),
        _ => false,
    }
}
