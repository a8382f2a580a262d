//! Union, intersection, difference and symmetric difference of geometries of any kinds.
//!
//! 1. Polygons are combined with polygons by the library. Its grid is coarser than the coordinates, so each corner of the result becomes the corner or
//!    crossing of the arguments that is next to it.
//! 2. Lines are cut where they meet anything of the other geometry. A cut stays if its middle is where the operation wants it, and no polygon of
//!    the result holds it.
//! 3. Places stay if neither a line nor a polygon of the result holds them.
//!
//! V1: what is cut only because of step 2 is joined again.

use super::super::plane::{self, PAIR_UNITS, guarded, polygon, rings_of, side, to_line};
use geo::{BooleanOps, Intersects};
use types::geometry::{Envelope, Point, Rings, Shape, directed};
use types::work::{self, Stopped};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    Union,
    Intersection,
    Difference,
    SymDifference,
}

impl Operation {
    fn wants(self, in_a: bool, in_b: bool) -> bool {
        match self {
            Self::Union => in_a || in_b,
            Self::Intersection => in_a && in_b,
            Self::Difference => in_a && !in_b,
            Self::SymDifference => in_a != in_b,
        }
    }
}

/// A geometry by dimension.
#[derive(Default)]
struct Parts {
    points: Vec<Point>,
    lines: Vec<Vec<Point>>,
    polygons: Vec<Rings>,
}

impl Parts {
    fn of(shape: &Shape) -> Self {
        let mut parts = Self::default();
        parts.add(shape);
        parts
    }

    fn add(&mut self, shape: &Shape) {
        match shape {
            Shape::Point(point) => self.points.push(*point),
            Shape::MultiPoint(points) => self.points.extend(points),
            Shape::LineString(line) => self.lines.push(line.clone()),
            Shape::MultiLineString(lines) => self.lines.extend(lines.iter().cloned()),
            Shape::Polygon(rings) => self.polygons.push(rings.clone()),
            Shape::MultiPolygon(polygons) => self.polygons.extend(polygons.iter().cloned()),
            Shape::Collection(members) => members.iter().for_each(|member| self.add(member)),
        }
    }

    fn rings(&self) -> impl Iterator<Item = &Vec<Point>> {
        self.polygons.iter().flatten()
    }

    /// Its lines and the rings of its polygons, as steps.
    fn steps(&self) -> Vec<[Point; 2]> {
        self.lines.iter().chain(self.rings()).flat_map(|line| line.windows(2).map(|pair| [pair[0], pair[1]])).collect()
    }
}

/// A geometry that can say what it holds.
struct Holder<'p> {
    parts: &'p Parts,
    area: geo::MultiPolygon<f64>,
    /// How far from a line a computed place of it may be.
    slack: f64,
}

impl<'p> Holder<'p> {
    fn new(parts: &'p Parts, slack: f64) -> Self {
        let area = geo::MultiPolygon::new(parts.polygons.iter().map(polygon).collect());
        Self { parts, area, slack }
    }

    fn in_area(&self, place: Point) -> bool {
        self.area.intersects(&geo::Coord { x: place.x, y: place.y })
    }

