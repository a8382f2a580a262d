//! Replays MySQL's own tests on Heddle and on a real MySQL, statement by statement.
//!
//! 1. `script` reads each test. Tests that need server options, other programs or absent features are skipped.
//! 2. The statements run on both servers, through connections of the same names. The error numbers are compared, and the rows; the order
//!    of rows counts only where the statement has ORDER BY.
//! 3. When a statement fails on one server only, the servers hold different tables afterwards. Later differences that name these objects
//!    are counted apart as consequences, until the objects are created again.
//! 4. Differences about absent features are counted apart, by the feature's name: what Heddle refuses by name (character sets, collations,
//!    engines, statements), and statements that docs/COMPATIBILITY.md lists as absent (`absent`).
//! 5. Rows in another order are counted apart where ORDER BY leaves the order open. So are columns that a group does not determine, in
//!    queries that MySQL refuses under ONLY_FULL_GROUP_BY.
//! 6. All differences are written to a file. The end of the run prints their counts by error number and by test.
//!
//! The program drops databases, creates accounts and sets global variables on both servers. Give it servers of its own.

mod absent;
mod script;
mod side;
mod words;

use clap::Parser;
use script::{Read, Step};
use side::{Globals, Outcome, Side};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use tests::{Address, Report, on_a_server};
use words::{names_in, statement_of, words_of};

#[derive(Parser)]
#[command(about = "Replays MySQL's own tests on two servers and compares the answers")]
struct Arguments {
    /// The folder of MySQL's test suite (Debian's package mysql-testsuite)
    #[arg(long)]
    suite: PathBuf,
    /// Folders of tests in it
    #[arg(long, value_delimiter = ',', default_value = "t")]
    folders: Vec<String>,
    /// Only tests whose names have this in them
    #[arg(long, default_value = "")]
    only: String,
    /// No tests whose names have one of these in them
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Only tests whose names begin with one of these letters
    #[arg(long, default_value = "")]
    letters: String,
    /// A running Heddle, HOST:PORT, instead of one started for this
    #[arg(long)]
    ours: Option<String>,
    /// A real MySQL, HOST:PORT
    #[arg(long)]
    judge: String,
    #[arg(long, default_value = "root")]
    user: String,
    #[arg(long, default_value = "root")]
    judge_user: String,
    #[arg(long, default_value = "")]
    judge_password: String,
    /// Where the differences are written
    #[arg(long, default_value = "replay.txt")]
    out: PathBuf,
}

const UNKNOWN_TIME_ZONE: u16 = 1298;
const TIME_ZONES: &str = "time zones that the judge has not";
/// Errors of the judge alone that do not depend on the meaning of a statement.
const JUDGES_OWN: [(u16, &str); 7] = [
    (1137, "temporary tables that are read twice"),
    (1235, "what the judge does not support"),
    (3699, "the judge's time for patterns"),
    (UNKNOWN_TIME_ZONE, TIME_ZONES),
    (13, "file names of the judge's system"),
    (1436, "the judge's stack"),
    (3973, "the switch subquery_to_derived"),
];
const UNKNOWN_TABLE: u16 = 1051;
/// Unknown databases, tables, triggers.
const NOT_THERE_ALONE: [u16; 4] = [1049, UNKNOWN_TABLE, 1146, 1360];

/// Beginnings of statements that make rows of other rows.
const CHANGES: [&str; 7] = ["create table", "create view", "insert", "replace", "update", "delete", "load"];

/// What was counted.
#[derive(Default)]
struct Sum {
    tests: u64,
    skipped: u64,
    /// Why tests are skipped.
    reasons: BTreeMap<&'static str, u64>,
    statements: u64,
    rows: u64,
    errors: u64,
    following: u64,
    /// Rows in another order, and queries whose groups leave a column open.
    reordered: u64,
    indeterminate: u64,
    /// Features that are not there, by error number and name.
    features: BTreeMap<String, u64>,
    by_kind: BTreeMap<String, u64>,
    by_test: BTreeMap<String, u64>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let at = arguments.ours.as_ref().map(|at| Address::parse(at, &arguments.user, ""));
    on_a_server("replay", at, &mut report, |address, report| run(&arguments, address, report));
    report.finish()
}

