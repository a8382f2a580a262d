//! Connects and logs in: what happens once for each connection, blocking, before any load.
//!
//! 1. The server greets, with its capabilities, a nonce and the plugin that it would log in with.
//! 2. The client answers with its capabilities, user, database, and the password scrambled as that plugin wants.
//! 3. The server takes that, refuses it, asks for another plugin (once), or goes on with the same one: `caching_sha2_password` may want
//!    the password itself, which goes over a unix socket as it is and over TCP encrypted with the server's key.
//!
//! Packets and scrambles are those of `mysql_common`, so that nothing of the server under test is on both sides.

use crate::Server;
use crate::error::Error;
use crate::packet;
use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context};
use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse};
use mysql_common::proto::MySerialize;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

/// What the client says that it takes as one packet.
const PACKET_BYTES_MAX: u32 = 16 << 20;
/// First byte of a packet with more authentication data.
const MORE: u8 = 0x01;

/// A connection of either kind.
#[derive(Debug)]
pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn open(server: &Server) -> io::Result<Self> {
        if let Some(path) = &server.socket {
            return Ok(Self::Unix(UnixStream::connect(path)?));
        }
        let stream = TcpStream::connect((server.host.as_str(), server.port))?;
        stream.set_nodelay(true)?;
        Ok(Self::Tcp(stream))
    }

    pub fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_nonblocking(true),
            Self::Unix(stream) => stream.set_nonblocking(true),
        }
    }

    /// The same connection under another descriptor.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
        })
    }
}

impl Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).read(buffer),
            Stream::Unix(stream) => (&mut &*stream).read(buffer),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).write(bytes),
            Stream::Unix(stream) => (&mut &*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Self::Tcp(stream) => stream.as_raw_fd(),
            Self::Unix(stream) => stream.as_raw_fd(),
        }
    }
}

/// A connection that is logged in.
#[derive(Debug)]
pub struct Session {
    pub stream: Stream,
    /// Whether the server may leave out columns that the client knows (MariaDB)
    pub may_omit_columns: bool,
}

impl Session {
    /// Connects and logs in; without `database` also where the server has none of that name.
    pub fn open(server: &Server, database: bool) -> Result<Self, Error> {
        let stream = Stream::open(server)?;
        let mut exchange = Exchange { stream: &stream, sequence: 0, out: Vec::new() };
        let greeting = exchange.receive()?;
        let greeting: HandshakePacket<'_> = ParseBuf(&greeting).parse(())?;
        let mut secrets = Secrets { server, nonce: greeting.nonce() };
        let plugin = greeting.auth_plugin().filter(is_known).unwrap_or(AuthPlugin::MysqlNativePassword);
        let (mut procedure, scrambled) = start(&plugin, &secrets)?;
        let wanted = capabilities(&greeting);
        let mariadb = mariadb_capabilities(&greeting);
        let response = HandshakeResponse::new(
            scrambled.as_deref(),
            greeting.server_version_parsed().unwrap_or_default(),
            Some(server.user.as_bytes()),
            database.then_some(server.database.as_bytes()),
            Some(plugin),
            if database { wanted | CapabilityFlags::CLIENT_CONNECT_WITH_DB } else { wanted },
            None,
            PACKET_BYTES_MAX,
        );
        exchange.send(|out| response.with_mariadb_ext_capabilities(mariadb).serialize(out))?;
        let mut switched = false;
        loop {
            let answer = exchange.receive()?;
            match answer[0] {
                packet::OK => break,
                packet::EOF if !switched => {
                    switched = true;
                    let request: AuthSwitchRequest<'_> = ParseBuf(&answer).parse(())?;
                    let plugin = request.auth_plugin();
                    secrets.nonce = request.plugin_data().to_vec();
                    let scrambled;
                    (procedure, scrambled) = start(&plugin, &secrets)?;
                    exchange.send(|out| out.extend(scrambled.unwrap_or_default()))?;
                }
                MORE => {
                    let more = procedure.run(&secrets, &answer[1..]).map_err(|e| Error::Login(e.to_string()))?;
                    if let Some(data) = more.data() {
                        exchange.send(|out| out.extend_from_slice(data))?;
                    }
                }
                _ => return Err(Error::Packet("a login neither granted nor refused")),
            }
        }
        Ok(Self { stream, may_omit_columns: mariadb.contains(MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA) })
    }
}

