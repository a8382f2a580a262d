//! TLS between the socket and the packets.
//!
//! Bytes that a connection with TLS reads come out of rustls, and what it writes goes in; rustls asks the socket for records and gives it
//! records, and neither ever waits: a socket that would block makes the caller wait as for plain bytes.
//!
//! T1: a read would block only when no decrypted byte is left and the socket has none, so readiness means what it means without TLS.
//! T2: records that the socket did not take are sent before more is encrypted, and `Output` is empty only when they are gone.
//!
//! At the first start a certificate authority and a certificate of the server are made in the data directory, by the names that MySQL has
//! for them; files of these names that are there already are used. They are valid until 2046. Keys are ECDSA P-256: a handshake costs a worker some 100 µs.

use super::Stream;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use x509_parser::objects::{oid_registry, oid2abbrev};
use x509_parser::prelude::{FromDer, X509Certificate, X509Name};

/// Plain bytes that are encrypted at a time.
const PIECE_BYTES: usize = 64 << 10;

/// One connection's TLS.
pub struct Tls(RefCell<ServerConnection>);

/// The negotiated parameters, for SHOW STATUS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsInfo {
    pub version: &'static str,
    pub cipher: String,
    /// The one that the client has shown, which our authority signed.
    pub certificate: Option<Certificate>,
    /// The client came back with a session that it had before.
    pub is_resumed: bool,
}

/// How the server offers TLS, for SHOW STATUS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsOffer {
    /// Its certificate's, as OpenSSL prints moments: `Nov 21 20:42:57 2036 GMT`.
    pub not_before: String,
    pub not_after: String,
    /// With `:` between.
    pub ciphers: String,
    /// Clients may show a certificate.
    pub asks_for_certificates: bool,
}

/// How long sessions can be resumed, in seconds, and how many are kept: rustls's own figures.
pub const SESSION_SECONDS: u64 = 24 * 60 * 60;
pub const SESSIONS_KEPT: usize = 256;

/// Subject and issuer of a certificate as OpenSSL prints them: `/C=SE/O=Heddle/CN=client`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pub subject: String,
    pub issuer: String,
}

impl Certificate {
    /// `None`: these bytes are no certificate.
    fn read(der: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        Some(Self { subject: on_one_line(certificate.subject()), issuer: on_one_line(certificate.issuer()) })
    }
}

/// The output of OpenSSL's X509_NAME_oneline(3) for a name.
fn on_one_line(name: &X509Name<'_>) -> String {
    let mut line = String::new();
    for attribute in name.iter_attributes() {
        let kind = attribute.attr_type();
        match oid2abbrev(kind, oid_registry()) {
            Ok(short) => line.extend(["/", short, "="]),
            Err(_) => line.extend(["/", &kind.to_id_string(), "="]),
        }
        for &byte in attribute.attr_value().data {
            match byte {
                b' '..=b'~' => line.push(char::from(byte)),
                _ => line.push_str(&format!("\\x{byte:02X}")),
            }
        }
    }
    line
}

/// Bytes of a stream, by reference.
struct Raw<'a>(&'a Stream);

impl Read for Raw<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Tls {
    /// `early`: the part of the client's first record that was read already.
    pub fn new(config: Arc<ServerConfig>, early: &[u8]) -> io::Result<Self> {
        let mut connection = ServerConnection::new(config).map_err(io::Error::other)?;
        let mut rest = early;
        while !rest.is_empty() {
            if connection.read_tls(&mut rest)? == 0 {
                break;
            }
            connection.process_new_packets().map_err(io::Error::other)?;
        }
        Ok(Self(RefCell::new(connection)))
    }

    pub fn is_handshaking(&self) -> bool {
        self.0.borrow().is_handshaking()
    }

    /// Continues the handshake, as far as the socket has input and takes output.
    pub fn handshake(&self, stream: &Stream) -> io::Result<()> {
        while self.is_handshaking() {
            self.send(stream)?;
            if self.is_handshaking() {
                self.receive(stream)?;
            }
        }
        self.send(stream)
    }

