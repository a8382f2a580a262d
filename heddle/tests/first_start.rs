//! The program as images, service managers and packages start it: first starts with accounts, the entrypoint of a container, `mysqld`.

use mysql::prelude::Queryable;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A directory that is removed afterwards.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("heddle-first-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the directory for temporary files is writable");
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a path below the directory")).expect("it can be made");
        std::fs::write(&path, text).expect("it can be written");
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The program with few resources, and with no variables but these.
fn program(variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs([
        ("HEDDLE_BUFFER_POOL", "32M"),
        ("HEDDLE_WORKERS", "2"),
        ("HEDDLE_CONSOLE", "off"),
        ("HEDDLE_DURABILITY", "none"),
    ]);
    command.envs(variables.iter().copied()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn texts(output: &Output) -> (String, String) {
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A server whose log is read as it comes.
struct Server {
    child: Child,
    lines: Receiver<String>,
    log: String,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the program was built");
        let (sender, lines) = mpsc::channel();
        let errors = BufReader::new(child.stderr.take().expect("it is piped"));
        std::thread::spawn(move || errors.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        Self { child, lines, log: String::new() }
    }

    /// Waits for a line of the log with this text.
    fn wait_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.checked_duration_since(Instant::now()).unwrap_or_default();
            let Ok(line) = self.lines.recv_timeout(left) else { panic!("no line has '{text}':\n{}", self.log) };
            self.log.push_str(&line);
            self.log.push('\n');
            if line.contains(text) {
                return line;
            }
        }
    }

    fn stop(&mut self) -> Option<i32> {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &number]).status().expect("kill is there").success());
        let code = self.child.wait().expect("it is our child").code();
        self.log.extend(self.lines.iter().map(|line| line + "\n"));
        code
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(socket: &Path, user: &str, password: &str, database: Option<&str>) -> Result<mysql::Conn, mysql::Error> {
    let options = mysql::OptsBuilder::new().user(Some(user)).pass(Some(password)).db_name(database);
    mysql::Conn::new(options.socket(Some(socket.to_string_lossy())).prefer_socket(false))
}

fn rows(connection: &mut mysql::Conn, statement: &str) -> Vec<String> {
    connection.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"))
}

fn init(directory: &Directory, arguments: &[&str]) -> Output {
    let mut command = program(&[]);
    command.args(["init", "--data-dir"]).arg(directory.path("data")).args(arguments).current_dir(&directory.0);
    command.output().expect("the program was built")
}

fn serve(directory: &Directory, socket: &Path) -> Server {
    let mut command = program(&[]);
    command.args(["serve", "--port", "0", "--data-dir"]).arg(directory.path("data")).arg("--socket").arg(socket);
    Server::start(command)
}

