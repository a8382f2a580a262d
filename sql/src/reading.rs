//! The part of a statement that reads.

use crate::Arena;
use crate::ast::{Query, QueryBody, Select, SelectItem, Statement};

/// A SELECT of the rows that a statement reads, whole and without locks: of a query itself, of UPDATE and DELETE those that they change.
/// `None`: the statement reads nothing that could be run by itself.
pub fn reading_part<'a>(arena: &'a Arena, statement: &Statement<'a>) -> Option<Statement<'a>> {
    let (with, from, filter, order_by, limit) = match statement {
        Statement::Query(query) if query.into.is_none() => {
            return Some(Statement::Query(arena.node(Query { locking: &[], ..**query })));
        }
        Statement::Update(update) => (update.with, update.tables, update.filter, update.order_by, update.limit),
        Statement::Delete(delete) => (delete.with, delete.from, delete.filter, delete.order_by, delete.limit),
        _ => return None,
    };
    let select = Select {
        distinct: false,
        straight_join: false,
        calc_found_rows: false,
        items: arena.slice(&[SelectItem::All]),
        from,
        filter,
        group_by: &[],
        with_rollup: false,
        having: None,
        windows: &[],
    };
    let body = QueryBody::Select(arena.node(select));
    Some(Statement::Query(arena.node(Query { with, body, order_by, limit, locking: &[], into: None })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_statement_reads_is_a_query() {
        let read = |text: &str| {
            let arena = Arena::new();
            let parsed = crate::parse(&arena, text.as_bytes(), &types::SqlMode::DEFAULT).unwrap();
            reading_part(&arena, &parsed.statement).map(|statement| statement.to_string())
        };
        let same = |text: &str, query: &str| assert_eq!(read(text), read(query), "{text}");
        same("UPDATE t SET a = 1 WHERE b = 2 ORDER BY c LIMIT 3", "SELECT * FROM t WHERE b = 2 ORDER BY c LIMIT 3");
        same("DELETE FROM t WHERE b = 2", "SELECT * FROM t WHERE b = 2");
        same("UPDATE t JOIN u USING (id) SET t.a = u.a", "SELECT * FROM t JOIN u USING (id)");
        same("SELECT a FROM t WHERE b = 1 FOR UPDATE", "SELECT a FROM t WHERE b = 1");
        assert_eq!(read("SELECT a INTO @a FROM t"), None);
        assert_eq!(read("INSERT INTO t VALUES (1)"), None);
    }
}
