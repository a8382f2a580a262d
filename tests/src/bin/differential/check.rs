//! The checks: which statements go to which server, and how a difference is shrunk.

use crate::compare::{self, Difference, Rules};
use crate::piece::{self, Piece};
use crate::programs::NAME;
use crate::schema::Schema;
use crate::side::{Answer, Outcome, Side};

/// What a case claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// A query: Heddle answers as the peer does.
    Peer,
    /// A change of rows, and the tables afterwards; rolled back.
    Change,
    /// A definition, as SHOW CREATE TABLE tells it.
    Create,
    /// A prepared query answers as its text does.
    Prepared,
    /// A prepared query with parameters of several types answers as the peer's does.
    Parameters,
    /// A stored program and the statement that runs it. Compared are its results, its report and the tables afterwards; then it is rolled
    /// back.
    Program,
    /// Statements one after another, the last a query: Heddle answers each as the peer does.
    Steps,
    /// A query answers the same with IGNORE INDEX.
    Hints,
    /// Rows where p, where not p, and where p is unknown are all rows.
    Partition,
    /// The same for an aggregate: parts are aggregate, combination, argument, source, condition.
    PartitionAggregate,
    /// The same for groups.
    PartitionGroups,
    /// As many rows match p in WHERE as have p true in the select list.
    NoIndex,
}

/// A check with its statement's parts.
#[derive(Clone, Debug)]
pub struct Case {
    pub check: Check,
    pub parts: Vec<Piece>,
    pub rules: Rules,
}

/// What a program's user variables are before it runs.
const PROGRAM_VARIABLES: &str = "SET @told = '', @u1 = 1, @u2 = 'a', @u3 = 2.5";

/// Questions that shrinking a statement, and its tables, may cost.
const STATEMENT_TRIES: usize = 600;
const ROW_TRIES: usize = 30;

/// The servers.
pub struct Court {
    pub heddle: Side,
    pub peer: Option<Side>,
}

impl Court {
    /// Makes the tables of a schema on every server; returns where the servers differ.
    pub fn build(&mut self, schema: &Schema) -> Vec<(Case, Schema, Difference)> {
        let settings = vec![
            "SET NAMES utf8mb4".to_owned(),
            "SET time_zone = '+00:00'".to_owned(),
            format!("SET sql_mode = '{}'", schema.mode),
            "SET max_execution_time = 3000".to_owned(),
        ];
        for side in self.sides() {
            side.set(settings.clone());
            side.run("DROP TABLE IF EXISTS t1, t2, t3, t4");
        }
        let mut found = Vec::new();
        let mut before = schema.without_tables();
        let rules = Rules { strict: true, warnings: true, shapes: true, ordered: true, ..Rules::default() };
        for table in &schema.tables {
            let case = Case { check: Check::Create, parts: vec![table.create.clone()], rules };
            if let Some(difference) = self.differs(&case) {
                found.push((case, before.clone(), difference));
                return found;
            }
            let mut with = table.clone();
            with.rows.clear();
            before.tables.push(with);
            self.both("BEGIN");
            for row in &table.rows {
                let (left, right) = self.both(&row.text());
                if let Some(difference) = right.and_then(|r| compare::difference(NAMES, &left, &r, rules)) {
                    found.push((Case { check: Check::Change, parts: vec![row.clone()], rules }, before.clone(), difference));
                } else if matches!(left.outcome, Outcome::Done { .. }) {
                    before.tables.last_mut().expect("it was pushed").rows.push(row.clone());
                }
            }
            self.both("COMMIT");
            let all = Piece::from(format!("SELECT * FROM {} ORDER BY id", table.name));
            let case = Case { check: Check::Peer, parts: vec![all], rules };
            if let Some(difference) = self.differs(&case) {
                found.push((case, before.clone(), difference));
            }
        }
        found
    }

    fn sides(&mut self) -> impl Iterator<Item = &mut Side> {
        std::iter::once(&mut self.heddle).chain(self.peer.as_mut())
    }

    fn both(&mut self, sql: &str) -> (Answer, Option<Answer>) {
        (self.heddle.run(sql), self.peer.as_mut().map(|peer| peer.run(sql)))
    }

