//! Variables that the hints of one statement set, and that are restored after it.

use super::state::State;
use crate::variables::{self, Setting, VariableId};
use sql::HintedVariable;
use sql::ast::VariableScope;

/// The variables that hints may set, as in MySQL; without `insert_id` and `timestamp`.
const HINTABLE: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "big_tables",
    "bulk_insert_buffer_size",
    "cte_max_recursion_depth",
    "default_table_encryption",
    "default_tmp_storage_engine",
    "div_precision_increment",
    "end_markers_in_json",
    "eq_range_index_dive_limit",
    "explicit_defaults_for_timestamp",
    "foreign_key_checks",
    "group_concat_max_len",
    "internal_tmp_mem_storage_engine",
    "join_buffer_size",
    "lock_wait_timeout",
    "max_error_count",
    "max_execution_time",
    "max_heap_table_size",
    "max_join_size",
    "max_length_for_sort_data",
    "max_points_in_geometry",
    "max_seeks_for_key",
    "max_sort_length",
    "optimizer_prune_level",
    "optimizer_search_depth",
    "optimizer_switch",
    "range_alloc_block_size",
    "range_optimizer_max_mem_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "sort_buffer_size",
    "sql_auto_is_null",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_mode",
    "sql_safe_updates",
    "sql_select_limit",
    "time_zone",
    "tmp_table_size",
    "unique_checks",
    "updatable_views_with_limit",
    "windowing_use_high_precision",
];

/// The previous values of the variables.
pub type Replaced = Vec<(VariableId, Setting)>;

impl State<'_> {
    /// Sets the variables of hints; ignores a hint that cannot be applied.
    #[cold]
    pub fn take_hints(&mut self, hints: &[HintedVariable]) -> Replaced {
        let mut replaced = Vec::with_capacity(hints.len());
        for hint in hints.iter().filter(|hint| HINTABLE.contains(&&*hint.name)) {
            let Some(id) = variables::find(&hint.name) else { continue };
            let before = self.session.variables.get(id).clone();
            let beside =
                variables::companion(id, &before).map(|(beside, _)| (beside, self.session.variables.get(beside).clone()));
            if self.set_hinted(hint).is_ok() {
                replaced.push((id, before));
                replaced.extend(beside);
            }
        }
        self.refresh();
        replaced
    }

    fn set_hinted(&mut self, hint: &HintedVariable) -> crate::error::Result<()> {
        let to = self.settable(VariableScope::Session, &hint.name)?;
        let assignment = self.assignment(VariableScope::Session, to, Some(hint.value.clone()))?;
        self.assign(assignment)
    }

    /// Restores the variables after the statement.
    #[cold]
    pub fn put_back(&mut self, replaced: Replaced) {
        for (id, setting) in replaced.into_iter().rev() {
            self.session.variables.set(id, setting);
        }
        self.refresh();
    }
}
