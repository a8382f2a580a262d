//! What stands in the way of a move. It changes nothing, but for an empty database at the target that it makes and removes.
//!
//! Definitions are not judged by a list of what the target has: each table and trigger is made there, empty, in a database of its own.

use crate::definitions::{self, databases};
use crate::end::{End, Product, quoted};
use crate::error::Result;
use crate::parts::Move;
use crate::progress::count;
use crate::tables::{self, OWN_DATABASES, Table};
use mysql::Conn;

const SCRATCH: &str = "heddle_migrate_check";

/// What a check has found.
#[derive(Default)]
pub struct Found {
    /// What will be moved.
    about: String,
    /// The move cannot begin.
    pub obstacles: Vec<String>,
    /// It can, and this is to be known.
    notes: Vec<String>,
}

impl Found {
    pub fn text(&self) -> String {
        let mut text = self.about.clone();
        for obstacle in &self.obstacles {
            text.push_str(&format!("in the way: {obstacle}\n"));
        }
        for note in &self.notes {
            text.push_str(&format!("note: {note}\n"));
        }
        if self.obstacles.is_empty() {
            text.push_str("nothing stands in the way\n");
        }
        text
    }
}

/// # Errors
/// A server cannot be asked.
pub fn run(of: &Move<'_>) -> Result<Found> {
    let mut found = Found::default();
    let (mut from, mut to) = (of.source.connect()?, of.target.connect()?);
    let (source, target) = (of.source.product(&mut from)?, of.target.product(&mut to)?);
    found.about = format!("from {} ({}) to {} ({})\n", of.source.name(), source.version, of.target.name(), target.version);
    check_source(of, &mut from, &source, &mut found)?;
    check_target(of, &mut from, &mut to, &target, &mut found)?;
    if !found.obstacles.is_empty() {
        return Ok(found);
    }
    let tables = tables::read(&of.source)?;
    let rows: u64 = tables.iter().map(|table| table.rows_about).sum();
    let bytes: u64 = tables.iter().map(|table| table.rows_about.saturating_mul(table.row_bytes)).sum();
    let (count_tables, rows, megabytes) = (tables.len(), count(rows), count(bytes >> 20));
    found.about.push_str(&format!("{count_tables} tables, about {rows} rows and {megabytes} MiB\n"));
    for table in &tables {
        check_table(table, &mut found);
    }
    try_definitions(of, &mut from, &mut to, &tables, &mut found)?;
    Ok(found)
}

fn check_source(of: &Move<'_>, conn: &mut Conn, product: &Product, found: &mut Found) -> Result<()> {
    if product.is_mariadb {
        found.obstacles.push("the source is a MariaDB: its GTIDs and events are not MySQL's".to_owned());
        return Ok(());
    }
    if product.number < (5, 7) {
        found.obstacles.push(format!("the source is version {}: 5.7 is the oldest that can be followed", product.version));
        return Ok(());
    }
    let wanted = [
        ("log_bin", &["1", "ON"][..], "log-bin in my.cnf, and a restart"),
        ("binlog_format", &["ROW"], "SET PERSIST binlog_format = 'ROW'; sessions that are open keep the format they have"),
        ("binlog_row_image", &["FULL"], "SET PERSIST binlog_row_image = 'FULL'; sessions that are open keep the image they have"),
        (
            "gtid_mode",
            &["ON"],
            "without a restart: SET GLOBAL enforce_gtid_consistency = ON, then SET GLOBAL gtid_mode = OFF_PERMISSIVE, ON_PERMISSIVE, ON, one after \
             the other",
        ),
    ];
    for (name, values, cure) in wanted {
        let value: Option<(String, String)> =
            of.source.rows(conn, &format!("SHOW GLOBAL VARIABLES LIKE '{name}'"))?.into_iter().next();
        let value = value.map(|(_, value)| value).unwrap_or_default();
        // 9.x has no other format than ROW, and no variable for it one day.
        let is_gone = name == "binlog_format" && value.is_empty();
        if !is_gone && !values.contains(&value.as_str()) {
            found.obstacles.push(format!("the source has {name} = {value}, not {}: {cure}", values[values.len() - 1]));
        }
    }
    let grants: Vec<String> = of.source.rows(conn, "SHOW GRANTS")?;
    let has = |privilege: &str| grants.iter().any(|grant| grant.contains(privilege) || grant.contains("ALL PRIVILEGES ON *.*"));
    for (privilege, why) in [("REPLICATION SLAVE", "to follow the source"), ("SELECT", "to read its rows")] {
        if !has(privilege) {
            found.obstacles.push(format!("{} has no {privilege} at the source, {why}", of.source.user()));
        }
    }
    if !has("SUPER") && !has("SYSTEM_VARIABLES_ADMIN") {
        found.notes.push(format!(
            "{} may not set super_read_only at the source (SYSTEM_VARIABLES_ADMIN, or SUPER before 8.0): 'cut-over' needs it",
            of.source.user()
        ));
    }
    let query = format!(
        "SELECT COUNT(*) FROM information_schema.referential_constraints WHERE constraint_schema NOT IN {OWN_DATABASES} \
         AND (delete_rule IN ('CASCADE', 'SET NULL') OR update_rule IN ('CASCADE', 'SET NULL'))"
    );
    let cascades: u64 = of.source.first(conn, &query)?;
    if cascades > 0 && product.number < (9, 6) && !product.is_heddle {
        found.notes.push(format!(
            "{cascades} foreign keys change other rows (CASCADE, SET NULL): a MySQL before 9.6 does not log what they do; the target does it by itself"
        ));
    }
    Ok(())
}

