//! Trials of statements that are wide, deep or many: planning, sorting, temporary files, programs, prepared statements, and the metadata of
//! many tables.

use crate::trial::{Court, Made, Trial, verdict};

/// A trial's name, its sizes in the short and the long form, and what makes its statements.
struct Row {
    name: &'static str,
    short: usize,
    long: usize,
    /// B1 is not asked for: the work is the square of the size by its nature, or is so in MySQL too (frames of windows whose aggregate cannot be
    /// undone).
    grows: bool,
    made: fn(usize) -> Made,
}

const fn linear(name: &'static str, short: usize, long: usize, made: fn(usize) -> Made) -> Row {
    Row { name, short, long, grows: false, made }
}

const fn growing(name: &'static str, short: usize, long: usize, made: fn(usize) -> Made) -> Row {
    Row { name, short, long, grows: true, made }
}

fn one(statement: String) -> Made {
    Made { statement, ..Made::default() }
}

fn made(before: &[&str], statement: String, after: &[&str]) -> Made {
    let owned = |list: &[&str]| list.iter().map(|sql| (*sql).to_owned()).collect();
    Made { before: owned(before), statement, after: owned(after) }
}

fn list(count: usize, separator: &str, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().join(separator)
}

/// `count` rows with a number `i`.
fn rows(count: usize) -> String {
    format!("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) ")
}

