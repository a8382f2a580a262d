//! Random stored programs: a procedure, function or trigger of variables, flow control, conditions, cursors and changes, run once.
//!
//! P1: a program reports its steps in `@told`, to which it appends the values of its variables. A user variable survives errors and ROLLBACK.
//! P2: it ends. Before anything else a loop counts its turns in a variable that nothing else sets. No routine calls another.
//! P3: whatever it reads from tables has an order.
//! P4: SELECT ... INTO reads no variable that it sets, since MySQL sets one variable before it computes the next value.

use crate::change;
use crate::check::{Case, Check};
use crate::compare::Rules;
use crate::expression::{Maker, Scope};
use crate::kinds::Kind;
use crate::piece::Piece;
use crate::query;
use crate::schema::{self, Column, Table};
use crate::seq;

/// What every routine and trigger is called.
pub const NAME: &str = "made";

/// What handlers are for.
const CONDITIONS: &[&str] = &[
    "NOT FOUND",
    "NOT FOUND",
    "SQLEXCEPTION",
    "SQLEXCEPTION",
    "SQLWARNING",
    "SQLWARNING",
    "SQLSTATE '23000'",
    "SQLSTATE '45000'",
    "SQLSTATE '22003'",
    "SQLSTATE '22012'",
    "SQLSTATE '01000'",
    "1062",
    "1264",
    "1265",
    "1329",
    "1365",
    "1172",
    "1048",
];

/// What SIGNAL raises.
const SIGNALS: &[&str] =
    &["SQLSTATE '45000'", "SQLSTATE '45000'", "SQLSTATE '01234'", "SQLSTATE '02000'", "SQLSTATE '23000'", "SQLSTATE '22012'"];

/// Blocks and flow within each other.
const DEPTH_MAX: usize = 4;

/// Where a statement stands.
#[derive(Clone)]
struct Place {
    /// Variables that may be read.
    scope: Scope,
    /// Those that may be set.
    targets: Vec<Column>,
    /// Labels around, and whether each is a loop's.
    labels: Vec<(String, bool)>,
    /// Conditions that have names.
    named: Vec<String>,
    in_handler: bool,
    in_procedure: bool,
    depth: usize,
}

/// A program, and what runs it.
pub fn case(maker: &mut Maker, rules: Rules) -> Case {
    maker.in_program = true;
    let parts = match maker.dice.below(10) {
        0..=5 => procedure(maker),
        6 | 7 => function(maker),
        _ => trigger(maker),
    };
    Case { check: Check::Program, parts: parts.into(), rules: Rules { strict: true, warnings: true, ordered: true, ..rules } }
}

fn place(maker: &mut Maker, variables: Vec<Column>) -> Place {
    let scope = Scope { columns: variables.clone(), subqueries: maker.dice.chance(50), ..Scope::default() };
    Place { scope, targets: variables, labels: Vec::new(), named: Vec::new(), in_handler: false, in_procedure: false, depth: 0 }
}

/// Parameters: declared types and columns.
fn parameters(maker: &mut Maker) -> Vec<(&'static str, Column)> {
    (0..maker.dice.below(4))
        .map(|n| {
            let (declared, kind) = schema::variable_type(maker.dice, maker.schema.style);
            (declared, Column { name: format!("q{n}"), kind })
        })
        .collect()
}

fn procedure(maker: &mut Maker) -> [Piece; 2] {
    let parameters = parameters(maker);
    let columns: Vec<Column> = parameters.iter().map(|(_, column)| column.clone()).collect();
    let mut place = place(maker, columns);
    place.in_procedure = true;
    let (mut declared, mut given) = (Vec::new(), Vec::new());
    for (n, (text, column)) in parameters.iter().enumerate() {
        let mode = maker.dice.pick(&["IN", "IN", "INOUT", "OUT"]);
        declared.push(format!("{mode} {} {text}", column.name));
        given.push(match mode {
            "IN" => maker.expression(&Scope::default(), column.kind, 1),
            _ => format!("@u{}", n + 1).into(),
        });
    }
    let label = maker.dice.chance(30).then(|| maker.fresh("l"));
    let body = block(maker, &place, label);
    let width = given.len();
    [
        seq![format!("CREATE PROCEDURE {NAME}({})\n", declared.join(", ")), body],
        seq![format!("CALL {NAME}("), Piece::list(", ", width, given), ")"],
    ]
}

