//! The objects of the matrix of levels, and the statements about them.

pub const DATABASE: &str = "acct_levels";

/// A statement, and what undoes it where it succeeded; `me: ` marks what the same session runs.
pub struct Statement {
    pub text: String,
    pub undo: Vec<String>,
}

const TABLE_D: &str = "CREATE TABLE acct_levels.d (a INT PRIMARY KEY, b INT, c INT, KEY kb (b))";
const VIEW_D: &str = "CREATE VIEW acct_levels.dv AS SELECT a FROM acct_levels.u";
const PROCEDURE_D: &str = "CREATE PROCEDURE acct_levels.dp () DO 1";
const TRIGGER_D: &str = "CREATE TRIGGER acct_levels.dg BEFORE UPDATE ON acct_levels.d FOR EACH ROW SET @x = 1";
const EVENT_D: &str = "CREATE EVENT acct_levels.de ON SCHEDULE AT '2037-01-01' DISABLE DO DO 1";

pub const MAKE: &[&str] = &[
    "CREATE USER acct_me, acct_member, acct_caller, acct_plain",
    "CREATE ROLE acct_level_role",
    "GRANT acct_level_role TO acct_member",
    "SET DEFAULT ROLE acct_level_role TO acct_member",
    "CREATE DATABASE acct_levels",
    "CREATE DATABASE acct_levels_2",
    "CREATE TABLE acct_levels.t (a INT PRIMARY KEY, b INT, c INT, KEY kb (b))",
    "INSERT INTO acct_levels.t VALUES (1, 1, 1), (2, 2, 2)",
    "CREATE TABLE acct_levels.u (a INT PRIMARY KEY, b INT)",
    "INSERT INTO acct_levels.u VALUES (1, 1)",
    TABLE_D,
    TRIGGER_D,
    "CREATE VIEW acct_levels.v AS SELECT a, b FROM acct_levels.t",
    "CREATE SQL SECURITY INVOKER VIEW acct_levels.v_invoker AS SELECT a, b FROM acct_levels.t",
    VIEW_D,
    "CREATE PROCEDURE acct_levels.p () DO 1",
    "CREATE PROCEDURE acct_levels.p_invoker () SQL SECURITY INVOKER SELECT a FROM acct_levels.t",
    PROCEDURE_D,
    "CREATE FUNCTION acct_levels.f () RETURNS INT DETERMINISTIC RETURN 1",
    EVENT_D,
    "CREATE EVENT acct_levels.e ON SCHEDULE AT '2037-01-01' DISABLE DO DO 1",
    // What `acct_me` has made for others.
    "CREATE DEFINER = acct_me VIEW acct_levels.v_me AS SELECT a, b FROM acct_levels.t",
    "CREATE DEFINER = acct_me VIEW acct_levels.v_a AS SELECT a FROM acct_levels.t",
    "CREATE DEFINER = acct_me VIEW acct_levels.v_f AS SELECT acct_levels.f() AS a",
    "CREATE TABLE acct_levels.fired_1 (a INT, b INT)",
    "CREATE TABLE acct_levels.fired_2 (a INT, b INT)",
    "CREATE TABLE acct_levels.fired_3 (a INT, b INT)",
    "CREATE TABLE acct_levels.fired_4 (a INT, b INT)",
    "CREATE TABLE acct_levels.fired_5 (a INT, b INT)",
    "CREATE DEFINER = acct_me TRIGGER acct_levels.g1 BEFORE INSERT ON acct_levels.fired_1 FOR EACH ROW SET NEW.b = 5",
    "CREATE DEFINER = acct_me TRIGGER acct_levels.g2 BEFORE INSERT ON acct_levels.fired_2 FOR EACH ROW \
     SET @x = (SELECT MAX(a) FROM acct_levels.t)",
    "CREATE DEFINER = acct_me TRIGGER acct_levels.g3 AFTER INSERT ON acct_levels.fired_3 FOR EACH ROW \
     INSERT INTO acct_levels.t (a) VALUES (100)",
    "CREATE DEFINER = acct_me TRIGGER acct_levels.g4 AFTER INSERT ON acct_levels.fired_4 FOR EACH ROW UPDATE acct_levels.t SET b = a",
    "CREATE DEFINER = acct_me TRIGGER acct_levels.g5 AFTER INSERT ON acct_levels.fired_5 FOR EACH ROW DELETE FROM acct_levels.t WHERE a > 900",
    "CREATE TABLE acct_levels.fired_6 (a INT, b INT)",
    "CREATE TABLE acct_levels.fired_7 (a INT, b INT)",
    "CREATE TABLE acct_levels.fired_8 (a INT, b INT)",
    "INSERT INTO acct_levels.fired_8 VALUES (1, 1)",
    "CREATE DEFINER = acct_me TRIGGER acct_levels.g6 BEFORE INSERT ON acct_levels.fired_6 FOR EACH ROW SET @x = NEW.a",
    "CREATE DEFINER = acct_me TRIGGER acct_levels.g7 BEFORE INSERT ON acct_levels.fired_7 FOR EACH ROW SET NEW.b = NEW.b + 1",
    "CREATE DEFINER = acct_me TRIGGER acct_levels.g8 BEFORE DELETE ON acct_levels.fired_8 FOR EACH ROW SET @x = OLD.a",
    "GRANT SELECT, INSERT, DELETE ON acct_levels.fired_6 TO acct_caller",
    "GRANT SELECT, INSERT, DELETE ON acct_levels.fired_7 TO acct_caller",
    "GRANT SELECT, INSERT, DELETE ON acct_levels.fired_8 TO acct_caller",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON acct_levels.v_me TO acct_caller",
    "GRANT SELECT ON acct_levels.v_a TO acct_caller",
    "GRANT SELECT ON acct_levels.v_f TO acct_caller",
    "GRANT SELECT, INSERT, DELETE ON acct_levels.fired_1 TO acct_caller",
    "GRANT SELECT, INSERT, DELETE ON acct_levels.fired_2 TO acct_caller",
    "GRANT SELECT, INSERT, DELETE ON acct_levels.fired_3 TO acct_caller",
    "GRANT SELECT, INSERT, DELETE ON acct_levels.fired_4 TO acct_caller",
    "GRANT SELECT, INSERT, DELETE ON acct_levels.fired_5 TO acct_caller",
];

