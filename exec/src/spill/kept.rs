//! Rows of a result that outlive their statement, each read once, in order: those of a cursor.
//!
//! 1. A row is a record in memory until all of them take more than a bound.
//! 2. Then they go to a tape before the next row is made ([`RowSink::poll_drain`] waits for that).
//! 3. Reading returns the rows of the tape first, then the rows in memory. The space of blocks that were read is released.
//!
//! K1: memory use is at most the bound, the row that reaches it, and a few blocks that are being written.
//! K2: the first row is read only after the last was added.

use super::tape::{Tape, TapeReader};
use crate::pause::{Pause, Step};
use crate::sink::RowSink;
use crate::temporary::{Service, Temporary};
use expr::packed::{self, Packer};
use expr::{Error, Result};
use sql::plan::OutputColumn;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use types::{ColumnType, Value};

/// Bytes of a record's length in memory.
const LENGTH_BYTES: usize = 4;

/// Records, read in the order in which they came.
pub struct KeptRecords {
    service: Arc<Service>,
    memory_bytes_max: usize,
    tape: Option<Tape>,
    reader: TapeReader,
    /// The records after those of the tape, each preceded by its length.
    buffer: Vec<u8>,
    /// The end of the records that have gone to the tape or have been read.
    at: usize,
    /// The span of the current record in memory.
    within: Option<(usize, usize)>,
    left: u64,
}

impl Temporary {
    /// For records of at most this much memory.
    pub fn keep(&self, memory_bytes_max: usize) -> KeptRecords {
        KeptRecords {
            service: Arc::clone(&self.service),
            memory_bytes_max,
            tape: None,
            reader: TapeReader::consuming(),
            buffer: Vec::new(),
            at: 0,
            within: None,
            left: 0,
        }
    }
}

impl KeptRecords {
    /// Adds a record. If it [is full](Self::is_full), it must be [drained](Self::poll_drain) before the next one.
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        let length = u32::try_from(record.len()).map_err(|_| Error::Storage("a row is too large for a cursor".to_owned()))?;
        self.buffer.extend_from_slice(&length.to_le_bytes());
        self.buffer.extend_from_slice(record);
        self.left += 1;
        Ok(())
    }

    pub fn is_full(&self) -> bool {
        self.buffer.len() > self.memory_bytes_max || self.at > 0
    }

    /// The number of unread records.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The memory of the records.
    pub fn memory_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// Moves all records to the tape.
    pub fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        wait(cx, || self.spill())
    }

    fn spill(&mut self) -> Step<()> {
        if self.tape.is_none() {
            self.tape = Some(Tape::new(self.service.open(self.memory_bytes_max)));
        }
        let tape = self.tape.as_mut().expect("made above");
        while self.at < self.buffer.len() {
            tape.settle()?;
            let (start, end) = bounds(&self.buffer, self.at);
            tape.push(&[&self.buffer[start..end]])?;
            self.at = end;
        }
        tape.seal()?;
        self.buffer.clear();
        // Memory for one large record is not kept.
        self.buffer.shrink_to(self.memory_bytes_max.saturating_add(self.memory_bytes_max / 8));
        self.at = 0;
        Ok(())
    }

    /// Moves to the next record, which [`Self::record`] then returns; `false` after the last one.
    pub async fn next(&mut self) -> Result<bool> {
        std::future::poll_fn(|cx| wait(cx, || self.step())).await
    }

    fn step(&mut self) -> Step<bool> {
        self.within = None;
        if let Some(tape) = &mut self.tape
            && self.reader.next(tape)?
        {
            self.left -= 1;
            return Ok(true);
        }
        if self.at >= self.buffer.len() {
            return Ok(false);
        }
        let (start, end) = bounds(&self.buffer, self.at);
        self.at = end;
        self.within = Some((start, end));
        self.left -= 1;
        Ok(true)
    }

    pub fn record(&self) -> &[u8] {
        match self.within {
            Some((start, end)) => &self.buffer[start..end],
            None => self.reader.record(),
        }
    }
}

/// The span of the record whose length is at `at`.
fn bounds(buffer: &[u8], at: usize) -> (usize, usize) {
    let length: [u8; LENGTH_BYTES] = buffer[at..at + LENGTH_BYTES].try_into().expect("so many bytes");
    let start = at + LENGTH_BYTES;
    (start, start + u32::from_le_bytes(length) as usize)
}

/// Runs a step, and waits for the blocks that it needs.
fn wait<T>(cx: &mut Context<'_>, mut step: impl FnMut() -> Step<T>) -> Poll<Result<T>> {
    loop {
        match step() {
            Ok(value) => return Poll::Ready(Ok(value)),
            Err(Pause::Spill(mut block)) => match Pin::new(&mut block).poll(cx) {
                Poll::Ready(()) => {}
                Poll::Pending => return Poll::Pending,
            },
            Err(Pause::Evaluation(expr::Pause::Error(error))) => return Poll::Ready(Err(*error)),
            Err(_) => return Poll::Ready(Err(Error::Storage("a tape waits for something else than a block".to_owned()))),
        }
    }
}

/// The rows of a cursor, as values.
pub struct KeptRows {
    records: KeptRecords,
    row: Vec<Value<'static>>,
    packed: Vec<u8>,
    /// The error for a row that could not be kept.
    failure: Option<Error>,
}

impl KeptRows {
    pub fn new(records: KeptRecords) -> Self {
        Self { records, row: Vec::new(), packed: Vec::new(), failure: None }
    }

    /// Moves to the next row; `false` after the last one.
    pub async fn next(&mut self) -> Result<bool> {
        self.records.next().await
    }

    /// A column of the current row.
    pub fn value(&self, column: usize) -> Value<'_> {
        packed::get(self.records.record(), column)
    }
}

impl RowSink for KeptRows {
    fn start(&mut self, _columns: &[OutputColumn]) {}

    fn begin_row(&mut self) {
        self.row.clear();
    }

    fn value(&mut self, value: &Value<'_>, _ty: &ColumnType) {
        self.row.push(value.clone().into_owned());
    }

    fn end_row(&mut self) {
        self.packed.clear();
        let mut packer = Packer::new(&mut self.packed, self.row.len());
        self.row.iter().for_each(|value| packer.push(value));
        self.failure = self.records.push(&self.packed).err();
    }

    fn cancel_row(&mut self) {
        self.row.clear();
    }

    fn is_full(&self) -> bool {
        self.records.is_full() || self.failure.is_some()
    }

    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        match self.failure.take() {
            Some(error) => Poll::Ready(Err(error)),
            None => self.records.poll_drain(cx),
        }
    }
}
