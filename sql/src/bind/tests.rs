//! Tests of the types and names of bound statements.

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
        "IF(id, 'a', 1): varchar(2), COALESCE(a, 2.5): decimal(11,1), CASE WHEN id THEN 1 END: bigint null",
    );
    check(
        "SELECT IFNULL(b, c), NULLIF(id, 3), CONCAT(b, id) FROM t",
        "IFNULL(b, c): varchar(120), NULLIF(id, 3): int null, CONCAT(b, id): varchar(31) null",
    );
    check("SELECT 1 UNION SELECT 'a'", "1: varchar(2)");
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
    check("SELECT (1, 2) = (1, 2), (1, 2) = 3", "error: OperandColumns(2)");
    check("SELECT a FROM t ORDER BY MAX(a)", "error: AggregateOrder(1)");
    check("SELECT MAX(a) FROM t GROUP BY MAX(a)", "error: WrongGroupField(\"MAX(a)\")");
    check("SELECT 1 FROM t JOIN (u JOIN p ON p.a = t.id)", "error: unknown column 't.id' in 'on clause'");
    check("SELECT VALUES(a) FROM t", "VALUES(a): null null");
    check("SELECT @@nope", "error: UnknownSystemVariable(\"nope\")");
    check(
        "SELECT 'a' COLLATE utf8mb4_bin = 'b' COLLATE utf8mb4_general_ci",
        "error: IllegalMix(IllegalMix { operands: [\"(utf8mb4_bin,EXPLICIT)\", \"(utf8mb4_general_ci,EXPLICIT)\"], operation: \"=\" })",
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

/// `types.txt` has an expression over the tables `t`, `u`, `e` and `w`, a tab, and its type: kind, length, digits after the point,
/// unsigned, nullable, collation, as the wire shows them. MySQL 9.7 gives the same kinds, digits and signs.
/// With `UPDATE_TYPES=1` the test writes the file.
#[test]
fn types_of_expressions() {
    let fixture = Fixture::new();
    let mut fresh = String::new();
    let mut wrong = String::new();
    for line in include_str!("types.txt").lines() {
        let (expr, expected) = line.split_once('\t').expect("an expression and its type");
        let shown = match fixture.plan(&format!("SELECT {expr} AS col FROM t, u, e, w")) {
            Ok(Plan::Query(query)) => wire(&query.columns[0]),
            Ok(_) => unreachable!("a SELECT is a query"),
            Err(error) => error.to_string(),
        };
        if shown != expected {
            wrong += &format!("{expr}: expected {expected}, found {shown}\n");
        }
        fresh += &format!("{expr}\t{shown}\n");
    }
    if std::env::var_os("UPDATE_TYPES").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bind/types.txt");
        std::fs::write(path, fresh).expect("the file can be written");
        return;
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn wire(c: &crate::plan::OutputColumn) -> String {
    let t = &c.ty;
    let bytes = |n: u32| n as u64 * if t.collation == types::CollationId::BINARY { 1 } else { 4 };
    let (name, length, decimals) = match &t.kind {
        TypeKind::Null => ("NULL", 0, 0),
        TypeKind::TinyInt => ("TINY", 4, 0),
        TypeKind::SmallInt => ("SHORT", 6, 0),
        TypeKind::MediumInt => ("INT24", 9, 0),
        TypeKind::Int => ("LONG", 11, 0),
        TypeKind::BigInt => ("LONGLONG", t.display_width.map_or(20, u64::from), 0),
        TypeKind::Decimal { precision, scale } => {
            ("NEWDECIMAL", *precision as u64 + (*scale > 0) as u64 + !t.unsigned as u64, *scale)
        }
        TypeKind::Float => ("FLOAT", 12, 31),
        TypeKind::Double => ("DOUBLE", 22, 31),
        TypeKind::Char { length } => ("STRING", bytes(*length), 0),
        TypeKind::VarChar { length } => ("VAR_STRING", bytes(*length), 0),
        TypeKind::Text(_) => ("BLOB", 0, 0),
        TypeKind::Binary { length } => ("STRING", *length as u64, 0),
        TypeKind::VarBinary { length } => ("VAR_STRING", *length as u64, 0),
        TypeKind::Blob(_) => ("BLOB", 0, 0),
        TypeKind::Date => ("DATE", 10, 0),
        TypeKind::Time { fsp } => ("TIME", 10 + *fsp as u64 + (*fsp > 0) as u64, *fsp),
        TypeKind::DateTime { fsp } => ("DATETIME", 19 + *fsp as u64 + (*fsp > 0) as u64, *fsp),
        TypeKind::Timestamp { fsp } => ("TIMESTAMP", 19 + *fsp as u64 + (*fsp > 0) as u64, *fsp),
        TypeKind::Year => ("YEAR", 4, 0),
        TypeKind::Enum { .. } => ("ENUM", 0, 0),
        TypeKind::Set { .. } => ("SET", 0, 0),
        TypeKind::Bit { length } => ("BIT", *length as u64, 0),
        TypeKind::Json => ("JSON", 0, 0),
        TypeKind::Geometry { kind, .. } => (kind.name(), 0, 0),
        TypeKind::Vector { dimensions } => ("VECTOR", u64::from(*dimensions), 0),
    };
    format!(
        "{name}|{length}|{decimals}|{}|{}|{}",
        if t.unsigned { "U" } else { "" },
        if c.nullable { "null" } else { "" },
        t.collation.name()
    )
}

/// The origin of a query's columns in the client's metadata: alias, view, and names in it; the table.
fn check_origins(fixture: &Fixture, text: &str, expected: &str) {
    let Ok(Plan::Query(query)) = fixture.plan(text) else { panic!("no query: {text}") };
    let columns = query.columns.iter().map(|c| {
        let key = if c.part_of_key { "*" } else { "" };
        format!("{}={}[{}].{}<{}.{}{key}", c.name, c.table_alias, c.view, c.through_name, c.table, c.original_name)
    });
    assert_eq!(columns.collect::<Vec<_>>().join(", "), expected, "{text}");
}

#[test]
fn columns_tell_what_they_are_named_through() {
    let fixture = Fixture::new();
    check_origins(&fixture, "SELECT id, id + 1 AS n FROM t", "id=t[].<t.id*, n=[].<.");
    check_origins(&fixture, "SELECT a.id x FROM t AS a", "x=a[].<t.id*");
    check_origins(&fixture, "SELECT * FROM (SELECT 1 AS one) AS d", "one=d[].one<d.");
    check_origins(&fixture, "SELECT z FROM (SELECT id AS z, id + 1 AS y FROM t) AS d", "z=d[].z<t.id*");
    check_origins(&fixture, "SELECT y AS w FROM (SELECT id AS z, id + 1 AS y FROM t) AS d", "w=d[].y<.");
    check_origins(&fixture, "WITH q AS (SELECT MAX(id) AS z FROM t) SELECT * FROM q AS r", "z=r[].z<r.");
}
