//! The doublewrite area: the last batch of pages on their way home.
//!
//! ```text
//! head (4096 bytes): magic u64 | pages u32 | crc u32 of what follows | pages times: page u32 | zero u32 | lsn u64
//! then as many pages
//! ```
//! W1: a batch is written here with one write, and synced, before any of it is written home; it is home, and synced, before the next one
//! is written here. So of all the copies that lie in the area only those of the batch that the head names may be put back: what an earlier,
//! longer batch has left behind them is older than what is at home, and the log that leads from it to the present may be gone.

use super::{Error, Lsn, PAGE_BYTES, PageId};
use crate::page::check_envelope;
use os::{AlignedBuf, File, IO_ALIGN};
use std::path::Path;

/// Pages of one batch at the most.
pub(crate) const BATCH_PAGES: usize = if cfg!(any(sim, miri)) { 12 } else { 128 };
pub(crate) const HEAD_BYTES: usize = IO_ALIGN;
pub(crate) const AREA_BYTES: usize = HEAD_BYTES + BATCH_PAGES * PAGE_BYTES;

const MAGIC: u64 = u64::from_le_bytes(*b"HEDBATCH");
const ENTRIES_AT: usize = 16;
const ENTRY_BYTES: usize = 16;

const _: () = assert!(ENTRIES_AT + BATCH_PAGES * ENTRY_BYTES <= HEAD_BYTES);

/// A page in the area.
pub(crate) struct Copy {
    pub page: PageId,
    /// Where in the area.
    offset: u64,
}

/// Opens the area, making it when it is missing.
pub(crate) fn open(path: &Path) -> Result<File, Error> {
    let file = File::open(path, true)?;
    if file.bytes()? < AREA_BYTES as u64 {
        file.write_at(&AlignedBuf::new(AREA_BYTES), 0)?;
        file.sync()?;
        // Also its name: without it no page that a crash tears could be put back.
        path.parent().map_or(Ok(()), os::sync_dir)?;
    }
    Ok(file)
}

/// Fills the head for pages with these numbers and LSNs, in the order of their copies.
pub(crate) fn write_head(head: &mut [u8], pages: impl Iterator<Item = (PageId, Lsn)>) {
    head[..HEAD_BYTES].fill(0);
    let mut count = 0u32;
    for ((page, lsn), entry) in pages.zip(head[ENTRIES_AT..HEAD_BYTES].chunks_exact_mut(ENTRY_BYTES)) {
        entry[..4].copy_from_slice(&page.to_le_bytes());
        entry[8..].copy_from_slice(&lsn.to_le_bytes());
        count += 1;
    }
    head[..8].copy_from_slice(&MAGIC.to_le_bytes());
    head[8..12].copy_from_slice(&count.to_le_bytes());
    let crc = crc(&head[ENTRIES_AT..ENTRIES_AT + count as usize * ENTRY_BYTES]);
    head[12..16].copy_from_slice(&crc.to_le_bytes());
}

fn crc(bytes: &[u8]) -> u32 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

/// The entries of a head; none when it was not written whole.
fn entries(head: &[u8]) -> impl Iterator<Item = (PageId, Lsn)> {
    let count = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
    let sound = |bytes: &&[u8]| head[..8] == MAGIC.to_le_bytes() && crc(bytes).to_le_bytes() == head[12..16];
    let bytes = head.get(ENTRIES_AT..ENTRIES_AT + count.min(BATCH_PAGES) * ENTRY_BYTES).filter(sound).unwrap_or(&[]);
    bytes.chunks_exact(ENTRY_BYTES).map(|entry| {
        let page = PageId::from_le_bytes(entry[..4].try_into().expect("four bytes"));
        (page, Lsn::from_le_bytes(entry[8..].try_into().expect("eight bytes")))
    })
}

