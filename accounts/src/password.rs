//! The stored form of passwords, which is MySQL's, and the verification of proofs.
//!
//! ```text
//! caching_sha2_password   $A$ + rounds in thousands, three hex digits + $ + 20 bytes of salt + 43 characters: SHA-256 crypt
//! mysql_native_password   * + 40 hex digits of SHA1(SHA1(password))
//! ```
//! An empty password is stored as an empty text. Only the password itself can be verified against the slow hash. After
//! the first verification its fast hash is remembered (`accounts::logins`), and then the client's scramble is enough.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How an account proves its password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Plugin {
    #[default]
    CachingSha2,
    Native,
}

/// A longer password is never accepted, because the cost of hashing grows with the length.
pub const PASSWORD_BYTES_MAX: usize = 256;
const SALT_BYTES: usize = 20;
const DIGEST_CHARS: usize = 43;
const PREFIX: &str = "$A$005$";
/// The unit of the rounds that are stored in hex digits.
const THOUSAND: u32 = 1000;

impl Plugin {
    pub fn named(name: &str) -> Option<Plugin> {
        match name.to_ascii_lowercase().as_str() {
            protocol::CACHING_SHA2_PASSWORD => Some(Plugin::CachingSha2),
            protocol::NATIVE_PASSWORD => Some(Plugin::Native),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Plugin::CachingSha2 => protocol::CACHING_SHA2_PASSWORD,
            Plugin::Native => protocol::NATIVE_PASSWORD,
        }
    }

    /// The text that is stored for a password. Slow for `CachingSha2`.
    pub fn store(self, password: &[u8]) -> String {
        if password.is_empty() {
            return String::new();
        }
        match self {
            Plugin::CachingSha2 => {
                let salt: [u8; SALT_BYTES] = protocol::auth::nonce_from(os::random_bytes());
                stored_sha2(password, &salt, PREFIX)
            }
            Plugin::Native => {
                let hex: String = protocol::auth::native_hash(password).iter().map(|byte| format!("{byte:02X}")).collect();
                format!("*{hex}")
            }
        }
    }

    /// Has the text the plugin's form?
    pub fn accepts(self, stored: &str) -> bool {
        match self {
            _ if stored.is_empty() => true,
            Plugin::CachingSha2 => rounds(stored).is_some() && stored.len() == PREFIX.len() + SALT_BYTES + DIGEST_CHARS,
            Plugin::Native => native_hash(stored).is_some(),
        }
    }

    /// Is this the password? Slow for `CachingSha2`.
    pub fn is_password(self, stored: &str, password: &[u8]) -> bool {
        if password.len() > PASSWORD_BYTES_MAX {
            return false;
        }
        if stored.is_empty() || password.is_empty() {
            return stored.is_empty() && password.is_empty();
        }
        match self {
            Plugin::CachingSha2 => {
                if !self.accepts(stored) {
                    return false;
                }
                let (prefix, rest) = stored.split_at(PREFIX.len());
                let made = stored_sha2(password, &rest.as_bytes()[..SALT_BYTES], prefix);
                protocol::auth::same(made.as_bytes(), stored.as_bytes())
            }
            Plugin::Native => {
                native_hash(stored).is_some_and(|hash| protocol::auth::same(&protocol::auth::native_hash(password), &hash))
            }
        }
    }
}

/// A password that nobody knows yet.
pub fn random_password(length: usize) -> String {
    const CHARACTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&()*+,-./:;<=>?@[]^_{|}~";
    (0..length).map(|_| char::from(CHARACTERS[os::random_below(CHARACTERS.len())])).collect()
}

