//! A client of HTTP that hides nothing: bytes out, status, headers and body in.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let wanted = |line: &&str| line.split(':').next().is_some_and(|known| known.eq_ignore_ascii_case(name));
        self.head.lines().find(wanted)?.split_once(':').map(|(_, value)| value.trim())
    }

    pub fn json(&self) -> Result<serde_json::Value, String> {
        serde_json::from_str(&self.body).map_err(|error| format!("{error}: {}", self.body))
    }
}

/// A browser: it keeps the cookie and the token of its login.
#[derive(Clone, Debug)]
pub struct Browser {
    pub address: String,
    pub cookie: String,
    pub csrf: String,
}

impl Browser {
    pub fn new(address: &str) -> Self {
        Self { address: address.to_owned(), cookie: String::new(), csrf: String::new() }
    }

    pub fn get(&self, target: &str) -> Result<Answer, String> {
        self.get_with(target, "")
    }

    /// With further header lines, each ended by CR LF.
    pub fn get_with(&self, target: &str, headers: &str) -> Result<Answer, String> {
        self.exchange(&format!("GET {target} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{headers}\r\n", self.address, self.cookie))
    }

    pub fn post(&self, target: &str, body: &str) -> Result<Answer, String> {
        self.post_with(target, body, &format!("X-CSRF-Token: {}\r\n", self.csrf))
    }

    pub fn post_with(&self, target: &str, body: &str, headers: &str) -> Result<Answer, String> {
        self.exchange(&format!(
            "POST {target} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            self.address,
            self.cookie,
            body.len()
        ))
    }

    /// Logs in, and keeps what the browser and the page keep.
    pub fn log_in(&mut self, user: &str, password: &str) -> Result<Answer, String> {
        let body = serde_json::json!({ "user": user, "password": password }).to_string();
        let answer = self.post_with("/api/login", &body, "")?;
        if answer.status == 200 {
            let cookie = answer.header("set-cookie").ok_or("a login sets a cookie")?;
            self.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
            self.csrf = answer.json()?["csrf"].as_str().unwrap_or_default().to_owned();
        }
        Ok(answer)
    }

    /// Sends these bytes and reads until the answer is complete.
    pub fn exchange(&self, request: &str) -> Result<Answer, String> {
        let mut stream = self.connect()?;
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(request.as_bytes());
        read(&mut stream)
    }

    pub fn connect(&self) -> Result<TcpStream, String> {
        let stream = TcpStream::connect(&self.address).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(|error| error.to_string())?;
        Ok(stream)
    }
}

/// Reads one answer.
pub fn read(stream: &mut TcpStream) -> Result<Answer, String> {
    let mut bytes = Vec::new();
    let mut block = [0; 16 * 1024];
    loop {
        if let Some(answer) = whole(&bytes)? {
            return Ok(answer);
        }
        match stream.read(&mut block) {
            Ok(0) => return Err(format!("closed after {} bytes", bytes.len())),
            Ok(count) => bytes.extend_from_slice(&block[..count]),
            Err(error) => return Err(format!("{error} after {} bytes", bytes.len())),
        }
    }
}

/// The answer, once all of it has come.
fn whole(bytes: &[u8]) -> Result<Option<Answer>, String> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("no status line")?;
    let answer = Answer { status, head, body: String::new() };
    let length: usize = answer.header("content-length").unwrap_or("0").parse().map_err(|_| "no length")?;
    let body = &bytes[end + 4..];
    Ok((body.len() >= length).then(|| Answer { body: String::from_utf8_lossy(&body[..length]).into_owned(), ..answer }))
}
