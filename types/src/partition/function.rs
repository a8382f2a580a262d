//! The partition to which a row belongs.
//!
//! P1: column values are compared as index keys are: by their encoding (`crate::key`), with a NULL marker before each.

use super::{PartitionBy, PartitionLimit, PartitionValues, Partitioning};
use crate::Value;
use crate::error::Result;
use crate::key::KeyPart;
use crate::schema::{ColumnDef, TableDef};
use std::collections::HashMap;

/// Marks MAXVALUE in a key: above the marker of any value.
const ABOVE_ALL: u8 = 0xff;

/// Gives rows their partition.
#[derive(Clone, Debug)]
pub struct PartitionFunction {
    /// Its definition: two functions of one definition are equal.
    of: Partitioning,
    shape: Shape,
    sub: Option<Box<PartitionFunction>>,
}

#[derive(Clone, Debug)]
enum Shape {
    Hash {
        linear: bool,
    },
    Key {
        linear: bool,
        parts: Vec<KeyPart>,
    },
    /// The ends of the partitions, ascending; the last may be above all numbers.
    Range(Vec<i128>),
    /// `None` is NULL.
    List(HashMap<Option<i128>, usize>),
    RangeColumns {
        parts: Vec<KeyPart>,
        ends: Vec<Vec<u8>>,
    },
    ListColumns {
        parts: Vec<KeyPart>,
        of: HashMap<Vec<u8>, usize>,
    },
}

impl PartialEq for PartitionFunction {
    fn eq(&self, other: &Self) -> bool {
        self.of == other.of
    }
}

/// Errors in values that prevent a partition function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionProblem {
    /// A column is not there.
    Column,
    /// 1654: a value is none of its column's.
    Value,
    /// 1493: ends of ranges do not ascend; the place of the partition.
    Order(usize),
    /// 1495: a value occurs twice, in one or two lists.
    Twice,
}

impl PartitionFunction {
    /// The function of a definition over the columns of `table`.
    pub fn new(of: &Partitioning, table: &TableDef) -> std::result::Result<Self, PartitionProblem> {
        let columns = of.columns_in(table).ok_or(PartitionProblem::Column)?;
        let parts = || columns.iter().map(|&column| key_part(table, column)).collect::<Vec<_>>();
        let shape = match &of.by {
            PartitionBy::Hash { linear, .. } => Shape::Hash { linear: *linear },
            PartitionBy::Key { linear, .. } => Shape::Key { linear: *linear, parts: parts() },
            PartitionBy::Range(_) => Shape::Range(range_ends(of)?),
            PartitionBy::List(_) => Shape::List(list_members(of)?),
            PartitionBy::RangeColumns(_) => {
                let parts = parts();
                let ends = column_ends(of, table, &columns, &parts)?;
                Shape::RangeColumns { parts, ends }
            }
            PartitionBy::ListColumns(_) => {
                let parts = parts();
                let members = column_members(of, table, &columns, &parts)?;
                Shape::ListColumns { parts, of: members }
            }
        };
        let sub = of.sub.as_deref().map(|sub| Self::new(sub, table).map(Box::new)).transpose()?;
        Ok(Self { of: of.clone(), shape, sub })
    }

    /// Partitions, without a look at subpartitions.
    pub fn count(&self) -> usize {
        self.of.partitions.len()
    }

    /// The function of the subpartitions.
    pub fn sub(&self) -> Option<&PartitionFunction> {
        self.sub.as_deref()
    }

    /// The number of values that determine the partition: the first of those that determine the number with
    /// subpartitions.
    pub fn own_values(&self) -> usize {
        match &self.shape {
            Shape::Hash { .. } | Shape::Range(_) | Shape::List(_) => 1,
            Shape::Key { parts, .. } | Shape::RangeColumns { parts, .. } | Shape::ListColumns { parts, .. } => parts.len(),
        }
    }

    pub fn definition(&self) -> &Partitioning {
        &self.of
    }

