//! The start of a connection: greeting, authentication, the session's first settings.
//!
//! A greeting with a nonce; the client's answer, within connect_timeout; the account (`root`, from this machine only, with an empty
//! password); OK with the session's state. A client that begins with a plugin of its own is switched to one that is known here.

use super::Client;
use super::info::SessionInfo;
use crate::connection::{Input, Lost, Peer};
use crate::error::Error;
use protocol::auth::{self, Password};
use protocol::{Capabilities, Greeting, Login, NONCE_BYTES, Status};
use std::time::Instant;

/// What was agreed.
#[derive(Debug)]
pub struct LoggedIn {
    pub capabilities: Capabilities,
    pub user: String,
    pub database: Option<String>,
    pub collation: u16,
}

/// Why nobody logged in.
#[derive(Debug)]
pub enum Refused {
    /// The connection ended, or broke the protocol.
    Lost(Lost),
    /// The client has been told, or is to be told, this.
    Error(Error),
}

impl From<Lost> for Refused {
    fn from(lost: Lost) -> Self {
        Refused::Lost(lost)
    }
}

/// What we offer: everything of the codec. Whether a client's files are asked for, `local_infile` says.
pub fn offered() -> Capabilities {
    Capabilities::SUPPORTED
}

/// An account as authentication sees it.
struct Account {
    password: Password,
    local_only: bool,
}

fn find_account(user: &str) -> Option<Account> {
    // Accounts come with CREATE USER; until then there is one.
    (user == "root").then_some(Account { password: Password::Empty, local_only: true })
}

pub fn new_nonce() -> [u8; NONCE_BYTES] {
    auth::nonce_from(rand::random())
}

/// Greets the client and lets it prove who it is.
pub async fn login(
    client: &mut Client,
    input: &mut Input,
    info: &SessionInfo,
    peer: &Peer,
    deadline: Instant,
) -> Result<LoggedIn, Refused> {
    let nonce = new_nonce();
    let capabilities = offered();
    client.output.prepare();
    client.output.writer.set_sequence(0);
    Greeting {
        version: crate::VERSION,
        connection_id: info.id,
        nonce: &nonce,
        capabilities,
        collation: 255,
        status: Status::AUTOCOMMIT,
        plugin: protocol::CACHING_SHA2_PASSWORD,
    }
    .write(&mut client.output.writer);
    client.output.flush(&client.socket, info).await?;

    let payload = input.next_payload(&client.socket, deadline, info).await?;
    let login = Login::parse(payload, capabilities).map_err(|error| Refused::Lost(Lost::Protocol(error)))?;
    let Login::Response(response) = login else {
        // TLS was not offered, so a client that insists on it breaks the protocol.
        return Err(Refused::Error(Error::BadHandshake));
    };
    let mut logged_in = LoggedIn {
        capabilities: response.capabilities.and(capabilities),
        user: String::from_utf8_lossy(response.user).into_owned(),
        database: response.database.map(|name| String::from_utf8_lossy(name).into_owned()),
        collation: response.collation,
    };
    let proof = response.proof.to_vec();
    let plugin = response.plugin.map(|plugin| String::from_utf8_lossy(plugin).into_owned());
    *info.user.borrow_mut() = logged_in.user.clone();
    info.set_attributes(response.attributes);
    client.output.writer.set_sequence(input.reader.sequence());
    authenticate(client, input, info, peer, &logged_in.user, plugin, proof, nonce, deadline).await?;
    if logged_in.database.as_ref().is_some_and(String::is_empty) {
        logged_in.database = None;
    }
    Ok(logged_in)
}

/// Checks the proof, asking for another one where the client used a plugin that cannot prove this account's password.
#[expect(clippy::too_many_arguments, reason = "the parts of one login, used once here and once by COM_CHANGE_USER")]
pub async fn authenticate(
    client: &mut Client,
    input: &mut Input,
    info: &SessionInfo,
    peer: &Peer,
    user: &str,
    plugin: Option<String>,
    mut proof: Vec<u8>,
    mut nonce: [u8; NONCE_BYTES],
    deadline: Instant,
) -> Result<(), Refused> {
    let denied =
        |using_password| Refused::Error(Error::AccessDenied { user: user.to_owned(), host: peer.host.clone(), using_password });
    let account = find_account(user).filter(|account| peer.is_local || !account.local_only);
    let password = account.as_ref().map_or(Password::Empty, |account| account.password);
    let known = |plugin: &str| plugin == protocol::NATIVE_PASSWORD || plugin == protocol::CACHING_SHA2_PASSWORD;
    let mut plugin = plugin.unwrap_or_else(|| protocol::NATIVE_PASSWORD.to_owned());
    let wanted = password.plugin().filter(|wanted| *wanted != plugin);
    let switch_to = match wanted {
        Some(wanted) => Some(wanted),
        None if !known(&plugin) => Some(protocol::NATIVE_PASSWORD),
        // A wrong proof by SHA-256 has a second chance in the plugin that every client computes alike.
        None if plugin == protocol::CACHING_SHA2_PASSWORD && !proves(&password, &plugin, &nonce, &proof) => {
            Some(protocol::NATIVE_PASSWORD)
        }
        None => None,
    };
    if let Some(to) = switch_to {
        nonce = new_nonce();
        protocol::put_auth_switch(&mut client.output.writer, to, &nonce);
        client.output.flush(&client.socket, info).await?;
        input.reader.set_sequence(client.output.writer.sequence());
        proof = input.next_payload(&client.socket, deadline, info).await?.to_vec();
        client.output.writer.set_sequence(input.reader.sequence());
        plugin = to.to_owned();
    }
    let using_password = !auth::is_empty_proof(&proof);
    if account.is_none() || !proves(&password, &plugin, &nonce, &proof) {
        return Err(denied(using_password));
    }
    if plugin == protocol::CACHING_SHA2_PASSWORD && using_password {
        protocol::put_fast_auth_ok(&mut client.output.writer);
    }
    Ok(())
}

/// Is this the proof of the password? Some clients do not send an empty one for an empty password but scramble it like any other.
fn proves(password: &Password, plugin: &str, nonce: &[u8; NONCE_BYTES], proof: &[u8]) -> bool {
    if *password != Password::Empty {
        return password.verify(plugin, nonce, proof);
    }
    auth::is_empty_proof(proof)
        || Password::Native(auth::native_hash(b"")).verify(plugin, nonce, proof)
        || Password::Sha2(auth::sha2_hash(b"")).verify(plugin, nonce, proof)
}
