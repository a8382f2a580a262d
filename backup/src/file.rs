//! A backup file: a head, then chunks.
//!
//! ```text
//! head (32 bytes):  magic u64 "HEDBAK01" | flags u32 (1: encrypted) | zeros u32 | salt 8 bytes | crc u32 | zeros u32
//! chunk head (32):  kind u8 | codec u8 (1: zstd) | zeros u16 | raw bytes u32 | stored bytes u32 | crc u32 | position u64 | number u64
//! chunk body:       stored bytes
//! ```
//! All little-endian. `number` counts chunks from 0. The crc (CRC-32C) is of the head, with a zero crc, and the stored body.
//!
//! B1: a chunk is read whole and compared with its checksum and number before anything of it is believed.
//! B2: a file is complete as far as its last `end` or `mark` chunk; what comes behind was being written when something stopped.
//! B3: an encrypted body is AES-256-GCM; its nonce is the salt, which is random, and the chunk's number in four bytes. So no nonce is used
//! twice in a file, and hardly ever in two. The chunk's head is authenticated with it. (NIST SP 800-38D.)

use crate::{Error, Result, about};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: u64 = u64::from_le_bytes(*b"HEDBAK01");
const HEAD_BYTES: usize = 32;
const ENCRYPTED: u32 = 1;
const ZSTD: u8 = 1;
/// Fast, and good enough for pages.
const LEVEL: i32 = 1;
/// No chunk is longer: a server sends pieces of a megabyte.
const CHUNK_BYTES_MAX: usize = 64 << 20;
const KEY_BYTES: usize = 32;
const TAG_BYTES: usize = 16;

/// What a chunk holds; see `BACKUP SERVER` for what the server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// JSON: which backup this is based on, and who took it.
    About = 1,
    Begin = 2,
    File = 3,
    Pages = 4,
    Log = 5,
    Control = 6,
    End = 7,
    Mark = 8,
}

const KINDS: [(Kind, &str); 8] = [
    (Kind::About, "about"),
    (Kind::Begin, "begin"),
    (Kind::File, "file"),
    (Kind::Pages, "pages"),
    (Kind::Log, "log"),
    (Kind::Control, "control"),
    (Kind::End, "end"),
    (Kind::Mark, "mark"),
];

impl Kind {
    /// By the name in a server's answer.
    pub fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    fn of(number: u8) -> Option<Self> {
        KINDS.iter().map(|(kind, _)| *kind).find(|kind| *kind as u8 == number)
    }
}

/// A key of 32 bytes, from a file of 64 hexadecimal digits.
pub struct Key(LessSafeKey);

impl Key {
    /// # Errors
    /// A file that cannot be read, or holds no key.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| about(path, "cannot read the key file", e))?;
        let digits = text.trim();
        let wrong = || Error(format!("{} holds no key: it must have 64 hexadecimal digits", path.display()));
        if digits.len() != 2 * KEY_BYTES || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| wrong());
        let bytes = (0..digits.len()).step_by(2).map(byte).collect::<Result<Vec<u8>>>()?;
        let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| wrong())?;
        Ok(Self(LessSafeKey::new(key)))
    }

    fn nonce(salt: &[u8; 8], number: u32) -> Nonce {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(salt);
        nonce[8..].copy_from_slice(&number.to_le_bytes());
        Nonce::assume_unique_for_key(nonce)
    }
}

/// CRC-32C.
fn crc(parts: [&[u8]; 2]) -> u32 {
    let mut digest = crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc32Iscsi);
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize() as u32
}

/// Writes a backup file.
pub struct Writer<W: Write> {
    out: W,
    compress: Option<zstd::bulk::Compressor<'static>>,
    key: Option<Key>,
    salt: [u8; 8],
    number: u32,
    stored: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the head.
    ///
    /// # Errors
    /// I/O.
    pub fn new(mut out: W, compressed: bool, key: Option<Key>) -> Result<Self> {
        let mut salt = [0; 8];
        SystemRandom::new().fill(&mut salt).map_err(|_| Error("the system gives no random bytes".to_owned()))?;
        let mut head = [0; HEAD_BYTES];
        head[..8].copy_from_slice(&MAGIC.to_le_bytes());
        head[8..12].copy_from_slice(&(if key.is_some() { ENCRYPTED } else { 0 }).to_le_bytes());
        head[16..24].copy_from_slice(&salt);
        let sum = crc([&head[..24], &[]]);
        head[24..28].copy_from_slice(&sum.to_le_bytes());
        out.write_all(&head).map_err(cannot_write)?;
        let compress =
            if compressed { Some(zstd::bulk::Compressor::new(LEVEL).map_err(|e| Error(format!("zstd: {e}")))?) } else { None };
        Ok(Self { out, compress, key, salt, number: 0, stored: HEAD_BYTES as u64 })
    }

