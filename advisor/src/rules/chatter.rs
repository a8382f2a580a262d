//! Statements of drivers that do nothing for the application, and connections for a few statements.

use crate::finding::{Finding, Kind};
use crate::workload::{Account, Workload};

const STATEMENTS_MIN: u64 = 500;
const CHATTER_PART_MIN: f64 = 0.4;
const SESSIONS_MIN: u64 = 200;
/// Statements of a session, on average.
const FEW_STATEMENTS: f64 = 8.0;

/// Events that set up a session or ask about the last statement.
const CHATTER: &[&str] = &[
    "statement/sql/set_option",
    "statement/sql/show_warnings",
    "statement/sql/show_errors",
    "statement/com/Ping",
    "statement/com/Init DB",
    "statement/sql/change_db",
];

pub fn chatter(workload: &Workload<'_>, findings: &mut Vec<Finding>) {
    for account in workload.accounts.iter().filter(|account| !account.user.is_empty()) {
        let all: u64 = account.statements.iter().map(|(_, count)| count).sum();
        let name = format!("'{}'@'{}'", account.user, account.host);
        findings.extend(of_driver(account, all, &name));
        findings.extend(of_connections(account, all, &name));
    }
}

fn of_driver(account: &Account, all: u64, name: &str) -> Option<Finding> {
    let idle: Vec<_> = account.statements.iter().filter(|(name, count)| CHATTER.contains(&name.as_str()) && *count > 0).collect();
    let count: u64 = idle.iter().map(|(_, count)| count).sum();
    if all < STATEMENTS_MIN || (count as f64) < CHATTER_PART_MIN * all as f64 {
        return None;
    }
    let each: Vec<String> = idle.iter().map(|(name, count)| format!("{} {count}", short(name))).collect();
    let evidence = format!(
        "{count} of {all} statements of {name} only set up the session or ask about the last statement: {}",
        each.join(", ")
    );
    let cure =
        "Set the session up once per connection (connection string of the driver, init_connect), switch off checks before each \
                use of a pooled connection, and read the count of warnings from the answer instead of SHOW WARNINGS"
            .to_owned();
    let finding = Finding::new(Kind::Chatter, &[&account.user, &account.host]).because(evidence);
    Some(finding.gains(&format!("{count} round trips")).cured_by(cure))
}

fn of_connections(account: &Account, all: u64, name: &str) -> Option<Finding> {
    let each = all as f64 / account.sessions.max(1) as f64;
    if account.sessions < SESSIONS_MIN || each > FEW_STATEMENTS {
        return None;
    }
    let evidence = format!("{} connections of {name} ended after {each:.1} statements on average", account.sessions);
    let cure = "Keep connections open: a pool in the application, or persistent connections of the driver".to_owned();
    let finding = Finding::new(Kind::Reconnect, &[&account.user, &account.host]).because(evidence);
    Some(finding.gains(&format!("{} logins", account.sessions)).cured_by(cure))
}

fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
