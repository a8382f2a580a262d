//! (stub)
pub struct Database(());
pub struct Table(());
