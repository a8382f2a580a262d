//! Gives the same random statements to Heddle and to a real MySQL, and compares. Gives Heddle alone statements whose answers must agree
//! with each other.
//!
//! 1. A round makes a random schema from its seed and fills it on both servers.
//! 2. Random statements follow (`query`, `change`, `expression`), each under a check (`check::Check`).
//! 3. A difference that is not expected (`expected`) is shrunk and printed as a script for a client.
//!
//! F1: the seed of a round reproduces it: `--seed S --rounds 1`.
//! F2: changes are rolled back, so every statement of a round meets the same rows.

#![forbid(unsafe_code)]

mod change;
mod check;
mod compare;
mod dice;
mod expected;
mod expression;
mod forms;
mod kinds;
mod piece;
mod plain;
mod programs;
mod query;
mod schema;
mod side;
mod templates;
mod values;

use check::{Case, Check, Court};
use clap::Parser;
use compare::{Difference, Rules};
use dice::Dice;
use expression::{Maker, Scope};
use kinds::Style;
use piece::Piece;
use schema::Schema;
use side::{Outcome, Side};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tests::{Address, Report, Server, ServerOptions};

#[derive(Parser)]
#[command(about = "Compares Heddle with a real MySQL, and with itself, on random statements")]
struct Arguments {
    /// Of the first round; the next has the next number
    #[arg(long)]
    seed: Option<u64>,
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Rounds at most
    #[arg(long)]
    rounds: Option<u64>,
    /// Statements of a round
    #[arg(long, default_value_t = 250)]
    statements: usize,
    /// A real MySQL, HOST:PORT; without one Heddle is only compared with itself
    #[arg(long)]
    peer: Option<String>,
    #[arg(long, default_value = "root")]
    peer_user: String,
    #[arg(long, default_value = "")]
    peer_password: String,
    /// A running Heddle, HOST:PORT, instead of one started for this
    #[arg(long)]
    against: Option<String>,
    /// The database that is made anew on both
    #[arg(long, default_value = "heddle_differential")]
    database: String,
    /// Only these checks: expression, query, change, given, program, self
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only rounds of this style: wild, plain; else seeds that are odd are plain
    #[arg(long)]
    style: Option<Style>,
    /// The messages of errors and warnings count too
    #[arg(long)]
    messages: bool,
    /// End after so many differences
    #[arg(long, default_value_t = 30)]
    findings: usize,
    /// Print every statement before it is sent
    #[arg(long)]
    verbose: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let folder = std::env::temp_dir().join(format!("heddle-differential-{}", std::process::id()));
    if let Err(why) = start(&arguments, &folder, &mut report) {
        report.fail("differential", why);
    }
    if report.failed == 0 {
        let _ = std::fs::remove_dir_all(&folder); // it is not there with --against
    }
    report.finish()
}

fn start(arguments: &Arguments, folder: &std::path::Path, report: &mut Report) -> Result<(), String> {
    let mut server = None;
    let address = match &arguments.against {
        Some(at) => Address::parse(at, "root", "")?,
        None => {
            let mut options = ServerOptions::new(folder);
            options.buffer_pool = "64M".into();
            server.insert(Server::start(&options)?).address.clone()
        }
    };
    let peer = match &arguments.peer {
        Some(at) => {
            let address = Address::parse(at, &arguments.peer_user, &arguments.peer_password)?;
            Some(Side::new("peer", &address, &arguments.database)?)
        }
        None => None,
    };
    let court = Court { heddle: Side::new("heddle", &address, &arguments.database)?, peer };
    let mut run = Run { arguments, court, server, folder, found: BTreeMap::new(), expected: BTreeMap::new(), asked: 0 };
    run.rounds(report)?;
    run.finish();
    Ok(())
}

/// How long a peer that ended is waited for, and how often it is looked for.
const PEER_WAIT: Duration = Duration::from_secs(60);
const PEER_PAUSE: Duration = Duration::from_millis(500);

/// A run of rounds.
struct Run<'a> {
    arguments: &'a Arguments,
    court: Court,
    server: Option<Server>,
    folder: &'a std::path::Path,
    /// How often each difference was met.
    found: BTreeMap<String, usize>,
    expected: BTreeMap<&'static str, usize>,
    asked: usize,
}

