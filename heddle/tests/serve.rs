//! A whole server: it starts, says where it is, answers, stops when asked, and says why it does not start.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A data directory that is removed afterwards.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("heddle-serve-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command(data_dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(["serve", "--buffer-pool", "32M", "--workers", "2", "--durability", "none", "--console", "off", "--data-dir"]);
    command.arg(data_dir).args(arguments).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

struct Server {
    child: Child,
    address: SocketAddr,
    socket: PathBuf,
}

impl Server {
    /// Starts a server and waits until it has said where it is.
    fn start(data_dir: &Path) -> Self {
        let mut child = command(data_dir, &["--port", "0"]).spawn().expect("the program was built");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut line = || lines.next().expect("the server says where it is").expect("as text");
        assert!(line().starts_with("Heddle "));
        let listening = line();
        let (address, socket) =
            listening.trim().strip_prefix("listening").and_then(|l| l.split_once(" and ")).expect("two places");
        Self { child, address: address.trim().parse().expect("an address"), socket: socket.into() }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().expect("kill is there").success());
    }

    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            match self.child.try_wait().expect("it is our child") {
                Some(status) => return status,
                None if Instant::now() > deadline => panic!("the server does not stop"),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The version in the greeting.
fn greeting(mut stream: impl Read) -> String {
    let mut bytes = [0; 64];
    stream.read_exact(&mut bytes).expect("a greeting");
    assert_eq!(bytes[4], 10, "protocol version");
    let version = bytes[5..].split(|&b| b == 0).next().expect("a first part");
    String::from_utf8_lossy(version).into_owned()
}

/// Starting fails with this in one line.
fn check_fails(data_dir: &Path, arguments: &[&str], message: &str) {
    let output = command(data_dir, arguments).output().expect("the program was built");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let last = errors.lines().last().unwrap_or_default();
    assert!(last.starts_with("heddle: ") && last.contains(message), "{errors}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_server_greets_and_stops() {
    let directory = Directory::new("stops");
    let expected = format!("8.4.0-heddle-{}", env!("CARGO_PKG_VERSION"));
    for signal in ["INT", "TERM"] {
        let mut server = Server::start(&directory.0);
        assert_eq!(greeting(TcpStream::connect(server.address).expect("it listens")), expected);
        assert_eq!(greeting(std::os::unix::net::UnixStream::connect(&server.socket).expect("it listens")), expected);
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(0));
        assert!(!server.socket.exists(), "the socket is taken away");
    }
}

/// Service managers send several.
#[test]
fn further_signals_do_not_cut_a_clean_stop_short() {
    let directory = Directory::new("signals");
    for _ in 0..5 {
        let mut server = Server::start(&directory.0);
        for signal in ["TERM", "TERM", "INT", "TERM"] {
            let pid = server.child.id().to_string();
            // It may have stopped by now.
            let _ = Command::new("kill").args(["-s", signal, &pid]).stderr(Stdio::null()).status();
        }
        assert_eq!(server.wait().code(), Some(0));
    }
}

#[test]
fn a_server_that_nobody_listens_to_goes_on_and_stops() {
    let directory = Directory::new("closed");
    let mut server = Server::start(&directory.0);
    drop(server.child.stderr.take());
    for _ in 0..4 {
        let mut stream = TcpStream::connect(server.address).expect("it listens");
        greeting(&mut stream);
        // A packet of the wrong number and no login: a warning in the log that nobody reads.
        stream.write_all(b"\x05\0\0\x07wrong").expect("it reads");
        let _ = stream.read_to_end(&mut Vec::new());
    }
    greeting(TcpStream::connect(server.address).expect("every worker still listens"));
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_killed_server_starts_again() {
    let directory = Directory::new("killed");
    let mut server = Server::start(&directory.0);
    server.signal("KILL");
    server.wait();
    let server = Server::start(&directory.0);
    assert!(greeting(TcpStream::connect(server.address).expect("it listens")).starts_with("8.4.0-heddle-"));
}

#[test]
fn what_is_taken_is_named() {
    let directory = Directory::new("taken");
    let other = Directory::new("taken-other");
    let server = Server::start(&directory.0);
    check_fails(&directory.0, &["--port", "0"], &directory.0.display().to_string());
    check_fails(&directory.0, &["--port", "0"], &format!("in use by another server (process {})", server.child.id()));
    let port = server.address.port().to_string();
    check_fails(&other.0, &["--port", &port], &format!("127.0.0.1:{port}"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port().to_string();
    check_fails(&other.0, &["--port", &port], &format!("127.0.0.1:{port}"));
}

#[test]
fn a_foreign_or_impossible_directory_is_named() {
    let foreign = Directory::new("foreign");
    std::fs::create_dir(&foreign.0).expect("a new directory");
    std::fs::write(foreign.0.join("thesis.txt"), "chapter one").expect("a file in it");
    check_fails(&foreign.0, &["--port", "0"], "foreign");
    assert!(foreign.0.join("thesis.txt").exists());
    check_fails(Path::new("/proc/heddle"), &["--port", "0"], "/proc/heddle");
    check_fails(&foreign.0.join("thesis.txt"), &["--port", "0"], "thesis.txt");
}