    fn on_lines(&self, place: Point, lines: &mut dyn Iterator<Item = &Vec<Point>>) -> Result<bool, Stopped> {
        for line in lines {
            work::spend(line.len().saturating_mul(PAIR_UNITS))?;
            if line.windows(2).any(|pair| to_line(place, [pair[0], pair[1]]) <= self.slack) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn holds(&self, place: Point) -> Result<bool, Stopped> {
        Ok(self.parts.points.contains(&place) || self.holds_around(place)?)
    }

    /// Does it hold more than the place, as the middle of a line?
    fn holds_around(&self, place: Point) -> Result<bool, Stopped> {
        if self.in_area(place) {
            return Ok(true);
        }
        self.on_lines(place, &mut self.parts.lines.iter().chain(self.parts.rings()))
    }
}

/// The combination of two geometries; `None`: the library cannot make it.
///
/// # Errors
/// It is to end.
pub(super) fn overlay(operation: Operation, first: &Shape, second: &Shape) -> Result<Option<Shape>, Stopped> {
    let (a, b) = (Parts::of(first), Parts::of(second));
    let mut extent = Envelope::NOTHING;
    [first, second].iter().for_each(|shape| shape.for_each_point(&mut |point| extent.add(point)));
    if extent.is_nothing() {
        return Ok(Some(Shape::EMPTY));
    }
    let size = (extent.max.x - extent.min.x).max(extent.max.y - extent.min.y);
    let reach = [extent.min.x, extent.min.y, extent.max.x, extent.max.y].into_iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let slack = reach.max(size) * 1e-14;
    let (crossings, mutual) = crossings(&a, &b)?;
    let Some(polygons) = areas(operation, &a, &b, (&crossings, &mutual), size)? else { return Ok(None) };
    let of_areas = Parts { polygons, ..Parts::default() };
    let held = [Holder::new(&a, slack), Holder::new(&b, slack)];
    let result = Holder::new(&of_areas, slack);
    let lines = lines(operation, &a, &b, &crossings, &held, &result)?;
    let mut points: Vec<Point> = Vec::new();
    let mut add = |place: Point| -> Result<(), Stopped> {
        let wanted = operation.wants(held[0].holds(place)?, held[1].holds(place)?);
        let is_held = result.in_area(place)
            || result.on_lines(place, &mut of_areas.rings())?
            || result.on_lines(place, &mut lines.iter())?;
        if wanted && !is_held && !points.contains(&place) {
            points.push(place);
        }
        Ok(())
    };
    a.points.iter().chain(&b.points).try_for_each(|place| add(*place))?;
    if operation == Operation::Intersection {
        crossings.iter().try_for_each(|place| add(*place))?;
    }
    Ok(Some(assembled(of_areas.polygons, lines, points)))
}

/// The result as the smallest kind that holds it.
fn assembled(mut polygons: Vec<Rings>, mut lines: Vec<Vec<Point>>, mut points: Vec<Point>) -> Shape {
    let mut members = Vec::new();
    match polygons.len() {
        0 => {}
        1 => members.push(Shape::Polygon(polygons.remove(0))),
        _ => members.push(Shape::MultiPolygon(polygons)),
    }
    match lines.len() {
        0 => {}
        1 => members.push(Shape::LineString(lines.remove(0))),
        _ => members.push(Shape::MultiLineString(lines)),
    }
    match points.len() {
        0 => {}
        1 => members.push(Shape::Point(points.remove(0))),
        _ => members.push(Shape::MultiPoint(points)),
    }
    if members.len() == 1 {
        return members.remove(0);
    }
    Shape::Collection(members.into_iter().flat_map(Shape::members).collect())
}

/// The polygons of the result; `None`: the library failed.
fn areas(
    operation: Operation,
    a: &Parts,
    b: &Parts,
    (crossings, mutual): (&[Point], &[Point]),
    size: f64,
) -> Result<Option<Vec<Rings>>, Stopped> {
    let corners: usize = a.rings().chain(b.rings()).map(Vec::len).sum();
    if corners == 0 {
        return Ok(Some(Vec::new()));
    }
    // One side alone stays as it is, but for the direction of its rings.
    let alone = match (a.polygons.is_empty(), b.polygons.is_empty()) {
        (false, true) if operation != Operation::Intersection => Some(a),
        (true, false) if matches!(operation, Operation::Union | Operation::SymDifference) => Some(b),
        (false, false) => None,
        _ => return Ok(Some(Vec::new())),
    };
    if let Some([rings]) = alone.map(|parts| &parts.polygons[..]) {
        return Ok(Some(vec![directed(rings)]));
    }
    work::spend(corners.saturating_mul(4096))?;
    let combined = guarded(|| {
        let [a, b] = [a, b].map(|parts| {
            let polygons: Vec<geo::Polygon<f64>> = parts.polygons.iter().map(polygon).collect();
            geo::unary_union(&polygons)
        });
        match operation {
            Operation::Union => a.union(&b),
            Operation::Intersection => a.intersection(&b),
            Operation::Difference => a.difference(&b),
            Operation::SymDifference => a.xor(&b),
        }
    });
    let Some(combined) = combined else { return Ok(None) };
    let mut known: Vec<Point> = a.rings().chain(b.rings()).flatten().copied().chain(crossings.iter().copied()).collect();
    known.sort_by(|a, b| a.x.total_cmp(&b.x));
    known.dedup();
    // The library's grid has 2^31 steps or so over the whole.
    let slack = size * 1e-8;
    let mut polygons: Vec<Rings> = combined.0.iter().map(rings_of).collect();
    for ring in polygons.iter_mut().flatten() {
        work::spend(ring.len().saturating_mul(PAIR_UNITS * 4))?;
        for corner in ring.iter_mut() {
            let from = known.partition_point(|place| place.x < corner.x - slack);
            let near = known[from..].iter().take_while(|place| place.x <= corner.x + slack);
            let nearest = near.map(|place| (plane::between(*place, *corner), place)).min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, place)) = nearest.filter(|(distance, _)| *distance <= slack) {
                *corner = *place;
            }
        }
        begin_at(ring, mutual);
    }
    Ok(Some(polygons))
}

