//! What a plan needs of tables, noted while it is bound and looked at by each session that runs it.

use super::access::Access;
use super::privilege::Privileges;
use super::special;
use crate::error::Error;
use sql::Denied;
use sql::plan::{Action, Part};
use std::cell::{Cell, RefCell};
use types::schema::TableDef;

/// What is needed of one table for one action.
#[derive(Clone, Debug)]
pub struct Need {
    pub database: Box<str>,
    pub table: Box<str>,
    pub action: Action,
    /// Some of it, whatever the columns: said of the table where it is refused.
    pub any: bool,
    /// All of it, not some of its columns.
    pub whole: bool,
    /// By name, and whether it is one of all columns.
    pub columns: Vec<(Box<str>, bool)>,
}

/// What a plan needs, and whose rights were enough last.
#[derive(Debug, Default)]
pub struct Needs {
    list: Box<[Need]>,
    /// Of the account as a whole.
    global: Privileges,
    passed: Cell<u64>,
}

impl Needs {
    /// Refuses what the account may not. It allocates nothing unless it refuses.
    #[inline]
    pub fn check(&self, access: &Access) -> Result<(), Error> {
        if access.reads_all && access.global.has(self.global) || self.passed.get() == access.stamp {
            return Ok(());
        }
        self.check_all(access)
    }

    fn check_all(&self, access: &Access) -> Result<(), Error> {
        access.refuse_expired()?;
        if !access.global.has(self.global) {
            return Err(special(&self.global.list()));
        }
        if access.reads_all {
            return Ok(());
        }
        for need in &self.list {
            allowed(access, need)?;
        }
        self.passed.set(access.stamp);
        Ok(())
    }
}

/// Needs while a statement is bound.
#[derive(Debug, Default)]
pub struct Gathering {
    list: RefCell<Vec<Need>>,
    global: Cell<Privileges>,
}

impl Gathering {
    /// What was noted; `more` is needed of the account as a whole.
    pub fn take(&self, more: Privileges) -> Needs {
        Needs { list: self.list.take().into(), global: self.global.get().with(more), passed: Cell::new(0) }
    }

    /// Notes several needs of a table, and refuses what is missing in one message.
    pub fn add_together(&self, access: &Access, table: &TableDef, actions: &[Action]) -> Result<(), Denied> {
        if !access.reads_all && !is_free(&table.database, &table.name, actions[0]) {
            let (_, some) = access.table(&table.database, &table.name);
            let missing = actions.iter().map(|action| bit(*action)).filter(|bit| !some.has(*bit));
            let missing = missing.fold(Privileges::NONE, Privileges::with);
            if !missing.is_empty() {
                return Err(Denied { command: missing.list(), ..denied(access, actions[0], &table.name, None) });
            }
        }
        actions.iter().try_for_each(|action| self.add(access, table, *action, Part::Any))
    }

    /// Notes a need, and refuses it where the account that binds may not.
    pub fn add(&self, access: &Access, table: &TableDef, action: Action, part: Part<'_>) -> Result<(), Denied> {
        if is_free(&table.database, &table.name, action) {
            // What the engine tells of itself is of all accounts.
            if table.name.starts_with("INNODB_") && table.database.eq_ignore_ascii_case("information_schema") {
                self.global.set(self.global.get().with(Privileges::PROCESS));
            }
            return Ok(());
        }
        let mut list = self.list.borrow_mut();
        let is = |need: &Need| need.action == action && *need.database == *table.database && *need.table == *table.name;
        let need = match list.iter().position(is) {
            Some(at) => &mut list[at],
            None => {
                list.push(Need {
                    database: table.database.as_str().into(),
                    table: table.name.as_str().into(),
                    action,
                    any: false,
                    whole: false,
                    columns: Vec::new(),
                });
                list.last_mut().expect("pushed just now")
            }
        };
        match part {
            Part::Any => need.any = true,
            Part::Table => need.whole = true,
            Part::Column(column) | Part::Each(column) => {
                let name = table.columns[column].name.as_str();
                let each = matches!(part, Part::Each(_));
                if !need.columns.iter().any(|(known, by_all)| **known == *name && *by_all == each) {
                    need.columns.push((name.into(), each));
                }
            }
            Part::Unknown(name) => {
                let granted = access.table(&table.database, &table.name).0;
                return match granted.has(bit(action)) {
                    true => Ok(()),
                    false => Err(denied(access, action, &table.name, Some(name))),
                };
            }
        }
        match access.reads_all {
            true => Ok(()),
            false => allowed_by(access, need),
        }
    }
}

/// May everybody do this with the table?
pub fn is_free(database: &str, table: &str, action: Action) -> bool {
    if database.eq_ignore_ascii_case("information_schema") || database.is_empty() {
        return true;
    }
    // What MySQL's performance_schema shows to everybody.
    const OPEN: &[&str] = &[
        "global_status",
        "global_variables",
        "processlist",
        "session_account_connect_attrs",
        "session_connect_attrs",
        "session_status",
        "session_variables",
        "variables_info",
        "keyring_component_status",
        "tls_channel_status",
    ];
    action == Action::Select
        && database.eq_ignore_ascii_case("performance_schema")
        && OPEN.iter().any(|name| name.eq_ignore_ascii_case(table))
}

/// Refuses a table of a changing join of which nothing may be read or updated.
pub fn check_touched(access: &Access, table: &TableDef) -> Result<(), Denied> {
    let some = access.table(&table.database, &table.name).1;
    let enough = Privileges::SELECT.with(Privileges::UPDATE);
    match is_free(&table.database, &table.name, Action::Select) || some.has_any(enough) {
        true => Ok(()),
        false => Err(denied(access, Action::Select, &table.name, None)),
    }
}

/// Refuses a table that is not there as one that may not be read.
pub fn check_missing(access: &Access, database: &str, table: &str, action: Action) -> Result<(), Denied> {
    match is_free(database, table, action) || access.table(database, table).1.has(bit(action)) {
        true => Ok(()),
        false => Err(denied(access, action, table, None)),
    }
}

pub fn bit(action: Action) -> Privileges {
    match action {
        Action::Select => Privileges::SELECT,
        Action::Insert => Privileges::INSERT,
        Action::Update => Privileges::UPDATE,
        Action::Delete => Privileges::DELETE,
    }
}

pub fn denied(access: &Access, action: Action, table: &str, column: Option<&str>) -> Denied {
    Denied {
        command: bit(action).list(),
        user: access.user.clone(),
        host: access.host.clone(),
        table: table.to_owned(),
        column: column.map(str::to_owned),
    }
}

fn allowed(access: &Access, need: &Need) -> Result<(), Error> {
    allowed_by(access, need).map_err(|denied| Error::Sql(sql::Error::Denied(Box::new(denied))))
}

fn allowed_by(access: &Access, need: &Need) -> Result<(), Denied> {
    let wanted = bit(need.action);
    if access.database(&need.database).has(wanted) {
        return Ok(());
    }
    let (whole, some) = access.table(&need.database, &need.table);
    if whole.has(wanted) {
        return Ok(());
    }
    if need.whole || need.any && !some.has(wanted) {
        return Err(denied(access, need.action, &need.table, None));
    }
    for (column, each) in &need.columns {
        if !access.column(&need.database, &need.table, column).has(wanted) {
            return Err(denied(access, need.action, &need.table, (!each).then_some(column)));
        }
    }
    Ok(())
}
