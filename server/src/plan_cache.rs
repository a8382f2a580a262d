//! (follows)
#[derive(Default)]
pub struct PlanCache;
