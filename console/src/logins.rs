//! Who is logged in to the console.
//!
//! 1. A login makes a connection to the server as that account (`wire`), which the server's own code accepts or refuses; its failures are
//!    counted and delayed there, by host and by account.
//! 2. The account needs the privilege PROCESS. This is asked again every [`RECHECK`], so that a REVOKE ends the login.
//! 3. The browser gets a random token as a cookie that no script can read, and the page a second token, which every change must carry.
//!    The console keeps a hash of the first one.
//!
//! S1: a login ends when it is idle for [`IDLE_MAX`], is older than [`AGE_MAX`], or its connection is lost.
//! S2: at most [`LOGINS_MAX`] at a time; one more ends the one that was idle longest. At most [`ATTEMPTS_MAX`] attempts run at a time.

use crate::Server;
use crate::request::Request;
use crate::wire::{Client, Failure, Rows};
use sha2::{Digest, Sha256};
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Semaphore};

const IDLE_MAX: Duration = Duration::from_secs(30 * 60);
const AGE_MAX: Duration = Duration::from_secs(12 * 3600);
const RECHECK: Duration = Duration::from_secs(5);
const LOGINS_MAX: usize = 64;
const ATTEMPTS_MAX: usize = 8;
const TOKEN_BYTES: usize = 32;
/// How long a request waits for others of the same login.
const TURN: Duration = Duration::from_secs(25);

/// What every connection of the console begins with: texts as they are written here, and an end to statements that run too long.
const SETTINGS: &str = "SET SESSION sql_mode = '', SESSION character_set_results = 'utf8mb4', SESSION max_execution_time = 10000, \
                        SESSION group_concat_max_len = 1048576, SESSION time_zone = '+00:00', SESSION autocommit = 1, \
                        SESSION transaction_isolation = 'READ-COMMITTED'";

/// Why there is no login, or no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nobody is logged in, or not any more.
    LoggedOut,
    /// The server's error.
    Sql { number: u16, message: String },
    /// The password is right, and the account has no PROCESS.
    NoProcess,
    /// Too many try at once, or the login's other requests take too long.
    Busy,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Sql { number, message } => Refusal::Sql { number, message },
            Failure::Lost => Refusal::LoggedOut,
        }
    }
}

/// One account that is logged in, in one browser.
pub struct Login {
    token_hash: [u8; 32],
    pub csrf: String,
    /// The account as CURRENT_USER() writes it.
    pub account: String,
    /// The session's number in the server's process list.
    pub session: u32,
    began: Instant,
    used: Cell<Instant>,
    checked: Cell<Instant>,
    /// `None`: the connection is lost.
    client: Mutex<Option<Client>>,
    is_over: Cell<bool>,
}

/// All logins.
pub struct Logins {
    server: Arc<dyn Server>,
    all: RefCell<Vec<Rc<Login>>>,
    attempts: Semaphore,
    /// The name of the cookie: browsers do not tell ports apart, so it has the port.
    cookie: String,
}

impl Logins {
    pub fn new(server: Arc<dyn Server>, port: u16, is_secure: bool) -> Self {
        let prefix = if is_secure { "__Host-" } else { "" };
        let cookie = format!("{prefix}heddle_{port}");
        Self { server, all: RefCell::default(), attempts: Semaphore::new(ATTEMPTS_MAX), cookie }
    }

    /// Makes a connection for an account with PROCESS.
    ///
    /// # Errors
    /// The server's: a wrong password, a locked account; `NoProcess`; `Busy`: too many try at once.
    pub async fn connect(&self, user: &str, password: &str, peer: SocketAddr) -> Result<Client, Refusal> {
        let _turn = self.attempts.try_acquire().map_err(|_| Refusal::Busy)?;
        let stream = self.server.connect(peer).map_err(|_| Refusal::Busy)?;
        let mut client = Client::login(stream, user, password).await?;
        may_process(&mut client).await.map_err(|failure| match failure {
            Failure::Sql { .. } => Refusal::NoProcess,
            Failure::Lost => Refusal::LoggedOut,
        })?;
        client.query(SETTINGS).await?;
        Ok(client)
    }

