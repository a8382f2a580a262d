//! What must be on the disk after a restart.
//!
//! Each transaction that writes also writes its number into its session's row of a journal tree. After a restart the journal tells
//! which transactions have survived: those of a session up to the number there. They must include all that were acknowledged, and the rows must be
//! those that the survivors have written, each key's last in the order of the writes: all of a transaction or nothing.

use crate::history::{Act, History, Key, Number, Outcome, Time};
use std::collections::BTreeMap;

/// Numbers hold the session below this bit.
pub const SESSION_BITS: u32 = 8;

pub fn session_of(number: Number) -> u64 {
    number & ((1 << SESSION_BITS) - 1)
}

/// Decides for each transaction in doubt, by the journal. Err: an acknowledged one is lost.
///
/// # Errors
/// What is wrong, for people.
pub fn settle(history: &mut History, journal: &BTreeMap<u64, Number>, acknowledged_lasts: bool) -> Result<(), String> {
    for transaction in &mut history.transactions {
        let last = journal.get(&session_of(transaction.number)).copied().unwrap_or(0);
        let writes = transaction.writes().next().is_some();
        match transaction.outcome {
            Outcome::InDoubt | Outcome::Committed if !writes => transaction.outcome = Outcome::Committed,
            Outcome::InDoubt | Outcome::Committed if transaction.number <= last => transaction.outcome = Outcome::Committed,
            Outcome::InDoubt | Outcome::Committed => {
                if transaction.acknowledged && acknowledged_lasts {
                    return Err(format!("transaction {} was acknowledged and is lost", transaction.number));
                }
                transaction.outcome = Outcome::Lost;
            }
            Outcome::Open => transaction.outcome = Outcome::Aborted,
            Outcome::Lost | Outcome::Aborted => {}
        }
        if transaction.outcome != Outcome::Committed && writes && transaction.number == last {
            return Err(format!("transaction {} was not committed, and its journal entry is there", transaction.number));
        }
    }
    Ok(())
}

/// The rows that the committed transactions of a settled history leave.
pub fn rows(history: &History) -> BTreeMap<Key, Vec<u64>> {
    let mut last: BTreeMap<Key, (Time, Option<&Vec<u64>>)> = BTreeMap::new();
    for transaction in history.transactions.iter().filter(|t| t.outcome == Outcome::Committed) {
        for operation in transaction.operations.iter().filter(|o| !o.undone) {
            let Act::Write { elements } = &operation.act else { continue };
            let entry = last.entry(operation.key).or_insert((0, None));
            if operation.span.to >= entry.0 {
                *entry = (operation.span.to, elements.as_ref());
            }
        }
    }
    let mut rows = history.base.clone();
    for (key, (_, elements)) in last {
        match elements {
            Some(elements) => rows.insert(key, elements.clone()),
            None => rows.remove(&key),
        };
    }
    rows
}

/// Compares what is there with what must be.
///
/// # Errors
/// The first few differences.
pub fn compare(expected: &BTreeMap<Key, Vec<u64>>, found: &BTreeMap<Key, Vec<u64>>) -> Result<(), String> {
    let keys: std::collections::BTreeSet<&Key> = expected.keys().chain(found.keys()).collect();
    let wrong: Vec<String> = keys
        .into_iter()
        .filter(|key| expected.get(key) != found.get(key))
        .take(5)
        .map(|key| format!("key {key}: must be {:?}, is {:?}", expected.get(key), found.get(key)))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("rows are not what was committed: {}", wrong.join("; "))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Level, Operation, Span, Transaction};

    fn write(key: Key, at: Time, elements: Option<&[u64]>) -> Operation {
        let act = Act::Write { elements: elements.map(<[u64]>::to_vec) };
        Operation { key, span: Span { from: at, to: at }, act, undone: false }
    }

    fn transaction(number: Number, outcome: Outcome, operations: Vec<Operation>) -> Transaction {
        Transaction { outcome, operations, ..Transaction::new(number, Level::RepeatableRead) }
    }

    #[test]
    fn survivors_are_known_by_the_journal() {
        let mut history = History { base: BTreeMap::from([(1, vec![1])]), ..History::default() };
        history.transactions = vec![
            transaction(0x101, Outcome::Committed, vec![write(1, 5, Some(&[1, 2]))]),
            transaction(0x201, Outcome::InDoubt, vec![write(1, 7, Some(&[1, 2, 3])), write(2, 8, Some(&[4]))]),
            transaction(0x102, Outcome::InDoubt, vec![write(3, 9, Some(&[5]))]),
        ];
        let mut other = history.clone();
        settle(&mut history, &BTreeMap::from([(1, 0x201), (2, 0)]), true).expect("nothing is lost");
        assert_eq!(rows(&history), BTreeMap::from([(1, vec![1, 2, 3]), (2, vec![4])]));
        assert!(compare(&rows(&history), &BTreeMap::from([(1, vec![1, 2, 3])])).is_err());
        other.transactions[0].acknowledged = true;
        assert!(settle(&mut other, &BTreeMap::new(), true).is_err());
    }
}