/// Turns a ring so that it begins where the arguments cross, if they do.
fn begin_at(ring: &mut Vec<Point>, crossings: &[Point]) {
    let Some(place) = crossings.iter().find(|place| ring.contains(place)) else { return };
    ring.pop();
    let at = ring.iter().position(|corner| corner == place).unwrap_or(0);
    ring.rotate_left(at);
    ring.extend(ring.first().copied());
}

/// Where lines and rings of the one meet those of the other, and each its own; and the former alone.
fn crossings(a: &Parts, b: &Parts) -> Result<(Vec<Point>, Vec<Point>), Stopped> {
    let own = a.steps();
    let (of_a, steps): (usize, Vec<[Point; 2]>) = (own.len(), own.into_iter().chain(b.steps()).collect());
    let (mut found, mut mutual) = (Vec::new(), Vec::new());
    for (at, step) in steps.iter().enumerate() {
        work::spend((steps.len() - at).saturating_mul(PAIR_UNITS))?;
        for (against, other) in steps.iter().enumerate().skip(at + 1) {
            let places = crossing(*step, *other).into_iter().flatten();
            if at < of_a && against >= of_a { mutual.extend(places) } else { found.extend(places) }
        }
    }
    found.extend(&mutual);
    for places in [&mut found, &mut mutual] {
        places.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        places.dedup();
    }
    Ok((found, mutual))
}

/// Where two steps meet: at one place, or along a way of two ends.
fn crossing(a: [Point; 2], b: [Point; 2]) -> [Option<Point>; 2] {
    let apart = |p: f64, q: f64, r: f64, s: f64| p.max(q) < r.min(s) || r.max(s) < p.min(q);
    if apart(a[0].x, a[1].x, b[0].x, b[1].x) || apart(a[0].y, a[1].y, b[0].y, b[1].y) {
        return [None; 2];
    }
    let line = |pair: [Point; 2]| geo::Line::new((pair[0].x, pair[0].y), (pair[1].x, pair[1].y));
    use geo::line_intersection::LineIntersection as L;
    match geo::line_intersection::line_intersection(line(a), line(b)) {
        Some(L::SinglePoint { intersection, .. }) => {
            let place = Point::new(intersection.x, intersection.y);
            // An end that is met is met exactly.
            let ends = a.into_iter().filter(|end| side(b[0], b[1], *end) == 0.0);
            let exact = ends.chain(b.into_iter().filter(|end| side(a[0], a[1], *end) == 0.0));
            let exact = exact.min_by(|p, q| plane::between(*p, place).total_cmp(&plane::between(*q, place)));
            [Some(exact.unwrap_or(place)), None]
        }
        Some(L::Collinear { intersection }) => {
            let point = |coord: geo::Coord<f64>| Some(Point::new(coord.x, coord.y));
            [point(intersection.start), point(intersection.end)]
        }
        None => [None; 2],
    }
}

