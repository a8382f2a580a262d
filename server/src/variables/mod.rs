//! System variables: their names, the values that they accept, and their current values.
//!
//! 1. [`LIST`](list) describes each variable; its position there is its identity ([`VariableId`]).
//! 2. [`Globals`] is one immutable version of all global values; SET GLOBAL publishes the next one.
//! 3. [`SessionVariables`] are the global values at connect plus the values that the session has set: a few entries, so
//!    that an idle session costs little.
//! 4. Values that statements read often are copied into typed fields whenever a variable is set (`session::settings`).

pub mod given;
mod list;
pub mod optimizer_switch;
pub mod persisted;
mod sql_mode;

pub use sql_mode::{bits_to_mode, bits_to_text, parse_bits};

use sql::charsets;
use std::sync::{Arc, LazyLock};
use types::Value;
use types::temporal::TimeZone;

/// The bits of `sql_mode` before anybody sets it.
pub fn default_mode_bits() -> u64 {
    parse_bits(list::SQL_MODE_DEFAULT).expect("the list holds a valid mode")
}

/// The names of `block_encryption_mode`'s values.
pub fn block_encryption_modes() -> &'static [&'static str] {
    list::BLOCK_ENCRYPTION_MODES
}

/// A size of the buffer pool that can be set: whole steps (`innodb_buffer_pool_chunk_size`).
pub fn whole_pool_bytes(bytes: u64) -> u64 {
    bytes / list::BUFFER_POOL_STEP * list::BUFFER_POOL_STEP
}

/// The scope of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Global,
    Session,
    Both,
}

/// The values that a variable accepts.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Bool,
    Unsigned {
        min: u64,
        max: u64,
    },
    Signed {
        min: i64,
        max: i64,
    },
    Double {
        min: f64,
        max: f64,
    },
    Text,
    /// One of these words, or its number.
    Choice(&'static [&'static str]),
    Charset {
        nullable: bool,
    },
    Collation,
    SqlMode,
    TimeZone,
}

/// The value that a variable has in a new server.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    Int(i64),
    UInt(u64),
    Double(f64),
    Text(&'static str),
    Null,
}

#[derive(Clone, Copy, Debug)]
pub struct Definition {
    pub name: &'static str,
    pub scope: Scope,
    pub kind: Kind,
    pub start: Start,
    pub effect: Effect,
}

/// The effect of setting a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The server does as it says.
    Obeyed,
    /// Another value than the present one is error 1235, which names the variable.
    Refused,
    /// Nothing has to be done, for this reason.
    Nothing(&'static str),
    /// It cannot be set while the server runs: 1238.
    Fixed,
}

impl Definition {
    /// 1238
    pub fn read_only(&self) -> bool {
        self.effect == Effect::Fixed
    }
}

/// Position of a variable in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VariableId(u16);

/// A variable's value: booleans are `Int` 0 and 1, choices the `UInt` position of the word, `sql_mode` its `UInt` bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    Null,
    Int(i64),
    UInt(u64),
    Double(f64),
    Text(Arc<str>),
}

impl Setting {
    pub fn as_u64(&self) -> u64 {
        match self {
            Setting::Int(value) => u64::try_from(*value).unwrap_or(0),
            Setting::UInt(value) => *value,
            Setting::Double(value) => *value as u64,
            Setting::Null | Setting::Text(_) => 0,
        }
    }

    pub fn as_f64(&self) -> f64 {
        match self {
            Setting::Double(value) => *value,
            other => other.as_u64() as f64,
        }
    }

    pub fn as_bool(&self) -> bool {
        self.as_u64() != 0
    }

    pub fn as_text(&self) -> &str {
        match self {
            Setting::Text(text) => text,
            _ => "",
        }
    }
}

/// Why a variable was not set or read. The number is MySQL's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// 1193
    Unknown { name: String },
    /// 1238, `... is a read only variable`
    ReadOnly { name: String },
    /// 1238, `... is a GLOBAL variable`: `@@session.name` of a global one
    NotSession { name: String },
    /// 1238, `... is a SESSION variable`: `@@global.name` of a session one
    NotGlobal { name: String },
    /// 1229
    SetGlobalNeeded { name: String },
    /// 1228
    SetSessionNeeded { name: String },
    /// 1231
    WrongValue { name: String, value: String },
    /// 1232
    WrongType { name: String },
    /// 1115
    UnknownCharset { name: String },
    /// 1273
    UnknownCollation { name: String },
    /// 1298
    UnknownTimeZone { name: String },
    /// 1235: the value requests something that does not exist here.
    Refused { name: String, present: String },
}