fn run(arguments: &Arguments, ours: &Address, report: &mut Report) -> Result<(), String> {
    let judge = Address::parse(&arguments.judge, &arguments.judge_user, &arguments.judge_password)?;
    let (mut sum, mut text) = (Sum::default(), String::new());
    let globals = (Globals::of(ours)?, Globals::of(&judge)?);
    for path in script::tests_of(&arguments.suite, &arguments.folders, &arguments.only) {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if !arguments.letters.is_empty() && !name.starts_with(|letter| arguments.letters.contains(letter)) {
            continue;
        }
        if arguments.without.iter().any(|part| name.contains(part)) {
            continue;
        }
        match script::read(&path, &arguments.suite)? {
            Read::Skipped(why) => {
                sum.skipped += 1;
                *sum.reasons.entry(why).or_default() += 1;
            }
            Read::Steps(steps) => {
                sum.tests += 1;
                if let Err(why) = replay(&name, &steps, ours, &judge, &mut sum, &mut text) {
                    // What one server cannot even begin is a difference, too.
                    let _ = writeln!(text, "=== {name}: {why}\n");
                    *sum.by_test.entry(name).or_default() += 1;
                }
                globals.0.put_back(ours)?;
                globals.1.put_back(&judge)?;
                std::fs::write(&arguments.out, &text).map_err(|e| format!("{}: {e}", arguments.out.display()))?;
            }
        }
    }
    println!("{} tests, {} skipped, {} statements", sum.tests, sum.skipped, sum.statements);
    sum.reasons.iter().for_each(|(why, count)| println!("{count:6} skipped: {why}"));
    println!("{} answers with other rows, {} with other errors, {} more follow from these", sum.rows, sum.errors, sum.following);
    println!("{} answers in another order, {} with columns that groups leave open", sum.reordered, sum.indeterminate);
    println!("{} statements ask for features that are not there", sum.features.values().sum::<u64>());
    print_most(&sum.features);
    println!("Differences by kind and by test:");
    print_most(&sum.by_kind);
    print_most(&sum.by_test);
    let per_mille = (sum.rows + sum.errors) as f64 * 1000.0 / sum.statements.max(1) as f64;
    let name = format!("{per_mille:.1} of 1,000 statements differ");
    if sum.statements == 0 {
        report.fail(name, "nothing ran")
    } else {
        report.ok(name)
    };
    Ok(())
}

fn print_most(counts: &BTreeMap<String, u64>) {
    const SHOWN: usize = 40;
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    counts.iter().take(SHOWN).for_each(|(what, count)| println!("{count:6} {what}"));
}

/// What has no answer that two servers share.
fn is_compared(sql: &str) -> bool {
    const NOT: [&str; 30] = [
        "explain",
        "analyze",
        "show engine",
        "show status",
        "show global status",
        "show session status",
        "show variables",
        "show global variables",
        "show session variables",
        "show processlist",
        "show full processlist",
        "show plugins",
        "show table status",
        "desc select",
        "describe select",
        "show index",
        "show keys",
        "show indexes",
        "optimize",
        "check table",
        "repair",
        "show open tables",
        "show events",
        "show binary",
        "show master",
        "show replica",
        "show slave",
        "help ",
        "show profile",
        "show count",
    ];
    const INSIDE: [&str; 32] = [
        "from information_schema.columns where table_schema = 'information_schema'",
        "information_schema.partitions",
        "@trace",
        "index_length",
        "data_length",
        "@@optimizer_switch",
        "performance_schema",
        "optimizer_trace",
        "innodb_",
        "sys.",
        "rand(",
        "uuid",
        "now(",
        "current_timestamp",
        "sysdate",
        "curdate",
        "curtime",
        "connection_id",
        "mysql.",
        "@@version",
        "version()",
        "unix_timestamp()",
        "last_query_cost",
        "utc_",
        "localtime",
        "current_date",
        "current_time",
        "show create user",
        "information_schema.processlist",
        "table_rows",
        "@@hostname",
        "@@datadir",
    ];
    let lower = sql.trim_start_matches('(');
    !NOT.iter().any(|start| lower.starts_with(start)) && !INSIDE.iter().any(|part| lower.contains(part))
}

