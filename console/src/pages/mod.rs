//! The rows of each page, made with statements of the logged-in account.
//!
//! Lists are cut by the server: `limit` and `offset`, with the number of all rows in each answer. The name of an order is looked up in a
//! list of expressions; no text of a request becomes part of a statement but as a literal (`wire::quoted`).

pub mod advice;
mod engine;
mod now;
mod profile;
mod sessions;
mod settings;
mod statements;
mod tables;

use crate::logins::Login;
use crate::problem::Problem;
use crate::request::Request;
use crate::state::State;
use crate::wire::{Rows, quoted};
use serde_json::{Value, json};
use std::rc::Rc;

const LIMIT_MAX: u64 = 200;
const OFFSET_MAX: u64 = 1_000_000;
/// Characters of a search.
const FIND_MAX: usize = 200;

type Made = Result<Value, Problem>;

/// The answer to a GET below `/api/`.
pub async fn rows(state: &State, login: &Rc<Login>, page: &str, request: &Request) -> Made {
    match page {
        "session" => Ok(state.about(login)),
        "now" => now::now(state, request),
        "history" => now::history(state, request),
        "statements" => statements::list(login, request).await,
        "statement" => statements::one(login, request).await,
        "sessions" => sessions::list(login, request).await,
        "locks" => sessions::locks(login).await,
        "tables" => tables::list(login, request).await,
        "table" => tables::one(login, request).await,
        "engine" => engine::engine(state, login).await,
        "advice" => advice::list(login).await,
        "profile" => profile::take(login, request).await,
        "settings" => settings::list(state, request),
        _ => Err(Problem::Unknown),
    }
}

/// The answer to a POST below `/api/`.
pub async fn change(login: &Rc<Login>, page: &str, body: &Value) -> Made {
    match page {
        "dismiss" => advice::dismiss(login, body).await,
        "kill" => sessions::kill(login, body).await,
        "analyze" => statements::analyze(login, body).await,
        _ => Err(Problem::Unknown),
    }
}

/// The part of a list that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    limit: u64,
    offset: u64,
}

impl Part {
    fn of(request: &Request) -> Result<Self, Problem> {
        let number = |name: &str, default, max| {
            let found = request.parameters.number(name, default, max);
            found.ok_or_else(|| Problem::Wrong(format!("'{name}' is not a number from 0 to {max}")))
        };
        Ok(Self { limit: number("limit", 50, LIMIT_MAX)?, offset: number("offset", 0, OFFSET_MAX)? })
    }

    /// LIMIT and OFFSET
    fn clause(self) -> String {
        format!("LIMIT {} OFFSET {}", self.limit, self.offset)
    }
}

/// The expression of the order that a request names; the first of the list if it names none.
fn order<'a>(request: &Request, known: &[(&str, &'a str)]) -> Result<&'a str, Problem> {
    let wanted = request.parameters.get("order");
    if wanted.is_empty() {
        return Ok(known[0].1);
    }
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = known.iter().find(|(name, _)| *name == wanted);
    found.map(|(_, expression)| *expression).ok_or_else(|| Problem::Wrong(format!("'order' is none of {}", names())))
}

/// A condition that one of the columns contains the text that is searched for; `TRUE` without one.
fn find(request: &Request, columns: &[&str]) -> Result<String, Problem> {
    let text = request.parameters.get("find");
    if text.is_empty() {
        return Ok("TRUE".to_owned());
    }
    if text.chars().count() > FIND_MAX {
        return Err(Problem::Wrong(format!("'find' is longer than {FIND_MAX} characters")));
    }
    let wanted = quoted(text);
    let each: Vec<String> = columns.iter().map(|column| format!("LOCATE({wanted}, {column}) > 0")).collect();
    Ok(format!("({})", each.join(" OR ")))
}

/// Rows as a list: their column `all_rows` is the number of all, which the window function of a statement counted.
fn listed(mut rows: Rows) -> Value {
    let place = rows.columns.iter().position(|name| name == "all_rows");
    let all = place.and_then(|place| rows.rows.first()?.get(place)?.as_u64()).unwrap_or(0);
    if let Some(place) = place {
        rows.columns.remove(place);
        rows.rows.iter_mut().for_each(|row| drop(row.remove(place)));
    }
    json!({ "total": all, "rows": rows.objects() })
}

/// A parameter that must be there.
fn needed<'a>(request: &'a Request, name: &str) -> Result<&'a str, Problem> {
    match request.parameters.get(name) {
        "" => Err(Problem::Wrong(format!("'{name}' is missing"))),
        text => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tests::get;

    #[test]
    fn parts_orders_and_searches() {
        assert_eq!(Part::of(&get("/?limit=7&offset=9")).map(Part::clause), Ok("LIMIT 7 OFFSET 9".to_owned()));
        for wrong in ["/?limit=201", "/?limit=-1", "/?offset=x", "/?limit=1%3B"] {
            assert!(matches!(Part::of(&get(wrong)), Err(Problem::Wrong(_))), "{wrong}");
        }
        let known = [("time", "SUM_TIMER_WAIT"), ("count", "COUNT_STAR")];
        assert_eq!(order(&get("/"), &known), Ok("SUM_TIMER_WAIT"));
        assert_eq!(order(&get("/?order=count"), &known), Ok("COUNT_STAR"));
        assert!(order(&get("/?order=COUNT_STAR"), &known).is_err());
        let found = find(&get("/?find=a'b"), &["x", "y"]).unwrap();
        assert_eq!(found, "(LOCATE(_utf8mb4 0x612762, x) > 0 OR LOCATE(_utf8mb4 0x612762, y) > 0)");
        assert!(find(&get(&format!("/?find={}", "x".repeat(FIND_MAX + 1))), &["x"]).is_err());
    }

    #[test]
    fn a_list_says_how_many_there_are() {
        let rows = Rows { columns: vec!["a".into(), "all_rows".into()], rows: vec![vec![1.into(), 70.into()]] };
        assert_eq!(listed(rows), json!({ "total": 70, "rows": [{ "a": 1 }] }));
        assert_eq!(listed(Rows::default()), json!({ "total": 0, "rows": [] }));
    }
}
