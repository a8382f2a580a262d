//! The sessions: what each kind does in one round.

use crate::Scene;
use crate::tables::{DATABASE, judge};
use crate::values::Column::{A, B, Z};
use mysql::prelude::Queryable;
use mysql::{Conn, LocalInfileHandler, Row};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::io::Write;
use std::sync::atomic::Ordering;

type Done = mysql::Result<()>;

/// A kind of session.
pub struct Kind {
    pub name: &'static str,
    round: fn(&Scene, &mut Conn, &mut StdRng) -> Done,
}

pub const KINDS: [Kind; 15] = [
    Kind { name: "text", round: text },
    Kind { name: "prepared", round: prepared },
    Kind { name: "transaction", round: transaction },
    Kind { name: "rows come and go", round: come_and_go },
    Kind { name: "procedure", round: procedure },
    Kind { name: "cursor of a procedure", round: cursor },
    Kind { name: "function", round: function },
    Kind { name: "trigger", round: trigger },
    Kind { name: "foreign key", round: foreign_key },
    Kind { name: "view", round: view },
    Kind { name: "partitions", round: partitions },
    Kind { name: "load data", round: load_data },
    Kind { name: "temporary table", round: temporary },
    Kind { name: "several tables", round: several },
    Kind { name: "values of statements", round: values },
];

/// Errors that MySQL gives, too: deadlock, lock wait.
const EXPECTED: [u16; 2] = [1205, 1213];
/// A definition is newer than the snapshot of a transaction of several statements.
const DEFINITION_CHANGED: u16 = 1412;
/// A table has another name meanwhile; so a view of it names none.
const RENAMED: [u16; 2] = [1146, 1356];

/// Rounds of one session until the time is over.
pub fn run(scene: &Scene, kind: &Kind, seed: u64) {
    let mut dice = StdRng::seed_from_u64(seed);
    let is_expected = |code: u16| {
        let in_transaction = ["transaction", "trigger"].contains(&kind.name);
        EXPECTED.contains(&code) || code == DEFINITION_CHANGED && in_transaction || RENAMED.contains(&code) && scene.renames
    };
    let Ok(mut connection) = scene.address.connect_to(DATABASE) else {
        return scene.fail(format!("{}: no connection", kind.name));
    };
    while !scene.is_over() {
        match (kind.round)(scene, &mut connection, &mut dice) {
            Ok(()) => {}
            Err(mysql::Error::MySqlError(e)) if is_expected(e.code) => {
                if connection.query_drop("ROLLBACK").is_err() {
                    return scene.fail(format!("{}: the connection is gone", kind.name));
                }
            }
            Err(e) => {
                scene.fail(format!("{}: {e}", kind.name));
                // A panic ends the connection.
                let Ok(again) = scene.address.connect_to(DATABASE) else { return };
                connection = again;
            }
        }
        scene.rounds.fetch_add(1, Ordering::Relaxed);
    }
}

fn row(scene: &Scene, dice: &mut StdRng) -> u64 {
    dice.random_range(1..=scene.rows)
}

/// Reads rows and judges them.
fn read(scene: &Scene, connection: &mut Conn, place: &str, sql: &str) -> Done {
    let rows: Vec<Row> = connection.query(sql)?;
    rows.iter().for_each(|row| judge(scene, place, row));
    Ok(())
}

fn text(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    connection.query_drop(format!("UPDATE t SET a = {} WHERE id = {id}", A.number(id, version)))?;
    read(scene, connection, "text", &format!("SELECT id, a, b FROM t WHERE id = {id}"))?;
    connection.query_drop(format!(
        "UPDATE t SET b = {}, z = {} WHERE id = {id}",
        B.number(id, version),
        Z.literal(id, version)
    ))?;
    read(scene, connection, "text, *", &format!("SELECT * FROM t WHERE id BETWEEN {id} AND {}", id + 3))?;
    read(
        scene,
        connection,
        "text, index",
        &format!("SELECT id, b, z, a FROM t WHERE b >= {} ORDER BY b LIMIT 4", B.number(id, 0)),
    )
}

fn prepared(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    connection.exec_drop("UPDATE t SET b = ? WHERE id = ?", (B.number(id, version), id))?;
    let rows: Vec<Row> = connection.exec("SELECT id, z, a, b FROM t WHERE id = ?", (id,))?;
    rows.iter().for_each(|row| judge(scene, "prepared", row));
    connection.exec_drop(
        "UPDATE t SET z = ?, a = ? WHERE b = ?",
        (format!("z{}", Z.number(id, version)), A.number(id, version), B.number(id, version)),
    )?;
    let rows: Vec<Row> = connection.exec("SELECT * FROM t WHERE a > ? ORDER BY a LIMIT 3", (A.number(id, 0),))?;
    rows.iter().for_each(|row| judge(scene, "prepared, *", row));
    Ok(())
}

