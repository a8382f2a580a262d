//! Which parts of a plan are shared out: those whose outcome cannot depend on who reads which row (P2 of [`crate::parallel`]).
//!
//! ```text
//! Aggregate or Sort            the node: it takes all rows before it gives any; or the first of the following, if what it gives is read to its end
//!   Project, Filter            as often as there are
//!     NestedLoop, HashJoin     each worker looks up the partners of its rows; a hash table is built once and read by all
//!       Scan                   the rows that are shared out: the first input of all joins
//! ```

use crate::operator::is_mergeable;
use crate::spill::row_copy::sources_of;
use expr::{Aggregate, Expr, ExprKind, Function};
use sql::explain::Measures;
use sql::plan::{Access, KeyRange, LimitPlan, Node, Plan, Scan, SortKey};
use std::sync::Arc;
use table::Table;
use types::schema::TableId;

/// With debug assertions so many rows are enough, so that tests reach it.
const ROWS_MIN_TESTED: f64 = 300.0;

/// The rows that a scan has to read for it to be worth the trouble, where the session asks for so many.
pub(crate) fn rows_min(asked: u64) -> f64 {
    let asked = asked as f64;
    if cfg!(debug_assertions) { asked.min(ROWS_MIN_TESTED) } else { asked }
}

/// A node whose rows several workers read.
pub(crate) struct Shape<'p> {
    pub node: &'p Node,
    pub takes: Takes<'p>,
    /// The rows.
    pub input: &'p Node,
    /// The scan whose rows are shared out, and its table.
    pub scan: &'p Scan,
    pub table: &'p Arc<Table>,
}

/// What is made of the rows.
#[derive(Clone, Copy)]
pub(crate) enum Takes<'p> {
    Groups {
        keys: &'p [Expr],
        aggregates: &'p [Aggregate],
    },
    Sorted {
        keys: &'p [SortKey],
        limit: Option<&'p LimitPlan>,
    },
    /// They are kept as they are.
    Rows,
}

/// Rows that are kept until they are asked for are worth it where so many are read for one that comes out: the owner has to copy each.
const READ_FOR_ROW_MIN: f64 = 2.5;

impl<'p> Shape<'p> {
    /// `None`: one worker reads the node's rows. `rows_min`: fewer rows of work are not worth it.
    pub fn of(node: &'p Node, tables: &'p [Option<Arc<Table>>], rows_min: f64) -> Option<Self> {
        let shape = Self::of_safe(node, tables)?;
        let (work, rows) = work_of(shape.input);
        let is_worth = work >= rows_min && (!matches!(shape.takes, Takes::Rows) || rows * READ_FOR_ROW_MIN <= work);
        (is_worth && shape.is_safe()).then_some(shape)
    }

    /// The same of a node that was found to be safe.
    pub fn of_safe(node: &'p Node, tables: &'p [Option<Arc<Table>>]) -> Option<Self> {
        let (input, takes) = match node {
            Node::Aggregate { input, keys, aggregates, ordered: false } => (&**input, Takes::Groups { keys, aggregates }),
            Node::Sort { input, keys, limit } => (&**input, Takes::Sorted { keys, limit: limit.as_ref() }),
            Node::Scan(_) | Node::NestedLoop { .. } | Node::HashJoin { .. } | Node::Filter { .. } | Node::Project { .. } => {
                (node, Takes::Rows)
            }
            _ => return None,
        };
        let scan = first_scan(input)?;
        let table = tables.get(scan.source)?.as_ref()?;
        Some(Self { node, takes, input, scan, table })
    }

    /// The estimated rows that all parts of it read.
    pub fn work(&self) -> f64 {
        work_of(self.input).0
    }

