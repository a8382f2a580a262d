//! A database on the real engine, in a directory of its own, and SQL statements run on it without a server.
#![allow(dead_code, reason = "each test file uses a part of it")]

use exec::{ChangeInfo, DmlDone, ExecContext, Host, NoHost, Prepared, RowSink};
use expr::{Error, SessionVars};
use sql::plan::{BindContext, OutputColumn, Plan};
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use table::Database;
use table::ddl::{NewIndex, NewIndexColumn, NewIndexKind, NewTable};
use txn::{Config, Durability, Engine, Isolation, Txn, Worker};
use types::schema::{ColumnDef, ColumnDefault, Schema, TableDef};
use types::{CollationId, ColumnType, LobSize, SqlMode, TypeKind, Value};

/// Makes a type a host without a server, as [`NoHost`] is, with some methods of its own.
#[allow(unused_macros, reason = "as above")]
macro_rules! host_without_server {
    ($host:ty { $($own:item)* }) => {
        impl expr::Host for $host {
            fn release_lock(&self, connection: u32, name: &str) -> Option<bool> {
                expr::Host::release_lock(&exec::NoHost, connection, name)
            }
            fn release_all_locks(&self, connection: u32) -> u64 {
                expr::Host::release_all_locks(&exec::NoHost, connection)
            }
            fn lock_holder(&self, name: &str) -> Option<u32> {
                expr::Host::lock_holder(&exec::NoHost, name)
            }
        }

        impl exec::Host for $host {
            fn sleep(&self, duration: std::time::Duration) -> exec::LocalFuture<'_, ()> {
                exec::Host::sleep(&exec::NoHost, duration)
            }
            fn get_lock(
                &self,
                connection: u32,
                name: &str,
                timeout: Option<std::time::Duration>,
            ) -> exec::LocalFuture<'_, expr::Result<bool>> {
                exec::Host::get_lock(&exec::NoHost, connection, name, timeout)
            }
            fn virtual_rows(
                &self,
                table: &types::schema::TableDef,
                equal: &[(usize, Vec<u8>)],
            ) -> Option<Box<dyn exec::VirtualRows + '_>> {
                exec::Host::virtual_rows(&exec::NoHost, table, equal)
            }
            $($own)*
        }
    };
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use host_without_server;

/// A data directory with an open database; removed when dropped.
pub struct Fixture {
    directory: PathBuf,
    pub engine: Arc<Engine>,
    pub database: Arc<Database>,
}

