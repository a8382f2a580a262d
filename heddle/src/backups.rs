//! `heddle backup` and `heddle restore`: the command lines over the crate `backup`.

use crate::cli::{BackupFlags, RestoreFlags};
use crate::say::say;
use crate::{check, drill, piece, size};
use backup::file::Key;
use backup::place::{self, Upload};
use backup::restore::{Request, Restored, restore};
use backup::shelf::{self, parse_time, show_time};
use backup::take::{Base, Options, take};
use backup::{Error, Progress};
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Takes a backup of a running server.
pub fn back_up(flags: &BackupFlags) -> Result<(), String> {
    let text = |error: Error| error.0;
    let key = flags.key_file.as_deref().map(Key::read).transpose().map_err(text)?;
    let rate_max = match &flags.rate {
        Some(rate) => Some(size::parse(rate).map_err(|why| format!("--rate {rate}: {why}"))?),
        None => None,
    };
    let to_stdout = flags.to == Path::new("-");
    if to_stdout && flags.incremental {
        return Err("--incremental needs a directory of backups: give --to DIRECTORY".to_owned());
    }
    let base = if flags.incremental { Some(newest(flags)?) } else { None };
    let mut connection = connect(flags)?;
    let options = Options { compressed: !flags.uncompressed, key, rate_max, follow: flags.follow, base };
    let mut shown = Shown::new("backup", !to_stdout);
    if to_stdout {
        let out = BufWriter::new(std::io::stdout().lock());
        take(&mut connection, out, options, |_| Ok(()), |progress| shown.show(progress)).map_err(text)?;
        return Ok(());
    }
    if place::is_remote(&flags.to) {
        return back_up_to_store(flags, &mut connection, options, &mut shown);
    }
    std::fs::create_dir_all(&flags.to).map_err(|e| format!("cannot make {}: {e}", flags.to.display()))?;
    let name = shelf::new_name(!flags.incremental);
    let (path, part) = (flags.to.join(&name), flags.to.join(format!("{name}.part")));
    let cannot = |what: &str, e: std::io::Error| Error(format!("cannot {what} {}: {e}", part.display()));
    let file = File::options().write(true).create_new(true).open(&part).map_err(|e| cannot("make", e).0)?;
    let follows = flags.follow;
    let complete = |out: &mut BufWriter<File>| {
        out.flush().and_then(|()| out.get_ref().sync_all()).map_err(|e| cannot("sync", e))?;
        std::fs::rename(&part, &path).map_err(|e| cannot("rename", e))?;
        sync_directory(&flags.to)?;
        if follows {
            say(&format!("{} can be restored; following the log until Ctrl-C\n", path.display()));
        }
        Ok(())
    };
    let taken = take(&mut connection, BufWriter::new(file), options, complete, |progress| shown.show(progress));
    shown.end();
    let taken = taken.map_err(|error| {
        // Half a backup is of no use; a complete one has its name.
        let _ = std::fs::remove_file(&part);
        error.0
    })?;
    let (read, stored, pages) = (size::text(taken.bytes), size::text(taken.stored), taken.pages);
    say(&format!("{}: {pages} pages, {read} read, {stored} stored in {}\n", path.display(), seconds(shown.began.elapsed())));
    Ok(())
}

/// Takes a backup into an object store, where it appears when it is complete.
fn back_up_to_store(
    flags: &BackupFlags,
    connection: &mut mysql::Conn,
    options: Options,
    shown: &mut Shown,
) -> Result<(), String> {
    if options.follow {
        return Err("--follow needs a directory: an object of a store cannot grow".to_owned());
    }
    let path = flags.to.join(shelf::new_name(!flags.incremental));
    let mut upload = Upload::begin(&path).map_err(|e| e.0)?;
    let taken = take(connection, &mut upload, options, |_| Ok(()), |progress| shown.show(progress));
    shown.end();
    let taken = match taken {
        Ok(taken) => taken,
        Err(error) => {
            upload.give_up();
            return Err(error.0);
        }
    };
    upload.complete().map_err(|e| e.0)?;
    let (read, stored, pages) = (size::text(taken.bytes), size::text(taken.stored), taken.pages);
    say(&format!("{}: {pages} pages, {read} read, {stored} stored in {}\n", path.display(), seconds(shown.began.elapsed())));
    Ok(())
}