fn function(maker: &mut Maker) -> [Piece; 2] {
    let parameters = parameters(maker);
    let columns: Vec<Column> = parameters.iter().map(|(_, column)| column.clone()).collect();
    let place = place(maker, columns);
    let declared: Vec<String> = parameters.iter().map(|(text, column)| format!("{} {text}", column.name)).collect();
    let (returns, kind) = schema::variable_type(maker.dice, maker.schema.style);
    let body = block(maker, &place, None);
    let answer = maker.expression(&place.scope, kind, 1);
    let given: Vec<Piece> = parameters.iter().map(|(_, c)| maker.expression(&Scope::default(), c.kind, 1)).collect();
    let width = given.len();
    [
        seq![
            format!("CREATE FUNCTION {NAME}({}) RETURNS {returns} MODIFIES SQL DATA\nBEGIN\n", declared.join(", ")),
            seq![body, ";\n"].maybe(),
            seq!["RETURN ", answer, ";\nEND"],
        ],
        seq![format!("SELECT {NAME}("), Piece::list(", ", width, given), ") AS c0"],
    ]
}

fn trigger(maker: &mut Maker) -> [Piece; 2] {
    let table = any_table(maker);
    let event = maker.dice.pick(&["INSERT", "UPDATE", "DELETE"]);
    let time = maker.dice.pick(&["BEFORE", "AFTER"]);
    let new = if event == "DELETE" { Vec::new() } else { query::qualified("NEW", &table.columns) };
    let old = if event == "INSERT" { Vec::new() } else { query::qualified("OLD", &table.columns) };
    let is_computed = table.create.text().contains(crate::plain::GENERATED);
    let mut place = place(maker, [new.clone(), old].concat());
    // Its `id` stays, so that rows keep their order.
    place.targets = if time == "BEFORE" && !is_computed { new.into_iter().skip(1).collect() } else { Vec::new() };
    let body = block(maker, &place, None);
    [
        seq![format!("CREATE TRIGGER {NAME} {time} {event} ON {} FOR EACH ROW\n", table.name), body],
        change::of_one_table(maker, &table),
    ]
}

fn any_table(maker: &mut Maker) -> Table {
    let at = maker.dice.below(maker.schema.tables.len());
    maker.schema.tables[at].clone()
}

/// `BEGIN ... END`, without what ends a statement.
fn block(maker: &mut Maker, around: &Place, label: Option<String>) -> Piece {
    let mut place = around.clone();
    place.depth += 1;
    place.labels.extend(label.clone().map(|label| (label, false)));
    let mut declared = Vec::new();
    for _ in 0..maker.dice.below(4) {
        let (text, kind) = schema::variable_type(maker.dice, maker.schema.style);
        let name = maker.fresh("v");
        let default = if maker.dice.chance(60) {
            seq![" DEFAULT ", maker.expression(&place.scope, kind, 1)].maybe()
        } else {
            Piece::empty()
        };
        declared.push(seq![format!("DECLARE {name} {text}"), default, ";"]);
        place.scope.columns.push(Column { name: name.clone(), kind });
        place.targets.push(Column { name, kind });
    }
    if maker.dice.chance(15) {
        let name = maker.fresh("named");
        let of = maker.dice.pick(&["1062", "1365", "SQLSTATE '45000'", "SQLSTATE '02000'"]);
        declared.push(format!("DECLARE {name} CONDITION FOR {of};").into());
        place.named.push(name);
    }
    let reading = if maker.dice.chance(20) { Some(cursor(maker, &mut place, &mut declared)) } else { None };
    let mut taken = if reading.is_some() { vec!["NOT FOUND"] } else { Vec::new() };
    for _ in 0..maker.dice.below(3) {
        let condition = maker.dice.pick(CONDITIONS);
        if place.depth < DEPTH_MAX && !taken.contains(&condition) {
            taken.push(condition);
            declared.push(handler(maker, &place, condition));
        }
    }
    let mut statements = some(maker, &place, 4);
    statements.extend(reading.into_iter().flatten());
    let name = label.map(|label| format!("{label}: ")).unwrap_or_default();
    seq![name, "BEGIN\n", Piece::list("\n", 0, declared), "\n", Piece::list("\n", 1, statements), "\nEND"]
}