const WIDE: &[Row] = &[
    linear("many ORs", 4000, 30_000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE {}", list(n, " OR ", |i| format!("id = {i}"))))
    }),
    linear("many ORs over two columns", 2000, 8000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE {}", list(n, " OR ", |i| format!("a = {i} AND b = {}", i % 7))))
    }),
    linear("many ORs of different columns", 2000, 8000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE {}", list(n, " OR ", |i| format!("{} = {i}", ["id", "a", "b", "s"][i % 4]))))
    }),
    linear("ANDs of ORs", 200, 2000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE {}", list(n, " AND ", |i| format!("(a = {i} OR b = {i} OR id > {i})"))))
    }),
    linear("ORs of ANDs of ORs", 200, 2000, |n| {
        one(format!(
            "SELECT COUNT(*) FROM t WHERE {}",
            list(n, " OR ", |i| format!("((a = {i} OR b = 1) AND (b = {i} OR id = 2))"))
        ))
    }),
    growing("lists in each part of an index", 100, 400, |n| {
        let numbers = list(n, ",", |i| i.to_string());
        one(format!("SELECT COUNT(*) FROM t WHERE a IN ({numbers}) AND b IN ({numbers}) AND c IN ({numbers})"))
    }),
    linear("a list of rows", 4000, 30_000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE (a, b, c) IN ({})", list(n, ",", |i| format!("({i}, {}, 1)", i % 9))))
    }),
    linear("a list of NOT IN", 4000, 30_000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE a NOT IN ({})", list(n, ",", |i| i.to_string())))
    }),
    linear("many NOT EQUALs", 2000, 8000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE {}", list(n, " AND ", |i| format!("a != {i}"))))
    }),
    linear("many ranges", 2000, 8000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE {}", list(n, " OR ", |i| format!("a BETWEEN {} AND {}", i * 3, i * 3 + 4))))
    }),
    linear("many LIKEs", 1000, 4000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE {}", list(n, " OR ", |i| format!("CONCAT(s, '') LIKE 'x{i}%'"))))
    }),
    linear("a wide select list", 4000, 30_000, |n| one(format!("SELECT {} FROM point", list(n, ",", |i| format!("id + {i}"))))),
    linear("a wide select list of one column", 4000, 30_000, |n| {
        one(format!("SELECT {} FROM point", list(n, ",", |_| "id".into())))
    }),
    linear("a wide derived table", 500, 4000, |n| {
        one(format!("SELECT * FROM (SELECT DISTINCT {} FROM point) d", list(n, ",", |i| format!("id + {i} AS c{i}"))))
    }),
    linear("a wide GROUP BY", 500, 4000, |n| {
        one(format!("SELECT COUNT(*) FROM point GROUP BY {}", list(n, ",", |i| format!("id + {i}"))))
    }),
    linear("a wide GROUP BY with its select list", 250, 2000, |n| {
        let columns = list(n, ",", |i| format!("id + {i}"));
        one(format!("SELECT {columns} FROM point GROUP BY {columns}"))
    }),
    linear("a wide ORDER BY", 500, 4000, |n| {
        one(format!("SELECT id FROM t ORDER BY {} LIMIT 1", list(n, ",", |i| format!("a + {i}"))))
    }),
    linear("many aggregates", 500, 4000, |n| one(format!("SELECT {} FROM point", list(n, ",", |i| format!("SUM(id + {i})"))))),
    linear("many equal aggregates", 500, 4000, |n| one(format!("SELECT {} FROM point", list(n, ",", |_| "SUM(id)".into())))),
    linear("many windows", 100, 400, |n| {
        one(format!("SELECT {} FROM point", list(n, ",", |i| format!("SUM(id) OVER (ORDER BY v + {i})"))))
    }),
    linear("a wide ROLLUP", 32, 128, |n| {
        one(format!("SELECT COUNT(*) FROM point GROUP BY {} WITH ROLLUP", list(n, ",", |i| format!("id + {i}"))))
    }),
    linear("arguments of CONCAT", 4000, 30_000, |n| one(format!("SELECT CONCAT({})", list(n, ",", |i| i.to_string())))),
    linear("arguments of JSON_OBJECT", 2000, 20_000, |n| {
        one(format!("SELECT JSON_OBJECT({})", list(n, ",", |i| format!("'{i}', {i}"))))
    }),
    linear("WHENs of CASE", 4000, 30_000, |n| {
        one(format!("SELECT CASE {} END FROM point", list(n, " ", |i| format!("WHEN id = {i} THEN {i}"))))
    }),
    linear("rows of VALUES", 4000, 50_000, |n| one(format!("VALUES {}", list(n, ",", |i| format!("ROW({i}, 'x')"))))),
    linear("rows of INSERT", 4000, 50_000, |n| {
        made(
            &["DROP TABLE IF EXISTS many", "CREATE TABLE many (a INT PRIMARY KEY, b TEXT)"],
            format!("INSERT INTO many VALUES {}", list(n, ",", |i| format!("({i}, 'x')"))),
            &["DROP TABLE many"],
        )
    }),
    linear("assignments of SET", 2000, 10_000, |n| {
        made(&[], format!("SET {}", list(n, ",", |i| format!("@u{} = {i}", i % 1000))), &[])
    }),
    linear("assignments of UPDATE", 500, 4000, |n| {
        one(format!("UPDATE point SET {}", list(n, ",", |i| format!("v = -7 + 0 * {i}"))))
    }),
    linear("columns of a table", 500, 4000, |n| {
        made(
            &["DROP TABLE IF EXISTS many"],
            format!("CREATE TABLE many ({})", list(n, ",", |i| format!("column_{i} INT DEFAULT {i}"))),
            &["DROP TABLE IF EXISTS many"],
        )
    }),
    linear("columns of a table, read", 500, 4000, |n| {
        let columns = list(n, ",", |i| format!("column_{i} INT DEFAULT {i}"));
        let table = format!("CREATE TABLE many ({columns})");
        let before = ["DROP TABLE IF EXISTS many", &table, "INSERT INTO many () VALUES ()"];
        made(&before, "SELECT * FROM many WHERE column_1 = 1".into(), &["DROP TABLE many"])
    }),
    linear("a natural join of wide tables", 250, 2000, |n| {
        let columns = list(n, ",", |i| format!("column_{i} INT DEFAULT {i}"));
        let tables = ["wide_1", "wide_2"].map(|name| format!("CREATE TABLE {name} ({columns})"));
        let before = ["DROP TABLE IF EXISTS wide_1, wide_2", &tables[0], &tables[1]];
        made(&before, "SELECT * FROM wide_1 NATURAL JOIN wide_2".into(), &["DROP TABLE wide_1, wide_2"])
    }),
    linear("clauses of ALTER TABLE", 250, 2000, |n| {
        made(
            &["DROP TABLE IF EXISTS many", "CREATE TABLE many (a INT)"],
            format!("ALTER TABLE many {}", list(n, ",", |i| format!("ADD COLUMN c{i} INT"))),
            &["DROP TABLE many"],
        )
    }),
    linear("checks of a table", 250, 2000, |n| {
        made(
            &["DROP TABLE IF EXISTS many"],
            format!("CREATE TABLE many (a INT, {})", list(n, ",", |i| format!("CHECK (a > {i})"))),
            &["DROP TABLE many"],
        )
    }),
    linear("generated columns that read each other", 64, 256, |n| {
        let columns = list(n, ",", |i| if i == 0 { "c0 INT".into() } else { format!("c{i} BIGINT AS (c{} + 1)", i - 1) });
        let table = format!("CREATE TABLE many ({columns})");
        let before = ["DROP TABLE IF EXISTS many", &table, "INSERT INTO many (c0) VALUES (1)"];
        made(&before, format!("SELECT c{} FROM many", n - 1), &["DROP TABLE many"])
    }),
    linear("partitions", 128, 1024, |n| {
        made(
            &["DROP TABLE IF EXISTS many"],
            format!("CREATE TABLE many (a INT) PARTITION BY HASH (a) PARTITIONS {n}"),
            &["DROP TABLE many"],
        )
    }),
    linear("parameters", 4000, 60_000, |n| {
        made(&[&format!("PREPARE p FROM 'SELECT CONCAT({})'", list(n, ",", |_| "?".into()))], "DEALLOCATE PREPARE p".into(), &[])
    }),
    linear("a name", 4000, 1 << 20, |n| one(format!("SELECT 1 AS `{}`", "n".repeat(n)))),
    linear("a hint", 4000, 100_000, |n| one(format!("SELECT /*+ {} */ 1 FROM point", "BKA(point) ".repeat(n / 11)))),
    linear("index hints", 500, 4000, |n| one(format!("SELECT COUNT(*) FROM t USE INDEX ({})", list(n, ",", |_| "a".into())))),
    linear("grants of columns", 100, 400, |n| {
        let columns = list(n, ",", |i| format!("column_{i} INT"));
        let table = format!("CREATE TABLE many ({columns})");
        let before = ["DROP TABLE IF EXISTS many", &table, "DROP USER IF EXISTS hostile_user", "CREATE USER hostile_user"];
        let grants = list(n, ",", |i| format!("SELECT (column_{i})"));
        made(&before, format!("GRANT {grants} ON many TO hostile_user"), &["DROP TABLE many", "DROP USER hostile_user"])
    }),
];

