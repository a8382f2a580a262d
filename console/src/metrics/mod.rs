//! `/metrics`: what Prometheus and its kin read.
//!
//! Names are mysqld_exporter's, so that boards made for it work, and `heddle_*` for what only this server has.
//!
//! Who may read what:
//! - nobody logged in, on an address of this machine alone: counters, without names of accounts, tables or statements;
//! - an account with PROCESS (`Authorization: Basic`, which Prometheus sends if told to, or the cookie of the page): these, and
//!   sessions, tables, statements and waits by name, as far as the account may see them;
//! - everybody else: nothing.

mod named;
mod protobuf;
mod text;

use crate::Figures;
use crate::problem::{logged_out, refused_login};
use crate::process;
use crate::request::{Request, Response};
use crate::state::State;
use text::{Exposition, Family, Kind, Style};

/// Where the buckets of the histogram end, in seconds.
const BOUNDS: &[f64] = &[
    2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0,
    50.0,
];

/// Answers a scrape.
pub async fn answer(state: &State, request: &Request) -> Response {
    let mut made = Exposition::default();
    let named = if let Some((user, password)) = request.basic() {
        match state.logins.connect(&user, &password, request.peer).await {
            Ok(mut client) => Some(named::of_client(&mut client).await),
            Err(refusal) => return challenge(refused_login(&refusal)),
        }
    } else if let Some(login) = state.logins.of(request) {
        match login.check().await {
            Ok(()) => Some(named::of_login(&login).await),
            Err(_) => return challenge(logged_out()),
        }
    } else if state.is_local {
        None
    } else {
        return challenge(logged_out());
    };
    counters(state, &state.sampler.fresh().await, &mut made);
    made.families.extend(named.into_iter().flatten());
    let (content_type, body) = match format_of(&request.headers.accept) {
        Format::Text(style) => (style.content_type(), made.write(style).into_bytes()),
        Format::Protobuf => (protobuf::CONTENT_TYPE, protobuf::write(&made.families)),
    };
    Response::new(200, content_type, body).with("vary", "accept, authorization, cookie")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text(Style),
    Protobuf,
}

/// The format that the reader prefers. Prometheus asks for protocol buffers first when it takes native histograms, and for OpenMetrics first
/// when it does not.
fn format_of(accept: &str) -> Format {
    let weight = |wanted: &str| {
        let range = accept.split(',').find(|range| range.trim_start().starts_with(wanted))?;
        let weight = range.split(';').find_map(|part| part.trim().strip_prefix("q="));
        Some(weight.and_then(|weight| weight.parse::<f64>().ok()).unwrap_or(1.0))
    };
    let text = weight("application/openmetrics-text").map(|weight| (weight, Format::Text(Style::OpenMetrics)));
    let protobuf = weight("application/vnd.google.protobuf").filter(|_| accept.contains("encoding=delimited"));
    let protobuf = protobuf.map(|weight| (weight, Format::Protobuf));
    match (text, protobuf) {
        (Some(text), Some(protobuf)) => {
            if protobuf.0 > text.0 {
                protobuf.1
            } else {
                text.1
            }
        }
        (Some((_, only)), None) | (None, Some((_, only))) => only,
        (None, None) => Format::Text(Style::Prometheus),
    }
}

/// Says that a name and a password are wanted.
pub fn challenge(response: Response) -> Response {
    response.with("www-authenticate", "Basic realm=\"heddle\", charset=\"UTF-8\"")
}

/// Everything that has no names in it.
fn counters(state: &State, figures: &Figures, made: &mut Exposition) {
    made.single("mysql_up", Kind::Gauge, "Whether the server is up.", 1.0);
    status(figures, made);
    variables(state, made);
    let version = [("version", state.config.version), ("version_comment", "Heddle"), ("innodb_version", state.config.version)];
    made.labelled("mysql_version_info", Kind::Gauge, "The version of the server.", &version, 1.0);
    latencies_of(figures, made);
    for (kind, wait) in &figures.waits {
        let labels = [("kind", *kind)];
        made.labelled(
            "heddle_waits_total",
            Kind::Counter,
            "Waits of sessions by what they waited for.",
            &labels,
            wait.count as f64,
        );
        made.labelled("heddle_wait_seconds_total", Kind::Counter, "Seconds that sessions waited.", &labels, wait.seconds);
    }
    own_process(state, made);
}

fn status(figures: &Figures, made: &mut Exposition) {
    // Families must stay together; the map is in the order of names, and so are these groups.
    for (name, value) in &figures.status {
        let (name, value) = (name.to_lowercase(), *value as f64);
        let group = GROUPS.iter().find_map(|(prefix, family, label, help)| {
            name.strip_prefix(prefix).map(|rest| (*family, *label, *help, rest.to_owned()))
        });
        match (group, name.strip_prefix("innodb_buffer_pool_pages_")) {
            (_, Some(state @ ("data" | "free" | "misc" | "old"))) => {
                let help = "Pages of the buffer pool by their state.";
                made.labelled("mysql_global_status_buffer_pool_pages", Kind::Gauge, help, &[("state", state)], value);
            }
            (_, Some("dirty")) => {
                made.single(
                    "mysql_global_status_buffer_pool_dirty_pages",
                    Kind::Gauge,
                    "Changed pages of the buffer pool.",
                    value,
                );
            }
            (_, Some("total")) => {}
            (_, Some(operation)) => {
                let help = "Changes of pages of the buffer pool.";
                let labels = [("operation", operation)];
                made.labelled("mysql_global_status_buffer_pool_page_changes_total", Kind::Counter, help, &labels, value);
            }
            (Some((family, label, help, rest)), None) => made.labelled(family, Kind::Counter, help, &[(label, &rest)], value),
            (None, None) => {
                let help = format!("{} of SHOW GLOBAL STATUS.", capital(&name));
                made.single(&format!("mysql_global_status_{name}"), Kind::Untyped, &help, value);
            }
        }
    }
}

