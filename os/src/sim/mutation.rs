//! Mistakes put into the engine on purpose, one at a time, to see that the simulator finds them. They exist in simulated builds only.

use std::sync::OnceLock;

/// Name, and what is done wrong.
pub const MUTATIONS: &[(&str, &str)] = &[
    ("skip-log", "one change of a row in sixteen is not logged"),
    ("drop-validation", "optimistic readers believe what they have read without looking at the version again"),
    ("page-before-log", "changed pages are written without waiting for the log"),
    ("forget-lock", "a locking read does not note its lock"),
    ("early-purge", "tombstones are removed at once, whatever snapshots there are"),
    ("early-acknowledgement", "a commit is acknowledged before its log is durable"),
    ("skip-log-sync", "the log is written and not synced"),
    ("skip-doublewrite", "pages are written home without a copy in the doublewrite area"),
    ("early-reuse", "undo memory is used again while snapshots need it"),
    ("forget-range", "a locking scan does not lock the gaps that it has passed"),
    ("forget-checkpoint-pin", "the checkpoint passes the log of open transactions"),
    ("early-timestamp", "a commit takes its timestamp before its status says that it is about to"),
    ("lost-wakeup", "who waits for the log does not look again before it sleeps"),
    ("clean-move", "a changed page that moves to another frame of the pool counts as written"),
    ("skip-compensation", "what a rollback does is not logged"),
];

/// Mistakes that show only when two threads meet within a few instructions: a minute of seeds may be too few.
pub const RARE_MUTATIONS: &[(&str, &str)] =
    &[("careless-horizon", "the bounds of snapshots are not looked at again after a horizon was announced")];

/// Mistakes above `table`: runs of the whole server find them.
pub const SESSION_MUTATIONS: &[(&str, &str)] = &[
    ("stale-plan", "a plan is used although the schema has changed since it was made"),
    ("early-metadata-release", "a transaction gives its metadata locks back after each statement"),
    ("lost-savepoint", "ROLLBACK TO leaves the changes that came last before it"),
    ("late-cursor", "a cursor reads by a snapshot that is taken when rows are fetched"),
    ("lost-task-wakeup", "a worker does not look at its queues again before it sleeps"),
    ("lost-room", "an answer that did not fit is not sent on when there is room"),
    ("forgotten-kill", "KILL QUERY stays for the next statement"),
    ("kept-parameters", "a prepared statement is executed with the types of its last execution"),
    ("short-count", "an update by range counts one row less where there are several"),
    ("open-after-kill", "the transaction of a killed connection is committed"),
    ("half-statement", "a statement that fails keeps the rows that it has changed"),
    ("early-answer", "an OK is sent before its commit is durable"),
];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    MUTATIONS.iter().chain(RARE_MUTATIONS).chain(SESSION_MUTATIONS)
}

static CHOSEN: OnceLock<String> = OnceLock::new();

/// Chooses the mistake for the whole run. `false`: there is none of that name.
pub fn choose(name: &str) -> bool {
    all().any(|(known, _)| *known == name) && CHOSEN.set(name.into()).is_ok()
}

/// Is this the mistake to be made? Asked at the place where it would be.
pub fn mutated(name: &str) -> bool {
    debug_assert!(all().any(|(known, _)| *known == name), "every mutation is listed");
    CHOSEN.get().is_some_and(|chosen| chosen == name)
}