#[derive(Default)]
struct List(Vec<Statement>);

impl List {
    /// `@.` stands for the database with its point.
    fn add(&mut self, text: &str, undo: &[&str]) {
        let full = |sql: &str| sql.replace("@.", "acct_levels.");
        self.0.push(Statement { text: full(text), undo: undo.iter().map(|sql| full(sql)).collect() });
    }

    fn all(&mut self, texts: &[&str]) {
        texts.iter().for_each(|text| self.add(text, &[]));
    }
}

/// What runs directly, by a role and in a procedure.
pub fn statements() -> Vec<Statement> {
    let mut list = List::default();
    rows(&mut list);
    tables(&mut list);
    objects(&mut list);
    shows(&mut list);
    grants(&mut list);
    list.0
}

/// What uses the views and triggers of `acct_me`.
pub fn of_objects() -> Vec<Statement> {
    let mut list = List::default();
    list.all(&[
        "SELECT a FROM @.v_me",
        "SELECT COUNT(*) FROM @.v_me",
        "SELECT * FROM @.v_a",
        "SELECT * FROM @.v_f",
        "UPDATE @.v_me SET b = a",
        "DELETE FROM @.v_me WHERE a > 900",
    ]);
    list.add("INSERT INTO @.v_me (a) VALUES (100)", &["DELETE FROM @.t WHERE a = 100"]);
    list.add("DELETE FROM @.fired_8", &["INSERT INTO @.fired_8 VALUES (1, 1)"]);
    for n in 1..=7 {
        let table = format!("@.fired_{n}");
        list.add(
            &format!("INSERT INTO {table} VALUES (1, 1)"),
            &[&format!("DELETE FROM {table}"), "DELETE FROM @.t WHERE a = 100"],
        );
    }
    list.0
}

