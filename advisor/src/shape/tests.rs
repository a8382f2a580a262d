//! Forms of statements, and statements that have none.

use super::*;
use crate::testing::schema;

fn with<T>(text: &str, see: impl FnOnce(Option<Shape<'_>>) -> T) -> T {
    let (schema, arena) = (schema(), sql::Arena::default());
    let parsed = sql::parse(&arena, text.as_bytes(), &types::SqlMode::DEFAULT).expect("a statement");
    see(Shape::of(&parsed.statement, Some("d"), &schema))
}

#[test]
fn forms_of_simple_statements() {
    with(
        "SELECT title FROM books b WHERE b.year = 5 AND ? < price AND isbn IN ('a', 'b') ORDER BY added DESC LIMIT 10, 5",
        |shape| {
            let shape = shape.expect("it has a form");
            assert_eq!((shape.equal_to_constants(0), shape.ranges(0)), (vec![2, 4], vec![7]));
            assert_eq!(shape.order, Some(vec![(Column { source: 0, column: 5 }, true)]));
            assert_eq!(shape.limit, Some((Some(5), Some(10))));
            assert_eq!(shape.read.iter().map(|column| column.column).collect::<Vec<_>>(), [2, 3, 4, 5, 7]);
        },
    );
    with("INSERT INTO books (id) VALUES (1), (2)", |shape| assert_eq!(shape.map(|shape| shape.verb), Some(Verb::Insert(2))));
    with("SELECT a.name FROM books b LEFT JOIN authors a ON a.id = b.author AND a.name > 'x'", |shape| {
        let shape = shape.expect("it has a form");
        assert_eq!(shape.test_of, [Some(1), Some(1)]);
        assert_eq!((shape.sources[0].optional, shape.sources[1].optional), (false, true));
        assert_eq!((shape.equal_to_columns(1), shape.equal_to_columns(0)), (vec![0], vec![1]));
    });
}

#[test]
fn other_statements_have_none() {
    for text in [
        "SELECT * FROM (SELECT 1) t",
        "SELECT * FROM books WHERE id IN (SELECT id FROM authors)",
        "SELECT * FROM books UNION SELECT * FROM books",
        "WITH t AS (SELECT 1) SELECT * FROM books",
        "SELECT * FROM nothing",
        "SELECT nothing FROM books",
        "SELECT id FROM books b JOIN authors a ON a.id = b.author",
        "SELECT ROW_NUMBER() OVER () FROM books",
        "SELECT 1",
        "SET @a = 1",
    ] {
        with(text, |shape| assert!(shape.is_none(), "{text}"));
    }
}