fn handler(maker: &mut Maker, around: &Place, condition: &str) -> Piece {
    let mut place = around.clone();
    place.in_handler = true;
    place.depth += 1;
    // Nothing is left or begun again from within a handler.
    place.labels.clear();
    let kind = maker.dice.pick(&["CONTINUE", "CONTINUE", "EXIT"]);
    let body = match maker.dice.below(6) {
        0 => seq![block(maker, &place, None), ";"],
        1 => assign(maker, &place),
        2 => seq!["BEGIN\n", diagnostics(maker, &place), "\n", tell(maker, &place), "\nEND;"],
        3 => "RESIGNAL;".into(),
        4 => "BEGIN END;".into(),
        _ => tell(maker, &place),
    };
    seq![format!("DECLARE {kind} HANDLER FOR {condition} "), body]
}

/// Declares a cursor and what goes with it; the statements that read it.
fn cursor(maker: &mut Maker, place: &mut Place, declared: &mut Vec<Piece>) -> Vec<Piece> {
    let (name, done) = (maker.fresh("cur"), maker.fresh("done"));
    let table = any_table(maker);
    let columns = query::qualified("s", &table.columns);
    let mut scope = place.scope.clone();
    scope.columns.extend(columns.clone());
    let filter = seq![" WHERE ", maker.condition(&scope, 1)].maybe();
    let kind = maker.dice.choose(&table.columns).kind;
    let value = maker.expression(&scope, kind, 1);
    let mut variables = Vec::new();
    for _ in 0..2 {
        let (text, kind) = schema::variable_type(maker.dice, maker.schema.style);
        let variable = maker.fresh("v");
        declared.push(format!("DECLARE {variable} {text};").into());
        variables.push(Column { name: variable, kind });
    }
    let turns = maker.fresh("n");
    declared.push(format!("DECLARE {done}, {turns} INT DEFAULT 0;").into());
    declared.push(seq![
        format!("DECLARE {name} CURSOR FOR SELECT s.id, "),
        value,
        format!(" FROM {} AS s", table.name),
        filter,
        " ORDER BY s.id;"
    ]);
    declared.push(format!("DECLARE CONTINUE HANDLER FOR NOT FOUND SET {done} = 1;").into());
    place.scope.columns.extend(variables.clone());
    let fetch = format!("FETCH {name} INTO {}, {};", variables[0].name, variables[1].name);
    let mut inner = place.clone();
    inner.depth += 2;
    let read = match maker.dice.below(3) {
        0 => seq![fetch, "\n", tell(maker, &inner)],
        _ => {
            let label = maker.fresh("l");
            inner.labels.push((label.clone(), true));
            let mut body = vec![tell(maker, &inner)];
            if maker.dice.chance(40) {
                body.extend(some(maker, &inner, 1));
            }
            // P2: a cursor that could not be opened is at no end.
            seq![
                format!(
                    "{label}: LOOP\nSET {turns} = {turns} + 1;\n{fetch}\nIF {done} OR {turns} > 30 THEN LEAVE {label}; END IF;\n"
                ),
                Piece::list("\n", 0, body),
                "\nEND LOOP;"
            ]
        }
    };
    let close = format!("CLOSE {name};");
    vec![format!("OPEN {name};").into(), read, close.into()]
}

/// One to `most` statements.
fn some(maker: &mut Maker, place: &Place, most: usize) -> Vec<Piece> {
    (0..maker.dice.between(1, most)).map(|_| statement(maker, place)).collect()
}

fn statements(maker: &mut Maker, around: &Place) -> Piece {
    let mut place = around.clone();
    place.depth += 1;
    Piece::list("\n", 1, some(maker, &place, 2))
}

fn statement(maker: &mut Maker, place: &Place) -> Piece {
    let among = if place.depth < DEPTH_MAX { 40 } else { 22 };
    match maker.dice.below(among) {
        0..=4 => assign(maker, place),
        5..=8 => tell(maker, place),
        9..=12 => select_into(maker, place),
        13..=15 => change_rows(maker, place),
        16 if place.in_procedure => give_rows(maker, place),
        17 => seq![diagnostics(maker, place)],
        18 | 19 => signal(maker, place),
        20 if place.in_handler => "RESIGNAL;".into(),
        21 => leave(maker, place),
        22..=26 => if_else(maker, place),
        27..=30 => case_of(maker, place),
        31..=35 => repeated(maker, place),
        36..=38 => {
            let label = maker.dice.chance(40).then(|| maker.fresh("l"));
            seq![block(maker, place, label), ";"]
        }
        _ => seq!["DO ", maker.expression(&place.scope, Kind::Int, 2), ";"],
    }
}

