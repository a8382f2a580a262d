//! Reads what an application asked from a slow query log or a general log, as MySQL 5.7 to 9 and MariaDB write them.
//!
//! Both are text. The kind shows at the first line that only one of them has: `# Time:` or `# User@Host:` for the slow log,
//! a line of time, session, command and argument for the general log (manual, sections 7.4.3 and 7.4.5).
//!
//! L1: memory is bounded: a statement longer than [`STATEMENT_MAX`] is left out and counted.

use std::io::BufRead;

/// Bytes of one statement.
const STATEMENT_MAX: usize = 4 << 20;

/// What a session did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// This database is the default one from now on.
    Use(String),
    Statement(Vec<u8>),
    Quit,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number of the connection in the log.
    pub session: u64,
    pub what: What,
}

/// What a log cannot say, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Longer than the bound.
    pub too_long: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unknown,
    Slow,
    General,
}

/// Reads the events of a log in their order and gives each to `each`, until it says no.
///
/// # Errors
/// The file cannot be read, it is neither log, or the error of `each`.
pub fn read(mut log: impl BufRead, each: &mut dyn FnMut(Event) -> Result<(), String>) -> Result<LeftOut, String> {
    let mut reader = Reader {
        kind: Kind::Unknown,
        session: 0,
        is_text: false,
        text: Vec::new(),
        is_cut: false,
        left_out: LeftOut::default(),
        each,
    };
    let (mut line, mut number) = (Vec::new(), 0_u64);
    loop {
        line.clear();
        number += 1;
        let got = read_line(&mut log, &mut line).map_err(|error| format!("line {number}: {error}"))?;
        if got == 0 {
            break;
        }
        let is_cut = got > line.len();
        while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            line.pop();
        }
        reader.line(&line)?;
        reader.is_cut |= is_cut && reader.is_text;
    }
    reader.end_statement()?;
    match reader.kind {
        Kind::Unknown => Err("this is neither a slow query log nor a general log in MySQL's format".to_owned()),
        Kind::Slow | Kind::General => Ok(reader.left_out),
    }
}

/// Reads to the end of a line; what is beyond the bound of a statement is read and dropped. See L1.
fn read_line(log: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<usize> {
    let mut got = 0;
    loop {
        let part = log.fill_buf()?;
        let end = part.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let used = end.unwrap_or(part.len());
        let room = (STATEMENT_MAX + 2).saturating_sub(line.len());
        line.extend_from_slice(&part[..used.min(room)]);
        got += used;
        log.consume(used);
        if end.is_some() || used == 0 {
            return Ok(got);
        }
    }
}

struct Reader<'a> {
    kind: Kind,
    session: u64,
    /// The lines that come belong to a statement.
    is_text: bool,
    text: Vec<u8>,
    is_cut: bool,
    left_out: LeftOut,
    each: &'a mut dyn FnMut(Event) -> Result<(), String>,
}