const DEEP: &[Row] = &[
    linear("nested parentheses", 2000, 20_000, |n| one(format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n)))),
    linear("nested calls", 1000, 10_000, |n| one(format!("SELECT {}1{}", "ABS(".repeat(n), ")".repeat(n)))),
    linear("nested IFs", 1000, 10_000, |n| one(format!("SELECT {}1{}", "IF(1,".repeat(n), ",2)".repeat(n)))),
    linear("nested NOTs over a column", 1000, 10_000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE {}(a = 1 OR b = 2)", "NOT ".repeat(n)))
    }),
    linear("nested ANDs and ORs", 200, 1000, |n| {
        one(format!("SELECT COUNT(*) FROM t WHERE {}a = 1{}", "(a = 1 OR (b = 2 AND ".repeat(n), "))".repeat(n)))
    }),
    linear("a chain of additions", 4000, 50_000, |n| one(format!("SELECT {}", list(n, "+", |_| "1e0".into())))),
    linear("a chain of concatenations", 200, 1000, |n| {
        one(format!("SELECT {}s{} FROM t LIMIT 1", "CONCAT(".repeat(n), ",'x')".repeat(n)))
    }),
    linear("a chain of JSON paths", 200, 1000, |n| one(format!("SELECT JSON_EXTRACT('[1]', '${}')", "[0]".repeat(n)))),
    linear("nested derived tables", 16, 60, |n| {
        one(format!("{}SELECT * FROM point{}", "SELECT * FROM (".repeat(n), ") d".repeat(n)))
    }),
    linear("nested derived tables that are kept", 16, 60, |n| {
        one(format!("{}SELECT * FROM point{}", "SELECT DISTINCT * FROM (".repeat(n), " LIMIT 5) d".repeat(n)))
    }),
    linear("nested subqueries", 16, 60, |n| one(format!("SELECT {}1{}", "(SELECT ".repeat(n), ")".repeat(n)))),
    linear("nested EXISTS", 16, 60, |n| {
        one(format!("SELECT COUNT(*) FROM point WHERE {}1=1{}", "EXISTS (SELECT 1 FROM point WHERE ".repeat(n), ")".repeat(n)))
    }),
    linear("nested INs", 16, 60, |n| {
        one(format!(
            "SELECT COUNT(*) FROM point WHERE {}(7){}",
            "id IN (SELECT id FROM point WHERE id IN ".repeat(n),
            ")".repeat(n)
        ))
    }),
    linear("a chain of WITH", 100, 1000, |n| {
        let parts =
            list(n, ",", |i| if i == 0 { "w0 AS (SELECT 1 AS a)".into() } else { format!("w{i} AS (SELECT a FROM w{})", i - 1) });
        one(format!("WITH {parts} SELECT * FROM w{}", n - 1))
    }),
    linear("WITH that doubles", 16, 64, |n| {
        let part = |i: usize| format!("w{i} AS (SELECT x.a FROM w{} x JOIN w{} y ON x.a = y.a)", i - 1, i - 1);
        let parts = list(n, ",", |i| if i == 0 { "w0 AS (SELECT 1 AS a)".into() } else { part(i) });
        one(format!("WITH {parts} SELECT * FROM w{}", n - 1))
    }),
    linear("WITH that doubles over a table", 16, 64, |n| {
        let part = |i: usize| format!("w{i} AS (SELECT x.id FROM w{} x JOIN w{} y ON x.id = y.id)", i - 1, i - 1);
        let parts = list(n, ",", |i| if i == 0 { "w0 AS (SELECT id FROM point)".into() } else { part(i) });
        one(format!("WITH {parts} SELECT * FROM w{}", n - 1))
    }),
    linear("a chain of UNIONs", 500, 8000, |n| one(list(n, " UNION ALL ", |i| format!("SELECT {i}")))),
    linear("a chain of UNIONs over a table", 200, 2000, |n| one(list(n, " UNION ", |i| format!("SELECT id + {i} FROM point")))),
    linear("a chain of tables", 20, 61, |n| {
        let tables = list(n, " JOIN ", |i| if i == 0 { "t t0".into() } else { format!("t t{i} ON t{i}.id = t{}.a", i - 1) });
        one(format!("SELECT COUNT(*) FROM {tables} WHERE t0.id = 1"))
    }),
    growing("a star of tables", 20, 61, |n| {
        let tables = list(n, " JOIN ", |i| if i == 0 { "t t0".into() } else { format!("t t{i} ON t{i}.id = t0.a") });
        one(format!("SELECT COUNT(*) FROM {tables} WHERE t0.id = 1"))
    }),
    growing("a clique of tables", 16, 40, |n| {
        let tables = list(n, ", ", |i| format!("t t{i}"));
        let conditions = list(n * (n - 1) / 2, " AND ", |k| {
            let i = (0..n).find(|i| (i + 1) * i / 2 > k).unwrap_or(n - 1).max(1);
            format!("t{i}.id = t{}.id", k - i * (i - 1) / 2)
        });
        one(format!("SELECT COUNT(*) FROM {tables} WHERE {conditions} AND t0.id = 1"))
    }),
    growing("tables without a condition", 16, 61, |n| {
        one(format!("SELECT COUNT(*) FROM {} LIMIT 1", list(n, ", ", |i| format!("point t{i}"))))
    }),
    growing("outer joins", 16, 61, |n| {
        let tables = list(n, " LEFT JOIN ", |i| if i == 0 { "t t0".into() } else { format!("t t{i} ON t{i}.s = t{}.s", i - 1) });
        one(format!("SELECT COUNT(*) FROM {tables} WHERE t0.id = 1"))
    }),
    growing("a plan of many tables", 16, 61, |n| {
        let tables =
            list(
                n,
                " JOIN ",
                |i| if i == 0 { "t t0".into() } else { format!("t t{i} ON t{i}.b = t{}.c AND t{i}.a > t0.a", i - 1) },
            );
        one(format!("EXPLAIN SELECT COUNT(*) FROM {tables}"))
    }),
    linear("views of views", 16, 60, |n| {
        let mut before = vec!["DROP DATABASE IF EXISTS hostile_views".into(), "CREATE DATABASE hostile_views".into()];
        before.push("CREATE VIEW hostile_views.v0 AS SELECT id, v FROM point".into());
        before.extend(
            (1..n).map(|i| format!("CREATE VIEW hostile_views.v{i} AS SELECT id, v + 1 AS v FROM hostile_views.v{}", i - 1)),
        );
        Made {
            before,
            statement: format!("SELECT * FROM hostile_views.v{}", n - 1),
            after: vec!["DROP DATABASE hostile_views".into()],
        }
    }),
    growing("views that double", 8, 16, |n| {
        let mut before = vec!["DROP DATABASE IF EXISTS hostile_views".into(), "CREATE DATABASE hostile_views".into()];
        before.push("CREATE VIEW hostile_views.v0 AS SELECT id FROM point".into());
        before.extend((1..n).map(|i| {
            let below = format!("hostile_views.v{}", i - 1);
            format!("CREATE VIEW hostile_views.v{i} AS SELECT x.id FROM {below} x JOIN {below} y ON x.id = y.id")
        }));
        Made {
            before,
            statement: format!("SELECT * FROM hostile_views.v{}", n - 1),
            after: vec!["DROP DATABASE hostile_views".into()],
        }
    }),
];

