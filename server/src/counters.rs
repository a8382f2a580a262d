//! The counters behind SHOW STATUS: plain cells of each worker, summed by whoever asks; of those whose names end in `_max` the greatest counts.

use std::cell::Cell;
use std::time::Duration;

macro_rules! counters {
    ($($field:ident => $name:literal,)*) => {
        /// What one worker has done since the start.
        #[derive(Debug, Default)]
        pub struct Counters {
            $(pub $field: Cell<u64>,)*
        }

        impl Counters {
            /// The values by their names in SHOW STATUS.
            pub fn snapshot(&self) -> Vec<(&'static str, u64)> {
                vec![$(($name, self.$field.get()),)*]
            }
        }
    };
}

counters! {
    aborted_clients => "Aborted_clients",
    aborted_connects => "Aborted_connects",
    bytes_received => "Bytes_received",
    bytes_sent => "Bytes_sent",
    alter_event => "Com_alter_event",
    begin => "Com_begin",
    call_procedure => "Com_call_procedure",
    change_db => "Com_change_db",
    commit => "Com_commit",
    create_db => "Com_create_db",
    create_event => "Com_create_event",
    create_index => "Com_create_index",
    create_table => "Com_create_table",
    delete => "Com_delete",
    load => "Com_load",
    drop_db => "Com_drop_db",
    drop_event => "Com_drop_event",
    drop_table => "Com_drop_table",
    insert => "Com_insert",
    replace => "Com_replace",
    rollback => "Com_rollback",
    savepoint => "Com_savepoint",
    select => "Com_select",
    set_option => "Com_set_option",
    show_create_event => "Com_show_create_event",
    show_events => "Com_show_events",
    stmt_close => "Com_stmt_close",
    stmt_execute => "Com_stmt_execute",
    stmt_prepare => "Com_stmt_prepare",
    update => "Com_update",
    metadata_waits => "Heddle_metadata_waits",
    metadata_wait_us_max => "Heddle_metadata_wait_us_max",
    plan_cache_hits => "Heddle_plan_cache_hits",
    plan_cache_misses => "Heddle_plan_cache_misses",
    queries => "Queries",
    questions => "Questions",
    slow_queries => "Slow_queries",
}

impl Counters {
    /// A statement has waited for the metadata of a table.
    #[cold]
    pub fn note_metadata_wait(&self, waited: Duration) {
        count(&self.metadata_waits);
        let longest = &self.metadata_wait_us_max;
        longest.set(longest.get().max(waited.as_micros() as u64));
    }
}

/// Adds one to a counter.
#[inline]
pub fn count(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}