fn check_target(of: &Move<'_>, from: &mut Conn, conn: &mut Conn, product: &Product, found: &mut Found) -> Result<()> {
    if !product.is_heddle {
        found.obstacles.push(format!("the target is no Heddle ({})", product.version));
        return Ok(());
    }
    let log_bin: u64 = of.target.first(conn, "SELECT @@GLOBAL.log_bin")?;
    if log_bin == 0 {
        found.obstacles.push("the target has no binary log: start it with --log-bin on".to_owned());
    }
    let server_id = "SELECT @@GLOBAL.server_id";
    let (here, there): (u64, u64) = (of.source.first(from, server_id)?, of.target.first(conn, server_id)?);
    if here == there || here == 0 || there == 0 {
        found.obstacles.push(format!(
            "server_id is {here} at the source and {there} at the target: they must differ (SET PERSIST server_id = N)"
        ));
    }
    let replica: Vec<mysql::Row> = of.target.rows(conn, "SHOW REPLICA STATUS")?;
    if !replica.is_empty() {
        found.obstacles.push("the target is a replica: STOP REPLICA and RESET REPLICA ALL".to_owned());
    }
    let there = databases(&of.target, conn)?;
    for database in databases(&of.source, from)? {
        if there.contains(&database) {
            found.obstacles.push(format!("the target has a database {database} already"));
        }
    }
    Ok(())
}

fn check_table(table: &Table, found: &mut Found) {
    let name = table.shown();
    if table.key.is_empty() {
        found.obstacles.push(format!(
            "{name} has no primary key, and no unique key without NULL: a copied row cannot be told from its double. ALTER TABLE {} ADD COLUMN \
             my_row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY (INVISIBLE from 8.0.23 on)",
            table.quoted()
        ));
    } else if !table.has_chunks() && table.rows_about > 1_000_000 {
        found.notes.push(format!(
            "{name}: its key has no order of values (ENUM, SET, BIT, floating point), so it is copied by one statement"
        ));
    }
    if !table.engine.eq_ignore_ascii_case("InnoDB") && !table.engine.is_empty() {
        found.notes.push(format!("{name} has ENGINE={}; the target has one engine, which is transactional", table.engine));
    }
}

/// Makes each table, with its triggers, and removes it again.
fn try_definitions(of: &Move<'_>, from: &mut Conn, to: &mut Conn, tables: &[Table], found: &mut Found) -> Result<()> {
    let (source, target) = (&of.source, &of.target);
    target.run(to, &format!("DROP DATABASE IF EXISTS {SCRATCH}"))?;
    target.run(to, &format!("CREATE DATABASE {SCRATCH}"))?;
    for table in tables {
        let create = definitions::table_text(source, from, table)?;
        target.run(to, &format!("USE {SCRATCH}"))?;
        if let Err(error) = target.run(to, &create) {
            found.obstacles.push(format!("table {}: {error}", table.shown()));
            continue;
        }
        try_triggers(source, from, target, to, table, found)?;
        target.run(to, &format!("DROP TABLE {SCRATCH}.{}", quoted(&table.name)))?;
    }
    target.run(to, &format!("DROP DATABASE {SCRATCH}"))
}

fn try_triggers(source: &End, from: &mut Conn, target: &End, to: &mut Conn, table: &Table, found: &mut Found) -> Result<()> {
    let (database, name) = (crate::end::text(&table.database), crate::end::text(&table.name));
    let query = format!(
        "SELECT trigger_name FROM information_schema.triggers WHERE event_object_schema = {database} AND event_object_table = {name} \
         ORDER BY action_timing, event_manipulation, action_order"
    );
    for trigger in source.rows::<String>(from, &query)? {
        let row = definitions::show(source, from, "TRIGGER", &table.database, &trigger)?;
        let drop = format!("DROP TRIGGER IF EXISTS {}", quoted(&trigger));
        if let Err(error) = definitions::make_program(target, to, SCRATCH, &drop, &row.program(2), &row) {
            found.obstacles.push(format!("trigger {}.{trigger}: {error}", table.database));
        }
    }
    Ok(())
}
