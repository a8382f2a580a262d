//! The start of a connection: greeting, login, and what authentication plugins say to each other.
//!
//! ```text
//! server                                 client
//! Greeting (nonce, capabilities)  ->
//!                                 <-     Login: TlsRequest, or Response (user, proof, database, attributes)
//! [AuthSwitch (plugin, nonce)     ->     proof]
//! [fast ok | full auth wanted     ->     password over a secure channel]
//! OK | ERR                        ->
//! ```
//! COM_CHANGE_USER carries the same fields in another order and goes on like the login.

use crate::constants::{Capabilities, NONCE_BYTES, Status};
use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::packet::PacketWriter;
use crate::put::{put_u16, put_u32, put_zero_terminated};

/// The server's first packet.
#[derive(Clone, Copy, Debug)]
pub struct Greeting<'a> {
    /// Such as `8.4.0-heddle-0.1.0`.
    pub version: &'a str,
    pub connection_id: u32,
    /// From [`crate::auth::nonce_from`].
    pub nonce: &'a [u8; NONCE_BYTES],
    pub capabilities: Capabilities,
    /// The server's default collation; only its low byte fits.
    pub collation: u16,
    pub status: Status,
    /// The plugin that most accounts use.
    pub plugin: &'a str,
}

impl Greeting<'_> {
    pub fn write(&self, writer: &mut PacketWriter) {
        let capabilities = self.capabilities.0;
        writer.packet(|out| {
            out.push(10);
            put_zero_terminated(out, self.version.as_bytes());
            put_u32(out, self.connection_id);
            out.extend_from_slice(&self.nonce[..8]);
            out.push(0);
            put_u16(out, capabilities as u16);
            out.push(self.collation as u8);
            put_u16(out, self.status.0);
            put_u16(out, (capabilities >> 16) as u16);
            out.push(NONCE_BYTES as u8 + 1);
            out.extend_from_slice(&[0; 10]);
            out.extend_from_slice(&self.nonce[8..]);
            out.push(0);
            put_zero_terminated(out, self.plugin.as_bytes());
        });
    }
}

/// The client's first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login<'a> {
    /// The client wants TLS from here on and then says everything again.
    TlsRequest {
        capabilities: Capabilities,
    },
    Response(LoginResponse<'a>),
}

/// Who wants in, and how they prove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginResponse<'a> {
    /// What the client asked for; `and` it with the server's.
    pub capabilities: Capabilities,
    pub packet_bytes_max: u32,
    pub collation: u16,
    pub user: &'a [u8],
    pub proof: &'a [u8],
    pub database: Option<&'a [u8]>,
    /// The plugin that made `proof`.
    pub plugin: Option<&'a [u8]>,
    pub attributes: Attributes<'a>,
    /// Level the client wishes, where it asked for zstd.
    pub zstd_level: Option<u8>,
}

impl<'a> Login<'a> {
    /// Parses the first packet; `offered` are the capabilities of the greeting.
    pub fn parse(payload: &'a [u8], offered: Capabilities) -> Result<Self> {
        let mut cursor = Cursor::new("login", payload);
        let low = cursor.u16("capabilities")?;
        if !Capabilities(u32::from(low)).has(Capabilities::PROTOCOL_41) {
            return Err(Error::OldProtocol);
        }
        let capabilities = Capabilities(u32::from(low) | u32::from(cursor.u16("capabilities")?) << 16);
        let packet_bytes_max = cursor.u32("maximum packet size")?;
        let collation = u16::from(cursor.u8("collation")?);
        cursor.bytes(23, "filler")?;
        if cursor.is_empty() && capabilities.has(Capabilities::SSL) {
            return Ok(Login::TlsRequest { capabilities });
        }
        let agreed = capabilities.and(offered);
        let user = cursor.until_zero("user")?;
        let proof = read_proof(&mut cursor, agreed)?;
        let database = if agreed.has(Capabilities::CONNECT_WITH_DB) && !cursor.is_empty() {
            Some(cursor.until_zero_or_end()).filter(|name| !name.is_empty())
        } else {
            None
        };
        let plugin =
            if agreed.has(Capabilities::PLUGIN_AUTH) && !cursor.is_empty() { Some(cursor.until_zero_or_end()) } else { None };
        let attributes = read_attributes(&mut cursor, agreed)?;
        let zstd_level =
            if agreed.has(Capabilities::ZSTD_COMPRESSION) && !cursor.is_empty() { Some(cursor.u8("zstd level")?) } else { None };
        Ok(Login::Response(LoginResponse {
            capabilities,
            packet_bytes_max,
            collation,
            user,
            proof,
            database,
            plugin,
            attributes,
            zstd_level,
        }))
    }
}

