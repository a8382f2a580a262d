//! A session: one client from greeting to goodbye.
//!
//! ```text
//! serve: login -> loop { payload -> Command -> answer -> flush } -> roll back, give everything back
//! ```
//! - `login` authenticates; `command` answers each COM_*; `query` runs text statements, `prepared` prepared ones.
//! - `state` is what a session is between commands; `run` executes plans; `statement` everything that is not a plan.
//!
//! S1: whatever way a session ends (goodbye, a lost client, KILL, a panic, shutdown), its transaction is rolled back, its metadata
//!     and named locks are released and it leaves the process list.
//! S2: an answer is complete in the output buffer, or the connection ends.

mod backup;
mod binary_log;
mod command;
mod context;
mod counted;
mod cursor_sink;
mod held;
mod hints;
mod host;
mod infile;
mod info;
mod kept;
mod kill;
mod lock_statements;
mod logging;
mod login;
mod named;
mod outfile;
mod prepared;
mod programs;
mod query;
mod recorded;
mod run;
mod set;
mod settings;
mod state;
mod statement;
mod system_tables;
mod table_locks;
mod temporary;
mod transaction;

pub use context::{Binder, Planned, without_parameters, written_type};
pub use held::UseLine;
pub use info::{ProcessLine, SessionInfo};
pub use kill::Kills;
pub use login::LoggedIn;
pub use outfile::FileTarget;
pub use query::PLAN_ATTEMPTS_MAX;
pub use run::{Destination, Ran, owned};
pub use settings::{IDS, ProgramSettings};
pub use state::{Acting, Answer, Connection, Deferred, DumpRequest, Execution, Session, State};
pub use transaction::{Characteristics, Hold, Transaction};

use crate::counters::count;
use crate::error::Error;
use crate::handshakes::{Greeted, Handshakes};
use crate::text_log::Origin;
use crate::worker::{Message, Worker};
use conditions::Condition;
use login::Refused;
use os::time::Instant;
use prepared::Statements;
use protocol::Command;
use reactor::connection::{Input, Lost, Output, Socket, Stream};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use types::charset::Charset;

/// The connection to the client without its input.
pub struct Client {
    pub socket: Socket,
    pub output: Output,
    /// The input too, while a statement reads from the client (LOAD DATA LOCAL).
    pub input: Option<Box<Input>>,
}

/// The recipient of a statement's answers.
pub enum Recipient<'c> {
    Client(&'c mut Client),
    /// Answers are dropped: events, programs inside statements, `init_connect`.
    Nobody,
}

impl Recipient<'_> {
    pub fn client(&mut self) -> Option<&mut Client> {
        match self {
            Self::Client(client) => Some(client),
            Self::Nobody => None,
        }
    }
}

/// Serves the commands of one client.
struct Service<'s> {
    state: State<'s>,
    statements: Statements,
    /// `init_connect` has failed: the first command gets this error, then the session ends.
    aborted: Option<Box<Error>>,
}

/// Whether the session continues after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Continue,
    Close,
}

