//! The catalogue of conditions: every error and warning that a client may read, one row each, in `catalogue.rs`.
//!
//! A row has a name (MySQL's symbol without its prefix), MySQL's error number and symbol, the SQLSTATE, and the template of the
//! message with named arguments. The rest of the workspace names rows and gives arguments; no other file has an error number or
//! the text of a message. Several rows may share a number where MySQL says one number in different words.
//!
//! Source of numbers, symbols and SQLSTATEs: `performance_schema.events_errors_summary_global_by_error` of MySQL 9.7, and the
//! chapter "Server Error Message Reference" of its manual. `docs/CONDITIONS.md` lists the rows; a test keeps it current.

use std::fmt::Display;

/// One row of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: &'static str,
    /// MySQL's error number.
    pub number: u16,
    /// MySQL's symbol, as `ER_DUP_ENTRY`.
    pub symbol: &'static str,
    pub sqlstate: &'static str,
    /// The message with its arguments in braces.
    pub template: &'static str,
}

/// An argument of a message, as text.
///
/// Anything that implements `Display` converts into it. It does not implement `Display` itself, since this conversion would then overlap with
/// the one from an argument to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument(Box<str>);

impl Argument {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Display> From<T> for Argument {
    fn from(value: T) -> Self {
        Self(value.to_string().into())
    }
}

impl Condition {
    /// MySQL's error number.
    pub fn number(&self) -> u16 {
        self.row().number
    }

    /// The SQLSTATE: five characters.
    pub fn sqlstate(&self) -> [u8; 5] {
        self.row().sqlstate.as_bytes().try_into().expect("a test holds each SQLSTATE to five characters")
    }
}

impl std::error::Error for Condition {}

/// Defines [`Condition`], its text, and [`CATALOGUE`] from rows of
/// `Name { arguments } = number, "symbol", "SQLSTATE", "template";`.
macro_rules! rows {
    ($($name:ident $({ $($argument:ident),+ })? = $number:literal, $symbol:literal, $sqlstate:literal, $template:literal;)+) => {
        /// An error or a warning, with the arguments of its message.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Condition {
            $(
                #[doc = concat!(stringify!($number), " ", $symbol, ": ", $template)]
                $name $({ $($argument: $crate::Argument),+ })?,
            )+
        }

        /// All rows, by number.
        pub const CATALOGUE: &[$crate::Row] = &[
            $($crate::Row {
                name: stringify!($name),
                number: $number,
                symbol: $symbol,
                sqlstate: $sqlstate,
                template: $template,
            },)+
        ];

        impl Condition {
            /// Its row of the catalogue.
            pub fn row(&self) -> &'static $crate::Row {
                match self {
                    $(Self::$name { .. } => {
                        const ROW: &$crate::Row = &$crate::Row {
                            name: stringify!($name),
                            number: $number,
                            symbol: $symbol,
                            sqlstate: $sqlstate,
                            template: $template,
                        };
                        ROW
                    })+
                }
            }
        }

        impl std::fmt::Display for Condition {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$name $({ $($argument),+ })? => {
                        $($(let $argument = $argument.as_str();)+)?
                        write!(f, $template)
                    })+
                }
            }
        }
    };
}

mod catalogue;
mod signal_item;

pub use catalogue::{CATALOGUE, Condition};
pub use signal_item::SignalItem;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fmt::Write as _;

    #[test]
    fn a_message_has_its_arguments() {
        let condition = Condition::DupEntry { value: "1-a".into(), key: "t.PRIMARY".into() };
        assert_eq!((condition.number(), &condition.sqlstate()), (1062, b"23000"));
        assert_eq!(condition.to_string(), "Duplicate entry '1-a' for key 't.PRIMARY'");
    }

    #[test]
    fn rows_are_sorted_named_once_and_whole() {
        let mut names = BTreeSet::new();
        for pair in CATALOGUE.windows(2) {
            assert!(pair[0].number <= pair[1].number, "{} stands behind {}", pair[1].name, pair[0].name);
        }
        for row in CATALOGUE {
            assert!(names.insert(row.name), "{} is there twice", row.name);
            assert_eq!(row.sqlstate.len(), 5, "{}", row.name);
            // CR: of clients, as a replica is one of its source.
            let is_symbol = ["ER_", "EE_", "CR_", "WARN_"].iter().any(|beginning| row.symbol.starts_with(beginning));
            assert!(is_symbol, "{}", row.name);
        }
        for pair in CATALOGUE.windows(2).filter(|pair| pair[0].number == pair[1].number) {
            assert_eq!((pair[0].symbol, pair[0].sqlstate), (pair[1].symbol, pair[1].sqlstate), "one number has one symbol");
        }
    }

    /// `docs/CONDITIONS.md` is generated from the catalogue: `UPDATE_DOCS=1 cargo test -p conditions` writes it.
    #[test]
    fn the_page_lists_the_catalogue() {
        let mut page = String::from(
            "# Errors and warnings\n\nThe test `the_page_lists_the_catalogue` of the crate `conditions` writes this page from its catalogue \
             (`UPDATE_DOCS=1 cargo test -p conditions`).\nEach row is an error or a warning that a client may read: MySQL's number and \
             SQLSTATE, MySQL's symbol, and the message with its arguments in braces.\n\n| number | SQLSTATE | symbol | message |\n\
             |---|---|---|---|\n",
        );
        for row in CATALOGUE {
            let message =
                row.template.replace("{{", "{").replace("}}", "}").replace('|', "\\|").replace('<', "\\<").replace('*', "\\*");
            let _ = writeln!(page, "| {} | {} | {} | {} |", row.number, row.sqlstate, row.symbol, message.trim_end());
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/CONDITIONS.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).expect("the page can be written");
        }
        let present = std::fs::read_to_string(path).unwrap_or_default();
        assert!(present == page, "docs/CONDITIONS.md is old: run UPDATE_DOCS=1 cargo test -p conditions");
    }
}
