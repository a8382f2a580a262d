//! What the console needs of the server, and how it runs.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

/// How the console runs.
#[derive(Clone, Debug)]
pub struct Config {
    /// Port 0 takes a free one ([`crate::Console::address`] has it).
    pub address: SocketAddr,
    /// Where the file of curves is, and whose disk is watched.
    pub data_dir: PathBuf,
    /// Plain HTTP also where other machines reach it: behind a proxy that has TLS.
    pub plain: bool,
    /// The server's version.
    pub version: &'static str,
}

/// The counters of the server.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The numbers of SHOW GLOBAL STATUS by name.
    pub status: BTreeMap<&'static str, u64>,
    /// How many statements took how long: the end of each bucket in seconds, and its count.
    pub latencies: Vec<(f64, u64)>,
    /// The sum of these durations in seconds.
    pub latency_sum: f64,
    /// The waits of sessions by kind.
    pub waits: BTreeMap<&'static str, Wait>,
}

/// All waits of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wait {
    pub count: u64,
    pub seconds: f64,
}

/// A global variable of the server.
#[derive(Clone, Debug, Default)]
pub struct Variable {
    pub name: &'static str,
    pub value: String,
    pub default: String,
    /// It can be set while the server runs.
    pub is_dynamic: bool,
    /// Setting it does nothing, for this reason.
    pub no_effect: Option<&'static str>,
}

/// An answer of the server that takes a while.
pub type Later<T> = Pin<Box<dyn Future<Output = T>>>;

/// What the console needs of the server.
pub trait Server: Send + Sync + 'static {
    /// A connection that speaks MySQL's protocol, for a client at this address.
    ///
    /// # Errors
    /// The system has no descriptors left.
    fn connect(&self, peer: SocketAddr) -> std::io::Result<std::os::unix::net::UnixStream>;

    /// The counters of all workers.
    fn figures(&self) -> Later<Figures>;

    fn variables(&self) -> Vec<Variable>;

    /// The certificate, if the server has one.
    fn tls(&self) -> Option<Arc<rustls::ServerConfig>>;

    fn is_stopping(&self) -> bool;
}
