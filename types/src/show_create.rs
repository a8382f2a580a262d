//! `SHOW CREATE TABLE`, and the texts of types, defaults and keys that SHOW COLUMNS and information_schema print, as MySQL 8.4 writes them.
//!
//! A column names its collation where it differs from the table's, or is not its character set's default. Keys come in MySQL's order:
//! the primary key, unique keys without nullable columns, other unique keys, the rest; of each kind those with virtual columns last.

use crate::convert::{invalid_utf8, write_text};
use crate::fulltext::{FullTextDef, Parser};
use crate::schema::{
    CheckDef, ColumnDef, ColumnDefault, DatabaseDef, ForeignKeyDef, IndexColumn, IndexDef, IndexKind, ReferenceAction, TableDef,
};
use crate::{CollationId, ColumnType, LobSize, TypeKind, Value};
use std::fmt::Write;

/// `CREATE TABLE ...`; `auto_increment` is the next value, shown from 2 on.
pub fn show_create_table(table: &TableDef, auto_increment: Option<u64>) -> String {
    let temporary = if table.id.is_temporary() { "TEMPORARY " } else { "" };
    let mut out = format!("CREATE {temporary}TABLE {} (\n", quoted_name(&table.name));
    let columns = table.named_columns().map(|(_, column)| column_line(column, table.collation));
    let keys = sorted_keys(table).into_iter().map(|key| key_line(table, key));
    let foreign_keys = table.foreign_keys.iter().map(|key| format!("  CONSTRAINT {}", foreign_key_text(table, key)));
    let lines: Vec<String> = columns.chain(keys).chain(foreign_keys).chain(table.checks.iter().map(check_line)).collect();
    out.push_str(&lines.join(",\n"));
    out.push_str("\n) ENGINE=InnoDB");
    if let Some(next) = auto_increment.filter(|&next| next > 1) {
        push(&mut out, format_args!(" AUTO_INCREMENT={next}"));
    }
    push(&mut out, format_args!(" DEFAULT CHARSET={}", table.collation.charset()));
    if !is_charset_default(table.collation) || table.collation.charset() == "utf8mb4" {
        push(&mut out, format_args!(" COLLATE={}", table.collation.name()));
    }
    if !table.comment.is_empty() {
        push(&mut out, format_args!(" COMMENT={}", quoted_text(&table.comment)));
    }
    if let Some(partitioning) = &table.partitioning {
        out.push_str(&crate::partition::show::clause(table, partitioning));
    }
    out
}

/// `CREATE DATABASE ...`
pub fn show_create_database(database: &DatabaseDef, if_not_exists: bool) -> String {
    let mut out = String::from("CREATE DATABASE ");
    if if_not_exists {
        out.push_str("/*!32312 IF NOT EXISTS*/ ");
    }
    push(
        &mut out,
        format_args!("{} /*!40100 DEFAULT CHARACTER SET {}", quoted_name(&database.name), database.collation.charset()),
    );
    if !is_charset_default(database.collation) || database.collation.charset() == "utf8mb4" {
        push(&mut out, format_args!(" COLLATE {}", database.collation.name()));
    }
    out.push_str(" */ /*!80016 DEFAULT ENCRYPTION='N' */");
    out
}

/// The type as SHOW COLUMNS prints it: `int`, `varchar(20)`, `decimal(10,2) unsigned`, `enum('x','y')`.
pub fn type_text(ty: &ColumnType) -> String {
    let mut out = String::from(type_name(ty));
    match &ty.kind {
        TypeKind::Decimal { precision, scale } => push(&mut out, format_args!("({precision},{scale})")),
        TypeKind::Float | TypeKind::Double => {
            if let (Some(width), Some(decimals)) = (ty.display_width, ty.float_decimals) {
                push(&mut out, format_args!("({width},{decimals})"));
            }
        }
        TypeKind::Char { length }
        | TypeKind::VarChar { length }
        | TypeKind::Binary { length }
        | TypeKind::VarBinary { length } => {
            push(&mut out, format_args!("({length})"));
        }
        TypeKind::Bit { length } => push(&mut out, format_args!("({length})")),
        TypeKind::Vector { dimensions } => push(&mut out, format_args!("({dimensions})")),
        TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } if *fsp > 0 => {
            push(&mut out, format_args!("({fsp})"));
        }
        TypeKind::Enum { members } | TypeKind::Set { members } => {
            let members: Vec<String> = members.iter().map(|member| quoted_text(member)).collect();
            push(&mut out, format_args!("({})", members.join(",")));
        }
        TypeKind::Year => return out,
        _ => {
            if let Some(width) = shown_width(ty) {
                push(&mut out, format_args!("({width})"));
            }
        }
    }
    if ty.unsigned {
        out.push_str(" unsigned");
    }
    if ty.zerofill {
        out.push_str(" zerofill");
    }
    out
}

