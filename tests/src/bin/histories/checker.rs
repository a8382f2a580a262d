//! Finds what no schedule that the isolation level allows explains.
//!
//! 1. Of each list: the last version has the order of all elements. Each version that was read is a beginning of it (at READ UNCOMMITTED
//!    reads prove nothing). What was acknowledged is in it, once; what was rolled back is not (G1a); of a transaction whose COMMIT had no
//!    answer there is all or nothing. Nobody else reads a version in the middle of a transaction (G1b). A transaction reads its own appends.
//!    A commit is seen before it is durable, so a crash may take what was read of a commit without an answer. Who has read that and appended
//!    something has no answer to its own COMMIT then, which is later in the log.
//! 2. Edges between moments. A transaction has a moment of its commit, and moments of its reads: its one snapshot, a snapshot of each
//!    statement, or its commit where reads lock.
//!
//! ```text
//! ww   commit of a version's writer          -> commit of the next version's writer
//! wr   commit of a version's writer          -> the read that shows it
//! rw   the read of a version                 -> commit of the next version's writer
//! so   a read                                -> the commit of its transaction
//! rt   a commit that was acknowledged        -> what began after that
//! ```
//! 3. All moments are on one line, so a cycle is an anomaly. Its name is Adya's ("Weak Consistency", 1999): G0 has only ww; G1c ww and wr;
//!    G-single one rw; G2 several.

use crate::history::{Act, Element, History, Key, Level, Outcome, Transaction};
use std::collections::{BTreeMap, HashMap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    WriteWrite,
    WriteRead,
    ReadWrite,
    Own,
    Time,
}

/// What a history shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub anomalies: Vec<String>,
    /// Edges between transactions.
    pub dependencies: usize,
}

pub fn check(history: &History) -> Verdict {
    let mut verdict = Verdict::default();
    let writers = writers(history, &mut verdict);
    lists(history, &writers, &mut verdict);
    if verdict.anomalies.is_empty() {
        let mut graph = Graph::default();
        graph.build(history, &writers);
        verdict.dependencies = graph.dependencies;
        verdict.anomalies.extend(graph.cycle());
    }
    verdict
}

/// Who appended an element.
type Writers = HashMap<Element, usize>;

fn writers(history: &History, verdict: &mut Verdict) -> Writers {
    let mut writers = Writers::new();
    for (number, transaction) in history.transactions.iter().enumerate() {
        for (key, element) in transaction.appends() {
            if writers.insert(element, number).is_some() {
                verdict.anomalies.push(format!("element {element} of list {key} was appended twice: the history is wrong"));
            }
        }
    }
    writers
}

fn lists(history: &History, writers: &Writers, verdict: &mut Verdict) {
    let found = &mut verdict.anomalies;
    for (key, list) in &history.last {
        let mut sorted = list.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            found.push(format!("list {key} has an element twice: {list:?}"));
        }
        for element in list {
            match writers.get(element).map(|writer| &history.transactions[*writer]) {
                None => found.push(format!("list {key} has element {element}, which nobody appended")),
                Some(writer) if writer.outcome == Outcome::Aborted => {
                    found.push(format!("list {key} has element {element} of {}, which was rolled back", writer.name));
                }
                Some(_) => {}
            }
        }
    }
    for transaction in &history.transactions {
        found.extend(completeness(history, transaction));
        if transaction.level != Level::ReadUncommitted {
            reads(history, writers, transaction, found);
        }
    }
}

/// Is what a transaction appended there?
fn completeness(history: &History, transaction: &Transaction) -> Option<String> {
    let is_there = |(key, element): &(Key, Element)| history.last.get(key).is_some_and(|list| list.contains(element));
    let missing: Vec<_> = transaction.appends().filter(|append| !is_there(append)).collect();
    let name = &transaction.name;
    match transaction.outcome {
        Outcome::Committed => {
            missing.first().map(|(key, element)| format!("lost: element {element} of {name} is not in list {key}"))
        }
        Outcome::Unknown if !missing.is_empty() && missing.len() < transaction.appends().count() => {
            Some(format!("half of {name} is there: without {missing:?}"))
        }
        _ => None,
    }
}

