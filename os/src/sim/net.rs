//! The network of the simulated machine. Its types have the names of `mio`'s. A connection is two pipes of bytes. Bytes written into a pipe
//! arrive later, in pieces of any length. A pipe holds a bounded number of bytes.
//!
//! Events are edge-triggered, as in the mode of `epoll` that `mio` uses. Arriving bytes, room after a full pipe, and the end give one event
//! each. A registration gives an event for what is there already. A read that does not fill its buffer has emptied the socket.
//!
//! P1: before any thread looks at the network (`net`), all bytes whose time has passed arrive.

use super::random::Rng;
use super::scheduler::{self, point, with};
use super::time::Instant;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::BitOr;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The keys under which threads wait for a socket or a poll. They differ from addresses and from the scheduler's own keys.
const KEYS: usize = 1 << 32;
/// One in so many calls of `Poll::poll` is interrupted.
const INTERRUPTED: u64 = 400;
/// One in so many writes of the server is accepted in two parts.
const SHORT_WRITES: u64 = 16;

/// How the network behaves.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    /// The longest delay of a piece.
    pub latency_us_max: u64,
    /// The longest piece.
    pub piece_bytes_max: u64,
    /// The capacity of a pipe.
    pub pipe_bytes: usize,
    /// One in so many writes breaks the connection; 0: none does.
    pub writes_per_reset: u64,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self { latency_us_max: 100, piece_bytes_max: 1 << 16, pipe_bytes: 1 << 16, writes_per_reset: 0 }
    }
}

/// The contents of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bits(u8);

impl Bits {
    const READABLE: Self = Self(1);
    const WRITABLE: Self = Self(2);
    const READ_CLOSED: Self = Self(4);
    const ERROR: Self = Self(8);
    const ENDED: Self = Self(1 | 4);
    const BROKEN: Self = Self(1 | 2 | 4 | 8);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// The poll that gets a socket's events.
#[derive(Clone, Copy)]
struct Registered {
    poll: usize,
    token: usize,
    writable: bool,
}

/// One direction of a connection, kept with its reader.
#[derive(Default)]
struct Pipe {
    arrived: VecDeque<u8>,
    /// Pieces with their times; an empty one is the end.
    flying: VecDeque<(u64, Vec<u8>)>,
    flying_bytes: usize,
    ended: bool,
    /// The writer found no room.
    is_wanted: bool,
}

impl Pipe {
    fn room(&self, bytes: usize) -> usize {
        bytes.saturating_sub(self.arrived.len() + self.flying_bytes)
    }
}

struct End {
    /// `None`: closed.
    peer: Option<usize>,
    peer_address: SocketAddr,
    inbox: Pipe,
    registered: Option<Registered>,
    broken: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum Place {
    Port(u16),
    Path(PathBuf),
}

struct Listener {
    place: Place,
    waiting: VecDeque<usize>,
    registered: Option<Registered>,
}

/// All sockets and polls of the machine.
pub(super) struct Net {
    rng: Rng,
    behaviour: Behaviour,
    next: usize,
    ends: BTreeMap<usize, End>,
    listeners: BTreeMap<usize, Listener>,
    /// Events not yet taken, by poll and token.
    polls: BTreeMap<usize, BTreeMap<usize, Bits>>,
    /// The keys of threads that may go on.
    woken: Vec<usize>,
    pub resets: u64,
}

impl Net {
    pub fn new(rng: Rng) -> Self {
        Self {
            rng,
            behaviour: Behaviour::default(),
            next: 1,
            ends: BTreeMap::new(),
            listeners: BTreeMap::new(),
            polls: BTreeMap::new(),
            woken: Vec::new(),
            resets: 0,
        }
    }

    /// The machine stops.
    pub fn forget(&mut self) {
        self.ends.clear();
        self.listeners.clear();
        self.polls.clear();
    }

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn tell(&mut self, number: usize, registered: Option<Registered>, bits: Bits) {
        self.woken.push(KEYS + number);
        let Some(registered) = registered else { return };
        let bits = if registered.writable { bits } else { Bits(bits.0 & !Bits::WRITABLE.0) };
        if bits != Bits::default()
            && let Some(events) = self.polls.get_mut(&registered.poll)
        {
            events.entry(registered.token).or_default().add(bits);
            self.woken.push(KEYS + registered.poll);
        }
    }

    fn tell_end(&mut self, number: usize, bits: Bits) {
        let registered = self.ends.get(&number).and_then(|end| end.registered);
        self.tell(number, registered, bits);
    }

