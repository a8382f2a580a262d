//! The session as seen by the binder of definitions.

use crate::session::{Binder, State};
use conditions::Condition;
use exec::program;
use expr::Level;
use sql::ast::Expr;
use sql::define::DefineContext;
use types::convert::{Severity, StoreContext};
use types::fulltext::{FullTextDef, Parser, StopWords};
use types::temporal::{DateRules, TimeZone};
use types::{ColumnType, Value};

impl DefineContext for State<'_> {
    fn is_strict(&self) -> bool {
        self.session.settings.mode.strict
    }

    fn literals(&self) -> StoreContext<'_> {
        let mode = self.session.settings.mode;
        StoreContext {
            strict: true,
            dates: DateRules {
                no_zero_date: mode.no_zero_date && mode.strict,
                no_zero_in_date: mode.no_zero_in_date && mode.strict,
                allow_invalid: mode.allow_invalid_dates,
            },
            truncate_fractional: mode.time_truncate_fractional,
            // The literal is kept as it is written, in the session's zone.
            zone: &TimeZone::Utc,
            now_utc_micros: self.execution.vars.statement_start_us,
        }
    }

    fn warn(&self, severity: Severity, condition: Condition) {
        let level = if severity == Severity::Note { Level::Note } else { Level::Warning };
        State::warn(self, level, condition);
    }

    fn full_text(&self, is_ngram: bool) -> FullTextDef {
        let parser = if is_ngram { Parser::Ngram { size: 2 } } else { Parser::Standard { min: 3, max: 84 } };
        let stop_words = if self.session.settings.stop_words { StopWords::Default } else { StopWords::None };
        FullTextDef { parser, stop_words }
    }

    fn constant(&self, expr: &Expr<'_>) -> sql::Result<Option<(Value<'static>, ColumnType)>> {
        let schema = self.schema();
        let bound = sql::bind_constant(expr, &Binder::new(self, &schema, &[]))?;
        let value = program::evaluate(&bound, &self.execution.vars, &[], true);
        let value = value.map_err(|error| crate::error::Error::Exec(error).condition())?;
        Ok(value.map(|value| (value, bound.ty)))
    }
}
