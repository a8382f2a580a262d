//! Types and names of bound statements.

use crate::plan::Plan;
use crate::testing::Fixture;
use types::TypeKind;

/// The types of a query's columns, as `name: TYPE`, or the error.
fn check(text: &str, expected: &str) {
    let shown = match Fixture::new().plan(text) {
        Ok(Plan::Query(query)) => {
            let columns = query.columns.iter().map(|c| {
                let unsigned = if c.ty.unsigned { " unsigned" } else { "" };
                let null = if c.nullable { " null" } else { "" };
                format!("{}: {}{unsigned}{null}", c.name, short(&c.ty.kind))
            });
            columns.collect::<Vec<_>>().join(", ")
        }
        Ok(_) => "no query".to_owned(),
        Err(error) => format!("error: {error}"),
    };
    assert_eq!(shown, expected, "{text}");
}

fn short(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
        TypeKind::VarChar { length } => format!("varchar({length})"),
        TypeKind::VarBinary { length } => format!("varbinary({length})"),
        TypeKind::Char { length } => format!("char({length})"),
        TypeKind::DateTime { fsp } => format!("datetime({fsp})"),
        TypeKind::Time { fsp } => format!("time({fsp})"),
        other => format!("{other:?}").to_lowercase(),
    }
}

#[test]
fn literals() {
    check("SELECT 1, 1.50, 1e3, 'abc', NULL", "1: bigint, 1.50: decimal(3,2), 1e3: double, abc: varchar(3), NULL: null null");
    check("SELECT 18446744073709551615 AS x, -9223372036854775808 AS y", "x: bigint unsigned, y: bigint");
    check("SELECT x'41', TRUE, DATE '2024-01-01' d", "x'41': varbinary(1) unsigned, TRUE: bigint, d: date");
}

#[test]
fn arithmetic() {
    check(
        "SELECT id + 1, id / 2, id DIV 2, id % 2 FROM t",
        "id + 1: bigint, id / 2: decimal(14,4) null, id DIV 2: bigint null, id % 2: bigint null",
    );
    check(
        "SELECT price * 1.5, price + id, -price FROM u",
        "price * 1.5: decimal(12,3), price + id: decimal(23,2), -price: decimal(10,2)",
    );
    check("SELECT 'a' + 1, id & 3, ~0 FROM t", "'a' + 1: double, id & 3: bigint unsigned, ~0: bigint unsigned");
    check(
        "SELECT d + 0, at + INTERVAL 1 DAY, d + INTERVAL 1 SECOND FROM u, e",
        "d + 0: bigint null, at + INTERVAL 1 DAY: datetime(0) null, d + INTERVAL 1 SECOND: datetime(0) null",
    );
}

#[test]
fn aggregates() {
    check(
        "SELECT COUNT(*), SUM(id), AVG(id), SUM(price), AVG(price), MAX(name) FROM u",
        "COUNT(*): bigint, SUM(id): decimal(42,0) null, AVG(id): decimal(24,4) null, SUM(price): decimal(32,2) null, AVG(price): decimal(14,6) null, MAX(name): varchar(30) null",
    );
    check("SELECT SUM(k) FROM t", "SUM(k): decimal(32,0) null");
}

#[test]
fn choices() {
    check(
        "SELECT IF(id, 'a', 1), COALESCE(a, 2.5), CASE WHEN id THEN 1 END FROM t",
        "IF(id, 'a', 1): varchar(1), COALESCE(a, 2.5): decimal(11,1), CASE WHEN id THEN 1 END: bigint null",
    );
    check(
        "SELECT IFNULL(b, c), NULLIF(id, 3), CONCAT(b, id) FROM t",
        "IFNULL(b, c): varchar(120), NULLIF(id, 3): int null, CONCAT(b, id): varchar(31) null",
    );
    check("SELECT 1 UNION SELECT 'a'", "1: varchar(1)");
    check("SELECT id FROM t UNION SELECT price FROM u", "id: decimal(12,2)");
}

#[test]
fn names() {
    check("SELECT ID, t.K AS x FROM t", "ID: int, x: int");
    check("SELECT * FROM p JOIN p q USING (a, b)", "a: int, b: int, v: int, v: int");
    check("SELECT q.* FROM p LEFT JOIN p q USING (a)", "a: int null, b: int null, v: int null");
    check("SELECT a FROM p JOIN p q USING (a)", "a: int");
    check("SELECT p.b FROM p JOIN p q USING (a) WHERE b = 1", "error: column 'b' in where clause is ambiguous");
    check("SELECT a x FROM t WHERE x = 1", "error: unknown column 'x' in 'where clause'");
    check("SELECT a x FROM t GROUP BY x ORDER BY x", "x: int null");
    check("SELECT k FROM t HAVING a = 1", "error: unknown column 'a' in 'having clause'");
    check("SELECT k AS z FROM t HAVING z = 1", "z: int");
    check("SELECT test.t.id FROM t", "id: int");
    check("SELECT other.t.id FROM t", "error: unknown column 'other.t.id' in 'field list'");
    check("SELECT x.* FROM t", "error: UnknownTableAll(\"x\")");
    check("SELECT *", "error: NoTables");
    check("SELECT 1 ORDER BY 2", "error: unknown column '2' in 'order clause'");
    check("SELECT 1 UNION SELECT 1, 2", "error: SetColumns");
    check("SELECT (1, 2) = (1, 2), (1, 2) = 3", "error: OperandColumns(1)");
    check("SELECT @@nope", "error: UnknownSystemVariable(\"nope\")");
    check(
        "SELECT 'a' COLLATE utf8mb4_bin = 'b' COLLATE utf8mb4_general_ci",
        "error: IllegalMix(IllegalMix { first: \"(utf8mb4_bin,EXPLICIT)\", second: \"(utf8mb4_general_ci,EXPLICIT)\", operation: \"=\" })",
    );
}

/// Trees as high as the parser lets through do not overflow a test thread's stack (2 MiB).
#[test]
fn height() {
    let fixture = Fixture::new();
    for text in [
        format!("SELECT {}id{} FROM t", "ABS(".repeat(190), ")".repeat(190)),
        format!("SELECT 1{} FROM t WHERE a{} = 3", "+id".repeat(490), "*2".repeat(490)),
        format!("SELECT {}1{} FROM t", "CASE WHEN id THEN ".repeat(190), " END".repeat(190)),
        format!("SELECT 1 FROM t WHERE {}a{}", "NOT (".repeat(190), ")".repeat(190)),
        format!("SELECT 1 FROM t WHERE a = 1{}", " OR a = 1".repeat(20_000)),
        format!("SELECT 1 FROM t WHERE id IN (1{})", ", 2".repeat(20_000)),
    ] {
        if let Err(error) = fixture.plan(&text) {
            panic!("{error}: {}", &text[..60]);
        }
    }
}
