//! State about logins: fast hashes of verified passwords, failed logins, connections in use.
//!
//! L1: the lock here is held for one lookup, at the start or the end of a connection. The exception are accounts with
//!     MAX_QUERIES_PER_HOUR or MAX_UPDATES_PER_HOUR, whose statements are counted here.
//! L2: a fast hash belongs to the stored password that it was verified with, so a changed password invalidates it.

use super::Accounts;
use super::login_jobs::LoginJobs;
use super::model::{Account, Limits, Name};
use super::password::Plugin;
use crate::Result;
use aws_lc_rs::rsa::{
    KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, PrivateDecryptingKey, PublicEncryptingKey,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use conditions::Condition;
use os::time::Instant;
use protocol::auth::Sha2Hash;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use sync::Mutex;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Failures of one client host that are not slowed.
const FREE_FAILURES: u32 = 5;
const DELAY_MAX: Duration = Duration::from_secs(5);
/// Failures are forgotten after so long.
const FORGET_AFTER: Duration = Duration::from_secs(300);
/// Hosts that are remembered; beyond that the oldest are forgotten.
const HOSTS_MAX: usize = 10_000;

#[derive(Default)]
struct Fast {
    stored: String,
    hash: Sha2Hash,
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    last: Instant,
}

/// The counted resources of an account.
#[derive(Debug)]
struct Usage {
    open: u32,
    since: Instant,
    connections: u32,
    queries: u32,
    updates: u32,
}

/// The record of logins, for as long as the server runs.
pub struct Logins {
    /// Of each account, one for each of its passwords.
    fast: Mutex<HashMap<Name, Vec<Fast>>>,
    accounts: Mutex<HashMap<Name, Failures>>,
    hosts: Mutex<HashMap<String, Failures>>,
    /// Handshakes that broke off, by host.
    broken: Mutex<HashMap<String, u64>>,
    usage: Arc<Mutex<HashMap<Name, Usage>>>,
    pub jobs: LoginJobs,
    /// Which plugin a name seems to have that is none of an account.
    decoys: RandomState,
    key: OnceLock<Option<Arc<Key>>>,
}

/// The key pair with which clients encrypt passwords on an insecure channel.
pub struct Key {
    private: OaepPrivateDecryptingKey,
    /// SubjectPublicKeyInfo in PEM.
    pub public: Vec<u8>,
}

impl Key {
    fn new() -> Option<Self> {
        use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
        let private = PrivateDecryptingKey::generate(KeySize::Rsa2048).ok()?;
        let der: PublicKeyX509Der<'_> = private.public_key().as_der().ok()?;
        let public = pem("PUBLIC KEY", der.as_ref());
        Some(Self { private: OaepPrivateDecryptingKey::new(private).ok()?, public })
    }

    /// The length of an encrypted message in bytes.
    pub fn bytes(&self) -> usize {
        self.private.key_size_bytes()
    }

    /// The password without its final zero byte; `None` if it was not encrypted for this key and nonce.
    pub fn decrypt(&self, sent: &[u8], nonce: &[u8]) -> Option<Vec<u8>> {
        let mut room = vec![0; self.private.min_output_size()];
        let plain = self.private.decrypt(&OAEP_SHA1_MGF1SHA1, sent, &mut room, None).ok()?;
        let mut password: Vec<u8> = plain.iter().zip(nonce.iter().cycle()).map(|(a, b)| a ^ b).collect();
        (password.pop() == Some(0)).then_some(password)
    }
}

/// A password, encrypted with another server's public key in PEM: the way back of [`Key::decrypt`]. `None`: it is no such key.
pub fn encrypted_password(public: &[u8], password: &str, nonce: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(public).ok()?;
    let body: String = text.lines().filter(|line| !line.starts_with("-----")).flat_map(|line| line.trim().chars()).collect();
    let der = STANDARD.decode(body).ok()?;
    let key = OaepPublicEncryptingKey::new(PublicEncryptingKey::from_der(&der).ok()?).ok()?;
    let plain: Vec<u8> = password.bytes().chain([0]).zip(nonce.iter().cycle()).map(|(a, b)| a ^ b).collect();
    let mut room = vec![0; key.ciphertext_size()];
    key.encrypt(&OAEP_SHA1_MGF1SHA1, &plain, &mut room, None).ok().map(|sent| sent.to_vec())
}

/// A document in PEM.
fn pem(label: &str, der: &[u8]) -> Vec<u8> {
    let mut out = format!("-----BEGIN {label}-----\n").into_bytes();
    for line in STANDARD.encode(der).as_bytes().chunks(64) {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.extend_from_slice(format!("-----END {label}-----\n").as_bytes());
    out
}

impl Logins {
    pub fn start() -> Self {
        Self {
            fast: Mutex::default(),
            accounts: Mutex::default(),
            hosts: Mutex::default(),
            broken: Mutex::default(),
            usage: Arc::default(),
            jobs: LoginJobs::default(),
            decoys: RandomState::new(),
            key: OnceLock::new(),
        }
    }

    /// The key pair. The first call generates it, which is slow. `None`: that failed.
    pub fn key(&self) -> Option<Arc<Key>> {
        self.key.get_or_init(|| Key::new().map(Arc::new)).clone()
    }

    /// The fast hashes of the account's passwords that are known. L2
    pub fn fast(&self, account: &Account) -> Vec<Sha2Hash> {
        let known = self.fast.lock();
        let known = known.get(&account.name).into_iter().flatten();
        known.filter(|fast| account.passwords().any(|stored| stored == fast.stored)).map(|fast| fast.hash).collect()
    }

    /// Is this one of the account's passwords? If so, a scramble is enough from now on. Slow; equally slow for an
    /// account without a password, where it compares with `decoy`, which no password matches.
    pub fn prove(&self, account: &Account, decoy: &str, password: &[u8]) -> bool {
        let hash = protocol::auth::sha2_hash(password);
        // Other clients with the same password may have proved it meanwhile.
        if self.fast(account).iter().any(|known| protocol::auth::same(known, &hash)) {
            return true;
        }
        let stored = |stored: &str| if stored.is_empty() { decoy.to_owned() } else { stored.to_owned() };
        let mut passwords = account.passwords().map(stored);
        let Some(proved) = passwords.find(|stored| account.plugin.is_password(stored, password)) else { return false };
        self.remember(account, proved, hash);
        true
    }

    /// The plugin that an unknown name seems to have: always the same for a name, and distributed as among the
    /// accounts.
    pub fn decoy(&self, accounts: &Accounts, user: &str) -> Plugin {
        let native = accounts.by_name.values().filter(|account| account.plugin == Plugin::Native).count() as u64;
        let share = u64::MAX / (accounts.by_name.len() as u64).max(1) * native;
        if self.decoys.hash_one(user) < share { Plugin::Native } else { Plugin::CachingSha2 }
    }

    /// The fast hash of one of the account's passwords, which is stored as `stored`.
    fn remember(&self, account: &Account, stored: String, hash: Sha2Hash) {
        let mut known = self.fast.lock();
        let of_account = known.entry(account.name.clone()).or_default();
        of_account.retain(|fast| fast.stored != stored && account.passwords().any(|kept| kept == fast.stored));
        of_account.push(Fast { stored, hash });
    }

    /// 3955: the account has failed too often.
    pub fn refuse_blocked(&self, account: &Account, host: &str) -> Result<()> {
        if account.failed_logins == 0 || account.lock_days == 0 {
            return Ok(());
        }
        let mut failures = self.accounts.lock();
        let Some(failed) = failures.get(&account.name).copied() else { return Ok(()) };
        if failed.count < account.failed_logins {
            return Ok(());
        }
        let forever = account.lock_days < 0;
        let days = u32::try_from(account.lock_days).unwrap_or(0);
        let passed = failed.last.elapsed();
        if !forever && passed >= DAY * days {
            failures.remove(&account.name);
            return Ok(());
        }
        let left = u64::from(days) - passed.as_secs() / DAY.as_secs();
        let (days, left) =
            if forever { ("unlimited".to_owned(), "unlimited".to_owned()) } else { (days.to_string(), left.to_string()) };
        Err(Condition::UserAccessDeniedForUserAccountBlockedByPasswordLock {
            user: (&account.name.user).into(),
            host: host.into(),
            days: days.into(),
            left: left.into(),
            failures: account.failed_logins.into(),
        })
    }

    /// A login failed.
    pub fn failed(&self, account: Option<&Account>, host: &str) {
        if let Some(account) = account {
            fail(&mut self.accounts.lock(), account.name.clone());
        }
        let mut hosts = self.hosts.lock();
        if hosts.len() >= HOSTS_MAX {
            hosts.retain(|_, failures| failures.last.elapsed() < FORGET_AFTER);
        }
        if hosts.len() < HOSTS_MAX || hosts.contains_key(host) {
            fail(&mut hosts, host.to_owned());
        }
    }

    pub fn succeeded(&self, account: &Account, host: &str) {
        self.accounts.lock().remove(&account.name);
        self.hosts.lock().remove(host);
        self.broken.lock().remove(host);
    }

    /// Resets the state of an account, after ACCOUNT UNLOCK or a change of the account.
    pub fn forget(&self, name: &Name) {
        self.accounts.lock().remove(name);
        if let Some(present) = self.usage.lock().get_mut(name) {
            *present = Usage { open: present.open, ..Usage::new() };
        }
    }

    /// How long the next failure of the host is kept waiting.
    pub fn delay(&self, host: &str) -> Duration {
        let mut hosts = self.hosts.lock();
        let Some(failures) = hosts.get(host).copied() else { return Duration::ZERO };
        if failures.last.elapsed() > FORGET_AFTER {
            hosts.remove(host);
            return Duration::ZERO;
        }
        match failures.count.checked_sub(FREE_FAILURES) {
            None | Some(0) => Duration::ZERO,
            Some(more) => (Duration::from_millis(100) * 2u32.saturating_pow(more.min(16))).min(DELAY_MAX),
        }
    }

    /// A handshake broke off.
    pub fn broke_off(&self, host: &str) {
        let mut broken = self.broken.lock();
        if broken.len() < HOSTS_MAX || broken.contains_key(host) {
            *broken.entry(host.to_owned()).or_default() += 1;
        }
    }

    /// 1129
    pub fn refuse_host(&self, host: &str, errors_max: u64) -> Result<()> {
        match self.broken.lock().get(host) {
            Some(count) if *count >= errors_max => Err(Condition::HostIsBlocked { host: host.into() }),
            _ => Ok(()),
        }
    }

    /// FLUSH HOSTS
    pub fn forget_hosts(&self) {
        self.broken.lock().clear();
        self.hosts.lock().clear();
    }

    /// Counts a connection of the account: 1203 and 1226 if it has too many.
    pub fn take_seat(&self, account: &Account, user_connections_max: u64) -> Result<Seat> {
        let limits = account.limits;
        let mut usage = self.usage.lock();
        let present = usage.entry(account.name.clone()).or_insert_with(Usage::new);
        present.turn();
        let exceeded = |resource: &str, limit: u32| Condition::UserLimitReached {
            user: (&account.name.user).into(),
            resource: resource.into(),
            limit: limit.into(),
        };
        if limits.user_connections > 0 && present.open >= limits.user_connections {
            return Err(exceeded("max_user_connections", limits.user_connections));
        }
        if limits.user_connections == 0 && user_connections_max > 0 && u64::from(present.open) >= user_connections_max {
            return Err(Condition::TooManyUserConnections { user: (&account.name.user).into() });
        }
        if limits.connections > 0 && present.connections >= limits.connections {
            return Err(exceeded("max_connections_per_hour", limits.connections));
        }
        present.open += 1;
        present.connections += 1;
        Ok(Seat { name: account.name.clone(), limits, usage: Arc::clone(&self.usage) })
    }
}

fn fail<K: std::hash::Hash + Eq>(failures: &mut HashMap<K, Failures>, of: K) {
    let now = Instant::now();
    let entry = failures.entry(of).or_insert(Failures { count: 0, last: now });
    entry.count = entry.count.saturating_add(1);
    entry.last = now;
}

impl Usage {
    fn new() -> Self {
        Self { open: 0, since: Instant::now(), connections: 0, queries: 0, updates: 0 }
    }

    /// Begins a new hour if the old one has passed.
    fn turn(&mut self) {
        if self.since.elapsed() >= HOUR {
            *self = Self { open: self.open, ..Self::new() };
        }
    }
}

/// A counted connection of an account; uncounted when dropped.
pub struct Seat {
    name: Name,
    limits: Limits,
    usage: Arc<Mutex<HashMap<Name, Usage>>>,
}

impl Seat {
    /// Are the account's statements counted?
    pub fn counts(&self) -> bool {
        self.limits.queries > 0 || self.limits.updates > 0
    }

    /// Counts a statement: 1226 if the limit of this hour is reached.
    pub fn count(&self, writes: bool) -> Result<()> {
        let mut usage = self.usage.lock();
        let Some(present) = usage.get_mut(&self.name) else { return Ok(()) };
        present.turn();
        present.queries += 1;
        present.updates += u32::from(writes);
        let over = |count: u32, limit: u32| limit > 0 && count > limit;
        let (resource, limit) = match () {
            () if over(present.queries, self.limits.queries) => ("max_questions", self.limits.queries),
            () if writes && over(present.updates, self.limits.updates) => ("max_updates", self.limits.updates),
            () => return Ok(()),
        };
        Err(Condition::UserLimitReached { user: (&self.name.user).into(), resource: resource.into(), limit: limit.into() })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(present) = self.usage.lock().get_mut(&self.name) {
            present.open = present.open.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_pem() {
        assert_eq!(pem("X", b"hello"), b"-----BEGIN X-----\naGVsbG8=\n-----END X-----\n");
    }

    #[test]
    fn a_password_is_encrypted_for_another_server() {
        let key = Key::new().expect("a key");
        let sent = encrypted_password(&key.public, "sécret", b"abcdefghijklmnopqrst").expect("a public key");
        assert_eq!(key.decrypt(&sent, b"abcdefghijklmnopqrst").as_deref(), Some("sécret".as_bytes()));
        assert_eq!(encrypted_password(b"-----BEGIN PUBLIC KEY-----\nAAAA\n", "x", b"n"), None);
    }

    #[test]
    fn several_failures_are_slowed() {
        let logins = Logins::start();
        (0..FREE_FAILURES).for_each(|_| logins.failed(None, "host"));
        assert_eq!(logins.delay("host"), Duration::ZERO);
        logins.failed(None, "host");
        assert_eq!(logins.delay("host"), Duration::from_millis(200));
        (0..20).for_each(|_| logins.failed(None, "host"));
        assert_eq!(logins.delay("host"), DELAY_MAX);
        assert_eq!(logins.delay("other"), Duration::ZERO);
    }

    #[test]
    fn names_without_an_account_seem_to_have_the_plugins_of_accounts() {
        let logins = Logins::start();
        let account = |user: &str, plugin| {
            let name = Name::new(user, "%");
            (name.clone(), Arc::new(Account { name, plugin, ..Account::default() }))
        };
        let accounts = |plugins: &[Plugin]| {
            let by_name = plugins.iter().enumerate().map(|(n, plugin)| account(&n.to_string(), *plugin)).collect();
            Accounts::new(1, by_name)
        };
        let natives = |accounts: &Accounts| {
            let is_native = |n: &i32| logins.decoy(accounts, &format!("name{n}")) == Plugin::Native;
            (0..1000).filter(is_native).count()
        };
        assert_eq!(natives(&accounts(&[])), 0);
        assert_eq!(natives(&accounts(&[Plugin::CachingSha2; 3])), 0);
        assert!(natives(&accounts(&[Plugin::Native; 3])) > 990);
        let mixed = accounts(&[Plugin::CachingSha2, Plugin::Native]);
        assert!((300..700).contains(&natives(&mixed)));
        assert_eq!(natives(&mixed), natives(&mixed), "a name keeps its plugin");
    }

    #[test]
    fn a_proved_password_needs_no_second_slow_proof() {
        let logins = Logins::start();
        let stored = Plugin::CachingSha2.store(b"secret");
        let mut account = Account { name: Name::new("u", "%"), stored, ..Account::default() };
        assert!(!logins.prove(&account, "", b"wrong"));
        assert!(logins.fast(&account).is_empty());
        assert!(logins.prove(&account, "", b"secret"));
        assert_eq!(logins.fast(&account), [protocol::auth::sha2_hash(b"secret")]);
        assert!(logins.prove(&account, "", b"secret"));
        account.stored = Plugin::CachingSha2.store(b"other");
        assert!(!logins.prove(&account, "", b"secret"), "L2");
    }

    #[test]
    fn connections_are_bounded() {
        let logins = Logins::start();
        let mut account = Account { name: Name::new("u", "%"), ..Account::default() };
        let first = logins.take_seat(&account, 1).expect("the first");
        assert!(matches!(logins.take_seat(&account, 1), Err(Condition::TooManyUserConnections { .. })));
        drop(first);
        account.limits = Limits { user_connections: 1, queries: 1, ..Limits::default() };
        let first = logins.take_seat(&account, 0).expect("the first is gone");
        assert!(matches!(logins.take_seat(&account, 0), Err(Condition::UserLimitReached { .. })));
        assert!(first.count(false).is_ok());
        assert!(matches!(first.count(false), Err(Condition::UserLimitReached { .. })));
    }
}
