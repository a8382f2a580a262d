//! `heddle restore --database` and `--table`: one database or table of a backup, brought to a running server.
//!
//! ```text
//! SCRATCH/data/        the backup, restored; a server of this process runs on it, with one socket that nobody else can reach
//! SCRATCH/copy.json    how far the copy is
//! ```
//! 1. The name must be free at the running server.
//! 2. The backup is restored to the moment.
//! 3. A server starts on it, without TCP, events, replication, settings and accounts of its own.
//! 4. The crate `migrate` copies ([`migrate::piece`]).
//! 5. The server stops, SCRATCH is removed.
//!
//! Ctrl-C and SIGTERM end steps 2 and 4 as an error does: the running server is as before, and SCRATCH is removed. A second one ends the process.

use crate::cli::RestoreFlags;
use crate::first_start::PrivateSocket;
use crate::say::say;
use crate::{backups, first_start, serve};
use migrate::piece::{Name, Request, What};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The running server may be on the same machine, and needs its memory.
const POOL_BYTES: u64 = 256 << 20;

/// Brings what the flags say, as it was at `until` (microseconds since 1970) or at the end of the backups.
///
/// # Errors
/// One line for the person who asked.
pub fn restore(flags: &RestoreFlags, until: Option<u64>) -> Result<(), String> {
    if flags.check {
        return Err("--check is for a data directory: the rows of --database and --table are compared".to_owned());
    }
    let what = what(flags)?;
    let (scratch, stop) = (Scratch::make(flags.scratch.as_deref())?, stop_flag()?);
    let request = Request {
        server: flags.server.clone().unwrap_or_default(),
        password: client::password(None, flags.password_file.as_deref(), "HEDDLE_PASSWORD")?,
        tls: flags.tls.clone(),
        what,
        threads: flags.threads,
        verify: !flags.no_verify,
        scratch: scratch.0.clone(),
        stop: Arc::clone(&stop),
    };
    migrate::piece::check_free(&request).map_err(|e| e.0)?;
    let data = scratch.0.join("data");
    let restored = backups::restore_into(&flags.from, &data, until, flags.key_file.as_deref(), &stop)?;
    if restored.time_us > 0 {
        say(&format!("as it was at {}\n", backup::shelf::show_time(restored.time_us)));
    }
    let told = with_server(&data, |socket| migrate::piece::bring(&request, socket).map_err(|e| e.0))?;
    say(&told);
    Ok(())
}

/// What is brought, under which name.
fn what(flags: &RestoreFlags) -> Result<What, String> {
    if let Some(name) = &flags.database {
        return Ok(What::Database { name: name.clone(), into: flags.into.as_ref().unwrap_or(name).clone() });
    }
    let from = flags.table.as_deref().unwrap_or_default();
    let into = flags.into.as_deref().unwrap_or(from);
    Ok(What::Table { from: Name::parse(from).map_err(|e| e.0)?, into: Name::parse(into).map_err(|e| e.0)? })
}

/// Set by the first Ctrl-C or SIGTERM; the second ends the process.
fn stop_flag() -> Result<Arc<AtomicBool>, String> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| format!("cannot catch signals: {error}"))?;
    }
    Ok(stop)
}

/// Runs `work` with the socket of a server on a restored directory.
fn with_server<T>(data: &Path, work: impl FnOnce(&Path) -> Result<T, String>) -> Result<T, String> {
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let config = txn::Config {
        data_dir: data.to_owned(),
        buffer_pool_bytes: POOL_BYTES,
        undo_memory_bytes: POOL_BYTES / 4,
        workers,
        // Nobody needs the directory after a crash.
        durability: txn::Durability::None,
        recovery_target: Duration::from_secs(60),
    };
    // The settings of SET PERSIST are for another server.
    match std::fs::remove_file(data.join("mysqld-auto.cnf")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("cannot remove the settings of the restored server: {error}"));
        }
        _ => {}
    }
    let engine =
        txn::Engine::open(config).map_err(|error| format!("what was restored cannot be opened: {}", serve::text_of(&error)))?;
    let socket = first_start::private_socket(data)?;
    let started = start(data, workers, &engine, &socket);
    let result = started.and_then(|handle| {
        let result = work(&socket.path);
        handle.stop();
        handle.wait();
        result
    });
    let closed = engine.shutdown().map_err(|error| format!("while stopping: {}", serve::text_of(&error)));
    let value = result?;
    closed.map(|()| value)
}

fn start(data: &Path, workers: usize, engine: &Arc<txn::Engine>, socket: &PrivateSocket) -> Result<server::ServerHandle, String> {
    let database = table::Database::open(engine.clone()).map_err(|error| format!("cannot read the restored catalog: {error}"))?;
    let config = server::Config {
        tcp: None,
        socket: Some(socket.path.clone()),
        data_dir: data.to_owned(),
        workers,
        buffer_pool_bytes: POOL_BYTES,
        durability: txn::Durability::None,
        event_scheduler: server::EventScheduler::Disabled,
        keeps_executions: false,
        is_private: true,
        ..server::Config::default()
    };
    server::start(config, database, engine.clone()).map_err(|error| error.to_string())
}

/// The scratch directory, which goes with this.
struct Scratch(PathBuf);

impl Scratch {
    /// Only its owner may enter it: it will have everybody's rows.
    fn make(wanted: Option<&Path>) -> Result<Self, String> {
        let path = match wanted {
            Some(path) => path.to_owned(),
            None => std::env::temp_dir().join(format!("heddle-restore-{}", std::process::id())),
        };
        let cannot = |error: std::io::Error| format!("cannot make {}: {error}", path.display());
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Self(path)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && wanted.is_some() => {
                let mut entries = std::fs::read_dir(&path).map_err(cannot)?;
                match entries.next() {
                    None => {}
                    Some(_) => return Err(format!("{} is not empty: give a new directory", path.display())),
                }
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
                std::fs::set_permissions(&path, mode).map_err(cannot)?;
                Ok(Self(path))
            }
            Err(error) => Err(cannot(error)),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            os::report(format_args!("cannot remove {}: {error}", self.0.display()));
        }
    }
}