impl Fixture {
    pub fn new(workers: usize) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("heddle-exec-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        let config = Config {
            data_dir: directory.clone(),
            buffer_pool_bytes: 64 << 20,
            undo_memory_bytes: 64 << 20,
            recovery_target: txn::RECOVERY_TARGET,
            workers,
            durability: Durability::None,
        };
        let engine = Engine::open(config).expect("the directory is ours");
        let database = Database::open(engine.clone()).expect("a new catalog");
        let worker = engine.spare_worker().expect("a spare worker");
        database.create_database(&worker, "test", CollationId::UTF8MB4_0900_AI_CI).expect("a new database");
        Self { directory, engine, database }
    }

    /// Makes a table: `create("t", "id int not null auto, b varchar(20), primary id, key b, unique b c")`.
    pub fn create(&self, name: &str, definition: &str) {
        let mut columns = Vec::new();
        let mut indexes = Vec::new();
        for item in split_items(definition) {
            let words: Vec<&str> = item.split_whitespace().collect();
            let kind = match words[0] {
                "primary" => NewIndexKind::Primary,
                "unique" => NewIndexKind::Unique,
                "key" => NewIndexKind::Secondary,
                _ => {
                    columns.push(column(&words));
                    continue;
                }
            };
            let part = |name: &&str| NewIndexColumn::whole(*name);
            indexes.push(NewIndex {
                name: String::new(),
                kind,
                columns: words[1..].iter().map(part).collect(),
                comment: String::new(),
                using_btree: false,
                invisible: false,
                generated: false,
                full_text: None,
            });
        }
        let table = NewTable {
            database: "test".into(),
            name: name.into(),
            columns,
            indexes,
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            collation: CollationId::UTF8MB4_0900_AI_CI,
            comment: String::new(),
            auto_increment: None,
            partitioning: None,
        };
        let worker = self.engine.spare_worker().expect("a spare worker");
        self.database.create_table(&worker, table).expect("a valid table");
    }

    /// ANALYZE TABLE
    pub fn analyze(&self, name: &str) {
        let worker = self.engine.spare_worker().expect("a spare worker");
        let def = self.database.schema().table("test", name).cloned().expect("the table exists");
        let table = self.database.table(def.id).expect("the table exists");
        self.database.analyze(&worker, &table).expect("the table can be read");
    }

    pub fn client(&self, worker: usize) -> Client {
        Client {
            database: self.database.clone(),
            worker: self.engine.worker(worker),
            session: SessionVars::new(worker as u32 + 1, "root@localhost", "root@localhost"),
            txn: None,
            isolation: Isolation::RepeatableRead,
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.engine.shutdown();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Splits at commas outside of brackets.
fn split_items(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut items) = (0, 0, Vec::new());
    for (at, b) in text.bytes().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 => {
                items.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(text[start..].trim());
    items
}

fn column(words: &[&str]) -> ColumnDef {
    let (kind, args) = words[1].split_once('(').map_or((words[1], ""), |(k, a)| (k, a.trim_end_matches(')')));
    let number = |n: usize| args.split(',').nth(n).and_then(|a| a.trim().parse::<u32>().ok());
    let fsp = number(0).unwrap_or(0) as u8;
    let members = || args.split(',').map(|m| m.trim_matches('\'').to_string()).collect();
    let kind = match kind {
        "tinyint" => TypeKind::TinyInt,
        "smallint" => TypeKind::SmallInt,
        "int" => TypeKind::Int,
        "bigint" => TypeKind::BigInt,
        "decimal" => TypeKind::Decimal { precision: number(0).unwrap_or(10) as u8, scale: number(1).unwrap_or(0) as u8 },
        "float" => TypeKind::Float,
        "double" => TypeKind::Double,
        "char" => TypeKind::Char { length: number(0).unwrap_or(1) },
        "varchar" => TypeKind::VarChar { length: number(0).expect("VARCHAR has a length") },
        "text" => TypeKind::Text(LobSize::Long),
        "blob" => TypeKind::Blob(LobSize::Long),
        "date" => TypeKind::Date,
        "time" => TypeKind::Time { fsp },
        "datetime" => TypeKind::DateTime { fsp },
        "timestamp" => TypeKind::Timestamp { fsp },
        "year" => TypeKind::Year,
        "enum" => TypeKind::Enum { members: members() },
        "set" => TypeKind::Set { members: members() },
        other => panic!("no type {other}"),
    };
    let has = |word: &str| words.contains(&word);
    let default = words.iter().find_map(|w| w.strip_prefix("default="));
    ColumnDef {
        name: words[0].to_string(),
        ty: ColumnType { unsigned: has("unsigned"), ..ColumnType::new(kind) },
        nullable: !has("not"),
        default: match default {
            None => ColumnDefault::None,
            Some("now") => ColumnDefault::CurrentTimestamp,
            Some(text) => ColumnDefault::Literal(Some(text.to_string())),
        },
        auto_increment: has("auto"),
        on_update_now: has("touch"),
        comment: String::new(),
        invisible: false,
        hidden: false,
        generated: None,
        element: None,
        missing: None,
    }
}

/// One session.
pub struct Client {
    pub database: Arc<Database>,
    pub worker: Worker,
    pub session: SessionVars,
    /// An open transaction; without one every statement is its own.
    pub txn: Option<Txn>,
    pub isolation: Isolation,
}

/// What a statement answered.
#[derive(Debug)]
pub enum Answer {
    Rows(Vec<String>),
    Done(DmlDone),
}

struct Binding<'a> {
    schema: Arc<Schema>,
    session: &'a SessionVars,
    database: &'a Database,
}

impl BindContext for Binding<'_> {
    fn database(&self) -> Option<&str> {
        Some("test")
    }
    fn schema(&self) -> &Schema {
        &self.schema
    }
    fn system_variable(&self, _global: bool, _name: &str) -> Option<(Value<'static>, ColumnType)> {
        None
    }
    fn row_count(&self, table: &TableDef) -> u64 {
        self.database.table(table.id).map_or(0, |t| t.estimated_rows())
    }
    fn statistics(&self, table: &TableDef) -> Option<Arc<types::statistics::TableStatistics>> {
        self.database.table(table.id)?.statistics()
    }
    fn sql_mode(&self) -> SqlMode {
        self.session.sql_mode
    }
    fn connection_collation(&self) -> CollationId {
        self.session.collation
    }
}

impl Client {
    pub fn prepare(&self, text: &str) -> Prepared {
        let arena = sql::Arena::new();
        let binding = Binding { schema: self.database.schema(), session: &self.session, database: &self.database };
        let parsed = sql::parse(&arena, text.as_bytes(), &self.session.sql_mode).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let plan = sql::plan(&parsed, &binding).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        Prepared::new(&self.database, Arc::new(plan)).expect("the tables exist")
    }

    pub fn begin(&mut self) {
        assert!(self.txn.is_none(), "a transaction is open");
        self.txn = Some(self.worker.begin(self.isolation));
    }

    pub fn commit(&mut self) {
        let mut txn = self.txn.take().expect("a transaction is open");
        if let Some(stall) = txn.commit(&self.worker) {
            stall.wait_blocking();
        }
    }

    pub fn rollback(&mut self) {
        let mut txn = self.txn.take().expect("a transaction is open");
        roll_back(&mut txn, &self.worker);
    }