fn rows(list: &mut List) {
    list.all(&[
        "SELECT 1 FROM @.t",
        "SELECT a FROM @.t",
        "SELECT b FROM @.t",
        "SELECT * FROM @.t",
        "SELECT COUNT(*) FROM @.t",
        "SELECT a FROM @.t WHERE b = 1",
        "SELECT a FROM @.t ORDER BY b",
        "SELECT MAX(a) FROM @.t GROUP BY c",
        "SELECT a FROM @.t FOR UPDATE",
        "SELECT a FROM @.t FOR SHARE",
        "SELECT t.a FROM @.t JOIN @.u ON t.a = u.a",
        "SELECT a FROM @.t UNION SELECT 1",
        "SELECT (SELECT MAX(b) FROM @.t)",
        "SELECT d.a FROM (SELECT a FROM @.t) d",
        "TABLE @.t",
        "WITH w AS (SELECT a FROM @.t) SELECT * FROM w",
        "SELECT a FROM @.v",
        "SELECT a FROM @.v_invoker",
        "SELECT @.f()",
        "SELECT a INTO @x FROM @.t LIMIT 1",
        "DO (SELECT MAX(a) FROM @.t)",
        "SET @x = (SELECT MAX(a) FROM @.t)",
        "UPDATE @.t SET b = 1 WHERE FALSE",
        "UPDATE @.t SET a = 9 WHERE FALSE",
        "UPDATE @.t SET b = a",
        "UPDATE @.t SET b = 2 WHERE a = 2",
        "UPDATE @.t JOIN @.u ON t.a = u.a SET t.b = u.b",
        "UPDATE @.v SET b = a",
        "DELETE FROM @.t WHERE FALSE",
        "DELETE FROM @.t WHERE a > 900",
        "DELETE @.t FROM @.t JOIN @.u ON t.a = u.a WHERE u.b > 900",
        "DELETE FROM @.v WHERE a > 900",
        "EXPLAIN SELECT a FROM @.t",
        "EXPLAIN SELECT a FROM @.v",
        "EXPLAIN UPDATE @.t SET b = 1",
        "EXPLAIN DELETE FROM @.t",
        "DESCRIBE @.t",
        "DESCRIBE @.v",
    ]);
    let gone = ["DELETE FROM @.t WHERE a > 2"];
    list.add("INSERT INTO @.t (a) VALUES (100)", &gone);
    list.add("INSERT INTO @.t VALUES (100, 1, 1)", &gone);
    list.add("INSERT INTO @.t SET a = 100, b = 1", &gone);
    list.add("INSERT INTO @.t (a) VALUES (100) ON DUPLICATE KEY UPDATE b = 1", &gone);
    list.add("INSERT INTO @.t (a) VALUES (100) ON DUPLICATE KEY UPDATE b = c", &gone);
    list.add("INSERT INTO @.t (a) SELECT a + 100 FROM @.u", &gone);
    list.add("INSERT INTO @.u (a) SELECT a + 100 FROM @.t", &["DELETE FROM @.u WHERE a > 100"]);
    list.add("REPLACE INTO @.t (a) VALUES (100)", &gone);
    list.add("INSERT INTO @.v (a) VALUES (100)", &gone);
    list.add("INSERT INTO @.v_invoker (a) VALUES (100)", &gone);
    list.add("PREPARE s FROM 'SELECT a FROM @.t'", &["me: DEALLOCATE PREPARE s"]);
    list.add("LOCK TABLES @.t READ", &["me: UNLOCK TABLES"]);
    list.add("LOCK TABLES @.t WRITE", &["me: UNLOCK TABLES"]);
    list.add("LOCK TABLES @.v READ", &["me: UNLOCK TABLES"]);
    list.add("FLUSH TABLES @.t WITH READ LOCK", &["me: UNLOCK TABLES"]);
}