/// The sound copies of the last batch (W1).
pub(crate) fn sound_copies(area: &File) -> Result<Vec<Copy>, Error> {
    let (mut head, mut copy) = (AlignedBuf::new(HEAD_BYTES), AlignedBuf::new(PAGE_BYTES));
    area.read_at(&mut head, 0)?;
    let mut copies = Vec::new();
    for (index, (page, lsn)) in entries(&head).enumerate() {
        let offset = (HEAD_BYTES + index * PAGE_BYTES) as u64;
        area.read_at(&mut copy, offset)?;
        // A copy that did not get there is of a batch of which nothing was written home.
        if check_envelope(&copy, page).is_ok() && copy[16..24] == lsn.to_le_bytes() {
            copies.push(Copy { page, offset });
        }
    }
    Ok(copies)
}

/// Puts pages back that a crash left half written: a sound copy in the area replaces an unsound page at home.
/// Returns how many were restored.
pub(crate) fn restore_torn_pages(file: &File, area: &Path) -> Result<usize, Error> {
    let area = File::open(area, true)?;
    let mut image = AlignedBuf::new(PAGE_BYTES);
    let mut restored = 0;
    for Copy { page, offset } in sound_copies(&area)? {
        let home = u64::from(page) * PAGE_BYTES as u64;
        file.read_at(&mut image, home)?;
        if check_envelope(&image, page).is_err() {
            area.read_at(&mut image, offset)?;
            file.write_at(&image, home)?;
            restored += 1;
        }
    }
    file.sync()?;
    Ok(restored)
}

#[cfg(all(test, not(sim)))]
mod tests {
    use super::*;
    use crate::page::seal;

    fn image(page: PageId, lsn: Lsn) -> Vec<u8> {
        let mut bytes = vec![0; PAGE_BYTES];
        bytes[4..6].copy_from_slice(&crate::page::FORMAT.to_le_bytes());
        bytes[8..12].copy_from_slice(&page.to_le_bytes());
        bytes[16..24].copy_from_slice(&lsn.to_le_bytes());
        seal(&mut bytes);
        bytes
    }

    fn write_batch(area: &File, pages: &[(PageId, Lsn)]) {
        let mut buf = AlignedBuf::new(HEAD_BYTES + pages.len() * PAGE_BYTES);
        write_head(&mut buf, pages.iter().copied());
        for (slot, (page, lsn)) in buf[HEAD_BYTES..].chunks_exact_mut(PAGE_BYTES).zip(pages) {
            slot.copy_from_slice(&image(*page, *lsn));
        }
        area.write_at(&buf, 0).expect("writes");
    }

    #[test]
    fn only_copies_of_the_last_batch_are_put_back() {
        let dir = std::env::temp_dir().join(format!("heddle-doublewrite-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("makes");
        let path = dir.join("area");
        let area = open(&path).expect("opens");
        let home = File::open(&dir.join("home"), true).expect("opens");
        write_batch(&area, &[(3, 10), (4, 11), (5, 12)]);
        // The next batch is shorter: the copy of page 5 stays behind it.
        write_batch(&area, &[(3, 20), (4, 21)]);
        for page in 3..6u32 {
            let mut torn = AlignedBuf::new(PAGE_BYTES);
            torn.copy_from_slice(&image(page, 30));
            torn[9_000] ^= 1;
            home.write_at(&torn, u64::from(page) * PAGE_BYTES as u64).expect("writes");
        }
        assert_eq!(restore_torn_pages(&home, &path).expect("restores"), 2);
        let mut buf = AlignedBuf::new(PAGE_BYTES);
        for (page, sound) in [(3, true), (4, true), (5, false)] {
            home.read_at(&mut buf, u64::from(page) * PAGE_BYTES as u64).expect("reads");
            assert_eq!(check_envelope(&buf, page).is_ok(), sound);
        }
        // A head that was not written whole names nothing.
        let mut head = AlignedBuf::new(HEAD_BYTES);
        area.read_at(&mut head, 0).expect("reads");
        head[20] ^= 1;
        area.write_at(&head, 0).expect("writes");
        assert!(sound_copies(&area).expect("reads").is_empty());
        std::fs::remove_dir_all(&dir).expect("removes");
    }
}
