//! `heddle serve --dry-run`: what a start would do, from the same settings and the same rules, without doing it.

use crate::first_start::{self, Directory};
use crate::say::say;
use crate::settings::Settings;
use crate::{limits, serve, size};
use os::topology::{CpuLimit, Topology};
use std::fmt::Write;
use std::net::SocketAddr;

/// Prints it. The error is what would keep the server from starting, as far as that can be seen from outside.
pub fn run(settings: &Settings) -> Result<(), String> {
    say(&describe(settings, &Topology::read(), limits::open_files_max()));
    match first_start::look(&settings.data_dir)? {
        Directory::Interrupted => first_start::settle(&settings.data_dir),
        Directory::Empty | Directory::Complete | Directory::Ready => Ok(()),
    }
}

fn describe(settings: &Settings, machine: &Topology, files_max: u64) -> String {
    let mut text = String::new();
    let mut line = |title: &str, what: String| {
        let _ = writeln!(text, "{title:<16}{what}");
    };
    line("data", format!("{}: {}", settings.data_dir.display(), data(settings)));
    let tcp = if settings.tcp { SocketAddr::new(settings.bind, settings.port).to_string() } else { "off".to_owned() };
    line("TCP", tcp);
    line("socket", serve::socket_path(settings).map_or("none".to_owned(), |path| path.display().to_string()));
    line("console", settings.console.map_or("off".to_owned(), |address| address.to_string()));
    line("memory", memory(machine));
    let (pool, undo) = (size::text(settings.buffer_pool_bytes), size::text(settings.undo_memory_bytes));
    line("buffer pool", share(settings.buffer_pool_bytes, machine.usable_memory_bytes(), pool));
    line("undo memory", undo);
    line("CPUs", cpus(machine));
    line("workers", settings.workers.to_string());
    let clients = settings.connections_max.min(limits::clients_for(files_max));
    let limited = if clients < settings.connections_max { ", by the limit of open files" } else { "" };
    line("clients", format!("{clients} at most{limited}"));
    line("settings", serve::summary(settings));
    for (name, value) in &settings.variables {
        line("variable", format!("{name} = {value}"));
    }
    text
}

fn data(settings: &Settings) -> &'static str {
    match first_start::look(&settings.data_dir) {
        Ok(Directory::Empty) => "would be made, with root@localhost and no password ('heddle init' makes it with one)",
        Ok(Directory::Interrupted) => "a first start was interrupted: no server would start",
        Ok(Directory::Complete) => "a first start is complete: its files would be moved up",
        Ok(Directory::Ready) => "would be opened",
        Err(_) => "cannot be used",
    }
}

fn memory(machine: &Topology) -> String {
    let all = machine.memory_bytes.map_or("unknown".to_owned(), size::text);
    match machine.memory_limit_bytes {
        Some(limit) => format!("{all}, of which the control group allows {}", size::text(limit)),
        None => format!("{all}, no limit of a control group"),
    }
}

fn share(bytes: u64, memory: Option<u64>, text: String) -> String {
    match memory.filter(|memory| *memory > 0) {
        Some(memory) => format!("{text}, {} % of the memory", bytes.saturating_mul(100) / memory),
        None => text,
    }
}

fn cpus(machine: &Topology) -> String {
    let usable = machine.usable.as_ref().map_or("unknown".to_owned(), |cpus| cpus.len().to_string());
    let limit = match machine.cpu_limit {
        CpuLimit::Cpus(limit) => format!(", the control group allows {limit} of them"),
        CpuLimit::None | CpuLimit::Unknown => String::new(),
    };
    format!("{} online, {usable} usable{limit}", machine.cpus.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_container_is_described() {
        let mut settings = Settings::load(&crate::cli::ServeFlags::default()).unwrap();
        settings.data_dir = "/nonexistent/heddle".into();
        settings.buffer_pool_bytes = 128 << 20;
        let machine = Topology {
            memory_bytes: Some(64 << 30),
            memory_limit_bytes: Some(512 << 20),
            usable: Some(vec![0, 1, 2, 3]),
            cpu_limit: CpuLimit::Cpus(1.5),
            ..Topology::default()
        };
        let text = describe(&settings, &machine, 164);
        for expected in [
            "memory          64 GiB, of which the control group allows 512 MiB\n",
            "buffer pool     128 MiB, 25 % of the memory\n",
            "CPUs            0 online, 4 usable, the control group allows 1.5 of them\n",
            "clients         100 at most, by the limit of open files\n",
            "data            /nonexistent/heddle: would be made, with root@localhost and no password",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }
}