const LARGE: &[Row] = &[
    linear("a recursion", 10_000, 1_000_000, |n| one(format!("{}SELECT COUNT(*) FROM n", rows(n)))),
    linear("a recursion of growing texts", 500, 4000, |n| {
        one(format!(
            "WITH RECURSIVE n (i, s) AS (SELECT 1, CAST('' AS CHAR(200)) UNION ALL SELECT i + 1, RIGHT(CONCAT(s, i), 200) FROM n \
             WHERE i < {n}) SELECT COUNT(*) FROM n"
        ))
    }),
    linear("a sort", 10_000, 500_000, |n| {
        one(format!("{}SELECT i FROM n ORDER BY MD5(i) LIMIT 1000000 OFFSET {}", rows(n), n - 1))
    }),
    linear("a sort of long rows", 1000, 100_000, |n| {
        one(format!(
            "{}SELECT CHAR_LENGTH(r) FROM (SELECT i, REPEAT(i, 500) AS r FROM n ORDER BY MD5(i) LIMIT {n}) d LIMIT 1",
            rows(n)
        ))
    }),
    linear("DISTINCT", 10_000, 500_000, |n| one(format!("{}SELECT COUNT(*) FROM (SELECT DISTINCT MD5(i) FROM n) d", rows(n)))),
    linear("groups", 10_000, 500_000, |n| {
        one(format!("{}SELECT COUNT(*) FROM (SELECT MD5(i) AS m, SUM(i) FROM n GROUP BY m) d", rows(n)))
    }),
    linear("COUNT(DISTINCT)", 10_000, 500_000, |n| one(format!("{}SELECT COUNT(DISTINCT MD5(i)) FROM n", rows(n)))),
    linear("GROUP_CONCAT", 5_000, 200_000, |n| {
        made(
            &["SET group_concat_max_len = 1 << 30"],
            format!("{}SELECT CHAR_LENGTH(GROUP_CONCAT(DISTINCT MD5(i) ORDER BY i DESC)) FROM n", rows(n)),
            &[],
        )
    }),
    linear("JSON_ARRAYAGG", 5_000, 200_000, |n| one(format!("{}SELECT JSON_LENGTH(JSON_ARRAYAGG(MD5(i))) FROM n", rows(n)))),
    linear("JSON_OBJECTAGG", 5_000, 200_000, |n| one(format!("{}SELECT JSON_LENGTH(JSON_OBJECTAGG(MD5(i), i)) FROM n", rows(n)))),
    linear("a hash join", 10_000, 200_000, |n| one(format!("{}SELECT COUNT(*) FROM n x JOIN n y ON x.i = y.i", rows(n)))),
    growing("a hash join of one value", 1000, 10_000, |n| {
        one(format!("{}SELECT COUNT(*) FROM n x JOIN n y ON x.i * 0 = y.i * 0", rows(n)))
    }),
    growing("a cross join", 1000, 10_000, |n| one(format!("{}SELECT COUNT(*) FROM n x, n y, n z", rows(n)))),
    growing("a cross join that is sorted", 300, 3000, |n| {
        one(format!("{}SELECT x.i FROM n x, n y ORDER BY x.i * y.i LIMIT 1 OFFSET {}", rows(n), n * n - 1))
    }),
    growing("a correlated subquery", 500, 5000, |n| {
        one(format!("{}SELECT COUNT(*) FROM n x WHERE (SELECT COUNT(*) FROM n y WHERE y.i < x.i) % 2", rows(n)))
    }),
    linear("a window over all rows", 2000, 50_000, |n| {
        one(format!("{}SELECT MAX(s) FROM (SELECT SUM(i) OVER (ORDER BY MD5(i)) AS s FROM n) d", rows(n)))
    }),
    linear("a window that moves", 2000, 50_000, |n| {
        one(format!(
            "{}SELECT MAX(s) FROM (SELECT SUM(i) OVER (ORDER BY i ROWS BETWEEN {} PRECEDING AND CURRENT ROW) AS s FROM n) d",
            rows(n),
            n / 2
        ))
    }),
    growing("the greatest of a window that moves", 2000, 50_000, |n| {
        one(format!(
            "{}SELECT MAX(s) FROM (SELECT MAX(-i) OVER (ORDER BY i ROWS BETWEEN {} PRECEDING AND CURRENT ROW) AS s FROM n) d",
            rows(n),
            n / 2
        ))
    }),
    linear("a window with two moving ends", 2000, 50_000, |n| {
        one(format!(
            "{}SELECT MAX(s) FROM (SELECT AVG(i + 0.5) OVER (ORDER BY i ROWS BETWEEN {} PRECEDING AND {} FOLLOWING) AS s FROM n) d",
            rows(n),
            n / 3,
            n / 3
        ))
    }),
    linear("a window of a range", 2000, 50_000, |n| {
        one(format!(
            "{}SELECT MAX(s) FROM (SELECT COUNT(i) OVER (ORDER BY i RANGE BETWEEN {} PRECEDING AND 1 FOLLOWING) AS s FROM n) d",
            rows(n),
            n / 2
        ))
    }),
    growing("a window that ends at the last row", 2000, 50_000, |n| {
        one(format!(
            "{}SELECT MAX(s) FROM (SELECT MIN(i) OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s FROM n) d",
            rows(n)
        ))
    }),
    linear("the last values of a window", 2000, 50_000, |n| {
        one(format!(
            "{}SELECT MAX(s) FROM (SELECT NTH_VALUE(i, {}) OVER (ORDER BY i ROWS BETWEEN {} PRECEDING AND CURRENT ROW) AS s FROM n) d",
            rows(n),
            n / 4,
            n / 2
        ))
    }),
    linear("ranks of one value", 2000, 50_000, |n| {
        one(format!(
            "{}SELECT MAX(s) FROM (SELECT CUME_DIST() OVER (ORDER BY i * 0) + PERCENT_RANK() OVER (ORDER BY i * 0) AS s FROM n) d",
            rows(n)
        ))
    }),
    linear("LAG and LEAD", 2000, 50_000, |n| {
        one(format!(
            "{}SELECT MAX(s) FROM (SELECT LAG(i, {}) OVER (ORDER BY i) + LEAD(i, 5) OVER (ORDER BY i) AS s FROM n) d",
            rows(n),
            n / 2
        ))
    }),
    linear("NTILE", 2000, 50_000, |n| {
        one(format!("{}SELECT MAX(s) FROM (SELECT NTILE({}) OVER (ORDER BY i) AS s FROM n) d", rows(n), n / 2))
    }),
    linear("INTERSECT and EXCEPT", 5000, 200_000, |n| {
        one(format!(
            "{}SELECT COUNT(*) FROM (SELECT i FROM n INTERSECT SELECT i + 5 FROM n EXCEPT SELECT i * 2 FROM n) d",
            rows(n)
        ))
    }),
    linear("JSON_TABLE", 4000, 400_000, |n| {
        made(
            &[&format!("SET @v = CONCAT('[', REPEAT('{{\"a\":1}},', {n}), '{{}}]')")],
            "SELECT COUNT(*), SUM(a) FROM JSON_TABLE(@v, '$[*]' COLUMNS (o FOR ORDINALITY, a INT PATH '$.a')) j".into(),
            &[],
        )
    }),
    linear("JSON_TABLE nested", 500, 4000, |n| {
        made(
            &[&format!("SET @v = CONCAT('[', REPEAT('{{\"a\":[1,2,3]}},', {n}), '{{}}]')")],
            "SELECT COUNT(*), SUM(b) FROM JSON_TABLE(@v, '$[*]' COLUMNS (o FOR ORDINALITY, NESTED PATH '$.a[*]' COLUMNS (b INT PATH '$'))) j"
                .into(),
            &[],
        )
    }),
    growing("BENCHMARK", 10_000_000, 1_000_000_000, |n| one(format!("SELECT BENCHMARK({n}, MD5('x'))"))),
    growing("a loop of a function", 100_000, 10_000_000, |n| {
        let body = format!(
            "CREATE FUNCTION looping () RETURNS INT DETERMINISTIC BEGIN DECLARE i INT DEFAULT 0; WHILE i < {n} DO SET i = i + 1; END WHILE; RETURN i; END"
        );
        made(&["DROP FUNCTION IF EXISTS looping", &body], "SELECT looping()".into(), &["DROP FUNCTION looping"])
    }),
    linear("user variables", 2000, 20_000, |n| {
        let sets: Vec<String> = (0..n / 100)
            .map(|k| format!("SET {}", list(100, ",", |i| format!("@big{} = REPEAT('x', 100)", k * 100 + i))))
            .collect();
        Made { before: sets, statement: "SELECT @big5, @big77, @nothing".into(), after: vec![] }
    }),
    linear("statements of a procedure", 500, 5000, |n| {
        let body = format!("CREATE PROCEDURE many () BEGIN DECLARE x INT; {} END", "SET x = 1; ".repeat(n));
        made(&["DROP PROCEDURE IF EXISTS many", &body], "CALL many()".into(), &["DROP PROCEDURE many"])
    }),
    linear("variables of a procedure", 500, 5000, |n| {
        let body = format!("CREATE PROCEDURE many () BEGIN {} END", list(n, " ", |i| format!("DECLARE v{i} INT DEFAULT {i};")));
        made(&["DROP PROCEDURE IF EXISTS many", &body], "CALL many()".into(), &["DROP PROCEDURE many"])
    }),
    linear("blocks of a procedure", 16, 60, |n| {
        let body =
            format!("CREATE PROCEDURE many () {} SELECT 1; {}", "BEGIN DECLARE x INT DEFAULT 1;".repeat(n), "END;".repeat(n));
        made(&["DROP PROCEDURE IF EXISTS many", body.trim_end_matches(';')], "CALL many()".into(), &["DROP PROCEDURE many"])
    }),
    linear("savepoints", 1000, 10_000, |n| {
        let body = format!(
            "CREATE PROCEDURE many () BEGIN START TRANSACTION; {} ROLLBACK; END",
            list(n, " ", |i| format!("SAVEPOINT s{i};"))
        );
        made(&["DROP PROCEDURE IF EXISTS many", &body], "CALL many()".into(), &["DROP PROCEDURE many"])
    }),
    linear("warnings", 5000, 200_000, |n| one(format!("{}SELECT COUNT(CAST(CONCAT(i, 'x') AS SIGNED)) FROM n", rows(n)))),
    linear("an UPDATE of all rows", 2000, 2000, |_| {
        made(&["BEGIN"], "UPDATE t SET a = a + 1, s = CONCAT(s, 'x')".into(), &["ROLLBACK"])
    }),
    linear("rows of a cursor", 2000, 20_000, |n| {
        let body = format!(
            "CREATE PROCEDURE many () BEGIN DECLARE x INT; DECLARE c CURSOR FOR {}SELECT i FROM n; DECLARE EXIT HANDLER FOR NOT FOUND CLOSE c; \
             OPEN c; LOOP FETCH c INTO x; END LOOP; END",
            rows(n)
        );
        made(&["DROP PROCEDURE IF EXISTS many", &body], "CALL many()".into(), &["DROP PROCEDURE many"])
    }),
];

