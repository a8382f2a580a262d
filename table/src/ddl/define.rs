//! From a CREATE TABLE to a checked definition: MySQL's rules about names, columns and keys.

use super::functional::Judge;
use super::name::{NAME_CHARS_MAX, check_name};
use super::{NewIndex, NewIndexColumn, NewIndexKind, NewTable};
use super::{checks, foreign, functional, partition};
use crate::error::SpatialKeyProblem;
use crate::{Error, NameOf, Result};
use std::borrow::Cow;
use types::row::COLUMNS_MAX;
use types::schema::{ColumnDef, ColumnDefault, IndexColumn, IndexDef, IndexKind, TableDef, TableId};
use types::{CollationId, ColumnType, LobSize, TypeKind};

const INDEXES_MAX: usize = 64;
const KEY_PARTS_MAX: usize = 16;
/// MySQL's limit of all columns together, BLOB and TEXT counted as pointers.
const ROW_BYTES_MAX: usize = 65_535;
const CHAR_LENGTH_MAX: u32 = 255;
/// The size of BLOB and TEXT in `ROW_BYTES_MAX`, with their length prefix.
const LOB_POINTER_BYTES: usize = 12;

/// The checked definition, without an id and trees.
pub(crate) fn define(table: NewTable, judge: Judge<'_>) -> Result<TableDef> {
    check_name(NameOf::Database, &table.database)?;
    check_name(NameOf::Table, &table.name)?;
    let mut columns = table.columns;
    check_columns(&columns)?;
    let mut indexes = Vec::with_capacity(table.indexes.len() + 1);
    for index in &foreign::with_generated(table.indexes, &table.foreign_keys) {
        add_index(&mut columns, &mut indexes, index, judge)?;
    }
    finish_indexes(&columns, &mut indexes);
    let mut def = TableDef {
        indexes,
        collation: table.collation,
        comment: table.comment,
        created_us: now_us(),
        partitioning: table.partitioning,
        ..TableDef::new(TableId(0), table.database, table.name, columns)
    };
    def.forget_older_rows();
    def.checks = checks::resolve(&def.name, Vec::new(), table.checks)?;
    def.foreign_keys = foreign::resolve(&def, &table.foreign_keys)?;
    foreign::sort(&mut def.foreign_keys);
    check_whole(&def)?;
    checks::check_foreign(&def)?;
    partition::check(&def)?;
    Ok(def)
}

pub(crate) fn now_us() -> i64 {
    os::time::since_epoch().as_micros() as i64
}

/// The rules for columns.
pub(crate) fn check_columns(columns: &[ColumnDef]) -> Result<()> {
    if columns.iter().all(|column| column.invisible) {
        return Err(Error::NoColumns);
    }
    if columns.len() > COLUMNS_MAX {
        return Err(Error::TooManyColumns);
    }
    let mut names = std::collections::HashSet::with_capacity(columns.len());
    for column in columns.iter().filter(|column| !column.hidden) {
        check_name(NameOf::Column, &column.name)?;
        if !names.insert(column.name.to_ascii_lowercase()) {
            return Err(Error::DuplicateColumn { column: column.name.clone() });
        }
        check_column(column)?;
    }
    Ok(())
}

fn check_column(column: &ColumnDef) -> Result<()> {
    let too_long = |max| Error::ColumnTooLong { column: column.name.clone(), max };
    let bytes_per_char = bytes_per_char(column.ty.collation);
    match column.ty.kind {
        TypeKind::Char { length } | TypeKind::Binary { length } if length > CHAR_LENGTH_MAX => {
            return Err(too_long(CHAR_LENGTH_MAX));
        }
        TypeKind::VarChar { length } if length as usize * bytes_per_char > ROW_BYTES_MAX => {
            return Err(too_long((ROW_BYTES_MAX / bytes_per_char) as u32));
        }
        TypeKind::VarBinary { length } if length as usize > ROW_BYTES_MAX => return Err(too_long(ROW_BYTES_MAX as u32)),
        _ => {}
    }
    let invalid_default = || Error::InvalidDefault { column: column.name.clone() };
    match &column.default {
        ColumnDefault::Literal(Some(_)) if is_lob(&column.ty) => return Err(Error::BlobDefault { column: column.name.clone() }),
        ColumnDefault::Literal(None) if !column.nullable => return Err(invalid_default()),
        ColumnDefault::CurrentTimestamp if !takes_now(&column.ty) => return Err(invalid_default()),
        _ => {}
    }
    if column.auto_increment {
        if !is_countable(&column.ty) {
            return Err(Error::WrongColumnType { column: column.name.clone() });
        }
        if column.default != ColumnDefault::None {
            return Err(invalid_default());
        }
    }
    Ok(())
}

