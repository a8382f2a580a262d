//! Groups of the source that are applied at the same time, by several appliers ("lanes"), which are tasks of the workers.
//!
//! ```text
//! coordinator: gathers the events of a group -> puts it in line      lane: takes one -> writes its rows -> waits for its turn -> commits
//! ```
//! L1: groups commit in the order of the source: the turn is that of the first group in line, and it leaves the line with its commit.
//! L2: a lane takes a group when all groups that it depends on have left: those whose numbers are not above its `last_committed`. The numbers begin
//!     anew with each file of the source, so a group whose number does not grow waits until the line is empty.
//! L3: what a group meets before its turn may be another's doing (a row that a group before it still has to write, a lock). So it is no error:
//!     the group is taken back, and applied again at its turn, when all before it are committed.
//! L4: a group at its turn may wait for a row that a later one holds, though nothing said that they depend on each other (foreign keys, unique keys
//!     of different rows). A later group that waits for its turn gives its locks back when the first one does not get on for [`BLOCKED`].
//! L5: groups in line are bounded by number and bytes. A larger one is applied by the coordinator as it comes, alone; so are definitions.

use super::applier::Failed;
use super::state::Item;
use os::time::Instant;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;
use sync::Mutex;

/// L5
pub const GROUP_BYTES_MAX: usize = 1 << 20;
const LINE_BYTES_MAX: usize = 16 << 20;
const LINE_MAX: usize = 1024;
/// So many groups are looked at for one that may be taken.
const LOOK_AHEAD: usize = 64;
/// L4
pub const BLOCKED: Duration = Duration::from_millis(20);

/// The events of a group, the last of which commits it.
pub struct Whole {
    pub items: Vec<Item>,
    pub bytes: usize,
    pub last_committed: i64,
    pub sequence_number: i64,
    /// When the source has made it, in seconds since 1970.
    pub timestamp: u32,
}

struct Place {
    group: Arc<Whole>,
    is_taken: bool,
    /// Its rows are being written, and do not get on since then. L4
    blocked: Option<Instant>,
    /// Its lane waits, for its turn or for a row.
    waker: Option<Waker>,
}

#[derive(Default)]
struct Line {
    places: VecDeque<Place>,
    /// The number of the first place.
    first: u64,
    bytes: usize,
    /// The last number of the source that was put in line.
    last_number: i64,
    /// Lanes that hold a group, which may be thrown away already.
    busy: usize,
    lanes: usize,
    /// No lane takes a group any more.
    is_closed: bool,
    failed: Option<Failed>,
    /// By the number of the lane: it waits for a group.
    idle: Vec<Option<Waker>>,
    /// The coordinator waits for room.
    room: Option<Waker>,
    /// The coordinator waits for an end: of the line, of the lanes' work, or by a failure.
    end: Option<Waker>,
}

/// The line, shared by the coordinator and the lanes.
#[derive(Default)]
pub struct Lanes(Mutex<Line>);

/// A lane's answer about its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// All groups before it are committed.
    Now,
    /// L4
    GiveWay,
    /// Everything in line is thrown away.
    Lost,
}

impl Line {
    fn wake_coordinator(&mut self) {
        self.room.take().into_iter().chain(self.end.take()).for_each(Waker::wake);
    }

    /// Wakes lanes if more groups are ready than lanes at work, each of which takes one when it is done: waking a thread for every group costs more
    /// than its rows. Nothing waits for that longer than for its turn, since what a lane at work holds comes before it, or is taken after it.
    fn wake_for_backlog(&mut self) {
        let ready = self.ready().count();
        self.wake_idle(ready.saturating_sub(self.busy));
    }

    fn wake_idle(&mut self, most: usize) {
        self.idle.iter_mut().filter_map(Option::take).take(most).for_each(Waker::wake);
    }

    fn place(&mut self, ticket: u64) -> Option<&mut Place> {
        self.places.get_mut(usize::try_from(ticket.checked_sub(self.first)?).ok()?)
    }

