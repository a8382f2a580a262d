//! Forms that applications use and that stand beside a query: sources that read a document's rows, trees by recursion, the best of each group,
//! and statements that come in several steps (user variables, views).

use crate::check::{Case, Check};
use crate::compare::Rules;
use crate::expression::{Given, Maker};
use crate::kinds::Kind;
use crate::piece::Piece;
use crate::query::{self, From, Made};
use crate::schema::Column;
use crate::seq;

const DOCUMENT_COLUMNS: &[(&str, Kind)] = &[
    ("o FOR ORDINALITY", Kind::Int),
    ("i INT PATH '$.n'", Kind::Int),
    ("i INT PATH '$.n' DEFAULT '7' ON EMPTY", Kind::Int),
    ("i INT PATH '$' NULL ON ERROR", Kind::Int),
    ("i DECIMAL(8,2) PATH '$.n'", Kind::Decimal),
    ("t VARCHAR(20) PATH '$.k'", Kind::Text),
    ("t VARCHAR(20) PATH '$' DEFAULT '\"none\"' ON EMPTY NULL ON ERROR", Kind::Text),
    ("t VARCHAR(20) PATH '$.k' DEFAULT 'none' ON EMPTY", Kind::Text),
    ("j JSON PATH '$'", Kind::Json),
    ("j JSON PATH '$.tags'", Kind::Json),
    ("e INT EXISTS PATH '$.tags'", Kind::Int),
    ("NESTED PATH '$.tags[*]' COLUMNS (g VARCHAR(10) PATH '$', gn FOR ORDINALITY)", Kind::Text),
];

/// The rows of a document in one of the columns that are known.
pub fn json_table(maker: &mut Maker, known: &[Column]) -> Option<From> {
    let documents: Vec<&Column> = known.iter().filter(|c| c.kind == Kind::Json).collect();
    if documents.is_empty() {
        return None;
    }
    let document = maker.dice.pick(&documents).name.clone();
    let alias = maker.fresh("x");
    let path = maker.dice.pick(&["$", "$[*]", "$.tags[*]", "$.*"]);
    let mut items = Vec::new();
    let mut columns: Vec<Column> = Vec::new();
    for _ in 0..maker.dice.between(1, 4) {
        let (text, kind) = maker.dice.pick(DOCUMENT_COLUMNS);
        let name = if text.starts_with("NESTED") { "g" } else { &text[..1] };
        if columns.iter().any(|c| c.name == name) {
            continue;
        }
        columns.push(Column { name: name.into(), kind });
        items.push(Piece::from(text));
    }
    let piece = seq![format!("JSON_TABLE({document}, '{path}' COLUMNS ("), Piece::list(", ", 1, items), format!(")) AS {alias}")];
    Some(From { piece, columns: query::qualified(&alias, &columns), total: None })
}

/// A table's rows, and the rows that they lead to by an integer column, some steps far.
pub fn tree(maker: &mut Maker, name: &str) -> Option<(Piece, Vec<Column>)> {
    let at = maker.dice.below(maker.schema.tables.len());
    let table = maker.schema.tables[at].clone();
    let parents: Vec<&Column> = table.columns[1..].iter().filter(|c| c.kind == Kind::Int).collect();
    if parents.is_empty() {
        return None;
    }
    let parent = maker.dice.pick(&parents).name.clone();
    let value = maker.dice.choose(&table.columns).clone();
    let scope = query::scope_of(&query::qualified("r", &table.columns), &[]);
    let first = seq![" WHERE ", maker.condition(&scope, 1)].maybe();
    let (from, to) = maker.dice.pick(&[("id", ""), ("", "id")]);
    let (from, to) = (if from.is_empty() { &parent } else { "id" }, if to.is_empty() { &parent } else { "id" });
    let all = maker.dice.pick(&[" UNION ALL ", " UNION ALL ", " UNION "]);
    let steps = maker.dice.between(1, 3);
    let columns = vec![
        Column { name: "id".into(), kind: Kind::Int },
        Column { name: "at".into(), kind: Kind::Int },
        Column { name: "n".into(), kind: Kind::Int },
        Column { name: "v".into(), kind: value.kind },
    ];
    let piece = seq![
        format!("{name} (id, at, n, v) AS (SELECT r.id, r.{to}, 1, r.{} FROM {} AS r", value.name, table.name),
        first,
        all,
        format!(
            "SELECT s.id, s.{to}, {name}.n + 1, s.{} FROM {name} JOIN {} AS s ON s.{from} = {name}.at WHERE {name}.n < {steps})",
            value.name, table.name
        )
    ];
    Some((piece, columns))
}

