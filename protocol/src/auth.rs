//! Proofs of a password: `mysql_native_password` and `caching_sha2_password`.
//!
//! Both keep a double hash of the password and let the client prove that it knows the single one:
//! ```text
//! native: stored = SHA1(SHA1(p));      proof = SHA1(p)   xor SHA1(nonce + stored)
//! sha2:   stored = SHA256(SHA256(p));  proof = SHA256(p) xor SHA256(stored + nonce)
//! ```
//! The server takes the mask off the proof and checks that the hash of what remains is the stored one. An empty password is an
//! empty proof. `caching_sha2_password` can also send the password itself, where the channel is secure ([`sha2_is_password`]).
//!
//! Comparisons take the same time wherever the difference is.

use crate::constants::NONCE_BYTES;
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// `SHA1(SHA1(password))`, what `mysql_native_password` stores (as `*` and 40 hex digits).
pub type NativeHash = [u8; 20];
/// `SHA256(SHA256(password))`, what a fast `caching_sha2_password` login is checked against.
pub type Sha2Hash = [u8; 32];

/// What is stored of an account's password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Password {
    Empty,
    Native(NativeHash),
    Sha2(Sha2Hash),
}

impl Password {
    /// Does this proof, made by the client with `plugin` for `nonce`, show the password?
    /// A proof made for another kind of hash than the stored one never does: switch the client to [`Self::plugin`] first.
    pub fn verify(&self, plugin: &str, nonce: &[u8; NONCE_BYTES], proof: &[u8]) -> bool {
        match self {
            Password::Empty => is_empty_proof(proof),
            Password::Native(stored) => plugin == crate::NATIVE_PASSWORD && native_verify(stored, nonce, proof),
            Password::Sha2(stored) => plugin == crate::CACHING_SHA2_PASSWORD && sha2_verify(stored, nonce, proof),
        }
    }

    /// The plugin that can prove this password; any can prove an empty one.
    pub fn plugin(&self) -> Option<&'static str> {
        match self {
            Password::Empty => None,
            Password::Native(_) => Some(crate::NATIVE_PASSWORD),
            Password::Sha2(_) => Some(crate::CACHING_SHA2_PASSWORD),
        }
    }
}

/// No password: nothing, or the single zero byte that some clients send for it.
pub fn is_empty_proof(proof: &[u8]) -> bool {
    proof.is_empty() || proof == [0]
}

pub fn native_hash(password: &[u8]) -> NativeHash {
    Sha1::digest(Sha1::digest(password)).into()
}

pub fn sha2_hash(password: &[u8]) -> Sha2Hash {
    Sha256::digest(Sha256::digest(password)).into()
}

pub fn native_verify(stored: &NativeHash, nonce: &[u8; NONCE_BYTES], proof: &[u8]) -> bool {
    let Ok(proof) = <[u8; 20]>::try_from(proof) else { return false };
    let mask: [u8; 20] = Sha1::new().chain_update(nonce).chain_update(stored).finalize().into();
    same(&Sha1::digest(xor(proof, mask)), stored)
}

pub fn sha2_verify(stored: &Sha2Hash, nonce: &[u8; NONCE_BYTES], proof: &[u8]) -> bool {
    let Ok(proof) = <[u8; 32]>::try_from(proof) else { return false };
    let mask: [u8; 32] = Sha256::new().chain_update(stored).chain_update(nonce).finalize().into();
    same(&Sha256::digest(xor(proof, mask)), stored)
}

/// Is this the password, sent in clear over a secure channel after [`crate::put_full_auth_request`]? Its last zero byte is taken
/// off.
pub fn sha2_is_password(stored: &Sha2Hash, sent: &[u8]) -> bool {
    let password = sent.strip_suffix(&[0]).unwrap_or(sent);
    same(&sha2_hash(password), stored)
}

/// The client's side of `mysql_native_password`; for tests and tools.
pub fn native_proof(password: &[u8], nonce: &[u8; NONCE_BYTES]) -> [u8; 20] {
    let mask: [u8; 20] = Sha1::new().chain_update(nonce).chain_update(native_hash(password)).finalize().into();
    xor(Sha1::digest(password).into(), mask)
}

/// The client's side of `caching_sha2_password`; for tests and tools.
pub fn sha2_proof(password: &[u8], nonce: &[u8; NONCE_BYTES]) -> [u8; 32] {
    let mask: [u8; 32] = Sha256::new().chain_update(sha2_hash(password)).chain_update(nonce).finalize().into();
    xor(Sha256::digest(password).into(), mask)
}

/// Makes a nonce of random bytes: seven bits each, no zero byte and no `$`, because clients read it as text.
pub fn nonce_from(random: [u8; NONCE_BYTES]) -> [u8; NONCE_BYTES] {
    random.map(|byte| match byte & 0x7f {
        0 | b'$' => (byte & 0x7f) + 1,
        other => other,
    })
}

fn xor<const N: usize>(mut a: [u8; N], b: [u8; N]) -> [u8; N] {
    for (a, b) in a.iter_mut().zip(b) {
        *a ^= b;
    }
    a
}

/// Equality without an early exit: it takes the same time wherever the difference is.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && std::hint::black_box(a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: [u8; 20] = *b"abcdefghijklmnopqrst";

    #[test]
    fn stored_hash_is_mysqls() {
        // SELECT PASSWORD('secret') of MySQL 5.7
        let expected = "14e65567abdb5135d0cfd9a70b3032c179a49ee7";
        assert_eq!(native_hash(b"secret").map(|b| format!("{b:02x}")).concat(), expected);
    }

    #[test]
    fn the_right_password_is_accepted_and_others_are_not() {
        for (stored, plugin, proof, other) in [
            (
                Password::Native(native_hash(b"secret")),
                crate::NATIVE_PASSWORD,
                native_proof(b"secret", &NONCE).to_vec(),
                native_proof(b"Secret", &NONCE).to_vec(),
            ),
            (
                Password::Sha2(sha2_hash(b"secret")),
                crate::CACHING_SHA2_PASSWORD,
                sha2_proof(b"secret", &NONCE).to_vec(),
                sha2_proof(b"Secret", &NONCE).to_vec(),
            ),
        ] {
            assert!(stored.verify(plugin, &NONCE, &proof));
            assert!(!stored.verify(plugin, &NONCE, &other));
            assert!(!stored.verify(plugin, b"bbcdefghijklmnopqrst", &proof));
            assert!(!stored.verify(plugin, &NONCE, &proof[1..]));
            assert!(!stored.verify(plugin, &NONCE, b""));
            assert!(!stored.verify("sha256_password", &NONCE, &proof));
            assert!(!Password::Empty.verify(plugin, &NONCE, &proof));
        }
        assert!(Password::Empty.verify("anything", &NONCE, b""));
        assert!(sha2_is_password(&sha2_hash(b"secret"), b"secret\0"));
        assert!(!sha2_is_password(&sha2_hash(b"secret"), b"secrets\0"));
    }

    #[test]
    fn a_nonce_is_text() {
        let nonce = nonce_from([0, 0x80, b'$', 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
        assert!(nonce.iter().all(|&b| b != 0 && b != b'$' && b < 0x80));
    }

    #[test]
    fn proofs_are_those_of_another_implementation() {
        use mysql_common::auth::plugins::{caching_sha2_password::scramble_sha256, mysql_native_password::scramble_native};
        assert_eq!(scramble_native(&NONCE, b"secret"), Some(native_proof(b"secret", &NONCE)));
        assert_eq!(scramble_sha256(&NONCE, b"secret"), Some(sha2_proof(b"secret", &NONCE)));
    }
}
