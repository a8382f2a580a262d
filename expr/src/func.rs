//! The built-in functions, as expressions name them.
//!
//! A function is a constant, such as [`Function::ABS`], that stands for its [`Row`]. The rows are tables at the heads of the files in
//! `expr/src/function`, one for each area.
//!
//! The arguments of calls with their own grammar:
//! - `DATE_ADD(date, amount, unit)`, `DATE_SUB` the same; `EXTRACT(unit, date)`; `TIMESTAMPADD(unit, amount, date)`;
//!   `TIMESTAMPDIFF(unit, from, to)`: the unit is a string literal in capitals, `'DAY_HOUR'`.
//! - `TRIM(text)`, `TRIM(text, what)`; `LTRIM` and `RTRIM` the same, for LEADING and TRAILING.
//! - `POSITION(a IN b)` is `LOCATE(a, b)`; `x REGEXP y` is `REGEXP_LIKE(x, y)`; `x || y` may be `CONCAT(x, y)`.
//! - `col -> path` is `JSON_EXTRACT(col, path)`, `col ->> path` is `JSON_UNQUOTE` of that.
//! - `CONVERT(x USING c)` and `BINARY x` are casts. `x COLLATE c` is `x` with another collation in its type.
//! - CASE, IF, IFNULL, COALESCE, NULLIF, GREATEST, LEAST: arguments keep their types; the node's type is the common
//!   one.

use crate::function::row::{Implementation, Row};
use crate::function::{self, names};

/// A scalar function, or an operator that is a function: the number of a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Function {
    area: Area,
    number: u8,
}

/// The files of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Area {
    Cipher,
    Control,
    Date,
    Encode,
    Forms,
    FullText,
    Identifier,
    Information,
    Json,
    Math,
    Regexp,
    SpatialChanges,
    SpatialMake,
    SpatialMeasures,
    SpatialParts,
    SpatialRelations,
    SpatialShow,
    String,
    Vector,
    Xml,
}

impl Area {
    /// All areas, in the order of their names.
    pub const ALL: [Self; 20] = {
        use Area::*;
        [
            Cipher,
            Control,
            Date,
            Encode,
            Forms,
            FullText,
            Identifier,
            Information,
            Json,
            Math,
            Regexp,
            SpatialChanges,
            SpatialMake,
            SpatialMeasures,
            SpatialParts,
            SpatialRelations,
            SpatialShow,
            String,
            Vector,
            Xml,
        ]
    };

    pub fn rows(self) -> &'static [Row] {
        self.tables().0
    }

    #[inline]
    fn tables(self) -> (&'static [Row], &'static [Implementation]) {
        match self {
            Self::Cipher => (function::cipher::ROWS, function::cipher::CALLS),
            Self::Control => (function::control::ROWS, function::control::CALLS),
            Self::Date => (function::date::ROWS, function::date::CALLS),
            Self::Encode => (function::encode::ROWS, function::encode::CALLS),
            Self::Forms => (function::forms::ROWS, function::forms::CALLS),
            Self::FullText => (function::fulltext::ROWS, function::fulltext::CALLS),
            Self::Identifier => (function::identifier::ROWS, function::identifier::CALLS),
            Self::Information => (function::information::ROWS, function::information::CALLS),
            Self::Json => (function::json::ROWS, function::json::CALLS),
            Self::Math => (function::math::ROWS, function::math::CALLS),
            Self::Regexp => (function::regexp::ROWS, function::regexp::CALLS),
            Self::SpatialChanges => (function::spatial::change::ROWS, function::spatial::change::CALLS),
            Self::SpatialMake => (function::spatial::make::ROWS, function::spatial::make::CALLS),
            Self::SpatialMeasures => (function::spatial::measure::ROWS, function::spatial::measure::CALLS),
            Self::SpatialParts => (function::spatial::parts::ROWS, function::spatial::parts::CALLS),
            Self::SpatialRelations => (function::spatial::relate::ROWS, function::spatial::relate::CALLS),
            Self::SpatialShow => (function::spatial::show::ROWS, function::spatial::show::CALLS),
            Self::String => (function::string::ROWS, function::string::CALLS),
            Self::Vector => (function::vector::ROWS, function::vector::CALLS),
            Self::Xml => (function::xml::ROWS, function::xml::CALLS),
        }
    }
}

impl Function {
    pub(crate) const fn new(area: Area, number: u8) -> Self {
        Self { area, number }
    }

    /// The function that a call names, in any case, with the fewest and the most arguments.
    pub fn by_name(name: &str) -> Option<(Self, usize, usize)> {
        names::find(name)
    }

    #[cfg(test)]
    pub(crate) fn area(self) -> Area {
        self.area
    }

    /// What is known of it.
    #[inline]
    pub fn row(self) -> &'static Row {
        &self.area.rows()[usize::from(self.number)]
    }

    /// Its implementation.
    #[inline]
    pub(crate) fn implementation(self) -> Implementation {
        self.area.tables().1[usize::from(self.number)]
    }

    /// The name in messages, in capitals.
    pub fn name(self) -> &'static str {
        self.row().name
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
