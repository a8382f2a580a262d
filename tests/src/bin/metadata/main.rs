//! Compares the column definitions of results on Heddle with those of a real MySQL: the types of expressions.
//!
//! 1. `lists` has values of every type and expressions over them. Each expression becomes a column of a SELECT, and where both servers
//!    accept it, of a CREATE TABLE ... SELECT.
//! 2. For each column of a result the type, the length, the decimals, the flags and the collation are compared. For each column of a
//!    created table the row of SHOW FULL COLUMNS is compared.
//! 3. Statements with a fixed result, such as SHOW, are compared including the names of their columns.
//! 4. All differences are written to a file, one on a line. A statement that differs in anything counts once; the counts are also given by
//!    the aspects that differ and by the form of the statement.
//!
//! One statement asks for many expressions. When it fails, halving finds the expression that fails.

mod lists;

use clap::Parser;
use mysql::Conn;
use mysql::prelude::Queryable;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use tests::{Address, Report, on_a_server};

#[derive(Parser)]
#[command(about = "Compares the types of expressions, results and tables made of queries with a real MySQL's")]
struct Arguments {
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
    /// Only forms with this text in them
    #[arg(long, default_value = "")]
    only: String,
    /// Where the differences are written
    #[arg(long, default_value = "metadata.txt")]
    out: PathBuf,
    /// Succeed only if no more than so many statements differ
    #[arg(long, default_value_t = 0)]
    differences_max: u64,
}

const DATABASE: &str = "heddle_types";
/// Expressions of one statement.
const BATCH: usize = 40;

/// What is asked for in one column.
#[derive(Clone, Debug)]
struct Case {
    /// The form, for counting.
    form: &'static str,
    sql: String,
}

