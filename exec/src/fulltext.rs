//! Carries out full-text searches: reads the entries of the query's words, and ranks the rows that have them.
//!
//! 1. For each word of the query, its entries are read from the index: the rows that have it, how often, and where.
//! 2. The hits are sorted by row. Each row that matches gets its rank.
//! 3. WITH QUERY EXPANSION, the words of the best rows join the query, and both steps are repeated.
//!
//! F1: a search sees what its statement sees: the snapshot's entries and the transaction's own, or the latest versions for a statement that
//!     locks or changes rows. MySQL searches what was committed.
//! F2: the memory of the hits is charged to the statement. A KILL ends the search between two batches of entries.
//! F3: where the entries do not tell all (stop words in phrases, rows that changed after the snapshot was taken), the texts of the rows are
//!     read that they found. So the ranks of a search of a snapshot are those of its rows.

use crate::pause::{Pause, engine_error};
use crate::run::Run;
use crate::wait;
use conditions::Condition;
use expr::search::{Asked, FoundRows, Search, SearchMode};
use expr::{Error, Result};
use std::ops::Range;
use table::{RowBuf, RowRead, Table, WordScan};
use txn::ReadMode;
use types::fulltext::{Mode, Query, Ranker, Statistics, WordCutter, WordHits, decode_places};
use types::{Value, collation};

/// The rows whose words expand a query: ft_query_expansion_limit.
const EXPANSION_ROWS: usize = 20;

/// A word of the query in a row.
struct Hit {
    /// In the arena of keys.
    key: Range<usize>,
    word: usize,
    occurrences: u32,
    /// In the list of places.
    places: Range<usize>,
}

#[derive(Default)]
struct Hits {
    keys: Vec<u8>,
    places: Vec<u32>,
    hits: Vec<Hit>,
}

impl Hits {
    fn bytes(&self) -> usize {
        self.keys.capacity() + 4 * self.places.capacity() + size_of::<Hit>() * self.hits.capacity()
    }
}

impl<'a> Run<'a> {
    /// Carries out the search that evaluation asks for.
    pub async fn search(&mut self) -> Result<()> {
        let Some(asked) = self.shared.rare().searches.take_wanted() else { return Ok(()) };
        let table = self.sources.iter().find_map(|source| source.table.filter(|table| table.id().0 == asked.table));
        let cutter = table.and_then(|table| table.word_cutter(asked.index));
        let (Some(table), Some(cutter)) = (table, cutter) else {
            return Err(Error::NotSupported("MATCH ... AGAINST of a table that the statement does not read".into()));
        };
        let mode = if asked.mode == SearchMode::Boolean { Mode::Boolean } else { Mode::Natural };
        let query = Query::parse(&asked.text, mode, cutter)
            .map_err(|error| Error::from(Condition::FullTextSyntax { what: error.0.into() }))?;
        let mut held = 0;
        let searched = self.search_for(table, cutter, &asked, query, &mut held).await;
        self.release(held);
        let (ranker, found) = searched?;
        let bytes = found.keys.len() + found.len() * (size_of::<usize>() + 8);
        self.take(bytes).await?;
        self.shared.rare().searches.keep(Search { asked, cutter: cutter.clone(), ranker, found });
        self.shared.restart_row();
        self.clock.resumed();
        Ok(())
    }

    /// `held`: the memory that is charged meanwhile.
    async fn search_for(
        &mut self,
        table: &'a Table,
        cutter: &WordCutter,
        asked: &Asked,
        query: Query,
        held: &mut usize,
    ) -> Result<(Ranker, FoundRows)> {
        let (ranker, found) = self.search_once(table, asked, query, held).await?;
        if asked.mode != SearchMode::Expansion || found.is_empty() {
            return Ok((ranker, found));
        }
        let mut query = ranker.query().clone();
        let mut row = RowBuf::new();
        for number in found.order.iter().take(EXPANSION_ROWS) {
            row.set_key(found.key(*number as usize));
            let Some(texts) = self.texts_of(table, asked, &mut row).await? else { continue };
            cutter.cut(texts.iter().map(|text| &**text), |word| query.expand(word));
        }
        self.search_once(table, asked, query, held).await
    }

