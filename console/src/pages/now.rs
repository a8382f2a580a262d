//! The curves: the last minutes as they come, the last hour, the last week. No statement runs for them.

use super::Made;
use crate::history::Span;
use crate::problem::Problem;
use crate::request::Request;
use crate::sampler::now_seconds;
use crate::series::{Point, names};
use crate::state::State;
use serde_json::{Value, json};

/// The points after `after`, in seconds of the epoch, and what the head of the page tells.
pub fn now(state: &State, request: &Request) -> Made {
    let after = request.parameters.number("after", 0, u64::MAX).ok_or_else(|| Problem::Wrong("'after' is no time".to_owned()))?;
    state.sampler.look();
    let last = state.sampler.last();
    let status = |name: &str| last.as_ref().and_then(|reading| reading.figures.status.get(name).copied()).unwrap_or(0);
    Ok(json!({
        "time": now_seconds(),
        "uptime": status("Uptime"),
        "connections": status("Threads_connected"),
        "running": status("Threads_running"),
        "pool": status("Innodb_buffer_pool_pages_total") * status("Innodb_page_size"),
        "redo_max": status("Heddle_redo_bytes_max"),
        "names": names().collect::<Vec<_>>(),
        "points": points(&state.sampler.recent(after)),
    }))
}

/// The points of an hour or of a week.
pub fn history(state: &State, request: &Request) -> Made {
    let span = match request.parameters.get("span") {
        "" | "hour" => Span::Hour,
        "week" => Span::Week,
        _ => return Err(Problem::Wrong("'span' is neither 'hour' nor 'week'".to_owned())),
    };
    state.sampler.look();
    Ok(json!({
        "time": now_seconds(),
        "step": span.step(),
        "names": names().collect::<Vec<_>>(),
        "points": points(&state.sampler.points(span)),
    }))
}

/// Each point as a list: its time, then the values, with as many digits as a chart can show.
fn points(points: &[(u64, Point)]) -> Vec<Value> {
    let short = |value: f32| match value {
        value if !value.is_finite() => Value::Null,
        value if value.abs() >= 1000.0 => (value.round() as i64).into(),
        value => ((f64::from(value) * 1e4).round() / 1e4).into(),
    };
    let list =
        |(time, point): &(u64, Point)| std::iter::once((*time).into()).chain(point.iter().map(|value| short(*value))).collect();
    points.iter().map(list).collect()
}