fn transaction(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    connection.query_drop("BEGIN")?;
    read(scene, connection, "transaction", &format!("SELECT a, id, b FROM t WHERE id = {id} FOR UPDATE"))?;
    connection.query_drop(format!("UPDATE t SET a = {} WHERE id = {id}", A.number(id, version)))?;
    connection.query_drop(format!("UPDATE p SET b = {} WHERE id = {id}", B.number(id, version)))?;
    read(
        scene,
        connection,
        "transaction, own changes",
        &format!("SELECT t.id, t.a, p.b, p.z FROM t JOIN p ON p.id = t.id WHERE t.id = {id}"),
    )?;
    connection.query_drop(if dice.random_bool(0.8) { "COMMIT" } else { "ROLLBACK" })
}

fn come_and_go(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    let [a, b, z] = [A, B, Z].map(|column| column.literal(id, version));
    let sql = match dice.random_range(0..5) {
        0 => format!("DELETE FROM t WHERE id = {id}"),
        1 => format!("INSERT IGNORE INTO t (z, b, a, id) VALUES ({z}, {b}, {a}, {id})"),
        2 => format!("REPLACE INTO t (id, a, b, z) VALUES ({id}, {a}, {b}, {z})"),
        3 => format!("INSERT INTO t (id, a, b, z) VALUES ({id}, {a}, {b}, {z}) ON DUPLICATE KEY UPDATE b = VALUES(b), a = {a}"),
        _ => format!("REPLACE INTO t (b, id, z, a) SELECT b, id, z, a FROM p WHERE id = {id}"),
    };
    connection.query_drop(sql)?;
    read(scene, connection, "rows come and go", &format!("SELECT * FROM t WHERE id = {id}"))
}

fn procedure(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    connection.query_drop(format!("CALL change_t({id}, {}, {}, @a, @b)", A.number(id, version), B.number(id, version)))?;
    read(
        scene,
        connection,
        "procedure",
        &format!("SELECT {id} AS id, @a AS a, @b AS b FROM t WHERE id = {id} AND @a IS NOT NULL"),
    )
}

fn cursor(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    connection.query_drop(format!("CALL walk_t({}, @wrong)", row(scene, dice)))?;
    if connection.query_first::<u64, _>("SELECT @wrong")? != Some(0) {
        scene.fail("cursor of a procedure: a wrong value".to_owned());
    }
    Ok(())
}

fn function(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let id = row(scene, dice);
    read(scene, connection, "function", &format!("SELECT id, b, a_of(id) AS a FROM t WHERE id BETWEEN {id} AND {}", id + 2))
}

fn trigger(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    let [a, b, z] = [A, B, Z].map(|column| column.literal(id, version));
    connection.query_drop("BEGIN")?;
    connection.query_drop(format!("DELETE FROM fired WHERE id = {id}"))?;
    connection.query_drop(format!("INSERT INTO fired (id, z, b, a) VALUES ({id}, {z}, {b}, {a})"))?;
    connection.query_drop(format!("UPDATE fired SET a = {} WHERE id = {id}", A.number(id, version + 1)))?;
    connection.query_drop("COMMIT")?;
    read(scene, connection, "trigger", &format!("SELECT fired.* FROM fired WHERE id = {id}"))?;
    read(scene, connection, "trigger, log", &format!("SELECT z, id, a, b FROM log WHERE id = {id}"))
}

fn foreign_key(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    let [a, b, z] = [A, B, Z].map(|column| column.literal(id, version));
    match dice.random_range(0..4) {
        0 => {
            connection.query_drop(format!("DELETE FROM parent WHERE id = {id}"))?;
            connection.query_drop(format!("INSERT IGNORE INTO parent (id, b, a, z) VALUES ({id}, {b}, {a}, {z})"))?;
            connection
                .query_drop(format!("INSERT IGNORE INTO child (b, pa, z, id) SELECT b, a, z, id FROM parent WHERE id = {id}"))?;
        }
        _ => connection.query_drop(format!("UPDATE parent SET a = {a}, z = {z} WHERE id = {id}"))?,
    }
    read(scene, connection, "foreign key, parent", &format!("SELECT b, a, id, z FROM parent WHERE id = {id}"))?;
    read(scene, connection, "foreign key, child", &format!("SELECT * FROM child WHERE id = {id}"))
}

fn view(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    connection.query_drop(format!("UPDATE v SET b = {} WHERE id = {id}", B.number(id, version)))?;
    read(scene, connection, "view", &format!("SELECT * FROM v WHERE id = {id}"))?;
    let rows: Vec<Row> = connection.exec("SELECT * FROM v WHERE b = ?", (B.number(id, version),))?;
    rows.iter().for_each(|row| judge(scene, "view, prepared", row));
    Ok(())
}

