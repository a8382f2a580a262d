//! How well a row answers a query.

use super::query::{Item, Node, Operator, Query};
use super::{WordCutter, starts_with};
use std::collections::HashMap;

/// What the index says about the words of a query.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// The rows of the table, with and without text.
    pub rows: u64,
    /// For each word of the query: the entries of the index that it finds.
    pub entries: Vec<u64>,
}

/// The hits of one word of the query in a row.
#[derive(Clone, Debug, Default)]
pub struct WordHits {
    /// How often the row has the word, where the index has it too.
    pub occurrences: u32,
    pub places: Vec<u32>,
    /// `places` are not all of them: phrases believe that the word is in its place.
    pub has_more: bool,
}

impl WordHits {
    /// No hits.
    pub fn clear(&mut self) {
        self.occurrences = 0;
        self.places.clear();
        self.has_more = false;
    }
}

/// A query with the weights of its words.
#[derive(Clone, Debug)]
pub struct Ranker {
    query: Query,
    /// `idf` of each word.
    weights: Vec<f64>,
    /// The words in the order in which their shares are added.
    order: Vec<usize>,
    /// The words by their keys; those with a prefix apart.
    by_key: HashMap<Vec<u8>, usize>,
    prefixes: Vec<usize>,
}

/// What a part of the query adds to the rank of a row.
enum Share {
    Word(usize),
    Fixed(f32),
}

impl Ranker {
    pub fn new(query: Query, statistics: &Statistics) -> Self {
        let rows = statistics.rows as f64;
        let weight = |(word, entries): (&super::query::QueryWord, &u64)| {
            let entries = (*entries * u64::from(word.uses)) as f64;
            if entries == 0.0 {
                0.0
            } else if entries == rows {
                1.0001f64.log10()
            } else {
                (rows.max(1.0) / entries).log10()
            }
        };
        let weights = query.words.iter().zip(&statistics.entries).map(weight).collect();
        let mut order: Vec<usize> = (0..query.words.len()).collect();
        order.sort_by(|a, b| query.words[*a].key.cmp(&query.words[*b].key));
        let (prefixes, whole): (Vec<usize>, Vec<usize>) =
            (0..query.words.len()).partition(|word| query.words[*word].prefix_characters.is_some());
        let by_key = whole.into_iter().map(|word| (query.words[word].key.clone(), word)).collect();
        Self { query, weights, order, by_key, prefixes }
    }

    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The rank of a row with these texts; `None`: it does not match.
    pub fn rank_texts<'t>(&self, cutter: &WordCutter, texts: impl Iterator<Item = &'t [u8]>) -> Option<f32> {
        let mut hits = vec![WordHits::default(); self.query.words.len()];
        self.hits_of(cutter, texts, &mut hits);
        self.rank(&hits)
    }

    /// The hits of each word in a row with these texts.
    pub fn hits_of<'t>(&self, cutter: &WordCutter, texts: impl Iterator<Item = &'t [u8]>, hits: &mut [WordHits]) {
        hits.iter_mut().for_each(WordHits::clear);
        // Of a prefix the first word counts that the row has, as InnoDB counts.
        let mut firsts: Vec<Vec<u8>> = vec![Vec::new(); self.prefixes.len()];
        cutter.cut(texts, |word| {
            if let Some(number) = self.by_key.get(word.key) {
                let hit = &mut hits[*number];
                hit.occurrences += u32::from(word.is_indexed);
                hit.places.push(word.place);
            }
            for (number, first) in self.prefixes.iter().zip(&mut firsts) {
                let of = &self.query.words[*number];
                let characters = of.prefix_characters.unwrap_or(0);
                if !word.is_indexed || !starts_with(word.text, &of.text, characters, cutter.collation()) {
                    continue;
                }
                let hit = &mut hits[*number];
                if hit.occurrences == 0 || word.key < &first[..] {
                    first.clear();
                    first.extend_from_slice(word.key);
                    hit.occurrences = 1;
                } else if word.key == &first[..] {
                    hit.occurrences += 1;
                }
            }
        });
    }

    /// The rank of a row that has these hits, one for each word of the query; `None`: it does not match.
    pub fn rank(&self, hits: &[WordHits]) -> Option<f32> {
        let mut shares = Vec::new();
        if !self.matches(&self.query.items, hits, &mut shares) {
            return None;
        }
        let mut has = vec![false; hits.len()];
        let mut rank = 0f32;
        for share in shares {
            match share {
                Share::Fixed(more) => rank += more,
                Share::Word(word) => has[word] = true,
            }
        }
        for word in self.order.iter().filter(|word| has[**word]) {
            let weight = self.weights[*word];
            rank += (f64::from(hits[*word].occurrences) * weight * weight) as f32;
        }
        Some(rank)
    }

    fn matches(&self, items: &[Item], hits: &[WordHits], shares: &mut Vec<Share>) -> bool {
        let start = shares.len();
        let (mut any, mut has_must) = (false, false);
        for item in items {
            let before = shares.len();
            let found = self.node_matches(&item.node, hits, shares);
            match (item.operator, found) {
                (Operator::Must, true) => has_must = true,
                (Operator::Must, false) | (Operator::MustNot, true) => {
                    shares.truncate(start);
                    return false;
                }
                (Operator::MustNot, false) | (_, false) => {}
                (Operator::May, true) => any = true,
                (Operator::Raise, true) => {
                    any = true;
                    shares.push(Share::Fixed(1.0));
                }
                (Operator::Lower, true) => {
                    any = true;
                    shares.push(Share::Fixed(-1.0));
                }
                (Operator::Negate, true) => {
                    any = true;
                    shares.truncate(before);
                }
            }
        }
        any || has_must
    }

    fn node_matches(&self, node: &Node, hits: &[WordHits], shares: &mut Vec<Share>) -> bool {
        match node {
            Node::Word(word) => {
                let found = hits[*word].occurrences > 0;
                if found {
                    shares.push(Share::Word(*word));
                }
                found
            }
            Node::Group(items) => self.matches(items, hits, shares),
            Node::Phrase { words, distance } => {
                let is_there = |word: usize| hits[word].occurrences > 0 || !self.query.words[word].is_indexed;
                let has_indexed = words.iter().any(|(word, _)| self.query.words[*word].is_indexed);
                if !has_indexed || !words.iter().all(|(word, _)| is_there(*word)) {
                    return false;
                }
                let found = match distance {
                    None => follows(words, hits),
                    Some(distance) => lies_within(words, hits, *distance),
                };
                if found {
                    shares
                        .extend(words.iter().filter(|(word, _)| hits[*word].occurrences > 0).map(|(word, _)| Share::Word(*word)));
                }
                found
            }
        }
    }
}