    /// P1
    fn arrive(&mut self, now: u64) {
        let mut told = Vec::new();
        for (number, end) in &mut self.ends {
            let mut bits = Bits::default();
            while let Some((_, piece)) = end.inbox.flying.pop_front_if(|(at, _)| *at <= now) {
                bits.add(if piece.is_empty() { Bits::ENDED } else { Bits::READABLE });
                end.inbox.ended |= piece.is_empty();
                end.inbox.flying_bytes -= piece.len();
                end.inbox.arrived.extend(piece);
            }
            if bits != Bits::default() {
                told.push((*number, bits));
            }
        }
        told.into_iter().for_each(|(number, bits)| self.tell_end(number, bits));
    }

    /// The time at which the next piece arrives for a reader, or for any socket of a poll.
    fn next_arrival(&self, whose: impl Fn(usize, &End) -> bool) -> Option<u64> {
        let mine = self.ends.iter().filter(|(number, end)| whose(**number, end));
        mine.filter_map(|(_, end)| end.inbox.flying.front().map(|(at, _)| *at)).min()
    }

    /// Sends bytes, or the end.
    fn send(&mut self, to: usize, mut bytes: &[u8], now: u64) {
        let Behaviour { latency_us_max, piece_bytes_max, .. } = self.behaviour;
        let is_end = bytes.is_empty();
        while is_end || !bytes.is_empty() {
            let length = (bytes.len() as u64).min(self.rng.within(1..=piece_bytes_max)) as usize;
            let (piece, rest) = bytes.split_at(length);
            let after = self.rng.within(0..=latency_us_max * 1_000);
            let Some(end) = self.ends.get_mut(&to) else { return };
            let before = end.inbox.flying.back().map_or(0, |(at, _)| *at);
            end.inbox.flying.push_back((before.max(now + after), piece.to_vec()));
            end.inbox.flying_bytes += piece.len();
            bytes = rest;
            if is_end {
                break;
            }
        }
        self.woken.push(KEYS + to);
        if let Some(registered) = self.ends.get(&to).and_then(|end| end.registered) {
            self.woken.push(KEYS + registered.poll);
        }
    }

    fn break_off(&mut self, number: usize) {
        let Some(end) = self.ends.get_mut(&number) else { return };
        if !std::mem::replace(&mut end.broken, true) {
            end.inbox = Pipe::default();
            self.tell_end(number, Bits::BROKEN);
        }
    }

