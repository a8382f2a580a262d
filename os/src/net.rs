//! Sockets that never block, and events for the sockets that are ready: those of `mio`, or of the simulated machine.

#[cfg(sim)]
pub use crate::sim::net::{
    Events, Interest, Poll, Registry, SourceFd, TcpListener, TcpStream, Token, UnixListener, UnixStream, Waker, event,
    listen_tcp, listen_unix, remove_unix,
};
#[cfg(not(sim))]
pub use mio::{
    Events, Interest, Poll, Registry, Token, Waker, event,
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    unix::SourceFd,
};
#[cfg(not(sim))]
pub use real::{listen_tcp, listen_unix, remove_unix};

#[cfg(not(sim))]
mod real {
    use super::{TcpListener, UnixListener};
    use std::io::{self, ErrorKind};
    use std::net::SocketAddr;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    /// The number of connections that wait in the kernel to be accepted.
    const BACKLOG: i32 = 1024;

    /// Listens on an address; port 0 takes a free one.
    ///
    /// # Errors
    /// Errors of the system; for example the address is in use.
    pub fn listen_tcp(address: SocketAddr) -> io::Result<TcpListener> {
        let socket = socket2::Socket::new(socket2::Domain::for_address(address), socket2::Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        Ok(TcpListener::from_std(socket.into()))
    }

    /// Listens on a path. Every user of the machine may connect to it. An old socket without a listening process is replaced.
    ///
    /// # Errors
    /// Errors of the system, and `AddrInUse` if another process listens.
    pub fn listen_unix(path: &Path) -> io::Result<UnixListener> {
        if path.exists() {
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
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?;
        Ok(UnixListener::from_std(std::os::fd::OwnedFd::from(socket).into()))
    }

    /// Removes the name of a socket that is no longer listened on.
    pub fn remove_unix(path: &Path) {
        // It may be gone already.
        let _ = std::fs::remove_file(path);
    }
}
