//! Geometry on the plane. Relations and unions of polygons are those of the crate `geo`.
//!
//! Q1: a panic of the library is caught and becomes an error, so no input ends the server's thread.
//! Q2: work is counted before it is done: by the pairs of pieces that are looked at, or by the points that a library call gets.

use geo::{Centroid, Relate, Validation};
use std::panic::{AssertUnwindSafe, catch_unwind};
use types::geometry::{Point, Rings, Shape, directed, ring_area};
use types::work::{self, Stopped};

/// Units of work for a pair of pieces.
pub(super) const PAIR_UNITS: usize = 32;
/// Units of work for a point in a call of the library.
const LIBRARY_UNITS: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Relation {
    Contains,
    Crosses,
    Disjoint,
    Equals,
    Intersects,
    Overlaps,
    Touches,
    Within,
}

fn coord(point: &Point) -> geo::Coord<f64> {
    geo::Coord { x: point.x, y: point.y }
}

fn line(points: &[Point]) -> geo::LineString<f64> {
    geo::LineString::new(points.iter().map(coord).collect())
}

/// Its rings in the directions that the library counts areas by.
pub(super) fn polygon(rings: &Rings) -> geo::Polygon<f64> {
    let rings = directed(rings);
    let (outer, holes) = rings.split_first().expect("a polygon has a ring");
    geo::Polygon::new(line(outer), holes.iter().map(|hole| line(hole)).collect())
}

/// The geometry as the library has it.
pub(super) fn to_geo(shape: &Shape) -> geo::Geometry<f64> {
    let point = |point: &Point| geo::Point(coord(point));
    match shape {
        Shape::Point(one) => point(one).into(),
        Shape::LineString(points) => line(points).into(),
        Shape::Polygon(rings) => polygon(rings).into(),
        Shape::MultiPoint(points) => geo::MultiPoint::new(points.iter().map(point).collect()).into(),
        Shape::MultiLineString(lines) => geo::MultiLineString::new(lines.iter().map(|one| line(one)).collect()).into(),
        Shape::MultiPolygon(polygons) => geo::MultiPolygon::new(polygons.iter().map(polygon).collect()).into(),
        Shape::Collection(members) => {
            geo::Geometry::GeometryCollection(geo::GeometryCollection::from(members.iter().map(to_geo).collect::<Vec<_>>()))
        }
    }
}

fn points_of(line: &geo::LineString<f64>) -> Vec<Point> {
    line.coords().map(|coord| Point::new(coord.x, coord.y)).collect()
}

/// The rings of the library's polygon.
pub(super) fn rings_of(polygon: &geo::Polygon<f64>) -> Rings {
    std::iter::once(polygon.exterior()).chain(polygon.interiors()).map(points_of).collect()
}

/// Q1
pub(super) fn guarded<T>(compute: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(compute)).ok()
}

/// Does the relation hold? Neither is empty.
///
/// # Errors
/// It is to end.
pub(super) fn relates(relation: Relation, a: &Shape, b: &Shape) -> Result<bool, Stopped> {
    // Boxes that are apart say it all.
    if let (Some(one), Some(other)) = (a.envelope(), b.envelope())
        && !one.meets(&other)
    {
        return Ok(relation == Relation::Disjoint);
    }
    if let (Shape::Point(a), Shape::Point(b)) = (a, b) {
        let is_same = a == b;
        return Ok(match relation {
            Relation::Disjoint => !is_same,
            Relation::Crosses | Relation::Overlaps | Relation::Touches => false,
            _ => is_same,
        });
    }
    work::spend((a.point_count() + b.point_count()).saturating_mul(LIBRARY_UNITS))?;
    let matrix = guarded(|| to_geo(a).relate(&to_geo(b)));
    // A geometry that the library cannot judge has no relation.
    let Some(matrix) = matrix else { return Ok(relation == Relation::Disjoint) };
    Ok(match relation {
        Relation::Contains => matrix.is_contains(),
        Relation::Crosses => matrix.is_crosses(),
        Relation::Disjoint => matrix.is_disjoint(),
        Relation::Equals => matrix.is_equal_topo(),
        Relation::Intersects => matrix.is_intersects(),
        Relation::Overlaps => matrix.is_overlaps(),
        Relation::Touches => matrix.is_touches(),
        Relation::Within => matrix.is_within(),
    })
}

