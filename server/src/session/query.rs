//! COM_QUERY: the statements of one text, one after the other.
//!
//! A statement on rows is looked up in the worker's plan cache by its digest first, which needs neither a parse nor a plan; every
//! other one is parsed. Each statement but the last announces that another result follows.

use super::Recipient;
use super::context::without_parameters;
use super::run::{Destination, Ran};
use super::state::{Answer, Deferred, State};
use crate::counters::count;
use crate::digests::{Phase, Statistics};
use crate::error::{Error, Result};
use crate::plan_cache::PlanEntry;
use crate::record::{After, Name};
use conditions::Condition;
use exec::boxed;
use protocol::RowFormat;
use sql::Parsed;
use sql::ast::Statement;
use std::rc::Rc;
use types::{Value, recycle};

/// How often a statement is planned again because the schema changed meanwhile.
pub const PLAN_ATTEMPTS_MAX: u32 = 16;

impl State<'_> {
    /// Runs a text of one or several statements. An error ends the text.
    pub async fn query(&mut self, client: &mut Recipient<'_>, text: &[u8]) -> Result<()> {
        let decoded = match self.session.settings.client {
            Some(charset) => charset.decode_statement(text),
            None => text.into(),
        };
        // As in MySQL, trailing spaces and semicolons do not belong to the text.
        let text = trim(&decoded);
        let end = text.iter().rposition(|byte| !is_space(byte) && *byte != b';').map_or(0, |last| last + 1);
        let text = &text[..end];
        self.info.set_statement(text);
        self.run_texts(client, text).await
    }

    /// Runs the statements of a UTF-8 text.
    pub async fn run_texts(&mut self, client: &mut Recipient<'_>, text: &[u8]) -> Result<()> {
        let mut rest = text;
        self.connection.more_results = false;
        loop {
            self.begin_statement();
            if self.session.watched.general_log() {
                self.log_raw(without_end(rest));
            }
            let hints = sql::hints(rest);
            let replaced = if hints.is_empty() { None } else { Some(self.take_hints(&hints)) };
            let consumed = self.one(client, rest).await;
            if let Some(replaced) = replaced {
                self.put_back(replaced);
            }
            self.connection.more_results = false;
            if let Some(statistics) = self.session.statistics.take() {
                let end = *consumed.as_ref().unwrap_or(&rest.len());
                let text = without_end(&rest[..end]);
                let name = Name::of(self.info.counters.noted());
                let after = self.record(&statistics, text, consumed.is_err(), name);
                if after.is_any() {
                    self.end_noted(client, &statistics, after, text, consumed.as_ref().err());
                }
            }
            let consumed = consumed?;
            rest = trim(&rest[consumed..]);
            // If only one statement is allowed, comments may follow it.
            if rest.is_empty() || !self.connection.multi_statements {
                return Ok(());
            }
            count(&self.info.counters.events.questions);
        }
    }

    /// Does what is left to do with the text of a statement.
    #[cold]
    fn end_noted(
        &mut self,
        client: &mut Recipient<'_>,
        statistics: &Rc<Statistics>,
        after: After,
        text: &[u8],
        error: Option<&Error>,
    ) {
        if after.is_kept {
            self.keep_execution(statistics, text, error);
        }
        if after.is_logged {
            let sent = client.client().map_or(0, |client| client.output.uncounted());
            self.log_slow(text, error, sent);
        }
    }

    /// Runs the first statement of `text` and returns where it ends.
    async fn one(&mut self, client: &mut Recipient<'_>, text: &[u8]) -> Result<usize> {
        if let Some(log) = &self.worker.shared.binlog
            && crate::binary_log::mentions_gtids(text)
        {
            // The session's own commits are in the set that it reads.
            let log = std::sync::Arc::clone(log);
            Box::pin(self.catch_up(&log)).await?;
        }
        for _ in 0..PLAN_ATTEMPTS_MAX {
            match self.find_plan(text)? {
                Found::Plan { entry, values, end } => {
                    let outcome = self.run_plan(client, &entry, &values, &mut Destination::Client(RowFormat::Text)).await;
                    self.session.values = recycle(values);
                    if outcome.map_err(|error| self.as_bound(text, error))? == Ran::Done {
                        return Ok(end);
                    }
                }
                Found::Nothing => return self.parse_and_run(client, text).await,
            }
        }
        Err(Error::Exec(expr::Error::TableChanged { table: String::new() }))
    }

    /// A constant that is not a date, in a plan made for a date: binding the statement again reports it.
    #[cold]
    fn as_bound(&self, text: &[u8], error: Error) -> Error {
        let is_wrong_value = match &error {
            Error::Exec(expr::Error::WrongValue { .. }) => true,
            Error::Exec(expr::Error::Condition(condition)) => matches!(**condition, Condition::WrongValue { .. }),
            _ => false,
        };
        if !is_wrong_value {
            return error;
        }
        let arena = self.worker.arena();
        let parsed = sql::parse(&arena, text, &self.session.settings.mode);
        parsed.ok().and_then(|parsed| self.plan(&parsed).err()).unwrap_or(error)
    }

    /// Finds the plan of the first statement of `text` by its digest, or makes it. The literals are the parameters of
    /// the plan.
    fn find_plan<'t>(&mut self, text: &'t [u8]) -> Result<Found<'t>> {
        let worker = Rc::clone(&self.worker);
        // Taken while in use: during a long planning other sessions of the worker plan too.
        let mut lifted = worker.lifted.take();
        let found = self.find_plan_of(&worker, text, &mut lifted);
        worker.lifted.replace(lifted);
        found
    }

    fn find_plan_of<'t>(
        &mut self,
        worker: &Rc<crate::worker::Worker>,
        text: &'t [u8],
        lifted: &mut sql::Lifted,
    ) -> Result<Found<'t>> {
        let Some(digest) = sql::digest(text, &self.session.settings.mode, lifted) else { return Ok(Found::Nothing) };
        self.look_behind(text, digest.end)?;
        let kept = worker.plans.borrow().get(digest.key, self.session.settings.bind_key).and_then(|plan| plan.present(self));
        // If this session lacks a privilege, the statement is bound again, so that the error names everything that is
        // missing.
        let entry = match kept.filter(|entry| entry.needs.check(&self.session.access, &**worker).is_ok()) {
            Some(entry) => {
                count(&self.info.counters.events.plan_cache_hits);
                self.end_phase(Phase::Parse);
                self.log_query(without_end(&text[..digest.end]));
                self.session.statistics = entry.statistics.get().cloned();
                entry
            }
            None => {
                count(&self.info.counters.events.plan_cache_misses);
                let arena = worker.arena();
                let parsed = sql::parse_lifted(&arena, text, &self.session.settings.mode, lifted)?;
                if !parsed.statement.info().plannable || self.inserts_into_system_table(&parsed.statement) {
                    return Ok(Found::Nothing);
                }
                self.end_phase(Phase::Parse);
                self.log_query(without_end(&text[..digest.end]));
                let values: Vec<Value<'_>> = lifted.values(text).collect();
                let statistics = self.session.statistics.insert(self.statistics_of(text)).clone();
                let planned = self.plan_for(&parsed, &values).inspect_err(|_| self.note_statement(&parsed.statement))?;
                self.end_phase(Phase::Plan);
                let entry = Rc::clone(&planned.entry);
                if !parsed.deprecated.is_empty() {
                    let _ = entry.deprecated.set(deprecations(&parsed));
                }
                if let Some(plan) = planned.kept(self) {
                    // A plan belongs to one digest, which is set once.
                    let _ = entry.statistics.set(statistics);
                    worker.plans.borrow_mut().put(digest.key, self.session.settings.bind_key, plan);
                }
                entry
            }
        };
        self.clear_warnings();
        if let Some(deprecated) = entry.deprecated.get() {
            self.warn_all(deprecated);
        }
        let mut values = recycle(std::mem::take(&mut self.session.values));
        values.extend(lifted.values(text));
        Ok(Found::Plan { entry, values, end: digest.end })
    }

    /// Notes whether another statement follows, and refuses it if only one is allowed.
    fn look_behind(&mut self, text: &[u8], end: usize) -> Result<()> {
        let rest = trim(&text[end..]);
        if rest.is_empty() || self.connection.multi_statements {
            self.connection.more_results = !rest.is_empty();
        } else if !sql::is_blank(rest, &self.session.settings.mode) {
            return Err(Error::Sql(second_statement(rest, &text[..end])));
        }
        Ok(())
    }

    async fn parse_and_run(&mut self, client: &mut Recipient<'_>, text: &[u8]) -> Result<usize> {
        let arena = self.worker.arena();
        let parsed = sql::parse(&arena, text, &self.session.settings.mode)?;
        self.look_behind(text, parsed.end)?;
        if parsed.params > 0 {
            return Err(Error::Sql(sql::Error::Syntax { near: "?".to_owned(), line: 1 }));
        }
        if matches!(parsed.statement, Statement::LoadData(load) if load.local)
            && client.client().is_none_or(|client| client.input.is_none())
        {
            self.connection.deferred = Some(Deferred::Text(text.into()));
            return Ok(text.len());
        }
        if matches!(parsed.statement, Statement::Empty) && text[..parsed.end].iter().any(|byte| !b" \t\r\n;".contains(byte)) {
            // A text with only a comment is not an error, and not a statement; clients send such texts from files.
            self.write_ok(client, &Answer::default());
            return Ok(parsed.end);
        }
        self.end_phase(Phase::Parse);
        self.log_query(without_end(&text[..parsed.end]));
        self.session.statistics = Some(self.statistics_of_parsed(text, parsed.repeated));
        if !parsed.deprecated.is_empty() {
            self.session.deprecated = deprecations(&parsed);
        }
        self.note_definition(&parsed.statement, &text[..parsed.end]);
        let outcome = self.run_statement(client, &parsed.statement, RowFormat::Text).await;
        self.session.deprecated = Box::default();
        outcome?;
        Ok(parsed.end)
    }

    /// Keeps the text of a definition for the binary log.
    pub fn note_definition(&mut self, statement: &Statement<'_>, text: &[u8]) {
        if self.worker.shared.binlog.is_some() && statement.info().implicit_commit {
            let text = String::from_utf8_lossy(without_end(text));
            let definer = &self.session.access.name;
            self.session.definition = crate::binary_log::with_definer(statement, &text, definer).into();
        }
    }

    /// Runs a parsed statement and writes its answer.
    pub async fn run_statement(
        &mut self,
        client: &mut Recipient<'_>,
        statement: &Statement<'_>,
        format: RowFormat,
    ) -> Result<()> {
        if !statement.info().plannable {
            // Boxed: rare, and it would make every session larger.
            return boxed(|| self.run_other(client, statement, &[], format)).await;
        }
        if self.inserts_into_system_table(statement) {
            return Box::pin(self.restore_rows(client, statement)).await;
        }
        for _ in 0..PLAN_ATTEMPTS_MAX {
            let planned = self.plan(&without_parameters(*statement))?;
            self.end_phase(Phase::Plan);
            self.clear_warnings();
            match self.run_plan(client, &planned.entry, &[], &mut Destination::Client(format)).await? {
                Ran::Done => return Ok(()),
                Ran::Stale => {}
            }
        }
        Err(Error::Exec(expr::Error::TableChanged { table: String::new() }))
    }
}

