//! Cycles of dependencies, found from what was read and written alone.
//!
//! Nodes are moments: the commit of each transaction, and each of its snapshots. Edges say which of two moments came first:
//!
//! ```text
//! ww   commit of a version's writer              -> commit of the next version's writer
//! wr   commit of a version's writer              -> the snapshot that shows it, or the commit of who read it with a lock
//! rw   the snapshot, or commit, of who read it   -> commit of the next version's writer
//! so   a snapshot                                -> the commit of its transaction
//! ```
//! Under the contract all of these are true of one order of moments, so no cycle may be (at SERIALIZABLE all reads are of the commit's
//! moment: that is serializability). A cycle is named after Adya ("Weak Consistency", 1999) by its edges: G0 has only ww, G1c ww and wr,
//! G-single one rw, G2 several.
//! Only keys that are never deleted take part: their lists give the order of the versions without any clock.

use crate::history::{Act, History, Key, ReadKind};
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    WriteWrite,
    WriteRead,
    ReadWrite,
    Own,
}

struct Edge {
    to: usize,
    kind: Kind,
    key: Key,
}

#[derive(Default)]
struct Graph {
    /// What each node is, for people.
    names: Vec<String>,
    edges: Vec<Vec<Edge>>,
}

/// Returns the number of dependencies.
pub fn check(history: &History) -> Result<u64, String> {
    let (graph, dependencies) = build(history);
    match graph.cycle() {
        None => Ok(dependencies),
        Some(text) => Err(text),
    }
}

/// The longest list of each lasting key: the base's, or a committed one.
fn orders(history: &History) -> BTreeMap<Key, &[u64]> {
    let mut orders: BTreeMap<Key, &[u64]> = BTreeMap::new();
    let mut offer = |key: Key, list| {
        let longest = orders.entry(key).or_insert(list);
        if longest.len() < list.len() {
            *longest = list;
        }
    };
    for transaction in history.transactions.iter().filter(|t| t.outcome.was_visible()) {
        for operation in transaction.operations.iter().filter(|o| o.key < history.lasting_keys && !o.undone) {
            match &operation.act {
                Act::Read { kind: ReadKind::Dirty, .. } => {}
                Act::Read { found: Some(list), .. } | Act::Write { elements: Some(list) } => offer(operation.key, list),
                _ => {}
            }
        }
    }
    orders
}

fn build(history: &History) -> (Graph, u64) {
    let mut graph = Graph::default();
    let mut nodes = Vec::new();
    for transaction in &history.transactions {
        let commit = graph.add(format!("commit of {}", transaction.number));
        let snapshots: Vec<usize> = (0..transaction.snapshots.len())
            .map(|n| {
                let node = graph.add(format!("snapshot {n} of {}", transaction.number));
                graph.link(node, commit, Kind::Own, 0);
                node
            })
            .collect();
        nodes.push((commit, snapshots));
    }
    let mut writer_of: HashMap<u64, usize> = HashMap::new();
    for (index, transaction) in history.transactions.iter().enumerate().filter(|(_, t)| t.outcome.was_visible()) {
        for (operation, elements) in transaction.writes() {
            if let Some(last) = elements.and_then(|e| e.last()).filter(|_| !operation.undone) {
                writer_of.insert(*last, index);
            }
        }
    }
    let orders = orders(history);
    let next_writer = |key: &Key, length: usize| {
        let rest = orders.get(key)?.get(length..)?;
        // Elements without a writer of their own were followed by another of the same transaction.
        rest.iter().find_map(|element| writer_of.get(element)).copied()
    };
    let mut dependencies = 0;
    for (index, transaction) in history.transactions.iter().enumerate().filter(|(_, t)| t.outcome.was_visible()) {
        for operation in transaction.operations.iter().filter(|o| o.key < history.lasting_keys && !o.undone) {
            let (commit, key) = (nodes[index].0, operation.key);
            let list: &[u64] = match &operation.act {
                Act::Read { found, .. } => found.as_deref().unwrap_or(&[]),
                Act::Write { elements } => elements.as_deref().unwrap_or(&[]),
            };
            let next = next_writer(&key, list.len()).filter(|next| *next != index).map(|next| nodes[next].0);
            match &operation.act {
                Act::Write { .. } => {
                    if let Some(next) = next {
                        graph.link(commit, next, Kind::WriteWrite, key);
                        dependencies += 1;
                    }
                }
                Act::Read { kind: ReadKind::Dirty | ReadKind::Current, .. } => {}
                Act::Read { kind, found } => {
                    let reader = match kind {
                        ReadKind::Snapshot(snapshot) => nodes[index].1[*snapshot],
                        _ => commit,
                    };
                    let writer = list.last().and_then(|element| writer_of.get(element)).copied();
                    if writer == Some(index) {
                        continue;
                    }
                    if let Some(writer) = writer {
                        graph.link(nodes[writer].0, reader, Kind::WriteRead, key);
                        dependencies += 1;
                    }
                    // Without gap locks nothing keeps a row from appearing where a locking read found none.
                    let guarded = found.is_some() || transaction.level.locks_gaps() || matches!(kind, ReadKind::Snapshot(_));
                    if let Some(next) = next.filter(|_| guarded) {
                        graph.link(reader, next, Kind::ReadWrite, key);
                        dependencies += 1;
                    }
                }
            }
        }
    }
    (graph, dependencies)
}