    /// Throws away what is in line. Who holds a group finds that out.
    fn empty(&mut self) {
        self.first += self.places.len() as u64;
        for place in self.places.drain(..) {
            place.waker.into_iter().for_each(Waker::wake);
        }
        self.bytes = 0;
    }

    /// The groups that may be taken, among the first ones. L2
    fn ready(&self) -> impl Iterator<Item = usize> {
        let lowest = self.places.front().map_or(0, |place| place.group.sequence_number);
        let is_ready = move |place: &Place| !place.is_taken && place.group.last_committed < lowest;
        self.places.iter().take(LOOK_AHEAD).enumerate().filter(move |(_, place)| is_ready(place)).map(|(at, _)| at)
    }
}

impl Lanes {
    /// Puts a group in line, when there is room.
    ///
    /// # Errors
    /// A lane has failed.
    pub fn put(&self, group: &Arc<Whole>, waker: &Waker) -> Poll<Result<(), Failed>> {
        let mut line = self.0.lock();
        if let Some(failed) = line.failed.take() {
            return Poll::Ready(Err(failed));
        }
        // L2
        let begins_anew = group.sequence_number <= line.last_number && !line.places.is_empty();
        let is_full = line.places.len() >= LINE_MAX || !line.places.is_empty() && line.bytes + group.bytes > LINE_BYTES_MAX;
        if begins_anew || is_full {
            line.room = Some(waker.clone());
            line.end = Some(waker.clone());
            return Poll::Pending;
        }
        line.last_number = group.sequence_number;
        line.bytes += group.bytes;
        line.places.push_back(Place { group: Arc::clone(group), is_taken: false, blocked: None, waker: None });
        line.wake_for_backlog();
        Poll::Ready(Ok(()))
    }

    /// Waits until the line is empty.
    pub fn poll_empty(&self, waker: &Waker) -> Poll<Result<(), Failed>> {
        let mut line = self.0.lock();
        if let Some(failed) = line.failed.take() {
            return Poll::Ready(Err(failed));
        }
        if line.places.is_empty() {
            return Poll::Ready(Ok(()));
        }
        line.end = Some(waker.clone());
        Poll::Pending
    }

    /// Has a lane failed? If not, and when the line becomes empty, the coordinator is woken.
    pub fn failed(&self, waker: &Waker) -> Option<Failed> {
        let mut line = self.0.lock();
        line.end = Some(waker.clone());
        line.failed.take()
    }

    pub fn count(&self) -> usize {
        self.0.lock().lanes
    }

    /// When the first group in line was made at the source; 0: there is none.
    pub fn applying(&self) -> u32 {
        self.0.lock().places.front().map_or(0, |place| place.group.timestamp)
    }

    /// Throws away what is in line, and waits until no lane holds a part of it.
    pub fn poll_thrown_away(&self, waker: &Waker) -> Poll<()> {
        let mut line = self.0.lock();
        line.empty();
        line.failed = None;
        line.last_number = 0;
        if line.busy == 0 {
            return Poll::Ready(());
        }
        line.end = Some(waker.clone());
        Poll::Pending
    }

    /// Has all lanes end, and waits for that.
    pub fn poll_closed(&self, waker: &Waker) -> Poll<()> {
        let mut line = self.0.lock();
        line.is_closed = true;
        line.empty();
        line.wake_idle(usize::MAX);
        if line.lanes == 0 {
            return Poll::Ready(());
        }
        line.end = Some(waker.clone());
        Poll::Pending
    }

    /// A lane is made.
    pub fn begin_lane(self: &Arc<Self>) -> LaneLives {
        self.0.lock().lanes += 1;
        LaneLives(Arc::clone(self))
    }

