//! AS OF TIMESTAMP: has a scan read by a transaction of its own, whose snapshot is that of a moment that lies behind.
//!
//! 1. Before the first row the moment is evaluated, and the transaction begins (`txn::Worker::begin_past`).
//! 2. While the scan looks for a row, that transaction is in the place of the statement's, so whatever it reads is of the moment: entries of
//!    indexes, rows, large values. A scan never waits within a call (R1 in `run`), so nobody else meets it there.
//!
//! What the statement's transaction has changed itself is not of that moment, and is not seen. Nothing is locked.

use crate::pause::{Pause, Step, engine_error};
use crate::run::Run;
use conditions::Condition;
use expr::{Error, Expr};
use std::sync::LazyLock;
use table::Table;
use txn::{NoPast, Txn, Worker};
use types::{ColumnType, TypeKind, Value};

/// The type in which a moment is shown.
static MOMENT: LazyLock<ColumnType> = LazyLock::new(|| ColumnType::new(TypeKind::DateTime { fsp: 6 }));

pub(crate) struct AsOf<'p> {
    /// Seconds since 1970.
    moment: &'p Expr,
    table: Option<&'p Table>,
    past: Option<(Txn, &'p Worker)>,
}

impl<'p> AsOf<'p> {
    /// `table`: of the scan; `None`: it gives no row.
    pub fn new(moment: &'p Expr, table: Option<&'p Table>) -> Self {
        Self { moment, table, past: None }
    }

    /// Has `read` look for the next row of the moment.
    pub fn within(&mut self, run: &mut Run<'p>, read: impl FnOnce(&mut Run<'p>) -> Step<bool>) -> Step<bool> {
        if self.past.is_none() {
            let (past, _) = self.past.insert((self.begin(run)?, run.worker));
            // 1412: its trees are younger than the moment, and do not have its rows.
            self.table.map_or(Ok(()), |table| table.check_age(past)).map_err(|error| Pause::error(engine_error(error)))?;
        }
        let Some((past, _)) = &mut self.past else { unreachable!("begun above") };
        std::mem::swap(run.txn, past);
        let found = read(run);
        std::mem::swap(run.txn, past);
        found
    }

    #[cold]
    fn begin(&self, run: &mut Run<'p>) -> Step<Txn> {
        let value = run.env(&[]).eval(self.moment)?;
        let wrong = |condition: Condition| Pause::error(Error::Condition(Box::new(condition)));
        if value.is_null() {
            let (what, value, function) = ("datetime".into(), "NULL".into(), "AS OF TIMESTAMP".into());
            return Err(wrong(Condition::WrongValueForType { what, value, function }));
        }
        let seconds = run.env(&[]).as_double(&value)?;
        // Exact: 2^53 microseconds are 285 years.
        run.worker.begin_past((seconds * 1e6).round().max(0.0) as u64).map_err(|why| {
            wrong(match why {
                NoPast::Off => Condition::PastIsOff,
                NoPast::Future => Condition::PastIsFuture,
                NoPast::Gone(first) => {
                    let civil = run.shared.session.time_zone.to_civil(first as i64).unwrap_or_default();
                    let mut text = Vec::new();
                    types::convert::write_text(&Value::DateTime(civil), &MOMENT, &mut text);
                    Condition::PastIsGone { first: String::from_utf8_lossy(&text).into() }
                }
            })
        })
    }
}

impl Drop for AsOf<'_> {
    fn drop(&mut self) {
        if let Some((past, worker)) = &mut self.past {
            past.forget_snapshot(worker);
        }
    }
}