fn tables(list: &mut List) {
    let new = ["DROP TABLE @.n"];
    list.add("CREATE TABLE @.n (a INT)", &new);
    list.add("CREATE TABLE @.n LIKE @.t", &new);
    list.add("CREATE TABLE @.n AS SELECT a FROM @.t", &new);
    list.add("CREATE TABLE @.n (a INT, FOREIGN KEY (a) REFERENCES @.t (a))", &new);
    list.add("CREATE TEMPORARY TABLE @.tmp (a INT)", &["me: DROP TEMPORARY TABLE @.tmp"]);
    list.add("CREATE TABLE IF NOT EXISTS @.t (a INT)", &[]);
    list.add("ALTER TABLE @.d ADD COLUMN z INT", &["ALTER TABLE @.d DROP COLUMN z"]);
    list.add("ALTER TABLE @.d ADD INDEX i (c)", &["ALTER TABLE @.d DROP INDEX i"]);
    list.add("ALTER TABLE @.d ADD FOREIGN KEY k (b) REFERENCES @.t (a)", &["ALTER TABLE @.d DROP FOREIGN KEY d_ibfk_1"]);
    list.add("ALTER TABLE @.d COMMENT 'x'", &["ALTER TABLE @.d COMMENT ''"]);
    list.add("ALTER TABLE @.d RENAME TO @.d2", &["RENAME TABLE @.d2 TO @.d"]);
    list.add("RENAME TABLE @.d TO @.d2", &["RENAME TABLE @.d2 TO @.d"]);
    list.add("RENAME TABLE @.d TO acct_levels_2.d", &["DROP TABLE acct_levels_2.d", TABLE_D, TRIGGER_D]);
    list.add("CREATE INDEX i ON @.d (c)", &["DROP INDEX i ON @.d"]);
    list.add("DROP INDEX kb ON @.d", &["CREATE INDEX kb ON @.d (b)"]);
    list.add("TRUNCATE TABLE @.d", &[]);
    list.add("DROP TABLE @.d", &[TABLE_D, TRIGGER_D]);
    list.add("DROP TABLE IF EXISTS @.d, @.nothing", &[TABLE_D, TRIGGER_D]);
    list.all(&[
        "DROP TABLE @.nothing",
        "DROP TABLE IF EXISTS @.nothing",
        "DROP VIEW IF EXISTS @.nothing",
        "ALTER TABLE @.nothing ADD COLUMN z INT",
        "SELECT * FROM @.nothing",
        "INSERT INTO @.nothing VALUES (1)",
        "ANALYZE TABLE @.t",
        "CHECK TABLE @.t",
        "OPTIMIZE TABLE @.d",
        "REPAIR TABLE @.d",
        "CHECKSUM TABLE @.t",
        "FLUSH TABLES @.t",
    ]);
}

fn objects(list: &mut List) {
    list.add("CREATE VIEW @.nv AS SELECT a FROM @.t", &["DROP VIEW @.nv"]);
    list.add("CREATE VIEW @.nv AS SELECT 1 AS a", &["DROP VIEW @.nv"]);
    list.add("CREATE VIEW @.nv AS SELECT a FROM @.v", &["DROP VIEW @.nv"]);
    list.add("CREATE OR REPLACE VIEW @.dv AS SELECT a FROM @.t", &["DROP VIEW @.dv", VIEW_D]);
    list.add("ALTER VIEW @.dv AS SELECT a FROM @.t", &["DROP VIEW @.dv", VIEW_D]);
    list.add("DROP VIEW @.dv", &[VIEW_D]);
    list.add("CREATE TRIGGER @.ng BEFORE INSERT ON @.d FOR EACH ROW SET @x = 1", &["DROP TRIGGER @.ng"]);
    list.add("CREATE TRIGGER @.ng BEFORE INSERT ON @.d FOR EACH ROW SET NEW.b = 1", &["DROP TRIGGER @.ng"]);
    list.add("DROP TRIGGER @.dg", &[TRIGGER_D]);
    list.add("DROP TRIGGER IF EXISTS @.nothing", &[]);
    list.add("CREATE PROCEDURE @.np () DO 1", &["DROP PROCEDURE @.np"]);
    list.add("CREATE PROCEDURE @.np () SELECT a FROM @.t", &["DROP PROCEDURE @.np"]);
    list.add("CREATE FUNCTION @.nf () RETURNS INT DETERMINISTIC RETURN 1", &["DROP FUNCTION @.nf"]);
    list.add("ALTER PROCEDURE @.dp COMMENT 'x'", &["ALTER PROCEDURE @.dp COMMENT ''"]);
    list.add("CREATE EVENT @.ne ON SCHEDULE AT '2037-01-01' DISABLE DO DO 1", &["DROP EVENT @.ne"]);
    list.add("ALTER EVENT @.e COMMENT 'x'", &["DROP EVENT @.e", "CREATE EVENT @.e ON SCHEDULE AT '2037-01-01' DISABLE DO DO 1"]);
    list.add("DROP EVENT @.de", &[EVENT_D]);
    list.add("CREATE DATABASE acct_new", &["DROP DATABASE acct_new"]);
    list.add("DROP DATABASE acct_levels_2", &["CREATE DATABASE acct_levels_2"]);
    list.all(&[
        "CALL @.p()",
        "CALL @.p_invoker()",
        "CALL @.nothing()",
        "DROP PROCEDURE IF EXISTS @.nothing",
        "DROP PROCEDURE @.nothing",
        "DROP FUNCTION @.nothing",
        "DROP EVENT @.nothing",
        "ALTER DATABASE acct_levels CHARACTER SET utf8mb4",
        "USE acct_levels",
        "CREATE DATABASE IF NOT EXISTS acct_levels",
    ]);
}

