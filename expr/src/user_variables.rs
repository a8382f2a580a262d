//! The user variables of a session, and the bound on their memory.
//!
//! V1: `bytes` is the size of all names and values in the map. A session may keep [`PACKETS_MAX`] times `max_allowed_packet` bytes. The
//!     values that a running statement has assigned, and the old values that it may have to restore, count until it ends.

use conditions::Condition;
use hashbrown::HashMap;
use types::{ColumnType, Value};

/// The bound, in multiples of `max_allowed_packet`. Long data of prepared statements has the same bound.
const PACKETS_MAX: usize = 4;

/// A `@name` with the type it got from its assignment.
#[derive(Clone, Debug, PartialEq)]
pub struct UserVariable {
    pub value: Value<'static>,
    pub ty: ColumnType,
}

/// Variables by lower-case name.
#[derive(Clone, Debug, Default)]
pub struct UserVariables {
    by_name: HashMap<String, UserVariable>,
    bytes: usize,
}

impl UserVariables {
    pub fn get(&self, name: &str) -> Option<&UserVariable> {
        self.by_name.get(name)
    }

    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &UserVariable)> {
        self.by_name.iter().map(|(name, variable)| (name.as_str(), variable))
    }

    /// Their size in bytes (V1).
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Sets a variable. Returns its old value.
    pub fn insert(&mut self, name: &str, variable: UserVariable) -> Option<UserVariable> {
        self.bytes += bytes_of(name, &variable);
        let before = match self.by_name.get_mut(name) {
            Some(kept) => Some(std::mem::replace(kept, variable)),
            None => self.by_name.insert(name.to_owned(), variable),
        };
        self.bytes -= before.as_ref().map_or(0, |before| bytes_of(name, before));
        before
    }

    pub fn remove(&mut self, name: &str) -> Option<UserVariable> {
        let removed = self.by_name.remove(name);
        self.bytes -= removed.as_ref().map_or(0, |removed| bytes_of(name, removed));
        removed
    }

    /// Moves all variables of another map into this one.
    pub fn take(&mut self, other: &mut Self) {
        other.bytes = 0;
        for (name, variable) in other.by_name.drain() {
            self.bytes += bytes_of(&name, &variable);
            let name_bytes = name.len();
            if let Some(before) = self.by_name.insert(name, variable) {
                self.bytes -= bytes_of("", &before) + name_bytes;
            }
        }
    }
}

/// The old values of the variables that a row has assigned, to restore them if the row is evaluated again.
#[derive(Debug, Default)]
pub struct Replaced {
    before: HashMap<String, Option<UserVariable>>,
    bytes: usize,
}

impl Replaced {
    /// Keeps the value before the row's first assignment only.
    pub fn note(&mut self, name: &str, before: Option<UserVariable>) {
        if self.before.contains_key(name) {
            return;
        }
        self.bytes += before.as_ref().map_or(0, |before| bytes_of(name, before));
        self.before.insert(name.to_owned(), before);
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Restores the old values.
    pub fn restore(&mut self, variables: &mut UserVariables) {
        self.bytes = 0;
        for (name, before) in self.before.drain() {
            match before {
                Some(before) => variables.insert(&name, before),
                None => variables.remove(&name),
            };
        }
    }

    pub fn clear(&mut self) {
        self.before.clear();
        self.bytes = 0;
    }
}

/// The size of a variable with its entry in the map, in bytes.
pub fn bytes_of(name: &str, variable: &UserVariable) -> usize {
    let value = match &variable.value {
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    size_of::<(String, UserVariable)>() + name.len() + value
}

/// Refuses a total size above the bound (V1).
///
/// # Errors
/// 3170
pub fn check(bytes: usize, packet_bytes_max: usize) -> Result<(), Condition> {
    let bytes_max = packet_bytes_max.saturating_mul(PACKETS_MAX);
    if bytes <= bytes_max {
        return Ok(());
    }
    let what = "user variables of a session".into();
    let why = format!("It is {PACKETS_MAX} times max_allowed_packet.").into();
    Err(Condition::CapacityExceeded { bytes: bytes_max.into(), what, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::TypeKind;

    fn text(bytes: usize) -> UserVariable {
        UserVariable::new(Value::Bytes(vec![b'x'; bytes].into()), ColumnType::new(TypeKind::VarChar { length: 100 }))
    }

    #[test]
    fn bytes_are_those_of_what_is_there() {
        let mut variables = UserVariables::default();
        variables.insert("a", text(100));
        let one = variables.bytes();
        assert!(one > 100);
        assert!(variables.insert("a", text(50)).is_some());
        assert_eq!(variables.bytes(), one - 50);
        let mut others = UserVariables::default();
        others.insert("a", text(10));
        others.insert("b", text(10));
        variables.take(&mut others);
        assert_eq!((others.bytes(), others.is_empty()), (0, true));
        assert_eq!(variables.bytes(), 2 * (one - 90));
        variables.remove("a");
        variables.remove("b");
        variables.remove("c");
        assert_eq!(variables.bytes(), 0);
    }

    #[test]
    fn a_row_is_taken_back_to_where_it_began() {
        let (mut variables, mut replaced) = (UserVariables::default(), Replaced::default());
        variables.insert("a", text(10));
        for bytes in [20, 30] {
            for name in ["a", "b"] {
                let before = variables.insert(name, text(bytes));
                replaced.note(name, before);
            }
        }
        assert_eq!(replaced.bytes(), bytes_of("a", &text(10)));
        replaced.restore(&mut variables);
        assert_eq!((variables.get("a"), variables.get("b"), replaced.bytes()), (Some(&text(10)), None, 0));
        assert_eq!(variables.bytes(), bytes_of("a", &text(10)));
    }
}
