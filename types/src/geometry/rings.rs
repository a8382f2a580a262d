//! Rings: their areas and directions; several geometries as one.

use super::kind::GeometryKind;
use super::{Point, Rings, Shape};

/// The area within a ring: positive if it goes against the clock.
pub fn ring_area(ring: &[Point]) -> f64 {
    // Relative to the first corner, which keeps the digits of small rings far away.
    let Some(first) = ring.first() else { return 0.0 };
    let cross = |pair: &[Point]| (pair[0].x - first.x) * (pair[1].y - first.y) - (pair[1].x - first.x) * (pair[0].y - first.y);
    ring.windows(2).map(cross).sum::<f64>() / 2.0
}

/// The outer ring against the clock, the holes with it.
pub fn directed(rings: &Rings) -> Rings {
    let turned = |(at, ring): (usize, &Vec<Point>)| {
        let mut ring = ring.clone();
        if (ring_area(&ring) > 0.0) != (at == 0) {
            ring.reverse();
        }
        ring
    };
    rings.iter().enumerate().map(turned).collect()
}

impl Shape {
    /// Several points, lines or polygons as one geometry; `None`: one is of another kind.
    pub fn gathered(kind: GeometryKind, pieces: Vec<Shape>) -> Option<Shape> {
        match kind {
            GeometryKind::Point => {
                let point = |piece| if let Shape::Point(point) = piece { Some(point) } else { None };
                pieces.into_iter().map(point).collect::<Option<_>>().map(Shape::MultiPoint)
            }
            GeometryKind::LineString => {
                let line = |piece| if let Shape::LineString(line) = piece { Some(line) } else { None };
                pieces.into_iter().map(line).collect::<Option<_>>().map(Shape::MultiLineString)
            }
            GeometryKind::Polygon => {
                let rings = |piece| if let Shape::Polygon(rings) = piece { Some(rings) } else { None };
                pieces.into_iter().map(rings).collect::<Option<_>>().map(Shape::MultiPolygon)
            }
            _ => None,
        }
    }
}
