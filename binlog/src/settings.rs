//! The settings of the binary log, as the server's variables have them.

use crate::row::RowImage;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub server_id: u32,
    /// `binlog_row_image` of the server.
    pub image: RowImage,
    /// `binlog_row_metadata`
    pub full_metadata: bool,
    /// `binlog_checksum`; a file keeps the one that it began with.
    pub has_checksum: bool,
    /// `max_binlog_size`
    pub file_bytes_max: u64,
    /// `binlog_row_event_max_size`
    pub event_bytes_max: usize,
    /// `binlog_expire_logs_seconds`; 0: files are kept.
    pub expire_seconds: u64,
    /// `binlog_transaction_dependency_history_size`
    pub history_max: usize,
    /// As FORMAT_DESCRIPTION has it.
    pub version: String,
    /// 80400 and the like.
    pub version_number: u32,
    /// `sql_mode` and others of BEGIN.
    pub server_collation: u16,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            server_id: 1,
            image: RowImage::Full,
            full_metadata: true,
            has_checksum: true,
            file_bytes_max: 1 << 30,
            event_bytes_max: 8192,
            expire_seconds: 2_592_000,
            history_max: 25_000,
            version: "8.4.0".to_owned(),
            version_number: 80_400,
            server_collation: 255,
        }
    }
}
