//! Geometries as bytes and texts, with MySQL's answers.

use super::*;

fn round_trip(text: &str) -> String {
    let Some(shape) = Shape::from_wkt(text.as_bytes()) else { return "invalid".to_owned() };
    let wkb = shape.to_wkb();
    assert_eq!(Shape::from_wkb(&wkb).as_ref(), Some(&shape));
    let stored = Geometry::new(4326, shape.clone()).to_stored();
    assert!(is_well_formed(&stored));
    assert_eq!((kind_of(&stored), srid_of(&stored), envelope_of(&stored)), (Some(shape.kind()), Some(4326), shape.envelope()));
    assert_eq!(Geometry::from_stored(&stored), Some(Geometry::new(4326, shape.clone())));
    // No prefix is a geometry.
    assert!((0..stored.len()).all(|end| Geometry::from_stored(&stored[..end]).is_none()));
    String::from_utf8(shape.to_wkt()).unwrap()
}

#[test]
fn texts_are_read_and_written_as_by_mysql() {
    for (text, wanted) in [
        ("POINT(0.1 1e20)", "POINT(0.1 1e20)"),
        (" point ( -0 1. ) ", "POINT(-0 1)"),
        ("POINT(+1 .5)", "POINT(1 0.5)"),
        ("LINESTRING(0 0, 1 1 )", "LINESTRING(0 0,1 1)"),
        ("POLYGON((0 0,1 1,1 0,0 0))", "POLYGON((0 0,1 1,1 0,0 0))"),
        ("MULTIPOINT(1 1,2 2)", "MULTIPOINT((1 1),(2 2))"),
        ("MULTIPOINT((1 1),(2 2))", "MULTIPOINT((1 1),(2 2))"),
        ("MULTILINESTRING((0 0,1 1),(2 2,3 3))", "MULTILINESTRING((0 0,1 1),(2 2,3 3))"),
        ("MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))", "MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))"),
        ("GEOMETRYCOLLECTION()", "GEOMETRYCOLLECTION EMPTY"),
        ("GEOMETRYCOLLECTION EMPTY", "GEOMETRYCOLLECTION EMPTY"),
        (
            "GEOMETRYCOLLECTION(POINT(1 1),GEOMETRYCOLLECTION(LINESTRING(0 0,1 1)))",
            "GEOMETRYCOLLECTION(POINT(1 1),GEOMETRYCOLLECTION(LINESTRING(0 0,1 1)))",
        ),
    ] {
        assert_eq!(round_trip(text), wanted, "{text}");
    }
}

#[test]
fn what_is_no_geometry_is_refused() {
    for text in [
        "",
        "foo",
        "POINT",
        "POINT()",
        "POINT EMPTY",
        "POINT(1,1)",
        "POINT(1 1 1)",
        "POINT(1 1)x",
        "POINT(- 5)",
        "POINT(nan 5)",
        "POINT(1e400 5)",
        "LINESTRING(0 0)",
        "POLYGON((0 0,1 1,1 0))",
        "POLYGON((0 0,1 1,0 0))",
        "MULTIPOINT((1 1),2 2)",
        "MULTIPOINT()",
        "GEOMCOLLECTION(POINT(1 1))",
        "GEOMETRYCOLLECTION(EMPTY)",
        "GEOMETRY(1 1)",
    ] {
        assert_eq!(round_trip(text), "invalid", "{text}");
    }
    let deep = |levels: usize| format!("{}POINT(1 1){}", "GEOMETRYCOLLECTION(".repeat(levels), ")".repeat(levels));
    assert_ne!(round_trip(&deep(DEPTH_MAX)), "invalid");
    assert_eq!(round_trip(&deep(DEPTH_MAX + 1)), "invalid");
    assert_eq!(round_trip(&deep(100_000)), "invalid");
}

#[test]
fn counts_that_are_too_large_are_refused() {
    let mut bytes = Geometry::new(0, Shape::LineString(vec![Point::new(0.0, 0.0); 2])).to_stored();
    bytes[9..13].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(Geometry::from_stored(&bytes), None);
    let mut bytes = Geometry::new(0, Shape::EMPTY).to_stored();
    bytes[9..13].copy_from_slice(&1_000_000u32.to_le_bytes());
    assert_eq!(Geometry::from_stored(&bytes), None);
}

#[test]
fn wkb_of_either_byte_order_is_read() {
    let mut big = vec![0, 0, 0, 0, 1];
    big.extend_from_slice(&1f64.to_be_bytes());
    big.extend_from_slice(&2f64.to_be_bytes());
    assert_eq!(Shape::from_wkb(&big), Some(Shape::Point(Point::new(1.0, 2.0))));
    // What is stored is little endian.
    assert_eq!(Geometry::from_stored(&[&[0; 4][..], &big].concat()), None);
}

#[test]
fn geohashes_are_those_of_mysql() {
    for (longitude, latitude, length, wanted) in [
        (180.0, 0.0, 10, "xbpbpbpbpb"),
        (-180.0, -90.0, 15, "000000000000000"),
        (1.0, 2.0, 10, "s02equ04ve"),
        (-0.3, 51.4, 20, "gcpu3jjd9qrz14mt37zc"),
        (0.0, 0.0, 1, "s"),
    ] {
        assert_eq!(geohash::encode(longitude, latitude, length), wanted);
    }
    for (text, wanted) in [
        ("gcpt", Some((-0.5, 51.6))),
        ("gcptezh0gfcx98fqn6w9", Some((-0.532_673_903_789_5, 51.630_393_783_829_6))),
        ("s0000000001z7wsg7zzm", Some((0.000_002_5, 0.000_001_25))),
        ("a", None),
        ("", None),
    ] {
        assert_eq!(geohash::decode(text.as_bytes()), wanted, "{text}");
    }
}

#[test]
fn documents_are_read_and_written() {
    let rules = ReadRules { drop_more_dimensions: false, srid: None };
    let read = |text: &str| read_geojson(&crate::json::Json::parse(text.as_bytes()).unwrap(), rules);
    let geometry = read(r#"{"type":"MultiPoint","coordinates":[[0,0],[0.25,1]]}"#).unwrap().unwrap();
    assert_eq!((geometry.srid, geometry.shape.to_wkt()), (4326, b"MULTIPOINT((0 0),(0.25 1))".to_vec()));
    let options = GeoJsonOptions { bounding_box: true, short_crs: true, long_crs: false };
    let text = String::from_utf8(to_geojson(&geometry, Some(1), options).to_text()).unwrap();
    assert_eq!(
        text,
        r#"{"crs": {"type": "name", "properties": {"name": "EPSG:4326"}}, "bbox": [0.0, 0.0, 0.2, 1.0], "type": "MultiPoint", "coordinates": [[0.0, 0.0], [0.2, 1.0]]}"#
    );
    assert_eq!(read(r#"{"type":"Point"}"#), Err(GeoJsonError::MissingMember("coordinates")));
    assert_eq!(read(r#"{"type":"Point","coordinates":[1,2,3]}"#), Err(GeoJsonError::Dimensions(3)));
    assert_eq!(read(r#"{"type":"Feature","geometry":null,"properties":null}"#), Ok(None));
}
