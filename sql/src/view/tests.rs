//! Tests of view definitions: their printed text, that the text parses to itself, and how views are bound.

use super::*;
use crate::parser::parse;
use crate::plan::{Node, Plan};
use crate::testing::Fixture;

fn define(fixture: &Fixture, text: &str) -> Result<NewView> {
    let arena = Arena::new();
    let text = format!("CREATE VIEW v AS {text}");
    let parsed = parse(&arena, text.as_bytes(), &SqlMode::DEFAULT).expect("parses");
    let Statement::CreateView(create) = parsed.statement else { panic!("{text} is no view") };
    define_view(create, "test", fixture)
}

#[test]
fn texts_are_mysqls_and_read_as_themselves() {
    let fixture = Fixture::new();
    let cases = [
        ("SELECT * FROM p", "select `test`.`p`.`a` AS `a`,`test`.`p`.`b` AS `b`,`test`.`p`.`v` AS `v` from `test`.`p`"),
        ("SELECT x.v+1 FROM p x WHERE NOT x.a < 3", "select (`x`.`v` + 1) AS `x.v+1` from `test`.`p` `x` where (`x`.`a` >= 3)"),
        (
            "SELECT v, COUNT(*) n FROM p GROUP BY 1 HAVING n > 1 ORDER BY n DESC",
            "select `test`.`p`.`v` AS `v`,count(0) AS `n` from `test`.`p` group by `test`.`p`.`v` having (`n` > 1) order by `n` desc",
        ),
        (
            "SELECT v x FROM p ORDER BY x, 1",
            "select `test`.`p`.`v` AS `x` from `test`.`p` order by `test`.`p`.`v`,`test`.`p`.`v`",
        ),
        (
            "SELECT y.a FROM p y RIGHT JOIN t USING (a)",
            "select `y`.`a` AS `a` from (`test`.`t` left join `test`.`p` `y` on((`test`.`t`.`a` = `y`.`a`)))",
        ),
        (
            "SELECT k FROM t, (SELECT 1 o) d WHERE k IN (SELECT v FROM p WHERE p.a = t.id) AND NOT EXISTS (SELECT * FROM p)",
            "select `test`.`t`.`k` AS `k` from `test`.`t` join (select 1 AS `o`) `d` where (`test`.`t`.`k` in (select `test`.`p`.`v` from \
          `test`.`p` where (`test`.`p`.`a` = `test`.`t`.`id`)) and (not exists(select 1 from `test`.`p`)))",
        ),
        (
            "WITH c AS (SELECT v FROM p) SELECT * FROM c UNION ALL (SELECT k FROM t LIMIT 1) ORDER BY 1 LIMIT 2, 3",
            "with `c` as (select `test`.`p`.`v` AS `v` from `test`.`p`) select `c`.`v` AS `v` from `c` union all (select `test`.`t`.`k` AS `k` \
          from `test`.`t` limit 1) order by `v` limit 2,3",
        ),
        (
            "SELECT SUM(v) OVER (PARTITION BY a ORDER BY b ROWS 1 PRECEDING) FROM p",
            "select sum(`test`.`p`.`v`) OVER (PARTITION BY `test`.`p`.`a` ORDER BY `test`.`p`.`b` ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)  \
          AS `SUM(v) OVER (PARTITION BY a ORDER BY b ROWS 1 PRECEDING)` from `test`.`p`",
        ),
        ("TABLE p", "select `test`.`p`.`a` AS `a`,`test`.`p`.`b` AS `b`,`test`.`p`.`v` AS `v` from `test`.`p`"),
    ];
    for (written, expected) in cases {
        let new = define(&fixture, written).expect(written);
        assert_eq!(new.text, expected, "{written}");
        let again = define(&fixture, &new.text).expect(expected).text;
        // Commas are joins by then, in brackets.
        assert_eq!(again.replace(['(', ')'], ""), expected.replace(['(', ')'], ""), "{written}");
        assert_eq!(define(&fixture, &again).expect(expected).text, again, "{written}");
    }
}

