//! The tables, and what must hold of them at the end.
//!
//! `t` is the plain one; `p` has partitions, and `e` is exchanged with one of them; `parent` and `child` have a foreign key whose actions
//! change `child`; `fired` has triggers that write what they see of a row into `log`; `v` is a view of `t`.

use crate::Scene;
use crate::values::Column;
use mysql::Conn;
use mysql::prelude::Queryable;

pub const DATABASE: &str = "definitions";

/// The columns and indexes that all tables have.
const BODY: &str = "a BIGINT NOT NULL, b BIGINT NOT NULL, z VARCHAR(40) NOT NULL, KEY ka (a), KEY kb (b)";

const PROGRAMS: [&str; 7] = [
    "CREATE VIEW v AS SELECT id, z, b, a FROM t",
    "CREATE TRIGGER inserted AFTER INSERT ON fired FOR EACH ROW REPLACE INTO log (id, a, b, z) VALUES (NEW.id, NEW.a, NEW.b, NEW.z)",
    "CREATE TRIGGER updating BEFORE UPDATE ON fired FOR EACH ROW SET NEW.z = CONCAT('z', NEW.a + 2000000000000)",
    "CREATE TRIGGER updated AFTER UPDATE ON fired FOR EACH ROW UPDATE log SET a = NEW.a, b = NEW.b, z = NEW.z WHERE id = OLD.id",
    "CREATE PROCEDURE change_t (IN row_id BIGINT, IN new_a BIGINT, IN new_b BIGINT, OUT old_a BIGINT, OUT old_b BIGINT) \
     BEGIN SELECT a, b INTO old_a, old_b FROM t WHERE id = row_id FOR UPDATE; \
     UPDATE t SET a = new_a WHERE id = row_id; UPDATE t SET b = new_b WHERE id = row_id; END",
    "CREATE PROCEDURE walk_t (IN low BIGINT, OUT wrong BIGINT) \
     BEGIN DECLARE done INT DEFAULT 0; DECLARE i, x1, x2 BIGINT; DECLARE c CURSOR FOR SELECT id, a, b FROM t WHERE id >= low LIMIT 5; \
     DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; SET wrong = 0; OPEN c; \
     each_row: LOOP FETCH c INTO i, x1, x2; IF done THEN LEAVE each_row; END IF; \
     IF x1 DIV 10000 <> 100000000 + i OR x2 DIV 10000 <> 200000000 + i THEN SET wrong = wrong + 1; END IF; END LOOP; CLOSE c; END",
    "CREATE FUNCTION a_of (row_id BIGINT) RETURNS BIGINT READS SQL DATA RETURN (SELECT a FROM t WHERE id = row_id)",
];

/// Makes the database and its tables, filled.
pub fn make(connection: &mut Conn, rows: u64) -> Result<(), String> {
    let mut run = |sql: &str| connection.query_drop(sql).map_err(|e| format!("{sql}: {e}"));
    run(&format!("DROP DATABASE IF EXISTS {DATABASE}"))?;
    run(&format!("CREATE DATABASE {DATABASE}"))?;
    run(&format!("USE {DATABASE}"))?;
    for table in ["t", "e", "fired", "log"] {
        run(&format!("CREATE TABLE {table} (id BIGINT PRIMARY KEY, {BODY})"))?;
    }
    run(&format!("CREATE TABLE p (id BIGINT PRIMARY KEY, {BODY}) PARTITION BY HASH (id) PARTITIONS 3"))?;
    run(&format!("CREATE TABLE parent (id BIGINT PRIMARY KEY, {})", BODY.replace("KEY ka", "UNIQUE KEY ka")))?;
    // The key names a value of the parent's column `a`, which changes.
    run(
        "CREATE TABLE child (id BIGINT PRIMARY KEY, z VARCHAR(40) NOT NULL, pa BIGINT NOT NULL, b BIGINT NOT NULL, KEY kb (b), \
         FOREIGN KEY (pa) REFERENCES parent (a) ON UPDATE CASCADE ON DELETE CASCADE)",
    )?;
    for program in PROGRAMS {
        run(program)?;
    }
    for table in ["t", "p", "fired", "parent"] {
        for first in (1..=rows).step_by(200) {
            let row = |id: u64| {
                let [a, b, z] = [Column::A, Column::B, Column::Z].map(|column| column.literal(id, 0));
                format!("({id}, {a}, {b}, {z})")
            };
            let values: Vec<String> = (first..(first + 200).min(rows + 1)).map(row).collect();
            run(&format!("INSERT INTO {table} (id, a, b, z) VALUES {}", values.join(", ")))?;
        }
    }
    run("INSERT INTO child (id, pa, b, z) SELECT id, a, b, z FROM parent")
}

/// Reads every row through every index, and asks CHECK TABLE.
pub fn check(connection: &mut Conn, rows: u64, scene: &Scene) -> Result<(), String> {
    let said = |e: mysql::Error| e.to_string();
    for (table, a) in [("t", "a"), ("p", "a"), ("fired", "a"), ("log", "a"), ("parent", "a"), ("child", "pa")] {
        let outcome: Vec<mysql::Row> = connection.query(format!("CHECK TABLE {table} EXTENDED")).map_err(said)?;
        for row in outcome {
            let text: String = row.get(3).unwrap_or_default();
            if text != "OK" {
                scene.fail(format!("CHECK TABLE {table}: {text}"));
            }
        }
        let keys = connection.query::<String, _>(format!(
            "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = '{DATABASE}' AND table_name = '{table}'"
        ));
        for key in keys.map_err(said)? {
            let select = format!("SELECT id, {a}, b, z FROM {table} FORCE INDEX (`{key}`) WHERE {a} > 0 AND b > 0 ORDER BY id");
            let found: Vec<mysql::Row> = connection.query(&select).map_err(|e| format!("{select}: {e}"))?;
            let count = found.len() as u64;
            if ["t", "p", "fired"].contains(&table) && count > rows {
                scene.fail(format!("{table} by {key}: {count} rows"));
            }
            for row in found {
                judge(scene, &format!("the end, {table} by {key}"), &row);
            }
        }
    }
    Ok(())
}

/// Is each value of a row where it belongs? Columns are found by their names, so the head of the result is judged, too.
pub fn judge(scene: &Scene, place: &str, row: &mysql::Row) {
    let Some(Ok(id)) = row.get_opt::<u64, _>("id") else { return scene.fail(format!("{place}: no id")) };
    let names = row.columns();
    for (position, column) in names.iter().enumerate() {
        let owner = match &*column.name_str() {
            "a" | "pa" => Column::A,
            "b" => Column::B,
            "z" => Column::Z,
            _ => continue,
        };
        let value = row.as_ref(position).unwrap_or(&mysql::Value::NULL);
        if !owner.owns(id, value) {
            // Without the row and the version, so that failures of one kind are counted together.
            let shown = format!("{value:?}").chars().take(8).collect::<String>();
            scene.fail(format!("{place}: a wrong value in {}, like {shown}...", owner.letter()));
        }
    }
}