fn reads(history: &History, writers: &Writers, transaction: &Transaction, found: &mut Vec<String>) {
    let name = &transaction.name;
    let mut own: BTreeMap<Key, Vec<Element>> = BTreeMap::new();
    for operation in &transaction.operations {
        let key = operation.key;
        let list = match &operation.act {
            Act::Append(element) => {
                own.entry(key).or_default().push(*element);
                continue;
            }
            Act::Read { list, .. } => list.as_deref().unwrap_or_default(),
        };
        let own = own.get(&key).map_or(&[][..], Vec::as_slice);
        let Some(others) = list.strip_suffix(own) else {
            found.push(format!("internal: {name} read {list:?} of list {key}, and had appended {own:?}"));
            continue;
        };
        for element in others {
            match writers.get(element).map(|writer| &history.transactions[*writer]) {
                None => found.push(format!("{name} read element {element} of list {key}, which nobody appended")),
                Some(writer) if writer.outcome == Outcome::Aborted => {
                    found.push(format!("G1a: {name} read element {element} of {}, which was rolled back", writer.name));
                }
                Some(_) => {}
            }
        }
        if let Some(last) = others.last()
            && let Some(writer) = writers.get(last).map(|writer| &history.transactions[*writer])
            && writer.last_append(key) != Some(*last)
        {
            found.push(format!("G1b: {name} read {last} as the last element of list {key}, in the middle of {}", writer.name));
        }
        let whole = history.last.get(&key).map_or(&[][..], Vec::as_slice);
        // What it appended itself is in the whole list only if it was committed.
        let kept = others.len() - lost(history, writers, transaction, others);
        if !whole.starts_with(&others[..kept]) {
            found.push(format!("{name} read {list:?} of list {key}, which became {whole:?}"));
        }
    }
}

/// How many elements at the end of a list a crash may have taken after they were read.
fn lost(history: &History, writers: &Writers, reader: &Transaction, list: &[Element]) -> usize {
    if reader.outcome == Outcome::Committed && reader.appends().next().is_some() {
        return 0;
    }
    let is_lost = |element: &&Element| {
        let writer = writers.get(element).map(|writer| &history.transactions[*writer]);
        writer.is_some_and(|writer| writer.outcome == Outcome::Unknown && !has_happened(history, writer))
    };
    list.iter().rev().take_while(is_lost).count()
}

#[derive(Default)]
struct Graph {
    names: Vec<String>,
    edges: Vec<Vec<(usize, Edge)>>,
    dependencies: usize,
}

/// The moments of a transaction.
struct Moments {
    commit: usize,
    /// By statement.
    snapshots: HashMap<usize, usize>,
}

impl Graph {
    fn add(&mut self, name: String) -> usize {
        self.names.push(name);
        self.edges.push(Vec::new());
        self.names.len() - 1
    }

    fn link(&mut self, from: usize, to: usize, edge: Edge) {
        if from != to {
            self.edges[from].push((to, edge));
            self.dependencies += usize::from(!matches!(edge, Edge::Own | Edge::Time));
        }
    }

    fn build(&mut self, history: &History, writers: &Writers) {
        let moments: Vec<Moments> = history.transactions.iter().map(|transaction| self.moments(transaction)).collect();
        self.times(history, &moments);
        for (key, list) in &history.last {
            let commits: Vec<usize> = list.iter().filter_map(|e| writers.get(e)).map(|writer| moments[*writer].commit).collect();
            for pair in commits.windows(2) {
                self.link(pair[0], pair[1], Edge::WriteWrite);
            }
            for (number, transaction) in history.transactions.iter().enumerate() {
                if has_happened(history, transaction) {
                    self.reads(transaction, &moments[number], *key, list, &commits);
                }
            }
        }
    }

    fn moments(&mut self, transaction: &Transaction) -> Moments {
        let commit = self.add(format!("commit of {}", transaction.name));
        let mut snapshots = HashMap::new();
        let mut of_transaction = None;
        for operation in &transaction.operations {
            let Act::Read { is_locked: false, .. } = operation.act else { continue };
            let name = format!("snapshot of {}", transaction.name);
            let moment = match transaction.level {
                Level::ReadUncommitted | Level::Serializable => continue,
                Level::ReadCommitted => *snapshots.entry(operation.statement).or_insert_with(|| self.add(name)),
                Level::RepeatableRead => *of_transaction.get_or_insert_with(|| self.add(name)),
            };
            snapshots.insert(operation.statement, moment);
        }
        let mut all: Vec<usize> = snapshots.values().copied().collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().for_each(|moment| self.link(moment, commit, Edge::Own));
        Moments { commit, snapshots }
    }

    /// A line of moments at which commits were acknowledged.
    fn times(&mut self, history: &History, moments: &[Moments]) {
        let acknowledged = |t: &&(usize, &Transaction)| t.1.outcome == Outcome::Committed;
        let numbered: Vec<(usize, &Transaction)> = history.transactions.iter().enumerate().collect();
        let mut ends: Vec<_> = numbered.iter().filter(acknowledged).map(|(number, t)| (t.ended, *number)).collect();
        ends.sort_unstable();
        let times: Vec<usize> = ends.iter().map(|(time, _)| self.add(format!("time {time}"))).collect();
        times.windows(2).for_each(|pair| self.link(pair[0], pair[1], Edge::Time));
        for ((_, number), time) in ends.iter().zip(&times) {
            self.link(moments[*number].commit, *time, Edge::Time);
        }
        for (number, transaction) in numbered.iter().filter(|(_, t)| has_happened(history, t)) {
            let before = ends.partition_point(|(time, _)| *time < transaction.began);
            let Some(time) = before.checked_sub(1).map(|last| times[last]) else { continue };
            let mut first: Vec<usize> = moments[*number].snapshots.values().copied().collect();
            first.push(moments[*number].commit);
            first.into_iter().for_each(|moment| self.link(time, moment, Edge::Time));
        }
    }