/// Serves one connection until it ends. `admin`: it came to the administrative address.
pub async fn serve(worker: Rc<Worker>, stream: Stream, id: u32, admin: bool) {
    let peer = stream.peer();
    let socket = match Socket::new(Rc::clone(&worker.core), stream) {
        Ok(socket) => socket,
        Err(error) => {
            tracing::warn!(%error, peer = peer.address, "a connection could not be registered");
            return;
        }
    };
    let mut client = Client { socket, output: Output::new(Rc::clone(&worker.buffers)), input: None };
    let mut input = Input::new(Rc::clone(&worker.buffers));
    let info = Rc::new(SessionInfo::new(id, peer.address.clone(), &worker.core));
    info.set_socket(Rc::clone(client.socket.readiness()));
    info.stopping.set(worker.is_stopping());
    let _listed = Listed::new(&worker, &info);
    worker.core.name_current(id);

    // One more than the maximum, for an administrator.
    let open = worker.shared.sessions();
    let connections_max = worker.shared.connections_max();
    worker.shared.note_peak(open);
    let make_room = || end_handshake(&worker, |all, now| all.make_room(&peer.host, now));
    let is_there_room = || worker.shared.handshakes.have_room(connections_max) || make_room();
    // The administrative address has no limit.
    let mut has_room = admin || is_there_room();
    // Other new clients may take the freed places.
    for _ in 0..ROOM_ATTEMPTS_MAX {
        let Some(patience) = worker.shared.handshakes.patience(&peer.host, connections_max).filter(|_| !has_room) else { break };
        worker.core.sleep_until(worker.core.now() + patience).await;
        has_room = is_there_room();
    }
    let handshake = worker.shared.handshakes.begin(&peer.host, worker.index, id, worker.core.now());
    end_handshake(&worker, |all, now| all.shorten(&peer.host, connections_max, now));
    if !has_room {
        count(&worker.counters.events.refused_connections);
        return turn_away(&mut client, &info, &Condition::ConCountError.into()).await;
    }
    let errors_max = worker.shared.globals().get(crate::variables::known("max_connect_errors")).as_u64();
    if let Err(error) = worker.shared.accounts.logins.refuse_host(&peer.host, errors_max) {
        return turn_away(&mut client, &info, &error.into()).await;
    }
    let timeout = worker.shared.globals().get(crate::variables::known("connect_timeout")).as_u64();
    let deadline = worker.core.now() + Duration::from_secs(timeout);
    let (logged_in, seat) = match Box::pin(login::login(&mut client, &mut input, &info, &worker, &peer, deadline)).await {
        Ok(logged_in) => logged_in,
        Err(refused) => {
            if matches!(refused, Refused::Lost(Lost::Closed | Lost::Io(_) | Lost::Timeout | Lost::Protocol(_))) && !peer.is_local
            {
                worker.shared.accounts.logins.broke_off(&peer.host);
            }
            return refuse(&worker, &mut client, &info, &peer.address, refused).await;
        }
    };
    let place = handshake.succeed();
    let mut connection = Connection::new(peer, logged_in.capabilities);
    connection.seat = Some(seat);
    connection.tls = client.socket.tls();
    let mut session = Session::new(&worker, &logged_in);
    let state = State::new(&worker, &info, &mut connection, &mut session);
    let mut service = Service { state, statements: Statements::default(), aborted: None };
    let is_extra =
        place.number > worker.shared.connections_max() && !admin && !service.state.session.access.administers_connections();
    let welcome = match () {
        () if admin && !service.state.session.access.has_dynamic("SERVICE_CONNECTION_ADMIN") => {
            Err(Error::from(accounts::special("SERVICE_CONNECTION_ADMIN")))
        }
        () if is_extra => Err(Condition::ConCountError.into()),
        () if service.state.is_kept_out() => Err(Error::from(Condition::ServerOfflineMode)),
        () => service.state.welcome(&logged_in),
    };
    if worker.shared.instruments.watched().general_log() {
        service.state.log_connect(logged_in.database.as_deref(), welcome.as_ref().err());
    }
    match &welcome {
        Ok(()) => service.state.write_ok(&mut Recipient::Client(&mut client), &Answer::default()),
        Err(error) => write_error(&mut client, error),
    }
    input.reader.set_payload_bytes_max(service.state.session.settings.packet_bytes_max);
    info.end(worker.core.now());
    service.aborted = match welcome {
        Ok(()) => Box::pin(service.init_connect()).await.err().map(Box::new),
        Err(_) => None,
    };
    let ending = match welcome {
        Ok(()) if logged_in.capabilities.has(protocol::Capabilities::COMPRESS) => {
            service.run_compressed(&mut client, &mut input).await
        }
        Ok(()) => service.run(&mut client, &mut input).await,
        Err(_) => {
            // Whoever hears of the error finds the place free.
            drop(place);
            client.output.flush(&client.socket, &*info).await.err()
        }
    };
    service.end().await;
    if let Some(lost) = ending {
        report(&worker, &service.state, &mut client, lost).await;
    }
    // The last output (an error, the answer to COM_QUIT after pipelined commands) is still sent if the socket accepts
    // it.
    let _ = client.output.flush(&client.socket, &*info).await;
    client.output.count_sent(&info.counters.events.bytes_sent);
}

/// Sends the reason to a client that gets no greeting.
async fn turn_away(client: &mut Client, info: &SessionInfo, error: &Error) {
    let description = error.describe();
    client.output.prepare();
    protocol::put_error_for_greeting(&mut client.output.writer, description.number, &description.message);
    // The client may be gone.
    let _ = client.output.flush(&client.socket, info).await;
}