fn target(maker: &mut Maker, place: &Place) -> Column {
    if place.targets.is_empty() || maker.dice.chance(10) {
        let kind = maker.any_kind();
        return Column { name: format!("@u{}", maker.dice.between(1, 3)), kind };
    }
    maker.dice.choose(&place.targets).clone()
}

fn assign(maker: &mut Maker, place: &Place) -> Piece {
    let to = target(maker, place);
    let kind = if maker.dice.chance(85) { to.kind } else { maker.any_kind() };
    seq![format!("SET {} = ", to.name), maker.expression(&place.scope, kind, 2), ";"]
}

/// P1
fn tell(maker: &mut Maker, place: &Place) -> Piece {
    let mut variables = place.scope.columns.clone();
    maker.dice.shuffle(&mut variables);
    variables.truncate(4);
    let values = variables
        .iter()
        .map(|variable| {
            let name = &variable.name;
            let text = if variable.kind == Kind::Binary { format!("HEX({name})") } else { format!("CAST({name} AS CHAR)") };
            Piece::from(format!(", ':', IFNULL({text}, 'NULL')"))
        })
        .collect();
    let tag = maker.fresh("/");
    seq![format!("SET @told = CONCAT(@told, '{tag}'"), Piece::list("", 0, values), ");"]
}

fn select_into(maker: &mut Maker, place: &Place) -> Piece {
    let to = [target(maker, place), target(maker, place)];
    let names = format!(" INTO {}, {}", to[0].name, to[1].name);
    let mut scope = place.scope.clone();
    scope.columns.retain(|column| to.iter().all(|to| to.name != column.name)); // P4
    if maker.dice.chance(25) {
        let values = to.iter().map(|to| maker.expression(&scope, to.kind, 2)).collect();
        return seq!["SELECT ", Piece::list(", ", 2, values), names, ";"];
    }
    let table = any_table(maker);
    scope.columns.extend(query::qualified("s", &table.columns));
    let values = to.iter().map(|to| maker.expression(&scope, to.kind, 1)).collect();
    let filter = seq![" WHERE ", maker.condition(&scope, 1)].maybe();
    let limit = if maker.dice.chance(70) { Piece::from(" LIMIT 1").maybe() } else { Piece::empty() };
    let (from, order) = (format!(" FROM {} AS s", table.name), " ORDER BY s.id");
    seq!["SELECT ", Piece::list(", ", 2, values), names, from, filter, order, limit, ";"]
}

fn give_rows(maker: &mut Maker, place: &Place) -> Piece {
    let kind = maker.any_kind();
    let value = maker.expression(&place.scope, kind, 2);
    if maker.dice.chance(50) {
        return seq!["SELECT ", value, " AS c0;"];
    }
    let table = any_table(maker);
    let mut scope = place.scope.clone();
    scope.columns.extend(query::qualified("s", &table.columns));
    let filter = seq![" WHERE ", maker.condition(&scope, 1)].maybe();
    seq!["SELECT s.id, ", value, format!(" AS c0 FROM {} AS s", table.name), filter, " ORDER BY s.id;"]
}

fn change_rows(maker: &mut Maker, place: &Place) -> Piece {
    let table = any_table(maker);
    if maker.dice.chance(30) {
        return seq![change::of_one_table(maker, &table), ";"];
    }
    let mut scope = place.scope.clone();
    scope.subqueries = false;
    let constants = scope.clone();
    scope.columns.extend(query::qualified(&table.name, &table.columns));
    let filter = seq![" WHERE ", maker.condition(&scope, 1)].maybe();
    let column = maker.dice.choose(&table.columns[1..]).clone();
    match maker.dice.below(4) {
        0 => seq![format!("DELETE FROM {}", table.name), filter, " ORDER BY id LIMIT 2;"],
        1 => {
            let mut values = vec![Piece::from(format!("{}", maker.dice.between(1, 20)))];
            values.extend(table.columns[1..].iter().map(|c| maker.expression(&constants, c.kind, 1)));
            let width = values.len();
            seq![format!("INSERT INTO {} VALUES (", table.name), Piece::list(", ", width, values), ");"]
        }
        _ => {
            let value = maker.expression(&scope, column.kind, 1);
            seq![format!("UPDATE {} SET {} = ", table.name, column.name), value, filter, " ORDER BY id;"]
        }
    }
}

