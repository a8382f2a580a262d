//! Random queries: sources and joins, select lists, grouping, windows, set operations, common table expressions, subqueries.
//!
//! Q1: LIMIT stands only under an ORDER BY over the `id`s of all sources, so that the rows it leaves are determined.
//! Q2: everything that depends on the order of rows (frames, GROUP_CONCAT) has its own total order.

use crate::compare::Rules;
use crate::expression::{Maker, Scope};
use crate::forms;
use crate::kinds::{Kind, Style};
use crate::piece::Piece;
use crate::schema::{Column, Table};
use crate::seq;

/// A query and the known properties of its result.
#[derive(Debug)]
pub struct Made {
    pub piece: Piece,
    pub kinds: Vec<Kind>,
    /// Its rows come in a determined order.
    pub ordered: bool,
}

/// A FROM clause.
#[derive(Debug)]
pub struct From {
    pub piece: Piece,
    pub columns: Vec<Column>,
    /// The `id` of every source, if all are tables.
    pub total: Option<Vec<String>>,
}

/// A query of `width` columns (any number without).
pub fn query(maker: &mut Maker, outer: &[Column], width: Option<usize>, depth: usize) -> Made {
    maker.nesting += 1;
    let width = width.unwrap_or_else(|| maker.dice.between(1, 4));
    let made = match maker.dice.below(20) {
        0 | 1 if maker.nesting < 3 => set_operation(maker, outer, width, depth),
        2 | 3 if maker.nesting < 3 => with_common(maker, outer, width, depth),
        4..=7 => grouped(maker, outer, width, depth),
        8 | 9 => windowed(maker, outer, width, depth),
        10 if maker.schema.style == Style::Plain && maker.nesting < 3 => forms::first_of_groups(maker, width, depth),
        _ => plain(maker, outer, width, depth),
    };
    maker.nesting -= 1;
    made
}

/// The rules for a query's answers.
pub fn rules_of(made: &Made, rules: Rules) -> Rules {
    let text = made.piece.text();
    let folded = ["GROUP BY", "DISTINCT", "UNION", "INTERSECT", "EXCEPT", "MIN(", "MAX(", "GROUP_CONCAT("]
        .iter()
        .any(|w| text.contains(w));
    Rules { ordered: made.ordered, folded, ..rules }
}

/// A FROM clause of up to `most` sources.
pub fn sources(maker: &mut Maker, outer: &[Column], most: usize, depth: usize) -> From {
    let mut from = source(maker, outer, depth);
    if maker.dice.chance(8) && most > 1 {
        let right = source(maker, outer, depth);
        return joined(from, ", ", right, Piece::empty());
    }
    for _ in 1..maker.dice.between(1, most.max(1)) {
        from = join(maker, from, outer, depth);
    }
    from
}