/// Ends another client's handshake if `choose` selects one. Returns whether one was ended.
fn end_handshake(worker: &Worker, choose: impl FnOnce(&Handshakes, Instant) -> Option<Greeted>) -> bool {
    let Some(Greeted { worker: of, session, .. }) = choose(&worker.shared.handshakes, worker.core.now()) else { return false };
    let end = move |worker: &Rc<Worker>| {
        let sessions = worker.sessions.borrow();
        // It may have logged in meanwhile.
        if let Some(info) = sessions.get(&session).filter(|info| info.access.borrow().is_none()) {
            info.kill(expr::kill::CONNECTION);
        }
    };
    worker.shared.workers[of].send(Message::Call(Box::new(end)));
    true
}

/// Keeps a session in the worker's list while it lives.
pub struct Listed {
    worker: Rc<Worker>,
    id: u32,
}

impl Listed {
    pub fn new(worker: &Rc<Worker>, info: &Rc<SessionInfo>) -> Self {
        worker.sessions.borrow_mut().insert(info.id, Rc::clone(info));
        worker.shared.kills.enter(info.id, info.kill_flag(), info.waker());
        Self { worker: Rc::clone(worker), id: info.id }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        if let Some(info) = self.worker.sessions.borrow_mut().remove(&self.id) {
            self.worker.counters.take(&info.counters);
            self.worker.past.take(&info.user.borrow(), info.host_name(), &info.record, &info.clock);
        }
        self.worker.shared.kills.leave(self.id);
        self.worker.shared.dumps.leave(self.id);
        self.worker.shared.user_locks.release_all(self.id);
    }
}

/// Sends the client the reason of a failed login; logs a protocol error.
async fn refuse(worker: &Worker, client: &mut Client, info: &SessionInfo, peer: &str, refused: Refused) {
    count(&worker.counters.events.aborted_connects);
    match refused {
        Refused::Error(error) => {
            if worker.shared.instruments.watched().general_log() {
                let why = error.describe().message;
                let user = info.user.borrow();
                let origin = Origin { session: info.id, account: "", user: &user, host: "", address: peer, database: None };
                worker.shared.logs.write_general(&origin, "Connect", why.as_bytes());
            }
            tracing::info!(peer, reason = error.describe().message, "login refused");
            write_error(client, &error);
        }
        Refused::Lost(Lost::Protocol(error)) => {
            tracing::warn!(peer, %error, "malformed packet during login; connection closed");
            write_error(client, &Error::Protocol(error));
        }
        Refused::Lost(lost) => {
            tracing::debug!(peer, ?lost, "the client left during login");
            return;
        }
    }
    let _ = client.output.flush(&client.socket, info).await;
}

/// Reports why a session ended, if the client did not end it.
async fn report(worker: &Worker, state: &State<'_>, client: &mut Client, lost: Lost) {
    let peer = state.connection.peer.address.as_str();
    count(&worker.counters.events.aborted_clients);
    match lost {
        Lost::Closed => tracing::debug!(peer, "the client closed the connection without COM_QUIT"),
        Lost::Io(error) => tracing::info!(peer, %error, "connection lost"),
        Lost::Timeout => {
            tracing::info!(peer, "connection closed: idle for wait_timeout, or not reading for net_write_timeout");
            let error = Error::from(Condition::ClientInteractionTimeout);
            client.output.prepare();
            client.output.restart_sequence();
            write_error(client, &error);
        }
        Lost::Interrupted => {
            let error = if worker.is_stopping() { Error::ShuttingDown } else { Error::from(Condition::SessionWasKilled) };
            client.output.prepare();
            write_error(client, &error);
        }
        Lost::Protocol(error) => {
            tracing::warn!(peer, session = state.info.id, %error, "malformed packet; connection closed");
            client.output.prepare();
            write_error(client, &Error::Protocol(error));
        }
    }
}

/// How often a new client looks for a place of a silent one.
const ROOM_ATTEMPTS_MAX: usize = 5;

/// How long the server reads from a client that sends too much, so that the client reads the error.
const LINGER: Duration = Duration::from_secs(5);

/// Appends an ERR packet.
#[cold]
pub fn write_error(client: &mut Client, error: &Error) {
    let description = error.describe();
    client.output.prepare();
    protocol::put_error(&mut client.output.writer, description.number, &description.state, &description.message);
}

/// As [`write_error`], in the set of the client's results; `None`: UTF-8.
pub fn write_error_in(client: &mut Client, error: &Error, charset: Option<Charset>) {
    let Some(charset) = charset else { return write_error(client, error) };
    let description = error.describe();
    let message = message_in(&description.message, charset);
    client.output.prepare();
    protocol::put_encoded_error(&mut client.output.writer, description.number, &description.state, &message);
}

