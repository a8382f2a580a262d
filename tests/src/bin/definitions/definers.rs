//! The definitions that run in loops.

use crate::Scene;
use crate::tables::DATABASE;
use mysql::prelude::Queryable;
use std::sync::atomic::Ordering;

/// Loops of definitions that run beside each other.
pub struct Set {
    pub name: &'static str,
    /// Some of them rename a table.
    pub renames: bool,
    pub loops: &'static [&'static [&'static str]],
}

pub const SETS: [Set; 5] = [
    Set {
        name: "columns that move",
        renames: false,
        loops: &[
            &["ALTER TABLE t MODIFY b BIGINT NOT NULL AFTER id", "ALTER TABLE t MODIFY a BIGINT NOT NULL AFTER id"],
            &["ALTER TABLE p MODIFY b BIGINT NOT NULL AFTER id", "ALTER TABLE p MODIFY a BIGINT NOT NULL AFTER id"],
            &["ALTER TABLE fired MODIFY b BIGINT NOT NULL AFTER id", "ALTER TABLE fired MODIFY a BIGINT NOT NULL AFTER id"],
            &["ALTER TABLE child MODIFY b BIGINT NOT NULL FIRST", "ALTER TABLE child MODIFY b BIGINT NOT NULL AFTER z"],
        ],
    },
    Set {
        name: "columns that come and go",
        renames: false,
        loops: &[
            &["ALTER TABLE t ADD COLUMN x INT AFTER id", "ALTER TABLE t DROP COLUMN x"],
            &["ALTER TABLE p ADD COLUMN x INT AFTER id", "ALTER TABLE p DROP COLUMN x"],
            &["ALTER TABLE fired ADD COLUMN x INT FIRST", "ALTER TABLE fired DROP COLUMN x"],
            &["ALTER TABLE log ADD COLUMN x INT FIRST", "ALTER TABLE log DROP COLUMN x"],
            &["ALTER TABLE parent ADD COLUMN x INT AFTER id", "ALTER TABLE parent DROP COLUMN x"],
            &["ALTER TABLE child ADD COLUMN x INT AFTER id", "ALTER TABLE child DROP COLUMN x"],
        ],
    },
    Set {
        name: "indexes",
        renames: false,
        loops: &[
            &[
                "ALTER TABLE t DROP INDEX ka",
                "ALTER TABLE t ADD INDEX ka (a)",
                "ALTER TABLE t RENAME INDEX kb TO kc",
                "ALTER TABLE t RENAME INDEX kc TO kb",
            ],
            &["ALTER TABLE p DROP INDEX kb", "ALTER TABLE p ADD INDEX kb (b)"],
            &["ALTER TABLE fired ADD INDEX kz (z, b)", "ALTER TABLE fired DROP INDEX kz"],
            &["ALTER TABLE child ADD INDEX kz (z)", "ALTER TABLE child DROP INDEX kz"],
            &["ALTER TABLE parent DROP INDEX kb", "ALTER TABLE parent ADD INDEX kb (b)"],
        ],
    },
    Set {
        name: "tables written anew",
        renames: false,
        loops: &[
            &[
                "ALTER TABLE t MODIFY z VARCHAR(400) NOT NULL FIRST, ALGORITHM=COPY",
                "ALTER TABLE t MODIFY z VARCHAR(40) NOT NULL AFTER b",
            ],
            &["ALTER TABLE p REMOVE PARTITIONING", "ALTER TABLE p PARTITION BY HASH (id) PARTITIONS 3", "ALTER TABLE p FORCE"],
            &["ALTER TABLE fired MODIFY z VARCHAR(300) NOT NULL AFTER id", "ALTER TABLE fired MODIFY z VARCHAR(40) NOT NULL"],
            &[
                "ALTER TABLE child MODIFY b BIGINT NOT NULL FIRST, ALGORITHM=COPY",
                "ALTER TABLE child MODIFY b BIGINT NOT NULL AFTER z, FORCE",
            ],
            &[
                "ALTER TABLE parent DROP PRIMARY KEY, ADD PRIMARY KEY (id, b)",
                "ALTER TABLE parent DROP PRIMARY KEY, ADD PRIMARY KEY (id)",
            ],
        ],
    },
    Set {
        name: "names, partitions, triggers, views",
        renames: true,
        loops: &[
            &[
                "RENAME TABLE t TO t2",
                "ALTER TABLE t2 MODIFY b BIGINT NOT NULL AFTER id",
                "RENAME TABLE t2 TO t",
                "ALTER TABLE t MODIFY a BIGINT NOT NULL AFTER id",
            ],
            &[
                "ALTER TABLE p EXCHANGE PARTITION p1 WITH TABLE e",
                "ALTER TABLE p EXCHANGE PARTITION p1 WITH TABLE e",
                "ALTER TABLE p MODIFY b BIGINT NOT NULL AFTER id",
                "ALTER TABLE e MODIFY b BIGINT NOT NULL AFTER id",
                "ALTER TABLE p MODIFY a BIGINT NOT NULL AFTER id",
                "ALTER TABLE e MODIFY a BIGINT NOT NULL AFTER id",
            ],
            &[
                "DROP TRIGGER updating",
                "ALTER TABLE fired MODIFY b BIGINT NOT NULL AFTER id",
                "CREATE TRIGGER updating BEFORE UPDATE ON fired FOR EACH ROW SET NEW.z = CONCAT('z', NEW.a + 2000000000000)",
                "ALTER TABLE fired MODIFY a BIGINT NOT NULL AFTER id",
            ],
            &[
                "CREATE OR REPLACE VIEW v AS SELECT id, b, a, z FROM t WHERE id > 0",
                "CREATE OR REPLACE VIEW v AS SELECT a, z, b, id FROM t",
            ],
            &["ALTER TABLE parent MODIFY b BIGINT NOT NULL AFTER id", "ALTER TABLE parent MODIFY a BIGINT NOT NULL AFTER id"],
        ],
    },
];

/// Errors that a definition may end with beside changes: deadlock, lock wait, and a table that another loop has renamed.
const EXPECTED: [u16; 3] = [1205, 1213, 1146];

/// Runs a loop of definitions to its end each time, so that the tables have their first form afterwards.
pub fn run(scene: &Scene, set: &str, number: usize, definitions: &[&str]) {
    let Ok(mut connection) = scene.address.connect_to(DATABASE) else {
        return scene.fail(format!("{set}, loop {number}: no connection"));
    };
    while !scene.is_over() {
        for sql in definitions {
            // Each is tried until it is done: the next one builds on it.
            loop {
                match connection.query_drop(sql) {
                    Ok(()) => break,
                    Err(mysql::Error::MySqlError(e)) if EXPECTED.contains(&e.code) && !scene.is_over() => {}
                    Err(e) => {
                        if !matches!(&e, mysql::Error::MySqlError(e) if EXPECTED.contains(&e.code)) {
                            return scene.fail(format!("{sql}: {e}"));
                        }
                        break;
                    }
                }
            }
            scene.definitions.fetch_add(1, Ordering::Relaxed);
        }
    }
}
