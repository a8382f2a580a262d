//! COM_STMT_FETCH, byte for byte: the client library has no cursors.

use super::{Server, one, status};
use mysql::prelude::Queryable;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const QUERY: u8 = 3;
const PREPARE: u8 = 22;
const EXECUTE: u8 = 23;
const CLOSE: u8 = 25;
const RESET: u8 = 26;
const FETCH: u8 = 28;

const CURSOR_EXISTS: u16 = 0x40;
const LAST_ROW_SENT: u16 = 0x80;

const ROWS: u32 = 8000;
const TEXT_BYTES: usize = 1000;

/// A connection without a library.
struct Raw(TcpStream);

impl Raw {
    /// Logs in as root, who has no password.
    fn connect(server: &Server) -> Self {
        let mut raw = Self(TcpStream::connect(("127.0.0.1", server.port)).unwrap());
        raw.0.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        raw.packet();
        // Protocol 4.1, a short password, the name of its method.
        let flags: u32 = 1 | 0x200 | 0x8000 | 0x8_0000;
        let mut login = flags.to_le_bytes().to_vec();
        login.extend((1u32 << 24).to_le_bytes());
        login.push(45);
        login.extend([0; 23]);
        login.extend(b"root\0\0mysql_native_password\0");
        raw.send(1, &login);
        loop {
            match raw.packet() {
                (_, answer) if answer[0] == 0 => return raw,
                (sequence, answer) if answer[0] == 0xfe => raw.send(sequence + 1, &[]),
                (_, answer) => assert_eq!(answer[0], 1, "{}", String::from_utf8_lossy(&answer)),
            }
        }
    }

    fn send(&mut self, sequence: u8, payload: &[u8]) {
        let length = (payload.len() as u32).to_le_bytes();
        self.0.write_all(&[&length[..3], &[sequence], payload].concat()).unwrap();
    }

    fn command(&mut self, command: u8, arguments: &[u8]) {
        self.send(0, &[&[command], arguments].concat());
    }

    fn packet(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 4];
        self.0.read_exact(&mut head).unwrap();
        let mut payload = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
        self.0.read_exact(&mut payload).unwrap();
        (head[3], payload)
    }

    fn ok(&mut self) {
        let (_, answer) = self.packet();
        assert_eq!(answer[0], 0, "{}", String::from_utf8_lossy(&answer));
    }

    /// Reads packets up to an end, whose status is told; others go to `each`.
    fn until_end(&mut self, mut each: impl FnMut(&[u8])) -> u16 {
        loop {
            let (_, packet) = self.packet();
            assert_ne!(packet[0], 0xff, "{}", String::from_utf8_lossy(&packet));
            if packet[0] == 0xfe && packet.len() == 5 {
                return u16::from_le_bytes([packet[3], packet[4]]);
            }
            each(&packet);
        }
    }

    /// The id of a statement without parameters.
    fn prepare(&mut self, statement: &str) -> [u8; 4] {
        self.command(PREPARE, statement.as_bytes());
        let (_, answer) = self.packet();
        assert_eq!(answer[0], 0, "{}", String::from_utf8_lossy(&answer));
        if answer[5..7] != [0, 0] {
            self.until_end(|_| {});
        }
        answer[1..5].try_into().unwrap()
    }

    /// Opens a cursor over all rows.
    fn open(&mut self, id: [u8; 4]) {
        self.command(EXECUTE, &[&id[..], &[1], &1u32.to_le_bytes()].concat());
        assert_ne!(self.until_end(|packet| assert_ne!(packet[0], 0xff)) & CURSOR_EXISTS, 0);
    }

    /// The next rows, which must be those from `first` on; how many came, and whether they were the last.
    fn fetch(&mut self, id: [u8; 4], count: u32, first: u32) -> (u32, bool) {
        self.command(FETCH, &[id, count.to_le_bytes()].concat());
        let mut number = first;
        let status = self.until_end(|row| {
            // Without a NULL: the number, then the length of the text and the text.
            let mut expected = vec![0, 0];
            expected.extend(number.to_le_bytes());
            expected.push(0xfc);
            expected.extend((TEXT_BYTES as u16).to_le_bytes());
            expected.extend([b'A' + (number % 26) as u8; TEXT_BYTES]);
            assert!(row == expected, "row {number}");
            number += 1;
        });
        let is_last = status & LAST_ROW_SENT != 0;
        assert!(is_last != (status & CURSOR_EXISTS != 0), "{status:x}");
        (number - first, is_last)
    }

    /// The error of a fetch.
    fn fetch_fails(&mut self, id: [u8; 4]) -> u16 {
        self.command(FETCH, &[id, 1u32.to_le_bytes()].concat());
        let (_, answer) = self.packet();
        assert_eq!(answer[0], 0xff);
        u16::from_le_bytes([answer[1], answer[2]])
    }
}

