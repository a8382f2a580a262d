//! LOAD DATA: splits a file into rows, and inserts them as INSERT does.
//!
//! For each row: 1. the columns' defaults; 2. the converted fields, in their order; 3. the values of SET, each evaluated over the row so
//! far; 4. AUTO_INCREMENT and the insert, as in `insert`.
//!
//! The file may be in another character set than the column: fields are converted to UTF-8, unless the column contains bytes.

use super::common::{is_strict, subquery_lock};
use super::defaults::{self, Default};
use super::done::DmlDone;
use super::foreign::Checker;
use super::insert::Inserting;
use super::writer::Writer;
use super::{Changes, rules, store};
use crate::clock::Slice;
use crate::context::ExecContext;
use crate::load::{ByteSource, Feed, Row, Split, Splitter};
use crate::pause::Step;
use crate::prepared::Prepared;
use crate::run::Run;
use crate::scratch::Scratch;
use crate::shared::Shared;
use crate::source::sources_of;
use conditions::Condition;
use expr::{Env, Error, Result, UserVariable};
use sql::plan::{Assignment, InsertPlan, InsertSource, LoadPlan, LoadTarget};
use std::borrow::Cow;
use types::charset::Charset;
use types::schema::ColumnDef;
use types::{ColumnType, LobSize, TypeKind, Value};

/// A row in the making: each column with its stored value.
type Values<'v> = Vec<(usize, Value<'v>)>;

/// Runs a LOAD DATA over the bytes of `source`, whose text is in `charset`.
pub(crate) async fn load(
    cx: &mut ExecContext<'_>,
    prepared: &Prepared,
    plan: &InsertPlan,
    source: &mut dyn ByteSource,
    charset: Charset,
    scratch: &mut Scratch,
    changes: &mut Changes,
) -> Result<DmlDone> {
    let InsertSource::File(file) = &plan.source else { panic!("load runs plans of LOAD DATA only") };
    let (table, shape) = prepared.target.as_ref().expect("a LOAD DATA has a target");
    let strict = is_strict(cx.session, plan.ignore);
    let shared = Shared::change(cx.session, cx.params, cx.host, strict);
    let mut insert = Inserting::new(plan, prepared, scratch, changes)?;
    insert.checker = Checker::new(prepared.foreign_keys.as_deref(), table, &shared, plan.ignore);

    let sources = sources_of(&prepared.sources);
    let own = Shared::change(cx.session, cx.params, cx.host, strict);
    let lock = subquery_lock(cx.txn);
    let mut run = Run::new(cx.worker, cx.txn, own, sources, Slice::until(None));
    run.set_parts(&plan.parts, &prepared.sources, lock);

    let loading = Loading { file, columns: &table.def().columns, defaults: &shape.defaults, text: text_type(charset), charset };
    let splitter = loading.splitter();
    let mut feed = Feed::new(source, run.memory_max());
    let mut row = Row::default();
    let mut left_out = file.lines_skipped;
    while left_out > 0 && splitter.has_line_end() {
        left_out -= 1;
        if feed.cut(|bytes, last| splitter.skip_line(bytes, last)).await? == Split::End {
            break;
        }
    }
    loop {
        match feed.cut(|bytes, last| splitter.row(bytes, last, &mut row)).await? {
            Split::End => break,
            Split::Invalid(field) => return Err(loading.invalid(&field)),
            Split::Row | Split::More => {}
        }
        if left_out > 0 {
            left_out -= 1;
            continue;
        }
        if let Err(pause) = run.tick() {
            run.resolve(pause).await?;
        }
        let number = insert.begin_row();
        let mut values = loading.values(&shared, &row, number)?;
        shared.row_done();
        for assignment in &file.assignments {
            let value = loop {
                match loading.assigned(&run.env(&[]), assignment, &values, number) {
                    Ok(value) => break value,
                    Err(pause) => run.resolve(pause).await?,
                }
            };
            run.row_done();
            values[assignment.column].1 = value;
        }
        if row.has_more {
            problem(&shared, too_many(number))?;
            shared.row_done();
        }
        let mut values: Vec<Value<'_>> = values.into_iter().map(|(_, value)| value).collect();
        if shape.has_expressions {
            rules::fill_defaults(&shared, table, &shape.defaults, |column| !file.gives(column), &mut values, number)?;
        }
        insert.complete(&mut Writer::new(cx.worker, run.txn, &shared), &mut values).await?;
    }
    drop(run);
    let done = insert.finish_load(&shared);
    insert.return_buffers(scratch);
    Ok(done)
}