    async fn search_once(
        &mut self,
        table: &'a Table,
        asked: &Asked,
        query: Query,
        held: &mut usize,
    ) -> Result<(Ranker, FoundRows)> {
        let mut hits = Hits::default();
        let mut statistics = Statistics { rows: table.estimated_rows(), entries: Vec::new() };
        for word in 0..query.words().len() {
            let entries = self.read_word(table, asked, &query, word, &mut hits, held).await?;
            statistics.entries.push(entries);
        }
        // Where a word starts like several of one row, the first counts: they come in the order of the words.
        let keys = &hits.keys;
        hits.hits.sort_by(|a, b| keys[a.key.clone()].cmp(&keys[b.key.clone()]).then(a.word.cmp(&b.word)));
        hits.hits.dedup_by(|next, first| next.word == first.word && keys[next.key.clone()] == keys[first.key.clone()]);
        let collation = table.word_cutter(asked.index).map(WordCutter::collation);
        let starts_are_whole = collation.is_none_or(collation::has_one_level);
        let has_starts = query.words().iter().any(|word| word.prefix_characters.is_some());
        // F3
        let needs_texts = query.needs_texts() || has_starts && !starts_are_whole || self.txn.has_changed_unseen();
        let ranker = Ranker::new(query, &statistics);
        let mut found = FoundRows { is_exact: !asked.latest, ..FoundRows::default() };
        let mut of_words = vec![WordHits::default(); ranker.query().words().len()];
        for same in hits.hits.chunk_by(|a, b| keys[a.key.clone()] == keys[b.key.clone()]) {
            for hit in same {
                let of_word = &mut of_words[hit.word];
                of_word.occurrences = hit.occurrences;
                of_word.places.extend_from_slice(&hits.places[hit.places.clone()]);
                of_word.has_more = of_word.places.len() < hit.occurrences as usize;
            }
            if let Some(rank) = ranker.rank(&of_words) {
                found.keys.extend_from_slice(&keys[same[0].key.clone()]);
                found.ends.push(found.keys.len());
                found.ranks.push(rank);
            }
            same.iter().for_each(|hit| of_words[hit.word].clear());
            self.pause_for_others().await?;
        }
        if needs_texts && !asked.latest {
            found = self.look_at_texts(table, asked, &ranker, found).await?;
        }
        let ranks = &found.ranks;
        found.order = (0..ranks.len() as u32).collect();
        found.order.sort_by(|a, b| ranks[*b as usize].total_cmp(&ranks[*a as usize]));
        Ok((ranker, found))
    }

    /// F3: ranks the found rows by their texts; those that do not match go.
    async fn look_at_texts(&mut self, table: &'a Table, asked: &Asked, ranker: &Ranker, found: FoundRows) -> Result<FoundRows> {
        let mut sure = FoundRows { is_exact: found.is_exact, ..FoundRows::default() };
        let mut row = RowBuf::new();
        let Some(cutter) = table.word_cutter(asked.index) else { return Ok(found) };
        for number in 0..found.len() {
            row.set_key(found.key(number));
            let Some(texts) = self.texts_of(table, asked, &mut row).await? else { continue };
            if let Some(rank) = ranker.rank_texts(cutter, texts.iter().map(|text| &**text)) {
                sure.keys.extend_from_slice(found.key(number));
                sure.ends.push(sure.keys.len());
                sure.ranks.push(rank);
            }
            self.pause_for_others().await?;
        }
        Ok(sure)
    }