    /// Reads records; an end of the stream is an error here.
    fn receive(&self, stream: &Stream) -> io::Result<usize> {
        let mut connection = self.0.borrow_mut();
        let count = connection.read_tls(&mut Raw(stream))?;
        let processed = connection.process_new_packets();
        if let Err(error) = processed {
            // The alert that says why; if it does not go out, nobody waits for it.
            let _ = connection.write_tls(&mut Raw(stream));
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        if count == 0 && connection.is_handshaking() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(count)
    }

    /// T2
    pub fn send(&self, stream: &Stream) -> io::Result<()> {
        let mut connection = self.0.borrow_mut();
        while connection.wants_write() {
            if connection.write_tls(&mut Raw(stream))? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }

    /// T1
    pub fn read(&self, stream: &Stream, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.borrow_mut().reader().read(buffer);
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The client left without a farewell.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                other => return other,
            }
            self.receive(stream)?;
        }
    }

    pub fn write(&self, stream: &Stream, bytes: &[u8]) -> io::Result<usize> {
        self.send(stream)?;
        let count = self.0.borrow_mut().writer().write(&bytes[..bytes.len().min(PIECE_BYTES)])?;
        match self.send(stream) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    pub fn info(&self) -> TlsInfo {
        let connection = self.0.borrow();
        let version = match connection.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3",
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "",
        };
        let cipher = connection.negotiated_cipher_suite().map_or(String::new(), cipher_name);
        let shown = connection.peer_certificates().and_then(|chain| chain.first());
        TlsInfo {
            version,
            cipher,
            certificate: shown.and_then(|certificate| Certificate::read(certificate)),
            is_resumed: connection.handshake_kind() == Some(rustls::HandshakeKind::Resumed),
        }
    }
}

/// OpenSSL's name, as MySQL has it.
fn cipher_name(suite: rustls::SupportedCipherSuite) -> String {
    let suite = format!("{:?}", suite.suite());
    match suite.strip_prefix("TLS13_") {
        Some(rest) => format!("TLS_{rest}"),
        None => {
            let name = suite.trim_start_matches("TLS_").replace("_WITH_", "-").replace("AES_", "AES").replace('_', "-");
            // The hash is a part of others' names only.
            name.strip_suffix("-POLY1305-SHA256").map_or(name.clone(), |name| format!("{name}-POLY1305"))
        }
    }
}

/// A moment as ASN1_TIME_print(3) of OpenSSL prints it.
fn moment(time: x509_parser::time::ASN1Time) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let Some(time) = types::DateTime::from_utc_micros(time.timestamp().saturating_mul(1_000_000)) else { return String::new() };
    let types::DateTime { date, hour, minute, second, .. } = time;
    let month = MONTHS[usize::from(date.month) - 1];
    format!("{month} {:2} {hour:02}:{minute:02}:{second:02} {} GMT", date.day, date.year)
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

/// Configures TLS with the certificates in a directory; missing ones are generated.
pub fn configure(directory: &Path) -> Result<(Arc<ServerConfig>, TlsOffer), String> {
    let of = |name: &str| directory.join(name);
    let (ca, certificate, key) = (of("ca.pem"), of("server-cert.pem"), of("server-key.pem"));
    let present = [&certificate, &key].map(|path| path.exists());
    if present == [false, false] || MADE.iter().any(|name| beside(directory, name).exists()) {
        make_certificates(directory).map_err(|error| format!("cannot make certificates in {}: {error}", directory.display()))?;
    }
    let unreadable = |path: &Path, error: rustls::pki_types::pem::Error| format!("cannot read {}: {error}", path.display());
    let read = |path: &Path| -> Result<Vec<CertificateDer<'static>>, String> {
        let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
        found.map_err(|error| unreadable(path, error))
    };
    let chain = read(&certificate)?;
    let key = PrivateKeyDer::from_pem_file(&key).map_err(|error| unreadable(&key, error))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let asks_for_certificates = ca.exists();
    let ciphers = provider.cipher_suites.iter().copied().map(cipher_name).collect::<Vec<_>>().join(":");
    let validity = chain.first().and_then(|own| Some(X509Certificate::from_der(own).ok()?.1.validity().clone()));
    let [not_before, not_after] =
        validity.map_or_else(Default::default, |validity| [validity.not_before, validity.not_after].map(moment));
    let builder = if asks_for_certificates {
        let mut roots = RootCertStore::empty();
        for certificate in read(&ca)? {
            roots.add(certificate).map_err(|error| format!("{}: {error}", ca.display()))?;
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .allow_unauthenticated()
            .build()
            .map_err(|error| format!("{}: {error}", ca.display()))?;
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| format!("{}: {error}", certificate.display()))?;
    config.session_storage = rustls::server::ServerSessionMemoryCache::new(SESSIONS_KEPT);
    Ok((Arc::new(config), TlsOffer { not_before, not_after, ciphers, asks_for_certificates }))
}

