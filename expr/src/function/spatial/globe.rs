//! Measures on an ellipsoid.
//!
//! Distances are those of the formula of Andoyer and Lambert (first order of the flattening), which MySQL's library takes: within 10 m of the
//! geodesic up to a quarter of the globe. Areas, and places on the way, are computed by the crate `geographiclib-rs`.

use super::plane;
use geographiclib_rs::{DirectGeodesic, Geodesic, InverseGeodesic, PolygonArea, Winding};
use types::geometry::srs::Ellipsoid;
use types::geometry::{Point, Shape};
use types::work::{self, Stopped};

/// The distance of two places in metres.
pub(super) fn between(ellipsoid: &Ellipsoid, from: Point, to: Point) -> f64 {
    if from == to {
        return 0.0;
    }
    let flattening = 1.0 / ellipsoid.inverse_flattening;
    let (lat1, lat2) = (from.y.to_radians(), to.y.to_radians());
    let dlon = (to.x - from.x).to_radians();
    let (sin1, sin2) = (lat1.sin(), lat2.sin());
    let cos_d = (sin1 * sin2 + lat1.cos() * lat2.cos() * dlon.cos()).clamp(-1.0, 1.0);
    let d = cos_d.acos();
    let sin_d = d.sin();
    let (less, more) = (1.0 - cos_d, 1.0 + cos_d);
    let h = if less == 0.0 { 0.0 } else { (d + 3.0 * sin_d) / less };
    let g = if more == 0.0 { 0.0 } else { (d - 3.0 * sin_d) / more };
    let (k, l) = ((sin1 - sin2).powi(2), (sin1 + sin2).powi(2));
    let change = -(flattening / 4.0) * (h * k + g * l);
    ellipsoid.semi_major * (d + change)
}

/// The distance of two places on a sphere.
pub(super) fn on_sphere(radius: f64, from: Point, to: Point) -> f64 {
    let (lat1, lat2) = (from.y.to_radians(), to.y.to_radians());
    let half_square = |angle: f64| (angle / 2.0).sin().powi(2);
    let a = half_square(lat2 - lat1) + lat1.cos() * lat2.cos() * half_square((to.x - from.x).to_radians());
    2.0 * radius * a.sqrt().min(1.0).asin()
}

fn geodesic(ellipsoid: &Ellipsoid) -> Geodesic {
    Geodesic::new(ellipsoid.semi_major, 1.0 / ellipsoid.inverse_flattening)
}

/// A part of the way from one place to another.
pub(super) fn on_the_way(ellipsoid: &Ellipsoid, from: Point, to: Point, part: f64) -> Point {
    let geodesic = geodesic(ellipsoid);
    let (length, azimuth, _, _): (f64, f64, f64, f64) = geodesic.inverse(from.y, from.x, to.y, to.x);
    let (y, x): (f64, f64) = geodesic.direct(from.y, from.x, azimuth, length * part);
    Point::new(x, y)
}

/// The place that is so far away in a direction: degrees from the north, with the clock.
pub(super) fn in_direction(ellipsoid: &Ellipsoid, from: Point, azimuth: f64, distance: f64) -> Point {
    let (y, x): (f64, f64) = geodesic(ellipsoid).direct(from.y, from.x, azimuth, distance);
    Point::new(x, y)
}

/// The area within a ring, in square metres.
pub(super) fn ring_area(ellipsoid: &Ellipsoid, ring: &[Point]) -> f64 {
    let geodesic = geodesic(ellipsoid);
    let mut area = PolygonArea::new(&geodesic, Winding::CounterClockwise);
    // The last one is the first.
    for point in &ring[..ring.len() - 1] {
        area.add_point(point.y, point.x);
    }
    let (_, area, _) = area.compute(true);
    area.abs()
}

/// The shortest distance from a place to a line: the way to it falls, then rises along the line.
fn to_line(ellipsoid: &Ellipsoid, place: Point, line: [Point; 2]) -> f64 {
    let at = |part: f64| between(ellipsoid, place, on_the_way(ellipsoid, line[0], line[1], part));
    let (mut low, mut high) = (0.0, 1.0);
    const ROUNDS: usize = 60;
    for _ in 0..ROUNDS {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if at(a) < at(b) { high = b } else { low = a }
    }
    let ends = between(ellipsoid, place, line[0]).min(between(ellipsoid, place, line[1]));
    at((low + high) / 2.0).min(ends)
}

/// The shortest distance of two geometries in metres.
///
/// # Errors
/// It is to end.
pub(super) fn distance(ellipsoid: &Ellipsoid, a: &Shape, b: &Shape) -> Result<f64, Stopped> {
    if let (Shape::Point(from), Shape::Point(to)) = (a, b) {
        return Ok(between(ellipsoid, *from, *to));
    }
    if plane::relates(plane::Relation::Intersects, a, b)? {
        return Ok(0.0);
    }
    let pieces = [a, b].map(plane::Pieces::of);
    const PAIR_UNITS: usize = 128;
    const LINE_UNITS: usize = 30_000;
    let mut shortest = f64::INFINITY;
    for from in &pieces[0].points {
        work::spend(pieces[1].points.len().saturating_mul(PAIR_UNITS))?;
        shortest = pieces[1].points.iter().fold(shortest, |shortest, to| shortest.min(between(ellipsoid, *from, *to)));
    }
    for (own, other) in [(0, 1), (1, 0)] {
        let ends = pieces[own].lines.iter().flatten();
        for place in pieces[own].points.iter().chain(ends) {
            for line in &pieces[other].lines {
                work::spend(LINE_UNITS)?;
                shortest = shortest.min(to_line(ellipsoid, *place, *line));
            }
        }
    }
    Ok(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::geometry::srs;

    #[test]
    fn distances_are_those_of_mysql() {
        let ellipsoid = srs::find(srs::WGS84).unwrap().ellipsoid;
        let check = |a: (f64, f64), b: (f64, f64), wanted: f64| {
            let found = between(&ellipsoid, Point::new(a.0, a.1), Point::new(b.0, b.1));
            assert!((found - wanted).abs() < 1e-6, "{found}");
        };
        check((0.0, 0.0), (1.0, 1.0), 156_897.799_472_607_93);
        check((2.35, 48.85), (13.4, 52.52), 879_910.546_442_918_7);
        check((5.0, 5.0), (5.0, 5.0), 0.0);
        assert!((on_sphere(1.0, Point::new(0.0, 0.0), Point::new(180.0, 0.0)) - std::f64::consts::PI).abs() < 1e-12);
        // The poles, and places opposite of each other, have a distance as well.
        for (a, b) in [((0.0, 90.0), (0.0, -90.0)), ((0.0, 0.0), (180.0, 0.0))] {
            assert!(between(&ellipsoid, Point::new(a.0, a.1), Point::new(b.0, b.1)).is_finite());
        }
    }
}
