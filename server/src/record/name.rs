//! The names of statements as events: MySQL's `statement/sql/...` for each command that is counted, and some more.

use crate::counters::{COMMAND_NAMES, Command};
use std::sync::LazyLock;

/// The name of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(u16);

const COMMANDS: u16 = COMMAND_NAMES.len() as u16;
const OTHERS: [&str; 5] =
    ["statement/sql/error", "statement/com/Execute", "statement/com/Prepare", "statement/com/Fetch", "statement/sp/stmt"];

impl Default for Name {
    fn default() -> Self {
        Self::ERROR
    }
}

impl Name {
    /// It could not be parsed.
    pub const ERROR: Self = Self(COMMANDS);
    pub const EXECUTE: Self = Self(COMMANDS + 1);
    pub const PREPARE: Self = Self(COMMANDS + 2);
    /// A statement of a stored program.
    pub const INNER: Self = Self(COMMANDS + 4);

    #[inline]
    pub fn of(command: Option<Command>) -> Self {
        command.map_or(Self::ERROR, |command| Self(command as u16))
    }

    pub fn text(self) -> &'static str {
        &NAMES[usize::from(self.0)]
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..COMMANDS + OTHERS.len() as u16).map(Self)
    }
}

static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let of_command = |name: &&str| match name.trim_start_matches("Com_") {
        "admin_commands" => "statement/com/Ping".to_owned(),
        "stmt_prepare" => "statement/com/Prepare".to_owned(),
        "stmt_execute" => "statement/com/Execute".to_owned(),
        "stmt_close" => "statement/com/Close stmt".to_owned(),
        "stmt_fetch" => "statement/com/Fetch".to_owned(),
        "stmt_reset" => "statement/com/Reset stmt".to_owned(),
        "stmt_send_long_data" => "statement/com/Long Data".to_owned(),
        name => format!("statement/sql/{name}"),
    };
    COMMAND_NAMES.iter().map(of_command).chain(OTHERS.map(str::to_owned)).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_names_of_their_counters() {
        assert_eq!(Name::of(Some(Command::Select)).text(), "statement/sql/select");
        assert_eq!(Name::of(Some(Command::CallProcedure)).text(), "statement/sql/call_procedure");
        assert_eq!(Name::of(None).text(), "statement/sql/error");
        assert_eq!(Name::EXECUTE.text(), "statement/com/Execute");
        assert_eq!(Name::PREPARE.text(), "statement/com/Prepare");
        assert_eq!(Name::INNER.text(), "statement/sp/stmt");
        assert_eq!(Name::all().count(), NAMES.len());
    }
}
