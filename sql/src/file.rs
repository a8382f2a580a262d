//! The text file formats in plans: how a file represents values and rows, and what LOAD DATA does with the fields of a
//! row.

use crate::ast;
use crate::error::{Error, FileError, Result};
use crate::plan::Assignment;

/// FIELDS and LINES.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFormat {
    pub fields_terminated: Box<[u8]>,
    pub enclosed: Option<u8>,
    /// Only texts are enclosed.
    pub optionally: bool,
    pub escaped: Option<u8>,
    pub lines_starting: Box<[u8]>,
    pub lines_terminated: Box<[u8]>,
}

impl FileFormat {
    pub fn new(format: &ast::FileFormat<'_>) -> Result<Self> {
        let one = |text: &[u8]| match text {
            [] => Ok(None),
            [byte] => Ok(Some(*byte)),
            _ => Err(Error::File(FileError::Separator)),
        };
        Ok(Self {
            fields_terminated: format.fields_terminated.into(),
            enclosed: one(format.enclosed)?,
            optionally: format.optionally,
            escaped: one(format.escaped)?,
            lines_starting: format.lines_starting.into(),
            lines_terminated: format.lines_terminated.into(),
        })
    }

    /// Fields have the widths of their columns, and nothing between them.
    pub fn is_fixed(&self) -> bool {
        self.fields_terminated.is_empty() && self.enclosed.is_none()
    }

    /// Does any of the separators have bytes that are not ASCII?
    pub fn has_exotic(&self) -> bool {
        let single = self.enclosed.iter().chain(&self.escaped);
        let texts = self.fields_terminated.iter().chain(&self.lines_starting).chain(&self.lines_terminated);
        single.chain(texts).any(|byte| !byte.is_ascii())
    }
}

/// The options of LOAD DATA.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    pub format: FileFormat,
    /// IGNORE n LINES
    pub lines_skipped: u64,
    /// The targets of the fields of a row, in order.
    pub targets: Vec<LoadTarget>,
    /// SET: evaluated in this order, over the row as it is by then (source 0).
    pub assignments: Vec<Assignment>,
}

impl LoadPlan {
    /// Does a row get its value of this column from a field or from SET?
    pub fn gives(&self, column: usize) -> bool {
        self.targets.contains(&LoadTarget::Column(column)) || self.assignments.iter().any(|given| given.column == column)
    }
}

/// The target of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadTarget {
    Column(usize),
    /// A user variable, by its lower-case name.
    Variable(String),
}