    /// Bytes of the file so far.
    pub fn stored(&self) -> u64 {
        self.stored
    }

    /// The file that is written.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// # Errors
    /// I/O.
    pub fn put(&mut self, kind: Kind, position: u64, body: &[u8]) -> Result<()> {
        let packed = match &mut self.compress {
            Some(compress) => Some(compress.compress(body).map_err(|e| Error(format!("zstd: {e}")))?),
            None => None,
        };
        let packed = packed.filter(|packed| packed.len() < body.len());
        let codec = if packed.is_some() { ZSTD } else { 0 };
        let mut stored = packed.unwrap_or_else(|| body.to_vec());
        let mut head = [0; HEAD_BYTES];
        head[0] = kind as u8;
        head[1] = codec;
        head[4..8].copy_from_slice(&(body.len() as u32).to_le_bytes());
        let length = stored.len() + if self.key.is_some() { TAG_BYTES } else { 0 };
        head[8..12].copy_from_slice(&(length as u32).to_le_bytes());
        head[16..24].copy_from_slice(&position.to_le_bytes());
        head[24..].copy_from_slice(&u64::from(self.number).to_le_bytes());
        if let Some(key) = &self.key {
            let sealed = key.0.seal_in_place_append_tag(Key::nonce(&self.salt, self.number), Aad::from(head), &mut stored);
            sealed.map_err(|_| Error("a chunk cannot be encrypted".to_owned()))?;
        }
        let sum = crc([&head, &stored]);
        head[12..16].copy_from_slice(&sum.to_le_bytes());
        self.out.write_all(&head).and_then(|()| self.out.write_all(&stored)).map_err(cannot_write)?;
        self.number = self.number.checked_add(1).ok_or_else(|| Error("the backup has too many pieces".to_owned()))?;
        self.stored += (HEAD_BYTES + stored.len()) as u64;
        Ok(())
    }

    /// Hands everything to the system.
    ///
    /// # Errors
    /// I/O.
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(cannot_write)
    }
}

fn cannot_write(error: std::io::Error) -> Error {
    Error(format!("cannot write the backup: {error}"))
}

/// A chunk as it was put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub kind: Kind,
    pub position: u64,
    pub body: Vec<u8>,
}

/// Reads a backup file.
pub struct Reader {
    path: PathBuf,
    input: BufReader<Box<dyn Read + Send>>,
    key: Option<Key>,
    salt: [u8; 8],
    number: u32,
    read: u64,
}