    fn reads(&mut self, transaction: &Transaction, moments: &Moments, key: Key, whole: &[Element], commits: &[usize]) {
        for operation in transaction.operations.iter().filter(|operation| operation.key == key) {
            let Act::Read { list, is_locked } = &operation.act else { continue };
            let moment = match (transaction.level, is_locked) {
                (Level::ReadUncommitted, false) => continue,
                (Level::Serializable, _) | (_, true) => moments.commit,
                _ => moments.snapshots[&operation.statement],
            };
            let length = list.as_ref().map_or(0, Vec::len);
            // A crash has taken what it read.
            if list.as_ref().is_some_and(|list| !whole.starts_with(list)) {
                continue;
            }
            let last = length.checked_sub(1).and_then(|last| commits.get(last));
            // After its own appends it reads its own version.
            if last == Some(&moments.commit) {
                continue;
            }
            if let Some(writer) = last {
                self.link(*writer, moment, Edge::WriteRead);
            }
            // Without locks on gaps nothing keeps a row from appearing where a locking read found none.
            let is_guarded =
                list.is_some() || !is_locked || matches!(transaction.level, Level::RepeatableRead | Level::Serializable);
            if let Some(next) = commits.get(length).filter(|_| is_guarded && length < whole.len()) {
                self.link(moment, *next, Edge::ReadWrite);
            }
        }
    }

    /// A short cycle, if there is one.
    fn cycle(&self) -> Option<String> {
        let within = self.on_cycles();
        let starts = (0..self.names.len()).filter(|node| within[*node]).take(200);
        let shortest = starts.filter_map(|start| self.way_back(start, &within)).min_by_key(Vec::len)?;
        Some(self.describe(&shortest))
    }

    /// What is left when nodes without a predecessor, or without a successor, are taken away again and again.
    fn on_cycles(&self) -> Vec<bool> {
        let count = self.names.len();
        let mut backward = vec![Vec::new(); count];
        for (from, edges) in self.edges.iter().enumerate() {
            edges.iter().for_each(|(to, _)| backward[*to].push(from));
        }
        let forward: Vec<Vec<usize>> = self.edges.iter().map(|edges| edges.iter().map(|(to, _)| *to).collect()).collect();
        let mut within = vec![true; count];
        for (into, out) in [(&backward, &forward), (&forward, &backward)] {
            let mut degree: Vec<usize> = into.iter().map(|nodes| nodes.iter().filter(|node| within[**node]).count()).collect();
            let mut free: Vec<usize> = (0..count).filter(|node| within[*node] && degree[*node] == 0).collect();
            while let Some(node) = free.pop() {
                within[node] = false;
                for next in &out[node] {
                    degree[*next] = degree[*next].saturating_sub(1);
                    if within[*next] && degree[*next] == 0 {
                        free.push(*next);
                    }
                }
            }
        }
        within
    }

    /// The shortest way from a node back to it, as (node, number of its edge).
    fn way_back(&self, start: usize, within: &[bool]) -> Option<Vec<(usize, usize)>> {
        let mut from: HashMap<usize, (usize, usize)> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for (number, (to, _)) in self.edges[node].iter().enumerate().filter(|(_, (to, _))| within[*to]) {
                if *to == start {
                    let mut path = vec![(node, number)];
                    while let Some(step) = from.get(&path[path.len() - 1].0) {
                        path.push(*step);
                    }
                    path.reverse();
                    return Some(path);
                }
                if !from.contains_key(to) {
                    from.insert(*to, (node, number));
                    queue.push_back(*to);
                }
            }
        }
        None
    }

    fn describe(&self, path: &[(usize, usize)]) -> String {
        let edges: Vec<Edge> = path.iter().map(|(node, number)| self.edges[*node][*number].1).collect();
        let count = |kind: Edge| edges.iter().filter(|edge| **edge == kind).count();
        let name = match (count(Edge::ReadWrite), count(Edge::WriteRead)) {
            (0, 0) => "G0",
            (0, _) => "G1c",
            (1, _) => "G-single",
            _ => "G2",
        };
        let realtime = if count(Edge::Time) > 0 { " with the clock" } else { "" };
        let steps: Vec<String> =
            path.iter().zip(&edges).map(|((node, _), edge)| format!("{} -{edge:?}->", self.names[*node])).collect();
        format!("{name}{realtime}: {} {}", steps.join(" "), self.names[path[0].0])
    }
}

/// It was committed, as far as its appends tell; who only read and had no answer has no part.
fn has_happened(history: &History, transaction: &Transaction) -> bool {
    match transaction.outcome {
        Outcome::Committed => true,
        Outcome::Aborted => false,
        Outcome::Unknown => {
            transaction.appends().next().is_some_and(|(key, e)| history.last.get(&key).is_some_and(|list| list.contains(&e)))
        }
    }
}

#[cfg(test)]
mod tests;
