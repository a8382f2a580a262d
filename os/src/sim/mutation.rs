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

/// Mistakes that show only when two threads meet within a few instructions, or after a rare chain of events: a minute of seeds may be too few.
pub const RARE_MUTATIONS: &[(&str, &str)] = &[
    ("careless-horizon", "the bounds of snapshots are not looked at again after a horizon was announced"),
    ("deaf-wait", "KILL does not end the wait for a metadata lock (sessions)"),
];

/// Mistakes above `table`: runs of the whole server find them.
pub const SESSION_MUTATIONS: &[(&str, &str)] = &[
    ("stale-plan", "a plan is used although its table has changed since it was made"),
    ("unchecked-plan", "a plan is not looked at again once its metadata locks are held"),
    ("stale-schema", "a worker binds names by a schema that is out of date, half the time"),
    ("stale-privilege", "a session goes on with the privileges that it had when it logged in"),
    ("early-metadata-release", "a transaction gives its metadata locks back after each statement"),
    ("snapshot-per-statement", "REPEATABLE READ takes a new snapshot for each statement"),
    ("lost-savepoint", "ROLLBACK TO undoes nothing"),
    ("lost-outer-savepoints", "a trigger that ends takes the savepoints of the transaction along"),
    ("half-statement", "a statement that fails keeps the rows that it has changed"),
    ("early-answer", "a commit is answered before it is durable"),
    ("commit-at-end", "the transaction of a session that ends is committed"),
    ("lost-fetch", "a cursor loses the row after each batch"),
    ("forgotten-kill", "KILL QUERY of a session that waits for a command ends the next one"),
    ("lost-task-wakeup", "a worker does not look at its queues again before it sleeps"),
    ("lost-room", "an answer that does not fit is not sent on when there is room"),
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
