//! MIN and MAX read from an index: if the column leads the index, the first entry in index order that is not NULL is
//! the answer.

use super::Binder;
use super::group::Grouping;
use crate::plan::{JoinKind, LimitPlan, Node};
use crate::planner::{FromBlock, JoinTree, OrderNeed, Planned};
use expr::typing;
use expr::{Aggregate, AggregateFunction, Expr, ExprKind};
use types::{TypeKind, Value};

impl Binder<'_> {
    /// MIN and MAX of several columns of one table, each of which leads an index. Each aggregate reads the table as a
    /// source of its own, in the order whose first row has the value.
    pub(super) fn extreme_rows(&mut self, grouping: &mut Grouping, tree: &Option<JoinTree>) -> Option<Vec<OrderNeed>> {
        let (true, Some(JoinTree::Table(table))) = (grouping.keys.is_empty() && grouping.aggregates.len() > 1, tree) else {
            return None;
        };
        let def = &self.sources[*table].table;
        let begins_index = |column: usize| {
            let leads = |c: &types::schema::IndexColumn| c.column == column && c.prefix.is_none();
            def.indexes.iter().any(|index| index.kind.is_ordered() && index.columns.first().is_some_and(leads))
        };
        let needs: Vec<OrderNeed> = grouping.aggregates.iter().map_while(extreme_order).collect();
        let is_served = |need: &OrderNeed| need.columns[0].0 == *table && begins_index(need.columns[0].1);
        let served = needs.len() == grouping.aggregates.len() && needs.iter().all(is_served);
        if !served || def.is_virtual {
            return None;
        }
        let mut needs = needs;
        for (aggregate, need) in grouping.aggregates.iter_mut().zip(&mut needs).skip(1) {
            let (_, column, descending) = need.columns[0];
            let source = self.sources.len();
            self.sources.push(self.sources[*table].clone());
            aggregate.args[0].kind = ExprKind::Column { source, column };
            need.columns[0] = (source, column, descending);
        }
        Some(needs)
    }
}

/// MIN or MAX of one column as the only result of a query over one table: the order whose first row has the value.
pub(super) fn extreme_need(grouping: &Grouping, tree: &Option<JoinTree>) -> Option<OrderNeed> {
    match (&*grouping.keys, &*grouping.aggregates, tree) {
        ([], [aggregate], Some(JoinTree::Table(_))) => extreme_order(aggregate),
        _ => None,
    }
}

/// The order whose first row has the MIN or MAX of a column.
fn extreme_order(aggregate: &Aggregate) -> Option<OrderNeed> {
    let descending = match aggregate.function {
        AggregateFunction::Min => false,
        AggregateFunction::Max => true,
        _ => return None,
    };
    let arg = &aggregate.args[0];
    let ExprKind::Column { source, column } = arg.kind else { return None };
    // ENUM and SET are compared as strings here, but an index orders them by number.
    let by_number = matches!(arg.ty.kind, TypeKind::Enum { .. } | TypeKind::Set { .. } | TypeKind::Json);
    (!by_number).then(|| OrderNeed { columns: vec![(source, column, descending)], limit: Some(1.0), ..OrderNeed::default() })
}

/// Plans a single row in which the source of each aggregate holds the row with the extreme value, or NULLs if there is
/// none. `None`: reading some source in order does not pay.
pub(super) fn plan_extremes(block: &mut FromBlock<'_>, grouping: &Grouping, needs: &[OrderNeed]) -> Option<Planned> {
    let mut node = Node::OneRow;
    for (aggregate, need) in grouping.aggregates.iter().zip(needs) {
        let tree = JoinTree::Table(need.columns[0].0);
        let filter = is_not_null(&aggregate.args[0]).into_iter().collect();
        let planned = block.plan(Some(tree), filter, Some(need));
        if !planned.ordered {
            return None;
        }
        let right = Box::new(first_row(planned.node));
        node = Node::NestedLoop { left: Box::new(node), right, kind: JoinKind::Left, on: None };
    }
    Some(Planned { node, ordered: false, sorted: true })
}

pub(super) fn first_row(node: Node) -> Node {
    let one = Expr::literal(Value::Int(1), typing::bigint(false));
    Node::Limit { input: Box::new(node), limit: LimitPlan { offset: None, count: Some(one), counts_all: false } }
}

/// NULL is neither minimum nor maximum.
pub(super) fn not_null(grouping: &Grouping) -> Option<Expr> {
    is_not_null(grouping.aggregates.first()?.args.first()?)
}

fn is_not_null(arg: &Expr) -> Option<Expr> {
    let kind = ExprKind::IsNull { arg: Box::new(arg.clone()), negated: true };
    arg.nullable.then(|| Expr { kind, ty: typing::boolean(), nullable: false })
}
