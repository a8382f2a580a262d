//! Accepts clients on a thread of its own and hands each to the worker with the fewest sessions.

use super::Message;
use crate::shared::Shared;
use crate::{Config, StartError};
use reactor::connection::Stream;
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
const ADMIN: mio::Token = mio::Token(3);
/// Connections that the kernel keeps for us while we are busy.
const BACKLOG: i32 = 1024;
/// When accepting failed (no descriptors left), it is tried again after this time.
const RETRY: Duration = Duration::from_millis(50);

/// The bound sockets.
pub struct Listeners {
    tcp: Option<mio::net::TcpListener>,
    unix: Option<mio::net::UnixListener>,
    /// For administrators.
    admin: Option<mio::net::TcpListener>,
    socket_path: Option<PathBuf>,
}

impl Listeners {
    pub fn bind(config: &Config) -> Result<Self, StartError> {
        let bind =
            |address: SocketAddr| bind_tcp(address).map_err(|error| StartError::Listen { what: address.to_string(), error });
        let (tcp, admin) = (config.tcp.map(bind).transpose()?, config.admin.map(bind).transpose()?);
        let unix = match &config.socket {
            Some(path) => Some(bind_unix(path).map_err(|error| StartError::Listen { what: path.display().to_string(), error })?),
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
    // As in MySQL: accounts decide who may connect.
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
        if let Some(admin) = &mut listeners.admin {
            poll.registry().register(admin, ADMIN, mio::Interest::READABLE)?;
        }
        if let Some(unix) = &mut listeners.unix {
            poll.registry().register(unix, UNIX, mio::Interest::READABLE)?;
        }
        Ok((Self { poll, listeners }, waker))
    }

    /// Accepts until the server stops; then closes the sockets and removes the unix socket's file.
    pub fn run(mut self, shared: &Arc<Shared>) {
        let mut events = mio::Events::with_capacity(16);
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
            let _ = std::fs::remove_file(path);
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
fn hand_over(shared: &Arc<Shared>, stream: Stream, admin: bool) {
    let (workers, admins) = shared.workers.split_at(shared.config.workers.max(1));
    let workers = if admin { admins } else { workers };
    // Relaxed: a rough figure is enough.
    let fewest = workers.iter().min_by_key(|worker| worker.load().load(Ordering::Relaxed));
    let worker = fewest.expect("there is at least one worker");
    worker.load().fetch_add(1, Ordering::Relaxed);
    let id = shared.next_connection_id();
    worker.send(Message::Connection { stream, id, admin });
}