/// The first rows of each group, by ROW_NUMBER or RANK in a derived table.
pub fn first_of_groups(maker: &mut Maker, width: usize, depth: usize) -> Made {
    let at = maker.dice.below(maker.schema.tables.len());
    let table = maker.schema.tables[at].clone();
    let inner = maker.fresh("x");
    let alias = maker.fresh("x");
    let group = maker.dice.choose(&table.columns).name.clone();
    let order = maker.dice.choose(&table.columns).name.clone();
    let direction = maker.dice.pick(&["", " DESC"]);
    let call = maker.dice.pick(&["ROW_NUMBER()", "ROW_NUMBER()", "RANK()", "DENSE_RANK()"]);
    let total = if call == "ROW_NUMBER()" { format!(", {inner}.id") } else { String::new() };
    let mut columns = query::qualified(&alias, &table.columns);
    columns.push(Column { name: format!("{alias}.place"), kind: Kind::Int });
    let scope = query::scope_of(&columns, &[]);
    let inside = query::scope_of(&query::qualified(&inner, &table.columns), &[]);
    let filter = seq![" WHERE ", maker.condition(&inside, depth)].maybe();
    let word = maker.dice.pick(&["=", "<=", "<", "<="]);
    let place = maker.dice.between(1, 3);
    let kinds: Vec<Kind> = (0..width).map(|_| maker.any_kind()).collect();
    let items = kinds.iter().enumerate().map(|(n, kind)| query::item(maker, &scope, *kind, depth, n)).collect();
    let more = seq![" AND ", maker.condition(&scope, 1)].maybe();
    let least = if maker.nesting > 1 { width } else { 1 };
    let piece = seq![
        "SELECT ",
        Piece::list(", ", least, items),
        format!(
            " FROM (SELECT {inner}.*, {call} OVER (PARTITION BY {inner}.{group} ORDER BY {inner}.{order}{direction}{total}) AS place FROM {} AS {inner}",
            table.name
        ),
        filter,
        format!(") AS {alias} WHERE {alias}.place {word} {place}"),
        more
    ];
    Made { piece, kinds, ordered: false }
}

/// A query some of whose literals are parameters, or user variables that a statement before it sets.
pub fn given_case(maker: &mut Maker, check: Check, rules: Rules) -> Case {
    maker.given = if check == Check::Parameters { Given::Parameters } else { Given::Variables };
    let depth = maker.dice.between(1, 3);
    let made = query::query(maker, &[], None, depth);
    maker.given = Given::Literals;
    let variables = std::mem::take(&mut maker.variables);
    let mut parts = Vec::new();
    if !variables.is_empty() {
        let items = variables.iter().enumerate().map(|(n, text)| Piece::from(format!("@p{n} = {text}"))).collect();
        parts.push(seq!["SET ", Piece::list(", ", 1, items)]);
    }
    let rules = query::rules_of(&made, rules);
    parts.push(made.piece);
    Case { check, parts, rules }
}

/// A query over a view of another query.
pub fn view_case(maker: &mut Maker, rules: Rules) -> Case {
    let depth = maker.dice.between(1, 2);
    let inner = query::query(maker, &[], None, depth);
    let columns = query::numbered(&inner.kinds);
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    let algorithm = maker.dice.pick(&["", "", "ALGORITHM=MERGE ", "ALGORITHM=TEMPTABLE "]);
    let view = seq![format!("CREATE OR REPLACE {algorithm}VIEW v1 ({}) AS ", names.join(", ")), inner.piece];
    maker.common.push(("v1".into(), columns));
    let outer = query::query(maker, &[], None, depth);
    maker.common.pop();
    let rules = query::rules_of(&outer, rules);
    Case { check: Check::Steps, parts: vec![view, outer.piece], rules }
}