    /// The next group that lane `number` may take, with its ticket in line. `None`: the lane is to end.
    pub fn poll_take(&self, number: usize, waker: &Waker) -> Poll<Option<(u64, Arc<Whole>)>> {
        let mut line = self.0.lock();
        if line.is_closed {
            return Poll::Ready(None);
        }
        let Some(at) = line.ready().next() else {
            if line.idle.len() <= number {
                line.idle.resize(number + 1, None);
            }
            line.idle[number] = Some(waker.clone());
            return Poll::Pending;
        };
        line.busy += 1;
        let ticket = line.first + at as u64;
        let place = &mut line.places[at];
        place.is_taken = true;
        Poll::Ready(Some((ticket, Arc::clone(&place.group))))
    }

    pub fn turn(&self, ticket: u64) -> Option<Turn> {
        let mut line = self.0.lock();
        Self::turn_of(&mut line, ticket)
    }

    /// `None`: others are before it.
    fn turn_of(line: &mut Line, ticket: u64) -> Option<Turn> {
        match ticket.cmp(&line.first) {
            std::cmp::Ordering::Less => Some(Turn::Lost),
            std::cmp::Ordering::Equal if line.places.is_empty() => Some(Turn::Lost),
            std::cmp::Ordering::Equal => Some(Turn::Now),
            std::cmp::Ordering::Greater => None,
        }
    }

    /// Waits for a group's turn. With locks it also ends when it is to give them back; its lane asks again after [`BLOCKED`].
    pub fn poll_turn(&self, ticket: u64, has_locks: bool, waker: &Waker) -> Poll<Turn> {
        let mut line = self.0.lock();
        if let Some(turn) = Self::turn_of(&mut line, ticket) {
            return Poll::Ready(turn);
        }
        let is_blocked = line.places.front().and_then(|place| place.blocked).is_some_and(|since| since.elapsed() >= BLOCKED);
        if has_locks && is_blocked {
            return Poll::Ready(Turn::GiveWay);
        }
        if let Some(place) = line.place(ticket) {
            place.waker = Some(waker.clone());
        }
        Poll::Pending
    }

    /// The rows of a group do not get on. L4
    pub fn note_blocked(&self, ticket: u64, waker: &Waker) {
        let mut line = self.0.lock();
        if let Some(place) = line.place(ticket) {
            place.blocked.get_or_insert_with(Instant::now);
            place.waker = Some(waker.clone());
        }
    }

    /// They get on.
    pub fn note_running(&self, ticket: u64) {
        let mut line = self.0.lock();
        if let Some(place) = line.place(ticket) {
            place.blocked = None;
        }
    }

    /// The first group in line is committed: it leaves.
    pub fn committed(&self, ticket: u64) {
        let mut line = self.0.lock();
        if line.first != ticket {
            return;
        }
        let Some(place) = line.places.pop_front() else { return };
        line.first += 1;
        line.bytes -= place.group.bytes;
        if let Some(next) = line.places.front_mut()
            && let Some(waker) = next.waker.take()
        {
            waker.wake();
        }
        line.wake_for_backlog();
        if line.places.is_empty() {
            line.wake_coordinator();
        } else if line.places.len() < LINE_MAX / 2
            && let Some(waker) = line.room.take()
        {
            waker.wake();
        }
    }

    /// The group at its turn cannot be applied.
    pub fn fail(&self, failed: Failed) {
        let mut line = self.0.lock();
        line.failed.get_or_insert(failed);
        line.wake_coordinator();
    }

    /// A lane has let go of its group.
    pub fn release(&self) {
        let mut line = self.0.lock();
        line.busy -= 1;
        if line.busy == 0 {
            line.wake_coordinator();
        }
    }
}

/// A lane, until its task is gone, however that ends.
pub struct LaneLives(Arc<Lanes>);