fn partitions(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    let [a, b, z] = [A, B, Z].map(|column| column.literal(id, version));
    connection.query_drop(format!("UPDATE p SET a = {a} WHERE id = {id}"))?;
    connection.query_drop(format!("REPLACE INTO p (z, id, a, b) VALUES ({z}, {id}, {a}, {b})"))?;
    read(scene, connection, "partitions", &format!("SELECT * FROM p WHERE id = {id}"))?;
    read(
        scene,
        connection,
        "partitions, index",
        &format!("SELECT z, b, a, id FROM p WHERE b >= {} ORDER BY b LIMIT 4", B.number(id, 0)),
    )
}

fn load_data(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (first, version) = (row(scene, dice), dice.random_range(0..10_000));
    let lines: String = (first..(first + 3).min(scene.rows + 1))
        .map(|id| format!("z{}\t{}\t{}\t{id}\n", Z.number(id, version), A.number(id, version), B.number(id, version)))
        .collect();
    connection.set_local_infile_handler(Some(LocalInfileHandler::new(move |_, writer| writer.write_all(lines.as_bytes()))));
    connection.query_drop("LOAD DATA LOCAL INFILE 'rows' REPLACE INTO TABLE t (z, a, b, id)")?;
    read(scene, connection, "load data", &format!("SELECT * FROM t WHERE id = {first}"))
}

fn temporary(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    connection.query_drop("DROP TEMPORARY TABLE IF EXISTS own")?;
    connection.query_drop("CREATE TEMPORARY TABLE own SELECT id, a, b, z FROM t WHERE id < 20")?;
    let change = "UPDATE own SET a = ?, z = ? WHERE id = ?";
    let select = "SELECT * FROM own";
    for definition in [
        "ALTER TABLE own MODIFY z VARCHAR(50) FIRST",
        "ALTER TABLE own ADD x INT FIRST, ADD KEY ka (a)",
        "ALTER TABLE own MODIFY b BIGINT AFTER x",
    ] {
        connection.exec_drop(change, (A.number(id, version), format!("z{}", Z.number(id, version)), id))?;
        let rows: Vec<Row> = connection.exec(select, ())?;
        rows.iter().for_each(|row| judge(scene, "temporary table", row));
        connection.query_drop(definition)?;
    }
    read(scene, connection, "temporary table, text", select)
}

fn several(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let (id, version) = (row(scene, dice), dice.random_range(0..10_000));
    match dice.random_range(0..3) {
        0 => connection.query_drop(format!(
            "UPDATE t JOIN p USING (id) SET t.a = {}, p.b = {} WHERE t.id = {id}",
            A.number(id, version),
            B.number(id, version)
        ))?,
        1 => {
            connection.query_drop(format!("UPDATE t, p SET t.z = p.z, t.b = p.b, p.a = t.a WHERE p.id = t.id AND p.id = {id}"))?
        }
        _ => connection.query_drop(format!("DELETE t FROM t JOIN p ON p.id = t.id WHERE p.a = {}", A.number(id, version)))?,
    }
    read(
        scene,
        connection,
        "several tables",
        &format!("SELECT t.id, p.a, t.b, t.z FROM t JOIN p ON t.id = p.id AND t.id = {id}"),
    )?;
    let both = "SELECT id, a, b, z FROM t WHERE id = {} UNION ALL SELECT id, a, b, z FROM p WHERE id = {} ORDER BY a";
    read(scene, connection, "several tables, union", &both.replace("{}", &id.to_string()))
}

/// Statements that read a table although they are not about rows: SET, DO, CREATE TABLE ... SELECT, EXPLAIN.
fn values(scene: &Scene, connection: &mut Conn, dice: &mut StdRng) -> Done {
    let id = row(scene, dice);
    connection.query_drop(format!("SET @a = (SELECT a FROM t WHERE id = {id}), @b = (SELECT b FROM t WHERE id = {id})"))?;
    read(scene, connection, "SET", &format!("SELECT {id} AS id, @a AS a FROM DUAL WHERE @a IS NOT NULL"))?;
    read(scene, connection, "SET", &format!("SELECT {id} AS id, @b AS b FROM DUAL WHERE @b IS NOT NULL"))?;
    connection.query_drop(format!("SELECT a, b INTO @a, @b FROM p WHERE id = {id}"))?;
    read(scene, connection, "SELECT INTO", &format!("SELECT {id} AS id, @a AS a, @b AS b FROM DUAL WHERE @a IS NOT NULL"))?;
    connection.query_drop(format!("DO (SELECT a FROM fired WHERE b = {})", B.number(id, 0)))?;
    connection
        .query_drop(format!("EXPLAIN FORMAT=TREE SELECT p.a, t.z FROM p JOIN t USING (id, b) WHERE t.a > {}", A.number(id, 0)))?;
    connection.query_drop(format!("EXPLAIN ANALYZE SELECT a, z FROM t WHERE b > {} LIMIT 2", B.number(id, 0)))
}