    fn write(&mut self, number: usize, bytes: &[u8], now: u64, is_short: bool) -> io::Result<usize> {
        let end = self.ends.get(&number).ok_or(ErrorKind::NotConnected)?;
        if end.broken {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let Some(peer) = end.peer else {
            // The other side is closed and reports it.
            self.break_off(number);
            return Ok(bytes.len());
        };
        if self.behaviour.writes_per_reset > 0 && self.rng.chance(1, self.behaviour.writes_per_reset) {
            self.resets += 1;
            self.break_off(number);
            self.break_off(peer);
            return Err(ErrorKind::ConnectionReset.into());
        }
        let most = self.behaviour.pipe_bytes;
        let Some(to) = self.ends.get_mut(&peer) else { return Err(ErrorKind::BrokenPipe.into()) };
        let room = to.inbox.room(most).min(bytes.len());
        if room == 0 {
            to.inbox.is_wanted = true;
            return Err(ErrorKind::WouldBlock.into());
        }
        let taken = if is_short && self.rng.chance(1, SHORT_WRITES) { self.rng.within(1..=room as u64) as usize } else { room };
        self.send(peer, &bytes[..taken], now);
        Ok(taken)
    }

    fn read(&mut self, number: usize, buffer: &mut [u8]) -> io::Result<usize> {
        let end = self.ends.get_mut(&number).ok_or(ErrorKind::NotConnected)?;
        if end.broken {
            return Err(ErrorKind::ConnectionReset.into());
        }
        let count = end.inbox.arrived.len().min(buffer.len());
        if count == 0 {
            return if end.inbox.ended || buffer.is_empty() { Ok(0) } else { Err(ErrorKind::WouldBlock.into()) };
        }
        buffer.iter_mut().zip(end.inbox.arrived.drain(..count)).for_each(|(to, byte)| *to = byte);
        if std::mem::take(&mut end.inbox.is_wanted)
            && let Some(peer) = end.peer
        {
            self.tell_end(peer, Bits::WRITABLE);
        }
        Ok(count)
    }

    fn close(&mut self, number: usize, now: u64) {
        let Some(end) = self.ends.remove(&number) else { return };
        let Some(peer) = end.peer else { return };
        if let Some(other) = self.ends.get_mut(&peer) {
            other.peer = None;
        }
        // A socket closed with unread bytes breaks the connection, as with TCP; the last bytes sent may be lost.
        if end.inbox.arrived.is_empty() && end.inbox.flying_bytes == 0 { self.send(peer, &[], now) } else { self.break_off(peer) }
    }

    fn pair(&mut self, place: &Place) -> io::Result<usize> {
        let listening = self.listeners.iter().find(|(_, listener)| listener.place == *place).map(|(number, _)| *number);
        let listening = listening.ok_or(ErrorKind::ConnectionRefused)?;
        let (client, server) = (self.number(), self.number());
        for (number, peer) in [(client, server), (server, client)] {
            let peer_address = SocketAddr::from(([127, 0, 0, 1], 10_000 + (peer % 50_000) as u16));
            let end = End { peer: Some(peer), peer_address, inbox: Pipe::default(), registered: None, broken: false };
            self.ends.insert(number, end);
        }
        let listener = self.listeners.get_mut(&listening).expect("found above");
        listener.waiting.push_back(server);
        let registered = listener.registered;
        self.tell(listening, registered, Bits::READABLE);
        Ok(client)
    }

    fn register(&mut self, number: usize, registered: Option<Registered>) {
        let most = self.behaviour.pipe_bytes;
        let mut bits = Bits::default();
        if let Some(listener) = self.listeners.get_mut(&number) {
            listener.registered = registered;
            if !listener.waiting.is_empty() {
                bits.add(Bits::READABLE);
            }
        }
        let Some(end) = self.ends.get_mut(&number) else { return self.tell(number, registered, bits) };
        if let (None, Some(before)) = (registered, end.registered)
            && let Some(events) = self.polls.get_mut(&before.poll)
        {
            events.remove(&before.token);
        }
        end.registered = registered;
        if !end.inbox.arrived.is_empty() {
            bits.add(Bits::READABLE);
        }
        if end.inbox.ended {
            bits.add(Bits::ENDED);
        }
        if end.broken {
            bits.add(Bits::BROKEN);
        }
        let peer = end.peer;
        if peer.is_none_or(|peer| self.ends.get(&peer).is_none_or(|peer| peer.inbox.room(most) > 0)) {
            bits.add(Bits::WRITABLE);
        }
        self.tell(number, registered, bits);
    }
}

/// Works on the network at the current time, and wakes the threads that wait for what has changed.
fn net<T>(what: impl FnOnce(&mut Net, u64) -> T) -> T {
    with(|world| {
        let now = world.now_ns;
        world.net.arrive(now);
        let value = what(&mut world.net, now);
        for key in std::mem::take(&mut world.net.woken) {
            world.wake(key, usize::MAX);
        }
        value
    })
}

/// Changes how the network behaves.
pub fn set_behaviour(behaviour: Behaviour) {
    with(|world| world.net.behaviour = behaviour);
}

/// Connections that the network broke so far.
pub fn resets() -> u64 {
    with(|world| world.net.resets)
}

/// As `mio::Token`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(pub usize);

/// As `mio::Interest`.
#[derive(Clone, Copy, Debug)]
pub struct Interest {
    writable: bool,
}

impl Interest {
    pub const READABLE: Self = Self { writable: false };
    pub const WRITABLE: Self = Self { writable: true };
}

impl BitOr for Interest {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self { writable: self.writable | other.writable }
    }
}

/// As `mio::event`.
pub mod event {
    use super::{Bits, Token};

    /// A socket that can be registered.
    pub trait Source {
        fn number(&self) -> usize;
    }

    /// As `mio::event::Event`.
    #[derive(Clone, Copy, Debug)]
    pub struct Event {
        pub(super) token: usize,
        pub(super) bits: Bits,
    }

    impl Event {
        pub fn token(&self) -> Token {
            Token(self.token)
        }

        pub fn is_readable(&self) -> bool {
            self.bits.has(Bits::READABLE)
        }

        pub fn is_writable(&self) -> bool {
            self.bits.has(Bits::WRITABLE)
        }

        pub fn is_read_closed(&self) -> bool {
            self.bits.has(Bits::READ_CLOSED)
        }

