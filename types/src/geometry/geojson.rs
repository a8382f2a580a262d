//! GeoJSON: geometries as JSON documents (RFC 7946, and the `crs` of the specification before it).

use super::{DEPTH_MAX, Envelope, Geometry, Point, Rings, Shape};
use crate::json::Json;
use crate::work;

/// What a document holds beside coordinates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub bounding_box: bool,
    /// `EPSG:4326`
    pub short_crs: bool,
    /// `urn:ogc:def:crs:EPSG::4326`; it wins.
    pub long_crs: bool,
}

/// Why a document is no geometry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeoJsonError {
    /// 3070
    MissingMember(&'static str),
    /// 3071
    WrongType { member: &'static str, wanted: &'static str },
    /// 3072
    Unspecified,
    /// 3073
    Dimensions(usize),
}

/// How documents are read.
#[derive(Clone, Copy, Debug)]
pub struct ReadRules {
    /// Coordinates beyond the second are dropped; else they are an error.
    pub drop_more_dimensions: bool,
    /// The argument of the call: it wins over `crs`.
    pub srid: Option<u32>,
}

/// The reference system of documents that name none.
const DEFAULT_SRID: u32 = 4326;

fn text(text: &str) -> Json {
    Json::String(text.to_owned())
}

/// A document of the geometry with so many digits after the point. Coordinates are x and y, of geographic systems longitude and latitude.
pub fn to_json(geometry: &Geometry, digits: Option<u32>, options: Options) -> Json {
    let mut document = shape_to_json(&geometry.shape, digits, options.bounding_box);
    let authority = if geometry.srid == 0 { "MySQL" } else { "EPSG" };
    let name = match options {
        Options { long_crs: true, .. } => format!("urn:ogc:def:crs:{authority}::{}", geometry.srid),
        Options { short_crs: true, .. } => format!("{authority}:{}", geometry.srid),
        _ => return document,
    };
    let properties = Json::object(vec![("name".to_owned(), Json::String(name))]);
    document.set_member("crs", Json::object(vec![("type".to_owned(), text("name")), ("properties".to_owned(), properties)]));
    document
}

/// The document of a stored geometry, where a document is made of it: GeoJSON that names its system.
pub fn as_document(stored: &[u8]) -> Json {
    let options = Options { long_crs: true, ..Options::default() };
    Geometry::from_stored(stored).map_or(Json::Null, |geometry| to_json(&geometry, None, options))
}

/// Rounded as MySQL rounds doubles: halves to the even digit.
fn rounded(number: f64, digits: Option<u32>) -> f64 {
    let Some(power) = digits.and_then(|digits| i32::try_from(digits).ok()).map(|digits| 10f64.powi(digits)) else {
        return number;
    };
    let scaled = number * power;
    if !scaled.is_finite() || !power.is_finite() { number } else { scaled.round_ties_even() / power }
}

fn position(point: Point, digits: Option<u32>) -> Json {
    Json::Array(vec![Json::Double(rounded(point.x, digits)), Json::Double(rounded(point.y, digits))])
}

fn positions(points: &[Point], digits: Option<u32>) -> Json {
    work::pass(points.len() * size_of::<Json>());
    Json::Array(points.iter().map(|point| position(*point, digits)).collect())
}

fn lines(lines: &[Vec<Point>], digits: Option<u32>) -> Json {
    Json::Array(lines.iter().map(|line| positions(line, digits)).collect())
}