#[test]
fn init_makes_accounts_and_runs_files() {
    let directory = Directory::new("init");
    directory.put("root", "it's \\secret\n");
    directory.put("app", "app-secret");
    directory.put("schema.sql", "CREATE TABLE t (id INT PRIMARY KEY);\nDELIMITER //\nCREATE PROCEDURE fill() BEGIN INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); END //\nDELIMITER ;\n");
    directory.put("data.sql", "CALL fill();\n-- the end\n");
    let arguments = [
        "--root-password-file",
        "root",
        "--database",
        "my_shop",
        "--user",
        "app",
        "--user-password-file",
        "app",
        "schema.sql",
        "data.sql",
    ];
    let output = init(&directory, &arguments);
    let (said, log) = texts(&output);
    assert!(output.status.success(), "{log}");
    assert!(said.contains("is ready for 'heddle serve'"), "{said}");
    assert!(!log.contains("secret") && !said.contains("secret"), "no password is logged: {log}");
    let socket = directory.path("s.sock");
    let mut server = serve(&directory, &socket);
    server.wait_for("ready for connections");
    let mut app = connect(&socket, "app", "app-secret", Some("my_shop")).expect("the user can log in");
    assert_eq!(rows(&mut app, "SELECT id FROM t ORDER BY id"), ["1", "2"]);
    app.query_drop("CREATE TABLE own (id INT)").expect("the user has all rights on the database");
    assert!(app.query_drop("CREATE DATABASE other").is_err());
    assert!(app.query_drop("CREATE DATABASE myxshop").is_err(), "_ is no pattern");
    assert!(connect(&socket, "root", "", None).is_err());
    let mut root = connect(&socket, "root", "it's \\secret", None).expect("root can log in");
    assert_eq!(rows(&mut root, "SELECT CONCAT(user, '@', host) FROM mysql.user WHERE user = 'root'"), ["root@localhost"]);
    assert_eq!(server.stop(), Some(0));
    let again = init(&directory, &["--root-no-password"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(texts(&again).1.contains("has data already: nothing is changed"));
}

#[test]
fn a_file_with_a_mistake_leaves_nothing() {
    let directory = Directory::new("mistake");
    directory.put("bad.sql", "SELECT 1;\n\nSELEC 2;\n");
    let output = init(&directory, &["--root-no-password", "bad.sql"]);
    assert_eq!(output.status.code(), Some(1));
    let log = texts(&output).1;
    assert!(log.contains("bad.sql, line 3: ERROR 1064 (42000)"), "{log}");
    let output = init(&directory, &["--root-no-password"]);
    assert!(output.status.success(), "{}", texts(&output).1);
}

#[test]
fn an_interrupted_first_start_is_not_served_and_begins_anew() {
    let directory = Directory::new("interrupted");
    directory.put("sleep.sql", "CREATE DATABASE half; SELECT SLEEP(600);");
    let mut command = program(&[]);
    command.args(["init", "--root-no-password", "sleep.sql", "--data-dir"]).arg(directory.path("data")).current_dir(&directory.0);
    let mut first = Server::start(command);
    first.wait_for("running sleep.sql");
    first.child.kill().expect("it is our child");
    first.child.wait().expect("it is our child");
    let mut command = program(&[]);
    command.args(["serve", "--port", "0", "--data-dir"]).arg(directory.path("data"));
    let refused = command.output().expect("the program was built");
    assert_eq!(refused.status.code(), Some(1));
    assert!(texts(&refused).1.contains("was interrupted, and nothing of it can be served"), "{}", texts(&refused).1);
    let output = init(&directory, &["--root-no-password", "--database", "whole"]);
    assert!(output.status.success(), "{}", texts(&output).1);
    assert!(texts(&output).1.contains("it begins anew"));
    let socket = directory.path("s.sock");
    let mut server = serve(&directory, &socket);
    server.wait_for("ready for connections");
    let mut root = connect(&socket, "root", "", None).expect("root can log in");
    assert_eq!(rows(&mut root, "SHOW DATABASES WHERE `Database` IN ('half', 'whole')"), ["whole"]);
}

/// The entrypoint, with files that the image would have in /docker-entrypoint-initdb.d.
fn entrypoint(directory: &Directory, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = program(variables);
    command.env("HEDDLE_INITDB_DIR", directory.path("initdb"));
    command.arg("entrypoint").args(arguments).args(["--user=root", "--no-defaults", "--port=0", "--bind-address=127.0.0.1"]);
    let with_path = |name: &str, file: &str| format!("--{name}={}", directory.path(file).display());
    command.args([with_path("datadir", "data"), with_path("socket", "s.sock")]);
    command
}

#[test]
fn an_entrypoint_follows_the_official_image() {
    let directory = Directory::new("entrypoint");
    directory.put("initdb/1.sql", "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1);");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, b"INSERT INTO t VALUES (2);").expect("memory is enough");
    directory.put("initdb/2.sql.gz", gzip.finish().expect("memory is enough"));
    directory.put("initdb/3.sql.zst", zstd::encode_all(&b"INSERT INTO t VALUES (3);"[..], 1).expect("memory is enough"));
    // By the program xz, where there is one.
    let xz =
        Command::new("sh").args(["-c", "echo 'INSERT INTO t VALUES (4);' | xz --stdout"]).output().expect("a shell is there");
    directory.put("initdb/3b.sql.xz", if xz.status.success() { xz.stdout } else { Vec::new() });
    let expected: &[&str] = if xz.status.success() { &["1", "2", "3", "4"] } else { &["1", "2", "3"] };
    if !xz.status.success() {
        std::fs::remove_file(directory.path("initdb/3b.sql.xz")).expect("it was just written");
    }
    let seen = directory.path("seen");
    directory.put(
        "initdb/4.sh",
        format!("test -S \"$MYSQL_UNIX_PORT\" && echo \"$MYSQL_DATABASE $MYSQL_ROOT_PASSWORD\" > {}\n", seen.display()),
    );
    directory.put("initdb/readme.txt", "no file of SQL");
    let secret = directory.put("secret", "root-secret\n");
    let variables = [
        ("MYSQL_ROOT_PASSWORD_FILE", secret.to_str().expect("a plain path")),
        ("MYSQL_DATABASE", "shop"),
        ("MYSQL_USER", "app"),
        ("MYSQL_PASSWORD", "app-secret"),
    ];
    let socket = directory.path("s.sock");
    for round in 0..2 {
        let mut server = Server::start(entrypoint(&directory, &["mysqld", "--character-set-server=latin1"], &variables));
        if round == 0 {
            assert!(server.wait_for("ready for connections").contains("port: 0"), "the temporary server has no TCP");
        }
        server.wait_for("ready for connections");
        let mut app = connect(&socket, "app", "app-secret", Some("shop")).expect("the user can log in");
        assert_eq!(rows(&mut app, "SELECT id FROM t ORDER BY id"), expected);
        assert_eq!(rows(&mut app, "SELECT @@global.character_set_server"), ["latin1"]);
        let mut root = connect(&socket, "root", "root-secret", None).expect("root can log in");
        assert_eq!(rows(&mut root, "SELECT host FROM mysql.user WHERE user = 'root' ORDER BY host"), ["%", "localhost"]);
        assert_eq!(server.stop(), Some(0));
        assert!(!server.log.contains("secret"), "no password is logged: {}", server.log);
        assert_eq!(server.log.contains("readme.txt: it ends neither"), round == 0, "{}", server.log);
    }
    assert_eq!(std::fs::read_to_string(seen).expect("the program has run"), "shop root-secret\n");
}

#[test]
fn an_entrypoint_needs_a_password_option() {
    let directory = Directory::new("no-password");
    let output = entrypoint(&directory, &[], &[("MYSQL_DATABASE", "shop")]).output().expect("the program was built");
    assert_eq!(output.status.code(), Some(1));
    let errors = texts(&output).1;
    assert!(errors.contains("no password option is specified") && errors.contains("MYSQL_RANDOM_ROOT_PASSWORD"), "{errors}");
    assert!(!directory.path("data").exists());
}

#[test]
fn an_entrypoint_makes_a_random_password() {
    let directory = Directory::new("random");
    let mut server = Server::start(entrypoint(&directory, &["--skip-networking"], &[("MYSQL_RANDOM_ROOT_PASSWORD", "yes")]));
    let mut said = BufReader::new(server.child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it says the password");
    let password = line.trim().strip_prefix("GENERATED ROOT PASSWORD: ").expect("the password").to_owned();
    server.wait_for("ready for connections");
    connect(&directory.path("s.sock"), "root", &password, None).expect("root can log in");
    assert!(connect(&directory.path("s.sock"), "root", "", None).is_err());
    assert_eq!(server.stop(), Some(0));
    assert!(!server.log.contains(&password));
}

#[test]
fn an_entrypoint_runs_other_programs() {
    let output = program(&[]).args(["entrypoint", "echo", "--hello"]).output().expect("the program was built");
    assert_eq!(texts(&output).0, "--hello\n");
}

/// The program under the name `mysqld`.
fn mysqld(directory: &Directory, arguments: &[&str]) -> Command {
    let mut command = program(&[]);
    command.arg0("mysqld").arg("--no-defaults").args(arguments);
    command.arg(format!("--datadir={}", directory.path("data").display()));
    command.arg(format!("--socket={}", directory.path("s.sock").display()));
    command
}

#[test]
fn mysqld_initializes_and_serves() {
    let directory = Directory::new("mysqld");
    let help = mysqld(&directory, &["--verbose", "--help"]).output().expect("the program was built");
    let text = texts(&help).0;
    let datadir = text.lines().find(|line| line.starts_with("datadir ")).expect("a line for scripts");
    assert_eq!(datadir.split_whitespace().nth(1), Some(&*format!("{}/", directory.path("data").display())));
    let unknown = mysqld(&directory, &["--no-such=1"]).output().expect("the program was built");
    assert_eq!((unknown.status.code(), &*texts(&unknown).1), (Some(1), "heddle: unknown variable 'no-such=1'\n"));

    let made = mysqld(&directory, &["--initialize-insecure", "--user=root"]).output().expect("the program was built");
    assert!(made.status.success(), "{}", texts(&made).1);
    let pid = directory.path("pid");
    let pid_file = format!("--pid-file={}", pid.display());
    let words = ["--user=root", "--skip-networking", "--skip-host-cache", "--max-allowed-packet=32M", "--sql-mode=", &pid_file];
    let mut server = Server::start(mysqld(&directory, &words));
    server.wait_for("'skip-host-cache' is ignored: names of hosts");
    server.wait_for("ready for connections");
    assert_eq!(std::fs::read_to_string(&pid).expect("a file").trim(), server.child.id().to_string());
    let mut root = connect(&directory.path("s.sock"), "root", "", None).expect("root can log in");
    assert_eq!(rows(&mut root, "SELECT CONCAT(@@global.max_allowed_packet, @@sql_mode)"), ["33554432"]);
    assert_eq!(rows(&mut root, "SELECT @@skip_networking"), ["1"]);
    assert_eq!(server.stop(), Some(0));
    assert!(!pid.exists());
    let again = mysqld(&directory, &["--initialize", "--user=root"]).output().expect("the program was built");
    assert!(texts(&again).1.contains("has data already"), "{}", texts(&again).1);
}

#[test]
fn the_random_password_of_mysqld_has_expired() {
    let directory = Directory::new("expired");
    let made = mysqld(&directory, &["--initialize", "--user=root"]).output().expect("the program was built");
    let errors = texts(&made).1;
    assert!(made.status.success(), "{errors}");
    let line = errors.lines().find_map(|line| line.split_once("temporary password is generated for root@localhost: "));
    let password = line.expect("a password").1;
    let mut server = Server::start(mysqld(&directory, &["--user=root", "--skip-networking"]));
    server.wait_for("ready for connections");
    let refused =
        |password: &str| connect(&directory.path("s.sock"), "root", password, None).map(drop).expect_err("no login").to_string();
    // 1862: the password is right, and has to be changed by a client that can do that.
    assert!(refused(password).contains("1862"), "{}", refused(password));
    assert!(refused("").contains("1045"), "{}", refused(""));
}

/// What a service manager hears: status, readiness, stop, and signs of life.
#[test]
fn a_service_manager_is_told() {
    let directory = Directory::new("notify");
    let manager = UnixDatagram::bind(directory.path("notify")).expect("a socket can be made");
    manager.set_read_timeout(Some(PATIENCE)).expect("a socket can be set");
    let mut command = program(&[("WATCHDOG_USEC", "300000")]);
    command.env("NOTIFY_SOCKET", directory.path("notify"));
    command.args(["serve", "--port", "0", "--data-dir"]).arg(directory.path("data"));
    let mut server = Server::start(command);
    let hear = || {
        let mut message = [0; 1000];
        let length = manager.recv(&mut message).expect("the server says something");
        String::from_utf8_lossy(&message[..length]).into_owned()
    };
    assert!(hear().starts_with("STATUS=opening the data directory"));
    assert!(hear().starts_with("READY=1\nSTATUS=ready for connections"));
    for _ in 0..3 {
        assert_eq!(hear(), "WATCHDOG=1");
    }
    assert_eq!(server.stop(), Some(0));
    let rest: Vec<String> =
        std::iter::repeat_with(hear).take_while(|message| !message.starts_with("STATUS=stopping: writing")).collect();
    assert!(rest.iter().any(|message| message.starts_with("STOPPING=1")), "{rest:?}");
}

#[test]
fn a_dry_run_does_nothing() {
    let directory = Directory::new("dry");
    let data = directory.path("data");
    let output = program(&[]).args(["serve", "--dry-run", "--data-dir"]).arg(&data).output().expect("the program was built");
    let (said, errors) = texts(&output);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    for title in ["data ", "TCP ", "memory ", "buffer pool ", "CPUs ", "workers ", "clients "] {
        assert!(said.lines().any(|line| line.starts_with(title)), "{title}: {said}");
    }
    assert!(!data.exists());
}
