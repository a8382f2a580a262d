//! Accounts, roles and privileges: the stored accounts, the authentication of clients, and the effective privileges of
//! sessions.
//!
//! All accounts are one immutable snapshot ([`Accounts`]) behind one pointer. A statement that changes accounts builds
//! the next snapshot on a thread for definitions, writes the changed records in one transaction, and publishes the
//! snapshot with the next *epoch*. A session holds an [`Access`]: the privileges of its account and active roles,
//! combined once per epoch and shared by the sessions of a worker with the same account and roles. A statement compares
//! its epoch with the published one (a load of a cache line that only such changes write), and then reads only the
//! session's own memory.
//!
//! - `privilege`: the bits; `model`: the stored data; `host`: matching of clients; `password`: the stored form of
//!   passwords.
//! - `logins`: state about past and present logins; `login_jobs`: the thread for slow work on passwords.
//! - `restore`: rows of the tables of `mysql` in a dump.
//! - `access`: the effective privileges of a session.
//!
//! The statements about accounts, and the privileges that each statement needs, are in `server/src/account`.
//!
//! A1: an epoch is published after its records are durable, and under the writers' mutex.

mod access;
pub mod host;
mod login_jobs;
mod logins;
pub mod model;
mod password;
pub mod privilege;
pub mod restore;

pub use access::{Access, Accesses, Identity, matches_database};
pub use logins::{Logins, Seat, encrypted_password};
pub use model::{Account, Name};
pub use password::{PASSWORD_BYTES_MAX, Plugin, native_hash, random_password};

use arc_swap::ArcSwap;
use conditions::Condition;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use sync::Mutex;
use sync::atomic::{AtomicU64, Ordering};

/// Every error here is sent to the client unchanged.
pub type Result<T> = std::result::Result<T, Condition>;

/// The warnings of a statement about accounts.
pub type Notes = Vec<Condition>;

/// All accounts and roles as of one epoch.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    pub epoch: u64,
    pub by_name: BTreeMap<Name, Arc<Account>>,
    /// In the order in which a client's account is looked for.
    order: Vec<Arc<Account>>,
}

impl Accounts {
    fn new(epoch: u64, by_name: BTreeMap<Name, Arc<Account>>) -> Self {
        let mut order: Vec<Arc<Account>> = by_name.values().cloned().collect();
        order.sort_by_key(|account| (host::rank(&account.name.host), account.name.user.is_empty()));
        Self { epoch, by_name, order }
    }

    pub fn get(&self, name: &Name) -> Option<&Arc<Account>> {
        self.by_name.get(name)
    }

    /// Adds an account, or replaces the one of its name.
    pub fn put(&mut self, account: Account) {
        self.by_name.insert(account.name.clone(), Arc::new(account));
    }

    /// Takes a role away from everybody, or gives it another name.
    pub fn forget_role(&mut self, role: &Name, renamed: Option<&Name>) {
        for account in self.by_name.values_mut() {
            if account.has_role(role).is_none() && !account.default_roles.contains(role) {
                continue;
            }
            let account = Arc::make_mut(account);
            match renamed {
                Some(to) => {
                    account.roles.iter_mut().filter(|grant| grant.role == *role).for_each(|grant| grant.role = to.clone());
                    account.default_roles.iter_mut().filter(|name| *name == role).for_each(|name| *name = to.clone());
                }
                None => {
                    account.roles.retain(|grant| grant.role != *role);
                    account.default_roles.retain(|name| name != role);
                }
            }
        }
    }

    /// The account of a client.
    pub fn find(&self, user: &str, host_name: &str, address: Option<IpAddr>) -> Option<&Arc<Account>> {
        let is = |account: &&Arc<Account>| {
            let name = &account.name;
            (name.user.is_empty() || name.user == user) && host::matches(&name.host, host_name, address)
        };
        self.order.iter().find(is)
    }

