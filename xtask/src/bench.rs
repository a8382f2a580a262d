//! `cargo xtask bench`: builds Heddle for release, starts peers, and has `heddle bench` measure them.
//!
//! What stands behind `--` goes to `heddle bench`, with the commit of the sources:
//!
//! ```text
//! cargo xtask bench --peers FOLDER --peer mysql97 -- --workload read_write --connections 1,16,256 --minutes 10
//! ```

use crate::proc::{cargo, quiet, target};
use crate::servers::{Target, start_peers};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Args)]
pub struct Options {
    /// A folder with servers.py, which starts peers and prints how to reach them
    #[arg(long, env = "HEDDLE_PEERS")]
    peers: Option<PathBuf>,
    /// Which peers are started
    #[arg(long, value_delimiter = ',', default_value = "mysql97,mariadb118,pg18")]
    peer: Vec<String>,
    /// For `heddle bench`; it has --help
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// `cargo xtask bench`.
pub fn run(root: &Path, options: &Options) -> Result<bool, String> {
    quiet(&mut cargo(root, &["build", "--quiet", "--release", "--package", "heddle"]))?;
    let commit = commit(root)?;
    let mut command = Command::new(target(root).join("release/heddle"));
    command.args(["bench", "--commit", &commit]).args(&options.arguments).stdin(Stdio::null());
    if let Some(folder) = &options.peers {
        for peer in start_peers(folder, &options.peer)? {
            command.arg("--against").arg(address(&peer));
        }
    }
    // Ctrl-C reaches both: we wait for the report.
    Ok(command.status().map_err(|e| format!("heddle bench: {e}"))?.success())
}

/// The commit of the sources, marked if they have changed since.
fn commit(root: &Path) -> Result<String, String> {
    let git = |arguments: &[&str]| quiet(Command::new("git").args(["-c", "safe.directory=*"]).args(arguments).current_dir(root));
    let commit = git(&["rev-parse", "--short", "HEAD"])?.trim().to_owned();
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.trim().is_empty();
    Ok(if changed { format!("{commit} and changes") } else { commit })
}

/// As `heddle bench` takes it: over TCP, so that all servers are reached alike.
fn address(peer: &Target) -> String {
    let scheme = if peer.driver == "pgsql" { "postgres" } else { "mysql" };
    let Target { name, user, password, host, port, pid, .. } = peer;
    format!("{name}={scheme}://{user}:{password}@{host}:{port}?pid={pid}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::parse_target;

    #[test]
    fn peers_have_addresses() {
        let peer = parse_target("a=127.0.0.1:4406,pid=12,socket=x.sock,user=u,password=p,driver=pgsql").expect("well formed");
        assert_eq!(address(&peer), "a=postgres://u:p@127.0.0.1:4406?pid=12");
    }
}
