//! Tests of the parser: statements and their printed trees.

use super::*;
use ::types::SqlMode;

/// Parses and prints the tree back as canonical text.
fn check(text: &str, expected: &str) {
    check_mode(text, expected, &SqlMode::DEFAULT);
}

fn check_mode(text: &str, expected: &str, mode: &SqlMode) {
    let arena = Arena::new();
    let printed = match parse(&arena, text.as_bytes(), mode) {
        Ok(parsed) => parsed.statement.to_string(),
        Err(error) => format!("error: {error}"),
    };
    assert_eq!(printed, expected, "{text}");
}

/// Checks an expression.
fn expr(text: &str, expected: &str) {
    let arena = Arena::new();
    let printed = match parse_expression(&arena, text.as_bytes(), &SqlMode::DEFAULT) {
        Ok(expr) => expr.to_string(),
        Err(error) => format!("error: {error}"),
    };
    assert_eq!(printed, expected, "{text}");
}

fn parses(text: &str) -> Result<()> {
    let arena = Arena::new();
    parse(&arena, text.as_bytes(), &SqlMode::DEFAULT).map(|_| ())
}

#[test]
fn precedence() {
    expr("a OR b AND c XOR d", "(a OR ((b AND c) XOR d))");
    expr("NOT a = b AND c", "((NOT (a = b)) AND c)");
    expr("a = b = c", "((a = b) = c)");
    expr("a + b * c - d DIV e % f", "((a + (b * c)) - ((d DIV e) % f))");
    expr("a | b & c << d + e", "(a | (b & (c << (d + e))))");
    expr("-a ^ b", "(-a ^ b)");
    expr("a BETWEEN 1 AND 2 AND b", "((a BETWEEN 1 AND 2) AND b)");
    expr("a NOT BETWEEN 1 + 1 AND 2 OR b", "((a NOT BETWEEN (1 + 1) AND 2) OR b)");
    expr("a IS NULL = b", "((a IS NULL) = b)");
    expr("a IS NOT TRUE", "(a IS NOT TRUE)");
    expr("a IN (1, 2) AND b NOT IN (3)", "((a IN (1, 2)) AND (b NOT IN (3)))");
    expr("a LIKE 'x' ESCAPE '|' OR b NOT LIKE c", "((a LIKE 'x' ESCAPE '|') OR (b NOT LIKE c))");
    expr("!a + b", "(!a + b)");
    expr("BINARY a = b COLLATE utf8mb4_bin", "((BINARY a) = (b COLLATE utf8mb4_bin))");
    expr("a || b", "(a OR b)");
    expr("a && b && c", "(a AND b AND c)");
    expr("a < ALL (SELECT 1)", "(a < ALL (SELECT 1))");
}

#[test]
fn modes() {
    let mode = SqlMode { pipes_as_concat: true, ..SqlMode::DEFAULT };
    check_mode("SELECT a || b = c", "SELECT ((a || b) = c)", &mode);
    let mode = SqlMode { ansi_quotes: true, ..SqlMode::DEFAULT };
    check_mode("SELECT \"a b\", 'x' FROM \"t\"", "SELECT a b, 'x' FROM t", &mode);
    let mode = SqlMode { high_not_precedence: true, ..SqlMode::DEFAULT };
    check_mode("SELECT NOT a BETWEEN 1 AND 2", "SELECT (!a BETWEEN 1 AND 2)", &mode);
    let mode = SqlMode { no_backslash_escapes: true, ..SqlMode::DEFAULT };
    check_mode(r"SELECT 'a\'", r"SELECT 'a\\'", &mode);
}