    /// Has `to` the role, itself or by way of its roles? Mandatory roles do not count.
    pub fn is_granted(&self, to: &Name, role: &Name) -> bool {
        let mut seen: Vec<&Name> = Vec::new();
        let mut next = vec![to];
        while let Some(name) = next.pop() {
            for grant in self.get(name).map_or(&[][..], |account| &account.roles) {
                if grant.role == *role {
                    return true;
                }
                if !seen.contains(&&grant.role) {
                    seen.push(&grant.role);
                    next.push(&grant.role);
                }
            }
        }
        false
    }

    /// Has the account or role SYSTEM_USER, itself or by way of its roles?
    pub fn is_system(&self, name: &Name) -> bool {
        let has = |account: &Arc<Account>| account.dynamic.contains_key(SYSTEM_USER);
        let is_granted = |account: &&Arc<Account>| self.is_granted(name, &account.name);
        self.get(name).is_some_and(has)
            || self.by_name.values().filter(|account| has(account)).any(|account| is_granted(&account))
    }

    /// 3880: everybody has the mandatory roles, so none of them is a system account.
    pub fn check_mandatory(&self, roles: &[Name]) -> Result<()> {
        let Some(name) = roles.iter().find(|role| self.is_system(role)) else { return Ok(()) };
        Err(Condition::DaAuthIdWithSystemUserPrivInMandatoryRoles { account: name.ticked().into() })
    }

    /// The roles that an account may activate: its own, and the mandatory ones that exist.
    pub fn granted_roles(&self, account: &Account, mandatory: &[Name]) -> Vec<Name> {
        let mut granted: Vec<Name> = account.roles.iter().map(|grant| grant.role.clone()).collect();
        for role in mandatory {
            if !granted.contains(role) && *role != account.name && self.get(role).is_some() {
                granted.push(role.clone());
            }
        }
        granted
    }

    /// The roles that are active from the start: `all`, or the default ones.
    pub fn roles_at_login(&self, account: &Account, all: bool, mandatory: &[Name]) -> Vec<Name> {
        let granted = self.granted_roles(account, mandatory);
        if all { granted } else { account.default_roles.iter().filter(|role| granted.contains(role)).cloned().collect() }
    }
}

/// The published accounts, and the state of logins.
pub struct AccountStore {
    epoch: sync::CachePadded<AtomicU64>,
    published: ArcSwap<Accounts>,
    /// Whether the catalog has the accounts. The first change writes the accounts that a new server begins with. A1
    writer: Mutex<bool>,
    pub logins: Logins,
    /// Grants of a dump to accounts that do not exist yet. Locked under the writers' mutex, or alone.
    pub staged: Mutex<restore::Staged>,
}

impl AccountStore {
    /// The accounts of the catalog; a new one begins with `root@localhost`, which has no password.
    pub fn open(database: &table::Database) -> std::result::Result<Self, String> {
        let mut by_name = BTreeMap::new();
        for (name, json) in database.take_accounts() {
            let account: Account = serde_json::from_slice(&json)
                .map_err(|error| format!("the account {} cannot be read: {error}", String::from_utf8_lossy(&name)))?;
            by_name.insert(account.name.clone(), Arc::new(account));
        }
        Ok(if by_name.is_empty() { Self::private() } else { Self::of(by_name, true) })
    }

    /// Only `root@localhost`, which has no password.
    pub fn private() -> Self {
        let root = Account::superuser(Name::new("root", "localhost"));
        Self::of(BTreeMap::from([(root.name.clone(), Arc::new(root))]), false)
    }

    fn of(by_name: BTreeMap<Name, Arc<Account>>, is_stored: bool) -> Self {
        Self {
            epoch: sync::CachePadded::new(AtomicU64::new(1)),
            published: ArcSwap::from_pointee(Accounts::new(1, by_name)),
            writer: Mutex::new(is_stored),
            logins: Logins::start(),
            staged: Mutex::default(),
        }
    }

