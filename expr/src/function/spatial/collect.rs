//! ST_Collect: the geometries of a group as one.

use crate::error::Error;
use conditions::Condition;
use types::geometry::{Geometry, GeometryKind, Shape, directed};

/// The geometries that were collected.
#[derive(Debug, Default)]
pub struct Collected {
    srid: u32,
    members: Vec<Shape>,
}

impl Collected {
    /// Adds the bytes of a geometry. Gives the growth in memory.
    ///
    /// # Errors
    /// 3037, 4034
    pub fn add(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let Some(geometry) = Geometry::from_stored(bytes) else {
            return Err(Condition::GisInvalidData { function: "st_collect".into() }.into());
        };
        if self.members.is_empty() {
            self.srid = geometry.srid;
        } else if self.srid != geometry.srid {
            let (first, second) = (self.srid.into(), geometry.srid.into());
            return Err(Condition::GisDifferentSridsAggregation { function: "st_collect".into(), first, second }.into());
        }
        // As in MySQL, outer rings go against the clock.
        self.members.push(match geometry.shape {
            Shape::Polygon(rings) => Shape::Polygon(directed(&rings)),
            Shape::MultiPolygon(polygons) => Shape::MultiPolygon(polygons.iter().map(directed).collect()),
            other => other,
        });
        // Points have 16 bytes in both forms; rings and members have some more in memory.
        Ok(2 * bytes.len() + size_of::<Shape>())
    }

    /// The bytes of what was collected; `None`: there was nothing.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        let first = self.members.first()?.kind();
        let members = std::mem::take(&mut self.members);
        use GeometryKind as K;
        let is_one_kind =
            matches!(first, K::Point | K::LineString | K::Polygon) && members.iter().all(|shape| shape.kind() == first);
        let shape =
            if is_one_kind { Shape::gathered(first, members).expect("they are of one kind") } else { Shape::Collection(members) };
        Some(Geometry::new(self.srid, shape).to_stored())
    }
}