/// The plugins that the client logs in with.
fn is_known(plugin: &AuthPlugin<'_>) -> bool {
    matches!(plugin, AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password)
}

/// Begins with a plugin: its first answer to the nonce.
fn start(plugin: &AuthPlugin<'_>, secrets: &Secrets<'_>) -> Result<(AuthProc, Option<Vec<u8>>), Error> {
    if !is_known(plugin) {
        let name = String::from_utf8_lossy(plugin.as_bytes()).into_owned();
        return Err(Error::Login(format!("the server asks for {name}, which this client does not know")));
    }
    let failed = |e: &dyn std::fmt::Display| Error::Login(e.to_string());
    let mut procedure = AuthProc::init(plugin).map_err(|e| failed(&e))?;
    let first = procedure.run(secrets, &secrets.nonce).map_err(|e| failed(&e))?;
    let data = first.data().map(<[u8]>::to_vec);
    Ok((procedure, data))
}

fn capabilities(greeting: &HandshakePacket<'_>) -> CapabilityFlags {
    greeting.capabilities()
        & (CapabilityFlags::CLIENT_PROTOCOL_41
            | CapabilityFlags::CLIENT_SECURE_CONNECTION
            | CapabilityFlags::CLIENT_LONG_PASSWORD
            | CapabilityFlags::CLIENT_LONG_FLAG
            | CapabilityFlags::CLIENT_TRANSACTIONS
            | CapabilityFlags::CLIENT_MULTI_STATEMENTS
            | CapabilityFlags::CLIENT_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PLUGIN_AUTH)
}

/// MariaDB has its own capabilities where it does not claim to be MySQL (the first flag).
fn mariadb_capabilities(greeting: &HandshakePacket<'_>) -> MariadbCapabilities {
    let is_mariadb = greeting.maria_db_server_version_parsed().is_some();
    if !is_mariadb || greeting.capabilities().contains(CapabilityFlags::CLIENT_LONG_PASSWORD) {
        return MariadbCapabilities::empty();
    }
    greeting.mariadb_ext_capabilities() & MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA
}

/// What plugins ask for.
struct Secrets<'a> {
    server: &'a Server,
    nonce: Vec<u8>,
}

impl Context for &Secrets<'_> {
    fn pass(&self) -> &[u8] {
        self.server.password.as_bytes()
    }

    fn is_ipc_transport(&self) -> bool {
        self.server.socket.is_some()
    }

    fn is_tls_transport(&self) -> bool {
        false
    }

    fn scramble(&self) -> &[u8] {
        &self.nonce
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

/// Packets back and forth.
struct Exchange<'a> {
    stream: &'a Stream,
    sequence: u8,
    out: Vec<u8>,
}

impl Exchange<'_> {
    fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        packet::begin(&mut self.out);
        write(&mut self.out);
        packet::finish(&mut self.out, self.sequence)?;
        self.stream.write_all(&self.out)?;
        Ok(())
    }

    /// A payload, which is not empty. A refusal is an error.
    fn receive(&mut self) -> Result<Vec<u8>, Error> {
        let mut header = [0; packet::HEADER_BYTES];
        self.stream.read_exact(&mut header)?;
        let [a, b, c, sequence] = header;
        let mut payload = vec![0; packet::payload_bytes([a, b, c])?];
        self.stream.read_exact(&mut payload)?;
        self.sequence = sequence.wrapping_add(1);
        if payload[0] == packet::ERR { Err(packet::refusal(&payload)) } else { Ok(payload) }
    }
}