    /// A server that others than this machine's programs can reach wants a password of root.
    ///
    /// # Errors
    /// A sentence for who starts the server.
    pub fn refuse_open_root(&self, tcp: Option<std::net::SocketAddr>) -> std::result::Result<(), String> {
        let Some(address) = tcp.filter(|address| !address.ip().is_loopback()) else { return Ok(()) };
        let snapshot = self.snapshot();
        let is_open = |account: &&Arc<Account>| account.name.user == "root" && account.stored.is_empty() && !account.locked;
        match snapshot.by_name.values().find(is_open) {
            Some(root) => Err(format!(
                "will not listen on {}, which other machines can reach, while {} has no password: start on 127.0.0.1 and run ALTER \
                 USER {} IDENTIFIED BY '...'",
                address.ip(),
                root.name.quoted(),
                root.name.quoted()
            )),
            None => Ok(()),
        }
    }

    /// One load of a line that only changes of accounts write.
    #[inline]
    pub fn epoch(&self) -> u64 {
        // Acquire: pairs with the Release in `change`; a reader of the epoch finds at least these accounts.
        self.epoch.load(Ordering::Acquire)
    }

    pub fn snapshot(&self) -> Arc<Accounts> {
        self.published.load_full()
    }

    /// Changes accounts: all changes of `change`, or none if it fails. Blocks.
    ///
    /// # Errors
    /// Those of `change`, and of the catalog.
    pub fn change<T, E: From<Condition> + From<table::Error>>(
        &self,
        database: &table::Database,
        worker: &txn::Worker,
        change: impl FnOnce(&mut Accounts) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut is_stored = self.writer.lock();
        let present = self.snapshot();
        let mut next = Accounts::clone(&present);
        let done = change(&mut next)?;
        let mut records = Vec::new();
        for (name, account) in &next.by_name {
            let is_same = *is_stored && present.get(name).is_some_and(|before| Arc::ptr_eq(before, account) || before == account);
            if !is_same {
                let json = serde_json::to_vec(&**account).map_err(|error| Condition::UnknownError { message: error.into() })?;
                records.push((name.record(), Some(json)));
            }
        }
        let gone = present.by_name.keys().filter(|name| !next.by_name.contains_key(name));
        records.extend(gone.map(|name| (name.record(), None)));
        database.put_accounts(worker, &records)?;
        *is_stored = true;
        self.publish(Accounts::new(present.epoch + 1, next.by_name));
        Ok(done)
    }

    /// Publishes a new epoch after a change of variables that affect privileges, so that all sessions recompute theirs.
    pub fn renew(&self) {
        let _writer = self.writer.lock();
        let present = self.snapshot();
        self.publish(Accounts { epoch: present.epoch + 1, ..Accounts::clone(&present) });
    }

    /// Called under the writers' mutex.
    fn publish(&self, next: Accounts) {
        let epoch = next.epoch;
        self.published.store(Arc::new(next));
        // Release: pairs with the Acquire in `epoch`.
        self.epoch.store(epoch, Ordering::Release);
    }
}

/// The privilege of accounts that are changed by their kind alone.
pub const SYSTEM_USER: &str = "SYSTEM_USER";

/// 1227
pub fn special(privileges: &str) -> Condition {
    Condition::SpecificAccessDeniedError { privileges: privileges.into() }
}

/// Seconds since the epoch.
pub fn now_seconds() -> i64 {
    os::time::since_epoch().as_secs() as i64
}

/// The names of `mandatory_roles`: `role`, `'role'@'host'`, with commas between. Some may be empty, which no role is.
pub fn parse_roles(text: &str) -> Vec<Name> {
    let bare = |part: &str| part.trim().trim_matches(['`', '\'', '"']).to_owned();
    if text.trim().is_empty() {
        return Vec::new();
    }
    let names = text.split(',').map(str::trim);
    let name = |text: &str| match text.rsplit_once('@') {
        Some((user, host)) => Name { user: bare(user), host: bare(host).to_ascii_lowercase() },
        None => Name { user: bare(text), host: "%".to_owned() },
    };
    names.map(name).collect()
}
