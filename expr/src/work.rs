//! Counters of a session's work on rows, as `SHOW STATUS` shows them: plain cells that operators add to.
//!
//! The names are MySQL's, and so is what they count ("Server Status Variables" of the manual), as far as the ways of reading are the same.

/// A struct of counters that one thread adds to: `Cell`s with the names that they have in `SHOW STATUS`. Of those whose names end in `_max` the
/// greatest counts.
#[macro_export]
macro_rules! counter_cells {
    ($(#[$about:meta])* $name:ident { $($field:ident => $shown:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Default)]
        pub struct $name {
            $(pub $field: std::cell::Cell<u64>,)*
        }

        impl $name {
            /// The values by name.
            pub fn each(&self, see: &mut dyn FnMut(&'static str, u64)) {
                $(see($shown, self.$field.get());)*
            }

            /// Adds what another one has.
            pub fn add(&self, other: &Self) {
                $({
                    let (own, more) = (self.$field.get(), other.$field.get());
                    self.$field.set(if $shown.ends_with("_max") { own.max(more) } else { own + more });
                })*
            }

            /// Begins anew.
            pub fn clear(&self) {
                $(self.$field.set(0);)*
            }
        }
    };
}

counter_cells! {
    /// Rows read and written, and how.
    Work {
        delete => "Handler_delete",
        read_first => "Handler_read_first",
        read_key => "Handler_read_key",
        read_last => "Handler_read_last",
        read_next => "Handler_read_next",
        read_prev => "Handler_read_prev",
        read_rnd => "Handler_read_rnd",
        read_rnd_next => "Handler_read_rnd_next",
        update => "Handler_update",
        write => "Handler_write",
        lock_wait_us => "Heddle_lock_wait_us",
        sort_range => "Sort_range",
        sort_rows => "Sort_rows",
        sort_scan => "Sort_scan",
    }
}

/// Adds one to a counter.
#[inline]
pub fn count(counter: &std::cell::Cell<u64>) {
    counter.set(counter.get() + 1);
}
