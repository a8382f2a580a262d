//! Settings: what each variable is, what it means, and whether it differs from a new server's.

use super::{Made, Part};
use crate::Variable;
use crate::meanings;
use crate::problem::Problem;
use crate::request::Request;
use crate::state::State;
use serde_json::{Value, json};

/// Any logged-in account may see them, as with SHOW GLOBAL VARIABLES.
pub fn list(state: &State, request: &Request) -> Made {
    let part = Part::of(request)?;
    let find = request.parameters.get("find").to_lowercase();
    let changed_only = match request.parameters.get("show") {
        "" | "all" => false,
        "changed" => true,
        _ => return Err(Problem::Wrong("'show' is neither 'all' nor 'changed'".to_owned())),
    };
    let is_wanted = |variable: &Variable| {
        let meaning = meanings::of(variable.name).unwrap_or_default();
        (!changed_only || is_changed(variable)) && (variable.name.contains(&find) || meaning.to_lowercase().contains(&find))
    };
    let wanted: Vec<Variable> = state.server.variables().into_iter().filter(is_wanted).collect();
    let shown = wanted.iter().skip(part.offset as usize).take(part.limit as usize);
    let row = |variable: &Variable| {
        json!({
            "name": variable.name,
            "value": variable.value,
            "default": variable.default,
            "changed": is_changed(variable),
            "dynamic": variable.is_dynamic,
            "no_effect": variable.no_effect,
            "meaning": meanings::of(variable.name),
        })
    };
    Ok(json!({ "total": wanted.len(), "rows": shown.map(row).collect::<Vec<Value>>() }))
}

/// Names of places and numbers of this server differ everywhere, and say nothing.
fn is_changed(variable: &Variable) -> bool {
    const OF_THE_MACHINE: &[&str] = &[
        "admin_port",
        "datadir",
        "general_log_file",
        "hostname",
        "port",
        "server_uuid",
        "slow_query_log_file",
        "socket",
        "version",
    ];
    variable.value != variable.default && !OF_THE_MACHINE.contains(&variable.name)
}