#[test]
fn literals() {
    expr("'a''b' 'c'", r"'a\'bc'");
    expr("_utf8mb4 'x'", "_utf8mb4'x'");
    check("SELECT _nope 'x'", "SELECT _nope AS x");
    expr("N'x'", "_utf8mb3'x'");
    expr("0x4D4", "0x04D4");
    expr("x'4D41'", "0x4D41");
    expr("b'100000001'", "0x0101");
    expr("18446744073709551615", "18446744073709551615");
    expr("18446744073709551616", "18446744073709551616");
    expr("DATE '2024-01-01' + INTERVAL 1 DAY", "(DATE'2024-01-01' + INTERVAL 1 DAY)");
    expr("{ts '2024-01-01 00:00:00'}", "TIMESTAMP'2024-01-01 00:00:00'");
    expr("INTERVAL 1 MONTH + d", "(d + INTERVAL 1 MONTH)");
    expr("INTERVAL(5, 1, 10) + 1", "(INTERVAL(5, 1, 10) + 1)");
    expr("a - INTERVAL (1 + 2) HOUR_MINUTE", "(a - INTERVAL (1 + 2) HOUR_MINUTE)");
}

#[test]
fn functions() {
    expr("COUNT(*) + COUNT(DISTINCT a, b)", "(COUNT(*) + COUNT(DISTINCT a, b))");
    expr("GROUP_CONCAT(DISTINCT a ORDER BY b DESC SEPARATOR '|')", "GROUP_CONCAT(DISTINCT a ORDER BY b DESC SEPARATOR '|')");
    expr("CAST(a AS DECIMAL(10, 2))", "CAST(a AS Decimal { precision: 10, scale: 2 })");
    expr("CONVERT(a, CHAR(5))", "CAST(a AS Char { length: Some(5), charset: None, binary: false })");
    expr("CONVERT(a USING latin1)", "CONVERT(a USING latin1)");
    expr("TRIM(LEADING 'x' FROM a)", "TRIM(Leading 'x' FROM a)");
    expr("SUBSTRING(a FROM 2 FOR 3)", "SUBSTRING(a, 2, 3)");
    expr("POSITION('a' IN b)", "LOCATE('a', b)");
    expr("EXTRACT(DAY_HOUR FROM a)", "EXTRACT(DAY_HOUR FROM a)");
    expr("TIMESTAMPDIFF(SQL_TSI_DAY, a, b)", "TimestampDiff(DAY, a, b)");
    expr("DATE_SUB(a, INTERVAL 1 YEAR)", "(a - INTERVAL 1 YEAR)");
    expr("ADDDATE(a, 5)", "(a + INTERVAL 5 DAY)");
    expr("CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP()");
    expr("IF(a, b, c) + LEFT(a, 1) + REPLACE(a, b, c)", "((IF(a, b, c) + LEFT(a, 1)) + REPLACE(a, b, c))");
    expr("CASE a WHEN 1 THEN 2 ELSE 3 END", "CASE a WHEN 1 THEN 2 ELSE 3 END");
    expr(
        "ROW_NUMBER() OVER (PARTITION BY a ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "ROW_NUMBER() OVER ( PARTITION BY a ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    );
    expr("doc->>'$.a'", "(doc->>'$.a')");
    expr("MATCH (a, b) AGAINST ('x' IN BOOLEAN MODE)", "MATCH (a, b) AGAINST ('x' IN BOOLEAN MODE)");
}

#[test]
fn variables() {
    expr("@a.b := @`c d` + 1", "(@a.b := (@c d + 1))");
    expr("@@global.sql_mode = @@session.x", "(@@global.sql_mode = @@session.x)");
    expr("@@GLOBAL.gtid_executed", "@@global.gtid_executed");
    expr("@@hotcache.key_buffer", "@@hotcache.key_buffer");
}

#[test]
fn select() {
    check("SELECT DISTINCT a b, t.*, d.t.* FROM t AS x", "SELECT DISTINCT a AS b, t.*, d.t.* FROM t AS x");
    check(
        "SELECT a, COUNT(*) FROM t WHERE x GROUP BY a HAVING b ORDER BY 1 DESC LIMIT 5, 10 FOR UPDATE SKIP LOCKED",
        "SELECT a, COUNT(*) FROM t WHERE x GROUP BY a HAVING b ORDER BY 1 DESC LIMIT 10 OFFSET 5 FOR Update SkipLocked",
    );
    check("SELECT a 'x y', b \"z\", c AS 'w'", "SELECT a AS x y, b AS z, c AS w");
    check("SELECT 1 LIMIT 3 OFFSET 4 LOCK IN SHARE MODE", "SELECT 1 LIMIT 3 OFFSET 4 FOR Share");
    check("SELECT a FROM t USE INDEX (PRIMARY, k) WHERE b", "SELECT a FROM t Use INDEX (PRIMARY, k) WHERE b");
    check("SELECT 1 FROM DUAL WHERE 1", "SELECT 1 WHERE 1");
    check("SELECT a INTO @x, @y FROM t", "SELECT a FROM t INTO @x, @y");
    check("SELECT a FROM t INTO @x, @y", "SELECT a FROM t INTO @x, @y");
    check("(SELECT 1)", "SELECT 1");
    check("SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3", "[SELECT 1 Union ALL [SELECT 2 Intersect SELECT 3]]");
    check("(SELECT 1 LIMIT 1) UNION (SELECT 2) ORDER BY 1", "[(SELECT 1 LIMIT 1) Union (SELECT 2)] ORDER BY 1");
    check("WITH RECURSIVE c (n) AS (SELECT 1) SELECT * FROM c", "WITH RECURSIVE c (n) AS (SELECT 1) SELECT * FROM c");
    check("VALUES ROW(1, 2), ROW(3, 4)", "VALUES (1, 2), (3, 4)");
    check("TABLE t ORDER BY a", "TABLE t ORDER BY a");
    check("SELECT (SELECT 1), EXISTS (SELECT 2)", "SELECT (SELECT 1), EXISTS (SELECT 2)");
    check("SELECT ((SELECT 1) UNION (SELECT 2))", "SELECT ([(SELECT 1) Union (SELECT 2)])");
    check("SELECT a FROM t WHERE a IN (SELECT b FROM u)", "SELECT a FROM t WHERE (a IN (SELECT b FROM u))");
}

#[test]
fn joins() {
    check("SELECT 1 FROM a, b JOIN c ON x", "SELECT 1 FROM a, (b Inner JOIN c ON x)");
    check("SELECT 1 FROM a JOIN b JOIN c ON x ON y", "SELECT 1 FROM (a Inner JOIN (b Inner JOIN c ON x) ON y)");
    check("SELECT 1 FROM a JOIN b LEFT JOIN c ON x", "SELECT 1 FROM ((a Inner JOIN b) Left JOIN c ON x)");
    check("SELECT 1 FROM a LEFT OUTER JOIN (b, c) USING (d)", "SELECT 1 FROM (a Left JOIN (b, c) USING (d))");
    check("SELECT 1 FROM a NATURAL LEFT JOIN b", "SELECT 1 FROM (a NATURAL Left JOIN b)");
    check("SELECT 1 FROM a CROSS JOIN b STRAIGHT_JOIN c", "SELECT 1 FROM ((a Inner JOIN b) Straight JOIN c)");
    check("SELECT 1 FROM a LEFT JOIN b", "error: syntax error near '' at line 1");
    check("SELECT 1 FROM (SELECT 2) t (x), LATERAL (SELECT x) u", "SELECT 1 FROM (SELECT 2) AS t (x), LATERAL (SELECT x) AS u");
    check("SELECT 1 FROM ((SELECT 1) UNION (SELECT 2)) t", "SELECT 1 FROM ([(SELECT 1) Union (SELECT 2)]) AS t");
    check("SELECT 1 FROM t JOIN (u JOIN p ON x)", "SELECT 1 FROM (t Inner JOIN ((u Inner JOIN p ON x)))");
    check("SELECT 1 FROM (SELECT 2)", "error: DerivedWithoutAlias");
    check("SELECT 1 FROM ((a JOIN b ON x), c) JOIN d", "SELECT 1 FROM ((((a Inner JOIN b ON x)), c) Inner JOIN d)");
    check("SELECT 1 FROM (((SELECT 1)) t JOIN u ON x)", "SELECT 1 FROM (((SELECT 1) AS t Inner JOIN u ON x))");
    check("SELECT 1 FROM (((SELECT 1) LIMIT 1)) t", "SELECT 1 FROM ((SELECT 1) LIMIT 1) AS t");
}

#[test]
fn changes() {
    check("INSERT t VALUES (1, DEFAULT), ()", "INSERT INTO t VALUES (1, DEFAULT), ()");
    check("INSERT INTO t () VALUE ()", "INSERT INTO t VALUES ()");
    check(
        "INSERT IGNORE INTO d.t (a, b) SELECT 1, 2 ON DUPLICATE KEY UPDATE a = VALUES(a) + 1",
        "INSERT IGNORE INTO d.t (a, b) SELECT 1, 2 ON DUPLICATE KEY UPDATE a = (VALUES(a) + 1)",
    );
    check("INSERT INTO t SET a = 1 AS n (x)", "INSERT INTO t SET a = 1 AS n (x)");
    check("INSERT INTO t (SELECT 1)", "INSERT INTO t SELECT 1");
    check("REPLACE t (a) VALUES (1)", "REPLACE INTO t (a) VALUES (1)");
    check(
        "UPDATE LOW_PRIORITY t SET a = 1, t.b = a WHERE c ORDER BY d LIMIT 1",
        "UPDATE t SET a = 1, t.b = a WHERE c ORDER BY d LIMIT 1",
    );
    check("UPDATE a JOIN b USING (c) SET a.x = 1", "UPDATE (a Inner JOIN b USING (c)) SET a.x = 1");
    check("DELETE QUICK FROM t WHERE a LIMIT 1", "DELETE FROM t WHERE a LIMIT 1");
    check("DELETE t, u.* FROM t, u", "DELETE t, u FROM t, u");
    check("DELETE FROM t USING t JOIN u ON x", "DELETE t FROM (t Inner JOIN u ON x)");
}

#[test]
fn errors() {
    check("SELEC 1", "error: syntax error near 'SELEC 1' at line 1");
    check("SELECT 1\nFROM\nt WHERE", "error: syntax error near '' at line 3");
    check("SELECT 'abc", "error: syntax error near ''abc' at line 1");
    check("SELECT count FROM select", "error: syntax error near 'select' at line 1");
    check("SELECT * FROM t LIMIT -1", "error: syntax error near '-1' at line 1");
    check("SELECT 1 +", "error: syntax error near '' at line 1");
    check("SELECT 1 /* x", "error: syntax error near '/* x' at line 1");
    check(&format!("SELECT {}()", "x".repeat(65)), &format!("error: IdentifierTooLong(\"{}\")", "x".repeat(65)));
}

#[test]
fn several_statements() {
    let arena = Arena::new();
    let text = b"SELECT 1; SELECT 2;; /* end */";
    let parsed = parse(&arena, text, &SqlMode::DEFAULT).expect("it parses");
    assert_eq!(&text[parsed.end..], b" SELECT 2;; /* end */");
    let parsed = parse(&arena, &text[parsed.end..], &SqlMode::DEFAULT).expect("it parses");
    assert_eq!(parsed.end, 10);
    check("  -- nothing\n", "Empty");
    check("/*!40101 SELECT 1 */", "SELECT 1");
    check("/*!90000 SELECT 1 */", "Empty");
}

#[test]
fn bounds() {
    let deep = |n: usize| format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(parses(&deep(300)), Ok(()));
    assert_eq!(parses(&deep(10_000)), Err(Error::TooDeep));
    assert_eq!(parses(&format!("SELECT {}1", "- ".repeat(10_000))), Err(Error::TooDeep));
    assert_eq!(parses(&format!("SELECT {}1", "NOT ".repeat(10_000))), Err(Error::TooDeep));
    assert_eq!(parses(&format!("SELECT 1{}", "+1".repeat(10_000))), Err(Error::TooDeep));
    assert_eq!(parses(&format!("SELECT {}1{}", "(SELECT ".repeat(2000), ")".repeat(2000))), Err(Error::TooDeep));
    assert_eq!(parses(&format!("SELECT * FROM {}t{}", "(".repeat(2000), ")".repeat(2000))), Err(Error::TooDeep));
    assert_eq!(parses(&format!("SELECT 1 WHERE a{}", " OR a = 1".repeat(100_000))), Ok(()));
    assert_eq!(parses(&format!("SELECT 1 WHERE a IN (1{})", ",1".repeat(100_000))), Ok(()));
    assert_eq!(parses(&format!("SELECT a{}", ",a".repeat(65_534))), Ok(()));
    assert_eq!(parses(&format!("SELECT a{}", ",a".repeat(65_535))), Err(Error::TooManyColumns));
    assert_eq!(parses(&format!("SELECT * FROM t{}", " JOIN t".repeat(100))), Err(Error::TooManyTables));
    assert_eq!(parses(&format!("SELECT 1{}", " UNION SELECT 1".repeat(10_000))), Ok(()));
    assert!(parses(&format!("SELECT {}", "CASE ".repeat(2000))).is_err());
}

/// Words put together at random never panic, and neither do their parts.
#[test]
fn random_words() {
    let words: Vec<&str> = "SELECT FROM WHERE ( ) , . * a `b` 'c' 1 2.5 1e3 ? @v @@x = < > + - NOT AND OR IN BETWEEN LIKE IS NULL CASE WHEN \
        THEN ELSE END INTERVAL DAY UNION ALL ORDER BY GROUP LIMIT JOIN LEFT ON USING INSERT INTO VALUES SET UPDATE DELETE CREATE TABLE INT \
        PRIMARY KEY DEFAULT ALTER ADD DROP COLUMN INDEX SHOW TABLES COLUMNS ; /* */ /*! -- # \n \\ \" EXISTS WITH AS OVER COUNT SUM \
        CAST CONVERT CHARACTER utf8mb4 COLLATE { } := || && -> ->> 0x 0b x' _utf8mb4 N' EXPLAIN FORMAT TREE"
        .split(' ')
        .collect();
    let mut state = 88172645463325252u64;
    let mut random = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let mut arena = Arena::new();
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..1 + random(25) {
            text.push_str(words[random(words.len())]);
            if random(4) > 0 {
                text.push(' ');
            }
        }
        arena.reset();
        let cut = random(text.len() + 1);
        let parsed = parse(&arena, text.as_bytes(), &SqlMode::DEFAULT);
        if let Ok(parsed) = parsed {
            assert!(parsed.end <= text.len());
            let _ = parsed.statement.to_string();
        }
        let _ = parse(&arena, &text.as_bytes()[..cut], &SqlMode::DEFAULT);
        let _ = crate::digest(text.as_bytes(), &SqlMode::DEFAULT, &mut crate::Lifted::default());
    }
}