/// An authority and two certificates that it signs, for the server and for clients.
fn make_certificates(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
    let named = |name: &str, hosts: Vec<String>| -> Result<CertificateParams, rcgen::Error> {
        let mut params = CertificateParams::new(hosts)?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = rcgen::date_time_ymd(2026, 1, 1);
        params.not_after = rcgen::date_time_ymd(2046, 1, 1);
        Ok(params)
    };
    let mut authority = named("Heddle_Server_Auto_Generated_CA_Certificate", Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate()?;
    let certificate = authority.self_signed(&authority_key)?;
    let mut texts = vec![certificate.pem(), authority_key.serialize_pem()];
    let issuer = Issuer::new(authority, authority_key);
    let hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    for (kind, hosts) in [("Server", hosts), ("Client", Vec::new())] {
        let params = named(&format!("Heddle_Server_Auto_Generated_{kind}_Certificate"), hosts)?;
        let key = KeyPair::generate()?;
        texts.extend([params.signed_by(&key, &issuer)?.pem(), key.serialize_pem()]);
    }
    put(directory, &texts)?;
    Ok(())
}

/// The generated files, in the order of their texts.
const MADE: [&str; 6] = ["ca.pem", "ca-key.pem", "server-cert.pem", "server-key.pem", "client-cert.pem", "client-key.pem"];

/// The temporary file for a text, until all texts are on disk.
fn beside(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.new"))
}

/// Writes the files; keys are readable by their owner only. If this is interrupted, some file still has its temporary
/// name, and all are generated again.
fn put(directory: &Path, texts: &[String]) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    for (name, text) in MADE.iter().zip(texts) {
        let mode = if name.ends_with("-key.pem") { 0o600 } else { 0o644 };
        let path = beside(directory, name);
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
    }
    os::sync_dir(directory)?;
    for name in MADE {
        std::fs::rename(beside(directory, name), directory.join(name))?;
    }
    os::sync_dir(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate with these attributes as subject.
    fn subject(attributes: &[(rcgen::DnType, &str)]) -> Certificate {
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, value) in attributes {
            params.distinguished_name.push(kind.clone(), *value);
        }
        let certificate = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap();
        Certificate::read(certificate.der()).unwrap()
    }

    #[test]
    fn certificates_are_made_whole_or_anew() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let of = |name: &str| directory.path().join(name);
        let text = || std::fs::read(of("server-cert.pem")).unwrap();
        let (_, offer) = configure(directory.path()).unwrap();
        assert_eq!((&*offer.not_before, &*offer.not_after), ("Jan  1 00:00:00 2026 GMT", "Jan  1 00:00:00 2046 GMT"));
        let ciphers: Vec<_> = offer.ciphers.split(':').collect();
        for wanted in ["TLS_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"] {
            assert!(ciphers.contains(&wanted), "{wanted} in {ciphers:?}");
        }
        assert!(offer.asks_for_certificates);
        let first = text();
        assert_eq!(std::fs::metadata(of("server-key.pem")).unwrap().permissions().mode() & 0o777, 0o600);
        configure(directory.path()).unwrap();
        assert_eq!(text(), first, "what is there is used");
        // As after a power loss among the renames.
        std::fs::rename(of("server-cert.pem"), of("server-cert.pem.new")).unwrap();
        configure(directory.path()).unwrap();
        assert_ne!(text(), first);
        let names = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| MADE.iter().any(|made| name == *made)));
    }

    #[test]
    fn names_of_certificates_read_as_openssl_prints_them() {
        use rcgen::DnType;
        let found =
            subject(&[(DnType::CountryName, "SE"), (DnType::OrganizationName, "M\u{e9}t/A=B"), (DnType::CommonName, "client")]);
        assert_eq!(found.subject, "/C=SE/O=M\\xC3\\xA9t/A=B/CN=client");
        assert_eq!(found.issuer, found.subject);
        let odd = subject(&[(DnType::CustomDnType(vec![1, 2, 3, 4]), "x")]);
        assert_eq!(odd.subject, "/1.2.3.4=x");
        assert_eq!(Certificate::read(b"no certificate"), None);
    }
}
