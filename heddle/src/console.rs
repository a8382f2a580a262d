//! Starts the console, and gives it the server: the two crates do not know each other.

use crate::settings::Settings;
use console::{Config, Console, Figures, Later, Server, Variable, Wait};
use server::ServerHandle;
use server::inside::{self, Inside};
use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Starts the console. Without it, for example because its port is taken, the server goes on and says so.
pub fn start(settings: &Settings, server: &ServerHandle) -> Option<Console> {
    let config = Config {
        address: settings.console?,
        data_dir: settings.data_dir.clone(),
        plain: settings.console_plain,
        version: server::VERSION,
    };
    let started = console::start(config, Arc::new(Glue(Inside::new(server))));
    started.inspect_err(|error| tracing::warn!("{error}")).ok()
}

/// The server, as the console wants it.
struct Glue(Inside);

impl Server for Glue {
    fn connect(&self, peer: SocketAddr) -> io::Result<UnixStream> {
        self.0.connect(peer)
    }

    fn figures(&self) -> Later<Figures> {
        let server = self.0.clone();
        Box::pin(async move {
            let inside::Figures { status, latencies, latency_sum, waits } = server.figures().await;
            let wait = |(kind, (count, seconds))| (kind, Wait { count, seconds });
            Figures { status, latencies, latency_sum, waits: waits.into_iter().map(wait).collect() }
        })
    }

    fn variables(&self) -> Vec<Variable> {
        let variable = |shown: inside::ShownVariable| Variable {
            name: shown.name,
            value: shown.value,
            default: shown.default,
            is_dynamic: shown.is_dynamic,
            no_effect: shown.no_effect,
        };
        self.0.variables().into_iter().map(variable).collect()
    }

    fn tls(&self) -> Option<Arc<rustls::ServerConfig>> {
        self.0.tls()
    }

    fn is_stopping(&self) -> bool {
        self.0.is_stopping()
    }
}
