//! Random tables and their rows.
//!
//! S1: every table has a column `id` whose values are distinct in the rows it is given, whatever its keys are: rows can be put in a total
//! order by it.

use crate::dice::Dice;
use crate::kinds::{Kind, Style};
use crate::piece::Piece;
use crate::plain;
use crate::seq;

/// A column of a table, or of a derived table.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    pub create: Piece,
    pub rows: Vec<Piece>,
    /// Names of its keys, PRIMARY among them.
    pub keys: Vec<String>,
}

/// The tables of a round, the SQL mode of its sessions, and what its statements are like.
#[derive(Clone, Debug)]
pub struct Schema {
    pub style: Style,
    pub mode: &'static str,
    pub tables: Vec<Table>,
}

/// A declared type: its text, its kind, and whether a key may stand on it.
type Declared = (&'static str, Kind, bool);

const TYPES: &[Declared] = &[
    ("TINYINT", Kind::Int, true),
    ("TINYINT UNSIGNED", Kind::Int, true),
    ("SMALLINT", Kind::Int, true),
    ("MEDIUMINT", Kind::Int, true),
    ("INT", Kind::Int, true),
    ("INT", Kind::Int, true),
    ("INT UNSIGNED", Kind::Int, true),
    ("INT(5) UNSIGNED ZEROFILL", Kind::Int, true),
    ("BIGINT", Kind::Int, true),
    ("BIGINT UNSIGNED", Kind::Int, true),
    ("BOOLEAN", Kind::Int, true),
    ("YEAR", Kind::Int, true),
    ("BIT(1)", Kind::Int, true),
    ("BIT(20)", Kind::Int, true),
    ("DECIMAL(10,2)", Kind::Decimal, true),
    ("DECIMAL(65,30)", Kind::Decimal, true),
    ("DECIMAL(5,0) UNSIGNED", Kind::Decimal, true),
    ("FLOAT", Kind::Real, true),
    ("DOUBLE", Kind::Real, true),
    ("DOUBLE UNSIGNED", Kind::Real, true),
    ("FLOAT(7,3)", Kind::Real, true),
    ("CHAR(10)", Kind::Text, true),
    ("VARCHAR(20)", Kind::Text, true),
    ("VARCHAR(100)", Kind::Text, true),
    ("VARCHAR(20) COLLATE utf8mb4_0900_as_cs", Kind::Text, true),
    ("VARCHAR(20) COLLATE utf8mb4_0900_bin", Kind::Text, true),
    ("VARCHAR(20) COLLATE utf8mb4_bin", Kind::Text, true),
    ("VARCHAR(20) COLLATE utf8mb4_general_ci", Kind::Text, true),
    ("CHAR(10) COLLATE utf8mb4_unicode_ci", Kind::Text, true),
    ("VARCHAR(20) CHARACTER SET latin1", Kind::Text, true),
    ("CHAR(8) CHARACTER SET ascii", Kind::Text, true),
    ("VARCHAR(20) CHARACTER SET utf8mb3", Kind::Text, true),
    ("TEXT", Kind::Text, false),
    ("TINYTEXT COLLATE utf8mb4_general_ci", Kind::Text, false),
    ("BINARY(4)", Kind::Binary, true),
    ("VARBINARY(20)", Kind::Binary, true),
    ("BLOB", Kind::Binary, false),
    ("ENUM('a', 'B', 'é', '1', '')", Kind::Text, true),
    ("SET('a', 'b', 'c', 'x y')", Kind::Text, true),
    ("DATE", Kind::Date, true),
    ("TIME", Kind::Time, true),
    ("TIME(3)", Kind::Time, true),
    ("DATETIME", Kind::DateTime, true),
    ("DATETIME(6)", Kind::DateTime, true),
    ("TIMESTAMP", Kind::DateTime, true),
    ("TIMESTAMP(2)", Kind::DateTime, true),
    ("JSON", Kind::Json, false),
];

const MODES: &[&str] = &[
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO",
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO",
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO",
    "ONLY_FULL_GROUP_BY",
    "ONLY_FULL_GROUP_BY,NO_UNSIGNED_SUBTRACTION",
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES",
];

/// The type of a variable.
pub fn variable_type(dice: &mut Dice, style: Style) -> (&'static str, Kind) {
    let types = if style == Style::Wild { TYPES } else { plain::TYPES };
    loop {
        let (declared, kind, _) = dice.pick(types);
        if !declared.contains(plain::GENERATED) {
            return (declared, kind);
        }
    }
}

impl Schema {
    pub fn random(dice: &mut Dice, style: Style) -> Self {
        let count = dice.between(2, 4);
        let mode = dice.pick(MODES);
        Self { style, mode, tables: (1..=count).map(|n| Table::random(dice, style, format!("t{n}"))).collect() }
    }

    /// The same without tables.
    pub fn without_tables(&self) -> Self {
        Self { tables: Vec::new(), ..*self }
    }
}

impl Table {
    fn random(dice: &mut Dice, style: Style, name: String) -> Self {
        let mut columns = vec![Column { name: "id".into(), kind: Kind::Int }];
        let mut items = vec![Piece::from("id INT NOT NULL")];
        let mut declared: Vec<Declared> = vec![("INT", Kind::Int, true)];
        for at in 0..dice.between(2, 7) {
            let column = format!("{}{}", ["a", "b", "c", "d", "e", "f", "g"][at], name.trim_start_matches('t'));
            let of = dice.pick(if style == Style::Wild { TYPES } else { plain::TYPES });
            items.push(seq![format!("{column} {}", of.0), attributes(dice, style, of)]);
            declared.push(of);
            columns.push(Column { name: column, kind: of.1 });
        }
        let keys = keys(dice, style, &columns, &declared, &mut items);
        let partitions = partitions(dice, style, &items);
        let create = seq![format!("CREATE TABLE {name} ("), Piece::list(", ", 1, items), ")", partitions];
        let (few, many) = if style == Style::Wild { (13, 10) } else { (20, 5) };
        let count = if dice.chance(many) { dice.between(40, 120) } else { dice.below(few) };
        let rows = (0..count).map(|n| row(dice, style, &name, n, &declared)).collect();
        Self { name, columns, create, rows, keys }
    }
}

/// Some tables of plain rounds are in parts by their `id`, where every unique key has it.
fn partitions(dice: &mut Dice, style: Style, items: &[Piece]) -> Piece {
    let is_other = |item: &Piece| item.text().starts_with("UNIQUE KEY k");
    if style == Style::Wild || items.iter().any(is_other) || !dice.chance(12) {
        return Piece::empty();
    }
    Piece::from(dice.pick(plain::PARTITIONS)).maybe()
}

fn attributes(dice: &mut Dice, style: Style, of: Declared) -> Piece {
    if of.0.contains(plain::GENERATED) {
        return Piece::empty();
    }
    let null = match dice.below(4) {
        0 => Piece::from(" NOT NULL").maybe(),
        _ if of.0.starts_with("TIMESTAMP") => Piece::from(" NULL").maybe(),
        _ => Piece::empty(),
    };
    let default = if of.2 && dice.chance(25) {
        seq![" DEFAULT ", fitting(dice, style, of)].maybe()
    } else if of.2 && matches!(null, Piece::Seq(_)) && dice.chance(10) {
        Piece::from(" DEFAULT NULL").maybe()
    } else {
        Piece::empty()
    };
    seq![null, default]
}

/// Adds random keys to a definition and gives their names.
fn keys(dice: &mut Dice, style: Style, columns: &[Column], declared: &[Declared], items: &mut Vec<Piece>) -> Vec<String> {
    let usable: Vec<(&Column, &Declared)> = columns.iter().zip(declared).filter(|(_, d)| d.2).collect();
    let mut names = Vec::new();
    let on_id = match dice.below(10) {
        0..=6 => Some(("PRIMARY", "PRIMARY KEY (id)")),
        7 => Some(("u", "UNIQUE KEY u (id)")),
        _ => None,
    };
    if let Some((name, text)) = on_id {
        items.push(Piece::from(text).maybe());
        names.push(name.into());
    }
    for n in 0..dice.below(4) {
        let mut parts = usable.clone();
        dice.shuffle(&mut parts);
        parts.truncate(dice.between(1, 3));
        let parts: Vec<String> = parts.into_iter().map(|(column, of)| key_part(dice, style, column, of)).collect();
        let unique = if dice.chance(15) { "UNIQUE " } else { "" };
        items.push(Piece::from(format!("{unique}KEY k{n} ({})", parts.join(", "))).maybe());
        names.push(format!("k{n}"));
    }
    names
}

/// A column as it stands in a key: in plain rounds at times its beginning alone, or downwards.
fn key_part(dice: &mut Dice, style: Style, column: &Column, of: &Declared) -> String {
    if style == Style::Wild {
        return column.name.clone();
    }
    let length = if of.0.starts_with("VARCHAR") && dice.chance(20) { "(2)" } else { "" };
    let direction = if dice.chance(15) { " DESC" } else { "" };
    format!("{}{length}{direction}", column.name)
}

/// One INSERT statement per row; some values do not fit their column.
fn row(dice: &mut Dice, style: Style, table: &str, n: usize, declared: &[Declared]) -> Piece {
    let mut values = vec![Piece::from(format!("{}", n + 1))];
    values.extend(declared[1..].iter().map(|of| Piece::from(fitting(dice, style, *of)).expr()));
    let ignore = if dice.chance(10) { " IGNORE" } else { "" };
    let width = values.len();
    seq![format!("INSERT{ignore} INTO {table} VALUES ("), Piece::list(", ", width, values), ")"]
}

/// A literal that mostly fits a column.
fn fitting(dice: &mut Dice, style: Style, of: Declared) -> &'static str {
    if style == Style::Plain {
        return dice.pick(plain::values(of.0, of.1));
    }
    if dice.chance(2) {
        let kind = Kind::any(dice, style);
        return kind.literal(dice, style);
    }
    match of.0 {
        "TINYINT" | "TINYINT UNSIGNED" | "BOOLEAN" => dice.pick(&["0", "1", "2", "3", "5", "100", "127", "NULL", "7"]),
        "YEAR" => dice.pick(&["2020", "1999", "2155", "1901", "0", "'70'", "NULL"]),
        "BIT(1)" => dice.pick(&["0", "1", "b'1'", "NULL"]),
        "BIT(20)" => dice.pick(&["0", "1", "b'101'", "255", "1048575", "NULL"]),
        "DECIMAL(5,0) UNSIGNED" => dice.pick(&["0", "1", "99999", "2.5", "0.4", "NULL"]),
        "DECIMAL(10,2)" => dice.pick(&["0", "1.5", "-1.5", "99.99", "12345678.12", "0.005", "NULL", "2"]),
        "DECIMAL(65,30)" => dice.pick(&["0", "1.5", "-0.000000000000000000000000000001", "99999999999999999999.9", "NULL"]),
        "FLOAT" | "DOUBLE" => dice.pick(&["0", "1.5", "-1.5", "1e10", "1e-10", "0.1", "3", "NULL", "123456.789"]),
        "FLOAT(7,3)" | "DOUBLE UNSIGNED" => dice.pick(&["0", "1.5", "999.5", "0.0005", "3", "NULL"]),
        "ENUM('a', 'B', 'é', '1', '')" => dice.pick(&["'a'", "'b'", "'é'", "'1'", "''", "2", "NULL"]),
        "SET('a', 'b', 'c', 'x y')" => dice.pick(&["'a'", "'a,b'", "''", "'c,a'", "'x y'", "5", "NULL"]),
        "BINARY(4)" => dice.pick(&["'a'", "'abcd'", "x'00'", "x'FF00'", "''", "NULL"]),
        _ => match of.1 {
            Kind::Int => dice.pick(&["0", "1", "2", "3", "5", "10", "100", "1000", "NULL", "32767", "7"]),
            Kind::Text => dice.pick(&[
                "''", "'a'", "'A'", "'b'", "'abc'", "'a '", "'B'", "'ab'", "'1'", "'12abc'", "'é'", "'ß'", "'x y'", "NULL", "'0'",
            ]),
            Kind::DateTime => dice.pick(&[
                "'2020-02-29 12:34:56'",
                "'1999-12-31 23:59:59.999999'",
                "'2000-01-01'",
                "'2038-01-19 03:14:07'",
                "'1970-01-01 00:00:01'",
                "NULL",
            ]),
            kind => kind.literal(dice, style),
        },
    }
}
