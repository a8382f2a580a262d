//! Well-known text.

use super::{DEPTH_MAX, GeometryKind, Point, Rings, Shape};
use crate::convert::write_f64;

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn accept(&mut self, symbol: u8) -> bool {
        self.skip_spaces();
        match self.rest.split_first() {
            Some((first, rest)) if *first == symbol => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn expect(&mut self, symbol: u8) -> Option<()> {
        self.accept(symbol).then_some(())
    }

    fn at(&mut self, symbol: u8) -> bool {
        self.skip_spaces();
        self.rest.first() == Some(&symbol)
    }

    fn word(&mut self) -> &'a [u8] {
        self.skip_spaces();
        let end = self.rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn number(&mut self) -> Option<f64> {
        self.skip_spaces();
        let sign = usize::from(matches!(self.rest.first(), Some(b'+' | b'-')));
        let digits = |from: usize| self.rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let whole = digits(sign);
        let mut end = sign + whole;
        let mut fraction = 0;
        if self.rest.get(end) == Some(&b'.') {
            fraction = digits(end + 1);
            end += 1 + fraction;
        }
        if whole + fraction == 0 {
            return None;
        }
        if matches!(self.rest.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.rest.get(end + 1), Some(b'+' | b'-')));
            let exponent = if end + 1 + sign <= self.rest.len() { digits(end + 1 + sign) } else { 0 };
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        // G1
        std::str::from_utf8(text).ok()?.parse::<f64>().ok().filter(|number| number.is_finite())
    }

    fn point(&mut self) -> Option<Point> {
        Some(Point { x: self.number()?, y: self.number()? })
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.expect(b'(')?;
        let mut items = vec![item(self)?];
        while self.accept(b',') {
            items.push(item(self)?);
        }
        self.expect(b')')?;
        Some(items)
    }

    fn line(&mut self) -> Option<Vec<Point>> {
        self.list(Self::point).filter(|points| points.len() >= 2)
    }

    fn ring(&mut self) -> Option<Vec<Point>> {
        self.list(Self::point).filter(|points| points.len() >= 4 && points.first() == points.last())
    }

    fn rings(&mut self) -> Option<Rings> {
        self.list(Self::ring)
    }

    fn bracketed_point(&mut self) -> Option<Point> {
        self.expect(b'(')?;
        let point = self.point()?;
        self.expect(b')')?;
        Some(point)
    }

    fn shape(&mut self, depth: usize) -> Option<Shape> {
        if depth > DEPTH_MAX {
            return None;
        }
        let word = self.word().to_ascii_uppercase();
        // As in MySQL, no text begins with the short name.
        Some(match GeometryKind::of_name(&word).filter(|_| word != b"GEOMCOLLECTION")? {
            GeometryKind::Geometry => return None,
            GeometryKind::Point => Shape::Point(self.bracketed_point()?),
            GeometryKind::LineString => Shape::LineString(self.line()?),
            GeometryKind::Polygon => Shape::Polygon(self.rings()?),
            GeometryKind::MultiPoint => {
                let mut ahead = Reader { rest: self.rest };
                let is_bracketed = ahead.accept(b'(') && ahead.at(b'(');
                Shape::MultiPoint(self.list(if is_bracketed { Self::bracketed_point } else { Self::point })?)
            }
            GeometryKind::MultiLineString => Shape::MultiLineString(self.list(Self::line)?),
            GeometryKind::MultiPolygon => Shape::MultiPolygon(self.list(Self::rings)?),
            GeometryKind::Collection => {
                let mut ahead = Reader { rest: self.rest };
                let is_empty = ahead.accept(b'(') && ahead.accept(b')') || {
                    ahead.rest = self.rest;
                    ahead.word().eq_ignore_ascii_case(b"EMPTY")
                };
                if is_empty {
                    self.rest = ahead.rest;
                    Shape::EMPTY
                } else {
                    Shape::Collection(self.list(|reader| reader.shape(depth + 1))?)
                }
            }
        })
    }
}

pub(super) fn read(text: &[u8]) -> Option<Shape> {
    let mut reader = Reader { rest: text };
    let shape = reader.shape(0)?;
    reader.skip_spaces();
    reader.rest.is_empty().then_some(shape)
}

fn put_point(point: Point, out: &mut Vec<u8>) {
    write_f64(point.x, out);
    out.push(b' ');
    write_f64(point.y, out);
}

fn put_list<T>(items: &[T], out: &mut Vec<u8>, mut put: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'(');
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        put(item, out);
    }
    out.push(b')');
}

fn put_points(points: &[Point], out: &mut Vec<u8>) {
    put_list(points, out, |point, out| put_point(*point, out));
}

fn put_lines(lines: &[Vec<Point>], out: &mut Vec<u8>) {
    put_list(lines, out, |line, out| put_points(line, out));
}

pub(super) fn write(shape: &Shape, out: &mut Vec<u8>) {
    let name = match shape {
        Shape::Collection(_) => "GEOMETRYCOLLECTION",
        shape => shape.kind().name(),
    };
    out.extend_from_slice(name.as_bytes());
    match shape {
        Shape::Point(point) => put_points(&[*point], out),
        Shape::LineString(points) => put_points(points, out),
        Shape::Polygon(lines) | Shape::MultiLineString(lines) => put_lines(lines, out),
        Shape::MultiPoint(points) => put_list(points, out, |point, out| put_points(&[*point], out)),
        Shape::MultiPolygon(polygons) => put_list(polygons, out, |rings, out| put_lines(rings, out)),
        Shape::Collection(members) if members.is_empty() => out.extend_from_slice(b" EMPTY"),
        Shape::Collection(members) => put_list(members, out, write),
    }
}