/// Resolves one index against the columns and appends it. A primary key makes its columns NOT NULL; functional parts
/// get hidden columns.
pub(crate) fn add_index(
    columns: &mut Vec<ColumnDef>,
    indexes: &mut Vec<IndexDef>,
    index: &NewIndex,
    judge: Judge<'_>,
) -> Result<()> {
    let index = &*of_geometries(columns, index)?;
    let kind = match index.kind {
        NewIndexKind::Primary => IndexKind::Primary,
        NewIndexKind::Unique => IndexKind::Unique,
        NewIndexKind::Secondary => IndexKind::Secondary,
        NewIndexKind::FullText => IndexKind::FullText,
        NewIndexKind::Spatial => IndexKind::Spatial,
        NewIndexKind::Vector { metric } => IndexKind::Vector { metric },
    };
    if kind == IndexKind::Primary && index.invisible {
        return Err(Error::PrimaryInvisible);
    }
    if kind == IndexKind::Primary && indexes.iter().any(|i| i.kind == IndexKind::Primary) {
        return Err(Error::MultiplePrimaryKeys);
    }
    let keys = indexes.iter().filter(|i| i.kind != IndexKind::HiddenRowId).count();
    if keys >= INDEXES_MAX {
        return Err(Error::TooManyKeys { max: INDEXES_MAX });
    }
    if index.columns.len() > KEY_PARTS_MAX {
        return Err(Error::TooManyKeyParts { max: KEY_PARTS_MAX });
    }
    let (name, parts) = resolve_parts(columns, indexes, index, judge)?;
    let is_multi = |part: &&IndexColumn| columns[part.column].element.is_some();
    let kind = match parts.iter().filter(is_multi).count() {
        0 => kind,
        1 => IndexKind::MultiValued { unique: kind == IndexKind::Unique },
        _ => return Err(Error::SeveralMultiValuedParts),
    };
    if kind == IndexKind::Primary {
        if parts.iter().any(|part| columns[part.column].is_virtual()) {
            return Err(Error::Generated { what: "Defining a virtual generated column as primary key" });
        }
        parts.iter().for_each(|part| columns[part.column].nullable = false);
        if parts.iter().any(|p| columns[p.column].default == ColumnDefault::Literal(None)) {
            return Err(Error::NullablePrimaryKey);
        }
    }
    let (comment, using_btree, invisible) = (index.comment.clone(), index.using_btree, index.invisible);
    let generated = index.generated;
    let full_text = (kind == IndexKind::FullText).then(|| index.full_text.clone().unwrap_or_default());
    indexes.push(IndexDef { comment, using_btree, invisible, generated, full_text, ..IndexDef::new(name, kind, parts) });
    Ok(())
}

/// The index's name, and its parts: the hidden columns of functional ones are called after it.
fn resolve_parts(
    columns: &mut Vec<ColumnDef>,
    indexes: &[IndexDef],
    index: &NewIndex,
    judge: Judge<'_>,
) -> Result<(String, Vec<IndexColumn>)> {
    let mut parts: Vec<IndexColumn> = Vec::with_capacity(index.columns.len());
    let find = |columns: &[ColumnDef], part: &NewIndexColumn| {
        let is_meant = |c: &ColumnDef| c.hidden == part.expr.is_some() && c.name.eq_ignore_ascii_case(&part.name);
        columns.iter().position(is_meant)
    };
    if let Some(missing) = index.columns.iter().find(|part| part.expr.is_none() && find(columns, part).is_none()) {
        return Err(Error::KeyColumnMissing { column: missing.name.clone() });
    }
    let name = index_name(columns, indexes, index)?;
    let mut key_bytes = 0;
    for (n, part) in index.columns.iter().enumerate() {
        let column = match (&part.expr, find(columns, part)) {
            (_, Some(column)) => column,
            (Some(expr), None) => functional::add_column(columns, expr, (&name, n), judge)?,
            (None, None) => return Err(Error::KeyColumnMissing { column: part.name.clone() }),
        };
        if parts.iter().any(|p| p.column == column) {
            return Err(Error::DuplicateColumn { column: columns[column].name.clone() });
        }
        parts.push(match index.kind {
            NewIndexKind::FullText => full_text_part(columns, column, parts.first())?,
            NewIndexKind::Spatial => spatial_part(columns, column, part)?,
            NewIndexKind::Vector { .. } => vector_part(columns, column, (part, n))?,
            _ => resolve_part(columns, column, part, &mut key_bytes)?,
        });
    }
    Ok((name, parts))
}

