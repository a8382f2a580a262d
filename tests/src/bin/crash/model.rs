//! The answers that each client got, to be compared with the database after a crash.
//!
//! M1: a client changes its model only after the server's answer; while an answer is awaited, what was asked is in
//! `in_flight`. M2: after a crash the in-flight work is there wholly or not at all; the check then settles the model.

use std::collections::{BTreeMap, BTreeSet};

/// Accounts in each account table; the last [`RESERVED`] belong to the client that never commits.
pub const ACCOUNTS: u32 = 200;
pub const RESERVED: u32 = 10;
pub const ACCOUNT_TABLES: &[&str] = &["account_a", "account_b", "account_c"];
pub const OPENING_BALANCE: i64 = 1000;
/// The number of the client that never commits, in every table.
pub const NEVER: u32 = 999;

/// A client that moves money: transfer `n` writes ledger rows `2n` and `2n + 1`.
#[derive(Debug, Default)]
pub struct Transfers {
    pub next: u32,
    pub acknowledged: BTreeSet<u32>,
    pub in_flight: Option<u32>,
}

/// A change of one event: its version before and after; `None` is no row.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub key: u32,
    pub before: Option<u32>,
    pub after: Option<u32>,
}

/// A client that inserts, rewrites and deletes its own events.
#[derive(Debug, Default)]
pub struct Events {
    pub rows: BTreeMap<u32, u32>,
    pub in_flight: Vec<Change>,
    pub commits: u32,
}

impl Events {
    pub fn apply(&mut self, change: Change) {
        match change.after {
            Some(version) => drop(self.rows.insert(change.key, version)),
            None => drop(self.rows.remove(&change.key)),
        }
    }
}

/// A side table: its rows, and whether it has its index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideTable {
    pub rows: BTreeSet<u32>,
    pub indexed: bool,
}

/// The client that creates, fills, indexes, empties and drops tables.
#[derive(Debug, Default)]
pub struct Side {
    pub tables: BTreeMap<u32, SideTable>,
    /// A table, and the two states it may be in; `None` is no table.
    pub in_flight: Option<(u32, Option<SideTable>, Option<SideTable>)>,
    pub next: u32,
    pub statements: u32,
}

#[derive(Debug)]
pub struct Models {
    pub transfers: Vec<Transfers>,
    pub events: Vec<Events>,
    pub side: Side,
}

impl Models {
    pub fn new(clients: u32) -> Self {
        let count = clients.max(1) as usize;
        Self {
            transfers: (0..count).map(|_| Transfers::default()).collect(),
            events: (0..count).map(|_| Events::default()).collect(),
            side: Side::default(),
        }
    }

    /// What was done so far, for the reader.
    pub fn told(&self) -> String {
        let transfers: usize = self.transfers.iter().map(|t| t.acknowledged.len()).sum();
        let commits: u32 = self.events.iter().map(|e| e.commits).sum();
        let rows: usize = self.events.iter().map(|e| e.rows.len()).sum();
        format!("{transfers} transfers, {commits} commits, {rows} events, {} DDL statements", self.side.statements)
    }
}

/// The text of an event: known from its place, so that it need not be kept. One in forty is larger than a page.
pub fn payload(client: u32, key: u32, version: u32) -> String {
    let seed = mix((u64::from(client) << 48) ^ (u64::from(key) << 20) ^ u64::from(version));
    let length = if seed.is_multiple_of(40) { 17_000 + seed % 40_000 } else { 10 + seed % 1_500 } as usize;
    let mut text = String::with_capacity(length + 16);
    let mut state = seed;
    while text.len() < length {
        state = mix(state);
        text.push_str(&format!("{state:016x}"));
    }
    text.truncate(length);
    text
}

/// splitmix64's finalizer.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