impl Run<'_> {
    fn rounds(&mut self, report: &mut Report) -> Result<(), String> {
        let first = self.arguments.seed.unwrap_or_else(rand::random);
        println!("seed {first}");
        let until = Instant::now() + Duration::from_secs_f64(self.arguments.minutes * 60.0);
        for seed in first.. {
            let number = seed - first;
            let over = self.arguments.rounds.map_or(Instant::now() > until, |rounds| number >= rounds);
            if over || self.found.len() >= self.arguments.findings {
                break;
            }
            let before = self.found.len();
            self.round(seed)?;
            let fresh = self.found.len() - before;
            if fresh == 0 {
                report.passed += 1;
            }
            for _ in 0..fresh {
                report.failed += 1;
            }
        }
        Ok(())
    }

    fn round(&mut self, seed: u64) -> Result<(), String> {
        let mut dice = Dice::new(seed);
        let style = self.arguments.style.unwrap_or(if seed % 2 == 1 { Style::Plain } else { Style::Wild });
        let schema = Schema::random(&mut dice, style);
        let found = self.court.build(&schema);
        let clean = found.is_empty();
        for (case, schema, difference) in found {
            self.tell(seed, &case, &schema, &difference)?;
        }
        if !clean {
            return Ok(()); // the servers do not have the same rows
        }
        for _ in 0..self.arguments.statements {
            let case = self.case(&mut dice, &schema);
            if self.arguments.verbose {
                println!("{:?}: {}", case.check, case.parts.iter().map(Piece::text).collect::<Vec<_>>().join(" // "));
            }
            self.asked += 1;
            if let Some(difference) = self.court.differs(&case) {
                self.tell(seed, &case, &schema, &difference)?;
                self.court.build(&schema);
            }
        }
        Ok(())
    }

    /// A random statement under a random check.
    fn case(&self, dice: &mut Dice, schema: &Schema) -> Case {
        let wants = |word: &str| self.arguments.only.is_empty() || self.arguments.only.iter().any(|w| w == word);
        let peer = self.court.peer.is_some();
        let mut words = Vec::new();
        let given = if schema.style == Style::Plain { 4 } else { 0 };
        for (word, weight, needs_peer) in [
            ("expression", 4, true),
            ("query", 8, true),
            ("change", 4, true),
            ("self", 4, false),
            ("given", given, true),
            ("program", 4, true),
        ] {
            if wants(word) && (peer || !needs_peer) {
                words.extend(std::iter::repeat_n(word, weight));
            }
        }
        let word = if words.is_empty() { "self" } else { dice.pick(&words) };
        let mut maker = Maker::new(dice, schema);
        let rules = Rules { messages: self.arguments.messages, shapes: true, ..Rules::default() };
        match word {
            "expression" => {
                let rules = Rules { strict: true, warnings: true, ..rules };
                Case { check: Check::Peer, parts: vec![maker.bare_select()], rules }
            }
            "query" => query_case(&mut maker, Check::Peer, rules),
            "given" => match maker.dice.below(4) {
                0 | 1 => forms::given_case(&mut maker, Check::Parameters, rules),
                2 => forms::given_case(&mut maker, Check::Steps, rules),
                _ => forms::view_case(&mut maker, rules),
            },
            "program" => programs::case(&mut maker, rules),
            "change" => Case { check: Check::Change, parts: vec![change::change(&mut maker)], rules },
            _ => self_case(&mut maker, rules),
        }
    }

    /// Shrinks a difference and prints it, unless it is expected or was printed before.
    fn tell(&mut self, seed: u64, case: &Case, schema: &Schema, difference: &Difference) -> Result<(), String> {
        let text = case.parts.iter().map(Piece::text).collect::<Vec<_>>().join(" ");
        if difference.signature.starts_with(compare::PEER_LOST) {
            // It is for others to start it again.
            println!("the real MySQL ended at: {text}");
            *self.expected.entry("the real MySQL ended").or_default() += 1;
            return self.await_peer();
        }
        if let Some(why) = expected::reason(&text, difference) {
            *self.expected.entry(why).or_default() += 1;
            return Ok(());
        }
        if difference.signature == "connection lost" {
            self.revive()?;
        }
        self.court.build(schema);
        let (case, schema, difference) = self.court.shrink(case, schema, difference);
        let text = case.parts.iter().map(Piece::text).collect::<Vec<_>>().join(" ");
        let why = expected::reason(&text, &difference)
            .or_else(|| expected::reason_of_script(&check::script(&case, &schema), &difference));
        if let Some(why) = why {
            *self.expected.entry(why).or_default() += 1;
            return Ok(());
        }
        let key = key_of(&text, &difference.signature);
        let times = self.found.entry(key).or_default();
        *times += 1;
        if *times == 1 {
            println!("FAIL {} ({:?}, seed {seed})", difference.signature, case.check);
            println!("{}\n{}\n", check::script(&case, &schema), difference.told);
        }
        Ok(())
    }

    fn await_peer(&mut self) -> Result<(), String> {
        let Some(peer) = &mut self.court.peer else { return Ok(()) };
        let until = Instant::now() + PEER_WAIT;
        loop {
            std::thread::sleep(PEER_PAUSE);
            match peer.run("SELECT 1").outcome {
                Outcome::Lost(error) if Instant::now() > until => return Err(format!("the peer does not come back: {error}")),
                Outcome::Lost(_) => {}
                _ => return Ok(()),
            }
        }
    }

    /// Reports a server that ended, with the end of its log, and starts it again.
    fn revive(&mut self) -> Result<(), String> {
        let Some(server) = &mut self.server else { return Ok(()) };
        if let Some(end) = server.ended() {
            println!("the server ended: {end}");
            let mut options = ServerOptions::new(self.folder);
            options.buffer_pool = "64M".into();
            let server = Server::start(&options)?;
            self.court.heddle.reconnect(&server.address);
            self.server = Some(server);
        }
        Ok(())
    }

    fn finish(&mut self) {
        for (why, times) in &self.expected {
            println!("     expected {times} times: {why}");
        }
        for (key, times) in self.found.iter().filter(|(_, times)| **times > 1) {
            println!("     met {times} times: {key}");
        }
        println!("     {} statements, {} differences", self.asked, self.found.len());
        self.court.heddle.drop_database();
        if let Some(peer) = &mut self.court.peer {
            peer.drop_database();
        }
    }
}

