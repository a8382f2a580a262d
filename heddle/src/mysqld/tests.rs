//! Options as images, charts and scripts give them.

use super::*;

fn read(words: &str) -> Result<Options, String> {
    let arguments: Vec<OsString> = ["--no-defaults"].into_iter().chain(words.split_whitespace()).map(OsString::from).collect();
    Options::read(&arguments)
}

fn wrong(words: &str, expected: &str) {
    assert_eq!(read(words).map(|options| options.ignored).unwrap_err(), expected, "{words}");
}

#[test]
fn options_become_settings() {
    let words = "--datadir=/srv/data --socket /tmp/s.sock -P 3307 --bind-address=* --innodb_buffer_pool_size=64M --max-connections=50 \
                 --innodb-flush-log-at-trx-commit=2 --slow-query-log --skip-ssl --pid-file=/tmp/p --user=mysql --skip-networking";
    let options = read(words).unwrap();
    assert_eq!((options.user.as_deref(), options.pid_file.clone()), (Some("mysql"), Some("/tmp/p".into())));
    let settings = options.settings().unwrap();
    assert_eq!(settings.data_dir, PathBuf::from("/srv/data"));
    assert_eq!((settings.port, settings.bind.to_string().as_str(), settings.tcp), (3307, "0.0.0.0", false));
    assert_eq!((settings.buffer_pool_bytes, settings.connections_max), (64 << 20, 50));
    assert_eq!(settings.durability, txn::Durability::Relaxed);
    assert!(settings.logs.slow && !settings.tls);
    assert_eq!(options.ignored, Vec::<String>::new());
}

#[test]
fn variables_are_set() {
    let options = read(
        "--sql-mode= --max_allowed_packet 256M --character-set-server=utf8mb4 --collation_server=utf8mb4_unicode_ci --read-only",
    )
    .unwrap();
    let expected = [
        ("sql_mode", ""),
        ("max_allowed_packet", "256M"),
        ("character_set_server", "utf8mb4"),
        ("collation_server", "utf8mb4_unicode_ci"),
        ("read_only", "ON"),
    ];
    assert_eq!(options.variables, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(options.ignored, Vec::<String>::new());
}

#[test]
fn what_is_ignored_is_named() {
    let ignored = |words: &str, expected: &str| {
        let options = read(words).unwrap();
        assert_eq!(options.ignored.len(), 1, "{words}: {:?}", options.ignored);
        assert!(options.ignored[0].starts_with(expected), "{words}: {:?}", options.ignored);
    };
    ignored(
        "--default-authentication-plugin=mysql_native_password",
        "'default-authentication-plugin' is ignored: both kinds of passwords",
    );
    ignored("--skip-host-cache", "'skip-host-cache' is ignored: names of hosts");
    ignored("--gtid-mode=ON", "'gtid-mode' is ignored: it is 'OFF' here");
    ignored("--binlog-format=MIXED", "'binlog-format' is ignored: the binary log is rendered from the log");
    ignored("--loose-no-such=1", "unknown variable 'no-such=1'");
    ignored("--log-error", "'log-error' is ignored: without a file, the log goes to standard error");
}

#[test]
fn what_is_unknown_is_an_error() {
    wrong("--no-such", "unknown option '--no-such'");
    wrong("--no-such=1", "unknown variable 'no-such=1'");
    wrong("--port", "--port: the option 'port' needs a value");
    wrong("--max-connections", "--max-connections: the option 'max-connections' needs a value");
    wrong("--sql-mode=NONSENSE", "--sql-mode: 'NONSENSE' is no value of sql-mode");
    wrong("extra", "unknown argument 'extra'");
    wrong("-x", "unknown argument '-x'");
}

/// M1
#[test]
fn what_names_and_safety_depend_on_is_not_ignored() {
    wrong("--lower-case-table-names=1", "--lower-case-table-names: lower-case-table-names=1 is not supported: it is '0' here");
    wrong("--ssl-ca=/etc/ca.pem", "--ssl-ca: ssl-ca=/etc/ca.pem is not supported: it is '' here");
    assert!(read("--skip-grant-tables").unwrap_err().contains("'skip-grant-tables' is not supported"));
    assert!(read("--lower-case-table-names=0 --skip-grant-tables=0").is_ok());
}

#[test]
fn questions_and_first_starts() {
    assert!(read("--verbose --help").unwrap().help);
    assert!(read("--version").unwrap().version && read("-V").unwrap().version);
    assert_eq!(read("--initialize").unwrap().initialize, Some(Initialize::RandomPassword));
    assert_eq!(read("--initialize-insecure --datadir=/x").unwrap().initialize, Some(Initialize::NoPassword));
}

#[test]
fn files_come_before_arguments() {
    let path = std::env::temp_dir().join(format!("heddle-mysqld-{}.cnf", std::process::id()));
    std::fs::write(&path, "[mysqld]\nport = 3307\nmax_connections=10\nskip-name-resolve\n\n[client]\nport=1\n").unwrap();
    let file = format!("--defaults-file={}", path.display());
    let options = Options::read(&[file.clone().into(), "--max-connections=20".into()]).unwrap();
    let settings = options.settings().unwrap();
    assert_eq!((settings.port, settings.connections_max), (3307, 20));
    assert_eq!(
        options.ignored,
        [format!("{}, line 4: 'skip-name-resolve' is ignored: names of hosts are never looked up", path.display())]
    );
    std::fs::write(&path, "[mysqld]\n\nno_such = 1\n").unwrap();
    let expected = format!("{}, line 3: unknown variable 'no-such=1'", path.display());
    assert_eq!(Options::read(&[file.into()]).unwrap_err(), expected);
    std::fs::remove_file(&path).unwrap();
    let missing = Options::read(&["--defaults-file=/nonexistent/my.cnf".into()]).unwrap_err();
    assert!(missing.starts_with("cannot read the option file /nonexistent/my.cnf: "), "{missing}");
}