/// The parameters that all rows of a file share.
struct Loading<'p> {
    file: &'p LoadPlan,
    columns: &'p [ColumnDef],
    defaults: &'p [Default],
    /// The type of a field's text.
    text: ColumnType,
    charset: Charset,
}

impl<'p> Loading<'p> {
    fn splitter(&self) -> Splitter {
        let width = |target: &LoadTarget| match target {
            LoadTarget::Column(column) => self.columns[*column].ty.field_bytes(),
            LoadTarget::Variable(_) => 0,
        };
        let widths = if self.file.format.is_fixed() { self.file.targets.iter().map(width).collect() } else { Vec::new() };
        Splitter::new(&self.file.format, self.charset, self.file.targets.len(), widths)
    }

    /// Makes a row of defaults, for the columns that no field sets.
    fn values<'r>(&self, shared: &Shared<'_>, row: &'r Row, number: u64) -> Result<Values<'r>>
    where
        'p: 'r,
    {
        let mut values = Vec::with_capacity(self.columns.len());
        for (column, default) in self.columns.iter().zip(self.defaults) {
            let value = match default {
                // A missing default raises no warning.
                Default::Missing => store::implicit_default(&column.ty),
                _ if column.auto_increment => store::implicit_default(&column.ty),
                _ => defaults::value(shared, default, column, false)?,
            };
            values.push((values.len(), value));
        }
        for (n, target) in self.file.targets.iter().enumerate() {
            let field = (n < row.len()).then(|| row.field(n));
            match target {
                LoadTarget::Variable(name) => self.set_variable(shared, name, field.flatten())?,
                LoadTarget::Column(column) => {
                    let default = std::mem::replace(&mut values[*column].1, Value::Null);
                    let column_def = &self.columns[*column];
                    values[*column].1 = match field {
                        None => self.missing(shared, column_def, default, number)?,
                        Some(None) => self.null(shared, column_def, number)?,
                        Some(Some(text)) => self.field(shared, text, column_def, number)?,
                    };
                }
            }
        }
        Ok(values)
    }

    /// The row has too few fields.
    fn missing<'r>(&self, shared: &Shared<'_>, column: &ColumnDef, default: Value<'r>, number: u64) -> Result<Value<'r>> {
        problem(shared, too_few(number))?;
        Ok(match column.ty.kind {
            TypeKind::Timestamp { .. } if !column.nullable => defaults::now(shared, column),
            _ if default.is_null() && !self.file.format.is_fixed() => default,
            _ => store::implicit_default(&column.ty),
        })
    }