    fn is_safe(&self) -> bool {
        let sources = sources_of(self.input);
        let plain = |expr: &Expr| is_plain(expr, &sources);
        let is_range = matches!(self.scan.access, Access::Full { reverse: false, .. } | Access::Ranges { reverse: false, .. });
        let takes = match self.takes {
            Takes::Groups { keys, aggregates } => {
                let arguments = aggregates.iter().flat_map(|aggregate| &aggregate.args);
                aggregates.iter().all(is_mergeable) && arguments.chain(keys).all(plain)
            }
            Takes::Sorted { keys, limit } => {
                let limits = limit.into_iter().flat_map(|limit| limit.offset.iter().chain(&limit.count));
                let counts_all = limit.is_some_and(|limit| limit.counts_all);
                !counts_all && keys.iter().map(|key| &key.expr).chain(limits).all(plain)
            }
            Takes::Rows => true,
        };
        takes && is_range && is_safe(self.input, &sources)
    }
}

/// The scan below the first inputs.
fn first_scan(mut node: &Node) -> Option<&Scan> {
    loop {
        node = match node {
            Node::Project { input, .. } | Node::Filter { input, .. } => input,
            Node::NestedLoop { left, .. } | Node::HashJoin { left, .. } => left,
            Node::Scan(scan) => return Some(scan),
            _ => return None,
        };
    }
}

/// Of rows whose first scan is shared out: the estimated rows that are read, and those that come out.
fn work_of(node: &Node) -> (f64, f64) {
    match node {
        Node::Project { input, .. } | Node::Filter { input, .. } => work_of(input),
        Node::Scan(scan) => (scan.read, scan.rows),
        Node::NestedLoop { left, right, .. } => {
            let ((work, rows), (each, partners)) = (work_of(left), work_of(right));
            (work + rows * each, rows * partners.max(1.0))
        }
        Node::HashJoin { left, partners, .. } => {
            let (work, rows) = work_of(left);
            (work + rows, rows * partners.max(1.0))
        }
        _ => (0.0, 0.0),
    }
}

/// Can each worker read a part of these rows? Asked of the rows whose first scan is shared out, and of the rows that are joined to them.
fn is_safe(node: &Node, sources: &[usize]) -> bool {
    let plain = |expr: &Expr| is_plain(expr, sources);
    let is_range_plain = |range: &KeyRange| {
        let bounds = range.low.iter().chain(&range.high).map(|(expr, _)| expr);
        range.prefix.iter().chain(bounds).all(plain)
    };
    match node {
        Node::Project { input, exprs } => exprs.iter().all(plain) && is_safe(input, sources),
        Node::Filter { input, predicate } => plain(predicate) && is_safe(input, sources),
        Node::NestedLoop { left, right, on, .. } => on.iter().all(plain) && is_safe(left, sources) && is_safe(right, sources),
        Node::HashJoin { left, right, left_keys, right_keys, on, .. } => {
            left_keys.iter().chain(right_keys).chain(on).all(plain) && is_safe(left, sources) && is_safe(right, sources)
        }
        Node::Scan(scan) => {
            let access = match &scan.access {
                Access::Point { key, .. } => key.iter().all(plain),
                Access::Ranges { ranges, .. } => ranges.iter().all(is_range_plain),
                Access::Full { .. } => true,
                _ => false,
            };
            let filters = scan.filter.iter().chain(scan.index_filter.as_deref());
            access && !scan.table.is_virtual && !TableId::is_temporary(scan.table.id) && filters.into_iter().all(plain)
        }
        _ => false,
    }
}