fn shows(list: &mut List) {
    list.all(&[
        "SHOW DATABASES LIKE 'acct%'",
        "SHOW TABLES FROM acct_levels",
        "SHOW FULL TABLES FROM acct_levels",
        "SHOW TABLE STATUS FROM acct_levels",
        "SHOW COLUMNS FROM @.t",
        "SHOW FULL COLUMNS FROM @.v",
        "SHOW INDEX FROM @.t",
        "SHOW CREATE TABLE @.t",
        "SHOW CREATE TABLE @.v",
        "SHOW CREATE VIEW @.v",
        "SHOW CREATE DATABASE acct_levels",
        "SHOW CREATE PROCEDURE @.p",
        "SHOW CREATE FUNCTION @.f",
        "SHOW CREATE TRIGGER @.dg",
        "SHOW CREATE EVENT @.e",
        "SHOW TRIGGERS FROM acct_levels",
        "SHOW EVENTS FROM acct_levels",
        "SHOW PROCEDURE STATUS LIKE 'dp'",
        "SHOW OPEN TABLES FROM acct_levels LIKE 'nothing'",
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'acct_levels'",
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'acct_levels' AND TABLE_NAME = 't'",
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'acct_levels' AND TABLE_NAME NOT LIKE '%v%'",
        "SELECT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'acct_levels'",
        "SELECT CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = 'acct_levels'",
        "SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = 'acct_levels'",
        "SELECT TABLE_NAME FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'acct_levels'",
        "SELECT TABLE_NAME FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'acct_levels' AND VIEW_DEFINITION != ''",
        "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'acct_levels'",
        "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'acct_levels'",
        "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'acct_levels' AND ROUTINE_DEFINITION IS NOT NULL",
        "SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'acct_levels'",
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'acct%'",
        "SELECT PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES WHERE GRANTEE LIKE '%acct_caller%'",
        "SELECT PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES WHERE TABLE_NAME = 't'",
        "SELECT PRIVILEGE_TYPE FROM information_schema.COLUMN_PRIVILEGES WHERE TABLE_NAME = 't'",
        "SELECT PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES WHERE TABLE_SCHEMA = 'acct_levels'",
    ]);
}

fn grants(list: &mut List) {
    for (privilege, place) in [
        ("SELECT", "@.t"),
        ("SELECT (a)", "@.t"),
        ("UPDATE (b)", "@.t"),
        ("INSERT", "@.t"),
        ("SELECT", "acct_levels.*"),
        ("SELECT", "*.*"),
        ("EXECUTE", "PROCEDURE @.p"),
        ("EXECUTE", "acct_levels.*"),
        ("ALTER ROUTINE", "FUNCTION @.f"),
    ] {
        list.add(
            &format!("GRANT {privilege} ON {place} TO acct_plain"),
            &[&format!("REVOKE {privilege} ON {place} FROM acct_plain")],
        );
    }
    list.all(&["REVOKE SELECT ON @.t FROM acct_plain", "SHOW GRANTS FOR acct_plain"]);
}
