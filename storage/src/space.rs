//! Which pages of the data file are in use: one bit per page, in allocation pages.
//!
//! ```text
//! group g = pages [g * 130,560, (g + 1) * 130,560); its bitmap is page g * 130,560 (page 1 in group 0, whose page 0 is never used)
//! bit i of the bitmap: word 8 + i / 64, bit i % 64
//! ```
//! A page may be *reserved* before it is taken: nobody else gets it, and nothing tells of that but memory.
//!
//! S1: bits change only together with the pages they stand for, in one STRUCTURE record: an [`Allocation`] holds the bitmap's latch
//! until its user has logged. S2: allocation pages never leave memory. Latches: a bitmap's latch is taken after those of the tree; only pages that nobody else can
//! reach yet are latched after it.

use crate::Error;
use crate::buffer::{PAGES_MAX, PageWrite, Pool};
use crate::page::{HEADER_WORDS, PAGE_BYTES, PAGE_WORDS, PageId, PageType};
use crate::stall::{Result, blocking};
use crate::wal::record::{Part, PartOp, write_structure};
use crate::wal::{Purpose, Wal};
use std::sync::Arc;
use sync::Mutex;

/// Pages one allocation page stands for.
pub const GROUP_PAGES: u32 = ((PAGE_WORDS - HEADER_WORDS) * 64) as u32;
/// Pages at the end of the file that only what frees space may take ([`Purpose::Relief`]): a part of the file, within these bounds.
const RESERVE_PART: u32 = 64;
const RESERVE_PAGES: std::ops::RangeInclusive<u32> = if cfg!(any(sim, miri)) { 4..=8 } else { 64..=4096 };
/// The file grows by an eighth, within these bounds (in pages).
const GROWTH_PAGES: std::ops::RangeInclusive<u32> = if cfg!(any(sim, miri)) { 16..=64 } else { 256..=8192 };

pub(crate) struct Space {
    pool: Arc<Pool>,
    state: Mutex<State>,
    growing: Mutex<()>,
}

struct State {
    /// Per group: no free bit lies below this one.
    hints: Vec<u32>,
    file_pages: u32,
    /// Few at a time.
    reserved: Vec<PageId>,
}

/// Pages taken but not yet logged. Dropping it without `apply` gives them back.
pub(crate) struct Allocation<'a> {
    bitmap: PageWrite<'a>,
    group: u32,
    pub pages: Vec<PageId>,
}

pub(crate) fn bitmap_page(group: u32) -> PageId {
    if group == 0 { 1 } else { group * GROUP_PAGES }
}

/// Is the page with this index within its group in use?
pub(crate) fn is_bit_set(bitmap: crate::page::Page<'_>, index: u32) -> bool {
    bitmap.words().load(HEADER_WORDS + index as usize / 64) & 1 << (index % 64) != 0
}

/// Sets or clears bits of an allocation page; `bits` are indexes within the group, u32 little-endian.
pub(crate) fn change_bits(page: crate::page::Page<'_>, bits: &[u8], set: bool) {
    for index in bits.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])) {
        if index < GROUP_PAGES {
            let word = HEADER_WORDS + index as usize / 64;
            let bit = 1 << (index % 64);
            let old = page.words().load(word);
            page.words().store(word, if set { old | bit } else { old & !bit });
        }
    }
}

impl<'a> Allocation<'a> {
    pub fn bits(&self) -> Vec<u8> {
        self.pages.iter().flat_map(|p| (p - self.group * GROUP_PAGES).to_le_bytes()).collect()
    }

    /// The latched allocation page, to be marked, changed (`change_bits`) and logged with the rest of the structure change.
    pub fn bitmap(&self) -> &PageWrite<'a> {
        &self.bitmap
    }
}

impl Space {
    pub fn new(pool: Arc<Pool>) -> std::result::Result<Self, Error> {
        let file_pages = (pool.file().bytes()? / PAGE_BYTES as u64) as u32;
        Ok(Self {
            pool,
            state: Mutex::new(State { hints: Vec::new(), file_pages, reserved: Vec::new() }),
            growing: Mutex::new(()),
        })
    }

    /// Loads the allocation pages of an existing file (after redo). `unlogged`: nothing was ever logged, so a first page that was
    /// never written only means that the very first start was cut off. `pages_end`: above every page that redo has touched; a crash may
    /// have taken back the growth of the file, which is synced only with the pages in it.
    pub fn load(&self, unlogged: bool, pages_end: PageId) -> std::result::Result<(), Error> {
        let groups = {
            let file_pages = &mut self.state.lock().file_pages;
            if pages_end > *file_pages {
                Self::grow(&self.pool, file_pages, pages_end - 1)?;
            }
            file_pages.div_ceil(GROUP_PAGES)
        };
        for group in 0..groups {
            let page = bitmap_page(group);
            match blocking(|| self.pool.latch(page)) {
                Ok(latched) if latched.page.page_type() == PageType::Bitmap as u8 => latched.keep_resident(),
                // The file grew, and the crash came before the group was made.
                Err(Error::Corrupt { .. }) if self.was_never_written(page)? && (group > 0 || unlogged) => break,
                Ok(_) => return Err(Error::Corrupt { page, why: "not an allocation page".into() }),
                Err(e) => return Err(e),
            }
            self.state.lock().hints.push(0);
        }
        Ok(())
    }