/// Finds a variable by its name, in any case.
pub fn find(name: &str) -> Option<VariableId> {
    let mut lower = [0u8; 64];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name.as_bytes());
    lower.make_ascii_lowercase();
    let lower = std::str::from_utf8(lower).ok()?;
    // A name that older servers had and clients still use.
    let lower = if lower == "storage_engine" { "default_storage_engine" } else { lower };
    let position = list::LIST.binary_search_by(|definition| definition.name.cmp(lower)).ok()?;
    Some(VariableId(position as u16))
}

/// Finds a variable that this program names itself.
pub fn known(name: &'static str) -> VariableId {
    find(name).expect("the program names only variables of its list")
}

/// All variables in name order.
pub fn all() -> impl Iterator<Item = VariableId> {
    (0..list::LIST.len()).map(|position| VariableId(position as u16))
}

impl VariableId {
    pub fn definition(self) -> &'static Definition {
        &list::LIST[usize::from(self.0)]
    }

    pub fn name(self) -> &'static str {
        self.definition().name
    }

    /// The value in a new server.
    pub fn start(self) -> Setting {
        let definition = self.definition();
        match (definition.start, definition.kind) {
            (Start::Text(text), Kind::SqlMode) => Setting::UInt(parse_bits(text).expect("the list holds a valid mode")),
            (Start::Int(value), _) => Setting::Int(value),
            (Start::UInt(value), _) => Setting::UInt(value),
            (Start::Double(value), _) => Setting::Double(value),
            (Start::Text(text), _) => Setting::Text(text.into()),
            (Start::Null, _) => Setting::Null,
        }
    }

    /// Checks a value for this variable. The second part is true when a number was moved into the variable's range
    /// (warning 1292).
    pub fn check(self, value: &Value<'_>) -> Result<(Setting, bool), Error> {
        let definition = self.definition();
        match definition.kind {
            Kind::Bool => check_bool(definition, value).map(|setting| (setting, false)),
            Kind::Unsigned { min, max } => check_unsigned(definition, value, min, max),
            Kind::Signed { min, max } => {
                let number = integer(definition, value)?;
                let clamped = number.clamp(i128::from(min), i128::from(max));
                Ok((Setting::Int(clamped as i64), clamped != number))
            }
            Kind::Double { min, max } => {
                let number = double(definition, value)?;
                // Moments that are none are refused; 0 is the clock's.
                if definition.name == "timestamp" && (number > max || number > 0.0 && number < 1.0) {
                    return Err(wrong_value(definition, value));
                }
                let clamped = number.clamp(min, max);
                Ok((Setting::Double(clamped), clamped != number))
            }
            Kind::Text => check_text(definition, value).map(|setting| (setting, false)),
            Kind::Choice(members) => check_choice(definition, members, value).map(|setting| (setting, false)),
            Kind::Charset { nullable } => check_charset(definition, nullable, value).map(|setting| (setting, false)),
            Kind::Collation => check_collation(definition, value).map(|setting| (setting, false)),
            Kind::SqlMode => check_mode(definition, value).map(|setting| (setting, false)),
            Kind::TimeZone => check_time_zone(definition, value).map(|setting| (setting, false)),
        }
    }

    /// Refuses a value that requests something that does not exist here.
    pub fn allow(self, present: &Setting, wanted: &Setting) -> Result<(), Error> {
        let is_same = match (present, wanted) {
            (Setting::Text(present), Setting::Text(wanted)) => present.eq_ignore_ascii_case(wanted),
            (present, wanted) => present == wanted,
        };
        match self.definition().effect {
            Effect::Refused if !is_same => Err(Error::Refused { name: self.name().to_owned(), present: self.show(present) }),
            _ => Ok(()),
        }
    }

    /// The minimum and the maximum; zero if it is not a number.
    pub fn range(self) -> (String, String) {
        match self.definition().kind {
            Kind::Unsigned { min, max } => (min.to_string(), max.to_string()),
            Kind::Signed { min, max } => (min.to_string(), max.to_string()),
            Kind::Double { min, max } => (min.to_string(), max.to_string()),
            _ => ("0".to_owned(), "0".to_owned()),
        }
    }

    /// The value as SHOW VARIABLES prints it.
    pub fn show(self, setting: &Setting) -> String {
        match (self.definition().kind, setting) {
            (_, Setting::Null) => String::new(),
            (Kind::Bool, setting) => (if setting.as_u64() != 0 { "ON" } else { "OFF" }).to_owned(),
            (Kind::Choice(members), Setting::UInt(position)) => members[*position as usize].to_owned(),
            (Kind::SqlMode, Setting::UInt(bits)) => bits_to_text(*bits),
            (_, Setting::Int(value)) => value.to_string(),
            (_, Setting::UInt(value)) => value.to_string(),
            (_, Setting::Double(value)) => format!("{value:.6}"),
            (_, Setting::Text(text)) => text.to_string(),
        }
    }

    /// The value as `SELECT @@name` gives it: numbers stay numbers, booleans are 0 and 1.
    pub fn value(self, setting: &Setting) -> Value<'static> {
        match (self.definition().kind, setting) {
            (_, Setting::Null) => Value::Null,
            (Kind::Bool, setting) => Value::Int(i64::from(setting.as_u64() != 0)),
            (Kind::Unsigned { .. }, Setting::UInt(value)) => Value::UInt(*value),
            (Kind::Signed { .. }, Setting::Int(value)) => Value::Int(*value),
            (_, Setting::Double(value)) => Value::Double(*value),
            _ => Value::Bytes(self.show(setting).into_bytes().into()),
        }
    }
}

