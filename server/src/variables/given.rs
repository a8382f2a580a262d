//! Global variables that are given at the start, as options of the program: what becomes of each.

use super::{Effect, Kind, Scope, Setting, VariableId, find};

/// What becomes of an option with the name of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// It is set.
    Set,
    /// It may be given and nothing has to be done for it, for this reason.
    Nothing(&'static str),
    /// It has this value here, and no other.
    Only(String),
    /// The variable has no such value.
    Wrong,
    /// There is no such global variable.
    Unknown,
}

/// Judges an option. `text` may have one of the units K, M, G, T where the variable is a number.
pub fn judge(name: &str, text: &str) -> Given {
    let Some(id) = find(name).filter(|id| id.definition().scope != Scope::Session) else { return Given::Unknown };
    let start = id.start();
    let Some(setting) = read(id, text) else { return Given::Wrong };
    match id.definition().effect {
        Effect::Obeyed => Given::Set,
        Effect::Nothing(why) => Given::Nothing(why),
        Effect::Refused if id.allow(&start, &setting).is_ok() => Given::Set,
        Effect::Fixed if setting == start => Given::Set,
        Effect::Fixed | Effect::Refused => Given::Only(id.show(&start)),
    }
}

/// Whether a global variable is a switch, which may be given without a value.
pub fn is_switch(name: &str) -> Option<bool> {
    let definition = find(name)?.definition();
    (definition.scope != Scope::Session).then_some(matches!(definition.kind, Kind::Bool))
}

/// The values for the start: those that [`judge`] says are set, and those that do nothing but are shown. Fixed ones are what they are.
pub(crate) fn settings(given: &[(String, String)]) -> Vec<(VariableId, Setting)> {
    let setting = |(name, text): &(String, String)| {
        let id = find(name)
            .filter(|id| !id.definition().read_only() && matches!(judge(name, text), Given::Set | Given::Nothing(_)))?;
        Some((id, read(id, text)?))
    };
    given.iter().filter_map(setting).collect()
}

fn read(id: VariableId, text: &str) -> Option<Setting> {
    let is_number = matches!(id.definition().kind, Kind::Unsigned { .. } | Kind::Signed { .. });
    match is_number.then(|| with_unit(text)).flatten() {
        Some(number) => id.read(&number.to_string()),
        None => id.read(text),
    }
}

/// `64M` as a number.
fn with_unit(text: &str) -> Option<i64> {
    let (last, _) = text.as_bytes().split_last()?;
    let shift = match last.to_ascii_uppercase() {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        _ => return None,
    };
    text[..text.len() - 1].parse::<i64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_by_their_effect() {
        let check = |name: &str, text: &str, expected: Given| assert_eq!(judge(name, text), expected, "{name}={text}");
        check("max_allowed_packet", "256M", Given::Set);
        check("max_allowed_packet", "268435456", Given::Set);
        check("sql_mode", "", Given::Set);
        check("sql_mode", "NO_SUCH_MODE", Given::Wrong);
        check("character_set_server", "latin1", Given::Set);
        check("collation_server", "utf8mb4_unicode_ci", Given::Set);
        check("read_only", "ON", Given::Set);
        check("read_only", "1", Given::Set);
        check("lower_case_table_names", "0", Given::Set);
        check("lower_case_table_names", "1", Given::Only("0".to_owned()));
        check("gtid_mode", "ON", Given::Only("OFF".to_owned()));
        check("gtid_mode", "OFF", Given::Set);
        assert!(matches!(judge("binlog_format", "MIXED"), Given::Nothing(_)));
        check("no_such_variable", "1", Given::Unknown);
        check("timestamp", "1", Given::Unknown);
    }

    #[test]
    fn units() {
        assert_eq!([with_unit("64M"), with_unit("1k"), with_unit("2G")], [Some(64 << 20), Some(1 << 10), Some(2 << 30)]);
        assert_eq!([with_unit("64"), with_unit("M"), with_unit(""), with_unit("9999999999G"), with_unit("x\u{e4}")], [None; 5]);
    }

    #[test]
    fn values_at_the_start() {
        let given = [("max_allowed_packet", "32M"), ("gtid_mode", "ON"), ("sql_mode", "ANSI_QUOTES")];
        let given: Vec<(String, String)> = given.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        let set = settings(&given);
        assert_eq!(set.len(), 2);
        assert_eq!(set[0].1, Setting::UInt(32 << 20));
    }
}