#[test]
fn views() {
    let form = |text: &str| {
        let arena = Arena::new();
        match parse(&arena, text.as_bytes(), &SqlMode::DEFAULT).expect(text).statement {
            Statement::CreateView(view) => format!(
                "{:?} {} {:?} {:?} {} {:?} {:?} AS {}",
                view.form, view.name, view.algorithm, view.definer, view.invoker, view.columns, view.check, view.query
            ),
            other => panic!("{text}: {other:?}"),
        }
    };
    let cases = [
        ("CREATE VIEW v AS SELECT 1", "Create v Undefined None false [] None AS SELECT 1"),
        (
            "CREATE OR REPLACE ALGORITHM=MERGE DEFINER=`u`@`h` SQL SECURITY INVOKER VIEW d.v (a, b) AS (SELECT 1, 2) WITH LOCAL CHECK OPTION",
            "OrReplace d.v Merge Some((\"u\", \"h\")) true [\"a\", \"b\"] Local AS SELECT 1, 2",
        ),
        (
            "create definer=current_user() view if not exists v as select a from t group by a with check option",
            "IfNotExists v Undefined None false [] Cascaded AS SELECT a FROM t GROUP BY a",
        ),
        (
            "ALTER ALGORITHM = TEMPTABLE SQL SECURITY DEFINER VIEW v AS TABLE t WITH CASCADED CHECK OPTION",
            "Alter v TempTable None false [] Cascaded AS TABLE t",
        ),
        ("ALTER DEFINER='x' VIEW v AS SELECT 1", "Alter v Undefined Some((\"x\", \"%\")) false [] None AS SELECT 1"),
    ];
    for (text, expected) in cases {
        assert_eq!(form(text), expected, "{text}");
    }
    check(
        "CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1",
        "error: syntax error near 'IF NOT EXISTS v AS SELECT 1' at line 1",
    );
}

