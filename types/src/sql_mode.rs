//! The SQL mode of a session: which dialect a text is read in, and how strict conversions are.

use crate::charset::Charset;

/// The parts of sql_mode that parsing and execution depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlMode {
    pub strict: bool,
    pub ansi_quotes: bool,
    pub pipes_as_concat: bool,
    pub no_backslash_escapes: bool,
    pub only_full_group_by: bool,
    pub no_zero_date: bool,
    pub no_zero_in_date: bool,
    pub error_for_division_by_zero: bool,
    pub no_auto_value_on_zero: bool,
    pub no_unsigned_subtraction: bool,
    pub high_not_precedence: bool,
    pub ignore_space: bool,
    pub real_as_float: bool,
    pub pad_char_to_full_length: bool,
    pub allow_invalid_dates: bool,
    pub time_truncate_fractional: bool,
    /// Not a part of sql_mode: the text was converted from this set, that of its client. A string literal with an introducer
    /// means the bytes that the client sent.
    pub client: Charset,
}

impl SqlMode {
    /// `SET sql_mode = ''`
    pub const NONE: SqlMode = SqlMode {
        strict: false,
        ansi_quotes: false,
        pipes_as_concat: false,
        no_backslash_escapes: false,
        only_full_group_by: false,
        no_zero_date: false,
        no_zero_in_date: false,
        error_for_division_by_zero: false,
        no_auto_value_on_zero: false,
        no_unsigned_subtraction: false,
        high_not_precedence: false,
        ignore_space: false,
        real_as_float: false,
        pad_char_to_full_length: false,
        allow_invalid_dates: false,
        time_truncate_fractional: false,
        client: Charset::Utf8mb4,
    };

    /// MySQL 8.4's default.
    pub const DEFAULT: SqlMode = SqlMode {
        strict: true,
        only_full_group_by: true,
        no_zero_date: true,
        no_zero_in_date: true,
        error_for_division_by_zero: true,
        ..SqlMode::NONE
    };
}
