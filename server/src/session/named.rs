//! PREPARE, EXECUTE and DEALLOCATE PREPARE in SQL. Statements on rows keep their plan while it is valid; others are
//! parsed at each execution.

use super::prepared::check_other;
use super::query::{PLAN_ATTEMPTS_MAX, deprecations};
use super::run::{Destination, Ran, owned};
use super::state::{Answer, State};
use super::{IDS, Recipient};
use crate::counters::Command;
use crate::error::{Error, Result};
use crate::plan_cache::{KeptPlan, PlanEntry};
use conditions::Condition;
use exec::boxed;
use protocol::RowFormat;
use sql::HintedVariable;
use sql::ast::{PrepareSource, Statement};
use std::collections::BTreeMap;
use std::rc::Rc;
use types::charset::Charset;
use types::{SqlMode, Value};

/// Statements by lower-case name.
pub type NamedStatements = BTreeMap<String, NamedStatement>;

pub struct NamedStatement {
    text: Rc<[u8]>,
    hints: Rc<[HintedVariable]>,
    parameters: usize,
    plan: Option<KeptPlan>,
    /// It is being executed: it can neither be executed recursively nor be removed.
    runs: bool,
}

impl State<'_> {
    /// PREPARE name FROM ...
    pub fn prepare_named(&mut self, client: &mut Recipient<'_>, name: &str, source: &PrepareSource<'_>) -> Result<()> {
        let key = name.to_lowercase();
        // As in MySQL, a failed PREPARE removes the statement of that name.
        self.forget_named(&key)?;
        let limit = self.worker.shared.globals().get(IDS.max_prepared_stmt_count).as_u64();
        if self.session.named.len() as u64 >= limit {
            return Err(Condition::MaxPreparedStmtCountReached { limit: limit.into() }.into());
        }
        let text: Rc<[u8]> = match source {
            PrepareSource::Text(text) => (*text).into(),
            PrepareSource::Variable(name) => {
                let text = self.execution.vars.user_variable(&name.to_lowercase(), |variable| match &variable.value {
                    Value::Bytes(bytes) => bytes.as_ref().into(),
                    Value::Null => b"NULL"[..].into(),
                    other => format!("{other:?}").into_bytes().into(),
                });
                text.unwrap_or_else(|| b"NULL"[..].into())
            }
        };
        let arena = self.worker.arena();
        // The text is a value of the server, not the client's own bytes.
        let mode = SqlMode { client: Charset::Utf8mb4, ..self.session.settings.mode };
        let parsed = sql::parse(&arena, &text, &mode)?;
        if self.session.watched.logs() {
            self.log_prepared("Prepare", &text, &[]);
        }
        if !sql::is_blank(&text[parsed.end..], &self.session.settings.mode) {
            let near = String::from_utf8_lossy(&text[parsed.end..]).trim().chars().take(80).collect();
            return Err(Error::Sql(sql::Error::Syntax { near, line: 1 }));
        }
        let mut plan = None;
        match &parsed.statement {
            Statement::Empty => return Err(Condition::EmptyQuery.into()),
            statement if statement.info().plannable => {
                plan = self.plan(&parsed)?.kept(self);
            }
            _ => check_other(self, &parsed)?,
        }
        self.warn_all(&deprecations(&parsed));
        let parameters = parsed.params as usize;
        drop(arena);
        self.session.named.insert(
            key,
            NamedStatement { hints: sql::hints(text.trim_ascii_start()).into(), text, parameters, plan, runs: false },
        );
        self.info.prepared.set(self.info.prepared.get() + 1);
        let info = "Statement prepared";
        self.write_ok(client, &Answer { info, ..Answer::default() });
        Ok(())
    }

    /// EXECUTE name USING @a, ...
    pub async fn execute_named(
        &mut self,
        client: &mut Recipient<'_>,
        name: &str,
        using: &[&str],
        format: RowFormat,
    ) -> Result<()> {
        let key = name.to_lowercase();
        let Some(statement) = self.session.named.get_mut(&key) else {
            return Err(Condition::UnknownStmtHandler { handler: name.into(), given_to: "EXECUTE".into() }.into());
        };
        refuse_running(statement)?;
        statement.runs = true;
        let hints = Rc::clone(&statement.hints);
        let replaced = if hints.is_empty() { None } else { Some(self.take_hints(&hints)) };
        let outcome = self.execute_found(client, &key, using, format).await;
        if let Some(replaced) = replaced {
            self.put_back(replaced);
        }
        if let Some(statement) = self.session.named.get_mut(&key) {
            statement.runs = false;
        }
        outcome
    }

    async fn execute_found(&mut self, client: &mut Recipient<'_>, key: &str, using: &[&str], format: RowFormat) -> Result<()> {
        let statement = &self.session.named[key];
        if statement.parameters != using.len() {
            return Err(Condition::WrongArguments { what: "EXECUTE".into() }.into());
        }
        let text = Rc::clone(&statement.text);
        // If this session lacks a privilege, the statement is bound again, so that the error names everything that is
        // missing.
        let may = |entry: &Rc<PlanEntry>| entry.needs.check(&self.session.access, &*self.worker).is_ok();
        let before = statement.plan.as_ref().map(|plan| Rc::clone(&plan.what));
        let kept = statement.plan.as_ref().and_then(|plan| plan.present(self)).filter(may);
        let values: Vec<Value<'static>> = using
            .iter()
            .map(|name| {
                let value = self.execution.vars.user_variable(&name.to_lowercase(), |variable| owned(&variable.value));
                value.unwrap_or(Value::Null)
            })
            .collect();
        if self.session.watched.logs() {
            self.log_executed(&text, &values);
        }
        if let Some(entry) = kept.filter(|entry| entry.params.serve(&values)) {
            self.clear_warnings();
            if self.run_plan(client, &entry, &values, &mut Destination::Client(format)).await? == Ran::Done {
                return Ok(());
            }
        }
        let arena = self.worker.arena();
        // The text is a value of the server, not the client's own bytes.
        let mode = SqlMode { client: Charset::Utf8mb4, ..self.session.settings.mode };
        let parsed = sql::parse(&arena, &text, &mode)?;
        if let Statement::Call(call) = &parsed.statement {
            self.clear_warnings();
            self.info.counters.note(Command::CallProcedure);
            let given = crate::routine::Given { values: &values, names: using };
            return boxed(|| crate::routine::call(self, client, call, given, format)).await;
        }
        if !parsed.statement.info().plannable {
            self.note_definition(&parsed.statement, &text);
            return boxed(|| self.run_other(client, &parsed.statement, &values, format)).await;
        }
        for _ in 0..PLAN_ATTEMPTS_MAX {
            let planned = match &before {
                Some(before) => self.plan_anew(&parsed, &values, before)?,
                None => self.plan_given(&parsed, &values)?,
            };
            let entry = Rc::clone(&planned.entry);
            let plan = planned.kept(self);
            if let Some(statement) = self.session.named.get_mut(key) {
                statement.plan = plan;
            }
            self.clear_warnings();
            let mut to = Destination::Client(format);
            if self.run_plan(client, &entry, &values, &mut to).await? == Ran::Done {
                return Ok(());
            }
        }
        Err(Error::Exec(expr::Error::TableChanged { table: String::new() }))
    }

    fn forget_named(&mut self, key: &str) -> Result<bool> {
        self.session.named.get(key).map_or(Ok(()), refuse_running)?;
        let found = self.session.named.remove(key).is_some();
        if found {
            self.info.prepared.set(self.info.prepared.get() - 1);
        }
        Ok(found)
    }

    /// DEALLOCATE PREPARE name
    pub fn deallocate_named(&mut self, client: &mut Recipient<'_>, name: &str) -> Result<()> {
        if !self.forget_named(&name.to_lowercase())? {
            return Err(Condition::UnknownStmtHandler { handler: name.into(), given_to: "DEALLOCATE PREPARE".into() }.into());
        }
        self.write_ok(client, &Answer::default());
        Ok(())
    }
}

fn refuse_running(statement: &NamedStatement) -> Result<()> {
    if !statement.runs {
        return Ok(());
    }
    Err(Error::from(Condition::PsNoRecursion))
}
