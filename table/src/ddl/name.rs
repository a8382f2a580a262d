//! Names of databases, tables, columns and indexes.

use crate::{Error, NameOf, Result};

/// The longest name, in characters.
pub(super) const NAME_CHARS_MAX: usize = 64;

/// Refuses a name that nothing may have.
pub(crate) fn check_name(what: NameOf, name: &str) -> Result<()> {
    if name.is_empty() || name.ends_with(' ') || name.contains('\0') {
        return Err(Error::WrongName { what, name: name.to_string() });
    }
    let name = name.to_string();
    match (name.chars().count() > NAME_CHARS_MAX, what) {
        (false, _) => Ok(()),
        // Long names of columns only come from a query's aliases; the grammar refuses them in a definition.
        (true, NameOf::Column) => Err(Error::WrongName { what, name }),
        (true, _) => Err(Error::NameTooLong { name }),
    }
}