        pub fn is_error(&self) -> bool {
            self.bits.has(Bits::ERROR)
        }
    }
}

use event::{Event, Source};

/// As `mio::Events`.
#[derive(Debug)]
pub struct Events {
    events: Vec<Event>,
    most: usize,
}

impl Events {
    pub fn with_capacity(most: usize) -> Self {
        Self { events: Vec::new(), most }
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub fn clear(&mut self) {
        self.events.clear();
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Event> {
        self.events.iter()
    }
}

impl<'a> IntoIterator for &'a Events {
    type Item = &'a Event;
    type IntoIter = std::slice::Iter<'a, Event>;
    fn into_iter(self) -> Self::IntoIter {
        self.events.iter()
    }
}

/// As `mio::Registry`.
#[derive(Debug)]
pub struct Registry(usize);

impl Registry {
    /// # Errors
    /// None.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0))
    }

    /// # Errors
    /// None.
    pub fn register(&self, source: &mut impl Source, token: Token, interest: Interest) -> io::Result<()> {
        point();
        let registered = Registered { poll: self.0, token: token.0, writable: interest.writable };
        net(|net, _| net.register(source.number(), Some(registered)));
        Ok(())
    }

    /// # Errors
    /// None.
    pub fn reregister(&self, source: &mut impl Source, token: Token, interest: Interest) -> io::Result<()> {
        self.register(source, token, interest)
    }

    /// # Errors
    /// None.
    pub fn deregister(&self, source: &mut impl Source) -> io::Result<()> {
        point();
        net(|net, _| net.register(source.number(), None));
        Ok(())
    }
}

/// As `mio::Poll`.
#[derive(Debug)]
pub struct Poll(Registry);

impl Poll {
    /// # Errors
    /// None.
    pub fn new() -> io::Result<Self> {
        let number = net(|net, _| {
            let number = net.number();
            net.polls.insert(number, BTreeMap::new());
            number
        });
        Ok(Self(Registry(number)))
    }

    pub fn registry(&self) -> &Registry {
        &self.0
    }

    /// # Errors
    /// `Interrupted`, now and then.
    pub fn poll(&mut self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let number = self.0.0;
        events.clear();
        let deadline = timeout.map(|timeout| scheduler::now_ns().saturating_add(timeout.as_nanos() as u64));
        point();
        loop {
            let (interrupted, next, now) = net(|net, now| {
                net.take_events(number, events);
                let next = net.next_arrival(|_, end| end.registered.is_some_and(|registered| registered.poll == number));
                (events.is_empty() && net.rng.chance(1, INTERRUPTED), next, now)
            });
            if interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            if !events.is_empty() || deadline.is_some_and(|deadline| deadline <= now) {
                return Ok(());
            }
            let until = deadline.into_iter().chain(next).min();
            scheduler::block(KEYS + number, until);
        }
    }
}

impl Net {
    /// Moves the events of a poll to the caller's buffer, in any order.
    fn take_events(&mut self, poll: usize, events: &mut Events) {
        let Some(waiting) = self.polls.get_mut(&poll) else { return };
        if waiting.is_empty() {
            return;
        }
        let mut all: Vec<usize> = waiting.keys().copied().collect();
        let first = self.rng.below(all.len() as u64) as usize;
        all.rotate_left(first);
        for token in all.into_iter().take(events.most) {
            let bits = waiting.remove(&token).unwrap_or_default();
            events.events.push(Event { token, bits });
        }
    }
}

impl Drop for Poll {
    fn drop(&mut self) {
        net(|net, _| net.polls.remove(&self.0.0));
    }
}

/// As `mio::Waker`.
#[derive(Debug)]
pub struct Waker {
    poll: usize,
    token: usize,
}

impl Waker {
    /// # Errors
    /// None.
    pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        Ok(Self { poll: registry.0, token: token.0 })
    }

    /// # Errors
    /// None.
    pub fn wake(&self) -> io::Result<()> {
        point();
        let registered = Registered { poll: self.poll, token: self.token, writable: false };
        net(|net, _| net.tell(self.poll, Some(registered), Bits::READABLE));
        Ok(())
    }
}

/// As `mio::unix::SourceFd`; the descriptor is the socket's number.
#[derive(Debug)]
pub struct SourceFd<'a>(pub &'a RawFd);

impl Source for SourceFd<'_> {
    fn number(&self) -> usize {
        *self.0 as usize
    }
}

macro_rules! stream {
    ($stream:ident) => {
        /// As `mio`'s.
        #[derive(Debug)]
        pub struct $stream(usize);

        impl $stream {
            /// # Errors
            /// None.
            pub fn set_nodelay(&self, _nodelay: bool) -> io::Result<()> {
                Ok(())
            }

            /// # Errors
            /// It is not connected any more.
            pub fn peer_addr(&self) -> io::Result<SocketAddr> {
                net(|net, _| net.ends.get(&self.0).map(|end| end.peer_address).ok_or(ErrorKind::NotConnected.into()))
            }
        }

        impl io::Read for &$stream {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                point();
                net(|net, _| net.read(self.0, buffer))
            }
        }

        impl io::Write for &$stream {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                point();
                net(|net, now| net.write(self.0, bytes, now, true))
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        impl AsRawFd for $stream {
            fn as_raw_fd(&self) -> RawFd {
                self.0 as RawFd
            }
        }

        impl Source for $stream {
            fn number(&self) -> usize {
                self.0
            }
        }

        impl Drop for $stream {
            fn drop(&mut self) {
                net(|net, now| net.close(self.0, now));
            }
        }
    };
}

