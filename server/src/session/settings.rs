//! The system variables that statements read, as typed fields. They are recomputed when a variable of the session is
//! set.

use crate::variables::{self, SessionVariables, Setting, VariableId, known};
use sql::charsets;
use sql::plan::Switches;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;
use std::time::Duration;
use types::charset::Charset;
use types::{CollationId, SqlMode};

macro_rules! ids {
    ($($name:ident),* $(,)?) => {
        /// The identities of the variables that the code reads.
        pub struct Ids {
            $(pub $name: VariableId,)*
        }

        pub static IDS: LazyLock<Ids> = LazyLock::new(|| Ids { $($name: known(stringify!($name)),)* });
    };
}

ids! {
    auto_increment_increment, auto_increment_offset, autocommit, block_encryption_mode, character_set_client, character_set_connection,
    character_set_database, foreign_key_checks, character_set_results, collation_connection, collation_database,
    collation_server, completion_type, cte_max_recursion_depth, default_week_format, div_precision_increment, error_count, event_scheduler, group_concat_max_len,
    heddle_statement_memory, heddle_temporary_space_max, hostname, lc_time_names, min_examined_row_limit, min_parallel_rows, sql_log_off,
    gtid_executed, gtid_next, gtid_purged, identity, innodb_buffer_pool_size, innodb_ft_enable_stopword, innodb_lock_wait_timeout, max_sp_recursion_depth, insert_id, interactive_timeout, last_insert_id, local_infile, lock_wait_timeout, long_query_time,
    max_allowed_packet, max_error_count, max_execution_time, max_parallel_workers, max_prepared_stmt_count, net_read_timeout, net_write_timeout, optimizer_switch, performance_schema_digests_size, pseudo_thread_id,
    rand_seed1, rand_seed2, session_track_schema, session_track_state_change,
    session_track_system_variables, sql_log_bin, sql_mode,
    max_join_size, sql_auto_is_null, sql_big_selects, sql_notes, sql_safe_updates, sql_select_limit, time_zone, timestamp, tmp_table_size, transaction_isolation, transaction_read_only, undo_retention,
    wait_timeout, warning_count,
}

/// The current values.
#[derive(Clone, Debug)]
pub struct Settings {
    pub autocommit: bool,
    pub isolation: txn::Isolation,
    pub read_only: bool,
    pub row_lock_wait: Duration,
    pub metadata_lock_wait: Duration,
    pub wait_timeout: Duration,
    pub write_timeout: Duration,
    pub mode: SqlMode,
    /// `None`: character_set_results = NULL.
    pub results: Option<CollationId>,
    /// The encoding of the client's text and of results, if it is not UTF-8.
    /// The sets of the client's texts and of its results, if their bytes are not UTF-8.
    pub client: Option<Charset>,
    pub results_charset: Option<Charset>,
    pub connection_collation: CollationId,
    pub server_collation: CollationId,
    pub sql_notes: bool,
    pub safe_updates: bool,
    pub auto_is_null: bool,
    /// innodb_ft_enable_stopword: new full-text indexes leave stop words out.
    pub stop_words: bool,
    /// The maximum estimated number of rows that a join may read (max_join_size, sql_big_selects).
    pub join_rows_max: f64,
    pub switches: Switches,
    pub packet_bytes_max: usize,
    /// The maximum memory for the rows of a cursor, in bytes.
    pub cursor_bytes_max: usize,
    pub track_schema: bool,
    pub track_state: bool,
    /// Lower-case names; `*` is all.
    pub tracked_variables: Vec<String>,
    /// Distinguishes plans of the same text under different settings.
    pub bind_key: u64,
}

/// The settings that a stored program keeps from its definition.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSettings {
    pub mode: SqlMode,
    pub connection_collation: CollationId,
    /// See [`Settings::bind_key`].
    pub bind_key: u64,
}

pub const ISOLATION_LEVELS: [txn::Isolation; 4] = [
    txn::Isolation::ReadUncommitted,
    txn::Isolation::ReadCommitted,
    txn::Isolation::RepeatableRead,
    txn::Isolation::Serializable,
];