fn join(maker: &mut Maker, left: From, outer: &[Column], depth: usize) -> From {
    if maker.nesting < 3 && maker.dice.chance(6) {
        let mut known = left.columns.clone();
        known.extend_from_slice(outer);
        let right = derived(maker, &known, depth, "LATERAL ");
        let word = maker.dice.pick(&[" LEFT JOIN ", " LEFT JOIN ", " JOIN "]);
        let on =
            if word == " JOIN " && maker.dice.chance(50) { on(maker, &left, &right, outer, depth) } else { " ON TRUE".into() };
        return joined(left, word, right, on);
    }
    let documents = maker.by_style(0, 20);
    if maker.dice.chance(documents)
        && let Some(right) = forms::json_table(maker, &left.columns)
    {
        let word = maker.dice.pick(&[" JOIN ", " LEFT JOIN "]);
        return joined(left, word, right, " ON TRUE".into());
    }
    let mut right = source(maker, outer, depth);
    if maker.dice.chance(10) {
        let inner = source(maker, outer, depth);
        let on = on(maker, &right, &inner, outer, depth);
        right = joined(right, " JOIN ", inner, on);
        right.piece = seq!["(", right.piece, ")"];
    }
    let both_tables = left.total.as_ref().is_some_and(|t| t.len() == 1) && right.total.as_ref().is_some_and(|t| t.len() == 1);
    if both_tables && maker.dice.chance(8) {
        let word = maker.dice.pick(&[" NATURAL JOIN ", " NATURAL LEFT JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN "]);
        let using = if word.starts_with(" NATURAL") { Piece::empty() } else { " USING (id)".into() };
        return joined(left, word, right, using);
    }
    let word =
        maker.dice.pick(&[" JOIN ", " JOIN ", " LEFT JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " STRAIGHT_JOIN ", " CROSS JOIN "]);
    if word == " CROSS JOIN " {
        return joined(left, word, right, Piece::empty());
    }
    let on = on(maker, &left, &right, outer, depth);
    joined(left, word, right, on)
}

fn joined(left: From, word: &'static str, right: From, on: Piece) -> From {
    let total = left.total.zip(right.total).map(|(l, r)| [l, r].concat());
    From { piece: seq![left.piece, word, right.piece, on], columns: [left.columns, right.columns].concat(), total }
}

fn on(maker: &mut Maker, left: &From, right: &From, outer: &[Column], depth: usize) -> Piece {
    let pairs: Vec<(&Column, &Column)> =
        left.columns.iter().flat_map(|l| right.columns.iter().map(move |r| (l, r))).filter(|(l, r)| l.kind == r.kind).collect();
    let keyed = maker.by_style(70, 90);
    if !pairs.is_empty() && maker.dice.chance(keyed) {
        let (l, r) = maker.dice.pick(&pairs);
        let word = maker.dice.pick(&["=", "=", "=", "=", "<=>", "<", ">="]);
        let equality = Piece::from(format!("{} {word} {}", l.name, r.name)).expr();
        if maker.dice.chance(70) {
            return seq![" ON ", equality];
        }
        let scope = scope_of(&[left.columns.clone(), right.columns.clone()].concat(), outer);
        return seq![" ON ", seq![equality, " AND ", maker.condition(&scope, depth)].expr()];
    }
    let scope = scope_of(&[left.columns.clone(), right.columns.clone()].concat(), outer);
    seq![" ON ", maker.condition(&scope, depth)]
}

fn source(maker: &mut Maker, outer: &[Column], depth: usize) -> From {
    if !maker.common.is_empty() && maker.dice.chance(50) {
        let at = maker.dice.below(maker.common.len());
        let (name, columns) = maker.common[at].clone();
        let alias = maker.fresh("x");
        return From { piece: format!("{name} AS {alias}").into(), columns: qualified(&alias, &columns), total: None };
    }
    if maker.nesting < 3 && maker.dice.chance(8) {
        return derived(maker, &[], depth, "");
    }
    if maker.dice.chance(2) {
        return row_values(maker);
    }
    let _ = outer;
    let at = maker.dice.below(maker.schema.tables.len());
    let table = maker.schema.tables[at].clone();
    table_source(maker, &table)
}

fn table_source(maker: &mut Maker, table: &Table) -> From {
    let alias = maker.fresh("x");
    let hint = if table.keys.is_empty() { String::new() } else { format!(" IGNORE INDEX ({})", table.keys.join(", ")) };
    From {
        piece: seq![format!("{} AS {alias}", table.name), Piece::Hint(hint)],
        columns: qualified(&alias, &table.columns),
        total: Some(vec![format!("{alias}.id")]),
    }
}

fn derived(maker: &mut Maker, outer: &[Column], depth: usize, word: &'static str) -> From {
    let made = query(maker, outer, None, depth.saturating_sub(1));
    let alias = maker.fresh("x");
    let columns: Vec<Column> = numbered(&made.kinds);
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    let named = format!(") AS {alias} ({})", names.join(", "));
    From { piece: seq![word, "(", made.piece, named], columns: qualified(&alias, &columns), total: None }
}

fn row_values(maker: &mut Maker) -> From {
    let alias = maker.fresh("x");
    let kinds = [maker.any_kind(), maker.any_kind()];
    let rows = (0..maker.dice.between(1, 3))
        .map(|_| {
            let cells = kinds.iter().map(|k| maker.literal(*k).expr()).collect();
            seq!["ROW(", Piece::list(", ", 2, cells), ")"]
        })
        .collect();
    let columns = numbered(&kinds);
    let piece = seq!["(VALUES ", Piece::list(", ", 1, rows), format!(") AS {alias} (c0, c1)")];
    From { piece, columns: qualified(&alias, &columns), total: None }
}

pub fn numbered(kinds: &[Kind]) -> Vec<Column> {
    kinds.iter().enumerate().map(|(n, kind)| Column { name: format!("c{n}"), kind: *kind }).collect()
}

pub fn qualified(alias: &str, columns: &[Column]) -> Vec<Column> {
    columns.iter().map(|c| Column { name: format!("{alias}.{}", c.name), kind: c.kind }).collect()
}

pub fn scope_of(columns: &[Column], outer: &[Column]) -> Scope {
    Scope { columns: columns.to_vec(), outer: outer.to_vec(), subqueries: true }
}

fn where_clause(maker: &mut Maker, scope: &Scope, depth: usize) -> Piece {
    if maker.dice.chance(35) {
        return Piece::empty();
    }
    seq![" WHERE ", maker.condition(scope, depth)].maybe()
}

pub fn item(maker: &mut Maker, scope: &Scope, kind: Kind, depth: usize, n: usize) -> Piece {
    let depth = maker.dice.below(depth + 1);
    let expression = maker.expression(scope, kind, depth);
    aliased(expression, n)
}

fn aliased(expression: Piece, n: usize) -> Piece {
    seq![expression, format!(" AS c{n}")]
}

fn plain(maker: &mut Maker, outer: &[Column], width: usize, depth: usize) -> Made {
    let most = if maker.nesting == 1 { maker.by_style(3, 4) } else { maker.by_style(3, 2) };
    let from = sources(maker, outer, most, depth);
    let scope = scope_of(&from.columns, outer);
    let kinds: Vec<Kind> = (0..width).map(|_| maker.any_kind()).collect();
    let items: Vec<Piece> = kinds.iter().enumerate().map(|(n, kind)| item(maker, &scope, *kind, depth, n)).collect();
    let distinct = if maker.dice.chance(12) { Piece::from("DISTINCT ").maybe() } else { Piece::empty() };
    let is_distinct = matches!(distinct, Piece::Maybe(_));
    let filter = where_clause(maker, &scope, depth);
    let (order, ordered) = if is_distinct { order_by_places(maker, &kinds) } else { order_limit(maker, &from.total, &scope) };
    let least = if maker.nesting > 1 { width } else { 1 };
    Made {
        piece: seq!["SELECT ", distinct, Piece::list(", ", least, items), " FROM ", from.piece, filter, order],
        kinds,
        ordered,
    }
}

/// ORDER BY over the sources' ids, and often a LIMIT (Q1).
fn order_limit(maker: &mut Maker, total: &Option<Vec<String>>, scope: &Scope) -> (Piece, bool) {
    let Some(total) = total.as_ref().filter(|_| maker.dice.chance(40)) else { return (Piece::empty(), false) };
    let mut keys: Vec<Piece> = Vec::new();
    for _ in 0..maker.dice.below(3) {
        let kind = maker.any_kind();
        let key = maker.expression(scope, kind, 1);
        // A number there is a position.
        if key.text().contains(['x', 'o', '(']) {
            keys.push(seq![key, maker.dice.pick(&["", " DESC", " ASC"]), ", "]);
        }
    }
    // What makes the order total stays in a statement that is made smaller.
    let ids: Vec<String> = total.iter().map(|id| format!("{id}{}", maker.dice.pick(&["", " DESC"]))).collect();
    let limit = match maker.dice.below(4) {
        0 => Piece::empty(),
        1 => format!(" LIMIT {} OFFSET {}", maker.dice.below(8), maker.dice.below(5)).into(),
        _ => format!(" LIMIT {}", maker.dice.below(8)).into(),
    };
    (seq![" ORDER BY ", Piece::list("", 0, keys), ids.join(", "), limit.maybe()], true)
}

/// ORDER BY over all columns that tell the rows apart, the first of the select list, in plain rounds (Q1).
fn order_by_places(maker: &mut Maker, kinds: &[Kind]) -> (Piece, bool) {
    let orders = maker.by_style(0, 50);
    if kinds.is_empty() || kinds.contains(&Kind::Json) || !maker.dice.chance(orders) {
        return (Piece::empty(), false);
    }
    let mut keys: Vec<String> = (1..=kinds.len()).map(|place| format!("{place}{}", maker.dice.pick(&["", " DESC"]))).collect();
    maker.dice.shuffle(&mut keys);
    let limit = match maker.dice.below(3) {
        0 => Piece::empty(),
        1 => format!(" LIMIT {} OFFSET {}", maker.dice.below(8), maker.dice.below(5)).into(),
        _ => format!(" LIMIT {}", maker.dice.below(8)).into(),
    };
    (seq![" ORDER BY ", keys.join(", "), limit.maybe()].maybe(), true)
}

const AGGREGATES: &[(&str, Kind)] = &[
    ("COUNT(*)", Kind::Int),
    ("COUNT({})", Kind::Int),
    ("COUNT(DISTINCT {})", Kind::Int),
    ("COUNT(DISTINCT {}, {})", Kind::Int),
    ("SUM({})", Kind::Decimal),
    ("SUM({})", Kind::Real),
    ("SUM(DISTINCT {})", Kind::Decimal),
    ("AVG({})", Kind::Decimal),
    ("AVG(DISTINCT {})", Kind::Decimal),
    ("MIN({})", Kind::Int),
    ("MAX({})", Kind::Decimal),
    ("MIN({})", Kind::Text),
    ("MAX({})", Kind::Text),
    ("MAX({})", Kind::Binary),
    ("MIN({})", Kind::Date),
    ("MAX({})", Kind::DateTime),
    ("MAX({})", Kind::Time),
    ("MIN({})", Kind::Json),
    ("MIN(DISTINCT {})", Kind::Real),
    ("GROUP_CONCAT({} ORDER BY 1)", Kind::Text),
    ("GROUP_CONCAT(DISTINCT {} ORDER BY 1 DESC SEPARATOR '|')", Kind::Text),
    ("BIT_AND({})", Kind::Int),
    ("BIT_OR({})", Kind::Int),
    ("BIT_XOR({})", Kind::Int),
    ("STD({})", Kind::Real),
    ("VARIANCE({})", Kind::Real),
    ("VAR_SAMP({})", Kind::Real),
    ("STDDEV_SAMP({})", Kind::Real),
    ("JSON_LENGTH(JSON_ARRAYAGG({}))", Kind::Int),
];

fn aggregate(maker: &mut Maker, scope: &Scope, depth: usize) -> (Piece, Kind) {
    let (template, kind) = loop {
        let (template, kind) = maker.dice.pick(AGGREGATES);
        if maker.is_usual(kind) {
            break (template, kind);
        }
    };
    let mut parts = template.split("{}");
    let mut pieces = vec![Piece::from(parts.next().unwrap_or_default())];
    for part in parts {
        let argument = match kind {
            Kind::Int if template.starts_with("COUNT") || template.starts_with("JSON") => maker.any_kind(),
            Kind::Decimal if maker.dice.chance(50) => Kind::Int,
            kind if maker.strays() => {
                let _ = kind;
                maker.any_kind()
            }
            kind => kind,
        };
        let deep = maker.dice.below(depth + 1);
        pieces.push(maker.expression(scope, argument, deep));
        pieces.push(part.into());
    }
    (Piece::Seq(pieces).expr(), kind)
}

fn grouped(maker: &mut Maker, outer: &[Column], width: usize, depth: usize) -> Made {
    let from = sources(maker, outer, 2, depth);
    let mut scope = scope_of(&from.columns, outer);
    scope.subqueries = false;
    let count = maker.dice.below(width.min(3) + 1);
    let mut keys: Vec<(Piece, Kind)> = Vec::new();
    for _ in 0..count {
        let kind = maker.any_kind();
        if maker.dice.chance(25) {
            keys.push((maker.expression(&scope, kind, 1), kind));
        } else {
            let column = maker.dice.choose(&from.columns).clone();
            keys.push((Piece::from(column.name).expr(), column.kind));
        }
    }
    let mut kinds: Vec<Kind> = keys.iter().map(|(_, kind)| *kind).collect();
    let mut items: Vec<Piece> = keys.iter().enumerate().map(|(n, (key, _))| aliased(key.clone(), n)).collect();
    let rollup = count > 0 && maker.dice.chance(15);
    let special = maker.by_style(0, 20);
    while items.len() < width {
        let (call, kind) = aggregate(maker, &scope, depth);
        let (call, kind) = match maker.dice.chance(special) {
            true if rollup => (seq!["GROUPING(", maker.dice.choose(&keys).0.clone(), ")"], Kind::Int),
            true => over_groups(maker, call, kind),
            false => (call, kind),
        };
        items.push(aliased(call, items.len()));
        kinds.push(kind);
    }
    let filter = where_clause(maker, &scope, depth);
    let mut tail = Vec::new();
    if count > 0 {
        let keys = keys.iter().map(|(key, _)| key.clone()).collect();
        tail.push(seq![" GROUP BY ", Piece::list(", ", 1, keys)]);
        if rollup {
            tail.push(Piece::from(" WITH ROLLUP").maybe());
        }
    }
    if maker.dice.chance(30) {
        let (call, kind) = aggregate(maker, &scope, 1);
        let word = maker.dice.pick(&[" > ", " <= ", " = ", " <> "]);
        let other = maker.literal(kind).expr();
        tail.push(seq![" HAVING ", seq![call, word, other].expr()].maybe());
    }
    let (order, ordered) = if rollup { (Piece::empty(), false) } else { order_by_places(maker, &kinds[..count]) };
    tail.push(order);
    // Positions stay as they are.
    let least = if maker.nesting > 1 { width } else { count.max(1) };
    let piece = seq!["SELECT ", Piece::list(", ", least, items), " FROM ", from.piece, filter, Piece::Seq(tail)];
    Made { piece, kinds, ordered }
}

/// A window over the groups of a query.
fn over_groups(maker: &mut Maker, call: Piece, kind: Kind) -> (Piece, Kind) {
    match maker.dice.below(3) {
        0 => (seq!["RANK() OVER (ORDER BY ", call, maker.dice.pick(&[")", " DESC)"])].expr(), Kind::Int),
        1 => (seq!["MAX(", call, ") OVER ()"].expr(), kind),
        _ => (seq!["SUM(COUNT(*)) OVER (ORDER BY ", call, ")"].expr(), Kind::Decimal),
    }
}

/// Functions whose value depends only on the peers of a row.
const PEER_WINDOWS: &[(&str, Kind)] =
    &[("RANK()", Kind::Int), ("DENSE_RANK()", Kind::Int), ("PERCENT_RANK()", Kind::Real), ("CUME_DIST()", Kind::Real)];
/// Functions that want a total order (Q2).
const ROW_WINDOWS: &[(&str, Kind)] = &[
    ("ROW_NUMBER()", Kind::Int),
    ("NTILE(3)", Kind::Int),
    ("LAG({})", Kind::Text),
    ("LAG({}, 2, {})", Kind::Int),
    ("LEAD({})", Kind::Decimal),
    ("LEAD({}, 1, {})", Kind::Date),
    ("FIRST_VALUE({})", Kind::Text),
    ("LAST_VALUE({})", Kind::DateTime),
    ("NTH_VALUE({}, 2)", Kind::Int),
    ("SUM({})", Kind::Int),
    ("SUM({})", Kind::Decimal),
    ("AVG({})", Kind::Int),
    ("COUNT({})", Kind::Int),
    ("MIN({})", Kind::Text),
    ("MAX({})", Kind::Decimal),
    ("MAX({})", Kind::Date),
    ("BIT_OR({})", Kind::Int),
    ("STD({})", Kind::Real),
];
const FRAMES: &[&str] = &[
    "",
    "",
    " ROWS UNBOUNDED PRECEDING",
    " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
    " ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING",
    " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    " RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING",
];

const INTERVAL_FRAMES: &[&str] = &[
    " RANGE BETWEEN INTERVAL 31 DAY PRECEDING AND CURRENT ROW",
    " RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND INTERVAL 1 DAY FOLLOWING",
    " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    " RANGE INTERVAL 1 YEAR PRECEDING",
];

fn windowed(maker: &mut Maker, outer: &[Column], width: usize, depth: usize) -> Made {
    let from = sources(maker, outer, 2, depth);
    let mut scope = scope_of(&from.columns, outer);
    scope.subqueries = false;
    let mut kinds = Vec::new();
    let mut items = Vec::new();
    for n in 0..width {
        if n > 0 && maker.dice.chance(40) {
            let kind = maker.any_kind();
            items.push(item(maker, &scope, kind, depth, n));
            kinds.push(kind);
            continue;
        }
        let (call, kind) = window(maker, &from, &scope);
        items.push(aliased(call, n));
        kinds.push(kind);
    }
    let filter = where_clause(maker, &scope, depth);
    let least = if maker.nesting > 1 { width } else { 1 };
    Made { piece: seq!["SELECT ", Piece::list(", ", least, items), " FROM ", from.piece, filter], kinds, ordered: false }
}

fn window(maker: &mut Maker, from: &From, scope: &Scope) -> (Piece, Kind) {
    let partition = if maker.dice.chance(50) {
        format!("PARTITION BY {} ", maker.dice.choose(&from.columns).name).into()
    } else {
        Piece::empty()
    };
    let column = maker.dice.choose(&from.columns).name.clone();
    let direction = maker.dice.pick(&["", " DESC"]);
    let Some(total) = from.total.as_ref().filter(|_| maker.dice.chance(80)) else {
        let (call, kind) = maker.dice.pick(PEER_WINDOWS);
        return (seq![call, " OVER (", partition.maybe(), format!("ORDER BY {column}{direction}"), ")"].expr(), kind);
    };
    let (template, kind) = maker.dice.pick(ROW_WINDOWS);
    let mut parts = template.split("{}");
    let mut pieces = vec![Piece::from(parts.next().unwrap_or_default())];
    for part in parts {
        pieces.push(maker.expression(scope, kind, 1));
        pieces.push(part.into());
    }
    let moments: Vec<&Column> = from.columns.iter().filter(|c| matches!(c.kind, Kind::Date | Kind::DateTime)).collect();
    let intervals = maker.by_style(0, 20);
    if !moments.is_empty() && maker.dice.chance(intervals) {
        let by = maker.dice.pick(&moments).name.clone();
        let call = maker.dice.pick(&["COUNT(*)", "MIN(id)", "SUM(id)", "MAX(id)"]).replace("id", &total[0]);
        let frame = maker.dice.pick(INTERVAL_FRAMES);
        return (seq![call, " OVER (", partition.maybe(), format!("ORDER BY {by}{direction}{frame})")].expr(), Kind::Int);
    }
    let frame = maker.dice.pick(FRAMES);
    let order = if frame.contains("RANGE BETWEEN 2") && total.len() == 1 {
        format!("ORDER BY {}{direction}", total[0])
    } else {
        format!("ORDER BY {column}{direction}, {}", total.join(", "))
    };
    let frame = if frame.contains("RANGE BETWEEN 2") && total.len() != 1 { "" } else { frame };
    (seq![Piece::Seq(pieces), " OVER (", partition.maybe(), order, Piece::from(frame).maybe(), ")"].expr(), kind)
}

fn set_operation(maker: &mut Maker, outer: &[Column], width: usize, depth: usize) -> Made {
    // The last two end MySQL at times.
    let words = maker.by_style(7, 5);
    let word = maker
        .dice
        .pick(&[" UNION ", " UNION ALL ", " UNION ", " INTERSECT ", " EXCEPT ", " INTERSECT ALL ", " EXCEPT ALL "][..words]);
    let left = query(maker, outer, Some(width), depth.saturating_sub(1));
    let right = query(maker, outer, Some(width), depth.saturating_sub(1));
    Made { piece: seq!["(", left.piece, ")", word, "(", right.piece, ")"], kinds: left.kinds, ordered: false }
}

fn with_common(maker: &mut Maker, outer: &[Column], width: usize, depth: usize) -> Made {
    let name = maker.fresh("w");
    let before = maker.common.len();
    let (definition, columns) = if maker.dice.chance(30) {
        let trees = maker.by_style(0, 60);
        let tree = if maker.dice.chance(trees) { forms::tree(maker, &name) } else { None };
        tree.unwrap_or_else(|| recursive(maker, &name))
    } else {
        let made = query(maker, &[], None, depth.saturating_sub(1));
        let columns = numbered(&made.kinds);
        let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        (seq![format!("{name} ({}) AS (", names.join(", ")), made.piece, ")"], columns)
    };
    maker.common.push((name, columns));
    let body = query(maker, outer, Some(width), depth);
    maker.common.truncate(before);
    Made { piece: seq!["WITH RECURSIVE ", definition, " ", body.piece], kinds: body.kinds, ordered: body.ordered }
}

fn recursive(maker: &mut Maker, name: &str) -> (Piece, Vec<Column>) {
    let steps = maker.dice.between(1, 6);
    let kind = maker.any_kind();
    let scope = Scope {
        columns: vec![Column { name: "n".into(), kind: Kind::Int }, Column { name: "v".into(), kind }],
        ..Scope::default()
    };
    let first = maker.literal(kind).expr();
    let next = maker.expression(&scope, kind, 1);
    let all = maker.dice.pick(&[" UNION ALL ", " UNION ALL ", " UNION "]);
    let piece = seq![
        format!("{name} (n, v) AS (SELECT 1, "),
        first,
        all,
        "SELECT n + 1, ",
        next,
        format!(" FROM {name} WHERE n < {steps})")
    ];
    (piece, scope.columns)
}

/// A subquery where an expression stands.
pub fn in_expression(maker: &mut Maker, scope: &Scope, kind: Kind, depth: usize) -> Piece {
    let outer: Vec<Column> = scope.columns.iter().chain(&scope.outer).cloned().collect();
    maker.nesting += 1;
    let depth = depth.saturating_sub(1);
    let piece = match (kind, maker.dice.below(6)) {
        (Kind::Bool, 0 | 1) => {
            let word = maker.dice.pick(&["EXISTS (", "NOT EXISTS ("]);
            seq![word, plain_of(maker, &outer, 1, depth), ")"]
        }
        (Kind::Bool, 2 | 3) => {
            let of = maker.any_kind();
            let left = maker.expression(scope, of, 1);
            let word = maker.dice.pick(&[" IN (", " NOT IN (", " IN ("]);
            seq!["(", left, word, column_of(maker, &outer, of, depth), "))"]
        }
        (Kind::Bool, 4) => {
            let of = maker.any_kind();
            let left = maker.expression(scope, of, 1);
            let word = maker.dice.pick(&[" = ANY (", " > ANY (", " <= ALL (", " <> ALL (", " < SOME (", " >= ALL ("]);
            seq!["(", left, word, column_of(maker, &outer, of, depth), "))"]
        }
        (Kind::Bool, 5) => {
            let kinds = [maker.any_kind(), Kind::Int];
            let left = kinds.iter().map(|k| maker.expression(scope, *k, 1)).collect();
            let from = sources(maker, &outer, 1, depth);
            let inner = scope_of(&from.columns, &outer);
            let items = kinds.iter().map(|k| maker.expression(&inner, *k, 1)).collect();
            let filter = where_clause(maker, &inner, depth);
            seq![
                "((",
                Piece::list(", ", 1, left),
                ") IN (SELECT ",
                Piece::list(", ", 1, items),
                " FROM ",
                from.piece,
                filter,
                "))"
            ]
        }
        (_, 0..=2) => {
            let from = sources(maker, &outer, 2, depth);
            let mut inner = scope_of(&from.columns, &outer);
            inner.subqueries = false;
            let (call, _) = aggregate(maker, &inner, depth);
            let filter = where_clause(maker, &inner, depth);
            seq!["(SELECT ", call, " FROM ", from.piece, filter, ")"]
        }
        _ => {
            let from = sources(maker, &outer, 1, depth);
            let inner = scope_of(&from.columns, &outer);
            let value = maker.expression(&inner, kind, depth);
            let filter = where_clause(maker, &inner, depth);
            match &from.total {
                Some(total) => {
                    seq!["(SELECT ", value, " FROM ", from.piece, filter, format!(" ORDER BY {} LIMIT 1)", total.join(", "))]
                }
                None => seq!["(SELECT ", value, ")"],
            }
        }
    };
    maker.nesting -= 1;
    piece.expr()
}

fn plain_of(maker: &mut Maker, outer: &[Column], width: usize, depth: usize) -> Piece {
    let from = sources(maker, outer, 2, depth);
    let scope = scope_of(&from.columns, outer);
    let items = (0..width)
        .map(|_| {
            let kind = maker.any_kind();
            maker.expression(&scope, kind, 1)
        })
        .collect();
    let filter = where_clause(maker, &scope, depth);
    seq!["SELECT ", Piece::list(", ", 1, items), " FROM ", from.piece, filter]
}

fn column_of(maker: &mut Maker, outer: &[Column], kind: Kind, depth: usize) -> Piece {
    let from = sources(maker, outer, 2, depth);
    let scope = scope_of(&from.columns, outer);
    let value = maker.expression(&scope, kind, 1);
    let filter = where_clause(maker, &scope, depth);
    seq!["SELECT ", value, " FROM ", from.piece, filter]
}
