//! One statement of a program on the command line, such as `heddle profile`: over the server's unix socket, or over TCP.

use crate::wire::{Client, Failure, Rows, Stream};
use std::path::PathBuf;
use std::time::Duration;

/// Where the server is.
#[derive(Clone, Debug)]
pub enum Place {
    Socket(PathBuf),
    /// Host and port. The password is proved, and never sent as it is.
    Address(String, u16),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Socket(path) => path.display().fmt(f),
            Self::Address(host, port) => write!(f, "{host}:{port}"),
        }
    }
}

/// Runs a statement and returns its rows. Blocks.
///
/// # Errors
/// One line for a person.
pub fn ask(place: &Place, user: &str, password: &str, statement: &str, patience: Duration) -> Result<Rows, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let cannot = |error: std::io::Error| format!("cannot connect to {place}: {error}");
        let (stream, is_private): (Box<dyn Stream>, bool) = match place {
            Place::Socket(path) => (Box::new(tokio::net::UnixStream::connect(path).await.map_err(cannot)?), true),
            Place::Address(host, port) => {
                (Box::new(tokio::net::TcpStream::connect((host.as_str(), *port)).await.map_err(cannot)?), false)
            }
        };
        let mut client = Client::begin(stream, is_private, user, password).await.map_err(|failure| match failure {
            Failure::Sql { number, message } => format!("{place} refuses the login: {message} ({number})"),
            Failure::Lost if !is_private => {
                format!("{place} does not accept the login over TCP: log in once with another client, or give --socket")
            }
            Failure::Lost => format!("{place} does not accept the login"),
        })?;
        client.query_within(statement, patience).await.map_err(|failure| match failure {
            Failure::Sql { number, message } => format!("{message} ({number})"),
            Failure::Lost => "the server has not answered".to_owned(),
        })
    })
}
