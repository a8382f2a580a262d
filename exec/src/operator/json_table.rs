//! The rows of JSON_TABLE. The scan of the derived table keeps them.

use crate::pause::Step;
use crate::run::Run;
use conditions::Condition;
use expr::function::{read_document, scalar_of};
use expr::packed::Packer;
use expr::{Error, SessionVars};
use sql::plan::{JsonOn, JsonOutput, JsonTablePlan};
use types::json::{Json, TableCell, TableRows, TooManyRows};
use types::{TypeKind, Value};

/// Rows out of a document.
pub(crate) struct JsonTableRows<'p> {
    plan: &'p JsonTablePlan,
    /// The rows of the document, once it is known.
    rows: Option<TableRows>,
    slots: Vec<u8>,
}

impl<'p> JsonTableRows<'p> {
    pub fn new(plan: &'p JsonTablePlan) -> Self {
        Self { plan, rows: None, slots: Vec::new() }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        run.tick()?;
        let rows = match &mut self.rows {
            Some(rows) => rows,
            none => none.insert(start(self.plan, run)?),
        };
        let cells = rows.next(&self.plan.columns).map_err(|TooManyRows| too_many_rows())?;
        types::work::finish()?;
        let Some(cells) = cells else { return Ok(false) };
        self.slots.clear();
        let mut packer = Packer::new(&mut self.slots, self.plan.outputs.len());
        for (cell, output) in cells.into_iter().zip(&self.plan.outputs) {
            packer.push(&value_of(run.shared.session, cell, output)?);
        }
        Ok(true)
    }

    pub fn rewind(&mut self) {
        self.rows = None;
    }

    pub fn slots(&self) -> &[u8] {
        &self.slots
    }
}

/// The rows of the current document.
fn start<'p>(plan: &'p JsonTablePlan, run: &Run<'p>) -> Step<TableRows> {
    let document = run.env(&[]).eval(&plan.document)?;
    let document = read_document(&document, &plan.document.ty, 0, "json_table")?;
    run.row_done();
    let rows = document.map_or_else(TableRows::default, |document| TableRows::new(&document, &plan.path));
    types::work::finish()?;
    Ok(rows)
}

/// A column's value for the documents that its path found.
fn value_of(session: &SessionVars, cell: TableCell, output: &JsonOutput) -> Result<Value<'static>, Error> {
    let found = match cell {
        TableCell::Absent => return Ok(Value::Null),
        TableCell::Ordinal(number) => return Ok(Value::UInt(number)),
        TableCell::Exists(exists) => return stored(session, Json::Int(exists.into()), output),
        TableCell::Found(found) => found,
    };
    let is_document = output.ty.kind == TypeKind::Json;
    let problem = match <[Json; 1]>::try_from(found) {
        Ok([one]) if is_document || !matches!(one, Json::Array(_) | Json::Object(_)) => match stored(session, one, output) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        },
        Err(none) if none.is_empty() => return answer(session, &output.on_empty, output, || missing(output)),
        Err(several) if is_document => return stored(session, Json::Array(several), output),
        _ => no_scalar(output),
    };
    answer(session, &output.on_error, output, || problem)
}

fn answer(
    session: &SessionVars,
    on: &JsonOn,
    output: &JsonOutput,
    error: impl FnOnce() -> Error,
) -> Result<Value<'static>, Error> {
    match on {
        JsonOn::Null => Ok(Value::Null),
        JsonOn::Error => Err(error()),
        JsonOn::Default(document) => stored(session, document.clone(), output),
    }
}

/// A value as the column's type has it.
fn stored(session: &SessionVars, found: Json, output: &JsonOutput) -> Result<Value<'static>, Error> {
    if found == Json::Null {
        return Ok(Value::Null);
    }
    if output.ty.kind == TypeKind::Json {
        return Ok(Value::Bytes(found.to_binary().into()));
    }
    let is_text = matches!(found, Json::String(_));
    scalar_of(session, &found, &output.ty).ok_or_else(|| unsuitable(output, is_text))
}

#[cold]
fn missing(output: &JsonOutput) -> Error {
    Error::from(Condition::MissingJsonTableValue { column: (&output.name).into() })
}

#[cold]
fn no_scalar(output: &JsonOutput) -> Error {
    Error::from(Condition::WrongJsonTableValue { column: (&output.name).into() })
}

#[cold]
fn too_many_rows() -> Error {
    Error::NotSupported("so many rows of one value in JSON_TABLE".to_owned())
}

/// A text that is not a number is error 3156; otherwise the number does not fit.
#[cold]
fn unsuitable(output: &JsonOutput, is_text: bool) -> Error {
    let number = match output.ty.kind {
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => Some("INTEGER"),
        TypeKind::Decimal { .. } => Some("DECIMAL"),
        TypeKind::Float | TypeKind::Double => Some("DOUBLE"),
        _ => None,
    };
    match number.filter(|_| is_text) {
        Some(number) => Error::from(Condition::InvalidJsonValueForCast {
            kind: number.into(),
            column: (&output.name).into(),
            row: "1".into(),
        }),
        None => Error::from(Condition::JtValueOutOfRange { column: (&output.name).into() }),
    }
}