    /// The texts of a row with this key, in the order of the index; `None`: it is gone.
    async fn texts_of(&mut self, table: &'a Table, asked: &Asked, row: &mut RowBuf) -> Result<Option<Vec<Vec<u8>>>> {
        let how = if asked.latest { RowRead::Latest } else { RowRead::Snapshot };
        if !self.answer(|run| table.reread(run.worker, run.txn, how, row)).await? {
            return Ok(None);
        }
        if table.has_externals(row) {
            let wanted = vec![true; table.def().columns.len()];
            if !self.answer(|run| table.load_externals(run.worker, run.txn, how, &wanted, row)).await? {
                return Ok(None);
            }
        }
        let stored = row.row(table);
        let parts = table.def().indexes[asked.index].columns.iter();
        let texts = parts.map(|part| match stored.get(part.column) {
            Ok(Value::Bytes(text)) => text.into_owned(),
            _ => Vec::new(),
        });
        Ok(Some(texts.collect()))
    }

    /// Reads the entries of a word; gives their number.
    async fn read_word(
        &mut self,
        table: &'a Table,
        asked: &Asked,
        query: &Query,
        number: usize,
        hits: &mut Hits,
        held: &mut usize,
    ) -> Result<u64> {
        let word = &query.words()[number];
        if !word.is_indexed {
            return Ok(0);
        }
        let mut from = word.key.clone();
        if word.prefix_characters.is_some() {
            from.clear();
            let collation = table.word_cutter(asked.index).map_or(types::CollationId::BINARY, WordCutter::collation);
            collation::sort_key_start(&word.text, collation, &mut from);
        }
        let mode = if asked.latest { ReadMode::Latest } else { ReadMode::Snapshot };
        let mut scan = WordScan::new(table, asked.index, &from, mode);
        let (mut entries, needs_places) = (0, query.needs_places());
        while self.answer(|run| scan.fill(table, run.worker, run.txn)).await? {
            let before = hits.bytes();
            while let Some(entry) = scan.next(table).map_err(interrupted)? {
                entries += 1;
                let (key, places) = (hits.keys.len(), hits.places.len());
                hits.keys.extend_from_slice(entry.row);
                let list = needs_places.then_some(&mut hits.places);
                let damaged = || Error::Storage("an entry of a full-text index is damaged".to_owned());
                let occurrences = decode_places(entry.places, list).ok_or_else(damaged)?;
                let (key, places) = (key..hits.keys.len(), places..hits.places.len());
                hits.hits.push(Hit { key, word: number, occurrences, places });
            }
            let more = hits.bytes() - before;
            *held += more;
            self.take(more).await?;
            self.pause_for_others().await?;
        }
        Ok(entries)
    }

    /// Charges memory.
    async fn take(&mut self, bytes: usize) -> Result<()> {
        match self.charge(bytes) {
            Ok(()) => Ok(()),
            Err(pause) => wait::resolve(pause, &self.shared, &mut self.clock).await,
        }
    }

    /// Lets others run where this has taken long.
    async fn pause_for_others(&mut self) -> Result<()> {
        match self.pass() {
            Ok(()) => Ok(()),
            Err(pause) => wait::resolve(pause, &self.shared, &mut self.clock).await,
        }
    }

    /// Calls an engine operation until it answers.
    async fn answer<T>(&mut self, mut call: impl FnMut(&mut Self) -> txn::Result<T>) -> Result<T> {
        loop {
            match call(self) {
                Ok(answer) => return Ok(answer),
                Err(txn::Interrupt::Stall(stall)) => {
                    wait::resolve(Pause::Stall(stall), &self.shared, &mut self.clock).await?;
                }
                Err(txn::Interrupt::Error(error)) => return Err(engine_error(error)),
            }
        }
    }
}

fn interrupted(interrupt: txn::Interrupt) -> Error {
    match interrupt {
        txn::Interrupt::Error(error) => engine_error(error),
        txn::Interrupt::Stall(_) => Error::Storage("a loaded entry waits".to_owned()),
    }
}