fn read_proof<'a>(cursor: &mut Cursor<'a>, agreed: Capabilities) -> Result<&'a [u8]> {
    const FIELD: &str = "authentication data";
    if agreed.has(Capabilities::PLUGIN_AUTH_LENENC_DATA) {
        cursor.length_encoded_bytes(FIELD)
    } else if agreed.has(Capabilities::SECURE_CONNECTION) {
        let length = cursor.u8(FIELD)?;
        cursor.bytes(usize::from(length), FIELD)
    } else {
        Ok(cursor.until_zero_or_end())
    }
}

fn read_attributes<'a>(cursor: &mut Cursor<'a>, agreed: Capabilities) -> Result<Attributes<'a>> {
    if !agreed.has(Capabilities::CONNECT_ATTRS) || cursor.is_empty() {
        return Ok(Attributes { encoded: &[] });
    }
    Attributes::check(cursor.length_encoded_bytes("connection attributes")?)
        .ok_or_else(|| cursor.malformed("connection attributes"))
}

/// Connection attributes: names and values with which a client describes itself (`program_name`, `_os`, ...).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Attributes<'a> {
    encoded: &'a [u8],
}

impl<'a> Attributes<'a> {
    fn check(encoded: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor::new("connection attributes", encoded);
        while !cursor.is_empty() {
            read_pair(&mut cursor)?;
        }
        Some(Self { encoded })
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut cursor = Cursor::new("connection attributes", self.encoded);
        std::iter::from_fn(move || read_pair(&mut cursor))
    }
}

fn read_pair<'a>(cursor: &mut Cursor<'a>) -> Option<(&'a [u8], &'a [u8])> {
    Some((cursor.length_encoded_bytes("name").ok()?, cursor.length_encoded_bytes("value").ok()?))
}

/// COM_CHANGE_USER: become someone else on the same connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeUser<'a> {
    pub user: &'a [u8],
    /// Made for the nonce of the greeting; most clients send nothing and wait for [`put_auth_switch`].
    pub proof: &'a [u8],
    pub database: Option<&'a [u8]>,
    pub collation: Option<u16>,
    pub plugin: Option<&'a [u8]>,
    pub attributes: Attributes<'a>,
}

impl<'a> ChangeUser<'a> {
    /// `payload` follows the command byte.
    pub(crate) fn parse(cursor: &mut Cursor<'a>, agreed: Capabilities) -> Result<Self> {
        let user = cursor.until_zero("user")?;
        let proof = if agreed.has(Capabilities::SECURE_CONNECTION) {
            let length = cursor.u8("authentication data")?;
            cursor.bytes(usize::from(length), "authentication data")?
        } else {
            cursor.until_zero_or_end()
        };
        let database = Some(cursor.until_zero_or_end()).filter(|name| !name.is_empty());
        let collation = if cursor.is_empty() { None } else { Some(cursor.u16("collation")?) };
        let plugin =
            if agreed.has(Capabilities::PLUGIN_AUTH) && !cursor.is_empty() { Some(cursor.until_zero_or_end()) } else { None };
        let attributes = read_attributes(cursor, agreed)?;
        Ok(Self { user, proof, database, collation, plugin, attributes })
    }
}

/// Asks the client for a proof by another plugin, for a new nonce.
pub fn put_auth_switch(writer: &mut PacketWriter, plugin: &str, nonce: &[u8; NONCE_BYTES]) {
    writer.packet(|out| {
        out.push(0xfe);
        put_zero_terminated(out, plugin.as_bytes());
        out.extend_from_slice(nonce);
        out.push(0);
    });
}

/// `caching_sha2_password`: the proof was right; OK follows at once.
pub fn put_fast_auth_ok(writer: &mut PacketWriter) {
    put_auth_more_data(writer, &[3]);
}

/// `caching_sha2_password`: the server needs the password itself. Over TLS or a unix socket the client answers with it and a zero
/// byte; elsewhere with the byte 2, a request for the server's RSA key.
pub fn put_full_auth_request(writer: &mut PacketWriter) {
    put_auth_more_data(writer, &[4]);
}

/// Data for the client's half of the plugin.
pub fn put_auth_more_data(writer: &mut PacketWriter, data: &[u8]) {
    writer.packet(|out| {
        out.push(1);
        out.extend_from_slice(data);
    });
}

#[cfg(test)]
#[path = "handshake/tests.rs"]
mod tests;