fn resolve_part(columns: &[ColumnDef], column: usize, part: &NewIndexColumn, key_bytes: &mut usize) -> Result<IndexColumn> {
    let ty = columns[column].element.as_deref().unwrap_or(&columns[column].ty);
    if ty.kind == TypeKind::Json {
        return Err(Error::JsonAsKey { column: columns[column].name.clone() });
    }
    if ty.is_vector() {
        return Err(Error::VectorAsKey { column: columns[column].name.clone() });
    }
    if ty.is_geometry() && part.prefix.is_some() {
        return Err(Error::WrongPrefix);
    }
    let prefix = match part.prefix {
        None if is_lob(ty) => return Err(Error::BlobKeyWithoutLength { column: columns[column].name.clone() }),
        None => None,
        Some(0) => return Err(Error::EmptyPrefix { column: columns[column].name.clone() }),
        Some(prefix) => match string_length(ty) {
            Some(length) if prefix > length => return Err(Error::WrongPrefix),
            // A prefix of everything is not a prefix.
            Some(length) if prefix == length && !is_lob(ty) => None,
            Some(_) => Some(prefix),
            None => return Err(Error::WrongPrefix),
        },
    };
    *key_bytes += match prefix {
        Some(prefix) => prefix as usize * bytes_per_char(ty.collation),
        None => inline_bytes_max(ty),
    };
    if *key_bytes > txn::KEY_BYTES_MAX {
        Err(Error::KeyTooLong { max_bytes: txn::KEY_BYTES_MAX })
    } else {
        Ok(IndexColumn { column, prefix, descending: part.descending })
    }
}

/// A key over geometries is a SPATIAL index, whatever it is called.
fn of_geometries<'i>(columns: &[ColumnDef], index: &'i NewIndex) -> Result<Cow<'i, NewIndex>> {
    let is_geometry = |part: &NewIndexColumn| {
        part.expr.is_none() && columns.iter().any(|c| !c.hidden && c.name.eq_ignore_ascii_case(&part.name) && c.ty.is_geometry())
    };
    if index.kind == NewIndexKind::FullText || !index.columns.iter().any(is_geometry) {
        return Ok(Cow::Borrowed(index));
    }
    if index.columns.len() > 1 {
        return Err(Error::SpatialKey(SpatialKeyProblem::SeveralColumns));
    }
    match index.kind {
        NewIndexKind::Primary | NewIndexKind::Unique => Err(Error::SpatialKey(SpatialKeyProblem::Unique)),
        NewIndexKind::Secondary => Ok(Cow::Owned(NewIndex { kind: NewIndexKind::Spatial, ..index.clone() })),
        _ => Ok(Cow::Borrowed(index)),
    }
}

/// The column of a SPATIAL index: geometries, never NULL.
fn spatial_part(columns: &[ColumnDef], column: usize, part: &NewIndexColumn) -> Result<IndexColumn> {
    let def = &columns[column];
    let problem = match () {
        () if part.prefix.is_some() => return Err(Error::WrongPrefix),
        () if !def.ty.is_geometry() => SpatialKeyProblem::NoGeometry,
        () if def.nullable => SpatialKeyProblem::Nullable,
        () if def.is_virtual() => return Err(Error::Generated { what: "Spatial index on virtual generated column" }),
        () => return Ok(IndexColumn { column, prefix: None, descending: false }),
    };
    Err(Error::SpatialKey(problem))
}

/// The column of a VECTOR index: vectors, never NULL.
fn vector_part(columns: &[ColumnDef], column: usize, (part, number): (&NewIndexColumn, usize)) -> Result<IndexColumn> {
    let def = &columns[column];
    let refused = |what| Err(Error::NotSupported { what });
    let TypeKind::Vector { dimensions } = def.ty.kind else { return refused("a VECTOR index on a column of another type") };
    match () {
        () if number > 0 => Err(Error::TooManyKeyParts { max: 1 }),
        () if part.prefix.is_some() => Err(Error::WrongPrefix),
        () if part.descending => refused("an order of a VECTOR index"),
        () if def.nullable => refused("a VECTOR index on a column that may be NULL"),
        () if def.is_virtual() => Err(Error::Generated { what: "Vector index on virtual generated column" }),
        () if dimensions > types::vector_code::DIMENSIONS_MAX => refused("a VECTOR index on a column of more than 3072 numbers"),
        () => Ok(IndexColumn { column, prefix: None, descending: false }),
    }
}