/// Statements about all tables.
const METADATA: &[&str] = &[
    "SHOW TABLES FROM hostile_tables",
    "SHOW FULL TABLES FROM hostile_tables LIKE '%9'",
    "SHOW TABLE STATUS FROM hostile_tables",
    "SHOW OPEN TABLES FROM hostile_tables",
    "SELECT COUNT(*) FROM information_schema.TABLES",
    "SELECT SUM(DATA_LENGTH + INDEX_LENGTH), MAX(TABLE_ROWS) FROM information_schema.TABLES",
    "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE COLUMN_NAME = 'b'",
    "SELECT COUNT(*) FROM information_schema.STATISTICS",
    "SELECT COUNT(*) FROM information_schema.KEY_COLUMN_USAGE",
    "SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS",
    "SELECT COUNT(*) FROM information_schema.REFERENTIAL_CONSTRAINTS",
    "SELECT COUNT(*) FROM information_schema.PARTITIONS",
    "SELECT COUNT(*) FROM information_schema.TABLES t JOIN information_schema.COLUMNS c USING (TABLE_SCHEMA, TABLE_NAME)",
    "SELECT TABLE_NAME FROM information_schema.TABLES ORDER BY CREATE_TIME, TABLE_NAME DESC LIMIT 5",
    "SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'hostile_tables' AND TABLE_NAME = 't5'",
    "SELECT COUNT(*) FROM performance_schema.table_io_waits_summary_by_table",
    "SELECT COUNT(*) FROM information_schema.INNODB_TABLES",
];

