//! What sessions see of each other: each scenario runs at each isolation level and must go as its script says.
//!
//! Sessions are threads with a connection each. A step gives one session a statement and says how it ends: with an answer, or by
//! waiting for another session. The sessions' tables are made anew for every run. Beside the scenarios, `families` puts foreign keys,
//! `table_locks` locks of tables, and `large_values` values outside of their rows under the load of many sessions.

mod families;
mod large_values;
mod random;
mod scenarios;
mod session;
mod table_locks;

use clap::Parser;
use scenarios::{LEVELS, REPEATABLE_READ, SCENARIOS, Scenario, Step};
use session::Session;
use std::process::ExitCode;
use std::time::Duration;
use tests::{Address, Report, on_a_server};

pub const DATABASE: &str = "isolation_levels";
/// A statement that has not ended after this waits.
const SETTLED: Duration = Duration::from_millis(200);
/// A statement that should end does so well within this.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Parser)]
#[command(about = "Runs concurrent sessions at every isolation level and checks what they see")]
struct Arguments {
    /// A running server, HOST:PORT, instead of one started for this
    #[arg(long)]
    against: Option<String>,
    #[arg(long, default_value = "root")]
    user: String,
    #[arg(long, default_value = "")]
    password: String,
    /// Only scenarios whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Plays this many random schedules instead, and compares with the server of `--judge`
    #[arg(long, requires = "judge")]
    random: Option<u64>,
    /// A real MySQL, HOST:PORT
    #[arg(long)]
    judge: Option<String>,
    #[arg(long, default_value = "root")]
    judge_user: String,
    #[arg(long, default_value = "")]
    judge_password: String,
    /// Of the first random schedule
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Prints schedules that differ as they are
    #[arg(long)]
    keep_length: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let at = arguments.against.as_ref().map(|at| Address::parse(at, &arguments.user, &arguments.password));
    on_a_server("isolation", at, &mut report, |address, report| run(&arguments, address, report));
    report.finish()
}

fn run(arguments: &Arguments, address: &Address, report: &mut Report) -> Result<(), String> {
    if let (Some(count), Some(judge)) = (arguments.random, &arguments.judge) {
        let judge = Address::parse(judge, &arguments.judge_user, &arguments.judge_password)?;
        random::run(address, &judge, arguments.seed, count, !arguments.keep_length, report);
        return Ok(());
    }
    let only = &*arguments.only;
    for scenario in SCENARIOS.iter().filter(|s| s.name.contains(only)) {
        for (number, level) in LEVELS.iter().enumerate() {
            report.case(&format!("{} at {level}", scenario.name), || play(address, scenario, number));
        }
    }
    for scenario in table_locks::SCENARIOS.iter().filter(|s| s.name.contains(only)) {
        report.case(scenario.name, || play(address, scenario, REPEATABLE_READ));
    }
    if "table locks under load".contains(only) {
        report.case("table locks under load", || table_locks::storm(address));
    }
    if "large values under load".contains(only) {
        report.case("large values under load", || large_values::storm(address));
    }
    if "no orphan under load".contains(only) {
        for level in LEVELS {
            report.case(&format!("no orphan under load at {level}"), || families::storm(address, level));
        }
    }
    Ok(())
}

/// Plays one scenario at one level.
fn play(address: &Address, scenario: &Scenario, level: usize) -> Result<(), String> {
    session::prepare(address, scenario.setup)?;
    let mut sessions: Vec<(char, Session)> = Vec::new();
    for (number, step) in scenario.steps.iter().enumerate() {
        if !sessions.iter().any(|(name, _)| *name == step.who) {
            sessions.push((step.who, Session::start(address, LEVELS[level])?));
        }
        let session = sessions.iter_mut().find(|(name, _)| *name == step.who).map(|(_, session)| session);
        let Some(expected) = step.expected(level) else { continue };
        let found = session.map_or(Ok(String::new()), |session| perform(session, step, expected))?;
        if found != expected {
            let Step { who, sql, .. } = step;
            return Err(format!("step {}, {who}: {sql}: {found} and not {expected}", number + 1));
        }
    }
    Ok(())
}

/// Gives the session its statement, or waits for the end of the one that it is at; tells how it ended.
fn perform(session: &mut Session, step: &Step, expected: &str) -> Result<String, String> {
    if !step.is_end_of_wait() {
        session.give(step.sql)?;
    }
    let patience = if expected == scenarios::WAITS { SETTLED } else { PATIENCE };
    Ok(session.answer(patience).unwrap_or_else(|| scenarios::WAITS.to_owned()))
}
