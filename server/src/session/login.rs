//! The start of a connection: greeting, authentication, initial settings.
//!
//! 1. The server sends a greeting with a nonce; the client answers within connect_timeout.
//! 2. The account for this user and host is found. If the client began with another plugin, it is asked to switch.
//! 3. The client proves its password; the server answers OK with the session's state.
//!
//! `caching_sha2_password`: a scramble is enough if the fast hash of the password is known. Otherwise the client sends
//! the password, in clear over TLS or a Unix socket, else encrypted by RSA. The slow hash is computed on another
//! thread, while the client waits.
//!
//! G1: a client that names no account goes through the same exchange, and gets the same error, as one with a wrong
//!     password. An unknown name seems to have one of the plugins in use, and an empty password is proved by an empty
//!     proof only.
//! G2: nothing longer than a possible password is hashed.

use super::Client;
use super::info::SessionInfo;
use crate::counters::count;
use crate::error::Error;
use crate::variables;
use crate::worker::Worker;
use accounts::model::{Lifetime, Requirement};
use accounts::{Account, Identity, PASSWORD_BYTES_MAX, Plugin, Seat, native_hash};
use conditions::Condition;
use os::time::Instant;
use protocol::auth;
use protocol::{Capabilities, Greeting, Login, NONCE_BYTES, Status};
use reactor::connection::{Input, Lost, Peer, TlsInfo};
use std::sync::Arc;

/// The account of an authenticated client.
pub struct Entry {
    pub identity: Identity,
    pub seat: Seat,
}

/// The result of a login.
pub struct LoggedIn {
    pub capabilities: Capabilities,
    pub identity: Identity,
    pub database: Option<String>,
    pub collation: u16,
}

/// Why a login failed.
#[derive(Debug)]
pub enum Refused {
    /// The connection ended, or broke the protocol.
    Lost(Lost),
    /// This error was sent to the client, or has to be.
    Error(Error),
}

impl From<Condition> for Refused {
    fn from(condition: Condition) -> Self {
        Refused::Error(condition.into())
    }
}

impl From<Lost> for Refused {
    fn from(lost: Lost) -> Self {
        Refused::Lost(lost)
    }
}

/// The capabilities that the server offers: all that the codec has. `local_infile` decides about LOCAL INFILE.
pub fn offered(worker: &Worker) -> Capabilities {
    match worker.shared.tls {
        Some(_) => Capabilities::SUPPORTED.with(Capabilities::SSL),
        None => Capabilities::SUPPORTED,
    }
}

pub fn new_nonce() -> [u8; NONCE_BYTES] {
    auth::nonce_from(os::random_bytes())
}