impl Settings {
    pub fn new(variables: &SessionVariables, database: Option<&str>) -> Self {
        let ids = &*IDS;
        let number = |id| variables.get(id).as_u64();
        let on = |id| variables.get(id).as_u64() != 0;
        let seconds = |id| Duration::from_secs(number(id));
        let connection_collation = collation_of(variables.get(ids.collation_connection));
        let own = |id| Charset::named(variables.get(id).as_text()).filter(|charset| charset.has_own_bytes());
        let client = own(ids.character_set_client);
        let mut settings = Self {
            autocommit: on(ids.autocommit),
            isolation: ISOLATION_LEVELS[number(ids.transaction_isolation) as usize & 3],
            read_only: on(ids.transaction_read_only),
            row_lock_wait: seconds(ids.innodb_lock_wait_timeout),
            metadata_lock_wait: seconds(ids.lock_wait_timeout),
            wait_timeout: seconds(ids.wait_timeout),
            write_timeout: seconds(ids.net_write_timeout),
            mode: SqlMode { client: client.unwrap_or(Charset::Utf8mb4), ..variables::bits_to_mode(number(ids.sql_mode)) },
            results: match variables.get(ids.character_set_results) {
                Setting::Text(name) => charsets::charset(name).map(|set| CollationId(charsets::default_collation(set).id)),
                _ => None,
            },
            client,
            results_charset: own(ids.character_set_results),
            connection_collation,
            server_collation: collation_of(variables.get(ids.collation_server)),
            sql_notes: on(ids.sql_notes),
            safe_updates: on(ids.sql_safe_updates),
            auto_is_null: on(ids.sql_auto_is_null),
            stop_words: on(ids.innodb_ft_enable_stopword),
            join_rows_max: if on(ids.sql_big_selects) { f64::INFINITY } else { number(ids.max_join_size) as f64 },
            switches: variables::optimizer_switch::switches(variables.get(ids.optimizer_switch).as_text()),
            packet_bytes_max: number(ids.max_allowed_packet) as usize,
            cursor_bytes_max: number(ids.tmp_table_size).min(number(ids.heddle_statement_memory)) as usize,
            track_schema: on(ids.session_track_schema),
            track_state: on(ids.session_track_state_change),
            tracked_variables: variables
                .get(ids.session_track_system_variables)
                .as_text()
                .split(',')
                .map(|name| name.trim().to_ascii_lowercase())
                .filter(|name| !name.is_empty())
                .collect(),
            bind_key: 0,
        };
        settings.bind_key = settings.key(variables, database);
        settings
    }

    /// The settings that a stored program keeps from its definition.
    pub fn of_program(&self) -> ProgramSettings {
        let Self { mode, connection_collation, bind_key, .. } = *self;
        ProgramSettings { mode, connection_collation, bind_key }
    }

    /// Exchanges the settings that a stored program keeps from its definition.
    pub fn set_program(&mut self, own: ProgramSettings) {
        let ProgramSettings { mode, connection_collation, bind_key } = own;
        (self.mode, self.connection_collation, self.bind_key) = (mode, connection_collation, bind_key);
    }

    /// Hashes everything that binding reads of the session, except the schema.
    fn key(&self, variables: &SessionVariables, database: Option<&str>) -> u64 {
        let mut hasher = BuildHasherDefault::<DefaultHasher>::new().build_hasher();
        database.hash(&mut hasher);
        variables.get(IDS.sql_mode).as_u64().hash(&mut hasher);
        variables.get(IDS.div_precision_increment).as_u64().hash(&mut hasher);
        variables.get(IDS.group_concat_max_len).as_u64().hash(&mut hasher);
        self.mode.client.hash(&mut hasher);
        self.connection_collation.hash(&mut hasher);
        self.safe_updates.hash(&mut hasher);
        self.auto_is_null.hash(&mut hasher);
        variables.get(IDS.lc_time_names).as_u64().hash(&mut hasher);
        variables.get(IDS.optimizer_switch).as_text().hash(&mut hasher);
        hasher.finish()
    }
}

fn collation_of(setting: &Setting) -> CollationId {
    charsets::collation(setting.as_text()).map_or(CollationId::UTF8MB4_0900_AI_CI, |collation| CollationId(collation.id))
}

/// Copies the settings that execution reads into execution's session state.
pub fn apply(variables: &SessionVariables, settings: &Settings, vars: &mut expr::SessionVars) {
    let ids = &*IDS;
    let number = |id| variables.get(id).as_u64();
    vars.sql_mode = settings.mode;
    vars.collation = settings.connection_collation;
    vars.foreign_key_checks = number(ids.foreign_key_checks) != 0;
    vars.group_concat_bytes_max = number(ids.group_concat_max_len) as usize;
    vars.sort_memory_bytes_max = usize::try_from(number(ids.heddle_statement_memory)).unwrap_or(usize::MAX);
    vars.packet_bytes_max = settings.packet_bytes_max;
    vars.div_precision_increment = number(ids.div_precision_increment) as u8;
    vars.auto_increment_increment = number(ids.auto_increment_increment);
    vars.auto_increment_offset = number(ids.auto_increment_offset);
    vars.select_limit = number(ids.sql_select_limit);
    vars.parallel_workers_max = number(ids.max_parallel_workers) as usize;
    vars.parallel_rows_min = number(ids.min_parallel_rows);
    vars.recursion_depth_max = number(ids.cte_max_recursion_depth);
    vars.execution_time_max = Duration::from_millis(number(ids.max_execution_time));
    let modes = variables::block_encryption_modes();
    let mode = modes.get(number(ids.block_encryption_mode) as usize).and_then(|name| expr::BlockEncryption::parse(name));
    vars.block_encryption = mode.unwrap_or_default();
    vars.time_names = expr::TimeNames::of(number(ids.lc_time_names) as usize);
    vars.week_format = number(ids.default_week_format) as u8;
    vars.warnings.borrow_mut().kept_max = number(ids.max_error_count) as usize;
}
