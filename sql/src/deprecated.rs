//! Deprecated syntax: the warnings that parsing a statement raises.

use conditions::Condition;

/// A deprecated form in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deprecated<'a> {
    /// `&&`
    And,
    /// `||` as OR
    Or,
    /// `!`
    Not,
    /// `BINARY expr`
    BinaryOperator,
    /// BINARY after a text type
    BinaryAttribute,
    /// ASCII after a text type
    Ascii,
    /// UNICODE after a text type
    Unicode,
    /// VALUES(column)
    Values,
    /// `@a := 1` in an expression
    Assignment,
    CalcFoundRows,
    FoundRows,
    NoCache,
    ZeroFill,
    /// `INT(5)`
    DisplayWidth,
    /// `FLOAT(5,2)`
    FloatDigits,
    /// UNSIGNED of DECIMAL, FLOAT and DOUBLE
    FloatUnsigned,
    /// `YEAR(4)`
    YearWidth,
    /// NATIONAL CHAR, NCHAR, NVARCHAR, `N'text'`
    National,
    /// The character set `utf8`
    Utf8,
    /// A character set
    Charset(&'static str),
    /// A collation of that character set, by what follows `utf8mb3_`
    Collation(&'a str),
    /// SHOW PROCESSLIST
    ProcessList,
    ShowProfiles,
    ShowProfile,
}

const DEPRECATED_SETS: [&str; 6] = ["utf8mb3", "ucs2", "macce", "macroman", "dec8", "hp8"];

impl<'a> Deprecated<'a> {
    /// The warning about the name of a character set, or of a collation in a definition.
    pub(crate) fn of_charset(name: &'a str) -> Option<Self> {
        let collation =
            |prefix: &str| name.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix)).map(|_| prefix.len());
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Self::Utf8);
        }
        let set = DEPRECATED_SETS.into_iter().find(|set| name.eq_ignore_ascii_case(set));
        set.map(Self::Charset).or_else(|| {
            let end = collation("utf8_").or_else(|| collation("utf8mb3_"))?;
            Some(Self::Collation(&name[end..]))
        })
    }

    /// Is the warning raised after parsing, when calls are resolved?
    pub(crate) fn is_late(self) -> bool {
        matches!(self, Self::Values | Self::FoundRows | Self::Assignment)
    }

    /// The warning.
    pub fn condition(self) -> Condition {
        let replaced = |what: &str, instead: &str| Condition::WarnDeprecatedSyntax { what: what.into(), instead: instead.into() };
        match self {
            Self::And => replaced("&&", "AND"),
            Self::Or => replaced("|| as a synonym for OR", "OR"),
            Self::Not => replaced("!", "NOT"),
            Self::BinaryOperator => replaced("BINARY expr", "CAST"),
            Self::BinaryAttribute => replaced("BINARY as attribute of a type", "a CHARACTER SET clause with _bin collation"),
            Self::Ascii => replaced("ASCII", "CHARACTER SET charset_name"),
            Self::Unicode => replaced("UNICODE", "CHARACTER SET charset_name"),
            Self::Values => replaced(
                "VALUES function",
                "an alias (INSERT INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE clause with \
                 alias.col",
            ),
            Self::Assignment => Condition::WarnDeprecatedAssignment,
            Self::CalcFoundRows => Condition::WarnDeprecatedCalcFoundRows,
            Self::FoundRows => Condition::WarnDeprecatedFoundRows,
            Self::NoCache => Condition::WarnDeprecatedSyntaxNoReplacement { what: "SQL_NO_CACHE".into() },
            Self::ZeroFill => Condition::WarnDeprecatedZerofill,
            Self::DisplayWidth => Condition::WarnDeprecatedIntegerDisplayWidth,
            Self::FloatDigits => Condition::WarnDeprecatedFloatDigits,
            Self::FloatUnsigned => Condition::WarnDeprecatedFloatUnsigned,
            Self::YearWidth => replaced("YEAR(4)", "YEAR"),
            Self::National => Condition::DeprecatedNational,
            Self::Utf8 => Condition::DeprecatedUtf8Alias,
            Self::Charset(name) => replaced(name, "utf8mb4"),
            Self::Collation(name) => {
                Condition::DeprecatedUtf8mb3Collation { collation: format!("utf8mb3_{}", name.to_ascii_lowercase()).into() }
            }
            Self::ProcessList => replaced("INFORMATION_SCHEMA.PROCESSLIST", "performance_schema.processlist"),
            Self::ShowProfiles => replaced("SHOW PROFILES", "Performance Schema"),
            Self::ShowProfile => replaced("SHOW PROFILE", "Performance Schema"),
        }
    }
}
