//! The names of the built-in functions.

use crate::func::{Area, Function};
use std::sync::LazyLock;

/// A bound for the length of names in bytes: a longer name is not a function.
const NAME_BYTES_MAX: usize = 64;

/// Name, function, fewest and most arguments; sorted by name.
static NAMES: LazyLock<Vec<(&str, Function, usize, usize)>> = LazyLock::new(|| {
    let of_row =
        |function: Function| function.row().names.iter().map(move |(name, fewest, most)| (*name, function, *fewest, *most));
    let mut names: Vec<_> = all().flat_map(of_row).collect();
    names.sort_unstable_by_key(|(name, ..)| *name);
    names
});

/// All functions, by area.
pub(crate) fn all() -> impl Iterator<Item = Function> {
    Area::ALL.into_iter().flat_map(|area| (0..area.rows().len()).map(move |number| Function::new(area, number as u8)))
}

/// See [`Function::by_name`].
pub(crate) fn find(name: &str) -> Option<(Function, usize, usize)> {
    let mut capitals = [0; NAME_BYTES_MAX];
    let capitals = capitals.get_mut(..name.len())?;
    capitals.copy_from_slice(name.as_bytes());
    capitals.make_ascii_uppercase();
    let found = NAMES.binary_search_by(|(known, ..)| known.as_bytes().cmp(capitals)).ok()?;
    let (_, function, fewest, most) = NAMES[found];
    Some((function, fewest, most))
}

/// MySQL's functions that raise 1235 ("not supported").
const NOT_SUPPORTED: &[&str] = &["ASYNCHRONOUS_CONNECTION_FAILOVER_ADD_SOURCE", "JSON_TABLE"];

/// Is it a function of MySQL that Heddle does not have? `name` is in capitals.
pub fn is_not_supported(name: &str) -> bool {
    NOT_SUPPORTED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_one_function() {
        assert!(NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(NAMES.iter().all(|(name, _, fewest, most)| name.len() <= NAME_BYTES_MAX && fewest <= most));
        assert!(NOT_SUPPORTED.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(NOT_SUPPORTED.iter().all(|name| find(name).is_none()));
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(find("Abs"), Some((Function::ABS, 1, 1)));
        assert_eq!(find("ATAN2"), Some((Function::ATAN, 2, 2)));
        assert_eq!((find("DATE_ADD"), find("ÄBS"), find(&"A".repeat(100))), (None, None, None));
    }
}