    /// Asks, and compares.
    pub fn differs(&mut self, case: &Case) -> Option<Difference> {
        let text = |at: usize| case.parts.get(at).map(Piece::text).unwrap_or_default();
        match case.check {
            Check::Peer => {
                let (left, right) = self.both(&text(0));
                match right {
                    Some(right) => compare::difference(NAMES, &left, &right, case.rules),
                    None => alarming(&left),
                }
            }
            Check::Change => self.change_differs(&text(0), case.rules),
            Check::Program => self.program_differs(&text(0), &text(1), case.rules),
            Check::Create => self.create_differs(&text(0), case.rules),
            Check::Prepared => {
                let (left, right) = (self.heddle.run(&text(0)), self.heddle.run_prepared(&text(0), &[]));
                let rules = Rules { warnings: false, ..case.rules };
                if matches!((&left.outcome, &right.outcome), (Outcome::Error { .. }, Outcome::Error { .. })) {
                    return alarming(&right);
                }
                compare::difference(["text", "prepared"], &left, &right, rules)
            }
            Check::Parameters => {
                let (sql, given) = case.parts[0].text_with_parameters();
                let left = self.heddle.run_prepared(&sql, &given);
                match self.peer.as_mut().map(|peer| peer.run_prepared(&sql, &given)) {
                    Some(right) => compare::difference(NAMES, &left, &right, case.rules),
                    None => alarming(&left),
                }
            }
            Check::Steps => case.parts.iter().find_map(|part| {
                let (left, right) = self.both(&part.text());
                match right {
                    Some(right) => compare::difference(NAMES, &left, &right, case.rules),
                    None => alarming(&left),
                }
            }),
            Check::Hints => {
                let hinted = case.parts[0].text_with_hints();
                let (left, right) = (self.heddle.run(&text(0)), self.heddle.run(&hinted));
                let rules = Rules { warnings: false, ..case.rules };
                compare::difference(["plain", "with IGNORE INDEX"], &left, &right, rules)
            }
            _ => self.partition_differs(case),
        }
    }

    fn change_differs(&mut self, sql: &str, rules: Rules) -> Option<Difference> {
        self.both("BEGIN");
        let (left, right) = self.both(sql);
        let mut found = match &right {
            Some(right) => compare::difference(NAMES, &left, right, rules),
            None => alarming(&left),
        };
        let both_done = matches!(left.outcome, Outcome::Done { .. })
            && right.as_ref().is_some_and(|r| matches!(r.outcome, Outcome::Done { .. }));
        if found.is_none() && both_done {
            found = self.tables_differ();
        }
        self.both("ROLLBACK");
        found
    }

    fn tables_differ(&mut self) -> Option<Difference> {
        (1..=4).find_map(|n| {
            let (left, right) = self.both(&format!("SELECT * FROM t{n} ORDER BY id"));
            let difference = compare::difference(NAMES, &left, &right?, Rules::default())?;
            Some(Difference::new(format!("{} afterwards", difference.signature), difference.told))
        })
    }

    fn program_differs(&mut self, create: &str, run: &str, rules: Rules) -> Option<Difference> {
        for kind in ["PROCEDURE", "FUNCTION", "TRIGGER"] {
            self.both(&format!("DROP {kind} IF EXISTS {NAME}"));
        }
        let (left, right) = self.both(create);
        let Some(right) = right else { return alarming(&left) };
        if let Some(difference) = compare::difference(NAMES, &left, &right, rules) {
            return Some(Difference::new(format!("{} at CREATE", difference.signature), difference.told));
        }
        if !matches!(left.outcome, Outcome::Done { .. }) {
            return None;
        }
        self.both("BEGIN");
        self.both(PROGRAM_VARIABLES);
        let left = self.heddle.run_call(run);
        let right = self.peer.as_mut().map(|peer| peer.run_call(run)).unwrap_or_default();
        let mut found = left.iter().zip(&right).find_map(|(left, right)| compare::difference(NAMES, left, right, rules));
        if found.is_none() && left.len() != right.len() {
            found = Some(Difference::new("result sets", format!("-- {} and {}", left.len(), right.len())));
        }
        if found.is_none() {
            let (left, right) = self.both("SELECT @told, @u1, @u2, @u3");
            let rules = Rules { ordered: true, ..Rules::default() };
            let told = compare::difference(NAMES, &left, &right?, rules);
            found = told.map(|difference| Difference::new("what the program tells", difference.told));
        }
        let found = found.or_else(|| self.tables_differ());
        self.both("ROLLBACK");
        found
    }