/// The lines of the result. V1
fn lines(
    operation: Operation,
    a: &Parts,
    b: &Parts,
    crossings: &[Point],
    held: &[Holder<'_>; 2],
    result: &Holder<'_>,
) -> Result<Vec<Vec<Point>>, Stopped> {
    let mut out: Vec<Vec<Point>> = Vec::new();
    // Rings meet rings along lines, too.
    let with_rings = operation == Operation::Intersection;
    for (at, parts) in [a, b].into_iter().enumerate() {
        let rings = parts.rings().filter(|_| with_rings);
        for line in parts.lines.iter().chain(rings) {
            let mut run: Vec<Point> = Vec::new();
            for step in line.windows(2) {
                let mut was_cut = false;
                for (from, to) in cuts([step[0], step[1]], crossings, held[0].slack)? {
                    let middle = plane::on_the_way(from, to, 0.5);
                    let (in_a, in_b) = (at == 0 || held[0].holds_around(middle)?, at == 1 || held[1].holds_around(middle)?);
                    let known: Vec<&Vec<Point>> = if at == 1 { out.iter().collect() } else { Vec::new() };
                    let is_wanted = operation.wants(in_a, in_b)
                        && !result.in_area(middle)
                        && !result.on_lines(middle, &mut result.parts.rings())?
                        && !result.on_lines(middle, &mut known.into_iter())?;
                    if is_wanted {
                        match run.last_mut() {
                            None => run.extend([from, to]),
                            Some(last) if was_cut => *last = to,
                            Some(_) => run.push(to),
                        }
                        was_cut = true;
                    } else {
                        if !run.is_empty() {
                            out.push(std::mem::take(&mut run));
                        }
                        was_cut = false;
                    }
                }
            }
            if !run.is_empty() {
                out.push(run);
            }
        }
    }
    Ok(out)
}

/// A step in the pieces between the crossings on it.
fn cuts(step: [Point; 2], crossings: &[Point], slack: f64) -> Result<Vec<(Point, Point)>, Stopped> {
    work::spend(crossings.len().saturating_mul(PAIR_UNITS))?;
    let mut places: Vec<Point> = crossings.iter().filter(|place| to_line(**place, step) <= slack).copied().collect();
    places.sort_by(|p, q| plane::between(step[0], *p).total_cmp(&plane::between(step[0], *q)));
    let mut cuts = Vec::with_capacity(places.len() + 1);
    let mut from = step[0];
    for place in places.into_iter().chain([step[1]]) {
        if place != from {
            cuts.push((from, place));
            from = place;
        }
    }
    Ok(cuts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(operation: Operation, a: &str, b: &str, wanted: &str) {
        let [a, b] = [a, b].map(|text| Shape::from_wkt(text.as_bytes()).unwrap());
        let found = overlay(operation, &a, &b).unwrap().unwrap();
        assert_eq!(String::from_utf8(found.to_wkt()).unwrap(), wanted);
    }

    #[test]
    fn lines_are_cut_where_they_leave_an_area_and_stay_whole_elsewhere() {
        let square = "POLYGON((0 0,4 0,4 4,0 4,0 0))";
        check(Operation::Intersection, "LINESTRING(-1 1,9 1)", square, "LINESTRING(0 1,4 1)");
        check(Operation::Difference, "LINESTRING(-1 1,9 1)", square, "MULTILINESTRING((-1 1,0 1),(4 1,9 1))");
        check(Operation::Union, "LINESTRING(0 0,2 2)", "LINESTRING(0 2,2 0)", "MULTILINESTRING((0 0,2 2),(0 2,2 0))");
        check(Operation::Intersection, "LINESTRING(0 0,2 2)", "LINESTRING(1 1,5 5)", "LINESTRING(1 1,2 2)");
        check(Operation::Intersection, "POINT(1 1)", "LINESTRING(0 0,2 2)", "POINT(1 1)");
        check(Operation::Union, "POINT(1 1)", square, square);
    }

    #[test]
    fn corners_keep_their_digits() {
        let (a, b) = ("POLYGON((0.1 0.1,0.7 0.1,0.7 0.7,0.1 0.7,0.1 0.1))", "POLYGON((0.3 0,0.4 0,0.4 1,0.3 1,0.3 0))");
        check(Operation::Intersection, a, b, "POLYGON((0.3 0.1,0.4 0.1,0.4 0.7,0.3 0.7,0.3 0.1))");
    }

    #[test]
    fn areas_that_touch_have_their_edge_in_common() {
        let (a, b) = ("POLYGON((0 0,1 0,1 1,0 1,0 0))", "POLYGON((1 0,2 0,2 1,1 1,1 0))");
        check(Operation::Intersection, a, b, "LINESTRING(1 0,1 1)");
        check(Operation::Difference, a, a, "GEOMETRYCOLLECTION EMPTY");
    }
}
