//! One server in a replay: its connections, and the answers of statements.

use crate::script::Step;
use crate::words::statement_of;
use mysql::consts::ColumnType;
use mysql::prelude::Queryable;
use mysql::{Conn, Value};
use std::collections::HashMap;
use std::time::Duration;
use tests::Address;

/// No statement of these tests takes longer, except statements that wait for others.
const PATIENCE: Duration = Duration::from_secs(15);
/// Rows that are compared of one answer.
const ROWS_MAX: usize = 5_000;

/// Errors that name an absent feature: a kind of statement or function, a character set, a collation, an engine, a foreign key to a key
/// that is not unique.
const NOT_THERE: [u16; 5] = [1235, 1115, 1273, 1286, 6125];
/// Warnings of deprecated forms, which Heddle does not give (docs/COMPATIBILITY.md).
const DEPRECATIONS: [&str; 5] = ["1287", "1681", "4095", "3719", "3778"];

/// How a statement ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// 0: none.
    pub error: u16,
    pub message: String,
    pub rows: Vec<String>,
    /// It has a result set.
    pub rows_came: bool,
}

impl Outcome {
    /// Is it the same as a judge's? Rows count where they can be `compared` and there is no error, in their order where that is asked for.
    pub fn same(&self, other: &Self, compared: bool) -> bool {
        self.error == other.error && (!compared || self.error != 0 || self.rows == other.rows)
    }

    pub fn has_null(&self) -> bool {
        self.rows.iter().any(|row| row.split(',').any(|value| value == "NULL"))
    }

    /// Has it the same rows in another order?
    pub fn has_other_order(&self, other: &Self) -> bool {
        let sorted = |outcome: &Self| {
            let mut rows = outcome.rows.clone();
            rows.sort_unstable();
            rows
        };
        sorted(self) == sorted(other)
    }

    /// The feature that Heddle says it does not have, by error number and name.
    pub fn feature_not_there(&self) -> Option<String> {
        const SERVERS_OWN: u16 = 1044;
        if self.error == SERVERS_OWN && ["'mysql'", "'performance_schema'"].iter().any(|name| self.message.ends_with(name)) {
            return Some(format!("{} changes of the server's own tables", self.error));
        }
        if self.message.contains("'restrict_fk_on_non_standard_key'") {
            return Some(format!("{} restrict_fk_on_non_standard_key", self.error));
        }
        let end = self.message.rfind('\'').filter(|end| self.message.find('\'') != Some(*end));
        let quoted =
            end.and_then(|end| self.message[..end].split_once("doesn't yet support '").or(self.message[..end].split_once('\'')));
        NOT_THERE.contains(&self.error).then(|| format!("{} {}", self.error, quoted.map_or(&*self.message, |(_, name)| name)))
    }

    /// Leaves out what two servers need not answer alike. `sql` is in lower case and begins with its first word.
    pub fn make_comparable(&mut self, sql: &str) {
        const OF_LISTS: [&str; 3] = ["group_concat(", "json_arrayagg(", "json_objectagg("];
        // The account of the tests is root, from here.
        self.rows.iter_mut().for_each(|row| *row = row.replace("127.0.0.1", "localhost"));
        if sql.starts_with("show create") {
            return self.without_defaults();
        }
        if sql.starts_with("show grants") {
            // Which dynamic privileges there are differs between versions.
            self.rows.retain(|row| !row.starts_with("GRANT ALLOW_NONEXISTENT_DEFINER,"));
        }
        if sql.starts_with("show") {
            return self.without_deprecations();
        }
        let has_order = sql.contains("order by");
        if (sql.contains("limit") && !has_order)
            || ["over ()", "over()", "over (rows", "any_value("].iter().any(|part| sql.contains(part))
        {
            self.only_count();
        } else if !has_order && OF_LISTS.iter().any(|name| sql.contains(name)) {
            self.without_order_inside();
        } else if ["distinct", "group by", "union", "intersect", "except"].iter().any(|word| sql.contains(word)) {
            // Which of equal texts stands for all of them is open.
            self.rows.iter_mut().for_each(|row| *row = row.to_lowercase());
        }
    }

    /// The members of lists that have no order stand sorted.
    fn without_order_inside(&mut self) {
        for row in &mut self.rows {
            let mut members: Vec<&str> = row.split([',', ' ', '[', ']']).collect();
            members.sort_unstable();
            *row = members.join(",");
        }
        self.rows.sort_unstable();
    }

    /// Is it what EXPLAIN answers?
    pub fn is_plan(&self) -> bool {
        let begins = |row: &String| {
            row.starts_with("-> ") || row.starts_with("{\n") || row.contains("SIMPLE,") || row.contains("PRIMARY,")
        };
        self.rows.iter().any(begins)
    }