/// Does each word stand in its place behind the first? A word whose places are not known is believed to.
fn follows(words: &[(usize, u32)], hits: &[WordHits]) -> bool {
    let is_known = |word: &&(usize, u32)| !hits[word.0].has_more && !hits[word.0].places.is_empty();
    let Some((first, at)) = words.iter().find(is_known) else { return true };
    hits[*first].places.iter().any(|place| {
        words.iter().filter(is_known).all(|(word, offset)| {
            let wanted = (place + offset).checked_sub(*at);
            wanted.is_some_and(|wanted| hits[*word].places.binary_search(&wanted).is_ok())
        })
    })
}

/// Do all words stand within so many?
fn lies_within(words: &[(usize, u32)], hits: &[WordHits], distance: u32) -> bool {
    let known: Vec<usize> =
        words.iter().map(|(word, _)| *word).filter(|word| !hits[*word].has_more && !hits[*word].places.is_empty()).collect();
    let mut at = vec![0; known.len()];
    loop {
        let places = || known.iter().zip(&at).map(|(word, at)| hits[*word].places[*at]);
        let (Some(low), Some(high)) = (places().min(), places().max()) else { return true };
        if high - low < distance {
            return true;
        }
        // The least is the one that may come nearer.
        let least = places().position(|place| place == low).unwrap_or(0);
        at[least] += 1;
        if at[least] == hits[known[least]].places.len() {
            return false;
        }
    }
}