/// The hash in a stored text of `mysql_native_password`.
pub fn native_hash(stored: &str) -> Option<protocol::auth::NativeHash> {
    let hex = stored.strip_prefix('*').filter(|hex| hex.len() == 40 && hex.is_ascii())?;
    let mut hash = [0; 20];
    for (byte, pair) in hash.iter_mut().zip(hex.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}

/// The rounds that a text of `caching_sha2_password` names: three hex digits, in thousands.
fn rounds(stored: &str) -> Option<u32> {
    let digits = stored.strip_prefix("$A$").filter(|rest| rest.is_ascii())?;
    let (digits, rest) = digits.split_at_checked(3)?;
    let thousands = u32::from_str_radix(digits, 16).ok().filter(|n| (5..=0xFFF).contains(n))?;
    rest.starts_with('$').then_some(thousands * THOUSAND)
}

fn stored_sha2(password: &[u8], salt: &[u8], prefix: &str) -> String {
    let rounds = rounds(prefix).unwrap_or(5 * THOUSAND);
    format!("{prefix}{}{}", String::from_utf8_lossy(salt), crypt(password, salt, rounds))
}

/// SHA-256 crypt as in Drepper's specification, but for the length of the salt: the 43 characters of its digest.
fn crypt(password: &[u8], salt: &[u8], rounds: u32) -> String {
    let mut other = Sha256::new();
    other.update(password);
    other.update(salt);
    other.update(password);
    let other: [u8; 32] = other.finalize().into();
    let mut first = Sha256::new();
    first.update(password);
    first.update(salt);
    repeat(&mut first, &other, password.len());
    let mut length = password.len();
    while length > 0 {
        match length & 1 {
            1 => first.update(other),
            _ => first.update(password),
        }
        length >>= 1;
    }
    let mut digest: [u8; 32] = first.finalize().into();
    let mut sums = Sha256::new();
    (0..password.len()).for_each(|_| sums.update(password));
    let p = stretched(sums.finalize().into(), password.len());
    let mut sums = Sha256::new();
    (0..16 + usize::from(digest[0])).for_each(|_| sums.update(salt));
    let s = stretched(sums.finalize().into(), salt.len());
    for round in 0..rounds {
        let mut next = Sha256::new();
        if round & 1 == 1 {
            next.update(&p)
        } else {
            next.update(digest)
        }
        if round % 3 != 0 {
            next.update(&s);
        }
        if round % 7 != 0 {
            next.update(&p);
        }
        if round & 1 == 1 {
            next.update(digest)
        } else {
            next.update(&p)
        }
        digest = next.finalize().into();
    }
    encode(&digest)
}

fn repeat(to: &mut Sha256, block: &[u8; 32], mut length: usize) {
    while length > 32 {
        to.update(block);
        length -= 32;
    }
    to.update(&block[..length]);
}

fn stretched(block: [u8; 32], length: usize) -> Vec<u8> {
    block.iter().copied().cycle().take(length).collect()
}

/// The specification's base 64, with the bytes in its order.
fn encode(digest: &[u8; 32]) -> String {
    const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = String::with_capacity(DIGEST_CHARS);
    let mut put = |a: u8, b: u8, c: u8, characters: usize| {
        let mut word = u32::from(a) << 16 | u32::from(b) << 8 | u32::from(c);
        for _ in 0..characters {
            out.push(char::from(DIGITS[(word & 63) as usize]));
            word >>= 6;
        }
    };
    let (mut a, mut b, mut c) = (0, 10, 20);
    for _ in 0..10 {
        put(digest[a], digest[b], digest[c], 4);
        (a, b, c) = (c + 1, a + 1, b + 1);
    }
    put(0, digest[31], digest[30], 3);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crypt_is_the_specifications() {
        // The result of glibc's crypt.
        assert_eq!(crypt(b"Hello world!", b"saltstring", 5000), "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5");
    }

    #[test]
    fn a_stored_password_is_recognised() {
        for plugin in [Plugin::CachingSha2, Plugin::Native] {
            let stored = plugin.store(b"secret");
            assert!(plugin.accepts(&stored), "{stored}");
            assert!(plugin.is_password(&stored, b"secret"));
            assert!(!plugin.is_password(&stored, b"Secret"));
            assert!(!plugin.is_password(&stored, b""));
            assert!(!plugin.is_password("", b"secret"));
            assert!(plugin.is_password("", b""));
            assert_eq!(plugin.store(b""), "");
        }
        assert!(!Plugin::CachingSha2.accepts("$A$005$bad"));
        let (longest, longer) = (vec![b'a'; PASSWORD_BYTES_MAX], vec![b'a'; PASSWORD_BYTES_MAX + 1]);
        assert!(Plugin::Native.is_password(&Plugin::Native.store(&longest), &longest));
        assert!(!Plugin::Native.is_password(&Plugin::Native.store(&longer), &longer));
    }
}
