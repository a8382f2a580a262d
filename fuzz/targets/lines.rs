//! Text files as LOAD DATA reads them.
//!
//! The first bytes choose the format; the rest is the file. Checked beyond "no panic": rows are the same whether the file comes at once
//! or a byte at a time, and a row that is not the last takes at least a byte.
#![no_main]

use exec::load::{Row, Split, Splitter};
use libfuzzer_sys::fuzz_target;
use sql::plan::FileFormat;
use types::charset::Charset;

const TERMINATORS: [&[u8]; 6] = [b"\t", b",", b"||", b"\r\n", b"\n", b""];
const SINGLES: [Option<u8>; 4] = [None, Some(b'"'), Some(b'\\'), Some(b'N')];
const CHARSETS: [Charset; 4] = [Charset::Utf8mb4, Charset::Utf8mb3, Charset::Latin1, Charset::Binary];

fuzz_target!(|data: &[u8]| {
    let Some((&[ends, singles, more], file)) = data.split_first_chunk::<3>() else { return };
    let pick = |n: u8| TERMINATORS[usize::from(n) % TERMINATORS.len()].into();
    let format = FileFormat {
        fields_terminated: pick(ends),
        enclosed: SINGLES[usize::from(singles & 3)],
        optionally: false,
        escaped: SINGLES[usize::from(singles >> 2 & 3)],
        lines_starting: if more & 1 == 0 { Box::default() } else { b"xx"[..].into() },
        lines_terminated: pick(ends >> 4),
    };
    let fields = 1 + usize::from(more >> 1 & 3);
    let widths = if format.is_fixed() { vec![3; fields] } else { Vec::new() };
    let splitter = Splitter::new(&format, CHARSETS[usize::from(more >> 3 & 3)], fields, widths);
    let mut rows = Vec::new();
    let mut at = 0;
    let mut row = Row::default();
    loop {
        let (split, length) = splitter.row(&file[at..], true, &mut row);
        assert_ne!(split, Split::More);
        let is_row = split == Split::Row;
        rows.push((split, copied(&row)));
        if !is_row {
            break;
        }
        assert!(length > 0, "a row of nothing would never end");
        at += length;
    }
    // The same in pieces.
    let (mut at, mut end, mut n) = (0, 0, 0);
    while n < rows.len() {
        let (split, length) = splitter.row(&file[at..end], end == file.len(), &mut row);
        if split == Split::More {
            end += 1;
            continue;
        }
        at += length;
        assert_eq!((split, copied(&row)), rows[n]);
        n += 1;
    }
});

fn copied(row: &Row) -> (Vec<Option<Vec<u8>>>, bool) {
    ((0..row.len()).map(|n| row.field(n).map(<[u8]>::to_vec)).collect(), row.has_more)
}