#[test]
fn events() {
    let form = |text: &str| {
        let arena = Arena::new();
        match parse(&arena, text.as_bytes(), &SqlMode::DEFAULT) {
            Ok(Parsed { statement: Statement::CreateEvent(e), .. }) => {
                format!("{} {:?} {:?} {:?} DO {}", e.name, e.definer, e.clauses.preserve, e.clauses.status, e.body)
            }
            Ok(Parsed { statement: Statement::AlterEvent(e), .. }) => {
                format!(
                    "{} {} {:?} {:?} {:?}",
                    e.name,
                    e.schedule.is_some(),
                    e.rename.map(|name| name.to_string()),
                    e.clauses,
                    e.body
                )
            }
            Ok(Parsed { statement: Statement::DropEvent { name, if_exists }, .. }) => format!("{name} {if_exists}"),
            other => format!("{:?}", other.map(|_| ())),
        }
    };
    let cases = [
        ("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO BEGIN SELECT 1; END", "e None None None DO BEGIN SELECT 1; END"),
        (
            "CREATE DEFINER=u@h EVENT IF NOT EXISTS d.e ON SCHEDULE AT NOW() + INTERVAL 1 DAY ON COMPLETION NOT PRESERVE DISABLE ON SLAVE DO SET @a = 1",
            "d.e Some((\"u\", \"h\")) Some(false) Some(ReplicaSideDisabled) DO SET @a = 1",
        ),
        (
            "ALTER DEFINER=u@h EVENT e ON SCHEDULE EVERY 2 HOUR STARTS '2030-01-01' RENAME TO d.f ENABLE",
            "e true Some(\"d.f\") EventClauses { preserve: None, status: Some(Enabled), comment: None } None",
        ),
        (
            "ALTER EVENT e ON COMPLETION PRESERVE DO SELECT 1",
            "e false None EventClauses { preserve: Some(true), status: None, comment: None } Some(\"SELECT 1\")",
        ),
        ("DROP EVENT IF EXISTS d.e", "d.e true"),
        ("ALTER EVENT e", "Err(Syntax { near: \"\", line: 1 })"),
        ("CREATE EVENT e ON SCHEDULE EVERY ? DAY DO SELECT 1", "Err(Syntax { near: \"DO SELECT 1\", line: 1 })"),
        ("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT ?", "Err(Syntax { near: \"?\", line: 1 })"),
        ("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DROP FUNCTION f", "Err(Routine(NestedDrop(\"FUNCTION\")))"),
        ("CREATE PROCEDURE p() ALTER EVENT e DO SELECT 1", "Err(Routine(NestedEvent))"),
        ("CREATE PROCEDURE p() BEGIN ALTER EVENT e DISABLE; DROP EVENT f; END", "Ok(())"),
    ];
    for (text, expected) in cases {
        assert_eq!(form(text), expected, "{text}");
    }
}