/// Functions whose value depends on their arguments, the SQL mode, the time zone, and how large a packet may be, and on nothing else of the
/// session.
const PLAIN_FUNCTIONS: &[Function] = &[
    Function::IF,
    Function::IFNULL,
    Function::NULLIF,
    Function::COALESCE,
    Function::ISNULL,
    Function::DATE,
    Function::YEAR,
    Function::MONTH,
    Function::DAY,
    Function::DAYOFWEEK,
    Function::DAYOFYEAR,
    Function::WEEKDAY,
    Function::QUARTER,
    Function::HOUR,
    Function::MINUTE,
    Function::SECOND,
    Function::MICROSECOND,
    Function::DATEDIFF,
    Function::DATE_ADD,
    Function::DATE_SUB,
    Function::TIMESTAMPDIFF,
    Function::TO_DAYS,
    Function::FROM_DAYS,
    Function::LAST_DAY,
    Function::EXTRACT,
    Function::ABS,
    Function::CEILING,
    Function::FLOOR,
    Function::ROUND,
    Function::TRUNCATE,
    Function::MOD,
    Function::SIGN,
    Function::SQRT,
    Function::POW,
    Function::GREATEST,
    Function::LEAST,
    Function::BIT_COUNT,
    Function::CONCAT,
    Function::CONCAT_WS,
    Function::LENGTH,
    Function::CHAR_LENGTH,
    Function::UPPER,
    Function::LOWER,
    Function::SUBSTRING,
    Function::SUBSTRING_INDEX,
    Function::LEFT,
    Function::RIGHT,
    Function::TRIM,
    Function::LTRIM,
    Function::RTRIM,
    Function::LPAD,
    Function::RPAD,
    Function::REVERSE,
    Function::REPLACE,
    Function::LOCATE,
    Function::INSTR,
    Function::ASCII,
    Function::FIELD,
    Function::STRCMP,
];

/// Does its value depend on rows of these sources, the parameters and the handed over settings only, and has it no effect?
fn is_plain(expr: &Expr, sources: &[usize]) -> bool {
    use ExprKind as K;
    match expr.kind {
        K::Literal(_) | K::Param(_) | K::Slot(_) => true,
        K::Column { source, .. } | K::ColumnOrdinal { source, .. } => sources.contains(&source),
        K::Call { function, .. } if !PLAIN_FUNCTIONS.contains(&function) => false,
        K::Call { .. }
        | K::Cast(_)
        | K::Unary { .. }
        | K::Compare { .. }
        | K::Arithmetic { .. }
        | K::And(_)
        | K::Or(_)
        | K::Xor(..)
        | K::Not(_)
        | K::IsNull { .. }
        | K::IsTruth { .. }
        | K::In { .. }
        | K::Between { .. }
        | K::Like { .. }
        | K::Row(_)
        | K::Case { .. } => expr.parts().into_iter().all(|part| is_plain(part, sources)),
        _ => false,
    }
}

/// The keys of the nodes of a tree whose rows would be shared out, as the builder of operators decides it. `gathers`: the rows are read to their end.
pub(crate) fn shared_nodes(node: &Node, gathers: bool, tables: &[Option<Arc<Table>>], rows_min: f64, keys: &mut Vec<usize>) {
    let shape = Shape::of(node, tables, rows_min).filter(|shape| gathers || !matches!(shape.takes, Takes::Rows));
    if let Some(shape) = shape {
        keys.push(Measures::key(shape.node));
        return;
    }
    for (number, input) in node.inputs().into_iter().enumerate() {
        let gathers = match node {
            Node::Limit { .. } | Node::Recursive { .. } => false,
            Node::Aggregate { .. } | Node::Rollup { .. } | Node::Sort { .. } | Node::Scan(_) => true,
            // One transaction reads the past.
            Node::AsOf { .. } => false,
            Node::NestedLoop { .. } => gathers && number == 0,
            Node::HashJoin { .. } => gathers || number == 1,
            _ => gathers,
        };
        shared_nodes(input, gathers, tables, rows_min, keys);
    }
}

/// The node of a plan with this key (`Measures::key`).
pub(crate) fn node_of(plan: &Plan, key: usize) -> Option<&Node> {
    fn find(node: &Node, key: usize) -> Option<&Node> {
        if Measures::key(node) == key {
            return Some(node);
        }
        node.inputs().into_iter().find_map(|input| find(input, key))
    }
    plan.roots().into_iter().find_map(|root| find(root, key))
}