    fn was_never_written(&self, page: PageId) -> std::result::Result<bool, Error> {
        let mut image = os::AlignedBuf::new(PAGE_BYTES);
        self.pool.file().read_at(&mut image, u64::from(page) * PAGE_BYTES as u64)?;
        Ok(image.iter().all(|byte| *byte == 0))
    }

    /// Is the page in use?
    pub fn is_allocated(&self, page: PageId) -> std::result::Result<bool, Error> {
        if page / GROUP_PAGES >= self.state.lock().hints.len() as u32 {
            return Ok(false);
        }
        let bitmap = blocking(|| self.pool.latch(bitmap_page(page / GROUP_PAGES)))?;
        Ok(is_bit_set(bitmap.page, page % GROUP_PAGES))
    }

    pub fn is_empty(&self) -> bool {
        self.state.lock().hints.is_empty()
    }

    /// Makes the next group's allocation page.
    ///
    /// `group`: its number; nothing is done when another thread has made it.
    ///
    /// # Errors
    /// A stall (the caller may hold latches that the cleaner needs, so this never waits for a frame itself); a full disk.
    pub fn add_group(&self, wal: &Wal, worker: usize, group: u32) -> Result<()> {
        let _one_at_a_time = self.growing.lock();
        if group != self.state.lock().hints.len() as u32 {
            return Ok(());
        }
        if u64::from(group + 1) * u64::from(GROUP_PAGES) > u64::from(PAGES_MAX) {
            return Err(Error::Full("the data file has reached 4 TiB".into()).into());
        }
        let id = bitmap_page(group);
        Self::grow(&self.pool, &mut self.state.lock().file_pages, id)?;
        let bitmap = self.pool.create(id)?;
        bitmap.mark_dirty(wal.epoch());
        bitmap.keep_resident();
        let old_lsn = bitmap.page.lsn();
        bitmap.page.format(PageType::Bitmap, 0, id, 0, &[], &[]);
        for word in HEADER_WORDS..PAGE_WORDS {
            bitmap.page.words().store(word, 0);
        }
        bitmap.page.words().store(HEADER_WORDS, if group == 0 { 0b11 } else { 0b1 });
        // A plain image of the words: the whole page, since it has no heap.
        let mut image = Vec::with_capacity(PAGE_BYTES + 4);
        image.extend_from_slice(&(PAGE_WORDS as u16).to_le_bytes());
        image.extend_from_slice(&(PAGE_WORDS as u16).to_le_bytes());
        bitmap.page.words().append_bytes(0, 0, PAGE_BYTES, &mut image);
        let mut append = wal.append(worker);
        let lsn = append.lsn_after(old_lsn);
        write_structure(append.buffer(), &[Part { page: id, lsn, op: PartOp::Image(&image) }]);
        bitmap.set_lsn(lsn);
        drop(append);
        self.state.lock().hints.push(0);
        Ok(())
    }

    fn grow(pool: &Pool, file_pages: &mut u32, page: PageId) -> std::result::Result<(), Error> {
        if page < *file_pages {
            return Ok(());
        }
        let step = (*file_pages / 8).clamp(*GROWTH_PAGES.start(), *GROWTH_PAGES.end());
        let wanted = (page + 1).max(*file_pages + step);
        let at = |pages: u32| u64::from(pages) * PAGE_BYTES as u64;
        pool.file().allocate(at(*file_pages), at(wanted) - at(*file_pages))?;
        *file_pages = wanted;
        Ok(())
    }