    fn null<'r>(&self, shared: &Shared<'_>, column: &ColumnDef, number: u64) -> Result<Value<'r>> {
        if column.nullable || column.auto_increment {
            return Ok(Value::Null);
        }
        if matches!(column.ty.kind, TypeKind::Timestamp { .. }) {
            return Ok(defaults::now(shared, column));
        }
        problem(shared, null_for(column, number))?;
        Ok(store::implicit_default(&column.ty))
    }

    fn field<'r>(&self, shared: &Shared<'_>, text: &'r [u8], column: &'r ColumnDef, number: u64) -> Result<Value<'r>> {
        let (text, from) = if column.ty.is_binary_string() {
            (Cow::Borrowed(text), &column.ty)
        } else {
            (self.charset.decode(text).unwrap_or(Cow::Borrowed(text)), &self.text)
        };
        match text {
            Cow::Borrowed(text) => {
                // The converted value may be a part of the text, so it is borrowed as long as the text.
                let value = Value::Bytes(Cow::Borrowed(text));
                Ok(match store::convert(shared, &value, from, column, number)? {
                    Value::Bytes(stored) => Value::Bytes(lengthen(stored, text)),
                    stored => stored.into_owned(),
                })
            }
            Cow::Owned(text) => {
                let value = Value::Bytes(text.into());
                Ok(store::convert(shared, &value, from, column, number)?.into_owned())
            }
        }
    }

    fn set_variable(&self, shared: &Shared<'_>, name: &str, text: Option<&[u8]>) -> Result<()> {
        let value = match text {
            None => Value::Null,
            Some(text) => Value::Bytes(self.charset.decode(text).unwrap_or(Cow::Borrowed(text)).into_owned().into()),
        };
        let variable = UserVariable::new(value, self.text.clone());
        shared.session.assign_variable(name, variable, 0)?;
        Ok(())
    }

    /// The value of an assignment, evaluated over the row so far.
    fn assigned(
        &self,
        env: &Env<'_>,
        assignment: &Assignment,
        values: &[(usize, Value<'_>)],
        number: u64,
    ) -> Step<Value<'static>> {
        let column = &self.columns[assignment.column];
        let env = Env { overlay: values, ..*env };
        let Some(expr) = &assignment.value else {
            return Ok(defaults::value(env.shared, &self.defaults[assignment.column], column, true)?.into_owned());
        };
        let value = env.eval(expr)?;
        if !value.is_null() {
            let stored = store::convert(env.shared, &value, &expr.ty, column, number)?.into_owned();
            if !stored.is_null() {
                return Ok(stored);
            }
        }
        if column.nullable || column.auto_increment {
            Ok(Value::Null)
        } else {
            Ok(store::not_null(env.shared, column, env.shared.is_strict())?)
        }
    }

    fn invalid(&self, field: &[u8]) -> Error {
        let charset = self.charset.default_collation().charset();
        // As C prints it.
        let field = String::from_utf8_lossy(field.split(|byte| *byte == 0).next().unwrap_or_default());
        Error::from(Condition::InvalidCharacterString { charset: charset.into(), value: field.into() })
    }
}

/// The part of `text` that equals the value; a copy if it is not a part of it.
fn lengthen<'r>(stored: Cow<'_, [u8]>, text: &'r [u8]) -> Cow<'r, [u8]> {
    match stored {
        Cow::Borrowed(part) if text.starts_with(part) => Cow::Borrowed(&text[..part.len()]),
        other => Cow::Owned(other.into_owned()),
    }
}

/// The type of a text in this character set.
fn text_type(charset: Charset) -> ColumnType {
    match charset {
        Charset::Binary => ColumnType::new(TypeKind::Blob(LobSize::Long)),
        _ => ColumnType {
            collation: charset.default_collation(),
            ..ColumnType::new(TypeKind::VarChar { length: u32::from(u16::MAX) })
        },
    }
}

/// An error in strict mode, else a warning.
fn problem(shared: &Shared<'_>, error: Error) -> Result<()> {
    if shared.is_strict() {
        return Err(error);
    }
    shared.session.warn(error);
    Ok(())
}

fn too_few(row: u64) -> Error {
    Error::from(Condition::WarnTooFewRecords { row: row.into() })
}

fn too_many(row: u64) -> Error {
    Error::from(Condition::WarnTooManyRecords { row: row.into() })
}

fn null_for(column: &ColumnDef, row: u64) -> Error {
    let column = &column.name;
    Error::from(Condition::WarnNullToNotNull { column: column.into(), row: row.into() })
}
