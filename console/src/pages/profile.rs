//! A profile of the workers, as stacks of functions with their samples.

use super::Made;
use crate::logins::Login;
use crate::problem::Problem;
use crate::request::Request;
use serde_json::json;

/// Seconds of a profile, which must fit into the patience of a statement.
const SECONDS_MAX: u64 = 10;
/// No divisor of the times at which other things happen.
const HERTZ: u64 = 97;

pub async fn take(login: &Login, request: &Request) -> Made {
    let seconds = request.parameters.number("seconds", 5, SECONDS_MAX).filter(|seconds| *seconds > 0);
    let seconds = seconds.ok_or_else(|| Problem::Wrong(format!("'seconds' is not a number from 1 to {SECONDS_MAX}")))?;
    let lines = login.query(&format!("SHOW SERVER PROFILE FOR {seconds} SECONDS AT {HERTZ} HERTZ")).await?;
    Ok(json!({ "seconds": seconds, "hertz": HERTZ, "lines": lines.objects() }))
}
