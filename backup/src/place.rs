//! Where backup files are: in a directory, or in an object store that speaks S3, named `s3://bucket/prefix`.
//!
//! The store is described by the variables that other programs of this kind read: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, and
//! AWS_ENDPOINT_URL for one that is not Amazon's (which may then be `http://`).
//!
//! S1: an object appears when its last part was accepted, as a whole: an upload that ends before leaves nothing that has a name.
//! S2: a download is a reader like that of a file. It gives every byte of the object or an error; a broken connection is no end.
//! S3: memory: one part of an upload, one piece of a download.

use crate::{Error, Result, about};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, RetryConfig};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

const SCHEME: &str = "s3://";
/// A download asks for so many bytes at a time.
const PIECE_BYTES: u64 = 8 << 20;
/// A store takes 10,000 parts: the first ones are small, so that a small backup needs little memory, and all of them hold a terabyte.
const PARTS: [(usize, usize); 3] = [(2000, 8 << 20), (6000, 64 << 20), (10_000, 256 << 20)];
/// How long a request is tried again.
const PATIENCE: Duration = Duration::from_secs(60);
const TRIES: usize = 6;

pub fn is_remote(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.starts_with(SCHEME))
}

/// Does it have backups of its own, as a directory and a prefix have, and is no backup itself?
pub fn is_shelf(path: &Path) -> bool {
    if is_remote(path) { !path.to_string_lossy().ends_with(crate::shelf::ENDING) } else { path.is_dir() }
}

/// # Errors
/// The store's. A directory that cannot be read has nothing.
pub fn exists(path: &Path) -> Result<bool> {
    if !is_remote(path) {
        return Ok(path.exists());
    }
    let bucket = Bucket::of(path)?;
    match bucket.wait(bucket.store.head(&bucket.key)) {
        Ok(_) => Ok(true),
        Err(object_store::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(bucket.wrong(path, "cannot look for", &error)),
    }
}

/// The names of the files directly in a directory or below a prefix, in no order.
///
/// # Errors
/// I/O; the store's.
pub fn names(dir: &Path) -> Result<Vec<String>> {
    if is_remote(dir) {
        let bucket = Bucket::of(dir)?;
        let listed = bucket.wait(bucket.store.list_with_delimiter(Some(&bucket.key)));
        let listed = listed.map_err(|error| bucket.wrong(dir, "cannot list", &error))?;
        return Ok(listed.objects.iter().filter_map(|object| object.location.filename().map(str::to_owned)).collect());
    }
    let entries = std::fs::read_dir(dir).map_err(|e| about(dir, "cannot read", e))?;
    let name = |entry: io::Result<std::fs::DirEntry>| {
        entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(|e| about(dir, "cannot read", e))
    };
    entries.map(name).collect()
}

/// Opens a backup file for reading.
///
/// # Errors
/// I/O; the store's.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    if !is_remote(path) {
        return Ok(Box::new(File::open(path).map_err(|e| about(path, "cannot open", e))?));
    }
    let bucket = Bucket::of(path)?;
    let found = bucket.wait(bucket.store.head(&bucket.key));
    let size = found.map_err(|error| bucket.wrong(path, "cannot open", &error))?.size;
    Ok(Box::new(Download { bucket, size, at: 0, piece: Vec::new(), used: 0 }))
}

/// A place in a store, and the thread's means to wait for it.
struct Bucket {
    store: Arc<AmazonS3>,
    key: Key,
    runtime: Runtime,
}

impl Bucket {
    fn of(path: &Path) -> Result<Self> {
        let text = path.to_string_lossy();
        let wrong = |why: &dyn std::fmt::Display| Error(format!("{text}: {why}"));
        let rest = text.strip_prefix(SCHEME).unwrap_or_default();
        let (name, key) = rest.split_once('/').unwrap_or((rest, ""));
        if name.is_empty() {
            return Err(wrong(&"write s3://BUCKET/PREFIX"));
        }
        let endpoint = std::env::var("AWS_ENDPOINT_URL").or_else(|_| std::env::var("AWS_ENDPOINT")).unwrap_or_default();
        let retry = RetryConfig { max_retries: TRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
        let store = AmazonS3Builder::from_env()
            .with_bucket_name(name)
            .with_allow_http(endpoint.starts_with("http://"))
            .with_retry(retry)
            .build()
            .map_err(|error| wrong(&error))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| wrong(&error))?;
        let key = Key::parse(key.trim_end_matches('/')).map_err(|error| wrong(&error))?;
        Ok(Self { store: Arc::new(store), key, runtime })
    }

    fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    fn wrong(&self, path: &Path, what: &str, error: &object_store::Error) -> Error {
        about(path, what, told(error))
    }
}

/// The error with its cause, on one line.
fn told(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text.push_str(&format!(": {more}"));
        }
        cause = inner.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// S2
struct Download {
    bucket: Bucket,
    size: u64,
    /// What was asked for.
    at: u64,
    piece: Vec<u8>,
    used: usize,
}

impl Read for Download {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.used == self.piece.len() {
            let end = self.size.min(self.at + PIECE_BYTES);
            if self.at == end {
                return Ok(0);
            }
            let asked = self.bucket.wait(self.bucket.store.get_range(&self.bucket.key, self.at..end));
            let piece = asked.map_err(|error| io::Error::other(told(&error)))?;
            if piece.len() as u64 != end - self.at {
                return Err(io::Error::other(format!("the store has sent {} bytes of {}", piece.len(), end - self.at)));
            }
            (self.piece, self.used, self.at) = (piece.into(), 0, end);
        }
        let count = buf.len().min(self.piece.len() - self.used);
        buf[..count].copy_from_slice(&self.piece[self.used..self.used + count]);
        self.used += count;
        Ok(count)
    }
}

/// A backup file in the making in a store. S1
pub struct Upload {
    path: PathBuf,
    bucket: Bucket,
    upload: Box<dyn MultipartUpload>,
    part: Vec<u8>,
    parts: usize,
}

impl Upload {
    /// # Errors
    /// The store's.
    pub fn begin(path: &Path) -> Result<Self> {
        let bucket = Bucket::of(path)?;
        let begun = bucket.wait(bucket.store.put_multipart(&bucket.key));
        let upload = begun.map_err(|error| bucket.wrong(path, "cannot begin", &error))?;
        Ok(Self { path: path.into(), bucket, upload, part: Vec::new(), parts: 0 })
    }

    fn part_bytes(&self) -> io::Result<usize> {
        let size = PARTS.iter().find(|(parts, _)| self.parts < *parts).map(|(_, bytes)| *bytes);
        size.ok_or_else(|| io::Error::other("the backup is larger than an object may be"))
    }

    fn send(&mut self) -> io::Result<()> {
        let part = std::mem::take(&mut self.part);
        let sent = self.upload.put_part(part.into());
        self.bucket.wait(sent).map_err(|error| io::Error::other(told(&error)))?;
        self.parts += 1;
        Ok(())
    }

    /// The object gets its name.
    ///
    /// # Errors
    /// The store's.
    pub fn complete(mut self) -> Result<()> {
        let cannot = |path: &Path, why: String| about(path, "cannot complete", why);
        if !self.part.is_empty() || self.parts == 0 {
            self.send().map_err(|error| cannot(&self.path, error.to_string()))?;
        }
        let done = self.bucket.wait(self.upload.complete());
        done.map(drop).map_err(|error| cannot(&self.path, told(&error)))
    }

    /// Has the store forget the parts that it has.
    pub fn give_up(mut self) {
        // A store that cannot be reached forgets them by its own rules.
        let _ = self.bucket.wait(self.upload.abort());
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.part_bytes()? - self.part.len());
        self.part.extend_from_slice(&bytes[..count]);
        if self.part.len() == self.part_bytes()? {
            self.send()?;
        }
        Ok(count)
    }

    /// Nothing is visible before the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{PARTS, is_remote, is_shelf};
    use std::path::Path;

    #[test]
    fn places() {
        assert!(is_remote(Path::new("s3://b/p")) && !is_remote(Path::new("/s3/b")));
        assert!(is_shelf(Path::new("s3://b/p")) && !is_shelf(Path::new("s3://b/p/20261128T101500.123Z-full.hbk")));
        let name = Path::new("s3://b/p/one.hbk").with_file_name("two.hbk");
        assert_eq!(name, Path::new("s3://b/p/two.hbk"));
        assert_eq!(Path::new("s3://b").join("two.hbk"), Path::new("s3://b/two.hbk"));
    }

    #[test]
    fn an_object_holds_a_terabyte() {
        let mut before = 0;
        let all: u64 =
            PARTS.iter().map(|(parts, bytes)| (parts - std::mem::replace(&mut before, *parts)) as u64 * *bytes as u64).sum();
        assert!(all > 1 << 40, "{all}");
    }
}