    /// Takes `count` pages of one group (`count` is small).
    pub fn allocate<'a>(&'a self, wal: &Wal, worker: usize, count: usize, purpose: Purpose) -> Result<Allocation<'a>> {
        let mut group = 0;
        loop {
            let hint = match self.state.lock().hints.get(group as usize) {
                Some(hint) if *hint >= GROUP_PAGES => {
                    group += 1;
                    continue;
                }
                hint => hint.copied(),
            };
            let Some(hint) = hint else {
                self.add_group(wal, worker, group)?;
                continue;
            };
            let bitmap = self.pool.latch(bitmap_page(group))?;
            let mut state = self.state.lock();
            // Pages below may have been freed before the latch was got.
            let hint = hint.min(state.hints[group as usize]);
            let pages = free_pages(&bitmap, group, hint, count, &state.reserved);
            if pages.len() < count {
                state.hints[group as usize] = GROUP_PAGES;
                continue;
            }
            let last = *pages.last().expect("count is above zero");
            let reserve = match purpose {
                Purpose::Growth => (state.file_pages / RESERVE_PART).clamp(*RESERVE_PAGES.start(), *RESERVE_PAGES.end()),
                Purpose::Relief => 0,
            };
            Self::grow(&self.pool, &mut state.file_pages, last.saturating_add(reserve))?;
            state.hints[group as usize] = pages[0] - group * GROUP_PAGES;
            return Ok(Allocation { bitmap, group, pages });
        }
    }

    /// Chooses a page that nobody else gets until it was taken and the reservation given up.
    ///
    /// # Errors
    /// Stalls; a full disk.
    pub fn reserve(&self, wal: &Wal, worker: usize) -> Result<PageId> {
        let allocation = self.allocate(wal, worker, 1, Purpose::Growth)?;
        let page = allocation.pages[0];
        // Its allocation page is latched still.
        self.state.lock().reserved.push(page);
        Ok(page)
    }

    /// Takes a reserved page.
    pub fn allocate_reserved(&self, page: PageId) -> Result<Allocation<'_>> {
        Ok(Allocation { bitmap: self.latch_bitmap_of(page)?, group: page / GROUP_PAGES, pages: vec![page] })
    }

    /// The page was taken, or will not be.
    pub fn give_up_reservation(&self, page: PageId) {
        let mut state = self.state.lock();
        if let Some(at) = state.reserved.iter().position(|reserved| *reserved == page) {
            state.reserved.swap_remove(at);
            let hint = &mut state.hints[(page / GROUP_PAGES) as usize];
            *hint = (*hint).min(page % GROUP_PAGES);
        }
    }

    /// Latches the allocation page of a page.
    pub fn latch_bitmap_of(&self, page: PageId) -> Result<PageWrite<'_>> {
        self.pool.latch(bitmap_page(page / GROUP_PAGES))
    }

    /// Have the pages the same allocation page?
    pub fn is_one_group(&self, pages: &[PageId]) -> bool {
        pages.iter().all(|page| page / GROUP_PAGES == pages[0] / GROUP_PAGES)
    }

    /// Clears the bits of pages of one group, whose latched and marked allocation page is `bitmap`; what a log record says of that. Its user logs
    /// it, sets the LSN, and then calls `note_free`.
    pub fn clear(&self, bitmap: &PageWrite<'_>, pages: &[PageId]) -> Vec<u8> {
        let bits: Vec<u8> = pages.iter().flat_map(|page| (page % GROUP_PAGES).to_le_bytes()).collect();
        change_bits(bitmap.page, &bits, false);
        bits
    }

    /// Pages of one group are free: the search for free ones begins at the first of them, or before.
    pub fn note_free(&self, pages: &[PageId]) {
        let hints = &mut self.state.lock().hints;
        for page in pages {
            let hint = &mut hints[(page / GROUP_PAGES) as usize];
            *hint = (*hint).min(page % GROUP_PAGES);
        }
    }

    /// Gives pages back in one STRUCTURE record together with `also` (parts of other pages, already latched by the caller).
    /// The caller has made sure that nobody can reach them.
    pub fn free(&self, wal: &Wal, worker: usize, pages: &mut [PageId], also: Part<'_>) -> Result<crate::Lsn> {
        pages.sort_unstable();
        let mut bitmaps = Vec::new();
        for chunk in pages.chunk_by(|a, b| a / GROUP_PAGES == b / GROUP_PAGES) {
            let group = chunk[0] / GROUP_PAGES;
            let bits: Vec<u8> = chunk.iter().flat_map(|p| (p - group * GROUP_PAGES).to_le_bytes()).collect();
            bitmaps.push((group, self.pool.latch(bitmap_page(group))?, bits));
        }
        let epoch = wal.epoch();
        bitmaps.iter().for_each(|(_, bitmap, _)| bitmap.mark_dirty(epoch));
        let mut append = wal.append(worker);
        let mut parts = vec![Part { lsn: append.lsn_after(also.lsn), ..also }];
        for (_, bitmap, bits) in &bitmaps {
            let lsn = append.lsn_after(bitmap.page.lsn());
            change_bits(bitmap.page, bits, false);
            bitmap.set_lsn(lsn);
            parts.push(Part { page: bitmap.id(), lsn, op: PartOp::ClearBits(bits) });
        }
        write_structure(append.buffer(), &parts);
        drop(append);
        let mut state = self.state.lock();
        for chunk in pages.chunk_by(|a, b| a / GROUP_PAGES == b / GROUP_PAGES) {
            let group = chunk[0] / GROUP_PAGES;
            let hint = &mut state.hints[group as usize];
            *hint = (*hint).min(chunk[0] - group * GROUP_PAGES);
        }
        Ok(parts[0].lsn)
    }
}

fn free_pages(bitmap: &PageWrite<'_>, group: u32, hint: u32, count: usize, reserved: &[PageId]) -> Vec<PageId> {
    let mut pages = Vec::with_capacity(count);
    for word in hint / 64..GROUP_PAGES / 64 {
        let mut free = !bitmap.page.words().load(HEADER_WORDS + word as usize);
        while free != 0 && pages.len() < count {
            let page = group * GROUP_PAGES + word * 64 + free.trailing_zeros();
            if !reserved.contains(&page) {
                pages.push(page);
            }
            free &= free - 1;
        }
        if pages.len() == count {
            break;
        }
    }
    pages
}
