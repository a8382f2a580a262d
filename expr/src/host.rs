//! What evaluation needs of the server around it.

/// The locks of GET_LOCK and its kin. Taking one may wait, which is not for evaluation: see [`crate::Pause::GetLock`].
pub trait Host {
    /// RELEASE_LOCK: `Some(true)` when released, `Some(false)` when another connection holds it, `None` when it is free.
    fn release_lock(&self, connection_id: u32, name: &str) -> Option<bool>;

    /// RELEASE_ALL_LOCKS: how many.
    fn release_all_locks(&self, connection_id: u32) -> u64;

    /// IS_USED_LOCK: the holder.
    fn lock_holder(&self, name: &str) -> Option<u32>;
}
