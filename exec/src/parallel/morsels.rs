//! The parts of a scan: key ranges of about as many leaves, in the order of the index.
//!
//! M1: the parts are those of the plan's ranges, cut at keys: each key of these lies in exactly one part, whatever the tree looks like
//!     meanwhile. Where the cuts lie decides only how much work a part is.

use crate::access;
use crate::operator::Piece;
use crate::run::Run;
use crate::shape::Shape;
use expr::Result;
use sql::plan::Access;
use table::EncodedRange;

/// Rows of work of a part: some milliseconds at most. With debug assertions every leaf is a part, so that tests have many.
const ROWS: f64 = 8_000.0;
/// However large the tree is.
const PARTS_MAX: f64 = 4096.0;

/// The parts. Empty: there is nothing to read.
pub(super) async fn cut(run: &mut Run<'_>, shape: &Shape<'_>) -> Result<Vec<Piece>> {
    let (index, whole) = match &shape.scan.access {
        Access::Full { index, .. } => (*index, vec![EncodedRange::default()]),
        Access::Ranges { index, ranges, .. } => {
            let mut encoded = Vec::new();
            loop {
                match access::ranges(&run.env(&[]), shape.table, *index, ranges, &mut encoded) {
                    Ok(count) => {
                        encoded.truncate(count);
                        break (*index, encoded);
                    }
                    Err(pause) => run.resolve(pause).await?,
                }
            }
        }
        _ => return Ok(Vec::new()),
    };
    let cuts = cuts(run, shape, index).await?;
    Ok(whole.iter().flat_map(|range| pieces(range, &cuts)).collect())
}

/// The first keys of evenly spaced leaves of the whole index, in order.
async fn cuts(run: &mut Run<'_>, shape: &Shape<'_>, index: usize) -> Result<Vec<Vec<u8>>> {
    let mut key = Vec::new();
    let leaves = leaf_key(run, shape, index, 0.0, &mut key).await?;
    // Those of the ranges that are read; the cuts lie in the whole index.
    let wanted = shape.work() / ROWS * (shape.table.estimated_rows() as f64 / shape.scan.read.max(1.0)).max(1.0);
    let wanted = if cfg!(debug_assertions) { leaves } else { wanted };
    let parts = wanted.min(leaves).clamp(1.0, PARTS_MAX) as usize;
    let mut cuts = Vec::new();
    for n in 1..parts {
        leaf_key(run, shape, index, n as f64 / parts as f64, &mut key).await?;
        cuts.push(key.clone());
    }
    cuts.sort_unstable();
    cuts.dedup();
    Ok(cuts)
}

async fn leaf_key(run: &mut Run<'_>, shape: &Shape<'_>, index: usize, part: f64, key: &mut Vec<u8>) -> Result<f64> {
    loop {
        match shape.table.leaf_key(run.worker, index, part, key) {
            Ok(leaves) => return Ok(leaves),
            Err(interrupt) => run.resolve(interrupt.into()).await?,
        }
    }
}

/// The range, cut at those of the keys that lie in it.
fn pieces(range: &EncodedRange, cuts: &[Vec<u8>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut low = range.low.clone();
    for cut in cuts.iter().filter(|cut| range.contains(cut) && **cut > range.low) {
        let piece = EncodedRange { low: std::mem::replace(&mut low, cut.clone()), high: cut.clone() };
        pieces.push(Piece { range: piece, begins: pieces.is_empty(), ends: false });
    }
    let rest = EncodedRange { low, high: range.high.clone() };
    pieces.push(Piece { range: rest, begins: pieces.is_empty(), ends: true });
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_each_other() {
        let check = |low: &str, high: &str, expected: &[(&str, &str)]| {
            let cuts: Vec<Vec<u8>> = ["b", "d", "dd", "f"].iter().map(|cut| cut.as_bytes().to_vec()).collect();
            let of = |low: &str, high: &str| EncodedRange { low: low.into(), high: high.into() };
            let last = expected.len() - 1;
            let piece =
                |(n, (low, high)): (usize, &(&str, &str))| Piece { range: of(low, high), begins: n == 0, ends: n == last };
            let expected: Vec<Piece> = expected.iter().enumerate().map(piece).collect();
            assert_eq!(pieces(&of(low, high), &cuts), expected, "{low:?} to {high:?}");
        };
        check("", "", &[("", "b"), ("b", "d"), ("d", "dd"), ("dd", "f"), ("f", "")]);
        check("c", "e", &[("c", "d"), ("d", "dd"), ("dd", "e")]);
        check("b", "d", &[("b", "d")]);
        check("a", "b", &[("a", "b")]);
        check("g", "", &[("g", "")]);
    }
}
