//! Requests made of arbitrary bytes, answered without a server: for the fuzz target `console` and a property test.
//!
//! H1: an answer is one of the known statuses, whatever the request.
//! H2: without a login nothing below `/api/` succeeds, and no answer has what only the server knows.

use crate::listen::from_parts;
use crate::state::State;
use crate::{Config, Figures, Later, Server, Variable};
use std::future::Future;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A value that only a login may see.
const SECRET: &str = "a-secret-of-the-server";
const STATUSES: &[u16] = &[200, 304, 400, 401, 403, 404, 405, 414, 421, 503];

/// The routes, before a server that takes no connections.
pub struct Harness(State);

struct NoServer;

impl Server for NoServer {
    fn connect(&self, _: SocketAddr) -> std::io::Result<UnixStream> {
        Err(std::io::ErrorKind::ConnectionRefused.into())
    }

    fn figures(&self) -> Later<Figures> {
        Box::pin(std::future::ready(Figures::default()))
    }

    fn variables(&self) -> Vec<Variable> {
        vec![Variable { name: "server_uuid", value: SECRET.to_owned(), ..Variable::default() }]
    }

    fn tls(&self) -> Option<Arc<rustls::ServerConfig>> {
        None
    }

    fn is_stopping(&self) -> bool {
        false
    }
}

impl Harness {
    /// `directory`: where the file of curves may be.
    pub fn new(directory: &Path) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 3380));
        let config = Config { address, data_dir: directory.to_owned(), plain: false, version: "0" };
        Self(State::new(config, Arc::new(NoServer), address, false))
    }

    /// Answers the request that the bytes describe: a line with method and target, lines of headers, an empty line, a body.
    ///
    /// # Panics
    /// H1 or H2 does not hold.
    pub fn answer(&self, bytes: &[u8]) -> u16 {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let (method, target) = lines.next().and_then(|line| line.split_once(' ')).unwrap_or(("GET", "/"));
        let Ok(method) = hyper::Method::from_bytes(method.as_bytes()) else { return 400 };
        let Ok(target) = target.parse::<hyper::Uri>() else { return 400 };
        let mut headers = hyper::HeaderMap::new();
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            let name = hyper::header::HeaderName::from_bytes(name.trim().as_bytes());
            if let (Ok(name), Ok(value)) = (name, hyper::header::HeaderValue::from_str(value.trim())) {
                headers.insert(name, value);
            }
        }
        let peer = SocketAddr::from(([127, 0, 0, 1], 50_000));
        let is_page = target.path().starts_with("/api/");
        let response = match from_parts(&method, &target, &headers, body.as_bytes().to_vec(), peer, false) {
            Ok(request) => at_once(self.0.answer(&request)),
            Err(response) => response,
        };
        assert!(STATUSES.contains(&response.status), "H1: {} for {text}", response.status);
        assert!(!is_page || response.status >= 400, "H2: {text}");
        assert!(!String::from_utf8_lossy(&response.body).contains(SECRET), "H2: {text}");
        response.status
    }
}

/// Without a server nothing has to be waited for.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("there is no server to wait for"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parts that take a request far, and any others.
    fn part() -> impl Strategy<Value = String> {
        let known = [
            "GET ",
            "POST ",
            "HEAD ",
            "/",
            "/api/",
            "login",
            "session",
            "now",
            "history",
            "statements",
            "kill",
            "/metrics",
            "/assets/",
            "app.js",
            "?",
            "&",
            "=",
            "span=week",
            "limit=1",
            "%2e%00",
            "\n",
            "\n\n",
            "Host: localhost\n",
            "Host: [::1]:1\n",
            "Cookie: heddle_3380=aa\n",
            "Authorization: Basic cm9vdDo=\n",
            "Content-Type: application/json\n",
            "X-CSRF-Token: \n",
            "Origin: http://localhost\n",
            "Accept: application/openmetrics-text\n",
            "{\"user\":\"root\",\"password\":\"\"}",
            "..",
        ];
        prop_oneof![3 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
    }

    proptest! {
        #[test]
        fn any_request_gets_an_answer(parts in prop::collection::vec(part(), 0..16)) {
            let directory = tempfile::tempdir().unwrap();
            Harness::new(directory.path()).answer(parts.concat().as_bytes());
        }
    }

    #[test]
    fn known_requests() {
        let directory = tempfile::tempdir().unwrap();
        let harness = Harness::new(directory.path());
        let check = |request: &str, status: u16| assert_eq!(harness.answer(request.as_bytes()), status, "{request}");
        check("GET /\nHost: localhost", 200);
        check("GET /\nHost: example.com", 421);
        check("GET /metrics\nHost: localhost", 200);
        check("GET /metrics\nHost: localhost\nAuthorization: Basic cm9vdDo=", 503);
        check("GET /api/session\nHost: localhost", 401);
        check("POST /api/login\nHost: localhost\nContent-Type: application/json\n\n{\"user\":\"a\",\"password\":\"b\"}", 503);
        check("POST /api/kill\nHost: localhost", 401);
        check("PUT /\nHost: localhost", 405);
        check("GET /x?a=%zz\nHost: localhost", 400);
    }
}
