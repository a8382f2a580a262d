//! How statements ended, by privileges; and the file of MySQL's answers.
//!
//! ```text
//! DROP ROLE acct_plain
//!     1227
//!     ok: CREATE USER; SUPER + CREATE USER
//! ```
//! Below each statement is first how it mostly ends, then each other end with the privileges that lead to it.

use std::collections::BTreeMap;
use std::fmt::Write;

/// MySQL's answers.
pub const RECORDED: &str = include_str!("mysql.txt");
/// Those of the matrix of levels.
pub const RECORDED_LEVELS: &str = include_str!("levels.txt");

/// `ok`, or the number of an error.
pub type Outcome = String;

#[derive(Debug, Default)]
pub struct Answers {
    order: Vec<String>,
    by_statement: BTreeMap<String, OfStatement>,
}

/// How one statement ends.
#[derive(Debug, Default)]
struct OfStatement {
    /// With privileges that are not listed.
    mostly: Option<Outcome>,
    listed: Vec<(String, Outcome)>,
}

impl OfStatement {
    fn with(&self, set: &str) -> Option<&Outcome> {
        let listed = self.listed.iter().find(|(known, _)| known == set).map(|(_, outcome)| outcome);
        listed.or(self.mostly.as_ref())
    }

    fn most_frequent(&self) -> &str {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, outcome) in &self.listed {
            *counts.entry(outcome).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map_or("", |(outcome, _)| outcome)
    }
}

impl Answers {
    pub fn put(&mut self, statement: &str, set: &str, outcome: Outcome) {
        if !self.by_statement.contains_key(statement) {
            self.order.push(statement.to_owned());
        }
        self.by_statement.entry(statement.to_owned()).or_default().listed.push((set.to_owned(), outcome));
    }

    /// In the order in which they came.
    pub fn statements(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str)
    }

    /// Puts another outcome in the place of the recorded one, for all statements that begin so.
    pub fn replace_where(&mut self, beginning: &str, set: &str, outcome: &str) {
        for (_, of) in self.by_statement.iter_mut().filter(|(statement, _)| statement.starts_with(beginning)) {
            of.listed.retain(|(known, _)| known != set);
            of.listed.push((set.to_owned(), outcome.to_owned()));
        }
    }

    /// Takes the recorded outcome where another one is known: by statement, set and outcome.
    pub fn forgive(&mut self, recorded: &Answers, is_known: &mut dyn FnMut(&str, &str, &str) -> bool) {
        for (statement, of) in &mut self.by_statement {
            for (set, outcome) in &mut of.listed {
                let recorded = recorded.by_statement.get(statement).and_then(|recorded| recorded.with(set));
                if let Some(recorded) = recorded.filter(|recorded| *recorded != outcome && is_known(statement, set, outcome)) {
                    outcome.clone_from(recorded);
                }
            }
        }
    }

    /// `SET: its outcome, not the recorded one`, for each set of privileges.
    pub fn differences(&self, seen: &Answers, statement: &str, sets: &[String]) -> Vec<String> {
        let Some(recorded) = self.by_statement.get(statement) else {
            return vec!["no answer of MySQL is recorded".to_owned()];
        };
        let seen = seen.by_statement.get(statement);
        let differs = |set: &String| {
            let (recorded, seen) = (recorded.with(set)?, seen?.with(set)?);
            (recorded != seen).then(|| format!("with {set}: {seen}, not {recorded}"))
        };
        sets.iter().filter_map(differs).collect()
    }

    pub fn to_text(&self) -> String {
        let mut text =
            String::from("# MySQL's answers, made by `privileges --record`: see main.rs and answers.rs beside this file.\n");
        for statement in &self.order {
            let answers = &self.by_statement[statement];
            let mostly = answers.most_frequent();
            let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for (set, outcome) in answers.listed.iter().filter(|(_, outcome)| outcome != mostly) {
                others.entry(outcome).or_default().push(set);
            }
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{statement}\n    {mostly}");
            for (outcome, sets) in others {
                let _ = writeln!(text, "    {outcome}: {}", sets.join("; "));
            }
        }
        text
    }

    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut answers = Answers::default();
        let mut statement = String::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some(answer) = line.strip_prefix("    ") else {
                statement = line.to_owned();
                answers.order.push(statement.clone());
                continue;
            };
            let of = answers.by_statement.entry(statement.clone()).or_default();
            match answer.split_once(": ") {
                None => of.mostly = Some(answer.to_owned()),
                Some((outcome, sets)) => {
                    of.listed.extend(sets.split("; ").map(|set| (set.to_owned(), outcome.to_owned())));
                }
            }
        }
        if statement.is_empty() { Err("the file of MySQL's answers is empty".to_owned()) } else { Ok(answers) }
    }
}
