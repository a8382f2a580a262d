//! The `heddle` program: chooses a command.
//!
//! `heddle` and `heddle serve` run the server ([`serve`]); `heddle init` makes a data directory with accounts ([`init`]); `heddle entrypoint` does
//! both in a container ([`container`]); called as `mysqld` the program takes MySQL's options ([`mysqld`]); `heddle check` verifies a data directory ([`check`]);
//! `heddle topology` describes the machine ([`topology`]); `heddle backup` and `heddle restore` save a server and bring it back
//! ([`backups`], [`piece`]); `heddle profile` asks a running server what its processor time goes to ([`profile`]); `heddle bench` measures servers
//! ([`bench`]); `heddle advise` asks a running server what an application does wrong ([`advise`]); `heddle migrate` moves the
//! databases of a running MySQL here (crate `migrate`). Settings come from flags, environment and a file
//! ([`settings`]). An error is one line on standard error and exit status 1.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod advise;
mod backups;
mod bench;
mod check;
mod cli;
mod config_file;
mod console;
mod container;
mod drill;
mod dry_run;
mod error_log;
mod first_start;
mod init;
mod limits;
mod mysqld;
mod notify;
mod piece;
mod profile;
mod say;
mod serve;
mod settings;
mod size;
mod topology;
mod user;

use say::say;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let name = arguments.first().and_then(|path| Path::new(path).file_name()).unwrap_or_default();
    if mysqld::NAMES.iter().any(|known| name == *known) {
        return finish(mysqld::run(&arguments));
    }
    if container::NAMES.iter().any(|known| name == *known) {
        return finish(container::run(&arguments, &arguments[1..]));
    }
    let command = match cli::parse(arguments.clone()) {
        Ok(command) => command,
        Err(cli::Stop::Print(text)) => {
            say(&text);
            return ExitCode::SUCCESS;
        }
        Err(cli::Stop::Fail(message)) => return fail(&message),
    };
    let result = match command {
        cli::Command::Serve(flags) => settings::Settings::load(&flags).map_err(|e| e.to_string()).and_then(serve::run),
        cli::Command::DryRun(flags) => {
            settings::Settings::load(&flags).map_err(|e| e.to_string()).and_then(|settings| dry_run::run(&settings))
        }
        cli::Command::Init(flags) => init::run(&flags),
        cli::Command::Entrypoint(behind) => container::run(&arguments, &behind),
        cli::Command::Check(flags) => check::run(&flags.dir, flags.threads),
        cli::Command::Topology(flags) => topology::run(&flags),
        cli::Command::Backup(flags) => backups::back_up(&flags),
        cli::Command::Restore(flags) => backups::restore_to(&flags),
        cli::Command::Drill(flags) => drill::run(&flags),
        cli::Command::Bench(flags) => bench::run(&flags),
        cli::Command::Advise(flags) => advise::run(&flags).and_then(|told| {
            say(&told.text);
            if told.failing == 0 {
                Ok(())
            } else {
                Err(format!("{} findings are of the kinds that --fail-on names", told.failing))
            }
        }),
        cli::Command::Migrate(flags) => migrate::run(&flags).map(|told| say(&told)).map_err(|error| error.0),
        cli::Command::Profile(flags) => profile::run(&flags).map(|told| say(&told)),
    };
    finish(result)
}

fn finish(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

fn fail(message: &str) -> ExitCode {
    os::report(format_args!("{message}"));
    ExitCode::FAILURE
}
