//! The privileges on tables that a plan needs: noted while it is bound, and checked by each session that runs it.
//!
//! A view is read with the privileges of its definer, or of the invoker (SQL SECURITY INVOKER). If these are missing,
//! the error says that the outermost view is invalid.
//!
//! N1: `Rights` is an index, counted from one, in the list of the views that were entered.
//! N2: the result of a check is remembered under the stamp of the session that runs the plan. A change of accounts
//!     gives every session another stamp, so a remembered result also holds for the definers.

use crate::error::Error;
use accounts::Access;
use accounts::model::Name;
use accounts::privilege::Privileges;
use accounts::special;
use sql::Denied;
use sql::plan::{Action, Part, Rights};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use types::schema::TableDef;

/// The privileges of definers.
pub trait Definers {
    /// The privileges of a definer with its default roles active. `None`: the account does not exist.
    fn definer(&self, name: &Name) -> Option<Rc<Access>>;
}

/// The privileges that one action needs on one table.
#[derive(Clone, Debug)]
struct Need {
    database: Box<str>,
    table: Box<str>,
    action: Action,
    rights: Rights,
    /// Some privilege on the table, whatever the columns; a refusal names the table.
    any: bool,
    /// All of it, not some of its columns.
    whole: bool,
    /// By name, and whether it is one of all columns.
    columns: Vec<(Box<str>, bool)>,
}

/// A stored function that is called.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Called {
    database: Box<str>,
    name: Box<str>,
    rights: Rights,
}

/// A view whose query is read.
#[derive(Clone, Debug)]
struct Entered {
    /// The account whose privileges apply in it; `None`: the account that runs the statement.
    definer: Option<Name>,
    /// The outermost view, which an error names.
    outermost: Box<str>,
}

/// The needs of a plan, and the last result of checking them.
#[derive(Debug, Default)]
pub struct Needs {
    list: Box<[Need]>,
    functions: Box<[Called]>,
    /// N1
    entered: Box<[Entered]>,
    has_definers: bool,
    /// Of the account as a whole.
    global: Privileges,
    /// N2
    passed: Cell<u64>,
}

impl Needs {
    /// Refuses a plan for which the account lacks a privilege. It allocates only if it refuses, or checks definers for
    /// the first time.
    #[inline]
    pub fn check(&self, access: &Rc<Access>, definers: &impl Definers) -> Result<(), Error> {
        let may_all = access.reads_all && self.functions.is_empty() && access.global.has(self.global) && !self.has_definers;
        if may_all || self.passed.get() == access.stamp {
            return Ok(());
        }
        self.check_all(access, definers)
    }

    fn check_all(&self, access: &Rc<Access>, definers: &impl Definers) -> Result<(), Error> {
        access.refuse_expired()?;
        if !access.global.has(self.global) {
            return Err(special(&self.global.list()).into());
        }
        let accesses: Vec<Rc<Access>> =
            self.entered.iter().map(|entered| entered.access(access, definers)).collect::<sql::Result<_>>()?;
        for need in &self.list {
            let place = need.rights.0.checked_sub(1).map(|place| place as usize);
            let access = place.map_or(access, |place| &accesses[place]);
            if !access.reads_all {
                let told = |denied| place.map_or_else(|| refusal(denied), |place| self.entered[place].invalid());
                allowed_by(access, need).map_err(told)?;
            }
        }
        for function in &self.functions {
            let place = function.rights.0.checked_sub(1).map(|place| place as usize);
            let access = place.map_or(access, |place| &accesses[place]);
            let outcome = access.calls_function(&function.database, &function.name);
            outcome.map_err(|denied| place.map_or_else(|| denied.into(), |place| self.entered[place].invalid()))?;
        }
        self.passed.set(access.stamp);
        Ok(())
    }
}

impl Entered {
    /// The privileges that apply in the view.
    ///
    /// # Errors
    /// 1449 if the account does not exist; 1045 for a user who may not learn about accounts.
    fn access(&self, access: &Rc<Access>, definers: &impl Definers) -> sql::Result<Rc<Access>> {
        let Some(definer) = &self.definer else { return Ok(Rc::clone(access)) };
        definers.definer(definer).ok_or_else(|| {
            let why = if access.has(Privileges::SUPER) {
                sql::ViewProblem::NoDefiner { user: definer.user.clone(), host: definer.host.clone() }
            } else {
                let Name { user, host } = access.name.clone();
                sql::ViewProblem::NoAccess { user, host, using_password: access.using_password }
            };
            sql::Error::View { why, view: self.outermost.to_string() }
        })
    }

    /// 1356
    fn invalid(&self) -> sql::Error {
        sql::Error::View { why: sql::ViewProblem::Invalid, view: self.outermost.to_string() }
    }
}