stream!(TcpStream);
stream!(UnixStream);

macro_rules! listener {
    ($listener:ident, $stream:ident) => {
        /// As `mio`'s.
        #[derive(Debug)]
        pub struct $listener(usize);

        impl $listener {
            /// # Errors
            /// `WouldBlock`: no connection waits.
            pub fn accept(&self) -> io::Result<($stream, SocketAddr)> {
                point();
                net(|net, _| {
                    let waiting = net.listeners.get_mut(&self.0).and_then(|listener| listener.waiting.pop_front());
                    let end = waiting.ok_or(ErrorKind::WouldBlock)?;
                    Ok(($stream(end), net.ends[&end].peer_address))
                })
            }
        }

        impl Source for $listener {
            fn number(&self) -> usize {
                self.0
            }
        }

        impl Drop for $listener {
            fn drop(&mut self) {
                net(|net, now| {
                    let waiting = net.listeners.remove(&self.0).map(|listener| listener.waiting).unwrap_or_default();
                    waiting.into_iter().for_each(|end| net.close(end, now));
                });
            }
        }
    };
}

listener!(TcpListener, TcpStream);
listener!(UnixListener, UnixStream);

impl TcpListener {
    /// # Errors
    /// None.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let port = net(|net, _| match net.listeners.get(&self.0).map(|listener| &listener.place) {
            Some(Place::Port(port)) => *port,
            _ => 0,
        });
        Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
    }
}

fn listen(place: Place) -> io::Result<usize> {
    net(|net, _| {
        if net.listeners.values().any(|listener| listener.place == place) {
            return Err(ErrorKind::AddrInUse.into());
        }
        let number = net.number();
        net.listeners.insert(number, Listener { place, waiting: VecDeque::new(), registered: None });
        Ok(number)
    })
}

/// As the real one.
///
/// # Errors
/// The port is in use.
pub fn listen_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    listen(Place::Port(address.port())).map(TcpListener)
}

/// As the real one.
///
/// # Errors
/// The path is in use.
pub fn listen_unix(path: &Path) -> io::Result<UnixListener> {
    listen(Place::Path(path.into())).map(UnixListener)
}

/// As the real one: a simulated socket's name goes with it.
pub fn remove_unix(_path: &Path) {}

/// The client's side of a connection. Its calls block, unlike those of the server's side.
#[derive(Debug)]
pub struct Client(usize);

impl Client {
    /// # Errors
    /// No server listens on the port.
    pub fn connect(port: u16) -> io::Result<Self> {
        point();
        net(|net, _| net.pair(&Place::Port(port))).map(Self)
    }

    /// Sends all of it.
    ///
    /// # Errors
    /// The connection is gone, or it takes nothing until the deadline.
    pub fn write_all(&self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            point();
            match net(|net, now| net.write(self.0, bytes, now, false)) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(deadline)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads the bytes that are there, and waits if there are none; 0 at the end.
    ///
    /// # Errors
    /// The connection is gone, or nothing comes until the deadline.
    pub fn read(&self, buffer: &mut [u8], deadline: Instant) -> io::Result<usize> {
        loop {
            point();
            match net(|net, _| net.read(self.0, buffer)) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(deadline)?,
                done => return done,
            }
        }
    }

    fn wait(&self, deadline: Instant) -> io::Result<()> {
        let (next, now) = net(|net, now| (net.next_arrival(|number, _| number == self.0), now));
        if deadline.nanoseconds() <= now {
            return Err(ErrorKind::TimedOut.into());
        }
        let until = next.map_or(deadline.nanoseconds(), |next| next.min(deadline.nanoseconds()));
        if until > now {
            scheduler::block(KEYS + self.0, Some(until));
        }
        Ok(())
    }

    /// Breaks the connection: the server reads an error, not an end.
    pub fn reset(self) {
        net(|net, _| {
            if let Some(peer) = net.ends.get(&self.0).and_then(|end| end.peer) {
                net.break_off(peer);
            }
        });
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        net(|net, now| net.close(self.0, now));
    }
}
