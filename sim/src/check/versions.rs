//! The versions of each key, in the order in which they were written.

use crate::history::{Act, History, Key, Span, Time};
use std::collections::BTreeMap;

/// One version of a row, or of its absence.
pub struct Version<'a> {
    /// Index of the transaction; `None`: it was there at the start.
    pub writer: Option<usize>,
    pub elements: Option<&'a [u64]>,
    pub written: Span,
    /// It is the last of its transaction, which has committed.
    pub counts: bool,
    /// A rollback to a savepoint took it back.
    pub undone: bool,
    /// When it became visible to others, if it did.
    pub visible: Span,
}

pub type Versions<'a> = BTreeMap<Key, Vec<Version<'a>>>;

const START: Span = Span { from: 0, to: 0 };

/// Adds the version that was there at the start, if the key has none yet.
fn of_key<'v, 'a>(versions: &'v mut Versions<'a>, history: &'a History, key: Key) -> &'v mut Vec<Version<'a>> {
    versions.entry(key).or_insert_with(|| {
        let elements = history.base.get(&key).map(Vec::as_slice);
        vec![Version { writer: None, elements, written: START, counts: true, undone: false, visible: START }]
    })
}

pub fn collect(history: &History) -> Versions<'_> {
    let mut versions = Versions::new();
    for (index, transaction) in history.transactions.iter().enumerate() {
        let mut last: BTreeMap<Key, Time> = BTreeMap::new();
        for (operation, _) in transaction.writes().filter(|(operation, _)| !operation.undone) {
            last.insert(operation.key, operation.span.to);
        }
        for operation in &transaction.operations {
            let of_key = of_key(&mut versions, history, operation.key);
            if let Act::Write { elements } = &operation.act {
                let is_last = last.get(&operation.key) == Some(&operation.span.to);
                of_key.push(Version {
                    writer: Some(index),
                    elements: elements.as_deref(),
                    written: operation.span,
                    counts: is_last && transaction.outcome.was_visible(),
                    undone: operation.undone,
                    visible: transaction.finish,
                });
            }
        }
    }
    versions.values_mut().for_each(|list| list.sort_by_key(|version| version.written.to));
    versions
}

/// Each version of a committed transaction carries on the list of the one before it: no update is lost. A row that is new starts a list.
pub fn follow_each_other(versions: &Versions<'_>, history: &History) -> Result<(), String> {
    for (key, list) in versions {
        let lasts = |version: &&Version<'_>| {
            let visible = version.writer.is_none_or(|index| history.transactions[index].outcome.was_visible());
            visible && !version.undone
        };
        let mut lasting = list.iter().filter(lasts);
        let mut before = lasting.next();
        for version in lasting {
            let old = before.and_then(|b| b.elements).unwrap_or(&[]);
            if let Some(new) = version.elements
                && !new.starts_with(old)
            {
                let name = |version: Option<&Version<'_>>| {
                    let writer = version.and_then(|v| v.writer).map(|index| &history.transactions[index]);
                    let (number, outcome) = writer.map_or((0, None), |w| (w.number, Some(w.outcome)));
                    format!("transaction {number} ({outcome:?}, {:?})", version.map(|v| (v.written, v.visible)))
                };
                return Err(format!(
                    "lost update: {} made {new:?} of key {key}, which {} had made {old:?}",
                    name(Some(version)),
                    name(before)
                ));
            }
            before = Some(version);
        }
    }
    Ok(())
}