fn refusal(denied: Denied) -> sql::Error {
    sql::Error::Denied(Box::new(denied))
}

/// Needs while a statement is bound for a session.
pub struct Gathering<'a, D> {
    access: &'a Rc<Access>,
    definers: &'a D,
    list: RefCell<Vec<Need>>,
    functions: RefCell<Vec<Called>>,
    /// With the rights that count.
    entered: RefCell<Vec<(Entered, Rc<Access>)>>,
    global: Cell<Privileges>,
}

impl<'a, D: Definers> Gathering<'a, D> {
    pub fn new(access: &'a Rc<Access>, definers: &'a D) -> Self {
        Self {
            access,
            definers,
            list: RefCell::default(),
            functions: RefCell::default(),
            entered: RefCell::default(),
            global: Cell::default(),
        }
    }

    /// The noted needs; the account as a whole needs `more` as well.
    pub fn take(&self, more: Privileges) -> Needs {
        let entered: Box<[Entered]> = self.entered.take().into_iter().map(|(entered, _)| entered).collect();
        Needs {
            list: self.list.take().into(),
            functions: self.functions.take().into(),
            has_definers: entered.iter().any(|entered| entered.definer.is_some()),
            entered,
            global: self.global.get().with(more),
            passed: Cell::new(0),
        }
    }

    /// The query of a view is bound from here on, inside the view of `outer` if that says so.
    pub fn enter_view(&self, def: &TableDef, outer: Rights) -> sql::Result<Rights> {
        let mut all = self.entered.borrow_mut();
        let around = outer.0.checked_sub(1).map(|place| &all[place as usize].0);
        let definer = match &def.view {
            Some(view) if !view.invoker => Some(Name::new(&view.definer_user, &view.definer_host)),
            _ => around.and_then(|view| view.definer.clone()),
        };
        let outermost = around.map_or_else(|| format!("{}.{}", def.database, def.name).into(), |view| view.outermost.clone());
        let entered = Entered { definer, outermost };
        let access = entered.access(self.access, self.definers)?;
        all.push((entered, access));
        Ok(Rights(all.len() as u32))
    }

    /// CURRENT_USER() of a definer.
    pub fn definer(&self, rights: Rights) -> Option<String> {
        let place = rights.0.checked_sub(1)? as usize;
        self.entered.borrow()[place].0.definer.as_ref().map(Name::plain)
    }

    fn access(&self, rights: Rights) -> Rc<Access> {
        match rights.0.checked_sub(1) {
            Some(place) => Rc::clone(&self.entered.borrow()[place as usize].1),
            None => Rc::clone(self.access),
        }
    }

    /// Turns a refusal inside a view into an error about the view.
    fn told(&self, rights: Rights, outcome: Result<(), Denied>) -> sql::Result<()> {
        outcome.map_err(|denied| match rights.0.checked_sub(1) {
            Some(place) => self.entered.borrow()[place as usize].0.invalid(),
            None => refusal(denied),
        })
    }

    /// Notes several needs of a table, and refuses all missing privileges in one message.
    pub fn add_together(&self, rights: Rights, table: &TableDef, actions: &[Action]) -> sql::Result<()> {
        let access = self.access(rights);
        if !access.reads_all && !is_free(&table.database, &table.name, actions[0]) {
            let (_, some) = access.table(&table.database, &table.name);
            let missing = actions.iter().map(|action| bit(*action)).filter(|bit| !some.has(*bit));
            let missing = missing.fold(Privileges::NONE, Privileges::with);
            if !missing.is_empty() {
                let denied = Denied { command: missing.list(), ..denied(&access, actions[0], &table.name, None) };
                return self.told(rights, Err(denied));
            }
        }
        actions.iter().try_for_each(|action| self.add(rights, table, *action, Part::Any))
    }

    /// Notes a need, and refuses it if the privilege is missing.
    pub fn add(&self, rights: Rights, table: &TableDef, action: Action, part: Part<'_>) -> sql::Result<()> {
        self.told(rights, self.note(rights, table, action, part))
    }