pub fn run(court: &mut Court<'_>, plan: &crate::Plan, report: &mut tests::Report) -> Result<(), String> {
    court.prepare("SET cte_max_recursion_depth = 10000000")?;
    for row in WIDE.iter().chain(DEEP).chain(LARGE).filter(|row| plan.wants(row.name)) {
        let size = if plan.is_long { row.long } else { row.short };
        // A definition makes all plans old: each run plans its statement anew.
        let made = |size: usize| {
            let mut made = (row.made)(size);
            made.before.extend(["CREATE TABLE hostile.fresh (a INT)".to_owned(), "DROP TABLE hostile.fresh".to_owned()]);
            made
        };
        let trial = Trial { name: row.name.to_owned(), made: &made, size, grows: row.grows };
        let breaches = court.judge(&trial);
        report.case(row.name, || verdict(breaches?));
    }
    if plan.wants("metadata") {
        metadata(court, plan.tables, report)?;
    }
    Ok(())
}

/// Makes tables and asks about them, then makes eight times as many.
fn metadata(court: &mut Court<'_>, tables: usize, report: &mut tests::Report) -> Result<(), String> {
    court.prepare("DROP DATABASE IF EXISTS hostile_tables")?;
    court.prepare("CREATE DATABASE hostile_tables")?;
    let mut there = 0;
    let mut small = Vec::new();
    for count in [tables / crate::trial::STEP, tables] {
        while there < count {
            court.prepare(&format!("CREATE TABLE hostile_tables.t{there} (a INT PRIMARY KEY, b VARCHAR(10), KEY (b))"))?;
            there += 1;
        }
        let mut costs = Vec::new();
        for (number, sql) in METADATA.iter().enumerate() {
            let made = |_: usize| one((*sql).to_owned());
            let name = format!("metadata of {count} tables: {sql}");
            // Growth is judged below: here the size is that of the tables.
            let trial = Trial { name: name.clone(), made: &made, size: count * 1000, grows: true };
            let breaches = court.judge(&trial);
            let cost = court.last_cost_us();
            costs.push(cost);
            let before = small.get(number).copied();
            report.case(&name, || match before.filter(|before| court.grows_too_fast(*before, cost)) {
                Some(before) => Err(format!("costs {before} us with an eighth of the tables, {cost} with all")),
                None => verdict(breaches?),
            });
        }
        small = costs;
    }
    court.prepare("DROP DATABASE hostile_tables")
}