    /// Logs an account in: the login, and the cookie for the browser.
    ///
    /// # Errors
    /// As of [`Self::connect`].
    pub async fn begin(&self, user: &str, password: &str, peer: SocketAddr) -> Result<(Rc<Login>, String), Refusal> {
        let mut client = self.connect(user, password, peer).await?;
        let who = client.query("SELECT CURRENT_USER()").await?;
        let account = who.single().and_then(|cell| cell.as_str()).unwrap_or(user).to_owned();
        let (token, now) = (random_token(), Instant::now());
        let login = Rc::new(Login {
            token_hash: Sha256::digest(&token).into(),
            csrf: random_token(),
            account,
            session: client.id,
            began: now,
            used: Cell::new(now),
            checked: Cell::new(now),
            client: Mutex::new(Some(client)),
            is_over: Cell::new(false),
        });
        self.clean();
        let mut all = self.all.borrow_mut();
        if all.len() >= LOGINS_MAX
            && let Some(oldest) = (0..all.len()).min_by_key(|at| all[*at].used.get())
        {
            all.swap_remove(oldest);
        }
        all.push(Rc::clone(&login));
        Ok((login, self.cookie_with(&token, AGE_MAX.as_secs())))
    }

    fn cookie_with(&self, token: &str, seconds: u64) -> String {
        let secure = if self.cookie.starts_with("__Host-") { "; Secure" } else { "" };
        format!("{}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}", self.cookie)
    }

    /// The login of a request's cookie.
    pub fn of(&self, request: &Request) -> Option<Rc<Login>> {
        let token = request.cookie(&self.cookie)?;
        let hash: [u8; 32] = Sha256::digest(token).into();
        self.clean();
        let all = self.all.borrow();
        let login = all.iter().find(|login| protocol::auth::same(&login.token_hash, &hash))?;
        login.used.set(Instant::now());
        Some(Rc::clone(login))
    }

    /// Ends a login; returns the cookie that removes the browser's.
    pub fn end(&self, login: &Login) -> String {
        login.is_over.set(true);
        self.clean();
        self.cookie_with("", 0)
    }

    /// S1
    pub fn clean(&self) {
        let now = Instant::now();
        let lives = |login: &Rc<Login>| {
            let (idle, age) = (now.duration_since(login.used.get()), now.duration_since(login.began));
            !login.is_over.get() && idle < IDLE_MAX && age < AGE_MAX
        };
        self.all.borrow_mut().retain(lives);
    }

    pub fn count(&self) -> usize {
        self.all.borrow().len()
    }
}

impl Login {
    /// Runs a statement with the account's privileges.
    ///
    /// # Errors
    /// The server's own; `LoggedOut` if the connection is lost or the account has no PROCESS any more.
    pub async fn query(&self, text: &str) -> Result<Rows, Refusal> {
        let turn = tokio::time::timeout(TURN, self.client.lock()).await;
        let mut client = turn.map_err(|_| Refusal::Busy)?;
        self.recheck(&mut client).await?;
        // Out of its place while the statement runs: a request that is dropped meanwhile leaves no half-read result behind.
        let mut own = client.take().ok_or_else(|| self.lost())?;
        match own.query(text).await {
            Err(Failure::Lost) => Err(self.lost()),
            outcome => {
                *client = Some(own);
                Ok(outcome?)
            }
        }
    }

    /// May the account still see what the console shows?
    ///
    /// # Errors
    /// `LoggedOut`
    pub async fn check(&self) -> Result<(), Refusal> {
        if self.checked.get().elapsed() < RECHECK {
            return Ok(());
        }
        let turn = tokio::time::timeout(TURN, self.client.lock()).await;
        self.recheck(&mut *turn.map_err(|_| Refusal::Busy)?).await
    }

    async fn recheck(&self, place: &mut Option<Client>) -> Result<(), Refusal> {
        if self.checked.get().elapsed() < RECHECK {
            return Ok(());
        }
        let mut client = place.take().ok_or_else(|| self.lost())?;
        if may_process(&mut client).await.is_err() {
            return Err(self.lost());
        }
        self.checked.set(Instant::now());
        *place = Some(client);
        Ok(())
    }

    fn lost(&self) -> Refusal {
        self.is_over.set(true);
        Refusal::LoggedOut
    }
}

/// Asks for something that needs PROCESS.
async fn may_process(client: &mut Client) -> Result<(), Failure> {
    client.query("SHOW ENGINE INNODB STATUS").await.map(drop)
}

fn random_token() -> String {
    let bytes: [u8; TOKEN_BYTES] = os::random_bytes();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