fn wrong_value(definition: &Definition, value: &Value<'_>) -> Error {
    let value = match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(value) => value.to_string(),
        Value::UInt(value) => value.to_string(),
        Value::Double(value) => {
            let mut text = Vec::new();
            types::convert::write_f64(*value, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
        Value::Decimal(value) => value.to_string(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => format!("{other:?}"),
    };
    Error::WrongValue { name: definition.name.to_owned(), value }
}

fn wrong_type(definition: &Definition) -> Error {
    Error::WrongType { name: definition.name.to_owned() }
}

fn integer(definition: &Definition, value: &Value<'_>) -> Result<i128, Error> {
    match value {
        Value::Int(value) => Ok(i128::from(*value)),
        Value::UInt(value) => Ok(i128::from(*value)),
        _ => Err(wrong_type(definition)),
    }
}

fn check_unsigned(definition: &Definition, value: &Value<'_>, min: u64, max: u64) -> Result<(Setting, bool), Error> {
    let number = integer(definition, value)?;
    let clamped = number.clamp(i128::from(min), i128::from(max));
    Ok((Setting::UInt(clamped as u64), clamped != number))
}

fn double(definition: &Definition, value: &Value<'_>) -> Result<f64, Error> {
    match value {
        Value::Int(value) => Ok(*value as f64),
        Value::UInt(value) => Ok(*value as f64),
        Value::Double(value) => Ok(*value),
        Value::Decimal(value) => value.to_string().parse().map_err(|_| wrong_type(definition)),
        _ => Err(wrong_type(definition)),
    }
}

fn text_of<'a>(definition: &Definition, value: &'a Value<'_>) -> Result<&'a str, Error> {
    match value {
        Value::Bytes(bytes) => std::str::from_utf8(bytes).map_err(|_| wrong_value(definition, value)),
        Value::Null => Err(wrong_value(definition, value)),
        _ => Err(wrong_type(definition)),
    }
}

fn check_bool(definition: &Definition, value: &Value<'_>) -> Result<Setting, Error> {
    let on = match value {
        Value::Int(0 | 1) | Value::UInt(0 | 1) => matches!(value, Value::Int(1) | Value::UInt(1)),
        Value::Bytes(bytes) if bytes.eq_ignore_ascii_case(b"on") || bytes.eq_ignore_ascii_case(b"true") => true,
        Value::Bytes(bytes) if bytes.eq_ignore_ascii_case(b"off") || bytes.eq_ignore_ascii_case(b"false") => false,
        Value::Double(_) | Value::Decimal(_) => return Err(wrong_type(definition)),
        _ => return Err(wrong_value(definition, value)),
    };
    Ok(Setting::Int(i64::from(on)))
}

fn check_text(definition: &Definition, value: &Value<'_>) -> Result<Setting, Error> {
    match value {
        Value::Null => Ok(Setting::Null),
        _ => Ok(Setting::Text(text_of(definition, value)?.into())),
    }
}

fn check_choice(definition: &Definition, members: &[&str], value: &Value<'_>) -> Result<Setting, Error> {
    let position = match value {
        Value::Int(number) => usize::try_from(*number).ok().filter(|&n| n < members.len()),
        Value::UInt(number) => usize::try_from(*number).ok().filter(|&n| n < members.len()),
        Value::Bytes(bytes) => members.iter().position(|member| member.as_bytes().eq_ignore_ascii_case(bytes)),
        Value::Null => None,
        _ => return Err(wrong_type(definition)),
    };
    match position {
        Some(position) => Ok(Setting::UInt(position as u64)),
        None => Err(wrong_value(definition, value)),
    }
}

fn check_charset(definition: &Definition, nullable: bool, value: &Value<'_>) -> Result<Setting, Error> {
    if let (Value::Null, true) = (value, nullable) {
        return Ok(Setting::Null);
    }
    let by_number = match value {
        Value::Int(id) => u16::try_from(*id).ok().and_then(charsets::collation_by_id),
        _ => None,
    };
    let found = match by_number {
        Some(collation) => charsets::charset(collation.charset),
        None => charsets::charset(text_of(definition, value)?),
    };
    match found {
        Some(charset) if definition.name == "character_set_client" && !charsets::is_for_clients(charset) => {
            Err(Error::WrongValue { name: definition.name.to_owned(), value: charset.name.to_owned() })
        }
        Some(charset) => Ok(Setting::Text(charset.name.into())),
        None => Err(Error::UnknownCharset { name: text_of(definition, value)?.to_owned() }),
    }
}

fn check_collation(definition: &Definition, value: &Value<'_>) -> Result<Setting, Error> {
    if let Value::Int(id) = value
        && let Some(collation) = u16::try_from(*id).ok().and_then(charsets::collation_by_id)
    {
        return Ok(Setting::Text(collation.name.into()));
    }
    let name = text_of(definition, value)?;
    match charsets::collation(name) {
        Some(collation) => Ok(Setting::Text(collation.name.into())),
        None => Err(Error::UnknownCollation { name: name.to_owned() }),
    }
}

fn check_mode(definition: &Definition, value: &Value<'_>) -> Result<Setting, Error> {
    match value {
        Value::Int(_) | Value::UInt(_) => {
            let number = integer(definition, value)?;
            match u64::try_from(number).ok().filter(|bits| sql_mode::is_valid(*bits)) {
                Some(bits) => Ok(Setting::UInt(sql_mode::expand(bits))),
                None => Err(wrong_value(definition, value)),
            }
        }
        _ => {
            let text = text_of(definition, value)?;
            parse_bits(text)
                .map(Setting::UInt)
                .map_err(|word| Error::WrongValue { name: definition.name.to_owned(), value: word.to_owned() })
        }
    }
}

fn check_time_zone(definition: &Definition, value: &Value<'_>) -> Result<Setting, Error> {
    let text = match value {
        Value::Bytes(_) => text_of(definition, value)?,
        _ => return Err(wrong_type(definition)),
    };
    match parse_time_zone(text) {
        Some(_) if text.eq_ignore_ascii_case("system") => Ok(Setting::Text("SYSTEM".into())),
        Some(_) => Ok(Setting::Text(text.into())),
        None => Err(Error::UnknownTimeZone { name: text.to_owned() }),
    }
}

/// `SYSTEM`, `+02:00`, `Europe/Berlin`.
pub fn parse_time_zone(name: &str) -> Option<TimeZone> {
    static SYSTEM: LazyLock<TimeZone> = LazyLock::new(TimeZone::detect_system);
    TimeZone::parse(name, &SYSTEM)
}

/// One version of all global values.
#[derive(Clone, Debug)]
pub struct Globals {
    values: Vec<Setting>,
}

impl Default for Globals {
    fn default() -> Self {
        Self { values: all().map(VariableId::start).collect() }
    }
}

impl Globals {
    pub fn get(&self, id: VariableId) -> &Setting {
        &self.values[usize::from(id.0)]
    }

    pub fn set(&mut self, id: VariableId, value: Setting) {
        self.values[usize::from(id.0)] = value;
    }

    /// Like [`Self::set`], with the companion variable.
    pub fn set_whole(&mut self, id: VariableId, value: Setting) {
        if let Some((other, value)) = companion(id, &value) {
            self.set(other, value);
        }
        self.set(id, value);
    }
}

/// The variable that changes together with another. A collation and its character set change each other. Enabling
/// `super_read_only` enables `read_only`, and disabling `read_only` disables `super_read_only`. `max_join_size` sets
/// `sql_big_selects`.
pub fn companion(id: VariableId, setting: &Setting) -> Option<(VariableId, Setting)> {
    static READ_ONLY: LazyLock<[VariableId; 2]> = LazyLock::new(|| [known("read_only"), known("super_read_only")]);
    let [read_only, super_read_only] = *READ_ONLY;
    if id == read_only && !setting.as_bool() {
        return Some((super_read_only, setting.clone()));
    }
    if id == super_read_only && setting.as_bool() {
        return Some((read_only, setting.clone()));
    }
    static JOINS: LazyLock<[VariableId; 2]> = LazyLock::new(|| [known("max_join_size"), known("sql_big_selects")]);
    let [max_join_size, sql_big_selects] = *JOINS;
    if id == max_join_size {
        return Some((sql_big_selects, Setting::Int(i64::from(setting.as_u64() == u64::MAX))));
    }
    static PAIRS: LazyLock<[(VariableId, VariableId); 3]> = LazyLock::new(|| {
        [
            (known("character_set_connection"), known("collation_connection")),
            (known("character_set_database"), known("collation_database")),
            (known("character_set_server"), known("collation_server")),
        ]
    });
    for (set, collation) in *PAIRS {
        if id == set {
            let found = charsets::default_collation(charsets::charset(setting.as_text())?);
            return Some((collation, Setting::Text(found.name.into())));
        }
        if id == collation {
            return Some((set, Setting::Text(charsets::collation(setting.as_text())?.charset.into())));
        }
    }
    None
}

/// The variables of one session.
#[derive(Debug)]
pub struct SessionVariables {
    base: Arc<Globals>,
    own: Vec<(VariableId, Setting)>,
}

impl SessionVariables {
    pub fn new(base: Arc<Globals>) -> Self {
        Self { base, own: Vec::new() }
    }

    pub fn get(&self, id: VariableId) -> &Setting {
        match self.own.binary_search_by_key(&id, |(own, _)| *own) {
            Ok(position) => &self.own[position].1,
            Err(_) => self.base.get(id),
        }
    }

    pub fn set(&mut self, id: VariableId, value: Setting) {
        match self.own.binary_search_by_key(&id, |(own, _)| *own) {
            Ok(position) => self.own[position].1 = value,
            Err(position) => self.own.insert(position, (id, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Value<'static> {
        Value::Bytes(text.as_bytes().to_vec().into())
    }

    fn check(name: &str, value: Value<'_>, expected: Result<&str, Error>) {
        let id = find(name).unwrap();
        assert_eq!(id.check(&value).map(|(setting, _)| id.show(&setting)), expected.map(str::to_owned), "{name} = {value:?}");
    }

    #[test]
    fn names_are_sorted() {
        for pair in list::LIST.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} and {}", pair[0].name, pair[1].name);
        }
    }

    #[test]
    fn starting_values_are_valid() {
        for id in all() {
            let definition = id.definition();
            if !definition.read_only() {
                let value = id.value(&id.start());
                assert!(id.check(&value).is_ok(), "{}", definition.name);
            }
        }
    }

    /// Another value than this one.
    fn other(id: VariableId, present: &Setting) -> Setting {
        match (id.definition().kind, present) {
            (Kind::Bool, setting) => Setting::Int(i64::from(!setting.as_bool())),
            (_, Setting::Text(text)) => Setting::Text(format!("{text}x").into()),
            (_, Setting::UInt(number)) => Setting::UInt(number ^ 1),
            (_, Setting::Int(number)) => Setting::Int(number ^ 1),
            (_, Setting::Double(number)) => Setting::Double(number + 1.0),
            (_, Setting::Null) => Setting::Text("x".into()),
        }
    }

    #[test]
    fn what_is_not_there_is_refused_by_name() {
        for id in all() {
            let present = id.start();
            assert_eq!(id.allow(&present, &present), Ok(()), "{}: the present value", id.name());
            let allowed = id.allow(&present, &other(id, &present));
            match id.definition().effect {
                Effect::Refused => {
                    assert!(matches!(allowed, Err(Error::Refused { name, .. }) if name == id.name()), "{}", id.name());
                }
                Effect::Nothing(why) => assert!(!why.is_empty() && allowed.is_ok(), "{}", id.name()),
                Effect::Obeyed | Effect::Fixed => assert!(allowed.is_ok(), "{}", id.name()),
            }
        }
    }

    /// The part of docs/COMPATIBILITY.md about variables is generated from the list: a change of the list needs a
    /// change of the page.
    #[test]
    fn the_page_tells_what_becomes_of_each_variable() {
        let mut of: std::collections::BTreeMap<String, Vec<&str>> = Default::default();
        for id in all() {
            let heading = match id.definition().effect {
                Effect::Obeyed => "obeyed".to_owned(),
                Effect::Refused => "refused, with error 1235, when set to another value than the present one".to_owned(),
                Effect::Nothing(why) => format!("nothing has to be done: {why}"),
                Effect::Fixed => continue,
            };
            of.entry(heading).or_default().push(id.name());
        }
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/COMPATIBILITY.md")).unwrap();
        for (heading, names) in of {
            let line = format!("- {heading}: {}\n", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "));
            assert!(page.contains(&line), "docs/COMPATIBILITY.md lacks this line:\n{line}");
        }
    }

    /// Whatever is obeyed has a reader: some file of the server names the variable, as an identity (`ids.name`) or as a text.
    #[test]
    fn what_is_obeyed_is_read() {
        fn sources(directory: &std::path::Path, text: &mut String) {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                match path.is_dir() {
                    true => sources(&path, text),
                    // The list itself, and lists that only say who may set a variable, and where.
                    false if ["list.rs", "check.rs", "hints.rs", "tests.rs"].contains(&&*name) || !name.ends_with(".rs") => {}
                    false => {
                        let own = std::fs::read_to_string(&path).unwrap();
                        text.push_str(own.split("#[cfg(test)]").next().unwrap());
                    }
                }
            }
        }
        let mut text = String::new();
        for directory in ["/src", "/../accounts/src"] {
            sources(std::path::Path::new(&format!("{}{directory}", env!("CARGO_MANIFEST_DIR"))), &mut text);
        }
        let is_read = |name: &str| {
            ["ids.", "IDS."].iter().any(|ids| names(&text, &format!("{ids}{name}"))) || text.contains(&format!("\"{name}\""))
        };
        // A variable with a single possible value needs no reader.
        let has_values = |id: &VariableId| match id.definition().kind {
            Kind::Choice(members) => members.len() > 1,
            Kind::Unsigned { min, max } => min < max,
            _ => true,
        };
        let obeyed = all().filter(|id| id.definition().effect == Effect::Obeyed).filter(has_values);
        let unread: Vec<_> = obeyed.map(VariableId::name).filter(|name| !is_read(name)).collect();
        assert_eq!(unread, Vec::<&str>::new(), "obeyed, says the list, but nothing reads them");
    }

    /// Does the text have this word, and not only as the beginning of a longer one?
    fn names(text: &str, word: &str) -> bool {
        text.match_indices(word).any(|(at, _)| !text[at + word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    }

    #[test]
    fn values_are_checked() {
        let wrong = |name: &str, value: &str| Err(Error::WrongValue { name: name.into(), value: value.into() });
        check("autocommit", Value::Int(1), Ok("ON"));
        check("AutoCommit", bytes("off"), Ok("OFF"));
        check("autocommit", Value::Int(2), wrong("autocommit", "2"));
        check("autocommit", bytes("maybe"), wrong("autocommit", "maybe"));
        check("wait_timeout", Value::Int(0), Ok("1"));
        check("wait_timeout", bytes("10"), Err(Error::WrongType { name: "wait_timeout".into() }));
        check("transaction_isolation", bytes("read-committed"), Ok("READ-COMMITTED"));
        check("transaction_isolation", bytes("snapshot"), wrong("transaction_isolation", "snapshot"));
        check("character_set_results", Value::Null, Ok(""));
        check("character_set_client", bytes("klingon"), Err(Error::UnknownCharset { name: "klingon".into() }));
        check("collation_connection", bytes("UTF8MB4_BIN"), Ok("utf8mb4_bin"));
        check("sql_mode", bytes("STRICT_TRANS_TABLES,NOPE"), wrong("sql_mode", "NOPE"));
        check("sql_mode", bytes(""), Ok(""));
        check("long_query_time", Value::Int(2), Ok("2.000000"));
        assert!(find("nosuch").is_none());
        assert!(find("tx_isolation").is_none(), "MySQL 8 has it no more");
    }

    #[test]
    fn sessions_see_their_own_values() {
        let globals = Arc::new(Globals::default());
        let mut session = SessionVariables::new(Arc::clone(&globals));
        let id = known("wait_timeout");
        session.set(id, Setting::UInt(7));
        assert_eq!(session.get(id), &Setting::UInt(7));
        assert_eq!(globals.get(id), &Setting::UInt(28800));
    }
}