/// Greets the client and authenticates it.
pub async fn login(
    client: &mut Client,
    input: &mut Input,
    info: &SessionInfo,
    worker: &Worker,
    peer: &Peer,
    deadline: Instant,
) -> Result<(LoggedIn, Seat), Refused> {
    let nonce = new_nonce();
    let capabilities = offered(worker);
    client.output.prepare();
    client.output.writer.set_sequence(0);
    Greeting {
        version: crate::config::VERSION,
        connection_id: info.id,
        nonce: &nonce,
        capabilities,
        collation: 255,
        status: Status::AUTOCOMMIT,
        plugin: protocol::CACHING_SHA2_PASSWORD,
    }
    .write(&mut client.output.writer);
    client.output.flush(&client.socket, info).await?;

    let malformed = |error| Refused::Lost(Lost::Protocol(error));
    let payload = input.next_payload(&client.socket, deadline, info).await?;
    let wants_tls = matches!(Login::parse(payload, capabilities).map_err(malformed)?, Login::TlsRequest { .. });
    let mut first = payload.to_vec();
    if wants_tls {
        let Some(config) = worker.shared.tls.clone() else { return Err(Refused::Error(Condition::HandshakeError.into())) };
        let early = input.take_unread();
        count(&worker.counters.events.tls_begun);
        client.socket.start_tls(config, &early, deadline, info).await?;
        count(&worker.counters.events.tls_finished);
        if client.socket.tls().is_some_and(|tls| tls.is_resumed) {
            count(&worker.counters.events.tls_resumed);
        }
        first = input.next_payload(&client.socket, deadline, info).await?.to_vec();
    }
    let login = Login::parse(&first, capabilities).map_err(malformed)?;
    let Login::Response(response) = login else { return Err(Refused::Error(Condition::HandshakeError.into())) };
    if !client.socket.is_private() && worker.shared.globals().get(variables::known("require_secure_transport")).as_bool() {
        client.output.writer.set_sequence(input.reader.sequence());
        return Err(Refused::Error(Error::from(Condition::SecureTransportRequired)));
    }
    let capabilities = response.capabilities.and(capabilities);
    let user = String::from_utf8_lossy(response.user).into_owned();
    let database = response.database.map(|name| String::from_utf8_lossy(name).into_owned()).filter(|name| !name.is_empty());
    let collation = response.collation;
    let plugin =
        response.plugin.map_or_else(|| protocol::NATIVE_PASSWORD.to_owned(), |name| String::from_utf8_lossy(name).into_owned());
    let claim = Claim {
        user: &user,
        peer,
        offer: Offer::Made { plugin, proof: response.proof.to_vec(), nonce },
        can_switch: capabilities.has(Capabilities::PLUGIN_AUTH),
        handles_expired: capabilities.has(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS),
    };
    *info.user.borrow_mut() = user.clone();
    info.set_attributes(response.attributes);
    client.output.writer.set_sequence(input.reader.sequence());
    let Entry { identity, seat } = authenticate(client, input, info, worker, claim, deadline).await?;
    Ok((LoggedIn { capabilities, identity, database, collation }, seat))
}

/// The proof that the client has sent so far.
pub enum Offer {
    /// With this plugin, for this nonce.
    Made { plugin: String, proof: Vec<u8>, nonce: [u8; NONCE_BYTES] },
    /// None yet: the client is asked.
    None,
}

/// A client that tries to log in.
pub struct Claim<'a> {
    pub user: &'a str,
    pub peer: &'a Peer,
    pub offer: Offer,
    /// The client supports a switch of the plugin.
    pub can_switch: bool,
    /// The client can handle an expired password.
    pub handles_expired: bool,
}

/// Authenticates the client for an account, and checks whether the account may be used.
pub async fn authenticate(
    client: &mut Client,
    input: &mut Input,
    info: &SessionInfo,
    worker: &Worker,
    claim: Claim<'_>,
    deadline: Instant,
) -> Result<Entry, Refused> {
    let store = &worker.shared.accounts;
    let accounts = store.snapshot();
    let (user, peer) = (claim.user, claim.peer);
    let found = accounts.find(user, &peer.host, peer.ip).cloned();
    // The exchange must not reveal whether the account exists.
    let account = found.clone().unwrap_or_else(|| {
        let plugin = store.logins.decoy(&accounts, user);
        Arc::new(Account { plugin, stored: decoy(plugin).to_owned(), ..Account::default() })
    });
    let handles_expired = claim.handles_expired;
    let mut exchange = Exchange { client, input, info, deadline, host: &peer.host };
    let proved = exchange.prove(worker, &account, claim.offer, claim.can_switch).await?;
    let using_password = proved.using_password;
    let denied = || Error::AccessDenied { user: user.to_owned(), host: peer.host.clone(), using_password };
    let Some(account) = found.filter(|_| proved.is_right) else {
        let known = accounts.find(user, &peer.host, peer.ip);
        store.logins.failed(known.map(|account| &**account), &peer.host);
        let delay = store.logins.delay(&peer.host);
        if !delay.is_zero() {
            worker.core.sleep_until((worker.core.now() + delay).min(deadline)).await;
        }
        if let Some(known) = known {
            store.logins.refuse_blocked(known, &peer.host)?;
        }
        return Err(Refused::Error(denied()));
    };
    let globals = worker.shared.globals();
    let global = |name| globals.get(variables::known(name));
    store.logins.refuse_blocked(&account, &peer.host)?;
    if account.locked {
        return Err(Refused::Error(Error::from(Condition::AccountHasBeenLocked {
            user: user.into(),
            host: (&peer.host).into(),
        })));
    }
    if !fulfils(&account.requirement, exchange.client.socket.tls()) {
        return Err(Refused::Error(denied()));
    }
    let expired = is_expired(&account, global("default_password_lifetime").as_u64());
    if expired && !handles_expired && global("disconnect_on_expired_password").as_bool() {
        return Err(Refused::Error(Error::from(Condition::MustChangePasswordLogin)));
    }
    let seat = store.logins.take_seat(&account, global("max_user_connections").as_u64())?;
    store.logins.succeeded(&account, &peer.host);
    let mandatory = worker.mandatory_roles();
    let roles = accounts.roles_at_login(&account, global("activate_all_roles_on_login").as_bool(), &mandatory);
    let (name, user, host) = (account.name.clone(), user.to_owned(), peer.host.clone());
    Ok(Entry { identity: Identity { name, user, host, using_password, roles, expired, is_applier: false }, seat })
}