    /// Rows of LIMIT without an order may be any.
    fn only_count(&mut self) {
        self.rows.iter_mut().for_each(String::clear);
    }

    /// In SHOW CREATE, a collation that is its character set's default, and a set that is the table's, may stand or not.
    fn without_defaults(&mut self) {
        const DEFAULTS: [(&str, &str); 5] = [
            ("utf8mb4", "utf8mb4_0900_ai_ci"),
            ("utf8mb3", "utf8mb3_general_ci"),
            ("latin1", "latin1_swedish_ci"),
            ("ascii", "ascii_general_ci"),
            ("utf16", "utf16_general_ci"),
        ];
        for row in &mut self.rows {
            // Engines are one.
            for engine in ["MEMORY", "MyISAM", "CSV", "MRG_MyISAM", "ARCHIVE", "BLACKHOLE"] {
                *row = row.replace(&format!("ENGINE={engine}"), "ENGINE=InnoDB");
            }
            *row = row.replace(" USING HASH", "");
            for (set, collation) in DEFAULTS {
                *row = row.replace(&format!(" CHARACTER SET {set} COLLATE {collation}"), &format!(" CHARACTER SET {set}"));
                if row.contains(&format!("DEFAULT CHARSET={set}")) {
                    *row = row.replace(&format!(" CHARACTER SET {set}"), "");
                }
            }
        }
    }

    /// Removes these rows from the result of SHOW WARNINGS.
    fn without_deprecations(&mut self) {
        self.rows.retain(|row| !DEPRECATIONS.iter().any(|code| row.starts_with(&format!("Warning,{code},"))));
    }
}

/// The global variables of a server before any test.
pub struct Globals(HashMap<String, String>);

impl Globals {
    pub fn of(address: &Address) -> Result<Self, String> {
        let mut conn = address.connect().map_err(|e| format!("{}: {e}", address.port))?;
        let all = conn.query::<(String, String), _>("SHOW GLOBAL VARIABLES").map_err(|e| e.to_string())?;
        Ok(Self(all.into_iter().collect()))
    }

    /// Resets the variables that a test has set.
    pub fn put_back(&self, address: &Address) -> Result<(), String> {
        let now = Self::of(address)?;
        let mut conn = address.connect().map_err(|e| format!("{}: {e}", address.port))?;
        for (name, value) in self.0.iter().filter(|(name, value)| now.0.get(*name) != Some(*value)) {
            let quoted = format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"));
            // A number is refused in quotes, and a text without; what only tells of the server's state is refused in both.
            let _ = conn
                .query_drop(format!("SET GLOBAL {name} = {quoted}"))
                .or_else(|_| conn.query_drop(format!("SET GLOBAL {name} = {value}")));
        }
        Ok(())
    }
}

pub struct Side {
    address: Address,
    connections: HashMap<String, Conn>,
    now: String,
}

const DATABASE: &str = "test";

impl Side {
    /// Makes the server as the framework hands it to a test.
    pub fn begin(address: &Address) -> Result<Self, String> {
        let mut conn = address.connect().map_err(|e| format!("{}: {e}", address.port))?;
        let ready = |conn: &mut Conn, sql: &str| conn.query_drop(sql).map_err(|e| format!("{}: {sql}: {e}", address.port));
        let kept = ["mysql", "sys", "information_schema", "performance_schema"];
        for name in conn.query::<String, _>("SHOW DATABASES").map_err(|e| e.to_string())? {
            if !kept.contains(&&*name.to_lowercase()) {
                ready(&mut conn, &format!("DROP DATABASE `{name}`"))?;
            }
        }
        ready(&mut conn, "CREATE DATABASE test CHARACTER SET utf8mb4")?;
        drop(conn);
        let mut side = Self { address: address.clone(), connections: HashMap::new(), now: String::new() };
        side.open("default", &address.user, &address.password, DATABASE)?;
        side.now = "default".to_owned();
        Ok(side)
    }

    fn open(&mut self, name: &str, user: &str, password: &str, database: &str) -> Result<(), String> {
        let database = match database {
            "" => Some(DATABASE),
            "*NO-ONE*" => None,
            database => Some(database),
        };
        let options = self
            .address
            .options()
            .user(Some(user))
            .pass(Some(password))
            .db_name(database)
            .read_timeout(Some(PATIENCE))
            .prefer_socket(false);
        let mut conn = Conn::new(options).map_err(|e| format!("connection {name}: {e}"))?;
        conn.query_drop("SET NAMES utf8mb4, lock_wait_timeout = 5, innodb_lock_wait_timeout = 5").map_err(|e| e.to_string())?;
        self.connections.insert(name.to_owned(), conn);
        Ok(())
    }