fn diagnostics(maker: &mut Maker, place: &Place) -> Piece {
    let stacked = if place.in_handler && maker.dice.chance(50) { "STACKED " } else { "" };
    let what = maker.dice.pick(&[
        "CONDITION 1 @u1 = RETURNED_SQLSTATE, @u2 = MYSQL_ERRNO",
        "CONDITION 1 @u1 = RETURNED_SQLSTATE, @u2 = MYSQL_ERRNO",
        "@u1 = NUMBER, @u2 = ROW_COUNT",
        "CONDITION 2 @u2 = MYSQL_ERRNO",
    ]);
    seq![
        format!("GET {stacked}DIAGNOSTICS {what};\n"),
        Piece::from("SET @told = CONCAT(@told, '/d', IFNULL(@u1, 'NULL'), ':', IFNULL(@u2, 'NULL'));").maybe()
    ]
}

fn signal(maker: &mut Maker, place: &Place) -> Piece {
    let what = match place.named.last() {
        Some(name) if maker.dice.chance(30) => name.clone(),
        _ => maker.dice.pick(SIGNALS).to_owned(),
    };
    let items = match maker.dice.below(4) {
        0 => " SET MESSAGE_TEXT = 'told', MYSQL_ERRNO = 5001",
        1 => " SET MYSQL_ERRNO = 1062",
        _ => "",
    };
    let signal = seq![format!("SIGNAL {what}"), Piece::from(items).maybe(), ";"];
    if maker.dice.chance(30) {
        return signal;
    }
    seq!["IF ", maker.condition(&place.scope, 1), " THEN ", signal, " END IF;"]
}

fn leave(maker: &mut Maker, place: &Place) -> Piece {
    if place.labels.is_empty() {
        return assign(maker, place);
    }
    let (label, is_loop) = maker.dice.choose(&place.labels).clone();
    let word = if is_loop && maker.dice.chance(50) { "ITERATE" } else { "LEAVE" };
    seq!["IF ", maker.condition(&place.scope, 1), format!(" THEN {word} {label}; END IF;")]
}

fn if_else(maker: &mut Maker, place: &Place) -> Piece {
    let first = seq!["IF ", maker.condition(&place.scope, 2), " THEN\n", statements(maker, place), "\n"];
    let second = if maker.dice.chance(30) {
        seq!["ELSEIF ", maker.condition(&place.scope, 1), " THEN\n", statements(maker, place), "\n"].maybe()
    } else {
        Piece::empty()
    };
    let last = if maker.dice.chance(50) { seq!["ELSE\n", statements(maker, place), "\n"].maybe() } else { Piece::empty() };
    seq![first, second, last, "END IF;"]
}

/// Both forms of CASE; without ELSE 1339 is raised at times.
fn case_of(maker: &mut Maker, place: &Place) -> Piece {
    let kind = maker.any_kind();
    let is_simple = maker.dice.chance(60);
    let operand = if is_simple { seq![" ", maker.expression(&place.scope, kind, 1)] } else { Piece::empty() };
    let whens = (0..maker.dice.between(1, 3))
        .map(|_| {
            let when = if is_simple { maker.expression(&place.scope, kind, 1) } else { maker.condition(&place.scope, 1) };
            seq!["WHEN ", when, " THEN\n", statements(maker, place), "\n"]
        })
        .collect();
    let last = if maker.dice.chance(65) { seq!["ELSE\n", statements(maker, place), "\n"].maybe() } else { Piece::empty() };
    seq!["CASE", operand, "\n", Piece::list("", 1, whens), last, "END CASE;"]
}

/// P2
fn repeated(maker: &mut Maker, around: &Place) -> Piece {
    let (count, label) = (maker.fresh("n"), maker.fresh("l"));
    let turns = maker.dice.between(1, 3);
    let mut place = around.clone();
    place.labels.push((label.clone(), true));
    place.scope.columns.push(Column { name: count.clone(), kind: Kind::Int });
    let body = statements(maker, &place);
    let next = format!("SET {count} = {count} + 1;\nIF {count} > {turns} THEN LEAVE {label}; END IF;\n");
    let (begin, end) = match maker.dice.below(3) {
        0 => ("LOOP\n".to_owned(), "\nEND LOOP;".to_owned()),
        1 => (format!("WHILE {count} < 5 DO\n"), "\nEND WHILE;".to_owned()),
        _ => ("REPEAT\n".to_owned(), format!("\nUNTIL {count} >= {turns} END REPEAT;")),
    };
    seq![format!("BEGIN\nDECLARE {count} INT DEFAULT 0;\n{label}: {begin}{next}"), body, end, "\nEND;"]
}
