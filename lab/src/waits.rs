//! What the sessions of a server wait for, from its own tables, before and after a run.
//!
//! | server | source |
//! |---|---|
//! | Heddle | events_waits_summary_global_by_event_name and heddle_waits_by_object of performance_schema: exact, by its executor; heddle_phases_by_digest |
//! | MySQL, MariaDB | the same summary, as far as its instruments are on, and the time of row locks of SHOW GLOBAL STATUS |
//! | PostgreSQL | nothing: it samples, and keeps no sums |
//!
//! A wait that has begun and not ended is in no sum: at the end of a run the current waits are added, each no longer than the run. Waits of
//! an idle session, and those that are not waits but work (`wait/io/table/`), are left out.

use crate::client::Client;
use crate::report::Wait;
use std::collections::BTreeMap;

/// Picoseconds of performance_schema's timers.
const PER_SECOND: f64 = 1e12;

const SUMS: &str = "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name \
     WHERE COUNT_STAR > 0 AND EVENT_NAME <> 'idle' AND EVENT_NAME NOT LIKE 'wait/io/table/%'";
const OBJECTS: &str =
    "SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, EVENT_NAME, SUM_TIMER_WAIT FROM performance_schema.heddle_waits_by_object";
const CURRENT: &str = "SELECT EVENT_NAME, TIMER_WAIT, OBJECT_SCHEMA, OBJECT_NAME FROM performance_schema.events_waits_current \
     WHERE END_EVENT_ID IS NULL AND EVENT_NAME <> 'idle' AND EVENT_NAME NOT LIKE 'wait/io/table/%'";
const PHASES: &str = "SELECT SUM(SUM_DECODE_TIME), SUM(SUM_PARSE_TIME), SUM(SUM_PLAN_TIME), SUM(SUM_EXECUTE_TIME), SUM(SUM_ENCODE_TIME), \
     SUM(SUM_COMMIT_TIME) FROM performance_schema.heddle_phases_by_digest";
const PHASE_NAMES: [&str; 6] = ["decode", "parse", "plan", "execute", "encode", "commit"];
/// MySQL's own sum of row locks, which has no instrument.
const ROW_LOCKS: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_row_lock_time', 'Innodb_row_lock_waits')";
/// Named as Heddle names it.
pub const ROW_LOCK: &str = "wait/lock/heddle/row";
pub const METADATA_LOCK: &str = "wait/lock/metadata/sql/mdl";
pub const CLIENT: &str = "wait/io/socket/sql/client_connection";
pub const READY: &str = "wait/synch/cond/heddle/ready";

/// Sums so far.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Count and seconds by name
    sums: BTreeMap<String, (f64, f64)>,
    /// Seconds by name and object
    objects: BTreeMap<(String, String), f64>,
    current: Vec<(String, f64, Option<String>)>,
    phases: Vec<f64>,
}

