//! How the commands of `heddle` that are clients connect to a server: encryption and passwords, as MySQL's own clients have them.
//!
//! E1: with VERIFY_CA and VERIFY_IDENTITY only the authorities of `--ssl-ca` are trusted. The library would trust those of browsers, too, and with
//!     VERIFY_CA everybody can buy a certificate there: `stand-ins/webpki-roots` is in the place of its list.
//! E2: a unix socket is not encrypted: nobody is between.
#![forbid(unsafe_code)]

use clap::{Args, ValueEnum};
use mysql::{Conn, DriverError, Opts, OptsBuilder, SslOpts};
use std::path::{Path, PathBuf};

/// How a connection is encrypted, and what is asked of the server's certificate: `--ssl-mode` of MySQL's clients.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SslMode {
    /// Not encrypted
    #[value(name = "DISABLED")]
    Disabled,
    /// Encrypted if the server can, with any certificate
    #[default]
    #[value(name = "PREFERRED")]
    Preferred,
    /// Encrypted, with any certificate
    #[value(name = "REQUIRED")]
    Required,
    /// Its certificate is signed by an authority of --ssl-ca
    #[value(name = "VERIFY_CA")]
    VerifyCa,
    /// And it names the host
    #[value(name = "VERIFY_IDENTITY")]
    VerifyIdentity,
}

/// The flags of a command that connects.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// How the connection is encrypted [default: PREFERRED; with --ssl-ca VERIFY_CA]
    #[arg(long, value_enum, ignore_case = true, value_name = "MODE")]
    pub ssl_mode: Option<SslMode>,
    /// File with the certificates (PEM) of the authorities that may sign the server's
    #[arg(long, value_name = "FILE")]
    pub ssl_ca: Option<PathBuf>,
}

impl Tls {
    /// A file of authorities would be of no use if nothing was asked of the certificate.
    pub fn mode(&self) -> SslMode {
        let with_authorities = self.ssl_ca.as_ref().map(|_| SslMode::VerifyCa);
        self.ssl_mode.or(with_authorities).unwrap_or_default()
    }

    /// Must the connection be encrypted?
    pub fn is_required(&self) -> bool {
        !matches!(self.mode(), SslMode::Disabled | SslMode::Preferred)
    }

    /// `None`: not encrypted.
    ///
    /// # Errors
    /// One line: a mode that needs a file of authorities, and has none that can be read.
    fn options(&self) -> Result<Option<SslOpts>, String> {
        let mode = self.mode();
        let is_verified = matches!(mode, SslMode::VerifyCa | SslMode::VerifyIdentity);
        match (&self.ssl_ca, is_verified) {
            (None, true) => return Err("--ssl-mode VERIFY_CA and VERIFY_IDENTITY need --ssl-ca".to_owned()),
            (Some(path), true) => check_authorities(path)?,
            _ => {}
        }
        Ok(match mode {
            SslMode::Disabled => None,
            SslMode::Preferred | SslMode::Required => Some(SslOpts::default().with_danger_accept_invalid_certs(true)),
            SslMode::VerifyCa | SslMode::VerifyIdentity => Some(
                SslOpts::default()
                    .with_root_cert_path(self.ssl_ca.clone())
                    .with_danger_skip_domain_validation(mode == SslMode::VerifyCa),
            ),
        })
    }
}

/// The library tells of a wrong file without its name.
fn check_authorities(path: &Path) -> Result<(), String> {
    use rustls::pki_types::pem::PemObject;
    let wrong = |why: &dyn std::fmt::Display| format!("--ssl-ca {}: {why}", path.display());
    let certificates = rustls::pki_types::CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))?;
    let mut count = 0;
    for certificate in certificates {
        certificate.map_err(|error| wrong(&error))?;
        count += 1;
    }
    if count == 0 { Err(wrong(&"it has no certificate")) } else { Ok(()) }
}

/// Connects.
///
/// # Errors
/// One line, without the password.
pub fn connect(opts: impl Into<Opts>, tls: &Tls) -> Result<Conn, String> {
    let opts = opts.into();
    // The library takes the process's, and there may be several to choose from.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    // E2
    let ssl = if opts.get_socket().is_some() { None } else { tls.options()? };
    let is_optional = ssl.is_some() && tls.mode() == SslMode::Preferred;
    let open = |ssl: Option<SslOpts>| Conn::new(OptsBuilder::from_opts(opts.clone()).ssl_opts(ssl));
    let opened = match open(ssl) {
        Err(mysql::Error::DriverError(DriverError::TlsNotSupported)) if is_optional => open(None),
        other => other,
    };
    opened.map_err(|error| match &error {
        mysql::Error::MySqlError(error) => format!("error {}: {}", error.code, error.message),
        mysql::Error::DriverError(DriverError::TlsNotSupported) => "the server does not offer TLS".to_owned(),
        other => other.to_string(),
    })
}

/// The password that was given, else that of the first line of the file, else that of the environment.
///
/// # Errors
/// One line: the file cannot be read.
pub fn password(given: Option<&str>, file: Option<&Path>, variable: &str) -> Result<Option<String>, String> {
    if let (None, Some(path)) = (given, file) {
        let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read a password from {}: {e}", path.display()))?;
        return Ok(Some(text.lines().next().unwrap_or_default().to_owned()));
    }
    Ok(given.map(str::to_owned).or_else(|| std::env::var(variable).ok()))
}

#[cfg(test)]
mod tests {
    use super::{SslMode, Tls};

    #[test]
    fn a_file_of_authorities_is_used() {
        let ca = |ssl_mode| Tls { ssl_mode, ssl_ca: Some("ca.pem".into()) };
        assert_eq!(ca(None).mode(), SslMode::VerifyCa);
        assert_eq!(ca(Some(SslMode::Required)).mode(), SslMode::Required);
        assert_eq!(Tls::default().mode(), SslMode::Preferred);
        assert!(ca(None).options().unwrap_err().contains("--ssl-ca ca.pem"));
        let verified = Tls { ssl_mode: Some(SslMode::VerifyIdentity), ssl_ca: None };
        assert!(verified.options().unwrap_err().contains("need --ssl-ca"));
        assert!(Tls { ssl_mode: Some(SslMode::Disabled), ssl_ca: None }.options().unwrap().is_none());
    }
}