/// The bytes of a message in a set. As in MySQL, a character that the set does not have is shown by its number.
fn message_in(text: &str, charset: Charset) -> Vec<u8> {
    let mut message = Vec::new();
    for character in text.chars() {
        match character {
            character if charset.has(character) => {
                message.extend_from_slice(&charset.encode(character.encode_utf8(&mut [0; 4]).as_bytes()));
            }
            '\u{10000}'.. => message.push(b'?'),
            character => message.extend_from_slice(format!("\\{:04X}", u32::from(character)).as_bytes()),
        }
        if message.len() >= protocol::MESSAGE_BYTES_MAX {
            break;
        }
    }
    message
}

impl Service<'_> {
    /// Runs the statements of `init_connect`, without answers; not for administrators of connections.
    ///
    /// # Errors
    /// 1184 for the client; the failure is logged.
    async fn init_connect(&mut self) -> Result<(), Error> {
        let state = &mut self.state;
        let text = state.worker.shared.globals().get(crate::variables::known("init_connect")).as_text().to_owned();
        if text.trim().is_empty() || state.session.access.administers_connections() || state.session.access.expired {
            return Ok(());
        }
        state.info.begin("Connect", state.worker.core.now());
        let multi_statements = std::mem::replace(&mut state.connection.multi_statements, true);
        let outcome = catch_panic(pin!(state.query(&mut Recipient::Nobody, text.as_bytes()))).await;
        state.connection.multi_statements = multi_statements;
        state.info.end(state.worker.core.now());
        let why = match outcome {
            Some(Ok(())) => return Ok(()),
            Some(Err(error)) => error.describe().message,
            None => "it panicked".to_owned(),
        };
        let database = state.execution.vars.database.as_deref().unwrap_or("unconnected");
        let (id, user, host) = (state.info.id, &state.session.identity.user, &state.session.identity.host);
        tracing::warn!(id, database, user, host, why, "init_connect failed; the connection is closed");
        Err(Error::from(Condition::NewAbortingConnection {
            id: id.into(),
            database: database.into(),
            user: user.into(),
            host: host.into(),
        }))
    }

    /// Like `run`, with the compressed protocol from here on: the login's OK is not compressed.
    #[cold]
    async fn run_compressed(&mut self, client: &mut Client, input: &mut Input) -> Option<Lost> {
        if let Err(lost) = client.output.flush(&client.socket, &*self.state.info).await {
            return Some(lost);
        }
        input.start_compression(&mut client.output);
        Box::pin(self.run(client, input)).await
    }

    /// Answers commands until the session ends. `Some`: the client did not end it.
    async fn run(&mut self, client: &mut Client, input: &mut Input) -> Option<Lost> {
        let worker = Rc::clone(&self.state.worker);
        let info = Rc::clone(&self.state.info);
        loop {
            if !input.has_packet() {
                worker.core.behind_others().await;
                if let Err(lost) = client.output.flush(&client.socket, &*info).await {
                    return Some(lost);
                }
                if !input.has_more() {
                    client.output.release();
                }
            }
            input.begin_command();
            let deadline = worker.core.now() + self.state.session.settings.wait_timeout;
            let payload = match input.next_payload(&client.socket, deadline, &*info).await {
                Ok(payload) => payload,
                Err(Lost::Closed) if !self.state.execution.transaction.is_open() => return None,
                Err(lost) => {
                    let last = match lost {
                        Lost::Protocol(protocol::Error::TooLarge { .. }) => {
                            let deadline = worker.core.now() + LINGER;
                            Box::pin(input.skip_payload(&client.socket, deadline, &*info)).await
                        }
                        _ => None,
                    };
                    let next = last.map_or(input.reader.sequence().max(1), |last| last.wrapping_add(1));
                    client.output.writer.set_sequence(next);
                    return Some(lost);
                }
            };
            let received = payload.len() as u64 + 4;
            let counted = &info.counters.events;
            counted.bytes_received.set(counted.bytes_received.get() + received);
            client.output.count_sent(&counted.bytes_sent);
            client.output.prepare();
            let sequence = 1 + (payload.len() / protocol::FRAME_BYTES_MAX) as u8;
            client.output.writer.set_sequence(sequence);
            client.output.write_timeout = self.state.session.settings.write_timeout;
            if info.killed() == expr::kill::CONNECTION {
                // KILL was faster than the command, which is not run.
                return Some(Lost::Interrupted);
            }
            if let Some(error) = self.aborted.take() {
                write_error(client, &error);
                return client.output.flush(&client.socket, &*info).await.err();
            }
            let next = match Command::parse(payload, self.state.connection.capabilities) {
                Ok(command @ Command::Quit) => {
                    self.state.log_command(&command);
                    Next::Close
                }
                Ok(Command::ChangeUser(change)) => {
                    let change = command::OwnedChangeUser::new(&change);
                    match Box::pin(self.change_user(client, input, change)).await {
                        Ok(next) => next,
                        Err(lost) => return Some(lost),
                    }
                }
                Ok(command) => {
                    let outcome = {
                        // Passed directly, without a variable: the session would hold a second copy of the future.
                        catch_panic(pin!(self.command(client, command))).await
                    };
                    let outcome = match self.state.connection.deferred.take() {
                        None => outcome,
                        // Boxed: rare, and it would make every session larger.
                        Some(deferred) => Box::pin(self.go_on_with_input(client, input, deferred)).await,
                    };
                    match outcome {
                        Some(Ok(next)) => next,
                        Some(Err(lost)) => return Some(lost),
                        None => self.panicked(client),
                    }
                }
                Err(error) if error.is_fatal() => return Some(Lost::Protocol(error)),
                Err(error) => {
                    write_error(client, &Error::Protocol(error));
                    Next::Continue
                }
            };
            info.end(worker.core.now());
            if next == Next::Close {
                let _ = client.output.flush(&client.socket, &*info).await;
                return None;
            }
            if info.killed() == expr::kill::CONNECTION {
                // The command was answered. The error answers the next command, so its packet number is 1.
                client.output.writer.set_sequence(1);
                return Some(Lost::Interrupted);
            }
        }
    }

    /// Does what reads more input of the client. The command's payload is not needed any more, so the input is free.
    #[cold]
    async fn go_on_with_input(
        &mut self,
        client: &mut Client,
        input: &mut Input,
        deferred: Deferred,
    ) -> Option<std::result::Result<Next, Lost>> {
        let spare = Input::new(Rc::clone(&self.state.worker.buffers));
        client.input = Some(Box::new(std::mem::replace(input, spare)));
        let outcome = match &deferred {
            Deferred::Text(text) => catch_panic(pin!(self.state.run_texts(&mut Recipient::Client(client), text))).await,
            Deferred::Dump(request) => catch_panic(pin!(self.state.dump(client, request))).await,
        };
        *input = *client.input.take().expect("put there above");
        Some(self.conclude(client, outcome?))
    }

    /// A panic is a bug of the server: the client gets an error, its connection ends, all others continue.
    #[cold]
    fn panicked(&mut self, client: &mut Client) -> Next {
        tracing::error!(
            peer = self.state.connection.peer.address,
            session = self.state.info.id,
            "a statement panicked; its transaction is rolled back and the connection closed"
        );
        write_error(client, &Error::Internal("Internal error: the statement failed; the connection is closed".to_owned()));
        Next::Close
    }

    /// S1
    async fn end(&mut self) {
        if os::mutated("commit-at-end") {
            self.state.execution.transaction.commit(&self.state.worker).await;
        }
        self.state.execution.transaction.rollback(&self.state.worker).await;
        *self.state.execution.transaction.locks_mut() = Default::default();
    }
}

/// Runs a future to its end; `None` if it panicked. It takes the future pinned, because a future given by value would
/// be stored twice.
async fn catch_panic<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Some(output)),
        Err(_) => Poll::Ready(None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::message_in;
    use types::charset::Charset;

    #[test]
    fn messages_are_in_the_clients_set() {
        let check = |charset: &str, expected: &[u8]| {
            assert_eq!(message_in("near 'Моя💩é'", Charset::named(charset).expect("a set")), expected, "{charset}");
        };
        // MySQL 9.7's answers to a statement with a mistake.
        check("koi8r", b"near '\xed\xcf\xd1?\\00E9'");
        check("latin1", b"near '\\041C\\043E\\044F?\xe9'");
        check("ascii", b"near '\\041C\\043E\\044F?\\00E9'");
        let long = message_in(&"é".repeat(1000), Charset::named("latin1").expect("a set"));
        assert_eq!(long.len(), protocol::MESSAGE_BYTES_MAX);
    }
}
