//! Accepts clients on a thread of its own and hands each to the worker with the fewest sessions.

use super::Message;
use crate::config::{Config, StartError};
use crate::shared::Shared;
use reactor::connection::Stream;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use sync::atomic::Ordering;

const TCP: os::net::Token = os::net::Token(0);
const UNIX: os::net::Token = os::net::Token(1);
const STOP: os::net::Token = os::net::Token(2);
const ADMIN: os::net::Token = os::net::Token(3);
/// When accepting failed (no descriptors left), it is tried again after this time.
const RETRY: Duration = Duration::from_millis(50);

/// The bound sockets.
pub struct Listeners {
    tcp: Option<os::net::TcpListener>,
    unix: Option<os::net::UnixListener>,
    /// For administrators.
    admin: Option<os::net::TcpListener>,
    socket_path: Option<PathBuf>,
}

impl Listeners {
    pub fn bind(config: &Config) -> Result<Self, StartError> {
        let bind = |address: SocketAddr| {
            os::net::listen_tcp(address).map_err(|error| StartError::Listen { what: address.to_string(), error })
        };
        let (tcp, admin) = (config.tcp.map(bind).transpose()?, config.admin.map(bind).transpose()?);
        let unix = match &config.socket {
            Some(path) => {
                Some(os::net::listen_unix(path).map_err(|error| StartError::Listen { what: path.display().to_string(), error })?)
            }
            None => None,
        };
        Ok(Self { tcp, unix, admin, socket_path: config.socket.clone() })
    }

    /// The administrators' address.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref()?.local_addr().ok()
    }

    /// The address in use, with the actual port if the configuration said 0.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }
}

/// The accepting thread's state.
pub struct Acceptor {
    poll: os::net::Poll,
    listeners: Listeners,
}

impl Acceptor {
    pub fn new(mut listeners: Listeners) -> io::Result<(Self, os::net::Waker)> {
        let poll = os::net::Poll::new()?;
        let waker = os::net::Waker::new(poll.registry(), STOP)?;
        if let Some(tcp) = &mut listeners.tcp {
            poll.registry().register(tcp, TCP, os::net::Interest::READABLE)?;
        }
        if let Some(admin) = &mut listeners.admin {
            poll.registry().register(admin, ADMIN, os::net::Interest::READABLE)?;
        }
        if let Some(unix) = &mut listeners.unix {
            poll.registry().register(unix, UNIX, os::net::Interest::READABLE)?;
        }
        Ok((Self { poll, listeners }, waker))
    }

    /// Accepts until the server stops; then closes the sockets and removes the unix socket's file.
    pub fn run(mut self, shared: &Arc<Shared>) {
        let mut events = os::net::Events::with_capacity(16);
        let mut retry = None;
        while !shared.is_stopping() {
            if let Err(error) = self.poll.poll(&mut events, retry)
                && error.kind() != ErrorKind::Interrupted
            {
                tracing::error!(%error, "waiting for connections failed; no more clients are accepted");
                break;
            }
            // Events come once: a failed accept is retried after a while.
            retry = loop {
                match self.accept_once(shared) {
                    Ok(true) => {}
                    Ok(false) => break None,
                    Err(error) => {
                        tracing::warn!(%error, "a client could not be accepted");
                        break Some(RETRY);
                    }
                }
            };
        }
        if let Some(path) = &self.listeners.socket_path {
            os::net::remove_unix(path);
        }
    }

    /// Takes one connection from each socket; `false` when none waits.
    fn accept_once(&self, shared: &Arc<Shared>) -> io::Result<bool> {
        let mut any = false;
        for (listener, admin) in [(&self.listeners.admin, true), (&self.listeners.tcp, false)] {
            if let Some(listener) = listener
                && let Some((stream, _)) = waiting(listener.accept())?
            {
                // Answers are written whole; nothing is gained by holding them back.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "TCP_NODELAY");
                }
                hand_over(shared, Stream::Tcp(stream), admin);
                any = true;
            }
        }
        if let Some(unix) = &self.listeners.unix
            && let Some((stream, _)) = waiting(unix.accept())?
        {
            hand_over(shared, Stream::Unix(stream), false);
            any = true;
        }
        Ok(any)
    }
}

/// `None` when nobody waits. A client that is gone already is as good as nobody.
fn waiting<T>(accepted: io::Result<T>) -> io::Result<Option<T>> {
    match accepted {
        Ok(accepted) => Ok(Some(accepted)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionAborted) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives a client to the worker with the fewest sessions, an administrator to the worker that serves nobody else.
pub fn hand_over(shared: &Shared, stream: Stream, admin: bool) {
    let (workers, admins) = shared.workers.split_at(shared.config.workers.max(1));
    let workers = if admin { admins } else { workers };
    // Relaxed: a rough figure is enough.
    let fewest = workers.iter().min_by_key(|worker| worker.load().load(Ordering::Relaxed));
    let worker = fewest.expect("there is at least one worker");
    worker.load().fetch_add(1, Ordering::Relaxed);
    let id = shared.next_connection_id();
    worker.send(Message::Connection { stream, id, admin });
}
