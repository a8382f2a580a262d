//! The thread of the console: takes connections, reads HTTP, gives each request to `routes`.
//!
//! L1: at most [`CONNECTIONS_MAX`] connections, [`PEER_CONNECTIONS_MAX`] of one address; further ones are closed at once.
//! L2: a connection lives for [`LIFE`] and has [`HEADERS_WITHIN`] for the headers of each request, [`BODY_WITHIN`] for its body. A
//!     browser that reads slowly keeps its own connection and nothing else.
//! L3: where other machines reach the address, it speaks TLS with the server's certificate, or nothing at all, unless told otherwise.
//! L4: a request is answered by a task of its own, so that it comes to its end when the browser leaves.

use crate::request::{BODY_BYTES_MAX, Headers, Method, Parameters, Request, Response, TARGET_BYTES_MAX};
use crate::state::State;
use crate::{Config, Server};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::LocalSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

const CONNECTIONS_MAX: usize = 128;
const PEER_CONNECTIONS_MAX: usize = 32;
const HEADER_BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;
const HEADERS_WITHIN: Duration = Duration::from_secs(30);
const BODY_WITHIN: Duration = Duration::from_secs(10);
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);
const LIFE: Duration = Duration::from_secs(180);
/// After its life a connection may end the answer that it is writing.
const LAST_ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// After a failure to accept, for example without descriptors.
const RETRY: Duration = Duration::from_millis(100);

