//! What the program says to the person who called it.

use std::io::Write;

/// Writes to standard output. A reader that has gone away (`| head`) is no reason to fail.
pub fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