/// # Errors
/// It is to end.
pub(super) fn is_valid(shape: &Shape) -> Result<bool, Stopped> {
    work::spend(shape.point_count().saturating_mul(LIBRARY_UNITS))?;
    // Lines of a single place, which the library counts as points.
    let is_place = |line: &[Point]| line.windows(2).all(|pair| pair[0] == pair[1]);
    let lines_are_sound = match shape {
        Shape::LineString(line) => !is_place(line),
        Shape::MultiLineString(lines) => !lines.iter().any(|line| is_place(line)),
        Shape::Collection(members) => {
            for member in members {
                if !is_valid(member)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        _ => true,
    };
    Ok(lines_are_sound && guarded(|| to_geo(shape).is_valid()).unwrap_or(false))
}

/// The places of a geometry, and its lines between two places.
pub(super) struct Pieces {
    pub points: Vec<Point>,
    pub lines: Vec<[Point; 2]>,
}

impl Pieces {
    pub fn of(shape: &Shape) -> Self {
        let mut pieces = Self { points: Vec::new(), lines: Vec::new() };
        pieces.add(shape);
        pieces
    }

    fn add(&mut self, shape: &Shape) {
        let mut line = |points: &[Point]| self.lines.extend(points.windows(2).map(|pair| [pair[0], pair[1]]));
        match shape {
            Shape::Point(point) => self.points.push(*point),
            Shape::MultiPoint(several) => self.points.extend(several),
            Shape::LineString(one) => line(one),
            Shape::MultiLineString(several) | Shape::Polygon(several) => several.iter().for_each(|one| line(one)),
            Shape::MultiPolygon(polygons) => polygons.iter().flatten().for_each(|ring| line(ring)),
            Shape::Collection(members) => members.iter().for_each(|member| self.add(member)),
        }
    }
}

pub(super) fn between(from: Point, to: Point) -> f64 {
    let (x, y) = (to.x - from.x, to.y - from.y);
    (x * x + y * y).sqrt()
}

/// A part of the way from one place to another.
pub(super) fn on_the_way(from: Point, to: Point, part: f64) -> Point {
    Point::new(from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part)
}

/// The shortest distance from a place to a line.
pub(super) fn to_line(place: Point, [from, to]: [Point; 2]) -> f64 {
    let (x, y) = (to.x - from.x, to.y - from.y);
    let square = x * x + y * y;
    if square == 0.0 {
        return between(place, from);
    }
    let part = ((place.x - from.x) * x + (place.y - from.y) * y) / square;
    match part {
        part if part <= 0.0 => between(place, from),
        part if part >= 1.0 => between(place, to),
        part => between(place, Point::new(from.x + part * x, from.y + part * y)),
    }
}

/// The shortest distance. Neither is empty.
///
/// # Errors
/// It is to end.
pub(super) fn distance(a: &Shape, b: &Shape) -> Result<f64, Stopped> {
    if let (Shape::Point(from), Shape::Point(to)) = (a, b) {
        return Ok(between(*from, *to));
    }
    if relates(Relation::Intersects, a, b)? {
        return Ok(0.0);
    }
    let (a, b) = (Pieces::of(a), Pieces::of(b));
    let mut shortest = f64::INFINITY;
    for from in &a.points {
        work::spend(b.points.len().saturating_mul(PAIR_UNITS))?;
        shortest = b.points.iter().fold(shortest, |shortest, to| shortest.min(between(*from, *to)));
    }
    // They do not cross, so an end of one is nearest.
    for (own, other) in [(&a, &b), (&b, &a)] {
        for place in own.points.iter().chain(own.lines.iter().flatten()) {
            work::spend(other.lines.len().saturating_mul(PAIR_UNITS))?;
            shortest = other.lines.iter().fold(shortest, |shortest, line| shortest.min(to_line(*place, *line)));
        }
        // Places of lines beside single places.
        for place in &own.points {
            work::spend(other.lines.len().saturating_mul(PAIR_UNITS))?;
            shortest = other.lines.iter().flatten().fold(shortest, |shortest, end| shortest.min(between(*place, *end)));
        }
    }
    Ok(shortest)
}

/// The area of all polygons.
pub(super) fn area(shape: &Shape) -> f64 {
    let of_rings = |rings: &Rings| match rings.split_first() {
        Some((outer, holes)) => ring_area(outer).abs() - holes.iter().map(|hole| ring_area(hole).abs()).sum::<f64>(),
        None => 0.0,
    };
    match shape {
        Shape::Polygon(rings) => of_rings(rings),
        Shape::MultiPolygon(polygons) => polygons.iter().map(of_rings).sum(),
        Shape::Collection(members) => members.iter().map(area).sum(),
        _ => 0.0,
    }
}

/// The distance of Fréchet over the corners of two lines.
pub(super) fn frechet(a: &[Point], b: &[Point], between: &dyn Fn(Point, Point) -> f64) -> Result<f64, Stopped> {
    let mut row = vec![f64::NEG_INFINITY; b.len()];
    for (i, from) in a.iter().enumerate() {
        work::spend(b.len().saturating_mul(PAIR_UNITS))?;
        let mut before = f64::INFINITY;
        for (j, to) in b.iter().enumerate() {
            let own = between(*from, *to);
            let above = if i > 0 { row[j] } else { f64::INFINITY };
            let left = if j > 0 { row[j - 1] } else { f64::INFINITY };
            let way = if i == 0 && j == 0 { own } else { above.min(left).min(before) };
            before = above;
            row[j] = own.max(way);
        }
    }
    Ok(row.last().copied().unwrap_or(0.0))
}

/// The distance of Hausdorff from the first places to the second, as MySQL has it: in one direction.
pub(super) fn hausdorff(a: &[Point], b: &[Point], between: &dyn Fn(Point, Point) -> f64) -> Result<f64, Stopped> {
    let mut longest: f64 = 0.0;
    for from in a {
        work::spend(b.len().saturating_mul(PAIR_UNITS))?;
        longest = longest.max(b.iter().map(|to| between(*from, *to)).fold(f64::INFINITY, f64::min));
    }
    Ok(longest)
}

/// The side of the line on which a place is: positive on its left.
pub(super) fn side(from: Point, to: Point, place: Point) -> f64 {
    use geo::algorithm::kernels::{Kernel, Orientation, RobustKernel};
    match RobustKernel::orient2d(coord(&from), coord(&to), coord(&place)) {
        Orientation::CounterClockwise => 1.0,
        Orientation::Clockwise => -1.0,
        Orientation::Collinear => 0.0,
    }
}

/// The corners of the smallest convex polygon around places: against the clock, from the leftmost one; the first is not repeated.
pub(super) fn hull(mut places: Vec<Point>) -> Vec<Point> {
    places.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    places.dedup();
    if places.len() < 3 {
        return places;
    }
    let half = |places: &mut dyn Iterator<Item = Point>| {
        let mut chain: Vec<Point> = Vec::new();
        for place in places {
            while let [.., a, b] = chain[..]
                && side(a, b, place) <= 0.0
            {
                chain.pop();
            }
            chain.push(place);
        }
        chain.pop();
        chain
    };
    let mut lower = half(&mut places.iter().copied());
    lower.extend(half(&mut places.iter().rev().copied()));
    lower
}

/// The centre of gravity; of a collection, that of its members of the highest dimension. `None`: it has none.
pub(super) fn centroid(shape: &Shape) -> Option<Point> {
    let centre = guarded(|| to_geo(shape).centroid()).flatten()?;
    Some(Point::new(centre.x(), centre.y()))
}

/// A line without the corners that are closer than `distance` to the way that remains (Douglas and Peucker).
pub(super) fn simplified(line: &[Point], distance: f64) -> Result<Vec<Point>, Stopped> {
    let mut keeps = vec![false; line.len()];
    let mut open = vec![(0, line.len() - 1)];
    (keeps[0], keeps[line.len() - 1]) = (true, true);
    while let Some((start, end)) = open.pop() {
        work::spend((end - start).saturating_mul(PAIR_UNITS))?;
        let way = [line[start], line[end]];
        let farthest = (start + 1..end).map(|at| (to_line(line[at], way), at)).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((far, at)) = farthest.filter(|(far, _)| *far > distance) {
            debug_assert!(far > distance);
            keeps[at] = true;
            open.push((start, at));
            open.push((at, end));
        }
    }
    Ok(line.iter().zip(keeps).filter(|(_, keep)| *keep).map(|(point, _)| *point).collect())
}

/// Do two lines have more in common than ends that follow each other?
fn lines_meet(a: [Point; 2], b: [Point; 2]) -> bool {
    let (a, b) = (geo::Line::new(coord(&a[0]), coord(&a[1])), geo::Line::new(coord(&b[0]), coord(&b[1])));
    geo::Intersects::intersects(&a, &b)
}

/// Is a geometry simple: does it neither cross nor touch itself but where lines end?
///
/// # Errors
/// It is to end.
pub(super) fn is_simple(shape: &Shape) -> Result<bool, Stopped> {
    match shape {
        Shape::Point(_) | Shape::Polygon(_) | Shape::MultiPolygon(_) => Ok(true),
        Shape::MultiPoint(points) => {
            let mut sorted = points.clone();
            sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
            Ok(sorted.windows(2).all(|pair| pair[0] != pair[1]))
        }
        Shape::LineString(line) => is_simple_line(line),
        Shape::MultiLineString(lines) => {
            for (at, line) in lines.iter().enumerate() {
                if !is_simple_line(line)? || !meet_at_ends(line, &lines[at + 1..])? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Shape::Collection(members) => {
            for member in members {
                if !is_simple(member)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

fn is_simple_line(line: &[Point]) -> Result<bool, Stopped> {
    let steps: Vec<[Point; 2]> = line.windows(2).map(|pair| [pair[0], pair[1]]).collect();
    if steps.iter().any(|step| step[0] == step[1]) {
        return Ok(false);
    }
    let is_closed = line.first() == line.last();
    for (i, step) in steps.iter().enumerate() {
        work::spend((steps.len() - i).saturating_mul(PAIR_UNITS))?;
        for (j, other) in steps.iter().enumerate().skip(i + 1) {
            let is_next = j == i + 1;
            let is_round = is_closed && i == 0 && j + 1 == steps.len();
            let touches_itself = match (is_next, is_round) {
                (false, false) => lines_meet(*step, *other),
                // Back on the same way.
                (true, _) => side(step[0], step[1], other[1]) == 0.0 && is_back(step[1], step[0], other[1]),
                (false, true) => side(other[0], other[1], step[1]) == 0.0 && is_back(step[0], step[1], other[0]),
            };
            if touches_itself {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Are two places on one side of a third one?
fn is_back(middle: Point, a: Point, b: Point) -> bool {
    (a.x - middle.x) * (b.x - middle.x) + (a.y - middle.y) * (b.y - middle.y) > 0.0
}

/// Does the line meet the others only where both end?
fn meet_at_ends(line: &[Point], others: &[Vec<Point>]) -> Result<bool, Stopped> {
    for other in others {
        for step in line.windows(2) {
            work::spend(other.len().saturating_mul(PAIR_UNITS))?;
            for against in other.windows(2) {
                if !lines_meet([step[0], step[1]], [against[0], against[1]]) {
                    continue;
                }
                let is_end = |line: &[Point], place: &Point| line.first() == Some(place) || line.last() == Some(place);
                let common = step.iter().find(|end| against.contains(end));
                let is_fine = common.is_some_and(|place| {
                    let far = |pair: &[Point]| if pair[0] == *place { pair[1] } else { pair[0] };
                    let is_along = side(*place, far(step), far(against)) == 0.0 && is_back(*place, far(step), far(against));
                    is_end(line, place) && is_end(other, place) && !is_along
                });
                if !is_fine {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}
