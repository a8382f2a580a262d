//! The command line of `heddle migrate`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub const ABOUT: &str = "Move the databases of a running MySQL (5.7, 8.0, 8.4, 9.x) to a running Heddle while applications write, and keep the way back open.

'check' says what stands in the way and changes nothing. 'run' makes the definitions, copies the rows by chunks without a lock on any row or table, lets the target \
                          follow the source's binary log, and compares both, chunk by chunk. 'cut-over' closes the source for writing, waits until the \
                          target has everything, opens the target, and makes the old server a replica of the new one. 'go-back' does the same in the other direction. Each step may be \
                          interrupted and goes on where it was when it is called again.

Passwords may stand in the environment: HEDDLE_MIGRATE_FROM_PASSWORD and HEDDLE_MIGRATE_TO_PASSWORD.";

pub const EXAMPLES: &str = "Examples:
  heddle migrate check --from mysql://admin@db1:3306 --to mysql://root@127.0.0.1:4406
      What stands in the way.
  heddle migrate run --from mysql://admin@db1:3306 --to mysql://root@127.0.0.1:4406
      Copy, follow, compare. Call it again if it was interrupted.
  heddle migrate cut-over --from mysql://admin@db1:3306 --to mysql://root@10.0.0.7:4406
      Then give the applications the new address. The old server follows the new one from now on.
  heddle migrate go-back --from mysql://admin@db1:3306 --to mysql://root@10.0.0.7:4406
      The old server is the one that is written again, with everything that was written meanwhile.";

/// A step of a move.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Say what stands in the way; changes nothing
    Check,
    /// Copy, follow, compare
    Run,
    /// Say how far the move is
    Status,
    /// Compare the rows of both servers again
    Verify,
    /// From now on the target is written
    CutOver,
    /// From now on the source is written again
    GoBack,
}

/// What `heddle migrate` is asked.
#[derive(Args, Clone, Debug)]
pub struct Flags {
    /// What to do
    #[arg(value_enum)]
    pub step: Step,
    /// The server that has the data: mysql://USER[:PASSWORD]@HOST[:PORT]
    #[arg(long, value_name = "ADDRESS")]
    pub from: String,
    /// The Heddle that gets it: mysql://USER[:PASSWORD]@HOST[:PORT]
    #[arg(long, value_name = "ADDRESS")]
    pub to: String,
    /// The file that says how far the move is
    #[arg(long, value_name = "FILE", default_value = "heddle-migrate.json")]
    pub journal: PathBuf,
    /// Connections that copy and compare at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub threads: u32,
    /// The source's address as the target reaches it [default: that of --from]
    #[arg(long, value_name = "HOST:PORT")]
    pub source_address: Option<String>,
    /// The target's address as the source reaches it, for the way back [default: that of --to]
    #[arg(long, value_name = "HOST:PORT")]
    pub target_address: Option<String>,
    #[command(flatten)]
    pub tls: client::Tls,
    /// Do not compare rows at the end of 'run'
    #[arg(long)]
    pub no_verify: bool,
    /// Do not keep ALTER TABLE and its like from running on the source while rows are copied (LOCK INSTANCE FOR BACKUP)
    #[arg(long)]
    pub no_instance_lock: bool,
    /// After 'cut-over' the old server does not follow the new one
    #[arg(long)]
    pub no_way_back: bool,
    /// How long 'cut-over' and 'go-back' may keep applications from writing
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub patience: u64,
}
