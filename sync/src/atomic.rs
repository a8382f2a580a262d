//! Atomics: the standard library's; those of the model checker under `--cfg loom`. Under the simulator each access is a point where another
//! thread may get its turn.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
#[cfg(not(any(loom, sim)))]
pub use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(sim)]
pub use simulated::*;

#[cfg(sim)]
mod simulated {
    use os::sim::point;
    pub use std::sync::atomic::{Ordering, fence};

    /// The operations that every kind has.
    macro_rules! atomic {
        ($name:ident, $value:ty) => {
            #[derive(Debug, Default)]
            #[repr(transparent)]
            pub struct $name(std::sync::atomic::$name);

            impl $name {
                pub const fn new(value: $value) -> Self {
                    Self(std::sync::atomic::$name::new(value))
                }

                #[inline]
                pub fn load(&self, order: Ordering) -> $value {
                    point();
                    self.0.load(order)
                }

                #[inline]
                pub fn store(&self, value: $value, order: Ordering) {
                    point();
                    self.0.store(value, order);
                }

                #[inline]
                pub fn swap(&self, value: $value, order: Ordering) -> $value {
                    point();
                    self.0.swap(value, order)
                }

                #[inline]
                pub fn compare_exchange(
                    &self,
                    from: $value,
                    to: $value,
                    well: Ordering,
                    ill: Ordering,
                ) -> Result<$value, $value> {
                    point();
                    self.0.compare_exchange(from, to, well, ill)
                }

                #[inline]
                pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                    point();
                    self.0.fetch_or(value, order)
                }

                #[inline]
                pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                    point();
                    self.0.fetch_and(value, order)
                }
            }
        };
    }

    /// And those of numbers.
    macro_rules! number {
        ($name:ident, $value:ty) => {
            atomic!($name, $value);

            impl $name {
                #[inline]
                pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                    point();
                    self.0.fetch_add(value, order)
                }

                #[inline]
                pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                    point();
                    self.0.fetch_sub(value, order)
                }

                #[inline]
                pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                    point();
                    self.0.fetch_max(value, order)
                }

                #[inline]
                pub fn fetch_update(
                    &self,
                    well: Ordering,
                    ill: Ordering,
                    change: impl FnMut($value) -> Option<$value>,
                ) -> Result<$value, $value> {
                    point();
                    self.0.fetch_update(well, ill, change)
                }
            }
        };
    }

    atomic!(AtomicBool, bool);
    number!(AtomicI64, i64);
    number!(AtomicU8, u8);
    number!(AtomicU32, u32);
    number!(AtomicU64, u64);
    number!(AtomicUsize, usize);
}
