//! Statements of a program that are no plans, and whose parts are all known when the program is read: nothing of them is parsed when
//! they run.

use super::{Code, Place};
use crate::ast::{Isolation, PrepareSource, SetItem, Show, Statement, TransactionEnd, VariableScope};

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// START TRANSACTION
    Begin {
        consistent_snapshot: bool,
        read_only: Option<bool>,
    },
    Commit(TransactionEnd),
    Rollback(TransactionEnd),
    Savepoint(Box<str>),
    RollbackTo(Box<str>),
    ReleaseSavepoint(Box<str>),
    /// SET TRANSACTION
    Transaction {
        scope: VariableScope,
        isolation: Option<Isolation>,
        read_only: Option<bool>,
    },
    /// SET NAMES; `None` is DEFAULT.
    Names {
        charset: Option<Box<[u8]>>,
        collation: Option<Box<[u8]>>,
    },
    /// SET CHARACTER SET
    CharacterSet(Option<Box<[u8]>>),
    /// SET of a user variable, its name in lower case.
    SetUser {
        name: Box<str>,
        value: Code,
    },
    /// SET of a system variable.
    SetSystem {
        scope: VariableScope,
        name: Box<str>,
        value: NewValue,
    },
    Call {
        database: Option<Box<str>>,
        name: Box<str>,
        args: Vec<Argument>,
    },
    Do(Vec<Code>),
    Prepare {
        name: Box<str>,
        source: Source,
    },
    Deallocate(Box<str>),
    /// SHOW WARNINGS, SHOW ERRORS
    Warnings {
        errors_only: bool,
        offset: u64,
        count: Option<u64>,
    },
    /// EXECUTE: the statement's name, and those of user variables.
    Execute {
        name: Box<str>,
        using: Vec<Box<str>>,
    },
}

/// What PREPARE reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    Text(Box<[u8]>),
    /// A user variable's name.
    Variable(Box<str>),
}

impl Source {
    fn of(source: PrepareSource<'_>) -> Self {
        match source {
            PrepareSource::Text(text) => Self::Text(text.into()),
            PrepareSource::Variable(name) => Self::Variable(name.into()),
        }
    }

    pub fn get(&self) -> PrepareSource<'_> {
        match self {
            Self::Text(text) => PrepareSource::Text(text),
            Self::Variable(name) => PrepareSource::Variable(name),
        }
    }
}

/// What a system variable is set to.
#[derive(Clone, Debug, PartialEq)]
pub enum NewValue {
    Default,
    /// A word, or a string.
    Text(Box<[u8]>),
    Computed(Code),
}

/// An argument of CALL.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    pub value: Code,
    /// Where it is a variable, which may take a value back.
    pub place: Option<Place>,
}

impl Action {
    /// The statement of those that compute nothing: an action of one, and back.
    pub(crate) fn of(statement: &Statement<'_>) -> Option<Self> {
        Some(match *statement {
            Statement::Begin { consistent_snapshot, read_only } => Self::Begin { consistent_snapshot, read_only },
            Statement::Commit(end) => Self::Commit(end),
            Statement::Rollback(end) => Self::Rollback(end),
            Statement::Savepoint(name) => Self::Savepoint(name.into()),
            Statement::RollbackTo(name) => Self::RollbackTo(name.into()),
            Statement::ReleaseSavepoint(name) => Self::ReleaseSavepoint(name.into()),
            Statement::Set([SetItem::Transaction { scope, isolation, read_only }]) => {
                Self::Transaction { scope: *scope, isolation: *isolation, read_only: *read_only }
            }
            Statement::Set([SetItem::Names { charset, collation }]) => {
                Self::Names { charset: charset.map(Into::into), collation: collation.map(Into::into) }
            }
            Statement::Set([SetItem::CharacterSet(charset)]) => Self::CharacterSet(charset.map(Into::into)),
            Statement::Prepare { name, source } => Self::Prepare { name: name.into(), source: Source::of(source) },
            Statement::Deallocate { name } => Self::Deallocate(name.into()),
            Statement::Show(Show::Warnings { errors_only, offset, count }) => Self::Warnings { errors_only, offset, count },
            Statement::Execute { name, using } => {
                Self::Execute { name: name.into(), using: using.iter().map(|name| (*name).into()).collect() }
            }
            _ => return None,
        })
    }

    /// A short listing, for tests.
    pub(super) fn listing(&self) -> String {
        match self {
            Self::SetUser { name, value } => format!("set @{name} = {}", value.text),
            Self::SetSystem { name, value: NewValue::Computed(value), .. } => format!("set @@{name} = {}", value.text),
            Self::SetSystem { name, value, .. } => format!("set @@{name} = {value:?}"),
            Self::Call { name, args, .. } => {
                let args: Vec<String> = args.iter().map(|arg| format!("{} {:?}", arg.value.text, arg.place)).collect();
                format!("call {name} ({})", args.join("; "))
            }
            Self::Do(values) => format!("do {}", values.iter().map(|value| &*value.text).collect::<Vec<_>>().join("; ")),
            other => format!("{other:?}"),
        }
    }
}
