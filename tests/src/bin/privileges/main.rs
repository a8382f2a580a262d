//! The privilege matrix: which account may run which administrative statement; and, in `levels`, statements about objects by privileges of
//! each level, directly, by roles and by definers.
//!
//! For every set of privileges (`sets`: each static and each dynamic privilege alone, and pairs that are dangerous together) an account
//! with exactly these privileges runs every statement of `statements`. The outcome, `ok` or the error number, is compared with MySQL's
//! outcome in `mysql.txt`. The same program writes that file: `privileges --against HOST:PORT --record`.
//!
//! P1: an administrator undoes a statement that succeeded before the next one runs.
//! P2: after each set of privileges the accounts and objects are as they were at the start, so that nothing is left that a later statement
//!     could profit from.

mod answers;
mod level_statements;
mod levels;
mod statements;
mod world;

use answers::{Answers, RECORDED, RECORDED_LEVELS};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tests::{Address, Report, Server, ServerOptions};
use world::World;

#[derive(Parser)]
#[command(about = "Runs administrative statements with each privilege, and compares the outcome with MySQL's")]
struct Arguments {
    /// A running server, HOST:PORT, instead of one started for this
    #[arg(long)]
    against: Option<String>,
    #[arg(long, default_value = "root")]
    user: String,
    #[arg(long, default_value = "")]
    password: String,
    /// Write the server's answers into the file of MySQL's answers
    #[arg(long)]
    record: bool,
    /// Only this part: administration, levels
    #[arg(long)]
    part: Option<String>,
    /// Only statements with this text
    #[arg(long, default_value = "")]
    only: String,
}

fn main() -> ExitCode {
    let mut report = Report::new();
    if let Err(why) = start(&Arguments::parse(), &mut report) {
        report.fail("privileges", why);
    }
    report.finish()
}

fn start(arguments: &Arguments, report: &mut Report) -> Result<(), String> {
    if let Some(at) = &arguments.against {
        return run(arguments, &Address::parse(at, &arguments.user, &arguments.password)?, report);
    }
    if arguments.record {
        return Err("--record needs a reference server: --against HOST:PORT".into());
    }
    let directory = std::env::temp_dir().join(format!("heddle-privileges-{}", std::process::id()));
    let server = Server::start(&ServerOptions { buffer_pool: "32M".into(), ..ServerOptions::new(&directory) })?;
    let outcome = run(arguments, &server.address, report);
    server.kill();
    remove(&directory);
    outcome
}

/// Where Heddle refuses what MySQL lets pass: statements that begin so, with these privileges, and how they end. MySQL persists a system
/// account as a mandatory role, which everybody then is after the next start.
const STRICTER: (&str, &str, &str) =
    ("SET PERSIST_ONLY mandatory_roles", "SYSTEM_VARIABLES_ADMIN + PERSIST_RO_VARIABLES_ADMIN", "1227");

fn remove(directory: &Path) {
    // Files that a test leaves in the temporary folder do no harm.
    let _ = std::fs::remove_dir_all(directory);
}

fn run(arguments: &Arguments, address: &Address, report: &mut Report) -> Result<(), String> {
    let wants = |part: &str| arguments.part.as_ref().is_none_or(|wanted| wanted == part);
    if wants("administration") {
        administration(arguments, address, report)?;
    }
    if wants("levels") {
        levels(arguments, address, report)?;
    }
    Ok(())
}

fn levels(arguments: &Arguments, address: &Address, report: &mut Report) -> Result<(), String> {
    let (mut answers, sets) = levels::run(address, &arguments.only)?;
    if arguments.record {
        return record(&answers, sets.len(), "levels.txt", report);
    }
    let recorded = Answers::from_text(RECORDED_LEVELS)?;
    let mut uses = vec![0; levels::KNOWN.len()];
    answers.forgive(&recorded, &mut |statement, set, outcome| {
        let is_it = |(part, of_set, seen, _): &(&str, &str, &str, &str)| {
            statement.contains(part) && set.contains(of_set) && outcome == *seen
        };
        let known = levels::KNOWN.iter().position(is_it);
        known.inspect(|known| uses[*known] += 1).is_some()
    });
    if arguments.only.is_empty() {
        for ((part, set, seen, _), _) in levels::KNOWN.iter().zip(&uses).filter(|(_, uses)| **uses == 0) {
            report.fail(format!("{part} with {set}"), format!("{seen} is listed as a difference, and is none any more"));
        }
    }
    compare(&recorded, &answers, &sets, report);
    Ok(())
}

fn record(answers: &Answers, sets: usize, file: &str, report: &mut Report) -> Result<(), String> {
    let path = PathBuf::from("tests/src/bin/privileges").join(file);
    std::fs::write(&path, answers.to_text()).map_err(|e| format!("{}: {e}", path.display()))?;
    report.ok(format!("recorded {} statements with {sets} sets of privileges", answers.statements().count()));
    Ok(())
}

fn compare(recorded: &Answers, answers: &Answers, sets: &[String], report: &mut Report) {
    for statement in answers.statements() {
        let differences = recorded.differences(answers, statement, sets);
        report.case(statement, || if differences.is_empty() { Ok(()) } else { Err(differences.join("; ")) });
    }
}

fn administration(arguments: &Arguments, address: &Address, report: &mut Report) -> Result<(), String> {
    let statements: Vec<_> = statements::all().into_iter().filter(|s| s.text.contains(&arguments.only)).collect();
    let mut world = World::make(address)?;
    let sets = world::sets(&mut world.admin)?;
    let mut answers = Answers::default();
    let outcome = sets.iter().try_for_each(|set| {
        world.as_account_with(set, |world, conn| {
            statements.iter().try_for_each(|statement| {
                answers.put(&statement.text, set, world.outcome(conn, statement)?);
                Ok(())
            })
        })
    });
    world.clear()?;
    outcome?;
    if arguments.record {
        return record(&answers, sets.len(), "mysql.txt", report);
    }
    let mut recorded = Answers::from_text(RECORDED)?;
    recorded.replace_where(STRICTER.0, STRICTER.1, STRICTER.2);
    compare(&recorded, &answers, &sets, report);
    Ok(())
}
