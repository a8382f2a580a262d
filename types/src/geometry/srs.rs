//! Spatial reference systems: what the numbers of a geometry mean.
//!
//! Number, name, kind and unit of each are facts that a running MySQL 9.7 tells (`information_schema.ST_SPATIAL_REFERENCE_SYSTEMS`). Its texts of
//! definition are those of the EPSG dataset, whose terms are not those of this software: they are not here. Of its 5,152 systems those are here
//! that web maps, navigation and the national grids of UTM use.

/// Numbers without a meaning, on a plane without a unit.
pub const CARTESIAN: u32 = 0;
/// WGS 84: latitude and longitude as GPS tells them.
pub const WGS84: u32 = 4326;
/// WGS 84 / Pseudo-Mercator: the metres of web maps.
pub const WEB_MERCATOR: u32 = 3857;

/// The ellipsoid of a geographic system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    pub name: &'static str,
    /// In metres.
    pub semi_major: f64,
    pub inverse_flattening: f64,
}

impl Ellipsoid {
    const WGS84: Self = Self { name: "WGS 84", semi_major: 6_378_137.0, inverse_flattening: 298.257_223_563 };
    const GRS80: Self = Self { name: "GRS 1980", semi_major: 6_378_137.0, inverse_flattening: 298.257_222_101 };

    pub fn semi_minor(&self) -> f64 {
        self.semi_major * (1.0 - 1.0 / self.inverse_flattening)
    }

    /// The radius of the sphere that ST_Distance_Sphere takes.
    pub fn mean_radius(&self) -> f64 {
        (self.semi_major * 2.0 + self.semi_minor()) / 3.0
    }
}

/// How a projected system comes from longitude and latitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    WebMercator,
    /// Of a zone of six degrees.
    TransverseMercator {
        central_meridian: f64,
        is_south: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SrsKind {
    Cartesian,
    /// Texts have the latitude first.
    Geographic,
    /// In metres.
    Projected(Projection),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Srs {
    pub srid: u32,
    pub name: String,
    pub kind: SrsKind,
    pub ellipsoid: Ellipsoid,
}

impl Srs {
    pub fn is_geographic(&self) -> bool {
        self.kind == SrsKind::Geographic
    }
}

fn utm(srid: u32, base: &str, zone: u32, ellipsoid: Ellipsoid, is_south: bool) -> Srs {
    let central_meridian = f64::from(zone) * 6.0 - 183.0;
    let side = if is_south { 'S' } else { 'N' };
    let kind = SrsKind::Projected(Projection::TransverseMercator { central_meridian, is_south });
    Srs { srid, name: format!("{base} / UTM zone {zone}{side}"), kind, ellipsoid }
}

/// The reference system of a number; `None`: there is none.
pub fn find(srid: u32) -> Option<Srs> {
    let geographic = |name: &str, ellipsoid| Srs { srid, name: name.to_owned(), kind: SrsKind::Geographic, ellipsoid };
    Some(match srid {
        CARTESIAN => Srs { srid, name: String::new(), kind: SrsKind::Cartesian, ellipsoid: Ellipsoid::WGS84 },
        WGS84 => geographic("WGS 84", Ellipsoid::WGS84),
        4258 => geographic("ETRS89", Ellipsoid::GRS80),
        4269 => geographic("NAD83", Ellipsoid::GRS80),
        WEB_MERCATOR => Srs {
            srid,
            name: "WGS 84 / Pseudo-Mercator".to_owned(),
            kind: SrsKind::Projected(Projection::WebMercator),
            ellipsoid: Ellipsoid::WGS84,
        },
        25828..=25837 => utm(srid, "ETRS89", srid - 25800, Ellipsoid::GRS80, false),
        26901..=26923 => utm(srid, "NAD83", srid - 26900, Ellipsoid::GRS80, false),
        32601..=32660 => utm(srid, "WGS 84", srid - 32600, Ellipsoid::WGS84, false),
        32701..=32760 => utm(srid, "WGS 84", srid - 32700, Ellipsoid::WGS84, true),
        _ => return None,
    })
}

/// Every reference system, by number.
pub fn all() -> impl Iterator<Item = Srs> {
    let singles = [CARTESIAN, WEB_MERCATOR, 4258, 4269, WGS84].into_iter();
    singles.chain(25828..=25837).chain(26901..=26923).chain(32601..=32660).chain(32701..=32760).filter_map(find)
}

/// Does the geographic system exist, so that coordinates are degrees? An unknown one is as a plane.
pub fn is_geographic(srid: u32) -> bool {
    // The systems of most geometries need no search.
    srid != CARTESIAN && srid != WEB_MERCATOR && find(srid).is_some_and(|srs| srs.is_geographic())
}