/// Variables of SHOW STATUS that are one family with a label: prefix, family, label, help.
const GROUPS: &[(&str, &str, &str, &str)] = &[
    ("com_", "mysql_global_status_commands_total", "command", "Statements and commands by kind."),
    ("handler_", "mysql_global_status_handlers_total", "handler", "Calls of the storage engine by kind."),
    ("connection_errors_", "mysql_global_status_connection_errors_total", "error", "Refused connections by reason."),
    ("innodb_rows_", "mysql_global_status_innodb_row_ops_total", "operation", "Rows read, inserted, updated, deleted."),
    (
        "performance_schema_",
        "mysql_global_status_performance_schema_lost_total",
        "instrumentation",
        "Instruments that there was no room for.",
    ),
];

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn variables(state: &State, made: &mut Exposition) {
    for variable in state.server.variables() {
        let Some(value) = number(&variable.value) else { continue };
        let name = format!("mysql_global_variables_{}", variable.name);
        let help = format!("{} of SHOW GLOBAL VARIABLES.", capital(variable.name));
        made.single(&name, Kind::Untyped, &help, value);
    }
}

/// As mysqld_exporter reads values.
fn number(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "yes" | "enabled" => Some(1.0),
        "off" | "no" | "disabled" => Some(0.0),
        "" => None,
        text if text.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte)) => text.parse().ok(),
        _ => None,
    }
}

fn latencies_of(figures: &Figures, made: &mut Exposition) {
    let mut family = Family::new("heddle_statement_duration_seconds", Kind::Histogram, "How long statements took.");
    let sum: u64 = figures.latencies.iter().map(|(_, count)| count).sum();
    for bound in BOUNDS {
        // The server's buckets are an eighth of a power of two wide: one that reaches over the bound counts above it.
        let below = figures.latencies.iter().take_while(|(end, _)| end <= bound).map(|(_, count)| count).sum::<u64>();
        family.add("_bucket", &[("le", &text::value(*bound))], below as f64);
    }
    family.add("_bucket", &[("le", "+Inf")], sum as f64);
    family.add("_sum", &[], figures.latency_sum);
    family.add("_count", &[], sum as f64);
    family.counts.clone_from(&figures.latencies);
    made.families.push(family);
}

fn own_process(state: &State, made: &mut Exposition) {
    if let Some(seconds) = process::cpu_seconds() {
        made.single("process_cpu_seconds_total", Kind::Counter, "CPU time of the process.", seconds);
    }
    if let Some(bytes) = process::memory_bytes() {
        made.single("process_resident_memory_bytes", Kind::Gauge, "Memory of the process.", bytes as f64);
    }
    if let Some(bytes) = process::free_bytes(&state.config.data_dir) {
        made.single("heddle_data_disk_free_bytes", Kind::Gauge, "Space that is free for the data directory.", bytes as f64);
    }
    let mut threads = process::threads();
    threads.sort_by(|a, b| a.name.cmp(&b.name));
    let mut family = Family::new("heddle_thread_cpu_seconds_total", Kind::Counter, "CPU time of threads by name.");
    for same in threads.chunk_by(|a, b| a.name == b.name) {
        let seconds = same.iter().map(|thread| thread.cpu_seconds).sum();
        family.add("", &[("thread", &same[0].name)], seconds);
    }
    made.families.push(family);
    let help = "Accounts that are logged in to the console.";
    made.single("heddle_console_logins", Kind::Gauge, help, state.logins.count() as f64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_the_one_with_the_highest_weight() {
        let openmetrics = Format::Text(Style::OpenMetrics);
        let protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
        let accepts = [
            ("", Format::Text(Style::Prometheus)),
            ("text/plain;version=0.0.4;q=1,*/*;q=0.1", Format::Text(Style::Prometheus)),
            ("application/openmetrics-text;version=1.0.0,*/*;q=0.1", openmetrics),
            (&format!("{protobuf},application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.2"), Format::Protobuf),
            (&format!("application/openmetrics-text;version=1.0.0;q=0.5,{protobuf};q=0.4"), openmetrics),
            ("application/vnd.google.protobuf", Format::Text(Style::Prometheus)),
        ];
        for (accept, format) in accepts {
            assert_eq!(format_of(accept), format, "{accept}");
        }
    }

    #[test]
    fn a_histogram_counts_what_is_below_each_bound() {
        let latencies = vec![(1.9e-6, 3), (2.1e-6, 2), (0.9, 1), (400.0, 1)];
        let mut made = Exposition::default();
        latencies_of(&Figures { latencies, latency_sum: 1.5, ..Figures::default() }, &mut made);
        let text = made.write(Style::Prometheus);
        for line in ["{le=\"2e-6\"} 3", "{le=\"5e-6\"} 5", "{le=\"0.5\"} 5", "{le=\"1\"} 6", "{le=\"50\"} 6", "{le=\"+Inf\"} 7"] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(text.contains("_sum 1.5\n") && text.contains("_count 7\n"));
    }

    #[test]
    fn values_are_read_as_the_exporter_does() {
        assert_eq!(["ON", "off", "12", "1.5", "-1"].map(number), [Some(1.0), Some(0.0), Some(12.0), Some(1.5), Some(-1.0)]);
        assert_eq!(["", "utf8mb4", "1e3", "127.0.0.1"].map(number), [None; 4]);
    }
}