    /// The number of a row, from the value of the expression or the values of the columns, followed by those of the
    /// subpartitions. `None`: no partition holds it (1526).
    pub fn locate(&self, values: &[Value<'_>]) -> Result<Option<usize>> {
        let Some(sub) = &self.sub else { return self.locate_own(values) };
        let (own, others) = values.split_at(self.own_values());
        let (Some(place), Some(number)) = (self.locate_own(own)?, sub.locate_own(others)?) else { return Ok(None) };
        Ok(Some(place * sub.count() + number))
    }

    /// The number of a row's partition.
    pub fn locate_own(&self, values: &[Value<'_>]) -> Result<Option<usize>> {
        let number = || integer(values.first().unwrap_or(&Value::Null));
        Ok(match &self.shape {
            // MySQL has the least number for NULL.
            Shape::Hash { linear } => Some(self.spread(number().unwrap_or(i64::MIN.into()) as u64, *linear, true)),
            Shape::Key { linear, parts } => Some(self.spread(hash(&encoded(parts, values)?), *linear, false)),
            Shape::Range(ends) => within(ends.partition_point(|end| number().is_some_and(|number| *end <= number)), ends),
            Shape::List(of) => of.get(&number()).copied(),
            Shape::RangeColumns { parts, ends } => {
                let key = encoded(parts, values)?;
                within(ends.partition_point(|end| *end <= key), ends)
            }
            Shape::ListColumns { parts, of } => of.get(&encoded(parts, values)?).copied(),
        })
    }

    /// The numbers of the partitions that may hold rows with a value between two bounds: for RANGE and LIST over the
    /// expression, or RANGE over its first column. Each bound says whether it is inclusive; a missing bound is open.
    /// NULL is below all.
    pub fn between(&self, low: Option<(&Value<'_>, bool)>, high: Option<(&Value<'_>, bool)>) -> Result<Vec<usize>> {
        let count = self.count();
        let least = low.and_then(|(low, inclusive)| Some(integer(low)? + i128::from(!inclusive)));
        let (first, last) = match &self.shape {
            Shape::Range(ends) => {
                let at = |number: i128| ends.partition_point(|end| *end <= number);
                let high = high.map(|(high, inclusive)| integer(high).map(|number| number - i128::from(!inclusive)));
                (least.map_or(0, at), high.map_or(count, |high| high.map_or(0, at) + 1))
            }
            Shape::RangeColumns { parts, ends } => {
                let first = match low {
                    None => 0,
                    Some((low, inclusive)) => {
                        let mut key = encoded(&parts[..1], std::slice::from_ref(low))?;
                        key.extend((!inclusive).then_some(ABOVE_ALL));
                        ends.partition_point(|end| *end <= key)
                    }
                };
                let last = match high {
                    None => count,
                    Some((high, inclusive)) => {
                        let mut key = encoded(&parts[..1], std::slice::from_ref(high))?;
                        // The end of a partition may begin with the value and go on.
                        key.extend(inclusive.then_some(ABOVE_ALL));
                        ends.partition_point(|end| if inclusive { *end <= key } else { *end < key }) + 1
                    }
                };
                (first, last)
            }
            Shape::List(of) => {
                let high = high.map(|(high, inclusive)| integer(high).map_or(i128::MIN, |n| n - i128::from(!inclusive)));
                let is_bounded = least.is_some() || high.is_some();
                let lies = |member: &Option<i128>| match member {
                    None => !is_bounded,
                    Some(member) => least.is_none_or(|low| low <= *member) && high.is_none_or(|high| *member <= high),
                };
                let mut places: Vec<usize> = of.iter().filter(|(member, _)| lies(member)).map(|(_, place)| *place).collect();
                places.sort_unstable();
                places.dedup();
                return Ok(places);
            }
            _ => (0, count),
        };
        Ok((first..last.min(count)).collect())
    }

    /// HASH and KEY.
    fn spread(&self, number: u64, linear: bool, signed: bool) -> usize {
        let count = self.count().max(1) as u64;
        if linear {
            let mut mask = count.next_power_of_two() - 1;
            let mut place = number & mask;
            while place >= count {
                mask >>= 1;
                place = number & mask;
            }
            return place as usize;
        }
        let place = if signed { (number as i64 % count as i64).unsigned_abs() } else { number % count };
        place as usize
    }
}

/// The number of a partition, if it exists.
fn within<T>(place: usize, partitions: &[T]) -> Option<usize> {
    (place < partitions.len()).then_some(place)
}

fn key_part(table: &TableDef, column: usize) -> KeyPart {
    KeyPart { column, ty: table.columns[column].ty.clone(), nullable: true, prefix: None, descending: false }
}

/// P1
fn encoded(parts: &[KeyPart], values: &[Value<'_>]) -> Result<Vec<u8>> {
    let mut key = Vec::new();
    for (part, value) in parts.iter().zip(values) {
        part.encode(value, &mut key)?;
    }
    Ok(key)
}

/// The value of a partitioning expression; `None`: NULL.
fn integer(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        _ => None,
    }
}

/// FNV-1a, its bits mixed once more so that the low ones depend on all.
fn hash(bytes: &[u8]) -> u64 {
    let folded =
        bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    let mixed = (folded ^ folded >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

fn number_of(limit: &PartitionLimit) -> std::result::Result<Option<i128>, PartitionProblem> {
    match limit {
        PartitionLimit::MaxValue => Ok(Some(i128::MAX)),
        PartitionLimit::Null => Ok(None),
        PartitionLimit::Literal(text) => text.parse().map(Some).map_err(|_| PartitionProblem::Value),
    }
}

fn range_ends(of: &Partitioning) -> std::result::Result<Vec<i128>, PartitionProblem> {
    let mut ends = Vec::with_capacity(of.partitions.len());
    for (n, partition) in of.partitions.iter().enumerate() {
        let PartitionValues::LessThan(limits) = &partition.values else { return Err(PartitionProblem::Value) };
        let [limit] = limits.as_slice() else { return Err(PartitionProblem::Value) };
        let end = number_of(limit)?.ok_or(PartitionProblem::Value)?;
        if ends.last().is_some_and(|last| *last >= end) {
            return Err(PartitionProblem::Order(n));
        }
        ends.push(end);
    }
    Ok(ends)
}

fn list_members(of: &Partitioning) -> std::result::Result<HashMap<Option<i128>, usize>, PartitionProblem> {
    let mut members = HashMap::new();
    for (n, partition) in of.partitions.iter().enumerate() {
        let PartitionValues::In(list) = &partition.values else { return Err(PartitionProblem::Value) };
        for member in list {
            let [limit] = member.as_slice() else { return Err(PartitionProblem::Value) };
            if members.insert(number_of(limit)?, n).is_some() {
                return Err(PartitionProblem::Twice);
            }
        }
    }
    Ok(members)
}

/// The key of a row of limits; it ends at MAXVALUE.
fn limits_key(
    limits: &[PartitionLimit],
    columns: &[&ColumnDef],
    parts: &[KeyPart],
) -> std::result::Result<Vec<u8>, PartitionProblem> {
    let mut key = Vec::new();
    if limits.len() != parts.len() {
        return Err(PartitionProblem::Value);
    }
    for ((limit, column), part) in limits.iter().zip(columns).zip(parts) {
        let value = match limit {
            PartitionLimit::MaxValue => {
                key.push(ABOVE_ALL);
                return Ok(key);
            }
            PartitionLimit::Null => Value::Null,
            PartitionLimit::Literal(text) => column.default_value(text).ok_or(PartitionProblem::Value)?,
        };
        part.encode(&value, &mut key).map_err(|_| PartitionProblem::Value)?;
    }
    Ok(key)
}

fn column_ends(
    of: &Partitioning,
    table: &TableDef,
    columns: &[usize],
    parts: &[KeyPart],
) -> std::result::Result<Vec<Vec<u8>>, PartitionProblem> {
    let columns: Vec<&ColumnDef> = columns.iter().map(|&column| &table.columns[column]).collect();
    let mut ends: Vec<Vec<u8>> = Vec::with_capacity(of.partitions.len());
    for (n, partition) in of.partitions.iter().enumerate() {
        let PartitionValues::LessThan(limits) = &partition.values else { return Err(PartitionProblem::Value) };
        let end = limits_key(limits, &columns, parts)?;
        if ends.last().is_some_and(|last| *last >= end) {
            return Err(PartitionProblem::Order(n));
        }
        ends.push(end);
    }
    Ok(ends)
}

fn column_members(
    of: &Partitioning,
    table: &TableDef,
    columns: &[usize],
    parts: &[KeyPart],
) -> std::result::Result<HashMap<Vec<u8>, usize>, PartitionProblem> {
    let columns: Vec<&ColumnDef> = columns.iter().map(|&column| &table.columns[column]).collect();
    let mut members = HashMap::new();
    for (n, partition) in of.partitions.iter().enumerate() {
        let PartitionValues::In(list) = &partition.values else { return Err(PartitionProblem::Value) };
        for member in list {
            if members.insert(limits_key(member, &columns, parts)?, n).is_some() {
                return Err(PartitionProblem::Twice);
            }
        }
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::super::{PartitionDef, Written};
    use super::*;
    use crate::schema::{RowExpr, TableId};
    use crate::{CollationId, ColumnType, TypeKind};

    fn table() -> TableDef {
        let text = ColumnType { collation: CollationId::UTF8MB4_0900_AI_CI, ..ColumnType::new(TypeKind::VarChar { length: 20 }) };
        let columns = vec![ColumnDef::new("a", ColumnType::new(TypeKind::Int), true), ColumnDef::new("b", text, true)];
        TableDef::new(TableId(1), "d", "t", columns)
    }

    fn expr() -> RowExpr {
        RowExpr { text: "`a`".into(), columns: vec!["a".into()] }
    }

    fn literal(text: &str) -> PartitionLimit {
        if text == "MAX" { PartitionLimit::MaxValue } else { PartitionLimit::Literal(text.into()) }
    }

    fn function(by: PartitionBy, values: Vec<PartitionValues>) -> std::result::Result<PartitionFunction, PartitionProblem> {
        let mut partitions = Partitioning::numbered(0, values.len());
        partitions.iter_mut().zip(values).for_each(|(partition, values)| partition.values = values);
        PartitionFunction::new(&Partitioning { by, partitions, written: Written::Named, sub: None }, &table())
    }

    fn counted(by: PartitionBy, count: usize) -> PartitionFunction {
        function(by, vec![PartitionValues::None; count]).unwrap()
    }

    fn ranges(ends: &[&str]) -> std::result::Result<PartitionFunction, PartitionProblem> {
        let end = |end: &&str| PartitionValues::LessThan(vec![literal(end)]);
        function(PartitionBy::Range(expr()), ends.iter().map(end).collect())
    }

    #[test]
    fn hash_is_mysqls() {
        let plain = counted(PartitionBy::Hash { expr: expr(), linear: false }, 4);
        let linear = counted(PartitionBy::Hash { expr: expr(), linear: true }, 6);
        for (value, expected) in [(5, 1), (-5, 1), (8, 0), (-7, 3), (i64::MIN, 0)] {
            assert_eq!(plain.locate(&[Value::Int(value)]), Ok(Some(expected)), "{value}");
        }
        // The manual's examples: 2003 lies in partition 3, 1998 in 2.
        assert_eq!(linear.locate(&[Value::Int(2003)]), Ok(Some(3)));
        assert_eq!(linear.locate(&[Value::Int(1998)]), Ok(Some(2)));
        assert_eq!(plain.locate(&[Value::Null]), Ok(Some(0)));
        assert_eq!(counted(PartitionBy::Hash { expr: expr(), linear: false }, 3).locate(&[Value::Null]), Ok(Some(2)));
        assert_eq!(plain.locate(&[Value::UInt(u64::MAX)]), Ok(Some(1)));
    }

    #[test]
    fn equal_values_lie_together() {
        let by = |linear| PartitionBy::Key { columns: vec!["b".into()], linear, old_algorithm: false };
        for linear in [false, true] {
            let function = counted(by(linear), 7);
            let of = |text: &'static str| function.locate(&[Value::Bytes(text.as_bytes().into())]).unwrap();
            assert_eq!(of("Straße"), of("STRASSE"));
            let used: std::collections::HashSet<_> =
                ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"].map(of).into();
            assert!(used.len() >= 4, "{used:?}");
        }
    }

    #[test]
    fn ranges_ascend() {
        let function = ranges(&["-5", "10", "20"]).unwrap();
        for (value, expected) in [(-6, Some(0)), (-5, Some(1)), (9, Some(1)), (10, Some(2)), (19, Some(2)), (20, None)] {
            assert_eq!(function.locate(&[Value::Int(value)]), Ok(expected), "{value}");
        }
        assert_eq!(function.locate(&[Value::Null]), Ok(Some(0)));
        assert_eq!(ranges(&["1", "MAX"]).unwrap().locate(&[Value::UInt(u64::MAX)]), Ok(Some(1)));
        assert_eq!(ranges(&["1", "1"]), Err(PartitionProblem::Order(1)));
        let between = |low: Option<i64>, high: Option<i64>| {
            let (low, high) = (low.map(Value::Int), high.map(Value::Int));
            function.between(low.as_ref().map(|low| (low, true)), high.as_ref().map(|high| (high, true))).unwrap()
        };
        assert_eq!(function.between(None, Some((&Value::Int(10), false))), Ok(vec![0, 1]));
        assert_eq!(
            (between(Some(9), Some(10)), between(None, Some(-6)), between(Some(10), None)),
            (vec![1, 2], vec![0], vec![2])
        );
        assert_eq!((between(Some(20), None), between(None, None)), (vec![], vec![0, 1, 2]));
    }

    #[test]
    fn rows_of_limits() {
        let columns = || vec!["a".to_owned(), "b".to_owned()];
        let end = |a: &str, b: &str| PartitionValues::LessThan(vec![literal(a), literal(b)]);
        let by = || PartitionBy::RangeColumns(columns());
        let function = function(by(), vec![end("5", "m"), end("5", "MAX"), end("MAX", "MAX")]).unwrap();
        let of = |a, b: &'static str| function.locate(&[a, Value::Bytes(b.as_bytes().into())]).unwrap();
        assert_eq!(of(Value::Int(4), "z"), Some(0));
        assert_eq!((of(Value::Int(5), "a"), of(Value::Int(5), "M"), of(Value::Int(6), "")), (Some(0), Some(1), Some(2)));
        assert_eq!(of(Value::Null, "z"), Some(0));
        let between = |low, high| function.between(Some((&Value::Int(low), true)), Some((&Value::Int(high), true))).unwrap();
        assert_eq!(function.between(Some((&Value::Int(5), false)), None), Ok(vec![2]));
        assert_eq!((between(1, 4), between(5, 5), between(6, 7)), (vec![0], vec![0, 1, 2], vec![2]));
        let member = |a: &str, b: &str| vec![literal(a), literal(b)];
        let lists = vec![
            PartitionValues::In(vec![member("1", "x"), vec![PartitionLimit::Null, literal("y")]]),
            PartitionValues::In(vec![member("2", "x")]),
        ];
        let function = super::tests::function(PartitionBy::ListColumns(columns()), lists).unwrap();
        let of = |a, b: &'static str| function.locate(&[a, Value::Bytes(b.as_bytes().into())]).unwrap();
        assert_eq!((of(Value::Int(1), "X"), of(Value::Int(2), "x"), of(Value::Null, "Y")), (Some(0), Some(1), Some(0)));
        assert_eq!(of(Value::Int(1), "y"), None);
    }

    #[test]
    fn subpartitions_count_over_all_partitions() {
        let hash = PartitionBy::Hash { expr: RowExpr { text: "`b`".into(), columns: vec!["b".into()] }, linear: false };
        let sub = Partitioning { by: hash, partitions: Partitioning::numbered(0, 3), written: Written::Counted, sub: None };
        let end = |end: &str| PartitionValues::LessThan(vec![literal(end)]);
        let mut partitions = vec![PartitionDef::new("p0".into(), end("10")), PartitionDef::new("p1".into(), end("20"))];
        let by = PartitionBy::Range(expr());
        let mut of = Partitioning { by, partitions: Vec::new(), written: Written::Named, sub: Some(Box::new(sub)) };
        of.name_subpartitions(&mut partitions);
        of.partitions = partitions;
        let function = PartitionFunction::new(&of, &table()).unwrap();
        let at = |a, b| function.locate(&[Value::Int(a), Value::Int(b)]).unwrap();
        assert_eq!((at(1, 0), at(1, 5), at(15, 4), at(20, 1)), (Some(0), Some(2), Some(4), None));
        assert_eq!((of.numbers("P1"), of.numbers("p1SP2"), of.numbers("p9")), (Some(3..6), Some(5..6), None));
        assert_eq!(of.name_of(4), "p1_p1sp1");
    }

    #[test]
    fn lists_name_a_value_once() {
        let list = |values: &[&str]| PartitionValues::In(values.iter().map(|value| vec![literal(value)]).collect());
        let by = || PartitionBy::List(expr());
        let one = function(by(), vec![list(&["1", "2"]), PartitionValues::In(vec![vec![PartitionLimit::Null]])]).unwrap();
        assert_eq!((one.locate(&[Value::Int(2)]), one.locate(&[Value::Null])), (Ok(Some(0)), Ok(Some(1))));
        assert_eq!(one.locate(&[Value::Int(3)]), Ok(None));
        assert_eq!(function(by(), vec![list(&["1"]), list(&["1"])]), Err(PartitionProblem::Twice));
    }
}
