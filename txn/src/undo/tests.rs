//! Records come back from memory and from the file, until they are reclaimed.

use super::*;
use crate::tests::TempDir;
use storage::wal::Purpose;

const TREE: TreeRef = TreeRef { id: 3, root: 4 };

fn append(store: &UndoStore, writer: &mut UndoWriter, pinned: &mut SegmentList, n: u64, txn_prev: u64) -> u64 {
    let entry = UndoEntry {
        kind: UndoKind::Update,
        tree: TREE,
        key: &n.to_be_bytes(),
        old: RecordHeader { flags: 2, mark: n, prev: n + 1 },
        old_payload: &vec![n as u8; n as usize % 300],
        txn_prev,
    };
    store.append(writer, pinned, &entry, || 0)
}

fn check(store: &UndoStore, address: u64, n: u64) {
    let (mut key, mut payload) = (vec![9], Vec::new());
    let head = store.read(address, Some(&mut key), Some(&mut payload)).expect("kept");
    assert_eq!((head.tree, head.old.mark, head.old.prev, head.old.flags), (TREE, n, n + 1, 2));
    assert_eq!((&key[1..], payload), (&n.to_be_bytes()[..], vec![n as u8; n as usize % 300]));
}

#[test]
fn records_come_back_until_reclaimed() {
    let dir = TempDir::new("undo");
    std::fs::create_dir_all(&dir.0).expect("makes");
    let store = UndoStore::new(&dir.0, 1 << 30).expect("makes");
    let (mut writer, mut pinned) = (UndoWriter::default(), SegmentList::new());
    let mut addresses = Vec::new();
    for n in 0..2_000u64 {
        addresses.push(append(&store, &mut writer, &mut pinned, n, addresses.last().copied().unwrap_or(0)));
    }
    assert!(pinned.len() > 1);
    (0..).zip(&addresses).for_each(|(n, address)| check(&store, *address, n));
    store.unpin(&pinned, 50);
    store.reclaim(&mut writer, 49);
    assert!(store.read(addresses[0], None, None).is_ok());
    store.reclaim(&mut writer, 50);
    assert!(matches!(store.read(addresses[0], None, None), Err(ReadError::Gone)));
    assert!(store.read(*addresses.last().expect("some"), None, None).is_ok());
}

/// Readers while segments go to the file, and again while they are used anew.
#[test]
fn what_memory_has_no_room_for_is_in_the_file() {
    const ROWS: u64 = 40_000;
    let dir = TempDir::new("spill");
    std::fs::create_dir_all(&dir.0).expect("makes");
    let store = UndoStore::new(&dir.0, 4 * SEGMENT_BYTES as u64).expect("makes");
    std::thread::scope(|scope| {
        let spiller = scope.spawn(|| store.run_spilling());
        let (mut writer, mut pinned) = (UndoWriter::default(), SegmentList::new());
        for round in 0..3u64 {
            let mut addresses = Vec::new();
            for n in 0..ROWS {
                while store.room(Purpose::Growth) == Room::NotYet {
                    std::thread::yield_now();
                }
                addresses.push(append(&store, &mut writer, &mut pinned, n, 0));
                let back = n - n.min(n * 7 % 3_000);
                check(&store, addresses[back as usize], back);
            }
            (0..).zip(&addresses).for_each(|(n, address)| check(&store, *address, n));
            assert!(pinned.len() > 20 && store.file_bytes() > 0);
            assert!(store.memory_bytes() <= 9 * SEGMENT_BYTES as u64, "twice the limit, and the current one");
            store.unpin(&pinned, round + 1);
            pinned.clear();
            store.reclaim(&mut writer, round + 1);
            assert!(store.bytes() <= SEGMENT_BYTES as u64, "all but the current one");
            assert_eq!(store.file_bytes(), 0);
            assert!(matches!(store.read(addresses[0], None, None), Err(ReadError::Gone)));
        }
        store.stop_spilling();
        spiller.join().expect("the spiller");
    });
}
