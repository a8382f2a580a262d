//! The program as a person at a terminal sees it: help, and one clear line for each mistake.

use std::process::{Command, Output};

fn heddle(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(arguments).env_clear().envs(variables.iter().copied());
    command.output().expect("the program was built")
}

/// The program ends with status 1, and says this and nothing else.
fn check_fails(arguments: &[&str], variables: &[(&str, &str)], message: &str) {
    let output = heddle(arguments, variables);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(String::from_utf8_lossy(&output.stderr), format!("heddle: {message}\n"));
}

#[test]
fn help_and_version() {
    for arguments in [&["--help"][..], &["serve", "--help"], &["--version"]] {
        let output = heddle(arguments, &[]);
        assert!(output.status.success());
        assert!(!output.stdout.is_empty() && output.stderr.is_empty());
    }
    let help = String::from_utf8(heddle(&["serve", "--help"], &[]).stdout).expect("help is text");
    for flag in ["--port", "--bind", "--socket", "--data-dir", "--buffer-pool", "--workers", "--durability", "--config"] {
        assert!(help.contains(flag), "{flag}");
    }
}

#[test]
fn mistakes_are_one_line() {
    check_fails(&["--prot", "1"], &[], "unexpected argument '--prot' found; did you mean '--port'?");
    check_fails(&["serve", "--port", "99999"], &[], "--port: '99999' is not a port (0 to 65535)");
    check_fails(&["--buffer-pool", "4X"], &[], "--buffer-pool: '4X' is not a size such as 512M, 4G or 1.5G");
    check_fails(&[], &[("HEDDLE_DURABILITY", "some")], "HEDDLE_DURABILITY: 'some' is not one of full, relaxed, none");
    let missing = "cannot read the settings file /nonexistent.toml: No such file or directory (os error 2)";
    check_fails(&["--config", "/nonexistent.toml"], &[], missing);
}

#[test]
fn a_mistake_in_the_file_names_its_line() {
    let path = std::env::temp_dir().join(format!("heddle-command-line-{}.toml", std::process::id()));
    std::fs::write(&path, "port = 3307\nbufer-pool = '4G'\n").expect("the directory for temporary files is writable");
    let known = "port, bind, tcp, admin-address, admin-port, socket, data-dir, secure-file-priv, tls, buffer-pool, \
                 undo-memory, recovery-target-seconds, force-recovery, workers, durability, max-connections, event-scheduler, \
                 log-bin, slow-query-log, slow-query-log-file, long-query-time, general-log, general-log-file, log-output, \
                 log-level, log-error, log-format, console, console-plain";
    let message = format!("{}, line 2: there is no setting 'bufer-pool'; known are {known}", path.display());
    check_fails(&["--config", path.to_str().expect("a plain path")], &[], &message);
    std::fs::remove_file(&path).expect("it was just written");
}
