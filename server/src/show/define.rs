//! Definitions as text: column types, SHOW CREATE.

use types::schema::{ColumnDef, ColumnDefault, IndexDef, IndexKind, TableDef};
use types::{CollationId, ColumnType, LobSize, TypeKind};

/// A type as DESCRIBE prints it: `int unsigned`, `varchar(20)`, `enum('a','b')`.
pub fn type_text(ty: &ColumnType) -> String {
    let mut out = base_text(ty);
    if ty.unsigned {
        out.push_str(" unsigned");
    }
    if ty.zerofill {
        out.push_str(" zerofill");
    }
    out
}

fn base_text(ty: &ColumnType) -> String {
    let integer = |name: &str, shown: bool| match ty.display_width {
        Some(width) if shown || ty.zerofill => format!("{name}({width})"),
        _ => name.to_owned(),
    };
    let with_fsp = |name: &str, fsp: u8| if fsp > 0 { format!("{name}({fsp})") } else { name.to_owned() };
    match &ty.kind {
        TypeKind::Null => "null".to_owned(),
        // Of the display widths, MySQL 8.4 shows BOOL's and those of ZEROFILL.
        TypeKind::TinyInt => integer("tinyint", ty.display_width == Some(1) && !ty.unsigned),
        TypeKind::SmallInt => integer("smallint", false),
        TypeKind::MediumInt => integer("mediumint", false),
        TypeKind::Int => integer("int", false),
        TypeKind::BigInt => integer("bigint", false),
        TypeKind::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
        TypeKind::Float => "float".to_owned(),
        TypeKind::Double => "double".to_owned(),
        TypeKind::Char { length } => format!("char({length})"),
        TypeKind::VarChar { length } => format!("varchar({length})"),
        TypeKind::Text(size) => format!("{}text", size_prefix(*size)),
        TypeKind::Binary { length } => format!("binary({length})"),
        TypeKind::VarBinary { length } => format!("varbinary({length})"),
        TypeKind::Blob(size) => format!("{}blob", size_prefix(*size)),
        TypeKind::Date => "date".to_owned(),
        TypeKind::Time { fsp } => with_fsp("time", *fsp),
        TypeKind::DateTime { fsp } => with_fsp("datetime", *fsp),
        TypeKind::Timestamp { fsp } => with_fsp("timestamp", *fsp),
        TypeKind::Year => "year".to_owned(),
        TypeKind::Enum { members } => format!("enum({})", member_list(members)),
        TypeKind::Set { members } => format!("set({})", member_list(members)),
        TypeKind::Bit { length } => format!("bit({length})"),
        TypeKind::Json => "json".to_owned(),
    }
}

/// DATA_TYPE of information_schema.COLUMNS: the type without parameters.
pub fn type_name(ty: &ColumnType) -> String {
    let text = base_text(ty);
    text.split('(').next().unwrap_or_default().to_owned()
}

fn size_prefix(size: LobSize) -> &'static str {
    match size {
        LobSize::Tiny => "tiny",
        LobSize::Regular => "",
        LobSize::Medium => "medium",
        LobSize::Long => "long",
    }
}

fn member_list(members: &[String]) -> String {
    let quoted: Vec<_> = members.iter().map(|member| format!("'{}'", member.replace('\'', "''"))).collect();
    quoted.join(",")
}

pub fn is_text(ty: &ColumnType) -> bool {
    matches!(
        ty.kind,
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Text(_) | TypeKind::Enum { .. } | TypeKind::Set { .. }
    )
}

/// A column's default as DESCRIBE prints it.
pub fn default_text(column: &ColumnDef) -> Option<String> {
    match &column.default {
        ColumnDefault::None => None,
        ColumnDefault::Literal(None) => None,
        ColumnDefault::Literal(Some(text)) => Some(match column.ty.kind {
            TypeKind::Binary { .. } | TypeKind::VarBinary { .. } => format!("0x{text}"),
            _ => text.clone(),
        }),
        ColumnDefault::CurrentTimestamp => Some(now_text(&column.ty)),
    }
}

fn now_text(ty: &ColumnType) -> String {
    match ty.kind {
        TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } if fsp > 0 => format!("CURRENT_TIMESTAMP({fsp})"),
        _ => "CURRENT_TIMESTAMP".to_owned(),
    }
}

/// The `Extra` column of DESCRIBE.
pub fn extra_text(column: &ColumnDef) -> String {
    let mut parts = Vec::new();
    if column.auto_increment {
        parts.push("auto_increment".to_owned());
    }
    if column.default == ColumnDefault::CurrentTimestamp {
        parts.push("DEFAULT_GENERATED".to_owned());
    }
    if column.on_update_now {
        parts.push(format!("on update {}", now_text(&column.ty)));
    }
    if column.invisible {
        parts.push("INVISIBLE".to_owned());
    }
    parts.join(" ")
}