    fn note(&self, rights: Rights, table: &TableDef, action: Action, part: Part<'_>) -> Result<(), Denied> {
        if is_free(&table.database, &table.name, action) {
            // InnoDB's tables about itself concern all accounts.
            if table.name.starts_with("INNODB_") && table.database.eq_ignore_ascii_case("information_schema") {
                self.global.set(self.global.get().with(Privileges::PROCESS));
            }
            return Ok(());
        }
        let access = self.access(rights);
        let mut list = self.list.borrow_mut();
        let is = |need: &Need| {
            need.action == action && need.rights == rights && *need.database == *table.database && *need.table == *table.name
        };
        let need = match list.iter().position(is) {
            Some(at) => &mut list[at],
            None => {
                list.push(Need {
                    database: table.database.as_str().into(),
                    table: table.name.as_str().into(),
                    action,
                    rights,
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
                return if granted.has(bit(action)) { Ok(()) } else { Err(denied(&access, action, &table.name, Some(name))) };
            }
        }
        if access.reads_all { Ok(()) } else { allowed_by(&access, need) }
    }

    /// Notes the call of a stored function, and refuses it if the privilege is missing.
    pub fn add_function(&self, rights: Rights, database: &str, name: &str) -> sql::Result<()> {
        let outcome = self.access(rights).calls_function(database, name);
        outcome.map_err(|denied| match rights.0.checked_sub(1) {
            Some(place) => self.entered.borrow()[place as usize].0.invalid(),
            None => denied.into(),
        })?;
        let called = Called { database: database.into(), name: name.into(), rights };
        let mut functions = self.functions.borrow_mut();
        if !functions.contains(&called) {
            functions.push(called);
        }
        Ok(())
    }

    /// Refuses a table in a new view of which nothing may be done at all.
    pub fn refuse_stranger(&self, table: &TableDef) -> sql::Result<()> {
        let some = self.access.table(&table.database, &table.name).1;
        if is_free(&table.database, &table.name, Action::Select) || some.has_any(Privileges::ROWS) {
            Ok(())
        } else {
            let Name { user, host } = self.access.name.clone();
            Err(refusal(Denied { command: "ANY".to_owned(), user, host, table: table.name.clone(), column: None }))
        }
    }

    /// Refuses a table of a changing join of which nothing may be read or updated.
    pub fn check_touched(&self, rights: Rights, table: &TableDef) -> sql::Result<()> {
        let access = self.access(rights);
        let some = access.table(&table.database, &table.name).1;
        let enough = Privileges::SELECT.with(Privileges::UPDATE);
        let outcome = if is_free(&table.database, &table.name, Action::Select) || some.has_any(enough) {
            Ok(())
        } else {
            Err(denied(&access, Action::Select, &table.name, None))
        };
        self.told(rights, outcome)
    }

    /// Refuses a table that is not there as one that may not be read.
    pub fn check_missing(&self, rights: Rights, database: &str, table: &str, action: Action) -> sql::Result<()> {
        let access = self.access(rights);
        let outcome = if is_free(database, table, action) || access.table(database, table).1.has(bit(action)) {
            Ok(())
        } else {
            Err(denied(&access, action, table, None))
        };
        self.told(rights, outcome)
    }
}

/// May everybody do this with the table?
pub fn is_free(database: &str, table: &str, action: Action) -> bool {
    if database.eq_ignore_ascii_case("information_schema") || database.is_empty() {
        return true;
    }
    // The tables of performance_schema that MySQL shows to everybody.
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
        "persisted_variables",
        "tls_channel_status",
    ];
    action == Action::Select
        && database.eq_ignore_ascii_case("performance_schema")
        && OPEN.iter().any(|name| name.eq_ignore_ascii_case(table))
}

fn bit(action: Action) -> Privileges {
    match action {
        Action::Select => Privileges::SELECT,
        Action::Insert => Privileges::INSERT,
        Action::Update => Privileges::UPDATE,
        Action::Delete => Privileges::DELETE,
        Action::Lock => Privileges::UPDATE.with(Privileges::DELETE).with(Privileges::LOCK_TABLES),
    }
}

/// Do the privileges allow it?
fn allow(privileges: Privileges, action: Action) -> bool {
    if action == Action::Lock { privileges.has_any(bit(action)) } else { privileges.has(bit(action)) }
}

fn denied(access: &Access, action: Action, table: &str, column: Option<&str>) -> Denied {
    let command = if action == Action::Lock { "SELECT with locking clause".to_owned() } else { bit(action).list() };
    Denied {
        command,
        user: access.user.clone(),
        host: access.host.clone(),
        table: table.to_owned(),
        column: column.map(str::to_owned),
    }
}

fn allowed_by(access: &Access, need: &Need) -> Result<(), Denied> {
    if allow(access.database(&need.database), need.action) {
        return Ok(());
    }
    let (whole, some) = access.table(&need.database, &need.table);
    if allow(whole, need.action) {
        return Ok(());
    }
    if need.whole || need.any && !allow(some, need.action) {
        return Err(denied(access, need.action, &need.table, None));
    }
    for (column, each) in &need.columns {
        if !allow(access.column(&need.database, &need.table, column), need.action) {
            return Err(denied(access, need.action, &need.table, (!each).then_some(column)));
        }
    }
    Ok(())
}
