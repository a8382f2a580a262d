//! Accepts clients on a thread of its own and hands each to the worker with the fewest sessions.

use super::Message;
use crate::connection::Stream;
use crate::shared::Shared;
use crate::{Config, StartError};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const TCP: mio::Token = mio::Token(0);
const UNIX: mio::Token = mio::Token(1);
const STOP: mio::Token = mio::Token(2);
/// Connections that the kernel keeps for us while we are busy.
const BACKLOG: i32 = 1024;

/// The bound sockets.
pub struct Listeners {
    tcp: Option<mio::net::TcpListener>,
    unix: Option<mio::net::UnixListener>,
    socket_path: Option<PathBuf>,
}

impl Listeners {
    pub fn bind(config: &Config) -> Result<Self, StartError> {
        let tcp = match config.tcp {
            Some(address) => {
                Some(bind_tcp(address).map_err(|error| StartError::Listen { what: address.to_string(), error })?)
            }
            None => None,
        };
        let unix = match &config.socket {
            Some(path) => {
                Some(bind_unix(path).map_err(|error| StartError::Listen { what: path.display().to_string(), error })?)
            }
            None => None,
        };
        Ok(Self { tcp, unix, socket_path: config.socket.clone() })
    }

    /// The address in use: tells the port where the configuration said 0.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }
}

fn bind_tcp(address: SocketAddr) -> io::Result<mio::net::TcpListener> {
    let socket = socket2::Socket::new(socket2::Domain::for_address(address), socket2::Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(mio::net::TcpListener::from_std(socket.into()))
}

fn bind_unix(path: &PathBuf) -> io::Result<mio::net::UnixListener> {
    if path.exists() {
        // A socket that nobody answers on is left over from a process that died.
        match std::os::unix::net::UnixStream::connect(path) {
            Ok(_) => return Err(ErrorKind::AddrInUse.into()),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => std::fs::remove_file(path)?,
            Err(error) => return Err(error),
        }
    }
    let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.bind(&socket2::SockAddr::unix(path)?)?;
    socket.listen(BACKLOG)?;
    // As MySQL does: who may connect is decided by the accounts.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?;
    Ok(mio::net::UnixListener::from_std(std::os::fd::OwnedFd::from(socket).into()))
}

/// The accepting thread's state.
pub struct Acceptor {
    poll: mio::Poll,
    listeners: Listeners,
}

impl Acceptor {
    pub fn new(mut listeners: Listeners) -> io::Result<(Self, mio::Waker)> {
        let poll = mio::Poll::new()?;
        let waker = mio::Waker::new(poll.registry(), STOP)?;
        if let Some(tcp) = &mut listeners.tcp {
            poll.registry().register(tcp, TCP, mio::Interest::READABLE)?;
        }
        if let Some(unix) = &mut listeners.unix {
            poll.registry().register(unix, UNIX, mio::Interest::READABLE)?;
        }
        Ok((Self { poll, listeners }, waker))
    }

    /// Accepts until the server stops; then closes the sockets and removes the unix socket's file.
    pub fn run(mut self, shared: &Arc<Shared>) {
        let mut events = mio::Events::with_capacity(16);
        while !shared.is_stopping() {
            if let Err(error) = self.poll.poll(&mut events, None)
                && error.kind() != ErrorKind::Interrupted
            {
                tracing::error!(%error, "waiting for connections failed; no more clients are accepted");
                break;
            }
            while self.accept_once(shared) {}
        }
        if let Some(path) = &self.listeners.socket_path {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Takes one connection from each socket; `false` when none waits.
    fn accept_once(&self, shared: &Arc<Shared>) -> bool {
        let mut any = false;
        if let Some(tcp) = &self.listeners.tcp {
            any |= self.hand_over(shared, tcp.accept().map(|(stream, _)| {
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "TCP_NODELAY");
                }
                Stream::Tcp(stream)
            }));
        }
        if let Some(unix) = &self.listeners.unix {
            any |= self.hand_over(shared, unix.accept().map(|(stream, _)| Stream::Unix(stream)));
        }
        any
    }

    fn hand_over(&self, shared: &Arc<Shared>, accepted: io::Result<Stream>) -> bool {
        match accepted {
            Ok(stream) => {
                let worker = shared
                    .workers
                    .iter()
                    .min_by_key(|worker| worker.load.load(Ordering::Relaxed))
                    .expect("there is at least one worker");
                worker.load.fetch_add(1, Ordering::Relaxed);
                let id = shared.next_connection_id();
                worker.send(Message::Connection { stream, id });
                true
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => {
                // Out of descriptors, or the client is gone already: others must not suffer, nor may this thread spin.
                tracing::warn!(%error, "a client could not be accepted");
                std::thread::sleep(Duration::from_millis(20));
                error.kind() == ErrorKind::ConnectionAborted
            }
        }
    }
}