    /// A step that is no statement. When a connection fails, its name has no connection afterwards; some tests do this on purpose.
    pub fn turn(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Statement(_) => {}
            Step::Connect { name, user, password, database } => {
                let (user, password) = if user == "root" {
                    (self.address.user.clone(), self.address.password.clone())
                } else {
                    (user.clone(), password.clone())
                };
                if self.open(name, &user, &password, database).is_ok() {
                    self.now = name.clone();
                }
            }
            Step::Connection(name) if self.connections.contains_key(name) => self.now = name.clone(),
            Step::Connection(_) => return Err("a connection that is not there".to_owned()),
            Step::Disconnect(name) => drop(self.connections.remove(name)),
        }
        Ok(())
    }

    /// Runs a statement, with all its results.
    pub fn run(&mut self, sql: &str) -> Result<Outcome, String> {
        let Some(conn) = self.connections.get_mut(&self.now) else { return Err("the connection is closed".to_owned()) };
        let mut outcome = Outcome::default();
        let failed = |error: mysql::Error, outcome: &mut Outcome| match error {
            mysql::Error::MySqlError(e) => {
                (outcome.error, outcome.message) = (e.code, e.message);
                Ok(())
            }
            error => Err(format!("{}: {sql}: {error}", self.address.port)),
        };
        match conn.query_iter(sql) {
            Ok(mut result) => {
                let mut error = None;
                while let Some(set) = result.iter() {
                    let columns = set.columns();
                    let is_double: Vec<bool> =
                        columns.as_ref().iter().map(|column| column.column_type() == ColumnType::MYSQL_TYPE_DOUBLE).collect();
                    outcome.rows_came |= !is_double.is_empty();
                    for row in set {
                        match row {
                            Ok(row) if outcome.rows.len() < ROWS_MAX => {
                                let values = row.unwrap().into_iter().zip(&is_double);
                                let texts =
                                    values.map(|(value, is_double)| if *is_double { rounded(&value) } else { text(&value) });
                                outcome.rows.push(texts.collect::<Vec<_>>().join(","));
                            }
                            Ok(_) => {}
                            Err(e) => error = Some(e),
                        }
                    }
                }
                drop(result);
                if let Some(error) = error {
                    failed(error, &mut outcome)?;
                }
            }
            Err(error) => failed(error, &mut outcome)?,
        }
        let lower = statement_of(sql).to_ascii_lowercase();
        if !is_ordered(&lower) || lower.starts_with("show") {
            outcome.rows.sort_unstable();
        }
        Ok(outcome)
    }

    /// Does a query select columns that have several values in its groups? It is then refused with ONLY_FULL_GROUP_BY, which is not set.
    pub fn leaves_groups_open(&mut self, sql: &str) -> Result<bool, String> {
        const REFUSED: [u16; 4] = [1055, 1140, 3029, 3065];
        let lower = statement_of(sql).to_ascii_lowercase();
        if !["select", "(", "with"].iter().any(|start| lower.starts_with(start)) {
            return Ok(false);
        }
        let set = "SET @replay_mode = @@sql_mode, sql_mode = CONCAT(@@sql_mode, ',ONLY_FULL_GROUP_BY')";
        if self.run(set)?.error != 0 {
            return Ok(false);
        }
        let outcome = self.run(&format!("EXPLAIN {}", statement_of(sql)));
        self.run("SET sql_mode = @replay_mode")?;
        Ok(REFUSED.contains(&outcome?.error))
    }

    /// Removes the traces that a test may leave for the next one.
    pub fn end(&mut self) -> Result<(), String> {
        self.connections.clear();
        let mut conn = self.address.connect().map_err(|e| e.to_string())?;
        let users = "SELECT user, host FROM mysql.user WHERE user NOT LIKE 'mysql.%' AND user NOT IN ('root', 'bench')";
        let accounts: Vec<(String, String)> = conn.query(users).unwrap_or_default();
        for (user, host) in accounts {
            // An object that cannot be dropped stays; the next statement about it will report it.
            let _ = conn.query_drop(format!("DROP USER '{user}'@'{host}'"));
        }
        Ok(())
    }
}

/// Has the outermost query an ORDER BY?
fn is_ordered(sql: &str) -> bool {
    let mut depth = 0;
    sql.char_indices().any(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth <= 0 && c == 'o' && sql[at..].starts_with("order by")
    })
}

/// The text of a double to 14 digits: libraries differ in the last one.
fn rounded(value: &Value) -> String {
    let exact = text(value);
    exact.parse::<f64>().map_or(exact, |number| format!("{number:.13e}"))
}

fn text(value: &Value) -> String {
    match value {
        Value::NULL => "NULL".into(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => other.as_sql(true),
    }
}