/// A cursor over eight million bytes with 64 KiB of memory: rows come back as they were, in pieces of any size; the file is there while the
/// cursor is open, and gone with it, however it ends.
#[test]
fn rows_of_a_fetched_cursor_go_to_a_file() {
    let server = Server::start();
    let mut conn = server.connect();
    for statement in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(1000) NOT NULL)",
        "SET cte_max_recursion_depth = 10000",
        "INSERT INTO t WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 8000) SELECT n, REPEAT(CHAR(65 + n % 26), 1000) FROM r",
    ] {
        conn.query_drop(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    let mut until = |what: &str, is_it: &dyn Fn(u64) -> bool| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_it(status(&mut conn, "Heddle_temporary_bytes")) {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let mut raw = Raw::connect(&server);
    raw.command(QUERY, b"SET tmp_table_size = 65536");
    raw.ok();
    let id = raw.prepare("SELECT id, s FROM d.t ORDER BY id");

    // To its end, in pieces: single rows, some, and more than there are. Others change the table meanwhile.
    raw.open(id);
    until("it is open", &|bytes| bytes > 7_500_000);
    let other = raw.prepare("DELETE FROM d.t WHERE id = 8000");
    assert_eq!(raw.fetch(id, 1, 1), (1, false));
    raw.command(EXECUTE, &[&other[..], &[0], &1u32.to_le_bytes()].concat());
    raw.ok();
    let mut next = 2;
    for count in (1..).map(|n| n * 37) {
        let (came, is_last) = raw.fetch(id, count, next);
        next += came;
        if is_last {
            break;
        }
        assert_eq!(came, count);
    }
    assert_eq!(next, ROWS + 1);
    until("all was fetched", &|bytes| bytes == 0);
    assert_eq!(raw.fetch_fails(id), 1421);

    // Opened again, it is another cursor. COM_STMT_RESET and COM_STMT_CLOSE end it.
    for command in [RESET, CLOSE] {
        raw.open(id);
        assert_eq!(raw.fetch(id, 100, 1), (100, false));
        raw.open(id);
        assert_eq!(raw.fetch(id, 5, 1), (5, false));
        until("it is open again", &|bytes| (7_500_000..10_000_000).contains(&bytes));
        raw.command(command, &id);
        if command == RESET {
            raw.ok();
            assert_eq!(raw.fetch_fails(id), 1421);
        }
        until("it was closed", &|bytes| bytes == 0);
    }

    // Two at a time, and the connection is lost.
    let ids =
        [raw.prepare("SELECT id, s FROM d.t ORDER BY id"), raw.prepare("SELECT id, s FROM d.t WHERE id > 1000 ORDER BY id")];
    ids.iter().for_each(|id| raw.open(*id));
    assert_eq!((raw.fetch(ids[0], 10, 1), raw.fetch(ids[1], 10, 1001)), ((10, false), (10, false)));
    assert_eq!((raw.fetch(ids[0], 10, 11), raw.fetch(ids[1], 10, 1011)), ((10, false), (10, false)));
    until("both are open", &|bytes| bytes > 14_000_000);
    drop(raw);
    until("their connection is lost", &|bytes| bytes == 0);
    assert_eq!(one::<u32>(&mut server.connect(), "SELECT COUNT(*) FROM d.t"), ROWS - 1);
}
