//! Transactions that stay open while their client does nothing.

use crate::finding::{Finding, Kind};
use crate::workload::Workload;

/// Seconds without a command.
const IDLE_S_MIN: u64 = 10;

pub fn idle_transactions(workload: &Workload<'_>, findings: &mut Vec<Finding>) {
    for session in &workload.sessions {
        let Some(open) = session.transaction_s.filter(|_| session.is_idle && session.idle_s >= IDLE_S_MIN) else { continue };
        let program = session.program.as_deref().map_or(String::new(), |program| format!(" ({program})"));
        let evidence = format!(
            "Session {} of '{}'@'{}'{program} has a transaction that is open for {open} s, and sent nothing for {} s; it has changed {} \
             rows, whose locks it holds, and old versions of rows are kept for its snapshot",
            session.id, session.user, session.host, session.idle_s, session.changes
        );
        let finding = Finding::new(Kind::IdleTransaction, &[&session.user, &session.host]).because(evidence);
        let cure = format!(
            "Commit before the application waits for anything else (a user, another service); KILL {} ends this one",
            session.id
        );
        findings.push(finding.gains("no locks and no old versions while nothing happens").cured_by(cure));
    }
}