/// REQUIRE
fn fulfils(needed: &Requirement, tls: Option<TlsInfo>) -> bool {
    if needed.is_none() {
        return true;
    }
    let Some(tls) = tls else { return false };
    let cipher_fits = needed.cipher.as_ref().is_none_or(|cipher| *cipher == tls.cipher);
    let shown = tls.certificate.as_ref();
    let is = |needed: &Option<String>, shown: Option<&String>| needed.is_none() || needed.as_ref() == shown;
    cipher_fits
        && (!needed.x509 || shown.is_some())
        && is(&needed.subject, shown.map(|certificate| &certificate.subject))
        && is(&needed.issuer, shown.map(|certificate| &certificate.issuer))
}

/// A stored password that no password matches.
fn decoy(plugin: Plugin) -> &'static str {
    match plugin {
        Plugin::CachingSha2 => "$A$005$....................-------------------------------------------",
        Plugin::Native => "*0000000000000000000000000000000000000000",
    }
}

/// Has the password expired?
fn is_expired(account: &Account, usual_days: u64) -> bool {
    let days = match account.lifetime {
        Lifetime::Default => usual_days,
        Lifetime::Never => 0,
        Lifetime::Days(days) => days.into(),
    };
    let age = accounts::now_seconds() - account.password_changed;
    account.expired || days > 0 && account.password_changed > 0 && age > days as i64 * 24 * 3600
}

/// The packets of one proof.
struct Exchange<'a> {
    client: &'a mut Client,
    input: &'a mut Input,
    info: &'a SessionInfo,
    deadline: Instant,
    /// The host of the client.
    host: &'a str,
}

/// The result of the exchange.
struct Proved {
    is_right: bool,
    using_password: bool,
}

