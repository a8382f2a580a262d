//! Expressions against a table of results: `tests/data/expressions.txt`, made with a MySQL server (`SET NAMES utf8mb4`,
//! `time_zone = '+00:00'`, `timestamp = 1700000000`). `!1690` is an error.

use crate::shared::Shared;
use crate::wait::NoHost;
use expr::Pause;
use expr::{Env, Error, SessionVars};
use sql::plan::BindContext;
use types::schema::{Schema, TableDef};
use types::{CollationId, ColumnType, SqlMode, Value};

struct Context<'s> {
    schema: Schema,
    session: &'s SessionVars,
}

impl BindContext for Context<'_> {
    fn database(&self) -> Option<&str> {
        None
    }
    fn schema(&self) -> &Schema {
        &self.schema
    }
    fn system_variable(&self, _global: bool, _name: &str) -> Option<(Value<'static>, ColumnType)> {
        None
    }
    fn row_count(&self, _table: &TableDef) -> u64 {
        0
    }
    fn sql_mode(&self) -> SqlMode {
        self.session.sql_mode
    }
    fn connection_collation(&self) -> CollationId {
        self.session.collation
    }
}

fn session() -> SessionVars {
    let mut session = SessionVars::new(1, "root@localhost", "root@localhost");
    session.statement_start_us = 1_700_000_000_000_000;
    session
}

/// The text a client would get for an expression.
fn evaluate(text: &str) -> Result<String, String> {
    let session = session();
    let context = Context { schema: Schema::default(), session: &session };
    let arena = sql::Arena::new();
    let parsed = sql::parse_expression(&arena, text.as_bytes(), &session.sql_mode).map_err(|e| format!("parse: {e:?}"))?;
    let expr = sql::bind_constant(&parsed, &context).map_err(|e| format!("bind: {e:?}"))?;
    let shared = Shared::new(&session, &[], &NoHost);
    let env = Env { rows: &expr::NoRows, slots: &[], insert: &[], overlay: &[], shared: &shared };
    let value = env.eval(&expr).and_then(|value| env.finish(value, &expr.ty, &expr.ty));
    match value {
        Ok(Value::Null) => Ok("NULL".into()),
        Ok(value) => {
            let mut out = Vec::new();
            types::convert::write_text(&value, &expr.ty, &mut out);
            Ok(String::from_utf8_lossy(&out).into_owned())
        }
        Err(Pause::Error(error)) if matches!(*error, Error::OutOfRange { .. }) => Err("1690".into()),
        Err(other) => Err(format!("{other:?}")),
    }
}

#[test]
fn expressions_give_what_mysql_gives() {
    let mut wrong = Vec::new();
    let cases = include_str!("../tests/data/expressions.txt");
    for line in cases.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let (text, expected) = line.rsplit_once(" => ").expect("a case has an arrow");
        let got = match evaluate(text) {
            Ok(got) => got.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t"),
            Err(why) => format!("!{why}"),
        };
        // The number of an error is compared only for errors of evaluation; the binder has its own tests.
        let same_error = expected.starts_with('!') && got.starts_with('!') && expected != "!1690";
        if got != expected && !same_error {
            wrong.push(format!("{text} => {got}, expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