impl Reader {
    /// # Errors
    /// A file that is no backup, or needs a key.
    pub fn open(path: &Path, key: Option<Key>) -> Result<Self> {
        let mut input = BufReader::with_capacity(1 << 20, crate::place::open(path)?);
        let mut head = [0; HEAD_BYTES];
        let foreign = |why: &str| Error(format!("{} is not a backup of Heddle: {why}", path.display()));
        input.read_exact(&mut head).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => foreign("it is too short"),
            _ => about(path, "cannot read", error),
        })?;
        if head[..8] != MAGIC.to_le_bytes() {
            return Err(foreign("it begins with something else"));
        }
        let u32_at = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if crc([&head[..24], &[]]) != u32_at(24) {
            return Err(foreign("its head is damaged"));
        }
        let is_encrypted = u32_at(8) & ENCRYPTED != 0;
        match (is_encrypted, &key) {
            (true, None) => return Err(Error(format!("{} is encrypted: give --key-file", path.display()))),
            (false, Some(_)) => return Err(Error(format!("{} is not encrypted: leave out --key-file", path.display()))),
            _ => {}
        }
        let salt = head[16..24].try_into().expect("eight bytes");
        Ok(Self { path: path.into(), input, key, salt, number: 0, read: HEAD_BYTES as u64 })
    }

    /// Bytes read so far.
    pub fn read_bytes(&self) -> u64 {
        self.read
    }

    /// The next chunk; `None` at the end of the file, or where a chunk was not written to its end.
    ///
    /// # Errors
    /// A damaged chunk, a wrong key; I/O.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>> {
        let mut head = [0; HEAD_BYTES];
        if !self.fill(&mut head)? {
            return Ok(None);
        }
        let u32_at = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let u64_at = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let (raw, length, sum) = (u32_at(4) as usize, u32_at(8) as usize, u32_at(12));
        let (position, number) = (u64_at(16), u64_at(24));
        let at = self.read - HEAD_BYTES as u64;
        let damaged = |why: &str| Error(format!("{} is damaged at byte {at}: {why}", self.path.display()));
        if raw > CHUNK_BYTES_MAX || length > CHUNK_BYTES_MAX + TAG_BYTES {
            return Err(damaged("a chunk is too long"));
        }
        let mut stored = vec![0; length];
        if !self.fill(&mut stored)? {
            return Ok(None);
        }
        let damaged = |why: &str| Error(format!("{} is damaged at byte {at}: {why}", self.path.display()));
        head[12..16].fill(0);
        if crc([&head, &stored]) != sum {
            return Err(damaged("a checksum is wrong"));
        }
        if number != u64::from(self.number) {
            return Err(damaged("a chunk is missing"));
        }
        if let Some(key) = &self.key {
            let opened = key.0.open_in_place(Key::nonce(&self.salt, self.number), Aad::from(head), &mut stored);
            let bytes = opened.map_err(|_| damaged("it does not open with this key"))?.len();
            stored.truncate(bytes);
        }
        self.number = self.number.wrapping_add(1);
        let body = match head[1] {
            0 => stored,
            ZSTD => zstd::bulk::decompress(&stored, raw).map_err(|e| damaged(&format!("zstd: {e}")))?,
            _ => return Err(damaged("it is of a later version")),
        };
        let kind = Kind::of(head[0]).filter(|_| body.len() == raw).ok_or_else(|| damaged("it is of a later version"))?;
        Ok(Some(Chunk { kind, position, body }))
    }

    /// `false`: the file ends before.
    fn fill(&mut self, buf: &mut [u8]) -> Result<bool> {
        match self.input.read_exact(buf) {
            Ok(()) => {
                self.read += buf.len() as u64;
                Ok(true)
            }
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
            Err(e) => Err(about(&self.path, "cannot read", e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, key: Option<Key>) {
        let mut writer = Writer::new(std::fs::File::create(path).expect("creates"), true, key).expect("writes");
        writer.put(Kind::Pages, 3, &[7; 100_000]).expect("writes");
        writer.put(Kind::End, 9, b"{}").expect("writes");
        writer.flush().expect("writes");
    }

    fn key(dir: &Path, digit: &str) -> Key {
        let path = dir.join("key");
        std::fs::write(&path, format!("{}\n", digit.repeat(64))).expect("writes");
        Key::read(&path).expect("a key")
    }

    fn read(path: &Path, key: Option<Key>) -> Result<Vec<Chunk>> {
        let mut reader = Reader::open(path, key)?;
        std::iter::from_fn(|| reader.next_chunk().transpose()).collect()
    }

    #[test]
    fn chunks_come_back() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.hbk");
        for digit in [None, Some("a")] {
            write(&path, digit.map(|digit| key(dir.path(), digit)));
            let chunks = read(&path, digit.map(|digit| key(dir.path(), digit))).expect("reads");
            assert_eq!(chunks.len(), 2);
            assert_eq!((chunks[0].kind, chunks[0].position, chunks[0].body.len()), (Kind::Pages, 3, 100_000));
            assert_eq!((chunks[1].kind, &chunks[1].body[..]), (Kind::End, &b"{}"[..]));
            assert!(std::fs::metadata(&path).expect("is there").len() < 10_000, "compressed");
        }
    }

    #[test]
    fn any_flipped_bit_is_an_error_and_a_cut_file_ends_early() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.hbk");
        write(&path, None);
        let whole = std::fs::read(&path).expect("reads");
        for at in (0..whole.len()).filter(|at| !(12..16).contains(at) && *at < 28 || *at >= HEAD_BYTES) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, damaged).expect("writes");
            let chunks = read(&path, None);
            assert!(chunks.is_err() || chunks.is_ok_and(|chunks| chunks.len() < 2), "byte {at}");
        }
        std::fs::write(&path, &whole[..whole.len() - 1]).expect("writes");
        assert_eq!(read(&path, None).expect("reads").len(), 1);
    }

    #[test]
    fn a_wrong_key_or_none_is_an_error() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.hbk");
        write(&path, Some(key(dir.path(), "a")));
        assert!(read(&path, Some(key(dir.path(), "b"))).expect_err("another key").0.contains("does not open with this key"));
        assert!(read(&path, None).expect_err("no key").0.contains("--key-file"));
        write(&path, None);
        assert!(read(&path, Some(key(dir.path(), "a"))).expect_err("a key too many").0.contains("not encrypted"));
        std::fs::write(dir.path().join("key"), "abc").expect("writes");
        assert!(Key::read(&dir.path().join("key")).is_err());
    }
}
