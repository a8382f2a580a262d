//! Why a page has no rows, or a login no session, and the answers that say so.

use crate::logins::Refusal;
use crate::request::Response;
use serde_json::json;

/// Why there are no rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is no such page.
    Unknown,
    /// A parameter is wrong: a sentence that names it.
    Wrong(String),
    Refused(Refusal),
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Problem::Refused(refusal)
    }
}

pub fn logged_out() -> Response {
    Response::error(401, "log in first")
}

/// The answer to a login that failed. The server's message tells no more than it tells any client.
pub fn refused_login(refusal: &Refusal) -> Response {
    match refusal {
        Refusal::NoProcess => Response::error(403, "the account has no privilege PROCESS"),
        Refusal::Sql { message, number } => {
            Response { status: 401, ..Response::json(&json!({ "error": message, "number": number })) }
        }
        Refusal::Busy => Response::error(503, "too many logins at once; try again"),
        Refusal::LoggedOut => Response::error(503, "the server closed the connection"),
    }
}