/// A column of a FULLTEXT index: texts of one collation. A prefix is passed over, as in MySQL.
fn full_text_part(columns: &[ColumnDef], column: usize, first: Option<&IndexColumn>) -> Result<IndexColumn> {
    let def = &columns[column];
    if def.ty.kind == TypeKind::Json {
        return Err(Error::JsonAsKey { column: def.name.clone() });
    }
    if def.ty.is_vector() {
        return Err(Error::VectorAsKey { column: def.name.clone() });
    }
    let is_text = matches!(def.ty.kind, TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Text(_));
    let is_alike = first.is_none_or(|first| columns[first.column].ty.collation == def.ty.collation);
    if !is_text || def.ty.collation.is_binary() || !is_alike {
        return Err(Error::NotFullText { column: def.name.clone() });
    }
    if def.is_virtual() {
        return Err(Error::Generated { what: "Fulltext index on virtual generated column" });
    }
    Ok(IndexColumn { column, prefix: None, descending: false })
}

/// The given name, checked, or MySQL's automatic one.
fn index_name(columns: &[ColumnDef], indexes: &[IndexDef], index: &NewIndex) -> Result<String> {
    if index.kind == NewIndexKind::Primary {
        return Ok("PRIMARY".to_string());
    }
    let taken = |name: &str| indexes.iter().any(|i| i.kind != IndexKind::HiddenRowId && i.name.eq_ignore_ascii_case(name));
    if index.name.is_empty() {
        let spelled = |part: &NewIndexColumn| columns.iter().find(|c| !c.hidden && c.name.eq_ignore_ascii_case(&part.name));
        let first = match index.columns.first() {
            _ if index.columns.iter().any(|part| part.expr.is_some()) => "functional_index",
            Some(part) => spelled(part).map_or("", |column| column.name.as_str()),
            None => "",
        };
        let is_free = |name: &str| !taken(name) && !name.eq_ignore_ascii_case("PRIMARY");
        if is_free(first) {
            return Ok(first.to_string());
        }
        // Bounded by the number of indexes.
        let numbered = (2..).map(|n| format!("{first}_{n}")).find(|name| is_free(name));
        return Ok(numbered.expect("one of more names than indexes is free"));
    }
    if index.name.eq_ignore_ascii_case("PRIMARY") || index.name.ends_with(' ') {
        return Err(Error::WrongIndexName { index: index.name.clone() });
    }
    if index.name.chars().count() > NAME_CHARS_MAX {
        return Err(Error::NameTooLong { name: index.name.clone() });
    }
    if taken(&index.name) { Err(Error::DuplicateKeyName { index: index.name.clone() }) } else { Ok(index.name.clone()) }
}

/// Puts the clustered index first, then unique ones without and with nullable columns, then the others. Of each kind unique ones over the
/// beginnings of columns come behind those over whole columns, and of these again those with virtual columns last (MySQL's order).
pub(crate) fn finish_indexes(columns: &[ColumnDef], indexes: &mut Vec<IndexDef>) {
    if !indexes.iter().any(|i| matches!(i.kind, IndexKind::Primary | IndexKind::HiddenRowId)) {
        indexes.push(hidden_index());
    }
    let has_primary = indexes.iter().any(|i| i.kind == IndexKind::Primary);
    indexes.retain(|i| !(has_primary && i.kind == IndexKind::HiddenRowId));
    indexes.sort_by_key(|index| index.rank(columns));
}

pub(crate) fn hidden_index() -> IndexDef {
    IndexDef::new("", IndexKind::HiddenRowId, Vec::new())
}

