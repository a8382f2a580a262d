//! The files of the page, compressed when the crate is built. None has anything of the server in it.

use crate::request::{Request, Response};
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use std::io::Read;

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The file at a path.
pub fn find(request: &Request) -> Option<Response> {
    let wanted = match request.path.as_str() {
        "/" => "index.html",
        path => path.strip_prefix("/assets/")?,
    };
    let (name, packed) = FILES.iter().find(|(name, _)| *name == wanted)?;
    let tag = format!("\"{}\"", Sha256::digest(packed)[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    // The browser asks each time, so that another release of the server shows its own page.
    let base = Response::new(200, kind(name), Vec::new()).with("cache-control", "no-cache").with("etag", tag.clone());
    if request.headers.if_none_match == tag {
        return Some(Response { status: 304, ..base });
    }
    let base = base.with("vary", "accept-encoding");
    if request.headers.accept_encoding.contains("gzip") {
        return Some(Response { body: packed.to_vec(), ..base.with("content-encoding", "gzip") });
    }
    let mut body = Vec::new();
    GzDecoder::new(*packed).read_to_end(&mut body).expect("it was packed by the build");
    Some(Response { body, ..base })
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Headers;
    use crate::request::tests::get;

    #[test]
    fn a_file_comes_packed_or_plain_and_only_once() {
        let plain = find(&get("/")).expect("there is a page");
        let text = String::from_utf8(plain.body).expect("it is a text");
        assert!(text.starts_with("<!doctype html>"), "{text}");
        let headers = Headers { accept_encoding: "gzip, br".to_owned(), ..Headers::default() };
        let packed = find(&Request { headers, ..get("/") }).expect("there is a page");
        assert!(packed.body.starts_with(&[0x1f, 0x8b]));
        let tag = packed.headers.iter().find(|(name, _)| *name == "etag").expect("it has one").1.clone();
        let headers = Headers { if_none_match: tag, ..Headers::default() };
        let same = find(&Request { headers, ..get("/") }).expect("there is a page");
        assert_eq!((same.status, same.body.len()), (304, 0));
        assert!(find(&get("/assets/../Cargo.toml")).is_none() && find(&get("/assets/")).is_none());
    }

    #[test]
    fn nothing_comes_from_another_place() {
        for (name, packed) in FILES {
            let mut text = String::new();
            GzDecoder::new(*packed).read_to_string(&mut text).expect("assets are texts");
            let others = text.split("http").skip(1).filter(|rest| rest.starts_with("://") || rest.starts_with("s://"));
            let wrong: Vec<&str> = others.filter(|rest| !rest.starts_with("://www.w3.org/")).collect();
            assert!(wrong.is_empty(), "{name} names another place: {wrong:?}");
        }
    }
}
