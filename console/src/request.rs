//! A request as the routes see it, and the answer: plain data, without sockets.
//!
//! R1: sizes are bounded before anything is read: the path and the query [`TARGET_BYTES_MAX`], parameters [`PARAMETERS_MAX`], a body
//!     [`BODY_BYTES_MAX`]. The reader of HTTP bounds lines and headers (`listen`).
//! R2: every answer has the headers of [`Response::headers`]: no script but ours, no frame around the page, nothing kept by caches.

use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};

pub const TARGET_BYTES_MAX: usize = 2048;
pub const BODY_BYTES_MAX: usize = 16 * 1024;
pub const PARAMETERS_MAX: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
    Post,
    Other,
}

/// One request of a browser or a program.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    pub path: String,
    pub parameters: Parameters,
    pub headers: Headers,
    pub body: Vec<u8>,
    pub peer: SocketAddr,
    /// It came over TLS.
    pub is_secure: bool,
}

/// The headers that the routes read. One that is missing is empty.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    pub host: String,
    pub cookie: String,
    pub csrf: String,
    pub origin: String,
    pub fetch_site: String,
    pub accept: String,
    pub accept_encoding: String,
    pub authorization: String,
    pub content_type: String,
    pub if_none_match: String,
}

/// The decoded parameters of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(Vec<(String, String)>);

/// An answer.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub content_type: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Parameters {
    /// Decodes a query: `None` if it has too many parameters or is not UTF-8 in percent-encoding. R1
    pub fn parse(query: &str) -> Option<Self> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(name)?, decode(value)?))
        });
        let parameters: Vec<_> = decoded.take(PARAMETERS_MAX + 1).collect::<Option<_>>()?;
        (parameters.len() <= PARAMETERS_MAX).then_some(Self(parameters))
    }

    /// The first value of a name; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// A number up to `max`; `None` if the text is something else.
    pub fn number(&self, name: &str, default: u64, max: u64) -> Option<u64> {
        match self.get(name) {
            "" => Some(default),
            text => text.parse().ok().filter(|number| *number <= max),
        }
    }
}

/// Percent-encoding; `+` is a space.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                (digit(rest.next()?)? * 16 + digit(rest.next()?)?) as u8
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

impl Request {
    /// The value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.headers.cookie.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// User and password of `Authorization: Basic`.
    pub fn basic(&self) -> Option<(String, String)> {
        use base64::Engine;
        let (scheme, encoded) = self.headers.authorization.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let decoded = base64::engine::general_purpose::STANDARD.decode(encoded.trim()).ok()?;
        let text = String::from_utf8(decoded).ok()?;
        text.split_once(':').map(|(user, password)| (user.to_owned(), password.to_owned()))
    }

    /// Does the request name this machine itself? A page of another site that made its name point here does not.
    pub fn names_loopback(&self) -> bool {
        let host = self.headers.host.as_str();
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    }

    /// Was the request made by a page of this console, as far as the browser says?
    pub fn is_same_origin(&self) -> bool {
        let scheme = if self.is_secure { "https" } else { "http" };
        let origin = &self.headers.origin;
        let site = self.headers.fetch_site.as_str();
        (origin.is_empty() || *origin == format!("{scheme}://{}", self.headers.host))
            && matches!(site, "" | "same-origin" | "none")
    }

    /// The body as a JSON object.
    pub fn json(&self) -> Option<Value> {
        let is_json = self.headers.content_type.split(';').next().is_some_and(|kind| kind.trim() == "application/json");
        let value: Value = is_json.then(|| serde_json::from_slice(&self.body).ok())??;
        value.is_object().then_some(value)
    }
}

impl Response {
    pub fn json(value: &Value) -> Self {
        Self::new(200, "application/json", value.to_string().into_bytes())
    }

    pub fn text(status: u16, text: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text.into().into_bytes())
    }

    /// An error that the page shows.
    pub fn error(status: u16, message: impl Into<String>) -> Self {
        Self { status, ..Self::json(&json!({ "error": message.into() })) }
    }

    pub fn new(status: u16, content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status, content_type, headers: Vec::new(), body }
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// All headers but the length. R2
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                              form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
        let mut headers = vec![
            ("content-type", self.content_type.to_owned()),
            ("content-security-policy", POLICY.to_owned()),
            ("x-frame-options", "DENY".to_owned()),
            ("x-content-type-options", "nosniff".to_owned()),
            ("referrer-policy", "no-referrer".to_owned()),
            ("cross-origin-opener-policy", "same-origin".to_owned()),
            ("cross-origin-resource-policy", "same-origin".to_owned()),
        ];
        if !self.headers.iter().any(|(name, _)| *name == "cache-control") {
            headers.push(("cache-control", "no-store".to_owned()));
        }
        headers.extend(self.headers.iter().cloned());
        headers
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A request for a path and a query, from this machine.
    pub fn get(target: &str) -> Request {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Request {
            method: Method::Get,
            path: path.to_owned(),
            parameters: Parameters::parse(query).expect("the test writes it well"),
            headers: Headers { host: "localhost:3380".to_owned(), ..Headers::default() },
            body: Vec::new(),
            peer: SocketAddr::from(([127, 0, 0, 1], 50_000)),
            is_secure: false,
        }
    }

    #[test]
    fn parameters_are_decoded() {
        let parameters = Parameters::parse("find=a%20b+c%26&limit=10&empty").unwrap();
        assert_eq!(parameters.get("find"), "a b c&");
        assert_eq!((parameters.get("empty"), parameters.get("none")), ("", ""));
        assert_eq!(parameters.number("limit", 5, 100), Some(10));
        assert_eq!(parameters.number("offset", 5, 100), Some(5));
        assert_eq!((parameters.number("limit", 5, 9), parameters.number("find", 5, 9)), (None, None));
        for wrong in ["a=%", "a=%2", "a=%zz", "a=%ff", &"a&".repeat(PARAMETERS_MAX + 1)] {
            assert_eq!(Parameters::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn hosts_of_this_machine() {
        let names = |host: &str| {
            let headers = Headers { host: host.to_owned(), ..Headers::default() };
            Request { headers, ..get("/") }.names_loopback()
        };
        for own in ["localhost", "LOCALHOST:3380", "127.0.0.1:3380", "127.9.9.9", "[::1]:3380", "[::ffff:127.0.0.1]"] {
            assert!(names(own), "{own}");
        }
        for other in ["", "example.com", "localhost.example.com:3380", "10.0.0.1", "[fe80::1]", "[", "127.0.0.1.nip.io"] {
            assert!(!names(other), "{other}");
        }
    }

    #[test]
    fn basic_credentials() {
        let of = |text: &str| {
            let headers = Headers { authorization: text.to_owned(), ..Headers::default() };
            Request { headers, ..get("/") }.basic()
        };
        assert_eq!(of("Basic cm9vdDphOmI="), Some(("root".to_owned(), "a:b".to_owned())));
        for wrong in ["", "Basic", "Basic !", "Bearer cm9vdDph", "Basic cm9vdA==", "Basic /w=="] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn requests_of_other_sites() {
        let of = |origin: &str, site: &str| {
            let headers = Headers {
                host: "localhost:3380".to_owned(),
                origin: origin.to_owned(),
                fetch_site: site.to_owned(),
                ..Headers::default()
            };
            Request { headers, ..get("/") }.is_same_origin()
        };
        assert!(of("", "") && of("http://localhost:3380", "same-origin"));
        assert!(!of("http://example.com", "") && !of("null", "") && !of("https://localhost:3380", ""));
        assert!(!of("", "cross-site") && !of("", "same-site"));
    }
}