/// Why there is no console. The server goes on without.
#[derive(Debug)]
pub enum StartError {
    /// The address cannot be used.
    Listen(SocketAddr, io::Error),
    /// Other machines reach the address, and the server has no certificate.
    Plain(SocketAddr),
    /// The system refused a thread or the like.
    Resource(io::Error),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Listen(address, error) if error.kind() == io::ErrorKind::AddrInUse => {
                write!(f, "there is no console: another program uses {address} (choose another with --console)")
            }
            StartError::Listen(address, error) => write!(f, "there is no console: cannot listen on {address}: {error}"),
            StartError::Plain(address) => write!(
                f,
                "there is no console: other machines reach {address}, and without TLS they would send passwords in clear \
                 (turn --tls on, or say --console-plain on behind a proxy that has TLS)"
            ),
            StartError::Resource(error) => write!(f, "there is no console: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

/// The running console.
pub struct Console {
    address: SocketAddr,
    is_secure: bool,
    stop: Arc<Notify>,
    thread: std::thread::JoinHandle<()>,
}

/// Binds the address and starts the console's thread.
///
/// # Errors
/// See [`StartError`].
pub fn start(config: Config, server: Arc<dyn Server>) -> Result<Console, StartError> {
    // L3
    let is_local = config.address.ip().to_canonical().is_loopback();
    let tls = if is_local || config.plain { None } else { Some(server.tls().ok_or(StartError::Plain(config.address))?) };
    let is_secure = tls.is_some();
    let refused = |error| StartError::Listen(config.address, error);
    let listener = std::net::TcpListener::bind(config.address).map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let listener = |runtime: &tokio::runtime::Runtime| runtime.block_on(async { TcpListener::from_std(listener) });
        match runtime.and_then(|runtime| listener(&runtime).map(|listener| (runtime, listener))) {
            Ok((runtime, listener)) => {
                let state = Rc::new(State::new(config, server, address, is_secure));
                let listen = Listen { state, tls: tls.map(TlsAcceptor::from), open: Rc::default() };
                LocalSet::new().block_on(&runtime, listen.run(listener, &stopped));
            }
            Err(error) => tracing::error!(%error, "the console could not start"),
        }
    };
    let thread = std::thread::Builder::new().name("console".to_owned()).spawn(run).map_err(StartError::Resource)?;
    Ok(Console { address, is_secure, stop, thread })
}

impl Console {
    /// The address in use, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Is it reached by https?
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Ends the thread, and with it every connection.
    pub fn stop(self) {
        self.stop.notify_one();
        if self.thread.join().is_err() {
            tracing::error!("the console's thread panicked");
        }
    }
}

/// Open connections by address. L1
type Open = Rc<RefCell<HashMap<IpAddr, usize>>>;

struct Listen {
    state: Rc<State>,
    tls: Option<TlsAcceptor>,
    open: Open,
}

impl Listen {
    async fn run(self, listener: TcpListener, stopped: &Notify) {
        let state = Rc::clone(&self.state);
        tokio::task::spawn_local(async move { state.sampler.run().await });
        let mut stop = std::pin::pin!(stopped.notified());
        loop {
            let accepted = {
                let mut accept = std::pin::pin!(listener.accept());
                let either = std::future::poll_fn(|cx| match stop.as_mut().poll(cx) {
                    std::task::Poll::Ready(()) => std::task::Poll::Ready(None),
                    std::task::Poll::Pending => accept.as_mut().poll(cx).map(Some),
                });
                either.await
            };
            match accepted {
                None => return,
                Some(Ok((stream, peer))) => self.take(stream, peer),
                Some(Err(error)) => {
                    tracing::debug!(%error, "the console could not accept");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    fn take(&self, stream: TcpStream, peer: SocketAddr) {
        let Some(place) = Place::take(&self.open, peer.ip()) else {
            return tracing::debug!(%peer, "the console has too many connections");
        };
        let (state, tls) = (Rc::clone(&self.state), self.tls.clone());
        // Without it an answer may wait for the acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
        tokio::task::spawn_local(async move {
            match tls {
                None => serve(stream, peer, state).await,
                Some(acceptor) => match timeout(HANDSHAKE_WITHIN, acceptor.accept(stream)).await {
                    Ok(Ok(stream)) => serve(stream, peer, state).await,
                    Ok(Err(error)) => tracing::debug!(%peer, %error, "TLS of the console"),
                    Err(_) => tracing::debug!(%peer, "TLS of the console takes too long"),
                },
            }
            drop(place);
        });
    }
}

/// A connection's place among the open ones.
struct Place {
    open: Open,
    ip: IpAddr,
}

impl Place {
    fn take(open: &Open, ip: IpAddr) -> Option<Self> {
        let mut counts = open.borrow_mut();
        let all: usize = counts.values().sum();
        let own = counts.get(&ip).copied().unwrap_or(0);
        if all >= CONNECTIONS_MAX || own >= PEER_CONNECTIONS_MAX {
            return None;
        }
        counts.insert(ip, own + 1);
        Some(Self { open: Rc::clone(open), ip })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.open.borrow_mut();
        if let Some(count) = counts.get_mut(&self.ip) {
            *count -= 1;
        }
        counts.retain(|_, count| *count > 0);
    }
}

/// Serves one connection. L2
async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + 'static, peer: SocketAddr, state: Rc<State>) {
    let service = service_fn(move |incoming| {
        let state = Rc::clone(&state);
        async move {
            let answer = tokio::task::spawn_local(answer(incoming, peer, state)); // L4
            let response = answer.await.unwrap_or_else(|_| Response::error(500, "the console failed"));
            Ok::<_, Infallible>(to_hyper(response))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(HEADER_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    if timeout(LIFE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        // Whoever does not read by then is cut off.
        let _ = timeout(LAST_ANSWER_WITHIN, connection).await;
    }
}

async fn answer(incoming: hyper::Request<Incoming>, peer: SocketAddr, state: Rc<State>) -> Response {
    let (head, body) = incoming.into_parts();
    let body = match timeout(BODY_WITHIN, Limited::new(body, BODY_BYTES_MAX).collect()).await {
        Ok(Ok(body)) => body.to_bytes().to_vec(),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            return Response::error(413, "the body is too long").with("connection", "close");
        }
        Ok(Err(_)) => return Response::error(400, "the body is malformed").with("connection", "close"),
        Err(_) => return Response::error(408, "the body takes too long").with("connection", "close"),
    };
    match from_parts(&head.method, &head.uri, &head.headers, body, peer, state.is_secure) {
        Ok(request) => state.answer(&request).await,
        Err(response) => response,
    }
}

/// The request as the state see it.
///
/// # Errors
/// The answer to one that is too long or malformed.
pub fn from_parts(
    method: &hyper::Method,
    uri: &hyper::Uri,
    map: &HeaderMap<HeaderValue>,
    body: Vec<u8>,
    peer: SocketAddr,
    is_secure: bool,
) -> Result<Request, Response> {
    if uri.path_and_query().map_or(0, |target| target.as_str().len()) > TARGET_BYTES_MAX {
        return Err(Response::error(414, "the address is too long"));
    }
    let parameters = Parameters::parse(uri.query().unwrap_or_default());
    let parameters = parameters.ok_or_else(|| Response::error(400, "the parameters are malformed"))?;
    let method = match *method {
        hyper::Method::GET => Method::Get,
        hyper::Method::HEAD => Method::Head,
        hyper::Method::POST => Method::Post,
        _ => Method::Other,
    };
    Ok(Request { method, path: uri.path().to_owned(), parameters, headers: headers(map), body, peer, is_secure })
}

fn headers(map: &HeaderMap<HeaderValue>) -> Headers {
    let get = |name: &str| map.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    Headers {
        host: get("host"),
        cookie: get("cookie"),
        csrf: get("x-csrf-token"),
        origin: get("origin"),
        fetch_site: get("sec-fetch-site"),
        accept: get("accept"),
        accept_encoding: get("accept-encoding"),
        authorization: get("authorization"),
        content_type: get("content-type"),
        if_none_match: get("if-none-match"),
    }
}

fn to_hyper(response: Response) -> hyper::Response<Full<Bytes>> {
    let mut builder = hyper::Response::builder().status(response.status);
    for (name, value) in response.headers() {
        builder = builder.header(name, value);
    }
    let failed = || {
        let mut response = hyper::Response::new(Full::default());
        *response.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
        response
    };
    builder.body(Full::from(response.body)).unwrap_or_else(|_| failed())
}
