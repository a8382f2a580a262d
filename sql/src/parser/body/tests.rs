//! Tests of the instructions that bodies become, and of the errors in bodies.

use crate::ast::{BinaryOp, Expr, Literal};
use crate::error::Error;
use crate::parser::parse;
use crate::routine::RoutineError as E;
use crate::routine::{Instr, KeptProgram, ProgramKind};
use types::SqlMode;

/// A procedure with an IN parameter `p`.
fn read(body: &str) -> crate::Result<KeptProgram> {
    KeptProgram::read(ProgramKind::Procedure, "p INT", body, &SqlMode::DEFAULT)
}

/// The instructions of a body.
fn check(body: &str, expected: &str) {
    let listing = match read(body) {
        Ok(program) => program.get().listing(),
        Err(error) => format!("{error:?}\n"),
    };
    assert_eq!(listing.trim_end(), expected.trim(), "{body}");
}

fn refused(body: &str, expected: E) {
    let error = read(body).expect_err(body);
    assert_eq!(error, Error::Routine(expected), "{body}");
}

#[test]
fn branches_become_jumps() {
    check("SELECT p", "0 [0] run SELECT p");
    check(
        "IF p THEN SET p = 1; ELSEIF 2 THEN SET p = 2; ELSE SET p = 3; END IF",
        "0 [0] unless p jump 3 after 7\n1 [0] set 0 = 1\n2 [0] jump 7\n3 [0] unless 2 jump 6 after 7\n4 [0] set 0 = 2\n\
         5 [0] jump 7\n6 [0] set 0 = 3",
    );
    check(
        "CASE p WHEN 1 THEN SELECT 1; END CASE",
        "0 [0] set 1 = p\n1 [0] unless 1 jump 4 after 5\n2 [0] run SELECT 1\n3 [0] jump 5\n4 [0] case missing",
    );
    check(
        "l: WHILE p DO ITERATE l; LEAVE l; END WHILE l",
        "0 [0] unless p jump 4 after 4\n1 [0] jump 0\n2 [0] jump 4\n3 [0] jump 0",
    );
    check("REPEAT SET p = p - 1; UNTIL p < 1 END REPEAT", "0 [0] set 0 = p - 1\n1 [0] unless p < 1 jump 0 after 2");
}

