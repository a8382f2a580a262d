//! `heddle init`: the command line over [`crate::first_start`].

use crate::cli::InitFlags;
use crate::first_start::{self, Plan};
use crate::say::say;
use crate::serve;
use crate::settings::Settings;
use std::io::Read;
use std::path::Path;

/// A password is no longer than this.
const PASSWORD_BYTES_MAX: u64 = 4096;

/// Makes the data directory.
pub fn run(flags: &InitFlags) -> Result<(), String> {
    let settings = Settings::load(&flags.settings).map_err(|e| e.to_string())?;
    serve::start_log(&settings)?;
    let root_password = match (&flags.root_password_file, flags.root_password_random) {
        (Some(file), _) => Some(read_password(file)?),
        (None, true) => Some(first_start::random_password()),
        (None, false) => None,
    };
    let user = match (&flags.user, &flags.user_password_file) {
        (Some(user), Some(file)) => Some((user.clone(), read_password(file)?)),
        _ => None,
    };
    let plan = Plan {
        root_password,
        root_host: flags.root_host.clone(),
        database: flags.database.clone(),
        user,
        files: flags.files.clone(),
        ..Plan::default()
    };
    first_start::make(&settings, &plan)?;
    say(&format!("{} is ready for 'heddle serve'\n", settings.data_dir.display()));
    if let (Some(password), true) = (&plan.root_password, flags.root_password_random) {
        say(&format!("root's password, which is shown only here: {password}\n"));
    }
    Ok(())
}

/// The password of a file, without the end of its line.
pub fn read_password(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().take(PASSWORD_BYTES_MAX + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(PASSWORD_BYTES_MAX + 1).read_to_string(&mut text))
    };
    read.map_err(|e| format!("cannot read a password from {}: {e}", path.display()))?;
    if text.len() as u64 > PASSWORD_BYTES_MAX {
        return Err(format!("{} is longer than {PASSWORD_BYTES_MAX} bytes: it is no password", path.display()));
    }
    let password = text.strip_suffix('\n').unwrap_or(&text);
    let password = password.strip_suffix('\r').unwrap_or(password);
    match password {
        "" => Err(format!("{} is empty, and a password is needed", path.display())),
        _ if password.contains(['\n', '\0']) => Err(format!("{} has more than one line: it is no password", path.display())),
        _ => Ok(password.to_owned()),
    }
}