fn shape_to_json(shape: &Shape, digits: Option<u32>, bounding_box: bool) -> Json {
    let (name, member, value) = match shape {
        Shape::Point(point) => ("Point", "coordinates", position(*point, digits)),
        Shape::LineString(points) => ("LineString", "coordinates", positions(points, digits)),
        Shape::Polygon(rings) => ("Polygon", "coordinates", lines(rings, digits)),
        Shape::MultiPoint(points) => ("MultiPoint", "coordinates", positions(points, digits)),
        Shape::MultiLineString(several) => ("MultiLineString", "coordinates", lines(several, digits)),
        Shape::MultiPolygon(polygons) => {
            let polygons = polygons.iter().map(|rings| lines(rings, digits)).collect();
            ("MultiPolygon", "coordinates", Json::Array(polygons))
        }
        Shape::Collection(members) => {
            let members = members.iter().map(|member| shape_to_json(member, digits, bounding_box)).collect();
            ("GeometryCollection", "geometries", Json::Array(members))
        }
    };
    let mut document = vec![("type".to_owned(), text(name)), (member.to_owned(), value)];
    if bounding_box && let Some(Envelope { min, max }) = shape.envelope() {
        let sides = [min.x, min.y, max.x, max.y].map(|side| Json::Double(rounded(side, digits)));
        document.push(("bbox".to_owned(), Json::Array(sides.to_vec())));
    }
    Json::object(document)
}

/// Reads a document; `None`: it is a Feature without a geometry.
///
/// # Errors
/// It is no GeoJSON.
pub fn read(document: &Json, rules: ReadRules) -> Result<Option<Geometry>, GeoJsonError> {
    let mut reader = Reader { rules, srid: None };
    let Some(shape) = reader.object(document, 0)? else { return Ok(None) };
    Ok(Some(Geometry::new(rules.srid.or(reader.srid).unwrap_or(DEFAULT_SRID), shape)))
}

struct Reader {
    rules: ReadRules,
    srid: Option<u32>,
}

fn array<'j>(value: &'j Json, member: &'static str) -> Result<&'j [Json], GeoJsonError> {
    match value {
        Json::Array(items) => Ok(items),
        _ => Err(GeoJsonError::WrongType { member, wanted: "array" }),
    }
}

fn required<'j>(document: &'j Json, name: &'static str) -> Result<&'j Json, GeoJsonError> {
    document.member(name).ok_or(GeoJsonError::MissingMember(name))
}

impl Reader {
    fn object(&mut self, document: &Json, depth: usize) -> Result<Option<Shape>, GeoJsonError> {
        // G2
        if depth > DEPTH_MAX {
            return Err(GeoJsonError::Unspecified);
        }
        if !matches!(document, Json::Object(_)) {
            return Err(GeoJsonError::Unspecified);
        }
        self.crs(document)?;
        let kind = match required(document, "type")? {
            Json::String(kind) => kind,
            _ => return Err(GeoJsonError::WrongType { member: "type", wanted: "string" }),
        };
        match kind.as_str() {
            "Feature" => {
                let geometry = required(document, "geometry")?;
                let properties = required(document, "properties")?;
                if !matches!(properties, Json::Object(_) | Json::Null) {
                    return Err(GeoJsonError::WrongType { member: "properties", wanted: "object" });
                }
                match geometry {
                    Json::Null => Ok(None),
                    Json::Object(_) => self.object(geometry, depth + 1),
                    _ => Err(GeoJsonError::WrongType { member: "geometry", wanted: "object" }),
                }
            }
            "FeatureCollection" => {
                let features = array(required(document, "features")?, "features")?;
                let mut members = Vec::with_capacity(features.len());
                for feature in features {
                    members.extend(self.object(feature, depth + 1)?);
                }
                Ok((!members.is_empty()).then_some(Shape::Collection(members)))
            }
            "GeometryCollection" => {
                let geometries = array(required(document, "geometries")?, "geometries")?;
                let mut members = Vec::with_capacity(geometries.len());
                for geometry in geometries {
                    members.extend(self.object(geometry, depth + 1)?);
                }
                Ok(Some(Shape::Collection(members)))
            }
            kind => self.geometry(kind, document).map(Some),
        }
    }