fn query_case(maker: &mut Maker, check: Check, rules: Rules) -> Case {
    let depth = maker.dice.between(1, 3);
    let made = query::query(maker, &[], None, depth);
    let rules = query::rules_of(&made, rules);
    Case { check, parts: vec![made.piece], rules }
}

/// A check that needs no peer.
fn self_case(maker: &mut Maker, rules: Rules) -> Case {
    match maker.dice.below(6) {
        0 => return query_case(maker, Check::Prepared, rules),
        1 => return query_case(maker, Check::Hints, rules),
        _ => {}
    }
    let depth = maker.dice.between(1, 3);
    let from = query::sources(maker, &[], 3, depth);
    let scope = query::scope_of(&from.columns, &[]);
    let p = maker.condition(&scope, depth);
    match maker.dice.below(4) {
        0 => {
            let items =
                (0..maker.dice.between(1, 3)).map(|_| Piece::from(maker.dice.choose(&from.columns).name.clone())).collect();
            Case { check: Check::Partition, parts: vec![Piece::list(", ", 1, items), from.piece, p], rules }
        }
        1 => {
            let (call, combine) = maker.dice.pick(&[("COUNT", "SUM"), ("SUM", "SUM"), ("MIN", "MIN"), ("MAX", "MAX")]);
            let of = match call {
                "SUM" => maker.expression(&scope, kinds::Kind::Int, 0),
                _ => Piece::from(maker.dice.choose(&from.columns).name.clone()).expr(),
            };
            Case { check: Check::PartitionAggregate, parts: vec![call.into(), combine.into(), of, from.piece, p], rules }
        }
        2 => {
            let column = maker.dice.choose(&from.columns).clone();
            let groups = Scope { columns: vec![column.clone()], ..Scope::default() };
            let p = maker.condition(&groups, depth);
            Case { check: Check::PartitionGroups, parts: vec![column.name.into(), from.piece, p], rules }
        }
        _ => Case { check: Check::NoIndex, parts: vec![from.piece, p], rules },
    }
}

/// What two findings of one cause have in common: the signature and the words in capitals.
fn key_of(text: &str, signature: &str) -> String {
    let mut words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|w| w.len() > 1 && w.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .collect();
    words.sort_unstable();
    words.dedup();
    words.retain(|w| !["SELECT", "FROM", "AS", "WHERE", "ON", "NULL"].contains(w));
    format!("{signature}: {}", words.join(" "))
}