    /// Runs a statement.
    pub fn try_run(&mut self, text: &str, params: &[Value<'_>]) -> Result<Answer, Error> {
        let prepared = self.prepare(text);
        self.session.warnings.borrow_mut().clear();
        self.execute(&prepared, params)
    }

    pub fn execute(&mut self, prepared: &Prepared, params: &[Value<'_>]) -> Result<Answer, Error> {
        self.execute_with(prepared, params, &NoHost)
    }

    pub fn execute_with(&mut self, prepared: &Prepared, params: &[Value<'_>], host: &dyn Host) -> Result<Answer, Error> {
        let single = self.txn.is_none();
        let mut txn = self.txn.take().unwrap_or_else(|| self.worker.begin(self.isolation));
        txn.begin_statement(&self.worker);
        let result = {
            let mut cx = ExecContext {
                worker: &self.worker,
                txn: &mut txn,
                database: &self.database,
                session: &mut self.session,
                params,
                host,
            };
            match &**prepared.plan() {
                Plan::Query(_) => {
                    let mut sink = TextSink::default();
                    block_on(exec::run_query(&mut cx, prepared, &mut sink)).map(|_| Answer::Rows(sink.rows))
                }
                _ => block_on(exec::run_dml(&mut cx, prepared)).map(Answer::Done),
            }
        };
        if matches!(result, Err(Error::Deadlock)) || single && result.is_err() {
            roll_back(&mut txn, &self.worker);
        } else if single {
            if let Some(stall) = txn.commit(&self.worker) {
                stall.wait_blocking();
            }
        } else {
            self.txn = Some(txn);
        }
        self.worker.tick();
        result
    }

    /// Runs a query for what its operators do.
    pub fn measure(&mut self, prepared: &Prepared) -> sql::explain::Measures {
        self.measure_with(prepared, &NoHost)
    }

    pub fn measure_with(&mut self, prepared: &Prepared, host: &dyn Host) -> sql::explain::Measures {
        let mut txn = self.worker.begin(self.isolation);
        txn.begin_statement(&self.worker);
        let (worker, database, session) = (&self.worker, &self.database, &mut self.session);
        let mut cx = ExecContext { worker, txn: &mut txn, database, session, params: &[], host };
        let measures = block_on(exec::measure(&mut cx, prepared)).expect("the query can be run");
        roll_back(&mut txn, &self.worker);
        self.worker.tick();
        measures
    }

    /// Runs a statement that succeeds: rows joined by `;`, values by `,`; or `affected[ info]`.
    pub fn run(&mut self, text: &str) -> String {
        match self.try_run(text, &[]) {
            Ok(answer) => answer.show(),
            Err(error) => panic!("{text}: {error:?}"),
        }
    }

    pub fn check(&mut self, text: &str, expected: &str) {
        assert_eq!(self.run(text), expected, "{text}");
    }

    /// Runs a statement that fails.
    pub fn fail(&mut self, text: &str) -> Error {
        match self.try_run(text, &[]) {
            Ok(answer) => panic!("{text} gave {answer:?}"),
            Err(error) => error,
        }
    }

    /// The warnings of the last statement.
    pub fn warnings(&self) -> Vec<Error> {
        self.session.warnings.borrow().list().iter().map(|w| w.error.clone()).collect()
    }
}

impl Answer {
    pub fn show(&self) -> String {
        match self {
            Answer::Rows(rows) => rows.join(";"),
            Answer::Done(done) if done.info == ChangeInfo::None => done.affected.to_string(),
            Answer::Done(done) => format!("{} {}", done.affected, done.info),
        }
    }
}

fn roll_back(txn: &mut Txn, worker: &Worker) {
    loop {
        match txn.rollback(worker) {
            Ok(()) => return,
            Err(txn::Interrupt::Stall(stall)) => stall.wait_blocking(),
            Err(txn::Interrupt::Error(error)) => panic!("{error:?}"),
        }
    }
}

/// Rows as text: values joined by commas.
#[derive(Default)]
pub struct TextSink {
    pub rows: Vec<String>,
    row: String,
}

impl RowSink for TextSink {
    fn start(&mut self, _columns: &[OutputColumn]) {}
    fn begin_row(&mut self) {
        self.row.clear();
    }
    fn value(&mut self, value: &Value<'_>, ty: &ColumnType) {
        if !self.row.is_empty() {
            self.row.push(',');
        }
        if value.is_null() {
            self.row.push_str("NULL");
            return;
        }
        let mut text = Vec::new();
        types::convert::write_text(value, ty, &mut text);
        self.row.push_str(&String::from_utf8_lossy(&text));
    }
    fn end_row(&mut self) {
        self.rows.push(self.row.clone());
    }
    fn cancel_row(&mut self) {
        self.row.clear();
    }
    fn is_full(&self) -> bool {
        false
    }
    fn poll_drain(&mut self, _cx: &mut Context<'_>) -> Poll<expr::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