impl Reader<'_> {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        if self.kind == Kind::Unknown {
            self.kind = match line {
                _ if line.starts_with(b"# Time: ") || line.starts_with(b"# User@Host: ") => Kind::Slow,
                _ if general_head(line).is_some() => Kind::General,
                // The lines that the server writes when it opens the file.
                _ => return Ok(()),
            };
        }
        match self.kind {
            Kind::Slow => self.slow(line),
            Kind::General | Kind::Unknown => self.general(line),
        }
    }

    fn slow(&mut self, line: &[u8]) -> Result<(), String> {
        if let Some(rest) = line.strip_prefix(b"# ") {
            let words = String::from_utf8_lossy(rest);
            let known = ["Time: ", "User@Host: ", "Query_time: ", "Thread_id: ", "administrator command: "];
            if known.iter().any(|begin| words.starts_with(begin)) {
                self.end_statement()?;
                self.is_text = words.starts_with("Query_time: ");
                // MySQL writes `Id: 8` at the end of the account's line, MariaDB `Thread_id: 8` in a line of its own.
                let id = match words.strip_prefix("Thread_id: ") {
                    Some(rest) => rest.split_whitespace().next(),
                    None => words.strip_prefix("User@Host: ").and_then(|rest| rest.rsplit_once("Id:")).map(|(_, id)| id.trim()),
                };
                self.session = id.and_then(|id| id.parse().ok()).unwrap_or(self.session);
                return Ok(());
            }
        }
        // MariaDB writes more comments after the times.
        if !self.is_text || (self.text.is_empty() && line.starts_with(b"#")) || is_opening(line) {
            return Ok(());
        }
        let is_first = self.text.is_empty();
        if is_first && let Some(name) = line.strip_prefix(b"use ").and_then(|rest| rest.strip_suffix(b";")) {
            let name = String::from_utf8_lossy(name);
            let name = name.trim_matches('`').replace("``", "`");
            return (self.each)(Event { session: self.session, what: What::Use(name) });
        }
        if is_first && line.starts_with(b"SET timestamp=") {
            return Ok(());
        }
        self.push(line);
        Ok(())
    }

    fn general(&mut self, line: &[u8]) -> Result<(), String> {
        let Some((session, command, argument)) = general_head(line) else {
            if self.is_text && !is_opening(line) {
                self.push(line);
            }
            return Ok(());
        };
        self.end_statement()?;
        self.session = session;
        self.is_text = false;
        match command {
            "Query" | "Execute" => {
                self.is_text = true;
                self.push(argument);
            }
            "Init DB" => {
                let name = String::from_utf8_lossy(argument).trim().to_owned();
                (self.each)(Event { session, what: What::Use(name) })?;
            }
            "Connect" => {
                // `root@localhost on shop using TCP/IP`
                let words = String::from_utf8_lossy(argument);
                let name = words.split_once(" on ").map(|(_, rest)| rest.split(" using ").next().unwrap_or_default().trim());
                if let Some(name) = name.filter(|name| !name.is_empty()) {
                    (self.each)(Event { session, what: What::Use(name.to_owned()) })?;
                }
            }
            "Quit" => (self.each)(Event { session, what: What::Quit })?,
            _ => {}
        }
        Ok(())
    }

    /// L1
    fn push(&mut self, line: &[u8]) {
        if self.text.len() + line.len() >= STATEMENT_MAX {
            self.is_cut = true;
            return;
        }
        if !self.text.is_empty() {
            self.text.push(b'\n');
        }
        self.text.extend_from_slice(line);
    }

    fn end_statement(&mut self) -> Result<(), String> {
        self.is_text = false;
        let mut text = std::mem::take(&mut self.text);
        if std::mem::take(&mut self.is_cut) {
            self.left_out.too_long += 1;
            return Ok(());
        }
        while text.last().is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b';') {
            text.pop();
        }
        if text.is_empty() { Ok(()) } else { (self.each)(Event { session: self.session, what: What::Statement(text) }) }
    }
}

/// The lines that a server writes when it opens a log.
fn is_opening(line: &[u8]) -> bool {
    (line.starts_with(b"/") && line.ends_with(b"started with:"))
        || line.starts_with(b"Tcp port: ")
        || (line.starts_with(b"Time ") && line.ends_with(b"Argument"))
}

