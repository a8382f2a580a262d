//! The server that a program tests: the one that the caller names, or one that is started for it.

use crate::{Address, Report, Server, ServerOptions};

/// Runs `checks` on the server `at` (an address of the caller), or on a fresh one in a temporary folder. `name` names the program in the
/// report and in the folder.
pub fn on_a_server(
    name: &str,
    at: Option<Result<Address, String>>,
    report: &mut Report,
    checks: impl FnOnce(&Address, &mut Report) -> Result<(), String>,
) {
    let outcome = match at {
        Some(address) => address.and_then(|address| checks(&address, report)),
        None => on_a_fresh_server(name, report, checks),
    };
    if let Err(why) = outcome {
        report.fail(name, why);
    }
}

fn on_a_fresh_server(
    name: &str,
    report: &mut Report,
    checks: impl FnOnce(&Address, &mut Report) -> Result<(), String>,
) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("heddle-{name}-{}", std::process::id()));
    let server = Server::start(&ServerOptions::new(&folder))?;
    checks(&server.address, report)?;
    server.kill();
    std::fs::remove_dir_all(&folder).map_err(|e| e.to_string())
}