pub fn quote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for character in text.chars() {
        match character {
            '\'' => out.push_str("''"),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

/// The statement that makes this table.
pub fn create_table(def: &TableDef, next_auto_increment: Option<u64>) -> String {
    let mut lines: Vec<String> = def.columns.iter().map(|column| column_line(def, column)).collect();
    lines.extend(def.indexes.iter().filter_map(|index| index_line(def, index)));
    let mut out = format!("CREATE TABLE {} (\n  {}\n) ENGINE=InnoDB", quote(&def.name), lines.join(",\n  "));
    if let Some(next) = next_auto_increment.filter(|next| *next > 1) {
        out.push_str(&format!(" AUTO_INCREMENT={next}"));
    }
    let collation = def.collation.name();
    out.push_str(&format!(" DEFAULT CHARSET={}", def.collation.charset()));
    if !is_default(def.collation) || def.collation == CollationId::UTF8MB4_0900_AI_CI {
        out.push_str(&format!(" COLLATE={collation}"));
    }
    if !def.comment.is_empty() {
        out.push_str(&format!(" COMMENT={}", literal(&def.comment)));
    }
    out
}

fn is_default(collation: CollationId) -> bool {
    collation.info().is_some_and(|info| info.is_default)
}

fn column_line(def: &TableDef, column: &ColumnDef) -> String {
    let mut out = format!("{} {}", quote(&column.name), type_text(&column.ty));
    if is_text(&column.ty) {
        if column.ty.collation != def.collation {
            out.push_str(&format!(" CHARACTER SET {}", column.ty.collation.charset()));
        }
        let explicit = column.ty.collation != def.collation && column.ty.collation == CollationId::UTF8MB4_0900_AI_CI;
        if !is_default(column.ty.collation) || explicit {
            out.push_str(&format!(" COLLATE {}", column.ty.collation.name()));
        }
    }
    let is_timestamp = matches!(column.ty.kind, TypeKind::Timestamp { .. });
    match column.nullable {
        false => out.push_str(" NOT NULL"),
        true if is_timestamp => out.push_str(" NULL"),
        true => {}
    }
    if column.invisible {
        out.push_str(" /*!80023 INVISIBLE */");
    }
    push_default(&mut out, column);
    if column.on_update_now {
        out.push_str(&format!(" ON UPDATE {}", now_text(&column.ty)));
    }
    if column.auto_increment {
        out.push_str(" AUTO_INCREMENT");
    }
    if !column.comment.is_empty() {
        out.push_str(&format!(" COMMENT {}", literal(&column.comment)));
    }
    out
}

fn push_default(out: &mut String, column: &ColumnDef) {
    let is_lob = matches!(column.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
    match &column.default {
        ColumnDefault::Literal(None) if !is_lob => out.push_str(" DEFAULT NULL"),
        ColumnDefault::None | ColumnDefault::Literal(None) => {}
        ColumnDefault::Literal(Some(text)) => match column.ty.kind {
            TypeKind::Binary { .. } | TypeKind::VarBinary { .. } => out.push_str(&format!(" DEFAULT x'{text}'")),
            TypeKind::Bit { .. } => out.push_str(&format!(" DEFAULT {text}")),
            _ => out.push_str(&format!(" DEFAULT {}", literal(text))),
        },
        ColumnDefault::CurrentTimestamp => out.push_str(&format!(" DEFAULT {}", now_text(&column.ty))),
    }
}

fn index_line(def: &TableDef, index: &IndexDef) -> Option<String> {
    let columns: Vec<_> = index
        .columns
        .iter()
        .map(|part| {
            let prefix = part.prefix.map(|prefix| format!("({prefix})")).unwrap_or_default();
            let order = if part.descending { " DESC" } else { "" };
            format!("{}{prefix}{order}", quote(&def.columns[part.column].name))
        })
        .collect();
    let columns = columns.join(",");
    let mut line = match index.kind {
        IndexKind::HiddenRowId => return None,
        IndexKind::Primary => format!("PRIMARY KEY ({columns})"),
        IndexKind::Unique => format!("UNIQUE KEY {} ({columns})", quote(&index.name)),
        IndexKind::Secondary => format!("KEY {} ({columns})", quote(&index.name)),
    };
    if !index.comment.is_empty() {
        line.push_str(&format!(" COMMENT {}", literal(&index.comment)));
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ty: ColumnType, expected: &str) {
        assert_eq!(type_text(&ty), expected);
    }

    #[test]
    fn types_print_as_in_mysql() {
        check(ColumnType::new(TypeKind::Int), "int");
        check(ColumnType::unsigned(TypeKind::BigInt), "bigint unsigned");
        check(ColumnType { display_width: Some(1), ..ColumnType::new(TypeKind::TinyInt) }, "tinyint(1)");
        check(ColumnType { display_width: Some(11), ..ColumnType::new(TypeKind::Int) }, "int");
        check(ColumnType::new(TypeKind::Decimal { precision: 10, scale: 2 }), "decimal(10,2)");
        check(ColumnType::new(TypeKind::DateTime { fsp: 6 }), "datetime(6)");
        check(ColumnType::new(TypeKind::Text(LobSize::Medium)), "mediumtext");
        let members = ["x".to_owned(), "it's".to_owned()].into();
        check(ColumnType::new(TypeKind::Enum { members }), "enum('x','it''s')");
    }
}