/// The warnings about deprecated forms in a statement.
#[cold]
pub fn deprecations(parsed: &Parsed<'_>) -> Box<[Condition]> {
    parsed.deprecated.iter().map(|form| form.condition()).collect()
}

/// The result of looking a statement up by its digest.
enum Found<'t> {
    Plan {
        entry: Rc<PlanEntry>,
        values: Vec<Value<'t>>,
        end: usize,
    },
    /// No plan is kept for this statement.
    Nothing,
}

/// Is it a space or a zero byte?
fn is_space(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || *byte == 0
}

/// Removes spaces and zero bytes from both ends.
fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_space(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_space(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// A statement without its final `;`.
fn without_end(text: &[u8]) -> &[u8] {
    trim(text.strip_suffix(b";").unwrap_or(text))
}

/// MySQL's error for a second statement where only one is allowed.
fn second_statement(rest: &[u8], before: &[u8]) -> sql::Error {
    let near: String = String::from_utf8_lossy(rest).chars().take(80).collect();
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u32;
    sql::Error::Syntax { near, line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_trimmed() {
        assert_eq!(trim(b" \n SELECT 1 \0"), b"SELECT 1");
        assert_eq!(trim(b" \t"), b"");
    }

    #[test]
    fn a_second_statement_is_named() {
        assert_eq!(second_statement(b"SELECT 2", b"SELECT\n1;"), sql::Error::Syntax { near: "SELECT 2".into(), line: 2 });
    }
}
