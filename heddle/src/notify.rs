//! What a service manager is told: systemd's protocol of `sd_notify(3)`.
//!
//! 1. The manager names a datagram socket in `NOTIFY_SOCKET`; each message is lines of `NAME=value`. Without the variable nothing is sent.
//! 2. While the data directory is opened and closed, [`Systemd::working`] asks every ten seconds for more time, since a recovery may take longer
//!    than a start usually does.
//! 3. With `WATCHDOG_USEC`, [`Systemd::watch`] answers only if every worker has answered a message: it reads the counters of all of them.
//!
//! N1: a message that cannot be sent is lost, and the server goes on.

use server::inside::Inside;
use std::ffi::{OsStr, OsString};
use std::future::Future;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

/// How often more time is asked for, and for how much.
const EXTEND_EVERY: Duration = Duration::from_secs(10);
const EXTEND_BY: Duration = Duration::from_secs(60);

/// The way to the service manager, if there is one.
#[derive(Clone, Debug)]
pub struct Systemd {
    socket: Option<Arc<(UnixDatagram, SocketAddr)>>,
    /// How long it waits for a sign of life; `None`: it does not.
    watchdog: Option<Duration>,
}

impl Systemd {
    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    pub fn from_environment() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let address = variable("NOTIFY_SOCKET").and_then(|path| address_of(&path));
        let socket = address.and_then(|address| Some(Arc::new((UnixDatagram::unbound().ok()?, address))));
        let number = |name: &str| variable(name)?.to_str()?.parse::<u64>().ok();
        let is_ours = number("WATCHDOG_PID").is_none_or(|process| process == u64::from(std::process::id()));
        let watchdog = number("WATCHDOG_USEC").filter(|us| is_ours && *us > 0).map(Duration::from_micros);
        Self { socket, watchdog }
    }

    /// Clients can connect.
    pub fn ready(&self, status: &str) {
        self.send(&format!("READY=1\nSTATUS={status}"));
    }

    /// The server has begun to stop.
    pub fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=stopping: open statements may finish");
    }

    /// Says what the server does, and asks for more time until the result is dropped.
    pub fn working(&self, status: &str) -> Working {
        let ask = format!("EXTEND_TIMEOUT_USEC={}", EXTEND_BY.as_micros());
        self.send(&format!("STATUS={status}\n{ask}"));
        let systemd = self.clone();
        let repeat = || Repeated::start("notify", EXTEND_EVERY, move || systemd.send(&ask));
        Working { _messages: self.socket.is_some().then(repeat).flatten() }
    }

    /// Gives signs of life while all workers turn, until the result is dropped.
    pub fn watch(&self, server: Inside) -> Working {
        let Some(patience) = self.watchdog.filter(|_| self.socket.is_some()) else { return Working { _messages: None } };
        let systemd = self.clone();
        let messages = Repeated::start("watchdog", patience / 3, move || {
            // Half of the patience for the answers: a later one gives no sign, and the next look may.
            if complete(server.figures(), patience / 2).is_some() {
                systemd.send("WATCHDOG=1");
            }
        });
        Working { _messages: messages }
    }

    fn send(&self, message: &str) {
        if let Some((socket, address)) = self.socket.as_deref() {
            let _ = socket.send_to_addr(message.as_bytes(), address); // N1
        }
    }
}

/// A path, or `@` and a name in the abstract namespace.
fn address_of(text: &OsStr) -> Option<SocketAddr> {
    match text.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name).ok(),
        [b'/', ..] => SocketAddr::from_pathname(text).ok(),
        _ => None,
    }
}

/// Messages are repeated as long as this lives.
#[must_use]
pub struct Working {
    _messages: Option<Repeated>,
}

/// A thread that does something again and again.
struct Repeated {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Repeated {
    fn start(name: &str, every: Duration, what: impl Fn() + Send + 'static) -> Option<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let run = move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                what();
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run).ok()?;
        Some(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Repeated {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The result of a future, if it comes in time.
fn complete<T>(future: impl Future<Output = T>, patience: Duration) -> Option<T> {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let (mut future, until) = (pin!(future), Instant::now() + patience);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(value);
        }
        let left = until.checked_duration_since(Instant::now())?;
        std::thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn systemd(variables: &[(&str, &str)]) -> Systemd {
        Systemd::from_variables(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn messages_reach_an_abstract_socket() {
        let name = format!("heddle-notify-{}", std::process::id());
        let manager = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let systemd = systemd(&[("NOTIFY_SOCKET", &format!("@{name}"))]);
        systemd.ready("serving");
        let mut message = [0; 100];
        let length = manager.recv(&mut message).unwrap();
        assert_eq!(&message[..length], b"READY=1\nSTATUS=serving");
    }

    #[test]
    fn without_a_manager_nothing_happens() {
        for variables in
            [&[][..], &[("NOTIFY_SOCKET", "")], &[("NOTIFY_SOCKET", "relative")], &[("NOTIFY_SOCKET", "/nonexistent/socket")]]
        {
            let systemd = systemd(variables);
            systemd.ready("serving");
            drop(systemd.working("recovering"));
            systemd.stopping();
        }
    }

    #[test]
    fn a_watchdog_for_another_process_is_not_ours() {
        let own = std::process::id().to_string();
        assert_eq!(systemd(&[("WATCHDOG_USEC", "2000000")]).watchdog, Some(Duration::from_secs(2)));
        assert_eq!(systemd(&[("WATCHDOG_USEC", "2000000"), ("WATCHDOG_PID", &own)]).watchdog, Some(Duration::from_secs(2)));
        assert_eq!(systemd(&[("WATCHDOG_USEC", "2000000"), ("WATCHDOG_PID", "1")]).watchdog, None);
        assert_eq!(systemd(&[("WATCHDOG_USEC", "0")]).watchdog, None);
    }

    #[test]
    fn a_future_that_does_not_complete_is_given_up() {
        assert_eq!(complete(std::future::ready(7), Duration::from_secs(60)), Some(7));
        assert_eq!(complete(std::future::pending::<()>(), Duration::ZERO), None);
    }
}