/// `DATA_TYPE`: the bare name.
pub fn type_name(ty: &ColumnType) -> &'static str {
    match ty.kind {
        TypeKind::Null => "null",
        TypeKind::TinyInt => "tinyint",
        TypeKind::SmallInt => "smallint",
        TypeKind::MediumInt => "mediumint",
        TypeKind::Int => "int",
        TypeKind::BigInt => "bigint",
        TypeKind::Decimal { .. } => "decimal",
        TypeKind::Float => "float",
        TypeKind::Double => "double",
        TypeKind::Char { .. } => "char",
        TypeKind::VarChar { .. } => "varchar",
        TypeKind::Text(size) => ["tinytext", "text", "mediumtext", "longtext"][lob_rank(size)],
        TypeKind::Binary { .. } => "binary",
        TypeKind::VarBinary { .. } => "varbinary",
        TypeKind::Blob(size) => ["tinyblob", "blob", "mediumblob", "longblob"][lob_rank(size)],
        TypeKind::Date => "date",
        TypeKind::Time { .. } => "time",
        TypeKind::DateTime { .. } => "datetime",
        TypeKind::Timestamp { .. } => "timestamp",
        TypeKind::Year => "year",
        TypeKind::Enum { .. } => "enum",
        TypeKind::Set { .. } => "set",
        TypeKind::Bit { .. } => "bit",
        TypeKind::Json => "json",
        TypeKind::Geometry { kind, .. } => kind.lower_name(),
        TypeKind::Vector { .. } => "vector",
    }
}

fn lob_rank(size: LobSize) -> usize {
    match size {
        LobSize::Tiny => 0,
        LobSize::Regular => 1,
        LobSize::Medium => 2,
        LobSize::Long => 3,
    }
}

/// Display widths are shown for ZEROFILL and TINYINT(1) only.
fn shown_width(ty: &ColumnType) -> Option<u8> {
    let default = match ty.kind {
        TypeKind::TinyInt => 3,
        TypeKind::SmallInt => 5,
        TypeKind::MediumInt => 8,
        TypeKind::Int => 10,
        TypeKind::BigInt => 20,
        _ => return None,
    };
    if ty.zerofill {
        return Some(ty.display_width.unwrap_or(default));
    }
    (ty.kind == TypeKind::TinyInt && ty.display_width == Some(1) && !ty.unsigned).then_some(1)
}

/// The `Key` of SHOW COLUMNS: `PRI`, `UNI`, `MUL` or nothing.
pub fn column_key(table: &TableDef, column: usize) -> &'static str {
    let in_primary = |index: &IndexDef| index.columns.iter().any(|c| c.column == column);
    // Without NULLs, over whole columns, which are stored.
    let promoted = || table.indexes.iter().find(|index| index.rank(&table.columns) == (1, false, false));
    let primary = table.indexes.iter().find(|index| index.kind == IndexKind::Primary).or_else(promoted);
    if primary.is_some_and(in_primary) {
        return "PRI";
    }
    let leads = |index: &&IndexDef| index.columns.first().is_some_and(|c| c.column == column);
    let unique = |index: &IndexDef| index.kind == IndexKind::Unique && index.columns.len() == 1;
    if table.indexes.iter().filter(leads).any(unique) {
        return "UNI";
    }
    if table.indexes.iter().any(|index| leads(&index)) { "MUL" } else { "" }
}