    fn geometry(&self, kind: &str, document: &Json) -> Result<Shape, GeoJsonError> {
        let known = ["Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon"];
        if !known.contains(&kind) {
            return Err(GeoJsonError::Unspecified);
        }
        let coordinates = required(document, "coordinates")?;
        array(coordinates, "coordinates")?;
        Ok(match kind {
            "Point" => Shape::Point(self.position(coordinates)?),
            "LineString" => Shape::LineString(self.line(coordinates)?),
            "Polygon" => Shape::Polygon(self.rings(coordinates)?),
            "MultiPoint" => Shape::MultiPoint(several(coordinates, |item| self.position(item))?),
            "MultiLineString" => Shape::MultiLineString(several(coordinates, |item| self.line(item))?),
            _ => Shape::MultiPolygon(several(coordinates, |item| self.rings(item))?),
        })
    }

    fn position(&self, value: &Json) -> Result<Point, GeoJsonError> {
        let numbers = array(value, "coordinates")?;
        if numbers.len() < 2 {
            return Err(GeoJsonError::Unspecified);
        }
        if numbers.len() > 2 && !self.rules.drop_more_dimensions {
            return Err(GeoJsonError::Dimensions(numbers.len()));
        }
        let number = |value: &Json| match value {
            Json::Int(number) => Ok(*number as f64),
            Json::UInt(number) => Ok(*number as f64),
            Json::Double(number) => Ok(*number),
            Json::Decimal(number) => Ok(number.to_f64()),
            _ => Err(GeoJsonError::WrongType { member: "array coordinate", wanted: "number" }),
        };
        Ok(Point::new(number(&numbers[0])?, number(&numbers[1])?))
    }

    fn line(&self, value: &Json) -> Result<Vec<Point>, GeoJsonError> {
        let points = several(value, |item| self.position(item))?;
        if points.len() < 2 { Err(GeoJsonError::Unspecified) } else { Ok(points) }
    }

    fn rings(&self, value: &Json) -> Result<Rings, GeoJsonError> {
        several(value, |item| {
            let ring = several(item, |item| self.position(item))?;
            if ring.len() < 4 || ring.first() != ring.last() { Err(GeoJsonError::Unspecified) } else { Ok(ring) }
        })
    }

    /// The SRID that `crs` names.
    fn crs(&mut self, document: &Json) -> Result<(), GeoJsonError> {
        let crs = match document.member("crs") {
            None | Some(Json::Null) => return Ok(()),
            Some(crs @ Json::Object(_)) => crs,
            Some(_) => return Err(GeoJsonError::WrongType { member: "crs", wanted: "object" }),
        };
        let kind = required(crs, "type")?;
        let properties = required(crs, "properties")?;
        if *kind != text("name") {
            return Err(GeoJsonError::Unspecified);
        }
        let Json::String(name) = required(properties, "name")? else {
            return Err(GeoJsonError::WrongType { member: "name", wanted: "string" });
        };
        let srid = if name.eq_ignore_ascii_case("urn:ogc:def:crs:OGC:1.3:CRS84") {
            DEFAULT_SRID
        } else {
            let prefixes = ["EPSG:", "urn:ogc:def:crs:EPSG::", "MySQL:", "urn:ogc:def:crs:MySQL::"];
            let number = prefixes.iter().find_map(|prefix| {
                let head = name.get(..prefix.len())?;
                if head.eq_ignore_ascii_case(prefix) { name.get(prefix.len()..) } else { None }
            });
            number.and_then(|number| number.parse().ok()).ok_or(GeoJsonError::Unspecified)?
        };
        if self.srid.is_some_and(|known| known != srid) {
            return Err(GeoJsonError::Unspecified);
        }
        self.srid = Some(srid);
        Ok(())
    }
}

/// An array with at least one item.
fn several<T>(value: &Json, read: impl Fn(&Json) -> Result<T, GeoJsonError>) -> Result<Vec<T>, GeoJsonError> {
    let items = array(value, "coordinates")?;
    work::pass(items.len() * size_of::<T>());
    if items.is_empty() {
        return Err(GeoJsonError::Unspecified);
    }
    items.iter().map(read).collect()
}