    fn create_differs(&mut self, sql: &str, rules: Rules) -> Option<Difference> {
        let name = sql.split_whitespace().nth(2).unwrap_or_default().to_owned();
        self.both(&format!("DROP TABLE IF EXISTS {name}"));
        let (left, right) = self.both(sql);
        let Some(right) = right else { return alarming(&left) };
        compare::difference(NAMES, &left, &right, rules).or_else(|| {
            let (left, right) = self.both(&format!("SHOW CREATE TABLE {name}"));
            right.and_then(|right| compare::difference(NAMES, &left, &right, Rules { shapes: false, ..rules }))
        })
    }

    /// The checks without a peer: a whole, and what its parts add up to.
    fn partition_differs(&mut self, case: &Case) -> Option<Difference> {
        let [whole, parts] = partition(case)?;
        let gather = |side: &mut Side, statements: &[String]| -> Result<(Vec<_>, Vec<_>), Answer> {
            let mut all = (Vec::new(), Vec::new());
            for sql in statements {
                let answer = side.run(sql);
                match answer.outcome {
                    Outcome::Rows { columns, rows } => {
                        all.0 = columns;
                        all.1.extend(rows);
                    }
                    _ => return Err(answer),
                }
            }
            Ok(all)
        };
        let (left, right) = (gather(&mut self.heddle, &whole), gather(&mut self.heddle, &parts));
        match (left, right) {
            (Ok((columns, left)), Ok((_, right))) => {
                let rules = Rules { folded: true, ..Rules::default() };
                if compare::same_rows(&columns, &left, &right, rules) {
                    return None;
                }
                let tell = |rows| compare::tell(&Outcome::Rows { columns: Vec::new(), rows });
                let told = format!("-- whole: {}\n-- parts: {}", tell(left), tell(right));
                Some(Difference::new(format!("{:?}", case.check), told))
            }
            (Err(answer), _) | (_, Err(answer)) => alarming(&answer),
        }
    }

    /// The case and the schema, made as small as the difference allows.
    pub fn shrink(&mut self, case: &Case, schema: &Schema, difference: &Difference) -> (Case, Schema, Difference) {
        let (mut case, mut schema, mut last) = (case.clone(), schema.clone(), difference.clone());
        if difference.signature == "connection lost" {
            return (case, schema, last);
        }
        let mut tries = STATEMENT_TRIES;
        for at in 0..case.parts.len() {
            let mut base = case.clone();
            let part = piece::shrunk(&case.parts[at], &mut tries, |candidate| {
                base.parts[at] = candidate.clone();
                self.same(&base, &mut last)
            });
            case.parts[at] = part;
        }
        let mut tries = ROW_TRIES;
        let nothing = schema.without_tables();
        if case.check != Check::Program && self.persists(&case, &nothing, &mut last) {
            return (case, nothing, last);
        }
        for at in (0..schema.tables.len()).rev() {
            let mut fewer = schema.clone();
            let gone = fewer.tables.remove(at);
            // A program whose table is missing differs in other ways.
            let is_named = case.check == Check::Program && case.parts.iter().any(|part| part.text().contains(&gone.name));
            if is_named || !self.persists(&case, &fewer, &mut last) {
                let rows = Piece::list("", 0, schema.tables[at].rows.clone());
                let mut base = schema.clone();
                let kept = piece::shrunk(&rows, &mut tries, |candidate| {
                    base.tables[at].rows = items(candidate);
                    self.persists(&case, &base, &mut last)
                });
                schema.tables[at].rows = items(&kept);
                let mut base = schema.clone();
                schema.tables[at].create = piece::shrunk(&schema.tables[at].create.clone(), &mut tries, |candidate| {
                    base.tables[at].create = candidate.clone();
                    self.persists(&case, &base, &mut last)
                });
            } else {
                schema = fewer;
            }
        }
        (case, schema, last)
    }