/// The `Default` of SHOW COLUMNS; `None` is NULL.
pub fn column_default_text(column: &ColumnDef) -> Option<String> {
    match &column.default {
        ColumnDefault::None | ColumnDefault::Literal(None) | ColumnDefault::Dropped => None,
        ColumnDefault::CurrentTimestamp => Some(now_text(column)),
        ColumnDefault::Expression(expr) => Some(escaped(&expr.text)),
        ColumnDefault::Literal(Some(literal)) => {
            let text = default_bytes(column, literal);
            Some(match column.ty.kind {
                TypeKind::Bit { .. } => bit_text(column, literal),
                _ if column.ty.is_binary_string() && !text.is_empty() => hex_text(&text),
                _ => String::from_utf8_lossy(&text).into_owned(),
            })
        }
    }
}

/// The `Extra` of SHOW COLUMNS.
pub fn column_extra(column: &ColumnDef) -> String {
    let mut parts = Vec::new();
    if column.auto_increment {
        parts.push("auto_increment".to_string());
    }
    if let Some(generated) = &column.generated {
        parts.push(format!("{} GENERATED", if generated.stored { "STORED" } else { "VIRTUAL" }));
    }
    if matches!(column.default, ColumnDefault::CurrentTimestamp | ColumnDefault::Expression(_)) {
        parts.push("DEFAULT_GENERATED".to_string());
    }
    if column.on_update_now {
        parts.push(format!("on update {}", now_text(column)));
    }
    if column.invisible {
        parts.push("INVISIBLE".to_string());
    }
    parts.join(" ")
}

/// The text of an expression as information_schema shows it.
pub fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

/// A name between backticks.
pub fn quoted_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text between quotes, as a SQL literal.
pub fn quoted_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for char in text.chars() {
        match char {
            '\'' => out.push_str("''"),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            char => out.push(char),
        }
    }
    out.push('\'');
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes everything");
}

fn is_charset_default(collation: CollationId) -> bool {
    collation.info().is_some_and(|info| info.is_default)
}

fn sorted_keys(table: &TableDef) -> Vec<&IndexDef> {
    let mut keys: Vec<&IndexDef> = table.indexes.iter().filter(|index| index.kind != IndexKind::HiddenRowId).collect();
    keys.sort_by_key(|index| index.rank(&table.columns));
    keys
}

fn column_line(column: &ColumnDef, table_collation: CollationId) -> String {
    let mut out = format!("  {} {}", quoted_name(&column.name), type_text(&column.ty));
    push_collation(column, table_collation, &mut out);
    if let Some(generated) = &column.generated {
        let kind = if generated.stored { "STORED" } else { "VIRTUAL" };
        push(&mut out, format_args!(" GENERATED ALWAYS AS ({}) {kind}", generated.expr.text));
    }
    if !column.nullable {
        out.push_str(" NOT NULL");
    } else if matches!(column.ty.kind, TypeKind::Timestamp { .. }) {
        out.push_str(" NULL");
    }
    if let TypeKind::Geometry { srid: Some(srid), .. } = column.ty.kind {
        push(&mut out, format_args!(" /*!80003 SRID {srid} */"));
    }
    if column.generated.is_none() {
        push_default(column, &mut out);
    }
    if column.on_update_now {
        push(&mut out, format_args!(" ON UPDATE {}", now_text(column)));
    }
    if column.auto_increment {
        out.push_str(" AUTO_INCREMENT");
    }
    if column.invisible {
        out.push_str(" /*!80023 INVISIBLE */");
    }
    if !column.comment.is_empty() {
        push(&mut out, format_args!(" COMMENT {}", quoted_text(&column.comment)));
    }
    out
}

fn push_collation(column: &ColumnDef, table_collation: CollationId, out: &mut String) {
    let collation = column.ty.collation;
    let has_collation = matches!(
        column.ty.kind,
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Text(_) | TypeKind::Enum { .. } | TypeKind::Set { .. }
    );
    if !has_collation {
        return;
    }
    if collation != table_collation {
        push(out, format_args!(" CHARACTER SET {} COLLATE {}", collation.charset(), collation.name()));
    } else if !is_charset_default(collation) {
        push(out, format_args!(" COLLATE {}", collation.name()));
    }
}