/// What a server says of a column, by aspect.
type Told = Vec<(&'static str, String)>;
/// An error's number.
type Answer<T> = Result<T, u16>;

#[derive(Default)]
struct Sum {
    statements: u64,
    differing: u64,
    by_aspect: BTreeMap<String, u64>,
    by_form: BTreeMap<String, u64>,
    text: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let at = arguments.ours.as_ref().map(|at| Address::parse(at, &arguments.user, ""));
    on_a_server("metadata", at, &mut report, |address, report| run(&arguments, address, report));
    report.finish()
}

fn run(arguments: &Arguments, ours: &Address, report: &mut Report) -> Result<(), String> {
    let judge = Address::parse(&arguments.judge, &arguments.judge_user, &arguments.judge_password)?;
    let mut sides = [begin(ours)?, begin(&judge)?];
    let mut sum = Sum::default();
    let mut expressions = filled(lists::OF_ONE, false);
    expressions.extend(filled(lists::OF_TWO, true));
    let mut windows = filled(lists::OF_WINDOWS, false);
    let mut groups = filled(lists::OF_GROUPS, false);
    let mut queries = filled(lists::QUERIES_OF_ONE, false);
    queries.extend(filled(lists::QUERIES_OF_TWO, true));
    for cases in [&mut expressions, &mut windows, &mut groups, &mut queries] {
        cases.retain(|case| case.form.contains(&arguments.only));
    }
    for cases in [&expressions, &groups, &windows] {
        compare_columns(&mut sides, cases, &mut sum)?;
    }
    for case in &queries {
        compare_query(&mut sides, case, &mut sum)?;
    }
    for form in lists::STATEMENTS.iter().filter(|form| form.contains(&arguments.only)) {
        let case = Case { form, sql: (*form).to_owned() };
        let [found, expected] = each(&mut sides, |conn| columns_of(conn, &case.sql, true))?;
        sum.compare(&case, "", &found, &expected);
    }
    for side in &mut sides {
        side.query_drop(format!("DROP DATABASE {DATABASE}")).map_err(|e| e.to_string())?;
    }
    std::fs::write(&arguments.out, &sum.text).map_err(|e| format!("{}: {e}", arguments.out.display()))?;
    print_most("by aspect", &sum.by_aspect);
    print_most("by form", &sum.by_form);
    let name = format!("{} of {} statements differ", sum.differing, sum.statements);
    if sum.statements > 0 && sum.differing <= arguments.differences_max {
        report.ok(name)
    } else {
        report.fail(name, format!("see {}", arguments.out.display()))
    }
    Ok(())
}

fn print_most(what: &str, counts: &BTreeMap<String, u64>) {
    const SHOWN: usize = 60;
    println!("{what}:");
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    counts.iter().take(SHOWN).for_each(|(what, count)| println!("{count:6} {what}"));
}

/// Connects, and creates the objects that the statements name.
fn begin(address: &Address) -> Result<Conn, String> {
    let mut conn = address.connect().map_err(|e| e.to_string())?;
    let statements = [
        "SET NAMES utf8mb4",
        "SET sql_mode = 'STRICT_TRANS_TABLES'",
        &format!("DROP DATABASE IF EXISTS {DATABASE}"),
        &format!("CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"),
        &format!("USE {DATABASE}"),
        lists::TABLE,
        lists::ROWS,
        "CREATE VIEW tv AS SELECT i, v AS w, CONCAT(v, 'a') AS x, 1 AS one, i + 1 AS j FROM t",
        "CREATE PROCEDURE tp() SELECT i, 1 FROM t",
        "CREATE FUNCTION tf(a INT) RETURNS VARCHAR(7) DETERMINISTIC RETURN a",
        "CREATE TRIGGER tr BEFORE DELETE ON t FOR EACH ROW SET @a = 1",
        "CREATE EVENT te ON SCHEDULE EVERY 1 DAY DISABLE DO SET @a = 1",
    ];
    for statement in statements {
        conn.query_drop(statement).map_err(|e| format!("{statement}: {e}"))?;
    }
    Ok(conn)
}

/// Every form with every value. Forms of two values are combined with every pair.
fn filled(forms: &[&'static str], pairs: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for form in forms {
        if !form.replace("@@", "").replace("@x :=", "").contains('@') {
            cases.push(Case { form, sql: (*form).to_owned() });
            continue;
        }
        for value in lists::VALUES {
            let (keep, mark) = ("@x :=", "\u{1}");
            let sql = form.replace(keep, mark).replace('@', value).replace(mark, keep);
            if pairs {
                cases.extend(lists::PARTNERS.iter().map(|partner| Case { form, sql: sql.replace('#', partner) }))
            } else {
                cases.push(Case { form, sql })
            }
        }
    }
    cases
}

fn each<T>(sides: &mut [Conn; 2], mut ask: impl FnMut(&mut Conn) -> Result<T, String>) -> Result<[T; 2], String> {
    let [ours, judge] = sides;
    Ok([ask(ours)?, ask(judge)?])
}

/// Asks for expressions as columns of results and of tables.
fn compare_columns(sides: &mut [Conn; 2], cases: &[Case], sum: &mut Sum) -> Result<(), String> {
    for batch in cases.chunks(BATCH) {
        let [found, expected] = each(sides, |conn| {
            let mut out = Vec::new();
            halve(batch, &mut out, &mut |part| select(conn, part))?;
            Ok(out)
        })?;
        let mut both = Vec::new();
        for ((case, found), expected) in batch.iter().zip(&found).zip(&expected) {
            sum.compare(case, "", found, expected);
            if found.is_ok() && expected.is_ok() {
                both.push(case.clone());
            }
        }
        let [found, expected] = each(sides, |conn| {
            let mut out = Vec::new();
            halve(&both, &mut out, &mut |part| create(conn, part))?;
            Ok(out)
        })?;
        for ((case, found), expected) in both.iter().zip(&found).zip(&expected) {
            sum.compare(case, "table ", found, expected);
        }
    }
    Ok(())
}

/// Asks for all at once, and for halves where that fails.
fn halve(
    cases: &[Case],
    out: &mut Vec<Answer<Told>>,
    ask: &mut impl FnMut(&[Case]) -> Result<Answer<Vec<Told>>, String>,
) -> Result<(), String> {
    if cases.is_empty() {
        return Ok(());
    }
    match ask(cases)? {
        Ok(told) => out.extend(told.into_iter().map(Ok)),
        Err(number) if cases.len() == 1 => out.push(Err(number)),
        Err(_) => {
            let (left, right) = cases.split_at(cases.len() / 2);
            halve(left, out, ask)?;
            halve(right, out, ask)?;
        }
    }
    Ok(())
}

fn select(conn: &mut Conn, cases: &[Case]) -> Result<Answer<Vec<Told>>, String> {
    let columns: Vec<&str> = cases.iter().map(|case| &*case.sql).collect();
    columns_of(conn, &format!("SELECT {} FROM t LIMIT 0", columns.join(", ")), false)
}

/// The definitions of the columns of a statement's first result.
fn columns_of(conn: &mut Conn, sql: &str, with_names: bool) -> Result<Answer<Vec<Told>>, String> {
    let result = match conn.query_iter(sql) {
        Ok(result) => result,
        Err(mysql::Error::MySqlError(error)) => return Ok(Err(error.code)),
        Err(other) => return Err(format!("{sql}: {other}")),
    };
    let columns = result.columns();
    let told = columns.as_ref().iter().map(|column| {
        let mut told = vec![
            ("type", format!("{:?}", column.column_type()).replace("MYSQL_TYPE_", "")),
            ("length", column.column_length().to_string()),
            ("decimals", column.decimals().to_string()),
            ("flags", format!("{:?}", column.flags()).replace("_FLAG", "").replace("ColumnFlags", "")),
            ("collation", column.character_set().to_string()),
        ];
        if with_names {
            let names =
                [column.name_str(), column.org_name_str(), column.table_str(), column.org_table_str(), column.schema_str()];
            told.push(("names", names.join(".")));
        }
        told
    });
    let told = told.collect();
    Ok(Ok(told))
}

fn create(conn: &mut Conn, cases: &[Case]) -> Result<Answer<Vec<Told>>, String> {
    let columns: Vec<String> = cases.iter().enumerate().map(|(n, case)| format!("{} AS c{n}", case.sql)).collect();
    create_from(conn, &format!("SELECT {} FROM t LIMIT 0", columns.join(", ")))
}

/// What SHOW FULL COLUMNS says of a table made of a query.
fn create_from(conn: &mut Conn, query: &str) -> Result<Answer<Vec<Told>>, String> {
    match conn.query_drop(format!("CREATE TABLE made {query}")) {
        Ok(()) => {}
        Err(mysql::Error::MySqlError(error)) => return Ok(Err(error.code)),
        Err(other) => return Err(format!("{query}: {other}")),
    }
    type Row = (String, String, Option<String>, String, String, Option<String>, String);
    let rows: Vec<Row> = conn
        .query(
            "SELECT column_name, column_type, collation_name, is_nullable, extra, column_default, column_comment FROM \
                    information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'made' ORDER BY ordinal_position",
        )
        .map_err(|e| format!("{query}: {e}"))?;
    conn.query_drop("DROP TABLE made").map_err(|e| e.to_string())?;
    let shown = |value: Option<String>| value.unwrap_or_else(|| "NULL".to_owned());
    let told = rows.into_iter().map(|(_, ty, collation, null, extra, default, comment)| {
        vec![
            ("type", ty),
            ("collation", shown(collation)),
            ("null", null),
            ("default", shown(default)),
            ("extra", extra),
            ("comment", comment),
        ]
    });
    Ok(Ok(told.collect()))
}

/// Compares a whole query, and the table that is made of it.
fn compare_query(sides: &mut [Conn; 2], case: &Case, sum: &mut Sum) -> Result<(), String> {
    let [found, expected] = each(sides, |conn| columns_of(conn, &case.sql, false))?;
    sum.compare(case, "", &found, &expected);
    if found.is_ok() && expected.is_ok() {
        let [found, expected] = each(sides, |conn| create_from(conn, &case.sql))?;
        sum.compare(case, "table ", &found, &expected);
    }
    Ok(())
}

/// Answers that can be compared: one column, or all of a statement's.
trait Columns {
    fn columns(&self) -> Vec<&Told>;
}

impl Columns for Told {
    fn columns(&self) -> Vec<&Told> {
        vec![self]
    }
}

impl Columns for Vec<Told> {
    fn columns(&self) -> Vec<&Told> {
        self.iter().collect()
    }
}

impl Sum {
    fn compare<T: Columns>(&mut self, case: &Case, what: &str, found: &Answer<T>, expected: &Answer<T>) {
        self.statements += 1;
        let mut differences = Vec::new();
        match (found, expected) {
            (Err(found), Err(expected)) if found == expected => {}
            (Ok(found), Ok(expected)) => {
                let (found, expected) = (found.columns(), expected.columns());
                if found.len() != expected.len() {
                    differences.push(("columns", found.len().to_string(), expected.len().to_string()));
                }
                for (one, two) in found.iter().zip(&expected) {
                    for ((aspect, one), (_, two)) in one.iter().zip(two.iter()) {
                        if one != two {
                            differences.push((aspect, one.clone(), two.clone()));
                        }
                    }
                }
            }
            (found, expected) => {
                let shown = |answer: &Answer<T>| answer.as_ref().err().map_or("ok".to_owned(), u16::to_string);
                differences.push(("error", shown(found), shown(expected)));
            }
        }
        if differences.is_empty() {
            return;
        }
        self.differing += 1;
        *self.by_form.entry(format!("{what}{}", case.form)).or_default() += 1;
        let mut aspects: Vec<&str> = differences.iter().map(|(aspect, ..)| *aspect).collect();
        aspects.dedup();
        aspects.iter().for_each(|aspect| *self.by_aspect.entry(format!("{what}{aspect}")).or_default() += 1);
        let told: Vec<String> = differences.iter().map(|(aspect, one, two)| format!("{aspect} {one} for {two}")).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{what}\t{}\t{}\t{}", case.form, case.sql, told.join("; "));
    }
}