impl Exchange<'_> {
    async fn prove(
        &mut self,
        worker: &Worker,
        account: &Arc<Account>,
        offer: Offer,
        can_switch: bool,
    ) -> Result<Proved, Refused> {
        let wanted = account.plugin.name();
        let is_known = |plugin: &str| plugin == protocol::NATIVE_PASSWORD || plugin == protocol::CACHING_SHA2_PASSWORD;
        let nothing = account.stored.is_empty();
        let (plugin, proof, nonce) = match offer {
            Offer::Made { plugin, proof, nonce }
                if plugin == wanted || nothing && is_known(&plugin) && auth::is_empty_proof(&proof) =>
            {
                (plugin, proof, nonce)
            }
            _ if !can_switch => return Err(Refused::Error(Condition::NotSupportedAuthMode.into())),
            _ => {
                let nonce = new_nonce();
                protocol::put_auth_switch(&mut self.client.output.writer, wanted, &nonce);
                (wanted.to_owned(), self.ask().await?, nonce)
            }
        };
        let using_password = !auth::is_empty_proof(&proof);
        let answer = |is_right| Proved { is_right, using_password };
        // Some clients do not send an empty proof for an empty password but scramble it like any other.
        let is_nothing = nothing && proves_nothing(&nonce, &proof);
        if is_nothing || !using_password {
            if is_nothing && using_password && plugin == protocol::CACHING_SHA2_PASSWORD {
                protocol::put_fast_auth_ok(&mut self.client.output.writer);
            }
            return Ok(answer(is_nothing));
        }
        if account.plugin == Plugin::Native {
            let mut hashes = account.passwords().filter_map(native_hash);
            return Ok(answer(hashes.any(|hash| auth::native_verify(&hash, &nonce, &proof))));
        }
        let logins = &worker.shared.accounts.logins;
        if logins.fast(account).iter().any(|hash| auth::sha2_verify(hash, &nonce, &proof)) {
            protocol::put_fast_auth_ok(&mut self.client.output.writer);
            return Ok(answer(true));
        }
        let Some(password) = self.password(worker, &nonce).await? else { return Ok(answer(false)) };
        let (store, account) = (Arc::clone(&worker.shared.accounts), Arc::clone(account));
        let proved = self.slowly(worker, move || store.logins.prove(&account, decoy(account.plugin), &password)).await?;
        Ok(answer(proved))
    }

    /// Gets the password itself: in clear if the channel is secure, else encrypted with our key. G2
    async fn password(&mut self, worker: &Worker, nonce: &[u8; NONCE_BYTES]) -> Result<Option<Vec<u8>>, Refused> {
        protocol::put_full_auth_request(&mut self.client.output.writer);
        let mut sent = self.ask().await?;
        if self.client.socket.is_private() {
            return Ok((sent.pop() == Some(0) && sent.len() <= PASSWORD_BYTES_MAX).then_some(sent));
        }
        let store = Arc::clone(&worker.shared.accounts);
        let Some(key) = self.slowly(worker, move || store.logins.key()).await? else { return Ok(None) };
        const WANTS_KEY: u8 = 2;
        if sent == [WANTS_KEY] {
            self.client.output.writer.packet(|out| {
                out.push(1);
                out.extend_from_slice(&key.public);
            });
            sent = self.ask().await?;
        }
        if sent.len() != key.bytes() {
            return Ok(None);
        }
        let nonce = *nonce;
        self.slowly(worker, move || key.decrypt(&sent, &nonce)).await
    }

    /// Runs slow work on another thread for as long as the client waits. 1040 if too many clients of its host wait.
    async fn slowly<T: Send + 'static>(&self, worker: &Worker, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refused> {
        let wait = worker.shared.accounts.logins.jobs.run(self.host, work);
        let done = self.client.socket.while_there(wait, self.deadline, self.info).await?;
        done.ok_or(Refused::Error(Condition::ConCountError.into()))
    }

    /// Sends the output and waits for the answer.
    async fn ask(&mut self) -> Result<Vec<u8>, Refused> {
        self.client.output.flush(&self.client.socket, self.info).await?;
        self.input.reader.set_sequence(self.client.output.writer.sequence());
        let answer = self.input.next_payload(&self.client.socket, self.deadline, self.info).await?.to_vec();
        self.client.output.writer.set_sequence(self.input.reader.sequence());
        Ok(answer)
    }
}

/// Is this a proof of the empty password?
fn proves_nothing(nonce: &[u8; NONCE_BYTES], proof: &[u8]) -> bool {
    auth::is_empty_proof(proof)
        || auth::native_verify(&auth::native_hash(b""), nonce, proof)
        || auth::sha2_verify(&auth::sha2_hash(b""), nonce, proof)
}