/// The newest complete backup of the directory: where an incremental one begins.
fn newest(flags: &BackupFlags) -> Result<Base, String> {
    let names = shelf::names(&flags.to).map_err(|e| e.0)?;
    let Some(name) = names.last() else {
        return Err(format!("{} has no backup to continue: take a full one first", flags.to.display()));
    };
    let key = flags.key_file.as_deref().map(Key::read).transpose().map_err(|e| e.0)?;
    let (about, begin) = shelf::head(&flags.to.join(name), key).map_err(|e| e.0)?;
    Ok(Base { file: name.clone(), server: about.server, basis: begin.basis })
}

fn connect(flags: &BackupFlags) -> Result<mysql::Conn, String> {
    let password = client::password(flags.password.as_deref(), flags.password_file.as_deref(), "HEDDLE_PASSWORD")?;
    let builder = mysql::OptsBuilder::new().user(Some(flags.user.clone())).pass(password).prefer_socket(false);
    let builder = match &flags.socket {
        Some(socket) => builder.socket(Some(socket.to_string_lossy())),
        None => builder.ip_or_hostname(Some(flags.host.clone())).tcp_port(flags.port),
    };
    let builder = builder.connect_attrs(Some(std::collections::HashMap::from([("program_name", "heddle backup")])));
    client::connect(builder, &flags.tls).map_err(|why| format!("cannot connect: {why}"))
}

fn sync_directory(path: &Path) -> Result<(), Error> {
    let synced = File::open(path).and_then(|directory| directory.sync_all());
    synced.map_err(|e| Error(format!("cannot sync {}: {e}", path.display())))
}

/// Makes a data directory of backups, as it was at `until` (microseconds since 1970) or at their end. `stop` ends it before its time.
pub fn restore_into(
    from: &Path,
    to: &Path,
    until: Option<u64>,
    key_file: Option<&Path>,
    stop: &AtomicBool,
) -> Result<Restored, String> {
    let request = Request { from: from.into(), to: to.into(), until, key_file: key_file.map(Into::into) };
    let mut shown = Shown::new("restore", true);
    let restored = restore(&request, |progress| {
        shown.show(progress);
        if stop.load(Ordering::Relaxed) { Err(Error("interrupted".to_owned())) } else { Ok(()) }
    });
    shown.end();
    restored.map_err(|e| e.0)
}

/// `heddle restore`
pub fn restore_to(flags: &RestoreFlags) -> Result<(), String> {
    let began = Instant::now();
    let until = flags.to.as_deref().map(parse_time).transpose().map_err(|e| e.0)?;
    let Some(data_dir) = &flags.data_dir else { return piece::restore(flags, until) };
    let restored = restore_into(&flags.from, data_dir, until, flags.key_file.as_deref(), &AtomicBool::new(false))?;
    let took = began.elapsed();
    let moment = if restored.time_us == 0 { String::new() } else { format!(", as it was at {}", show_time(restored.time_us)) };
    say(&format!(
        "{} restored from {} in {}: {} pages{moment}\nthe first start applies {} of log: heddle serve --data-dir {}\n",
        data_dir.display(),
        restored.files.join(" and "),
        seconds(took),
        restored.pages,
        size::text(restored.log_bytes),
        data_dir.display()
    ));
    if flags.check {
        let recovery = drill::recover(data_dir)?;
        say(&format!("recovered in {}\n", seconds(recovery)));
        check::run(data_dir, None)?;
    }
    Ok(())
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

/// A line of progress, at most once a second, on standard error.
struct Shown {
    what: &'static str,
    began: Instant,
    next: Instant,
    wanted: bool,
    written: bool,
}

impl Shown {
    fn new(what: &'static str, wanted: bool) -> Self {
        let now = Instant::now();
        Self { what, began: now, next: now + Duration::from_secs(1), wanted, written: false }
    }

    fn show(&mut self, progress: Progress) {
        if !self.wanted || Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + Duration::from_secs(1);
        let took = self.began.elapsed().as_secs_f64();
        let mut line = format!("{}: {}", self.what, size::text(progress.done.max(progress.stored)));
        if progress.all > 0 && progress.done > 0 {
            let share = progress.done as f64 / progress.all as f64;
            let left = took / share - took;
            line.push_str(&format!(" of {} ({:.0} %), {left:.0} s left", size::text(progress.all), share * 100.0));
        }
        // On a terminal the line is written over.
        let (start, end) = if std::io::stderr().is_terminal() { ("\r", "   ") } else { ("", "\n") };
        let _ = write!(std::io::stderr(), "{start}{line}{end}");
        self.written = true;
    }

    fn end(&self) {
        if self.written && std::io::stderr().is_terminal() {
            let _ = writeln!(std::io::stderr());
        }
    }
}
