//! `heddle bench`: measures servers beside each other. The crate `lab` does it.

use crate::say::say;
use lab::flags::Flags;
use lab::session::Program;

/// Measures, compares or publishes.
///
/// # Errors
/// One line for the person who asked; or that something went wrong while it was measured, which the report tells.
pub fn run(flags: &Flags) -> Result<(), String> {
    let path = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let command = std::iter::once("heddle".to_owned()).chain(std::env::args().skip(1)).collect();
    let most = flags.run.connections.iter().copied().max().unwrap_or(0) as usize;
    let possible = crate::limits::raise_open_files(most);
    if flags.verb.is_none() && possible < most {
        return Err(format!("{most} connections: this process may have {possible} (the limit of open files, 'ulimit -n')"));
    }
    let program = Program { path, version: format!("heddle {}", env!("CARGO_PKG_VERSION")), command };
    let (told, went_well) = lab::run(flags, &program)?;
    say(&told);
    if went_well { Ok(()) } else { Err("the run did not end well".to_owned()) }
}
