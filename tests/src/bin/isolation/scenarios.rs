//! The scenarios, as data. What is expected is what InnoDB does.

/// The isolation levels, in the order of the expectations.
pub const LEVELS: [&str; 4] = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];
/// Its place among them.
pub const REPEATABLE_READ: usize = 2;
/// The statement has to wait for another session.
pub const WAITS: &str = "waits";

pub struct Scenario {
    pub name: &'static str,
    pub setup: &'static [&'static str],
    pub steps: &'static [Step],
}

pub struct Step {
    pub who: char,
    /// Empty: the end of the statement that the session has been waiting with.
    pub sql: &'static str,
    expected: Expected,
}

enum Expected {
    Always(&'static str),
    /// By level; an empty one leaves the step out.
    Levels([&'static str; 4]),
}

impl Step {
    pub fn is_end_of_wait(&self) -> bool {
        self.sql.is_empty()
    }

    /// `None`: not at this level.
    pub fn expected(&self, level: usize) -> Option<&'static str> {
        match self.expected {
            Expected::Always(text) => Some(text),
            Expected::Levels(texts) => Some(texts[level]).filter(|text| !text.is_empty()),
        }
    }
}

pub const fn at(who: char, sql: &'static str, expected: &'static str) -> Step {
    Step { who, sql, expected: Expected::Always(expected) }
}

/// What is expected differs by level.
const fn by(who: char, sql: &'static str, expected: [&'static str; 4]) -> Step {
    Step { who, sql, expected: Expected::Levels(expected) }
}

/// The end of a wait, at the levels where there was one.
const fn end(who: char, expected: [&'static str; 4]) -> Step {
    Step { who, sql: "", expected: Expected::Levels(expected) }
}

/// The end of a wait, at every level.
pub const fn end_at(who: char, expected: &'static str) -> Step {
    at(who, "", expected)
}

const BEGIN: &str = "BEGIN";
const COMMIT: &str = "COMMIT";
const DONE: &str = "0 rows";

const ACCOUNTS: &[&str] = &[
    "CREATE TABLE account (owner VARCHAR(20) PRIMARY KEY, balance INT, branch INT, KEY (branch))",
    "INSERT INTO account VALUES ('ann', 100, 1), ('bob', 200, 1), ('eve', 300, 4)",
];
const SHIFTS: &[&str] = &[
    "CREATE TABLE shift (id INT PRIMARY KEY, doctor VARCHAR(20), on_call INT)",
    "INSERT INTO shift VALUES (10, 'ann', 1), (20, 'bob', 1), (50, 'eve', 0)",
];

const FAMILY: &[&str] = &[
    "CREATE TABLE parent (id INT PRIMARY KEY, v INT)",
    "INSERT INTO parent VALUES (1, 10), (2, 20), (5, 50)",
    "CREATE TABLE child (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES parent (id))",
];

/// 400 rows, more than are worth reading for some of them.
const ITEMS: &[&str] = &[
    "CREATE TABLE item (id INT PRIMARY KEY, a INT, b INT, c INT, note CHAR(200), KEY a (a), KEY b (b), KEY ac (a, c))",
    "INSERT INTO item WITH RECURSIVE q (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM q WHERE i < 400)
     SELECT i, i, 1000 + i, i % 10, 'x' FROM q",
    "ANALYZE TABLE item",
];

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "rows that two indexes lead to",
        setup: ITEMS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT id FROM item WHERE a = 5 OR b = 1010 ORDER BY id FOR UPDATE", "5 10"),
            at('b', "UPDATE item SET note = 'b' WHERE id = 5", WAITS),
            at('c', "UPDATE item SET note = 'c' WHERE id = 10", WAITS),
            at('d', "UPDATE item SET note = 'd' WHERE id = 7", "1 rows"),
            by('e', "INSERT INTO item VALUES (501, 5, 0, 0, 'e')", ["1 rows", "1 rows", WAITS, WAITS]),
            by('f', "UPDATE item SET b = 1010 WHERE id = 300", ["1 rows", "1 rows", WAITS, WAITS]),
            at('a', COMMIT, DONE),
            end('b', ["1 rows"; 4]),
            end('c', ["1 rows"; 4]),
            end('e', ["", "", "1 rows", "1 rows"]),
            end('f', ["", "", "1 rows", "1 rows"]),
            at('a', "SELECT id FROM item WHERE a = 5 OR b = 1010 ORDER BY id FOR SHARE", "5 10 300 501"),
        ],
    },
    Scenario {
        name: "rows that two indexes lead to are judged as they are",
        setup: ITEMS,
        steps: &[
            at('b', BEGIN, DONE),
            at('b', "UPDATE item SET b = 2000 WHERE id = 10", "1 rows"),
            at('b', "UPDATE item SET note = 'b' WHERE id = 5", "1 rows"),
            at('a', BEGIN, DONE),
            at('a', "SELECT id FROM item WHERE (a = 5 OR b = 1010) AND note = 'b' FOR UPDATE", WAITS),
            at('b', COMMIT, DONE),
            end('a', ["5"; 4]),
            at('a', "UPDATE item SET note = 'a' WHERE a = 5 OR b = 1010", "1 rows"),
            at('a', "DELETE FROM item WHERE a = 20 OR b IN (1021, 2000)", "3 rows"),
            // MySQL waits here: its index merge does not skip.
            at('c', "SELECT id FROM item WHERE a = 5 OR b = 1030 FOR UPDATE SKIP LOCKED", "30"),
            at('c', "SELECT id FROM item WHERE a = 5 OR b = 1030 FOR SHARE NOWAIT", "error 3572"),
            at('a', COMMIT, DONE),
            at('c', "SELECT id FROM item WHERE a = 5 OR a = 10 OR b BETWEEN 1019 AND 1022 ORDER BY id FOR SHARE", "5 19 22"),
        ],
    },
    Scenario {
        name: "a change that waits for a row goes on with what has come behind it",
        setup: ITEMS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "UPDATE item SET note = 'a' WHERE id = 20", "1 rows"),
            at('b', "DELETE FROM item WHERE a BETWEEN 20 AND 21", WAITS),
            at('a', "INSERT INTO item VALUES (500, 21, 0, 0, 'a')", "1 rows"),
            at('a', COMMIT, DONE),
            end('b', ["3 rows"; 4]),
            at('b', "SELECT id FROM item WHERE a BETWEEN 20 AND 21", "-"),
        ],
    },
    Scenario {
        name: "a change of a range of the table goes on with what has come behind it",
        setup: ACCOUNTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "UPDATE account SET balance = 1 WHERE owner = 'ann'", "1 rows"),
            at('b', "UPDATE account SET branch = 9 WHERE owner < 'c'", WAITS),
            at('a', "INSERT INTO account VALUES ('bill', 5, 5)", "1 rows"),
            at('a', COMMIT, DONE),
            end('b', ["3 rows"; 4]),
        ],
    },
    Scenario {
        name: "a row in the way of an insert is waited for, and stays",
        setup: ACCOUNTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT owner FROM account WHERE owner = 'bob' FOR UPDATE", "bob"),
            at('b', BEGIN, DONE),
            at('b', "INSERT INTO account VALUES ('bob', 0, 0)", WAITS),
            at('a', "DELETE FROM account WHERE owner = 'bob'", "1 rows"),
            at('a', COMMIT, DONE),
            end('b', ["1 rows"; 4]),
            at('b', "INSERT INTO account VALUES ('ann', 0, 0)", "error 1062"),
            at('a', "DELETE FROM account WHERE owner = 'ann'", WAITS),
            at('b', COMMIT, DONE),
            end('a', ["1 rows"; 4]),
        ],
    },
    Scenario {
        name: "a key in the way of an insert is locked, and not its row",
        setup: &[
            "CREATE TABLE seat (id INT PRIMARY KEY, place INT, note INT, UNIQUE KEY (place))",
            "INSERT INTO seat VALUES (1, 10, 0), (2, 20, 0)",
        ],
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "UPDATE seat SET note = 1 WHERE id = 1", "1 rows"),
            at('b', BEGIN, DONE),
            at('b', "INSERT INTO seat VALUES (3, 10, 0)", "error 1062"),
            at('b', "UPDATE seat SET place = 10 WHERE id = 2", "error 1062"),
            at('a', "UPDATE seat SET place = 11 WHERE id = 1", WAITS),
            at('b', COMMIT, DONE),
            end('a', ["1 rows"; 4]),
        ],
    },
    Scenario {
        name: "rows in the ranges of two indexes",
        setup: &[
            "CREATE TABLE item (id INT PRIMARY KEY, a INT, b INT, note CHAR(200), KEY a (a), KEY b (b))",
            "INSERT INTO item WITH RECURSIVE q (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM q WHERE i < 900)
             SELECT i, i % 30, i % 31, 'x' FROM q",
            "ANALYZE TABLE item",
        ],
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT id FROM item WHERE a = 7 AND b = 6 FOR UPDATE", "37"),
            at('b', "UPDATE item SET note = 'b' WHERE id = 37", WAITS),
            by('c', "INSERT INTO item VALUES (1001, 7, 6, 'c')", ["1 rows", "1 rows", WAITS, WAITS]),
            at('a', "UPDATE item SET note = 'a' WHERE a = 7 AND b = 6 AND id < 900", "1 rows"),
            at('a', COMMIT, DONE),
            end('b', ["1 rows"; 4]),
            end('c', ["", "", "1 rows", "1 rows"]),
        ],
    },
    Scenario {
        name: "conditions on entries of an index",
        setup: ITEMS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT id, note FROM item FORCE INDEX (ac) WHERE a BETWEEN 1 AND 20 AND c = 7 FOR UPDATE", "7,x 17,x"),
            at('b', "UPDATE item SET note = 'b' WHERE id = 7", WAITS),
            // Its entry is locked, the row is not.
            at('c', "UPDATE item SET note = 'c' WHERE id = 8", "1 rows"),
            by('d', "UPDATE item SET c = 7 WHERE id = 9", ["1 rows", "1 rows", WAITS, WAITS]),
            by('e', "INSERT INTO item VALUES (501, 5, 0, 7, 'e')", ["1 rows", "1 rows", WAITS, WAITS]),
            at('a', COMMIT, DONE),
            end('b', ["1 rows"; 4]),
            end('d', ["", "", "1 rows", "1 rows"]),
            end('e', ["", "", "1 rows", "1 rows"]),
            at(
                'a',
                "SELECT id FROM item FORCE INDEX (ac) WHERE a BETWEEN 1 AND 20 AND c = 7 ORDER BY id FOR SHARE",
                "7 9 17 501",
            ),
        ],
    },
    Scenario {
        name: "conditions on entries of an index hold for rows as they are",
        setup: ITEMS,
        steps: &[
            at('b', BEGIN, DONE),
            at('b', "UPDATE item SET c = 1 WHERE id = 7", "1 rows"),
            at('b', "UPDATE item SET note = 'b' WHERE id = 17", "1 rows"),
            at('a', BEGIN, DONE),
            at('a', "UPDATE item SET note = 'a' WHERE a BETWEEN 1 AND 20 AND c = 7", WAITS),
            at('b', COMMIT, DONE),
            end('a', ["1 rows"; 4]),
            at('c', "SELECT id FROM item FORCE INDEX (ac) WHERE a BETWEEN 1 AND 30 AND c = 7 FOR UPDATE SKIP LOCKED", "27"),
            at('a', "DELETE FROM item WHERE a BETWEEN 1 AND 30 AND c = 7", "2 rows"),
            at('a', COMMIT, DONE),
            at('c', "SELECT COUNT(*) FROM item WHERE a < 40", "37"),
        ],
    },
    Scenario {
        name: "readers that share what a secondary index leads to",
        setup: ITEMS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT id FROM item WHERE b = 1010 FOR SHARE", "10"),
            at('b', "SELECT id FROM item WHERE b = 1010 FOR SHARE NOWAIT", "10"),
            at('b', "SELECT note FROM item WHERE b = 1010 FOR UPDATE NOWAIT", "error 3572"),
            at('b', "SELECT note FROM item WHERE b IN (1010, 1011) FOR UPDATE SKIP LOCKED", "x"),
            at('a', COMMIT, DONE),
        ],
    },
    Scenario {
        name: "who waits for whom",
        setup: ACCOUNTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "UPDATE account SET balance = 0 WHERE owner = 'bob'", "1 rows"),
            at('b', "UPDATE account SET balance = 1 WHERE owner = 'bob'", WAITS),
            at(
                'c',
                "SELECT object_name, index_name, lock_type, lock_mode, lock_status FROM performance_schema.data_locks
                 WHERE object_schema = DATABASE() AND lock_mode LIKE '%REC_NOT_GAP' ORDER BY lock_status",
                "account,PRIMARY,RECORD,X,REC_NOT_GAP,GRANTED account,PRIMARY,RECORD,X,REC_NOT_GAP,WAITING",
            ),
            at(
                'c',
                "SELECT w.info, b.info IS NULL, h.lock_status FROM performance_schema.data_lock_waits l
                 JOIN information_schema.processlist w ON w.id = l.requesting_engine_transaction_id
                 JOIN information_schema.processlist b ON b.id = l.blocking_engine_transaction_id
                 JOIN performance_schema.data_locks h ON h.engine_lock_id = l.blocking_engine_lock_id",
                "UPDATE account SET balance = 1 WHERE owner = 'bob',1,GRANTED",
            ),
            at(
                'c',
                "SELECT locked_table, locked_index, waiting_query, sql_kill_blocking_connection = CONCAT('KILL ', blocking_pid)
                 FROM sys.innodb_lock_waits",
                "`isolation_levels`.`account`,PRIMARY,UPDATE account SET balance = 1 WHERE owner = 'bob',1",
            ),
            at(
                'c',
                "SELECT trx_state, trx_query, trx_requested_lock_id IS NULL FROM information_schema.innodb_trx ORDER BY trx_state",
                "LOCK WAIT,UPDATE account SET balance = 1 WHERE owner = 'bob',0 RUNNING,NULL,1",
            ),
            at('a', COMMIT, DONE),
            end('b', ["1 rows"; 4]),
            at('c', "SELECT COUNT(*) FROM performance_schema.data_lock_waits", "0"),
        ],
    },
    Scenario {
        name: "a new child keeps its parent",
        setup: FAMILY,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "INSERT INTO child VALUES (1, 5)", "1 rows"),
            at('b', BEGIN, DONE),
            at('b', "DELETE FROM parent WHERE id = 5", WAITS),
            at('c', "UPDATE parent SET v = 21 WHERE id = 2", "1 rows"),
            at('a', COMMIT, DONE),
            end('b', ["error 1451"; 4]),
            at('b', COMMIT, DONE),
            at('c', "SELECT id FROM parent", "1 2 5"),
        ],
    },
    Scenario {
        name: "a child waits for its parent",
        setup: FAMILY,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "DELETE FROM parent WHERE id = 5", "1 rows"),
            at('b', BEGIN, DONE),
            at('b', "INSERT INTO child VALUES (1, 5)", WAITS),
            at('a', COMMIT, DONE),
            end('b', ["error 1452"; 4]),
            at('b', COMMIT, DONE),
            at('c', "SELECT COUNT(*) FROM child", "0"),
        ],
    },
    Scenario {
        name: "a child waits for its parent, which stays",
        setup: FAMILY,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "UPDATE parent SET v = 51 WHERE id = 5", "1 rows"),
            at('b', BEGIN, DONE),
            at('b', "INSERT INTO child VALUES (1, 5)", WAITS),
            // The entry of the waiting child does not exist yet, so no session waits for it.
            at('a', "DELETE FROM parent WHERE id = 5", "1 rows"),
            at('a', "ROLLBACK", DONE),
            end('b', ["1 rows"; 4]),
            at('b', COMMIT, DONE),
            at('c', "SELECT pid FROM child", "5"),
        ],
    },
    Scenario {
        name: "a parent that is seen no more, or not yet",
        setup: FAMILY,
        steps: &[
            at('a', BEGIN, DONE),
            by('a', "SELECT COUNT(*) FROM child", ["0", "0", "0", ""]),
            at('b', "DELETE FROM parent WHERE id = 5", "1 rows"),
            at('b', "INSERT INTO parent VALUES (6, 60)", "1 rows"),
            // A foreign key check reads the committed rows, whatever the snapshot shows.
            at('a', "INSERT INTO child VALUES (1, 5)", "error 1452"),
            at('a', "INSERT INTO child VALUES (1, 6)", "1 rows"),
            at('a', COMMIT, DONE),
        ],
    },
    Scenario {
        name: "a deadlock with a child in it",
        setup: FAMILY,
        steps: &[
            at('a', BEGIN, DONE),
            at('b', BEGIN, DONE),
            at('a', "UPDATE parent SET v = 1 WHERE id = 1", "1 rows"),
            at('b', "UPDATE parent SET v = 2 WHERE id = 2", "1 rows"),
            at('b', "INSERT INTO child VALUES (1, 5)", "1 rows"),
            at('a', "UPDATE parent SET v = 3 WHERE id = 2", WAITS),
            at('b', "UPDATE parent SET v = 4 WHERE id = 1", "1 rows"),
            end('a', ["error 1213"; 4]),
            at('b', "ROLLBACK", DONE),
            at('c', "SELECT v FROM parent ORDER BY id", "10 20 50"),
        ],
    },
    Scenario {
        name: "a definition waits for those who use the table",
        setup: FAMILY,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT COUNT(*) FROM parent", "3"),
            at('b', "ALTER TABLE parent ADD COLUMN extra INT", WAITS),
            at('a', COMMIT, DONE),
            end('b', [DONE; 4]),
            at(
                'c',
                "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'parent'",
                "3",
            ),
        ],
    },
    Scenario {
        name: "a parent's definition waits for its children's users",
        setup: FAMILY,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "INSERT INTO child VALUES (1, 5)", "1 rows"),
            at('b', "ALTER TABLE parent ADD COLUMN extra INT", WAITS),
            at('a', COMMIT, DONE),
            end('b', [DONE; 4]),
            at('c', "INSERT INTO child VALUES (2, 9)", "error 1452"),
        ],
    },
    Scenario {
        name: "dirty read",
        setup: ACCOUNTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "UPDATE account SET balance = 0 WHERE owner = 'ann'", "1 rows"),
            at('b', BEGIN, DONE),
            by('b', "SELECT balance FROM account WHERE owner = 'ann'", ["0", "100", "100", WAITS]),
            at('a', "ROLLBACK", DONE),
            end('b', ["", "", "", "100"]),
            at('b', "SELECT balance FROM account WHERE owner = 'ann'", "100"),
        ],
    },
    Scenario {
        name: "a read repeated",
        setup: ACCOUNTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT SUM(balance) FROM account", "600"),
            by('b', "UPDATE account SET balance = balance + 1", ["3 rows", "3 rows", "3 rows", WAITS]),
            by('a', "SELECT SUM(balance) FROM account", ["603", "603", "600", "600"]),
            at('a', COMMIT, DONE),
            end('b', ["", "", "", "3 rows"]),
            at('a', "SELECT SUM(balance) FROM account", "603"),
        ],
    },
    Scenario {
        name: "lost update by read and write",
        setup: ACCOUNTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('b', BEGIN, DONE),
            at('a', "SELECT balance FROM account WHERE owner = 'bob'", "200"),
            at('b', "SELECT balance FROM account WHERE owner = 'bob'", "200"),
            by('a', "UPDATE account SET balance = 210 WHERE owner = 'bob'", ["1 rows", "1 rows", "1 rows", WAITS]),
            by('b', "UPDATE account SET balance = 220 WHERE owner = 'bob'", [WAITS, WAITS, WAITS, "error 1213"]),
            end('a', ["", "", "", "1 rows"]),
            at('a', COMMIT, DONE),
            end('b', ["1 rows", "1 rows", "1 rows", ""]),
            at('b', COMMIT, DONE),
            by('c', "SELECT balance FROM account WHERE owner = 'bob'", ["220", "220", "220", "210"]),
        ],
    },
    Scenario {
        name: "no lost update with a lock or in one statement",
        setup: ACCOUNTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT balance FROM account WHERE owner = 'bob' FOR UPDATE", "200"),
            at('b', "UPDATE account SET balance = balance + 20 WHERE owner = 'bob'", WAITS),
            at('a', "UPDATE account SET balance = 210 WHERE owner = 'bob'", "1 rows"),
            at('a', COMMIT, DONE),
            end('b', ["1 rows"; 4]),
            at('c', "SELECT balance FROM account WHERE owner = 'bob'", "230"),
        ],
    },
    Scenario {
        name: "write skew",
        setup: SHIFTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('b', BEGIN, DONE),
            at('a', "SELECT COUNT(*) FROM shift WHERE on_call = 1", "2"),
            at('b', "SELECT COUNT(*) FROM shift WHERE on_call = 1", "2"),
            by('a', "UPDATE shift SET on_call = 0 WHERE id = 10", ["1 rows", "1 rows", "1 rows", WAITS]),
            by('b', "UPDATE shift SET on_call = 0 WHERE id = 20", ["1 rows", "1 rows", "1 rows", "error 1213"]),
            end('a', ["", "", "", "1 rows"]),
            at('a', COMMIT, DONE),
            at('b', COMMIT, DONE),
            by('c', "SELECT COUNT(*) FROM shift WHERE on_call = 1", ["0", "0", "0", "1"]),
        ],
    },
    Scenario {
        name: "phantom in plain reads",
        setup: SHIFTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT id FROM shift WHERE id > 15 ORDER BY id", "20 50"),
            by('b', "INSERT INTO shift VALUES (30, 'zoe', 1)", ["1 rows", "1 rows", "1 rows", WAITS]),
            by('a', "SELECT id FROM shift WHERE id > 15 ORDER BY id", ["20 30 50", "20 30 50", "20 50", "20 50"]),
            at('a', COMMIT, DONE),
            end('b', ["", "", "", "1 rows"]),
            at('a', "SELECT id FROM shift WHERE id > 15 ORDER BY id", "20 30 50"),
        ],
    },
    Scenario {
        name: "phantom in locking reads",
        setup: SHIFTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT id FROM shift WHERE id BETWEEN 15 AND 40 FOR UPDATE", "20"),
            by('b', "INSERT INTO shift VALUES (30, 'zoe', 1)", ["1 rows", "1 rows", WAITS, WAITS]),
            at('c', "INSERT INTO shift VALUES (60, 'kim', 1)", "1 rows"),
            by('a', "SELECT id FROM shift WHERE id BETWEEN 15 AND 40 FOR UPDATE", ["20 30", "20 30", "20", "20"]),
            at('a', COMMIT, DONE),
            end('b', ["", "", "1 rows", "1 rows"]),
        ],
    },
    Scenario {
        name: "phantom through a secondary index",
        setup: ACCOUNTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT owner FROM account WHERE branch = 2 FOR UPDATE", "-"),
            by('b', "INSERT INTO account VALUES ('joe', 1, 2)", ["1 rows", "1 rows", WAITS, WAITS]),
            // A move into the gap is an insert there.
            by('c', "UPDATE account SET branch = 3 WHERE owner = 'eve'", ["1 rows", "1 rows", WAITS, WAITS]),
            at('d', "UPDATE account SET balance = 301 WHERE owner = 'bob'", "1 rows"),
            at('a', COMMIT, DONE),
            end('b', ["", "", "1 rows", "1 rows"]),
            end('c', ["", "", "1 rows", "1 rows"]),
        ],
    },
    Scenario {
        name: "a key that nobody has",
        setup: SHIFTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('b', BEGIN, DONE),
            at('a', "DELETE FROM shift WHERE id = 30", "0 rows"),
            at('b', "SELECT id FROM shift WHERE id = 31 FOR UPDATE", "-"),
            by('a', "INSERT INTO shift VALUES (30, 'zoe', 1)", ["1 rows", "1 rows", WAITS, WAITS]),
            by('b', "INSERT INTO shift VALUES (31, 'kim', 1)", ["1 rows", "1 rows", "error 1213", "error 1213"]),
            end('a', ["", "", "1 rows", "1 rows"]),
            at('a', COMMIT, DONE),
            at('b', COMMIT, DONE),
            by('c', "SELECT id FROM shift WHERE id IN (30, 31)", ["30 31", "30 31", "30", "30"]),
        ],
    },
    Scenario {
        name: "rows that do not match",
        setup: SHIFTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "UPDATE shift SET doctor = 'max' WHERE on_call = 0", "1 rows"),
            // Where rows that do not match are unlocked again, others may change them.
            by('b', "UPDATE shift SET doctor = 'sue' WHERE id = 10", ["1 rows", "1 rows", WAITS, WAITS]),
            at('a', COMMIT, DONE),
            end('b', ["", "", "1 rows", "1 rows"]),
            at('a', BEGIN, DONE),
            at('a', "UPDATE shift SET on_call = 2 WHERE id = 10", "1 rows"),
            // A semi-consistent read judges the committed version first and need not wait.
            by('b', "UPDATE shift SET on_call = 3 WHERE on_call = 0", ["1 rows", "1 rows", WAITS, WAITS]),
            at('a', COMMIT, DONE),
            end('b', ["", "", "1 rows", "1 rows"]),
        ],
    },
    Scenario {
        name: "a job queue",
        setup: SHIFTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('b', BEGIN, DONE),
            at('c', BEGIN, DONE),
            at('a', "SELECT id FROM shift WHERE on_call = 1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", "10"),
            at('b', "SELECT id FROM shift WHERE on_call = 1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", "20"),
            at('c', "SELECT id FROM shift WHERE on_call = 1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", "-"),
            at('c', "SELECT id FROM shift WHERE id = 10 FOR SHARE NOWAIT", "error 3572"),
            at('a', "DELETE FROM shift WHERE id = 10", "1 rows"),
            at('a', COMMIT, DONE),
            at('b', "ROLLBACK", DONE),
            at('c', "SELECT id FROM shift WHERE on_call = 1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", "20"),
        ],
    },
    Scenario {
        name: "what stays locked",
        setup: SHIFTS,
        steps: &[
            at('a', BEGIN, DONE),
            // The same value again, and a change that a savepoint takes back.
            at('a', "UPDATE shift SET on_call = on_call WHERE id = 10", "0 rows"),
            at('a', "SAVEPOINT here", DONE),
            at('a', "UPDATE shift SET on_call = 5 WHERE id = 20", "1 rows"),
            at('a', "ROLLBACK TO here", DONE),
            at('b', "UPDATE shift SET doctor = 'b' WHERE id = 10", WAITS),
            at('c', "UPDATE shift SET doctor = 'c' WHERE id = 20", WAITS),
            at('d', "UPDATE shift SET doctor = 'd' WHERE id = 50", "1 rows"),
            at('a', COMMIT, DONE),
            end('b', ["1 rows"; 4]),
            end('c', ["1 rows"; 4]),
        ],
    },
    Scenario {
        name: "own changes of rows that the snapshot does not see",
        setup: ACCOUNTS,
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "SELECT COUNT(*) FROM account WHERE owner = 'none'", "0"),
            // At SERIALIZABLE the reader has locked the gap behind the last name before 'none' only.
            by('b', "INSERT INTO account VALUES ('amy', 1, 7)", ["1 rows"; 4]),
            by('b', "UPDATE account SET branch = 8 WHERE owner = 'bob'", ["1 rows"; 4]),
            at('a', "UPDATE account SET balance = 2 WHERE owner IN ('amy', 'bob')", "2 rows"),
            by('a', "SELECT owner FROM account WHERE branch = 7", ["amy"; 4]),
            by('a', "SELECT COUNT(*) FROM account WHERE branch = 1", ["1"; 4]),
            by('a', "SELECT COUNT(*) FROM account WHERE branch = 8", ["1"; 4]),
            by('a', "SELECT COUNT(*) FROM account", ["4"; 4]),
            at('a', COMMIT, DONE),
        ],
    },
    Scenario {
        name: "insert from a query",
        setup: &[
            "CREATE TABLE source (id INT PRIMARY KEY, v INT)",
            "INSERT INTO source VALUES (1, 1), (5, 5)",
            "CREATE TABLE target (id INT PRIMARY KEY, v INT)",
        ],
        steps: &[
            at('a', BEGIN, DONE),
            at('a', "INSERT INTO target SELECT * FROM source", "2 rows"),
            by('b', "INSERT INTO source VALUES (3, 3)", ["1 rows", "1 rows", WAITS, WAITS]),
            by('c', "UPDATE source SET v = 6 WHERE id = 5", ["1 rows", "1 rows", WAITS, WAITS]),
            at('a', COMMIT, DONE),
            end('b', ["", "", "1 rows", "1 rows"]),
            end('c', ["", "", "1 rows", "1 rows"]),
        ],
    },
];