fn number(value: Option<&Option<String>>) -> f64 {
    value.and_then(Option::as_deref).and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

fn word(value: Option<&Option<String>>) -> String {
    value.cloned().flatten().unwrap_or_default()
}

fn object(schema: String, name: String, index: String) -> Option<String> {
    let table = if schema.is_empty() { name } else { format!("{schema}.{name}") };
    match (table.is_empty(), index.is_empty()) {
        (true, _) => None,
        (false, true) => Some(table),
        (false, false) => Some(format!("{table}, index {index}")),
    }
}

impl Snapshot {
    /// Reads them. What the server does not have, or the account may not see, is missing.
    pub fn take(client: &mut Client, is_heddle: bool) -> Self {
        let mut taken = Self::default();
        for row in client.query(SUMS).unwrap_or_default() {
            taken.sums.insert(word(row.first()), (number(row.get(1)), number(row.get(2)) / PER_SECOND));
        }
        for row in client.query(CURRENT).unwrap_or_default() {
            taken.current.push((
                word(row.first()),
                number(row.get(1)) / PER_SECOND,
                object(word(row.get(2)), word(row.get(3)), String::new()),
            ));
        }
        if is_heddle {
            for row in client.query(OBJECTS).unwrap_or_default() {
                if let Some(object) = object(word(row.first()), word(row.get(1)), word(row.get(2))) {
                    *taken.objects.entry((word(row.get(3)), object)).or_default() += number(row.get(4)) / PER_SECOND;
                }
            }
            if let Some(row) = client.query(PHASES).unwrap_or_default().first() {
                taken.phases = row.iter().map(|value| number(Some(value)) / PER_SECOND).collect();
            }
        } else {
            let rows = client.query(ROW_LOCKS).unwrap_or_default();
            let of = |name: &str| {
                rows.iter().find(|row| word(row.first()).eq_ignore_ascii_case(name)).map_or(0.0, |row| number(row.get(1)))
            };
            if !rows.is_empty() {
                taken.sums.insert(ROW_LOCK.into(), (of("Innodb_row_lock_waits"), of("Innodb_row_lock_time") / 1000.0));
            }
        }
        taken
    }

    /// What was waited for since another snapshot, the longest first; and the processor time by phase.
    pub fn since(&self, before: &Self, seconds: f64) -> (Vec<Wait>, BTreeMap<String, f64>) {
        let mut waits: BTreeMap<&str, Wait> = BTreeMap::new();
        let of = |name: &str| Wait { name: name.to_owned(), ..Wait::default() };
        for (name, (count, sum)) in &self.sums {
            let (count_before, sum_before) = before.sums.get(name).copied().unwrap_or_default();
            let wait = waits.entry(name).or_insert_with(|| of(name));
            wait.count += (count - count_before).max(0.0) as u64;
            wait.seconds += (sum - sum_before).max(0.0);
        }
        let mut largest: BTreeMap<&str, (f64, &str)> = BTreeMap::new();
        for ((name, object), sum) in &self.objects {
            let more = sum - before.objects.get(&(name.clone(), object.clone())).copied().unwrap_or(0.0);
            let most = largest.entry(name).or_insert((0.0, object));
            if more > most.0 {
                *most = (more, object);
            }
        }
        for (name, elapsed, object) in &self.current {
            let wait = waits.entry(name).or_insert_with(|| of(name));
            wait.count += 1;
            wait.seconds += elapsed.min(seconds);
            wait.object = wait.object.take().or_else(|| object.clone());
        }
        for (name, (more, object)) in largest {
            if let Some(wait) = waits.get_mut(name).filter(|_| more > 0.0) {
                wait.object = Some(object.to_owned());
            }
        }
        let mut all: Vec<Wait> = waits.into_values().filter(|wait| wait.seconds > 0.0005).collect();
        all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let phases = PHASE_NAMES.iter().enumerate().filter_map(|(at, name)| {
            let more = self.phases.get(at)? - before.phases.get(at).copied().unwrap_or(0.0);
            (more > 0.0).then(|| ((*name).to_owned(), more))
        });
        (all, phases.collect())
    }
}

/// What sessions do at this moment, in words: for a run that does not go on.
pub fn now(client: &mut Client) -> String {
    let current = client.query(CURRENT).unwrap_or_default();
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for row in current {
        let at = object(word(row.get(2)), word(row.get(3)), String::new()).map(|at| format!(" of {at}")).unwrap_or_default();
        *told.entry(format!("{}{at}", in_words(&word(row.first())))).or_default() += 1;
    }
    if told.is_empty() {
        let states =
            "SELECT STATE FROM information_schema.PROCESSLIST WHERE COMMAND NOT IN ('Sleep', 'Daemon') AND STATE LIKE 'Waiting%'";
        for row in client.query(states).unwrap_or_default() {
            *told.entry(format!("\"{}\"", word(row.first()))).or_default() += 1;
        }
    }
    told.into_iter()
        .map(|(what, count)| format!("{count} {} for {what}", if count == 1 { "session waits" } else { "sessions wait" }))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A wait's name, for a sentence: "sessions wait for ...".
pub fn in_words(name: &str) -> String {
    let words = match name {
        ROW_LOCK => "row locks of other transactions",
        "wait/lock/heddle/gap" => "gap locks of other transactions",
        METADATA_LOCK => "metadata locks (a definition, or LOCK TABLES)",
        "wait/lock/heddle/user_lock" => "GET_LOCK",
        "wait/io/file/innodb/innodb_log_file" => "the log's flush to disk (commits)",
        "wait/io/file/innodb/innodb_data_file" => "pages from the data file",
        "wait/io/file/innodb/innodb_temp_file" => "temporary files",
        "wait/io/file/innodb/innodb_dblwr_file" => "the doublewrite file",
        "wait/io/file/sql/binlog" => "the binary log's file",
        CLIENT => "clients that do not read their answers",
        READY => "a worker, which runs other sessions (processor)",
        "wait/synch/cond/heddle/free_frame" => "free frames of the buffer pool",
        "wait/synch/sxlock/heddle/page_latch" => "latches of pages",
        "wait/synch/cond/heddle/checkpoint" => "a checkpoint",
        "wait/synch/cond/heddle/definition" => "definitions of tables",
        "wait/synch/cond/heddle/workers" => "other workers' answers",
        other => return other.to_owned(),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_since_is_told() {
        let mut before = Snapshot::default();
        before.sums.insert("a".into(), (10.0, 5.0));
        before.objects.insert(("a".into(), "t".into()), 4.0);
        before.phases = vec![1.0, 0.0, 0.0, 2.0, 0.0, 0.0];
        let mut after = before.clone();
        after.sums.insert("a".into(), (12.0, 6.5));
        after.sums.insert("b".into(), (1.0, 0.0001));
        after.objects.insert(("a".into(), "t".into()), 4.2);
        after.objects.insert(("a".into(), "u".into()), 0.9);
        after.current.push((METADATA_LOCK.into(), 100.0, Some("d.t".into())));
        after.phases[3] = 2.5;
        let (waits, phases) = after.since(&before, 3.0);
        let told: Vec<_> =
            waits.iter().map(|wait| (wait.name.as_str(), wait.count, wait.seconds, wait.object.as_deref())).collect();
        // A wait that goes on is no longer than the run; one below half a millisecond is not told.
        assert_eq!(told, [(METADATA_LOCK, 1, 3.0, Some("d.t")), ("a", 2, 1.5, Some("u"))]);
        assert_eq!(phases.into_iter().collect::<Vec<_>>(), [("execute".to_owned(), 0.5)]);
    }
}