impl Graph {
    fn add(&mut self, name: String) -> usize {
        self.names.push(name);
        self.edges.push(Vec::new());
        self.names.len() - 1
    }

    fn link(&mut self, from: usize, to: usize, kind: Kind, key: Key) {
        self.edges[from].push(Edge { to, kind, key });
    }

    /// A shortest cycle within the first component that has one.
    fn cycle(&self) -> Option<String> {
        let component = self.components().into_iter().find(|component| component.len() > 1)?;
        let mut shortest: Option<Vec<(usize, usize)>> = None;
        for start in component.iter().take(50) {
            if let Some(path) = self.way_back(*start, &component)
                && shortest.as_ref().is_none_or(|s| path.len() < s.len())
            {
                shortest = Some(path);
            }
        }
        shortest.map(|path| self.describe(&path))
    }

    /// Strongly connected components (Tarjan, 1972), without recursion.
    fn components(&self) -> Vec<Vec<usize>> {
        const UNSEEN: usize = usize::MAX;
        let count = self.edges.len();
        let (mut index, mut low, mut on_stack) = (vec![UNSEEN; count], vec![0; count], vec![false; count]);
        let (mut stack, mut out, mut next) = (Vec::new(), Vec::new(), 0);
        for root in 0..count {
            if index[root] != UNSEEN {
                continue;
            }
            let mut work = vec![(root, 0)];
            while let Some((node, edge)) = work.pop() {
                if edge == 0 {
                    (index[node], low[node]) = (next, next);
                    next += 1;
                    stack.push(node);
                    on_stack[node] = true;
                }
                if let Some(Edge { to, .. }) = self.edges[node].get(edge) {
                    work.push((node, edge + 1));
                    if index[*to] == UNSEEN {
                        work.push((*to, 0));
                    } else if on_stack[*to] {
                        low[node] = low[node].min(index[*to]);
                    }
                    continue;
                }
                if let Some((parent, _)) = work.last() {
                    low[*parent] = low[*parent].min(low[node]);
                }
                if low[node] == index[node] {
                    let mut component = Vec::new();
                    while let Some(member) = stack.pop() {
                        on_stack[member] = false;
                        component.push(member);
                        if member == node {
                            break;
                        }
                    }
                    out.push(component);
                }
            }
        }
        out
    }

    /// The shortest way from a node back to it, as (node, edge) steps.
    fn way_back(&self, start: usize, within: &[usize]) -> Option<Vec<(usize, usize)>> {
        let mut from: HashMap<usize, (usize, usize)> = HashMap::new();
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for (number, edge) in self.edges[node].iter().enumerate() {
                if edge.to == start {
                    let mut path = vec![(node, number)];
                    while let Some(step) = from.get(&path[path.len() - 1].0) {
                        path.push(*step);
                    }
                    path.reverse();
                    return Some(path);
                }
                if within.contains(&edge.to) && !from.contains_key(&edge.to) {
                    from.insert(edge.to, (node, number));
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }

    fn describe(&self, path: &[(usize, usize)]) -> String {
        let edges: Vec<&Edge> = path.iter().map(|(node, edge)| &self.edges[*node][*edge]).collect();
        let count = |kind: Kind| edges.iter().filter(|edge| edge.kind == kind).count();
        let name = match (count(Kind::ReadWrite), count(Kind::WriteRead)) {
            (0, 0) => "G0",
            (0, _) => "G1c",
            (1, _) => "G-single",
            _ => "G2",
        };
        let mut text = format!("{name}: a cycle of dependencies:");
        for ((node, _), edge) in path.iter().zip(&edges) {
            text += &format!(" {} -[{:?} key {}]->", self.names[*node], edge.kind, edge.key);
        }
        text + &format!(" {}", self.names[path[0].0])
    }
}
