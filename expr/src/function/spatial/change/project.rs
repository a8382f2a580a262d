//! From longitude and latitude to the metres of projected systems, and back.
//!
//! All systems of the list stand on ellipsoids whose difference is less than a millimetre, so a change between them changes no coordinate.

use std::f64::consts::FRAC_PI_2;
use types::geometry::Point;
use types::geometry::srs::{Ellipsoid, Projection, Srs, SrsKind};

/// UTM: the scale on the central meridian, and what is added to coordinates.
const UTM_SCALE: f64 = 0.9996;
const UTM_EASTING: f64 = 500_000.0;
const UTM_NORTHING_SOUTH: f64 = 10_000_000.0;

/// Longitude and latitude in degrees as coordinates of a system.
pub(super) fn project(system: &Srs, place: Point) -> Point {
    match system.kind {
        SrsKind::Cartesian | SrsKind::Geographic => place,
        SrsKind::Projected(Projection::WebMercator) => {
            let radius = system.ellipsoid.semi_major;
            let y = -(0.5 * (FRAC_PI_2 - place.y.to_radians())).tan().ln();
            Point::new(radius * place.x.to_radians(), radius * y)
        }
        SrsKind::Projected(Projection::TransverseMercator { central_meridian, is_south }) => {
            let series = Series::of(&system.ellipsoid);
            let plain = series.project((place.x - central_meridian).to_radians(), place.y.to_radians());
            let north = if is_south { UTM_NORTHING_SOUTH } else { 0.0 };
            Point::new(UTM_EASTING + UTM_SCALE * plain.x, north + UTM_SCALE * plain.y)
        }
    }
}

/// Coordinates of a system as longitude and latitude in degrees.
pub(super) fn unproject(system: &Srs, place: Point) -> Point {
    match system.kind {
        SrsKind::Cartesian | SrsKind::Geographic => place,
        SrsKind::Projected(Projection::WebMercator) => {
            let radius = system.ellipsoid.semi_major;
            let latitude = FRAC_PI_2 - 2.0 * (-place.y / radius).exp().atan();
            Point::new((place.x / radius).to_degrees(), latitude.to_degrees())
        }
        SrsKind::Projected(Projection::TransverseMercator { central_meridian, is_south }) => {
            let series = Series::of(&system.ellipsoid);
            let north = if is_south { UTM_NORTHING_SOUTH } else { 0.0 };
            let (longitude, latitude) = series.unproject((place.x - UTM_EASTING) / UTM_SCALE, (place.y - north) / UTM_SCALE);
            Point::new(longitude.to_degrees() + central_meridian, latitude.to_degrees())
        }
    }
}

/// The series of Krüger (1912) for the transverse Mercator projection, in the third flattening `n` up to its fourth power: below a millimetre within a
/// zone.
struct Series {
    radius: f64,
    eccentricity: f64,
    forward: [f64; 4],
    backward: [f64; 4],
}

impl Series {
    fn of(ellipsoid: &Ellipsoid) -> Self {
        let flattening = 1.0 / ellipsoid.inverse_flattening;
        let n = flattening / (2.0 - flattening);
        let (n2, n3, n4) = (n.powi(2), n.powi(3), n.powi(4));
        let forward = [
            n / 2.0 - 2.0 / 3.0 * n2 + 5.0 / 16.0 * n3 + 41.0 / 180.0 * n4,
            13.0 / 48.0 * n2 - 3.0 / 5.0 * n3 + 557.0 / 1440.0 * n4,
            61.0 / 240.0 * n3 - 103.0 / 140.0 * n4,
            49_561.0 / 161_280.0 * n4,
        ];
        let backward = [
            n / 2.0 - 2.0 / 3.0 * n2 + 37.0 / 96.0 * n3 - n4 / 360.0,
            n2 / 48.0 + n3 / 15.0 - 437.0 / 1440.0 * n4,
            17.0 / 480.0 * n3 - 37.0 / 840.0 * n4,
            4397.0 / 161_280.0 * n4,
        ];
        Self {
            radius: ellipsoid.semi_major / (1.0 + n) * (1.0 + n2 / 4.0 + n4 / 64.0),
            eccentricity: (flattening * (2.0 - flattening)).sqrt(),
            forward,
            backward,
        }
    }

    /// The tangent of the conformal latitude.
    fn conformal(&self, tangent: f64) -> f64 {
        let sine = tangent / tangent.hypot(1.0);
        let sigma = (self.eccentricity * (self.eccentricity * sine).atanh()).sinh();
        tangent * sigma.hypot(1.0) - sigma * tangent.hypot(1.0)
    }

    fn project(&self, longitude: f64, latitude: f64) -> Point {
        let tangent = self.conformal(latitude.tan());
        let xi = tangent.atan2(longitude.cos());
        let eta = (longitude.sin() / tangent.hypot(longitude.cos())).asinh();
        let (mut x, mut y) = (eta, xi);
        for (at, factor) in self.forward.iter().enumerate() {
            let k = 2.0 * (at + 1) as f64;
            x += factor * (k * xi).cos() * (k * eta).sinh();
            y += factor * (k * xi).sin() * (k * eta).cosh();
        }
        Point::new(self.radius * x, self.radius * y)
    }

    fn unproject(&self, x: f64, y: f64) -> (f64, f64) {
        let (eta, xi) = (x / self.radius, y / self.radius);
        let (mut eta0, mut xi0) = (eta, xi);
        for (at, factor) in self.backward.iter().enumerate() {
            let k = 2.0 * (at + 1) as f64;
            eta0 -= factor * (k * xi).cos() * (k * eta).sinh();
            xi0 -= factor * (k * xi).sin() * (k * eta).cosh();
        }
        let longitude = eta0.sinh().atan2(xi0.cos());
        let wanted = xi0.sin() / eta0.sinh().hypot(xi0.cos());
        // Newton's steps from the conformal to the geographic latitude: two suffice.
        let mut tangent = wanted;
        for _ in 0..5 {
            let own = self.conformal(tangent);
            let square = 1.0 - self.eccentricity.powi(2);
            tangent += (wanted - own) / own.hypot(1.0) * (1.0 + square * tangent.powi(2)) / (square * tangent.hypot(1.0));
        }
        (longitude, tangent.atan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::geometry::srs;

    /// The coordinates that MySQL answers, to a tenth of a millimetre, and back.
    fn check(srid: u32, longitude: f64, latitude: f64, x: f64, y: f64) {
        let system = srs::find(srid).unwrap();
        let place = project(&system, Point::new(longitude, latitude));
        assert!((place.x - x).abs() < 1e-4 && (place.y - y).abs() < 1e-4, "{place:?}");
        let back = unproject(&system, place);
        assert!((back.x - longitude).abs() < 1e-9 && (back.y - latitude).abs() < 1e-9, "{back:?}");
    }

    #[test]
    fn projections_are_those_of_mysql() {
        check(3857, 2.35, 48.85, 261_600.803_364, 6_249_447.752_791);
        check(32631, 2.35, 48.85, 452_314.891_234, 5_410_984.887_604);
        check(25831, 2.35, 48.85, 452_314.891_233, 5_410_984.887_482);
    }

    #[test]
    fn southern_zones_count_from_the_pole() {
        let system = srs::find(32756).unwrap();
        let place = project(&system, Point::new(151.0, -33.0));
        assert!(place.y > 6_000_000.0 && place.y < 7_000_000.0);
        let back = unproject(&system, place);
        assert!((back.x - 151.0).abs() < 1e-9 && (back.y + 33.0).abs() < 1e-9);
    }
}