#[test]
fn what_no_view_can_be_is_refused() {
    let fixture = Fixture::new();
    let why = |text: &str| match define(&fixture, text) {
        Err(Error::View { why, .. }) => Some(why),
        _ => None,
    };
    assert_eq!(why("SELECT @a"), Some(ViewProblem::Variable));
    assert_eq!(why("SELECT @@sql_mode"), Some(ViewProblem::Variable));
    assert_eq!(why("SELECT ?"), Some(ViewProblem::Variable));
    assert_eq!(why("SELECT 1 INTO @a"), Some(ViewProblem::Into));
    assert_eq!(why("SELECT DISTINCT v FROM p WITH CHECK OPTION"), Some(ViewProblem::CheckWithoutUpdates));
    assert!(matches!(define(&fixture, "SELECT nosuch FROM p"), Err(Error::UnknownColumn { .. })));
    assert!(matches!(define(&fixture, "SELECT a, a FROM p"), Err(Error::Definition(_))));
}

#[test]
fn what_can_be_changed_is_known() {
    let fixture = Fixture::new();
    let updatable = |text: &str| define(&fixture, text).expect(text).updatable;
    for text in
        ["SELECT a FROM p", "SELECT a FROM p ORDER BY v", "SELECT p.a FROM p, t", "SELECT a FROM p WHERE a IN (SELECT k FROM t)"]
    {
        assert!(updatable(text), "{text}");
    }
    for text in [
        "SELECT a + 1 FROM p",
        "SELECT DISTINCT a FROM p",
        "SELECT a FROM p LIMIT 1",
        "SELECT MAX(a) FROM p",
        "SELECT a FROM p UNION SELECT k FROM t",
        "SELECT p.a FROM p LEFT JOIN t ON t.id = p.a",
        "SELECT a FROM p WHERE a IN (SELECT a FROM p)",
        "SELECT 1",
    ] {
        assert!(!updatable(text), "{text}");
    }
}

/// The plan of a query over a view `v`.
fn over_view(view: &str, query: &str) -> Plan {
    let mut fixture = Fixture::new();
    let new = define(&fixture, view).expect(view);
    fixture.add_view("v", &new);
    fixture.plan(query).expect(query)
}

#[test]
fn views_are_merged_and_named() {
    let plan = over_view("SELECT a, v AS w FROM p WHERE b = 1", "SELECT w FROM v WHERE a = 5");
    let Plan::Query(query) = &plan else { panic!("no query") };
    let Node::Project { input, .. } = &query.root else { panic!("{:?}", query.root) };
    assert!(matches!(&**input, Node::Scan(scan) if scan.table.name == "p"), "{input:?}");
    let named: Vec<_> = plan.named().flatten().map(|named| (named.table.name.as_str(), named.through)).collect();
    assert_eq!(named, [("v", None), ("p", Some(0))]);
    let kept = over_view("SELECT a, COUNT(*) AS n FROM p GROUP BY a", "SELECT n FROM v");
    let mut derived = 0;
    kept.main()
        .expect("a query")
        .walk_scans(&mut |scan| derived += usize::from(matches!(scan.access, crate::plan::Access::Derived(_))));
    assert_eq!(derived, 1);
}

#[test]
fn changes_go_to_the_table_of_the_view() {
    let view = "SELECT v AS w, a, b FROM p WHERE v < 10 WITH CHECK OPTION";
    let Plan::Update(update) = over_view(view, "UPDATE v SET w = 3 WHERE a = 1 AND b = 2") else { panic!("no update") };
    assert_eq!((update.scan.table.name.as_str(), update.assignments[0].column), ("p", 2));
    assert!(update.view_check.is_some());
    let Plan::Insert(insert) = over_view(view, "INSERT INTO v (b, w, a) VALUES (1, 2, 3)") else { panic!("no insert") };
    assert_eq!((insert.table.name.as_str(), insert.columns.as_slice()), ("p", &[1, 2, 0][..]));
    assert!(insert.view_check.is_some());
}
