//! Keeps rows, encoded as packets, until COM_STMT_FETCH requests them.

use exec::{KeptRecords, RowSink};
use protocol::{PacketWriter, RowEncoder, RowFormat};
use sql::plan::OutputColumn;
use std::task::{Context, Poll};
use types::{ColumnType, Value};

/// Keeps encoded rows for COM_STMT_FETCH.
pub struct CursorSink<'a> {
    writer: PacketWriter,
    encoder: RowEncoder,
    rows: &'a mut KeptRecords,
    /// The packet of the row without its header.
    payload: Vec<u8>,
    /// The error of a row that could not be kept.
    failure: Option<expr::Error>,
}

impl<'a> CursorSink<'a> {
    pub fn new(columns: usize, rows: &'a mut KeptRecords) -> Self {
        let encoder = RowEncoder::new(RowFormat::Binary, columns);
        Self { writer: PacketWriter::new(), encoder, rows, payload: Vec::new(), failure: None }
    }
}

impl RowSink for CursorSink<'_> {
    fn start(&mut self, _columns: &[OutputColumn]) {}

    fn begin_row(&mut self) {
        self.writer.clear();
        self.encoder.begin(&mut self.writer);
    }

    fn value(&mut self, value: &Value<'_>, ty: &ColumnType) {
        self.encoder.value(&mut self.writer, value, ty);
    }

    fn end_row(&mut self) {
        self.encoder.end(&mut self.writer);
        unframe(self.writer.bytes(), &mut self.payload);
        self.failure = self.rows.push(&self.payload).err();
    }

    fn cancel_row(&mut self) {
        self.encoder.cancel(&mut self.writer);
    }

    fn is_full(&self) -> bool {
        self.rows.is_full() || self.failure.is_some()
    }

    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<expr::Result<()>> {
        match self.failure.take() {
            Some(error) => Poll::Ready(Err(error)),
            None => self.rows.poll_drain(cx),
        }
    }
}

/// The payload of the frames of one packet.
fn unframe(mut frames: &[u8], payload: &mut Vec<u8>) {
    payload.clear();
    while let Some((&[a, b, c, _], rest)) = frames.split_first_chunk::<{ protocol::HEADER_BYTES }>() {
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        payload.extend_from_slice(&rest[..length]);
        frames = &rest[length..];
    }
}
