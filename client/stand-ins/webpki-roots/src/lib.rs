//! The authorities that are trusted without being asked for: one that nobody is. See `client/src/lib.rs`, E1.
//!
//! The library refuses an empty list, also where it accepts any certificate. The name of this one is no name, and its key is no key, so no
//! signature is ever good for it.
#![forbid(unsafe_code)]

use rustls_pki_types::{Der, TrustAnchor};

pub static TLS_SERVER_ROOTS: &[TrustAnchor<'static>] = &[TrustAnchor {
    subject: Der::from_slice(b"nobody"),
    subject_public_key_info: Der::from_slice(&[]),
    name_constraints: None,
}];