    fn persists(&mut self, case: &Case, schema: &Schema, last: &mut Difference) -> bool {
        // What the servers made of the tables may be the very difference.
        self.build(schema);
        self.same(case, last)
    }

    fn same(&mut self, case: &Case, last: &mut Difference) -> bool {
        match self.differs(case) {
            Some(found) if found.signature == last.signature => {
                *last = found;
                true
            }
            _ => false,
        }
    }
}

pub const NAMES: [&str; 2] = ["heddle", "peer"];

fn items(list: &Piece) -> Vec<Piece> {
    match list {
        Piece::List { items, .. } => items.clone(),
        _ => Vec::new(),
    }
}

/// A panic or a lost connection is a finding whoever else was asked.
fn alarming(answer: &Answer) -> Option<Difference> {
    match &answer.outcome {
        Outcome::Lost(_) => Some(Difference::new("connection lost", compare::tell(&answer.outcome))),
        Outcome::Error { code: 1105, message } if message.starts_with("Internal") => {
            Some(Difference::new("a statement panicked", message.clone()))
        }
        _ => None,
    }
}

/// The statements of a whole and of its parts.
fn partition(case: &Case) -> Option<[Vec<String>; 2]> {
    let text = |at: usize| case.parts.get(at).map(Piece::text).unwrap_or_default();
    let three = |p: &str| [format!("({p})"), format!("(NOT ({p}))"), format!("(({p}) IS NULL)")];
    Some(match case.check {
        Check::Partition => {
            let (items, from, p) = (text(0), text(1), text(2));
            let parts = three(&p).map(|w| format!("SELECT {items} FROM {from} WHERE {w}"));
            [vec![format!("SELECT {items} FROM {from}")], parts.to_vec()]
        }
        Check::PartitionAggregate => {
            let (call, combine, of, from, p) = (text(0), text(1), text(2), text(3), text(4));
            let parts = three(&p).map(|w| format!("SELECT {call}({of}) AS v FROM {from} WHERE {w}"));
            let joined = parts.join(" UNION ALL ");
            [vec![format!("SELECT {call}({of}) FROM {from}")], vec![format!("SELECT {combine}(v) FROM ({joined}) AS parts")]]
        }
        Check::PartitionGroups => {
            let (key, from, p) = (text(0), text(1), text(2));
            let whole = format!("SELECT {key}, COUNT(*) FROM {from} GROUP BY {key}");
            [vec![whole.clone()], three(&p).map(|w| format!("{whole} HAVING {w}")).to_vec()]
        }
        Check::NoIndex => {
            let (from, p) = (text(0), text(1));
            let counted = format!("SELECT COUNT(*) FROM {from} WHERE {p}");
            [vec![counted], vec![format!("SELECT IFNULL(SUM(v), 0) FROM (SELECT ({p}) IS TRUE AS v FROM {from}) AS every")]]
        }
        _ => return None,
    })
}

/// A case as a script for a client.
pub fn script(case: &Case, schema: &Schema) -> String {
    let mut out = vec![format!("SET sql_mode = '{}'", schema.mode)];
    for table in &schema.tables {
        out.push(table.create.text());
        out.extend(table.rows.iter().map(Piece::text));
    }
    match partition(case) {
        Some([whole, parts]) => out.extend(whole.into_iter().chain(parts)),
        None if case.check == Check::Program => {
            let [create, run] = [0, 1].map(|at| case.parts[at].text());
            out.push(format!("DELIMITER //\n{create}//\nDELIMITER ;\n{PROGRAM_VARIABLES};\n{run};\nSELECT @told, @u1, @u2, @u3"));
        }
        None => {
            out.extend(case.parts.iter().map(Piece::text));
            if case.check == Check::Hints {
                out.push(case.parts[0].text_with_hints());
            }
            if case.check == Check::Parameters {
                let (sql, given) = case.parts[0].text_with_parameters();
                out.push(format!("-- prepared: {sql} with {}", given.join(" | ")));
            }
        }
    }
    out.join(";\n") + ";"
}