fn replay(name: &str, steps: &[Step], ours: &Address, judge: &Address, sum: &mut Sum, text: &mut String) -> Result<(), String> {
    let (mut one, mut two) = (Side::begin(ours)?, Side::begin(judge)?);
    let mut tainted: HashSet<String> = HashSet::new();
    // The sessions speak other character sets.
    let mut other_names = false;
    let mut other_zone = false;
    let mut has_differed = false;
    for step in steps {
        let Step::Statement(sql) = step else {
            one.turn(step)?;
            two.turn(step)?;
            continue;
        };
        let (mut found, mut expected) = (one.run(sql)?, two.run(sql)?);
        sum.statements += 1;
        let lower = words::spaced(statement_of(sql));
        let names = names_in(&lower);
        for outcome in [&mut found, &mut expected] {
            outcome.make_comparable(&lower);
        }
        let sets_names = lower.starts_with("set")
            && ["set names", "set character", "collation_connection", "character_set_"].iter().any(|word| lower.contains(word));
        let compared = is_compared(&lower) && !found.is_plan() && !expected.is_plan();
        let has_tainted = words_of(&lower).any(|word| tainted.contains(word));
        if found.same(&expected, compared) {
            if has_tainted && CHANGES.iter().any(|word| lower.starts_with(word)) {
                // What is made of rows that differ differs.
                tainted.extend(names);
            } else if ["create", "drop"].iter().any(|word| lower.starts_with(word)) {
                tainted.retain(|name| !names.contains(name));
            }
            other_names &= !sets_names;
            other_zone &= !lower.contains("time_zone");
            continue;
        }
        // A table that one server alone has was not made on the other.
        let is_missing = has_differed && NOT_THERE_ALONE.contains(&found.error);
        let follows = is_missing || other_names || other_zone || has_tainted;
        has_differed = true;
        if found.error != expected.error && !found.rows_came && !expected.rows_came {
            tainted.extend(names);
            // A DROP that names one unknown table drops none.
            if found.error == UNKNOWN_TABLE && lower.starts_with("drop table ") {
                one.run(&format!("DROP TABLE IF EXISTS {}", &statement_of(sql)["drop table ".len()..]))?;
            }
        }
        let zones = (lower.contains("convert_tz") && expected.has_null()).then(|| TIME_ZONES.to_owned());
        let own = JUDGES_OWN.iter().find(|(number, _)| *number == expected.error).map(|(_, what)| (*what).to_owned());
        if let Some(feature) = found.feature_not_there().or_else(|| absent::feature_of(&lower)).or(own).or(zones) {
            other_names |= sets_names;
            other_zone |= expected.error == UNKNOWN_TIME_ZONE;
            *sum.features.entry(feature).or_default() += 1;
            continue;
        }
        if follows {
            sum.following += 1;
            continue;
        }
        if found.error == expected.error && two.leaves_groups_open(sql)? {
            sum.indeterminate += 1;
            continue;
        }
        let kind = if found.error != expected.error {
            sum.errors += 1;
            format!("error {} for {}", found.error, expected.error)
        } else if found.has_other_order(&expected) {
            sum.reordered += 1;
            let _ = writeln!(text, "--- {name}: order\n{sql}\nours:  {}\njudge: {}\n", told(&found), told(&expected));
            continue;
        } else {
            sum.rows += 1;
            format!("rows of {}", sql.split_whitespace().next().unwrap_or("").to_ascii_lowercase())
        };
        *sum.by_kind.entry(kind.clone()).or_default() += 1;
        *sum.by_test.entry(name.to_owned()).or_default() += 1;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "--- {name}: {kind}\n{sql}\nours:  {}\njudge: {}\n", told(&found), told(&expected));
    }
    one.end()?;
    two.end()
}

fn told(outcome: &Outcome) -> String {
    const SHOWN: usize = 600;
    let shown = if outcome.error != 0 { format!("{} {}", outcome.error, outcome.message) } else { outcome.rows.join(" | ") };
    shown.chars().take(SHOWN).collect()
}
