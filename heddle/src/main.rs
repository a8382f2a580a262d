//! The `heddle` program: chooses a command.
//!
//! `heddle` and `heddle serve` run the server ([`serve`]); `heddle check` verifies a data directory ([`check`]);
//! `heddle topology` describes the machine ([`topology`]); `heddle backup` and `heddle restore` save a server and bring it back
//! ([`backups`]); `heddle profile` asks a running server what its processor time goes to ([`profile`]). Settings come from
//! flags, environment and a file
//! ([`settings`]). An error is one line on standard error and exit status 1.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod backups;
mod check;
mod cli;
mod config_file;
mod console;
mod drill;
mod error_log;
mod limits;
mod profile;
mod serve;
mod settings;
mod size;
mod topology;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let command = match cli::parse(std::env::args_os()) {
        Ok(command) => command,
        Err(cli::Stop::Print(text)) => {
            say(&text);
            return ExitCode::SUCCESS;
        }
        Err(cli::Stop::Fail(message)) => return fail(&message),
    };
    let result = match command {
        cli::Command::Serve(flags) => settings::Settings::load(&flags).map_err(|e| e.to_string()).and_then(serve::run),
        cli::Command::Check(flags) => check::run(&flags.dir, flags.threads),
        cli::Command::Topology(flags) => topology::run(&flags),
        cli::Command::Backup(flags) => backups::back_up(&flags),
        cli::Command::Restore(flags) => backups::restore_to(&flags),
        cli::Command::Drill(flags) => drill::run(&flags),
        cli::Command::Profile(flags) => profile::run(&flags).map(|told| say(&told)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

/// Writes to standard output. A reader that has gone away (`| head`) is no reason to fail.
fn say(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
}

fn fail(message: &str) -> ExitCode {
    os::report(format_args!("{message}"));
    ExitCode::FAILURE
}