fn push_default(column: &ColumnDef, out: &mut String) {
    match &column.default {
        ColumnDefault::CurrentTimestamp => push(out, format_args!(" DEFAULT {}", now_text(column))),
        ColumnDefault::Expression(expr) => push(out, format_args!(" DEFAULT ({})", expr.text)),
        ColumnDefault::Literal(Some(literal)) => {
            let text = default_bytes(column, literal);
            let text = match column.ty.kind {
                TypeKind::Bit { .. } => bit_text(column, literal),
                _ if invalid_utf8(&text).is_some() => hex_text(&text),
                _ => quoted_text(&String::from_utf8_lossy(&text)),
            };
            push(out, format_args!(" DEFAULT {text}"));
        }
        ColumnDefault::Dropped => {}
        // A column that must have a value has no default; long strings never show NULL.
        ColumnDefault::None | ColumnDefault::Literal(None) => {
            let shows_null = !matches!(column.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
            if column.nullable && shows_null {
                out.push_str(" DEFAULT NULL");
            }
        }
    }
}

/// The default as the column would print it.
fn default_bytes(column: &ColumnDef, literal: &str) -> Vec<u8> {
    let mut text = Vec::new();
    match column.default_value(literal) {
        Some(value) => write_text(&value, &column.ty, &mut text),
        None => text.extend_from_slice(literal.as_bytes()),
    }
    text
}

fn bit_text(column: &ColumnDef, literal: &str) -> String {
    match column.default_value(literal) {
        Some(Value::UInt(bits)) => format!("b'{bits:b}'"),
        _ => format!("b'{literal}'"),
    }
}

fn hex_text(bytes: &[u8]) -> String {
    let mut out = String::from("0x");
    for byte in bytes {
        push(&mut out, format_args!("{byte:02X}"));
    }
    out
}

fn now_text(column: &ColumnDef) -> String {
    match column.ty.fsp() {
        0 => "CURRENT_TIMESTAMP".into(),
        fsp => format!("CURRENT_TIMESTAMP({fsp})"),
    }
}

fn key_line(table: &TableDef, index: &IndexDef) -> String {
    let columns: Vec<String> = index.columns.iter().map(|column| key_part(table, column)).collect();
    let columns = columns.join(",");
    let name = quoted_name(&index.name);
    let mut out = match index.kind {
        IndexKind::Primary | IndexKind::HiddenRowId => format!("  PRIMARY KEY ({columns})"),
        IndexKind::Unique | IndexKind::MultiValued { unique: true } => format!("  UNIQUE KEY {name} ({columns})"),
        IndexKind::Secondary | IndexKind::MultiValued { unique: false } => format!("  KEY {name} ({columns})"),
        IndexKind::FullText => format!("  FULLTEXT KEY {name} ({columns})"),
        IndexKind::Spatial => format!("  SPATIAL KEY {name} ({columns})"),
        IndexKind::Vector { metric } => format!("  VECTOR KEY {name} ({columns}) DISTANCE={}", metric.name()),
    };
    if index.using_btree {
        out.push_str(" USING BTREE");
    }
    if !index.comment.is_empty() {
        push(&mut out, format_args!(" COMMENT {}", quoted_text(&index.comment)));
    }
    if index.invisible {
        out.push_str(" /*!80000 INVISIBLE */");
    }
    if let Some(FullTextDef { parser: Parser::Ngram { .. }, .. }) = index.full_text.as_deref() {
        out.push_str(" /*!50100 WITH PARSER `ngram` */ ");
    }
    out
}

/// ``CONSTRAINT `t_chk_1` CHECK ((`a` > 0))``
fn check_line(check: &CheckDef) -> String {
    let mut out = format!("  CONSTRAINT {} CHECK ({})", quoted_name(&check.name), check.expr.text);
    if !check.enforced {
        out.push_str(" /*!80016 NOT ENFORCED */");
    }
    out
}

/// `` `name` FOREIGN KEY (`a`) REFERENCES `t` (`b`) ON DELETE CASCADE ``, as SHOW CREATE TABLE and messages print it.
/// The parent's database is named if it is not the child's.
pub fn foreign_key_text(table: &TableDef, key: &ForeignKeyDef) -> String {
    let list = |names: Vec<String>| names.join(", ");
    let columns = key.columns.iter().map(|column| quoted_name(&table.columns[*column].name)).collect();
    let parents = key.parent_columns.iter().map(|name| quoted_name(name)).collect();
    let mut out = format!("{} FOREIGN KEY ({}) REFERENCES ", quoted_name(&key.name), list(columns));
    if key.parent_database != table.database {
        push(&mut out, format_args!("{}.", quoted_name(&key.parent_database)));
    }
    push(&mut out, format_args!("{} ({})", quoted_name(&key.parent_table), list(parents)));
    for (event, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
        if action != ReferenceAction::NoAction {
            push(&mut out, format_args!(" ON {event} {}", action.name()));
        }
    }
    out
}

fn key_part(table: &TableDef, part: &IndexColumn) -> String {
    let column = &table.columns[part.column];
    let mut out = match column.hidden_expr() {
        Some(expr) => format!("({})", expr.text),
        None => quoted_name(&column.name),
    };
    if let Some(prefix) = part.prefix {
        push(&mut out, format_args!("({prefix})"));
    }
    if part.descending {
        out.push_str(" DESC");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::TableId;

    fn column(name: &str, ty: ColumnType, default: ColumnDefault) -> ColumnDef {
        ColumnDef { default, ..ColumnDef::new(name, ty, true) }
    }

    fn literal(text: &str) -> ColumnDefault {
        ColumnDefault::Literal(Some(text.into()))
    }

    fn key(name: &str, kind: IndexKind, columns: &[(usize, Option<u32>, bool)]) -> IndexDef {
        let columns = columns.iter().map(|&(column, prefix, descending)| IndexColumn { column, prefix, descending }).collect();
        IndexDef::new(name, kind, columns)
    }

    fn table() -> TableDef {
        let new = ColumnType::new;
        let none = || ColumnDefault::None;
        let bin = ColumnType { collation: CollationId::UTF8MB4_BIN, ..new(TypeKind::VarChar { length: 20 }) };
        let members: std::sync::Arc<[String]> = ["a", "b'c", "d,e"].map(String::from).into();
        TableDef {
            columns: vec![
                ColumnDef {
                    nullable: false,
                    auto_increment: true,
                    ..column("id", ColumnType::unsigned(TypeKind::BigInt), none())
                },
                column("a", ColumnType { display_width: Some(1), ..new(TypeKind::TinyInt) }, none()),
                column("b", ColumnType::unsigned(TypeKind::SmallInt), literal("5")),
                column("d", ColumnType { zerofill: true, display_width: Some(6), ..ColumnType::unsigned(TypeKind::Int) }, none()),
                column("e", new(TypeKind::Decimal { precision: 10, scale: 2 }), literal("1.5")),
                ColumnDef { nullable: false, ..column("i", new(TypeKind::Char { length: 10 }), literal("x'y")) },
                column("j", bin, none()),
                column("k", new(TypeKind::Text(LobSize::Regular)), none()),
                column("o", new(TypeKind::Binary { length: 3 }), literal("61")),
                column("p", new(TypeKind::VarBinary { length: 20 }), literal("00FF")),
                ColumnDef {
                    on_update_now: true,
                    ..column("t", new(TypeKind::DateTime { fsp: 6 }), ColumnDefault::CurrentTimestamp)
                },
                column("u", new(TypeKind::Timestamp { fsp: 2 }), literal("2024-01-01 01:02:03.5")),
                column("x", new(TypeKind::Enum { members }), literal("a")),
                column("z", new(TypeKind::Bit { length: 5 }), literal("5")),
                column("aa", new(TypeKind::Json), none()),
                ColumnDef { invisible: true, ..column("ab", new(TypeKind::Int), none()) },
                ColumnDef { comment: "a 'comment' \\ x\ny".into(), ..column("ac", new(TypeKind::Year), none()) },
            ],
            indexes: vec![
                key("PRIMARY", IndexKind::Primary, &[(0, None, false)]),
                key("kk", IndexKind::Secondary, &[(6, Some(5), false), (7, Some(10), false)]),
                key("u", IndexKind::Unique, &[(1, None, false), (2, None, true)]),
                key("we`ird", IndexKind::Unique, &[(5, None, false)]),
            ],
            comment: "table 'c'".into(),
            ..TableDef::new(TableId(1), "d", "sc", Vec::new())
        }
    }

    #[test]
    fn show_create_is_mysqls() {
        let expected = r"CREATE TABLE `sc` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `a` tinyint(1) DEFAULT NULL,
  `b` smallint unsigned DEFAULT '5',
  `d` int(6) unsigned zerofill DEFAULT NULL,
  `e` decimal(10,2) DEFAULT '1.50',
  `i` char(10) NOT NULL DEFAULT 'x''y',
  `j` varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `k` text,
  `o` binary(3) DEFAULT 'a\0\0',
  `p` varbinary(20) DEFAULT 0x00FF,
  `t` datetime(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  `u` timestamp(2) NULL DEFAULT '2024-01-01 01:02:03.50',
  `x` enum('a','b''c','d,e') DEFAULT 'a',
  `z` bit(5) DEFAULT b'101',
  `aa` json DEFAULT NULL,
  `ab` int DEFAULT NULL /*!80023 INVISIBLE */,
  `ac` year DEFAULT NULL COMMENT 'a ''comment'' \\ x\ny',
  PRIMARY KEY (`id`),
  UNIQUE KEY `we``ird` (`i`),
  UNIQUE KEY `u` (`a`,`b` DESC),
  KEY `kk` (`j`(5),`k`(10))
) ENGINE=InnoDB AUTO_INCREMENT=8 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='table ''c'''";
        assert_eq!(show_create_table(&table(), Some(8)), expected);
    }

    #[test]
    fn collations_of_tables_and_columns() {
        let with = |table_collation, column_collation| {
            let ty = ColumnType { collation: column_collation, ..ColumnType::new(TypeKind::VarChar { length: 9 }) };
            let mut table = TableDef { columns: vec![column("a", ty, ColumnDefault::None)], indexes: vec![], ..table() };
            (table.collation, table.comment) = (table_collation, String::new());
            show_create_table(&table, Some(1))
        };
        let (bin, latin) = (CollationId::UTF8MB4_BIN, CollationId::LATIN1_SWEDISH_CI);
        assert!(with(bin, bin).contains("`a` varchar(9) COLLATE utf8mb4_bin DEFAULT NULL"));
        assert!(with(bin, bin).ends_with("DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"));
        assert!(with(latin, latin).contains("`a` varchar(9) DEFAULT NULL\n) ENGINE=InnoDB DEFAULT CHARSET=latin1"));
        assert!(with(latin, latin).ends_with("CHARSET=latin1"));
        assert!(with(latin, bin).contains("CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"));
    }

    #[test]
    fn show_columns() {
        let table = table();
        let keys: Vec<_> = (0..8).map(|i| column_key(&table, i)).collect();
        assert_eq!(keys, ["PRI", "MUL", "", "", "", "UNI", "MUL", ""]);
        let default = |name: &str| column_default_text(&table.columns[table.column_index(name).unwrap()]);
        assert_eq!(default("e").as_deref(), Some("1.50"));
        assert_eq!(default("z").as_deref(), Some("b'101'"));
        assert_eq!(default("t").as_deref(), Some("CURRENT_TIMESTAMP(6)"));
        assert_eq!(default("p").as_deref(), Some("0x00FF"));
        assert_eq!(default("a"), None);
        let extra = |name: &str| column_extra(&table.columns[table.column_index(name).unwrap()]);
        assert_eq!(extra("t"), "DEFAULT_GENERATED on update CURRENT_TIMESTAMP(6)");
        assert_eq!((extra("id").as_str(), extra("ab").as_str()), ("auto_increment", "INVISIBLE"));
    }
}