/// The rules for the table as a whole.
pub(crate) fn check_whole(def: &TableDef) -> Result<()> {
    let mut counted = def.columns.iter().enumerate().filter(|(_, c)| c.auto_increment);
    if let Some((column, _)) = counted.next() {
        let leads = def.indexes.iter().any(|i| i.columns.first().is_some_and(|c| c.column == column));
        if counted.next().is_some() || !leads {
            return Err(Error::WrongAutoIncrement);
        }
    }
    let row_bytes: usize = def.columns.iter().map(|c| inline_bytes_max(&c.ty)).sum();
    if row_bytes > ROW_BYTES_MAX {
        return Err(Error::RowTooLarge { max_bytes: ROW_BYTES_MAX });
    }
    // Some row must fit. A row that does not fit even without its long columns is refused on insert.
    let least: usize = 16 + def.columns.iter().map(|c| least_bytes(&c.ty)).sum::<usize>();
    if least > txn::RECORD_BYTES_MAX { Err(Error::RowTooLarge { max_bytes: txn::RECORD_BYTES_MAX }) } else { Ok(()) }
}

/// Can a row grow over the record limit, so that it needs a blob tree?
pub(crate) fn needs_blob_tree(def: &TableDef) -> bool {
    let longest: usize = def
        .columns
        .iter()
        .map(|c| match c.ty.kind {
            TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. } | TypeKind::Vector { .. } => {
                txn::RECORD_BYTES_MAX
            }
            _ => inline_bytes_max(&c.ty) + 5,
        })
        .sum();
    // The clustered key repeats its columns, a collation key of up to twice the bytes.
    let key: usize = def.indexes[0].columns.iter().map(|c| 2 * inline_bytes_max(&def.columns[c.column].ty) + 4).sum();
    longest + key + 16 > txn::RECORD_BYTES_MAX
}

fn is_lob(ty: &ColumnType) -> bool {
    matches!(
        ty.kind,
        TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. } | TypeKind::Vector { .. }
    )
}

fn takes_now(ty: &ColumnType) -> bool {
    matches!(ty.kind, TypeKind::DateTime { .. } | TypeKind::Timestamp { .. })
}

fn is_countable(ty: &ColumnType) -> bool {
    use TypeKind::{BigInt, Int, MediumInt, SmallInt, TinyInt};
    matches!(ty.kind, TinyInt | SmallInt | MediumInt | Int | BigInt)
}

/// Length in characters (bytes for binary types) of types that can be indexed by a prefix.
fn string_length(ty: &ColumnType) -> Option<u32> {
    match ty.kind {
        TypeKind::Char { length }
        | TypeKind::VarChar { length }
        | TypeKind::Binary { length }
        | TypeKind::VarBinary { length } => Some(length),
        TypeKind::Text(size) | TypeKind::Blob(size) => Some(match size {
            LobSize::Tiny => 255,
            LobSize::Regular => 65_535,
            LobSize::Medium => 16_777_215,
            LobSize::Long => u32::MAX,
        }),
        _ => None,
    }
}

/// Most bytes that the column takes in a row as MySQL counts them.
fn inline_bytes_max(ty: &ColumnType) -> usize {
    let characters = |length: u32| length as usize * bytes_per_char(ty.collation);
    match ty.kind {
        TypeKind::Null => 0,
        TypeKind::TinyInt | TypeKind::Year => 1,
        TypeKind::SmallInt | TypeKind::Enum { .. } => 2,
        TypeKind::MediumInt | TypeKind::Date => 3,
        TypeKind::Int | TypeKind::Float => 4,
        TypeKind::BigInt
        | TypeKind::Double
        | TypeKind::DateTime { .. }
        | TypeKind::Timestamp { .. }
        | TypeKind::Time { .. }
        | TypeKind::Set { .. }
        | TypeKind::Bit { .. } => 8,
        TypeKind::Decimal { precision, .. } => usize::from(precision).div_ceil(9) * 4 + 1,
        TypeKind::Char { length } | TypeKind::VarChar { length } => characters(length),
        TypeKind::Binary { length } | TypeKind::VarBinary { length } => length as usize,
        TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. } | TypeKind::Vector { .. } => {
            LOB_POINTER_BYTES
        }
    }
}

/// Bytes that the column takes in every row: strings may be empty, but have an end offset.
fn least_bytes(ty: &ColumnType) -> usize {
    match string_length(ty) {
        Some(_) => 2,
        None if ty.kind == TypeKind::Json => 2,
        None => inline_bytes_max(ty),
    }
}

/// Most bytes of a character in a collation's character set.
pub(crate) fn bytes_per_char(collation: CollationId) -> usize {
    collation.info().map_or(4, |info| usize::from(info.char_bytes_max))
}