impl Drop for LaneLives {
    fn drop(&mut self) {
        let mut line = self.0.0.lock();
        line.lanes -= 1;
        line.wake_coordinator();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(sequence_number: i64, last_committed: i64) -> Arc<Whole> {
        Arc::new(Whole { items: Vec::new(), bytes: 100, last_committed, sequence_number, timestamp: 1 })
    }

    fn put(lanes: &Lanes, sequence_number: i64, last_committed: i64) -> bool {
        lanes.put(&group(sequence_number, last_committed), Waker::noop()).is_ready()
    }

    fn take(lanes: &Lanes) -> Option<u64> {
        match lanes.poll_take(0, Waker::noop()) {
            Poll::Ready(taken) => taken.map(|(ticket, _)| ticket),
            Poll::Pending => None,
        }
    }

    fn turn(lanes: &Lanes, ticket: u64) -> Poll<Turn> {
        lanes.poll_turn(ticket, true, Waker::noop())
    }

    #[test]
    fn groups_are_taken_when_those_they_depend_on_are_committed_and_commit_in_order() {
        let lanes = Lanes::default();
        assert!(put(&lanes, 1, 0) && put(&lanes, 2, 0) && put(&lanes, 3, 2) && put(&lanes, 4, 1));
        let (first, second) = (take(&lanes).unwrap(), take(&lanes).unwrap());
        assert_eq!(take(&lanes), None, "3 depends on 2, and 4 on 1");
        assert_eq!((turn(&lanes, second), turn(&lanes, first)), (Poll::Pending, Poll::Ready(Turn::Now)));
        lanes.committed(first);
        let fourth = take(&lanes).unwrap();
        assert_eq!((fourth, take(&lanes)), (first + 3, None));
        assert_eq!((turn(&lanes, fourth), turn(&lanes, second)), (Poll::Pending, Poll::Ready(Turn::Now)));
        lanes.committed(second);
        let third = take(&lanes).unwrap();
        assert_eq!(turn(&lanes, third), Poll::Ready(Turn::Now));
        lanes.committed(third);
        assert_eq!(turn(&lanes, fourth), Poll::Ready(Turn::Now));
        assert!(lanes.poll_empty(Waker::noop()).is_pending());
        lanes.committed(fourth);
        assert!(lanes.poll_empty(Waker::noop()).is_ready());
    }

    #[test]
    fn a_group_that_waits_for_its_turn_gives_way_to_a_first_one_that_does_not_get_on() {
        let lanes = Lanes::default();
        assert!(put(&lanes, 1, 0) && put(&lanes, 2, 0));
        let (first, second) = (take(&lanes).unwrap(), take(&lanes).unwrap());
        lanes.note_blocked(first, Waker::noop());
        assert_eq!(turn(&lanes, second), Poll::Pending);
        std::thread::sleep(BLOCKED);
        assert_eq!(turn(&lanes, second), Poll::Ready(Turn::GiveWay));
        assert_eq!(lanes.poll_turn(second, false, Waker::noop()), Poll::Pending, "it has nothing to give");
        lanes.note_running(first);
        assert_eq!(turn(&lanes, second), Poll::Pending);
    }

    #[test]
    fn numbers_that_begin_anew_wait_for_the_end_of_the_line() {
        let lanes = Lanes::default();
        assert!(put(&lanes, 7, 6));
        assert!(!put(&lanes, 1, 0));
        let first = take(&lanes).unwrap();
        lanes.committed(first);
        assert!(put(&lanes, 1, 0));
    }

    #[test]
    fn what_is_thrown_away_is_lost_to_the_lane_that_holds_it() {
        let lanes = Lanes::default();
        assert!(put(&lanes, 1, 0));
        let first = take(&lanes).unwrap();
        assert!(lanes.poll_thrown_away(Waker::noop()).is_pending());
        assert_eq!(turn(&lanes, first), Poll::Ready(Turn::Lost));
        lanes.committed(first);
        lanes.release();
        assert!(lanes.poll_thrown_away(Waker::noop()).is_ready());
        assert!(put(&lanes, 1, 0));
        assert_eq!(turn(&lanes, take(&lanes).unwrap()), Poll::Ready(Turn::Now));
    }

    #[test]
    fn the_line_is_bounded() {
        let lanes = Lanes::default();
        let put_all = (1..).take_while(|number| put(&lanes, *number, 0)).count();
        assert_eq!(put_all, LINE_MAX);
    }
}