/// Session, command and argument of a line of the general log: `TIME <tab> 8 Query <tab> SELECT 1`. MariaDB leaves the time out when it is
/// that of the line before.
fn general_head(line: &[u8]) -> Option<(u64, &str, &[u8])> {
    const COMMANDS: &[&str] = &[
        "Query",
        "Execute",
        "Prepare",
        "Connect",
        "Quit",
        "Init DB",
        "Close stmt",
        "Reset stmt",
        "Ping",
        "Statistics",
        "Field List",
        "Change user",
        "Fetch",
        "Long Data",
        "Kill",
        "Set option",
        "Binlog Dump",
        "Binlog Dump GTID",
        "Reset Connection",
        "Refresh",
    ];
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let time = std::str::from_utf8(&line[..tab]).ok()?;
    let is_time = time.is_empty() || (time.as_bytes()[0].is_ascii_digit() && time.contains(':') && time.len() <= 40);
    let rest = line[tab..].trim_ascii_start();
    let end = rest.iter().position(|byte| *byte == b'\t').unwrap_or(rest.len());
    let (session, command) = std::str::from_utf8(&rest[..end]).ok()?.split_once(' ')?;
    let (session, command) = (session.parse().ok()?, command.trim());
    let known = COMMANDS.iter().find(|known| **known == command)?;
    is_time.then_some((session, *known, rest.get(end + 1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(log: &str) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        read(log.as_bytes(), &mut |event: Event| {
            let what = match event.what {
                What::Use(name) => format!("use {name}"),
                What::Statement(text) => String::from_utf8(text).unwrap(),
                What::Quit => "quit".to_owned(),
            };
            all.push((event.session, what));
            Ok(())
        })
        .unwrap();
        all
    }

    fn pairs(of: &[(u64, &str)]) -> Vec<(u64, String)> {
        of.iter().map(|(session, what)| (*session, (*what).to_owned())).collect()
    }

    #[test]
    fn slow_log_of_mysql() {
        let log = "/usr/sbin/mysqld, Version: 8.4.3 (Source distribution). started with:\nTcp port: 3306  Unix socket: /x\n\
            Time                 Id Command    Argument\n# Time: 2026-11-29T05:55:29.000001Z\n# User@Host: root[root] @ localhost []  Id:     8\n\
            # Query_time: 0.000123  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 1\nuse shop;\nSET timestamp=1764399329;\nSELECT a,\n  b\n# no header\nFROM t;\n\
            # Time: 2026-11-29T05:55:30.000001Z\n# User@Host: root[root] @ localhost []  Id:     9\n# Query_time: 0.1  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\n\
            SET timestamp=1764399330;\n# administrator command: Ping;\n";
        assert_eq!(events(log), pairs(&[(8, "use shop"), (8, "SELECT a,\n  b\n# no header\nFROM t")]));
    }

    #[test]
    fn slow_log_of_mariadb() {
        let log = "# Time: 261129  5:55:29\n# User@Host: app[app] @ localhost []\n# Thread_id: 12  Schema: shop  QC_hit: No\n\
            # Query_time: 0.000200  Lock_time: 0.000050  Rows_sent: 1  Rows_examined: 100\n# Rows_affected: 0  Bytes_sent: 60\nuse shop;\nSET timestamp=1764399329;\nSELECT 1;\n";
        assert_eq!(events(log), pairs(&[(12, "use shop"), (12, "SELECT 1")]));
    }

    #[test]
    fn general_log() {
        let log = "2026-11-29T05:55:29.000000Z\t    8 Connect\tapp@localhost on shop using TCP/IP\n\
            2026-11-29T05:55:29.000001Z\t    8 Query\tSELECT 'a\n\tb'\n2026-11-29T05:55:29.000002Z\t    8 Prepare\tSELECT ?\n\
            2026-11-29T05:55:29.000003Z\t    8 Execute\tSELECT 7\n2026-11-29T05:55:29.000004Z\t    9 Init DB\tother\n261129  5:55:29\t    10 Query\tSELECT 2\n\
            \t\t    10 Quit\t\n";
        let expected =
            [(8, "use shop"), (8, "SELECT 'a\n\tb'"), (8, "SELECT 7"), (9, "use other"), (10, "SELECT 2"), (10, "quit")];
        assert_eq!(events(log), pairs(&expected));
    }

    #[test]
    fn other_files_are_refused() {
        let none = &mut |_: Event| Ok(());
        for text in ["", "SELECT 1;\n", "\u{0}\u{1}\t\n\n", "a\tb\tc\n"] {
            assert!(read(text.as_bytes(), none).unwrap_err().contains("neither"), "{text:?}");
        }
    }

    #[test]
    fn a_statement_beyond_the_bound_is_left_out() {
        let long = format!(
            "2026-11-29T05:55:29Z\t 8 Query\tSELECT '{}'\n2026-11-29T05:55:29Z\t 8 Query\tSELECT 1\n",
            "x".repeat(STATEMENT_MAX)
        );
        let mut count = 0;
        let left_out = read(long.as_bytes(), &mut |_| {
            count += 1;
            Ok(())
        });
        assert_eq!((left_out.unwrap().too_long, count), (1, 1));
    }
}