#[test]
fn blocks_hold_declarations() {
    check(
        "BEGIN DECLARE a, b INT DEFAULT 7; DECLARE c CURSOR FOR SELECT a; DECLARE EXIT HANDLER FOR NOT FOUND SET a = 1; \
         OPEN c; FETCH c INTO b; CLOSE c; END",
        "0 [0] set 1 = 7\n1 [0] set 2 = 7\n2 [1] reset 0 1\n3 [1] jump 6\n4 [2] set 1 = 1\n5 [2] handled Some(1)\n6 [1] open 0\n\
         7 [1] fetch 0 into [2]\n8 [1] close 0",
    );
    // The inner variable's default is the outer variable.
    check("BEGIN DECLARE p INT DEFAULT p; SET p = 2; END", "0 [0] set 1 = p\n1 [1] set 1 = 2");
    let program = read("BEGIN DECLARE p INT DEFAULT p; SET p = P; END").expect("it parses");
    let seen = program.get().instrs.iter().map(|instr| match instr {
        Instr::Set { value, .. } => match value.tree {
            Expr::Local { slot, .. } => slot,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    });
    assert_eq!(seen.collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn values_of_a_case_are_compared_with_its_operand() {
    let program = read("CASE p WHEN 7 THEN SELECT 1; END CASE").expect("it parses");
    let Instr::JumpUnless { condition, .. } = &program.get().instrs[1] else { panic!("no condition") };
    let Expr::Binary { op: BinaryOp::Equal, left, right } = condition.tree else { panic!("{:?}", condition.tree) };
    assert!(matches!(left, Expr::Local { slot: 1, .. }));
    assert_eq!(*right, Expr::Literal(Literal::Int(7)));
}

#[test]
fn what_cannot_stand_there_is_named() {
    refused("BEGIN DECLARE a INT; DECLARE A INT; END", E::VariableTwice("A".to_owned()));
    refused("BEGIN DECLARE c CURSOR FOR SELECT 1; DECLARE a INT; END", E::VariableLate);
    refused("LEAVE l", E::NoLabel("LEAVE", "l".to_owned()));
    refused("l: BEGIN ITERATE l; END", E::NoLabel("ITERATE", "l".to_owned()));
    refused("l: BEGIN END k", E::EndLabel("k".to_owned()));
    refused("l: LOOP BEGIN DECLARE EXIT HANDLER FOR 1 LEAVE l; END; END LOOP", E::NoLabel("LEAVE", "l".to_owned()));
    refused("CREATE PROCEDURE q() SELECT 1", E::NestedCreate("PROCEDURE"));
    refused("RETURN 1", E::ReturnOutside);
}

#[test]
fn columns_of_rows_are_variables() {
    use types::schema::TriggerEvent::{Delete, Insert, Update};
    let compiled =
        |event, before, body: &str| KeptProgram::read(ProgramKind::Trigger { event, before }, "", body, &SqlMode::DEFAULT);
    let program = compiled(Update, true, "BEGIN SET NEW.a = OLD.a + new.b; CALL p(NEW.c); END").expect("it parses");
    let program = program.get();
    let fields = program.fields.iter().map(|field| {
        let row = if field.new { "new" } else { "old" };
        (row, program.slots[field.slot as usize].name, field.assigned, field.reads)
    });
    let expected = [("new", "a", true, 0), ("old", "a", false, 1), ("new", "b", false, 1), ("new", "c", true, 1)];
    assert_eq!(fields.collect::<Vec<_>>(), expected);
    let refused = |event, before, body: &str| match compiled(event, before, body) {
        Err(Error::Routine(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(Insert, true, "SET @a = OLD.a"), E::NoRow("OLD", Insert));
    assert_eq!(refused(Delete, true, "SET NEW.a = 1"), E::NoRow("NEW", Delete));
    assert_eq!(refused(Update, true, "SET OLD.a = 1"), E::RowFixed("OLD", ""));
    assert_eq!(refused(Update, false, "SET NEW.a = 1"), E::RowFixed("NEW", "after "));
    assert_eq!(refused(Update, true, "SELECT NEW.a"), E::ResultSet("trigger"));
    assert_eq!(refused(Update, true, "COMMIT"), E::CommitInside);
}

#[test]
fn deep_nesting_is_bounded() {
    let body = format!("{}SELECT 1;{}", "BEGIN ".repeat(500), " END;".repeat(500));
    assert_eq!(read(body.trim_end_matches(';')).expect_err("it is too deep"), Error::TooDeep);
}

#[test]
fn whatever_the_bytes_are() {
    let text = b"CREATE PROCEDURE p(a INT) BEGIN DECLARE b INT; DECLARE c CURSOR FOR SELECT b; l: LOOP FETCH c INTO a; \
                 CASE a WHEN 1 THEN LEAVE l; END CASE; END LOOP; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'x'; END";
    for end in 0..text.len() {
        let arena = crate::Arena::new();
        let _ = parse(&arena, &text[..end], &SqlMode::DEFAULT);
    }
    let arena = crate::Arena::new();
    assert!(parse(&arena, text, &SqlMode::DEFAULT).is_ok());
}

#[test]
fn expressions_of_other_statements_are_code() {
    check("CALL d.q(1, p, @A)", r#"0 [0] call q (1 None; p Some(Local(0)); @A Some(User("a")))"#);
    check("SET @X = p + 1, sql_notes = p, p = 2", "0 [0] set @X = p + 1\n1 [0] set @@sql_notes: sql_notes = p\n2 [0] set 0 = 2");
    check("SET autocommit = DEFAULT", "0 [0] set @@autocommit = Default");
    check("DO p, SLEEP(1)", "0 [0] do p; SLEEP(1)");
    check("SET NAMES utf8mb4, @x = 1", "0 [0] run NAMES utf8mb4\n1 [0] set @x = 1");
    check("SAVEPOINT a", "0 [0] run SAVEPOINT a");
}
