//! `heddle migrate`: moves the databases of a running MySQL to a Heddle while applications write, and keeps the way back open.
//!
//! ```text
//! check -> definitions -> copy, by chunks -> catch up -> follow, verify -> cut over -> (go back)
//! ```
//! - [`flags`]: the command line. [`end`]: the two servers. [`journal`]: how far the move is, in a file.
//! - [`check`]: what stands in the way. [`tables`]: what there is to copy. [`definitions`]: tables, views, programs, accounts.
//! - [`piece`]: one database or table out of a backup; it uses the parts of a move.
//! - [`copy`]: rows. [`follow`]: the target as a replica of the source. [`verify`]: sums of chunks on both sides. [`cut_over`]: both ways.
//!
//! M1: no lock is held on the source's rows, and none on all of its tables. `begin` is the source's set of GTIDs before the first row was read.
//!     Each chunk is read by a statement of its own at some later moment. Then the target applies everything since `begin`, with
//!     `replica_exec_mode = IDEMPOTENT`, which brings each row to what the last event says of it, whatever the copy had
//!     (`server/src/replica/rows.rs`, A5). When all that the source had executed at the end of the copy (`copied`) is applied, the tables are the
//!     source's, and the mode is STRICT again.
//! M2: each step may be interrupted at any time and is done again, from its last chunk: a chunk that is written twice is replaced.
//! M3: the journal has no passwords.
//! M4: an application can write at one of the two servers at most: before the target is opened, the source is read-only and everything it has
//!     executed is here.
#![forbid(unsafe_code)]

mod check;
mod copy;
mod cut_over;
mod definitions;
mod end;
mod error;
mod flags;
mod follow;
mod journal;
mod parts;
pub mod piece;
mod progress;
mod tables;
mod verify;

pub use error::{Error, Result};
pub use flags::{ABOUT, EXAMPLES, Flags};

use end::{End, Role};
use flags::Step;
use journal::{Journal, Phase};
use parts::Move;
use progress::Progress;

/// Does a step of a move.
///
/// # Errors
/// One line, or several for a check that has found several things.
pub fn run(flags: &Flags) -> Result<String> {
    let of = Move {
        flags,
        source: End::parse(&flags.from, Role::Source, &flags.tls)?,
        target: End::parse(&flags.to, Role::Target, &flags.tls)?,
        progress: Progress::new(),
        stop: Default::default(),
    };
    match flags.step {
        Step::Check => {
            let found = check::run(&of)?;
            if found.obstacles.is_empty() { Ok(found.text()) } else { Err(Error(found.text())) }
        }
        Step::Run => of.run(),
        Step::Status => of.status(),
        Step::Verify => {
            let mut journal = of.open()?;
            if journal.phase < Phase::Following {
                return Err(Error(format!(
                    "the move is at '{}': finish it with 'heddle migrate run' first",
                    journal.phase.name()
                )));
            }
            of.verify(&mut journal)
        }
        Step::CutOver => cut_over::run(&of, &mut of.open()?),
        Step::GoBack => cut_over::go_back(&of, &mut of.open()?),
    }
}

impl Move<'_> {
    /// The journal of a move that has begun, between these two servers.
    fn open(&self) -> Result<Journal> {
        let Some(journal) = Journal::read(&self.flags.journal)? else {
            return Err(Error(format!("{} is not there: begin with 'heddle migrate run'", self.flags.journal.display())));
        };
        let (source, target) = (self.source.uuid()?, self.target.uuid()?);
        if (journal.source.as_str(), journal.target.as_str()) != (source.as_str(), target.as_str()) {
            return Err(Error(format!(
                "{} is of a move from server {} to server {}, and these are {source} and {target}",
                self.flags.journal.display(),
                journal.source,
                journal.target
            )));
        }
        Ok(journal)
    }

    /// From nothing to a target that follows the source and has the same rows.
    fn run(&self) -> Result<String> {
        let mut journal = match Journal::read(&self.flags.journal)? {
            Some(_) => self.open()?,
            None => {
                let found = check::run(self)?;
                if !found.obstacles.is_empty() {
                    return Err(Error(found.text()));
                }
                self.progress.say(&found.text());
                let journal = Journal::new(&self.flags.journal, self.source.uuid()?, self.target.uuid()?);
                journal.write()?;
                journal
            }
        };
        if journal.phase < Phase::CatchingUp {
            self.copy_all(&mut journal)?;
        }
        if journal.phase == Phase::CatchingUp {
            follow::catch_up(self, &mut journal)?;
        }
        if journal.phase == Phase::CutOver {
            return Err(Error("this move was cut over: 'heddle migrate status' tells more".to_owned()));
        }
        follow::wait_in_step(self)?;
        if self.flags.no_verify {
            return Ok("the target follows the source; its rows were not compared (--no-verify)\n".to_owned());
        }
        self.verify(&mut journal)
    }

    /// Definitions and rows.
    fn copy_all(&self, journal: &mut Journal) -> Result<()> {
        // Definitions of the source stay as they are until the rows are here, where the source can do that.
        let guard = definitions::Guard::take(&self.source, self.flags.no_instance_lock)?;
        let tables = tables::read(&self.source)?;
        if journal.phase == Phase::Definitions {
            if journal.begin.is_empty() {
                journal.begin = self.source.executed()?;
                journal.write()?;
            }
            definitions::make(self, &tables)?;
            journal.tables = tables.iter().map(|table| copy::slices(self, table)).collect::<Result<_>>()?;
            journal.phase = Phase::Copying;
            journal.write()?;
        }
        copy::run(self, journal, &tables)?;
        journal.events = definitions::make_rest(self)?;
        if tables::read(&self.source)? != tables {
            return Err(Error(
                "a definition has changed at the source while rows were copied: remove the databases from the target and the journal, and begin \
                 again when no ALTER TABLE runs"
                    .to_owned(),
            ));
        }
        drop(guard);
        journal.copied = self.source.executed()?;
        journal.phase = Phase::CatchingUp;
        journal.write()
    }

    fn verify(&self, journal: &mut Journal) -> Result<String> {
        let verified = verify::run(self)?;
        journal.unsettled.clone_from(&verified.unsettled);
        journal.write()?;
        verified.outcome()
    }

    fn status(&self) -> Result<String> {
        let journal = self.open()?;
        let mut text = journal.text();
        if journal.phase >= Phase::CatchingUp {
            text.push_str(&match journal.phase {
                Phase::CutOver => follow::status(&self.source, &self.target)?,
                _ => follow::status(&self.target, &self.source)?,
            });
        }
        Ok(text)
    }
}
