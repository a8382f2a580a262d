//! Tests of what CREATE TABLE and ALTER TABLE request, without a server.

use super::*;
use crate::ast::Statement;
use crate::{Arena, ast};
use std::cell::RefCell;
use types::partition::{PartitionLimit, PartitionValues};
use types::temporal::{DateRules, TimeZone};

/// A session that only evaluates integer constants, and keeps the warnings.
#[derive(Default)]
struct Session {
    strict: bool,
    warnings: RefCell<Vec<String>>,
}

impl DefineContext for Session {
    fn is_strict(&self) -> bool {
        self.strict
    }

    fn literals(&self) -> StoreContext<'_> {
        let dates = DateRules { no_zero_date: true, no_zero_in_date: true, allow_invalid: false };
        StoreContext { strict: true, dates, truncate_fractional: false, zone: &TimeZone::Utc, now_utc_micros: 0 }
    }

    fn warn(&self, severity: Severity, condition: Condition) {
        self.warnings.borrow_mut().push(format!("{severity:?} {} {condition}", condition.number()));
    }

    fn constant(&self, expr: &ast::Expr<'_>) -> Result<Option<(Value<'static>, ColumnType)>> {
        match expr {
            ast::Expr::Literal(ast::Literal::Int(number)) => {
                Ok(Some((Value::Int(*number as i64), ColumnType::new(TypeKind::BigInt))))
            }
            _ => Ok(None),
        }
    }
}

fn with<T>(session: &Session, text: &str, run: impl FnOnce(Definer<'_>, &Statement<'_>) -> T) -> T {
    let arena = Arena::new();
    let parsed = crate::parse(&arena, text.as_bytes(), &types::SqlMode::DEFAULT).expect(text);
    run(Definer::new(session), &parsed.statement)
}

fn table(session: &Session, text: &str) -> Result<NewTable> {
    with(session, text, |definer, statement| {
        let Statement::CreateTable(create) = statement else { panic!("{text} creates no table") };
        definer.table(create, "d", CollationId::UTF8MB4_0900_AI_CI)
    })
}

#[test]
fn columns_have_their_types_defaults_and_keys() {
    let session = Session { strict: true, ..Session::default() };
    let new = table(
        &session,
        "CREATE TABLE t (ID INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, a VARCHAR(9) CHARSET latin1 DEFAULT 'x', \
         b DECIMAL(5,2) NOT NULL DEFAULT 1.5, KEY k (a(3), id DESC)) COMMENT 'c'",
    );
    let new = new.unwrap();
    assert_eq!((new.database.as_str(), new.name.as_str(), new.comment.as_str()), ("d", "t", "c"));
    let [id, a, b] = new.columns.as_slice() else { panic!("three columns") };
    assert_eq!((id.ty.kind.clone(), id.ty.unsigned, id.nullable, id.auto_increment), (TypeKind::Int, true, false, true));
    assert_eq!((a.ty.kind.clone(), a.ty.collation.charset()), (TypeKind::VarChar { length: 9 }, "latin1"));
    assert_eq!(a.default, ColumnDefault::Literal(Some("x".into())));
    assert_eq!((b.nullable, b.default.clone()), (false, ColumnDefault::Literal(Some("1.50".into()))));
    let [primary, key] = new.indexes.as_slice() else { panic!("two keys") };
    assert_eq!((primary.kind, primary.columns[0].name.as_str()), (NewIndexKind::Primary, "ID"));
    let parts: Vec<_> = key.columns.iter().map(|part| (part.name.as_str(), part.prefix, part.descending)).collect();
    assert_eq!(parts, [("a", Some(3), false), ("ID", None, true)], "key parts are spelled as the columns are");
    assert!(session.warnings.borrow().is_empty());
}

#[test]
fn strict_mode_refuses_what_is_otherwise_warned_of() {
    let text = "CREATE TABLE t (a BLOB DEFAULT '')";
    let strict = Session { strict: true, ..Session::default() };
    assert_eq!(table(&strict, text).unwrap_err(), Condition::BlobCantHaveDefault { column: "a".into() }.into());
    let lenient = Session::default();
    assert_eq!(table(&lenient, text).unwrap().columns[0].default, ColumnDefault::None);
    let warning = "Warning 1101 BLOB, TEXT, GEOMETRY or JSON column 'a' can't have a default value";
    assert_eq!(*lenient.warnings.borrow(), [warning]);
}

#[test]
fn wrong_definitions_are_refused() {
    let session = Session { strict: true, ..Session::default() };
    let cases = [
        ("CREATE TABLE t (a DECIMAL(2,3))", DefinitionError::ScaleOverPrecision("a".into()).into()),
        ("CREATE TABLE t (a INT NULL PRIMARY KEY)", DefinitionError::PrimaryNullable.into()),
        ("CREATE TABLE t (a INT) ENGINE = none", DefinitionError::UnknownEngine("none".into()).into()),
        ("CREATE TABLE t (a INT DEFAULT 'x')", DefinitionError::InvalidDefault("a".into()).into()),
        ("CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES p (x, y))", {
            Condition::WrongFkDef { name: "foreign key without name".into() }.into()
        }),
    ];
    for (text, error) in cases {
        assert_eq!(table(&session, text).unwrap_err(), error, "{text}");
    }
}

#[test]
fn partitions_have_the_values_that_the_session_computes() {
    let session = Session { strict: true, ..Session::default() };
    let text = "CREATE TABLE t (a INT) PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (10), PARTITION q VALUES LESS THAN MAXVALUE)";
    let made = with(&session, text, |definer, statement| {
        let Statement::CreateTable(create) = statement else { panic!("{text} creates no table") };
        let new = definer.table(create, "d", CollationId::UTF8MB4_0900_AI_CI)?;
        partitioning(&session, create.partitioning.expect("it has partitions"), &new.columns)
    });
    let values: Vec<_> = made.unwrap().partitions.into_iter().map(|partition| partition.values).collect();
    let limit = |limit| PartitionValues::LessThan(vec![limit]);
    assert_eq!(values, [limit(PartitionLimit::Literal("10".into())), limit(PartitionLimit::MaxValue)]);
}
