//! Prints JSON_TABLE in the query of a view. A string without a character set gets that of the session that defines the
//! view, so that it means the same in every session.

use crate::ast::{DataType, JsonColumn, JsonColumnOn, JsonTable, JsonValueColumn, TypeName};
use crate::error::Result;
use crate::row_expr::Printer;
use std::fmt::Write;
use types::CollationId;
use types::show_create::{quoted_name, quoted_text};

impl Printer<'_> {
    pub(super) fn json_table(&mut self, table: &JsonTable<'_>) -> Result<()> {
        self.put("json_table(");
        self.expr(&table.document)?;
        self.put(", ");
        self.text(table.path, None);
        self.put(" ");
        self.json_columns(table.columns);
        self.put(") ");
        self.put(&quoted_name(table.alias));
        Ok(())
    }

    fn json_columns(&mut self, columns: &[JsonColumn<'_>]) {
        self.put("columns (");
        for (n, column) in columns.iter().enumerate() {
            self.put(if n > 0 { ", " } else { "" });
            match column {
                JsonColumn::Ordinality(name) => {
                    self.put(&quoted_name(name));
                    self.put(" for ordinality");
                }
                JsonColumn::Value(column) => self.json_column(column),
                JsonColumn::Nested { path, columns } => {
                    self.put("nested path ");
                    self.text(path, None);
                    self.put(" ");
                    self.json_columns(columns);
                }
            }
        }
        self.put(")");
    }

    fn json_column(&mut self, column: &JsonValueColumn<'_>) {
        self.put(&quoted_name(column.name));
        self.put(" ");
        self.data_type(&column.ty);
        self.put(if column.exists { " exists path " } else { " path " });
        self.text(column.path, None);
        for (answer, place) in [(column.on_empty, "empty"), (column.on_error, "error")] {
            match answer {
                JsonColumnOn::Unsaid => continue,
                JsonColumnOn::Null => self.put(" null"),
                JsonColumnOn::Error => self.put(" error"),
                JsonColumnOn::Default(text) => {
                    self.put(" default ");
                    self.text(text, None);
                }
            }
            write!(self.out, " on {place}").expect("a String takes everything");
        }
    }

    fn data_type(&mut self, ty: &DataType<'_>) {
        let text = match ty.name {
            TypeName::TinyInt(width) => with_width("tinyint", width),
            TypeName::SmallInt(width) => with_width("smallint", width),
            TypeName::MediumInt(width) => with_width("mediumint", width),
            TypeName::Int(width) => with_width("int", width),
            TypeName::BigInt(width) => with_width("bigint", width),
            TypeName::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
            TypeName::Float(digits) => with_digits("float", digits),
            TypeName::Double(digits) => with_digits("double", digits),
            TypeName::Bit(length) => format!("bit({length})"),
            TypeName::Char(length) => format!("char({length})"),
            TypeName::VarChar(length) => format!("varchar({length})"),
            TypeName::Binary(length) => format!("binary({length})"),
            TypeName::VarBinary(length) => format!("varbinary({length})"),
            TypeName::TinyText => "tinytext".to_owned(),
            TypeName::Text(length) => with_width("text", length),
            TypeName::MediumText => "mediumtext".to_owned(),
            TypeName::LongText => "longtext".to_owned(),
            TypeName::TinyBlob => "tinyblob".to_owned(),
            TypeName::Blob(length) => with_width("blob", length),
            TypeName::MediumBlob => "mediumblob".to_owned(),
            TypeName::LongBlob => "longblob".to_owned(),
            TypeName::Date => "date".to_owned(),
            TypeName::Time(fsp) => with_width("time", Some(fsp).filter(|fsp| *fsp > 0)),
            TypeName::DateTime(fsp) => with_width("datetime", Some(fsp).filter(|fsp| *fsp > 0)),
            TypeName::Timestamp(fsp) => with_width("timestamp", Some(fsp).filter(|fsp| *fsp > 0)),
            TypeName::Year => "year".to_owned(),
            TypeName::Enum(members) => with_members("enum", members),
            TypeName::Set(members) => with_members("set", members),
            TypeName::Json => "json".to_owned(),
            TypeName::Geometry(kind) => kind.lower_name().to_owned(),
            TypeName::Vector(dimensions) => dimensions.map_or_else(|| "vector".to_owned(), |most| format!("vector({most})")),
        };
        self.put(&text);
        self.put(if ty.unsigned { " unsigned" } else { "" });
        self.put(if ty.zerofill { " zerofill" } else { "" });
        if is_text(ty.name) {
            self.charset_of(ty);
        }
    }

    fn charset_of(&mut self, ty: &DataType<'_>) {
        let Some(own) = self.view().map(|view| view.collation) else { return };
        let written = ty.collation.map(str::to_ascii_lowercase);
        let of_collation = written.as_deref().and_then(|collation| collation.split('_').next());
        let charset = ty.charset.or(of_collation).unwrap_or(own.charset()).to_ascii_lowercase();
        write!(self.out, " character set {charset}").expect("a String takes everything");
        self.put(if ty.binary { " binary" } else { "" });
        let is_usual = own == CollationId::UTF8MB4_0900_AI_CI || charset != own.charset() || ty.charset.is_some() || ty.binary;
        let usual = (!is_usual).then(|| own.name().to_owned());
        if let Some(collation) = written.or(usual) {
            write!(self.out, " collate {collation}").expect("a String takes everything");
        }
    }
}

fn is_text(name: TypeName<'_>) -> bool {
    use TypeName as T;
    matches!(name, T::Char(_) | T::VarChar(_) | T::TinyText | T::Text(_) | T::MediumText | T::LongText | T::Enum(_) | T::Set(_))
}

fn with_width(name: &str, width: Option<impl std::fmt::Display>) -> String {
    width.map_or_else(|| name.to_owned(), |width| format!("{name}({width})"))
}

fn with_digits(name: &str, digits: Option<(u8, u8)>) -> String {
    digits.map_or_else(|| name.to_owned(), |(width, decimals)| format!("{name}({width},{decimals})"))
}

fn with_members(name: &str, members: &[&[u8]]) -> String {
    let members: Vec<String> = members.iter().map(|member| quoted_text(&String::from_utf8_lossy(member))).collect();
    format!("{name}({})", members.join(","))
}
