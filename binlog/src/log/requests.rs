//! What sessions want done with the files: rotation, purge, RESET, another `gtid_purged`. The thread of the binary log does it between two epochs, so that
//! nobody else changes the files.

use super::{Materialiser, Request, Stop};
use crate::files::{self, Entry};
use crate::gtid::GtidSet;
use crate::settings::Settings;
use std::time::{Duration, SystemTime};

impl Materialiser {
    pub(super) fn expire(&mut self, settings: &Settings) -> Result<(), Stop> {
        if settings.expire_seconds == 0 {
            return Ok(());
        }
        match SystemTime::now().checked_sub(Duration::from_secs(settings.expire_seconds)) {
            Some(time) => self.purge_before(time),
            None => Ok(()),
        }
    }

    fn purge_before(&mut self, time: SystemTime) -> Result<(), Stop> {
        let closed = &self.files[..self.files.len() - 1];
        // As MySQL: up to the first file that was changed later.
        let is_older = |entry: &&Entry| files::changed_at(&self.log.dir, &entry.name).is_ok_and(|changed| changed < time);
        let count = closed.iter().take_while(is_older).count();
        self.purge(count)
    }

    /// Removes the first files, up to one that is being read.
    fn purge(&mut self, count: usize) -> Result<(), Stop> {
        let used: Vec<String> = self.log.shared.lock().used.values().cloned().collect();
        let is_used = |entry: &Entry| used.contains(&entry.name);
        let count = self.files.iter().take(count.min(self.files.len() - 1)).take_while(|entry| !is_used(entry)).count();
        if count == 0 {
            return Ok(());
        }
        let gone: Vec<Entry> = self.files.drain(..count).collect();
        self.purged = files::previous_gtids(&self.log.dir, &self.files[0].name)?;
        files::write_index(&self.log.dir, &self.files)?;
        for entry in gone {
            files::remove(&self.log.dir, &entry.name)?;
        }
        self.write_state()?;
        self.publish();
        Ok(())
    }

    /// Does what sessions have asked for.
    pub(super) fn serve(&mut self) -> Result<(), Stop> {
        loop {
            let (request, ticket) = {
                let mut shared = self.log.shared.lock();
                if shared.requests.is_empty() {
                    return Ok(());
                }
                shared.done += 1;
                (shared.requests.remove(0), shared.done)
            };
            let outcome = match request {
                Request::Rotate => self.rotate().map(|()| Ok(())),
                Request::Reset(first) => self.reset(first).map(|()| Ok(())),
                Request::Purged { set, adds } => self.change_purged(set, adds),
                Request::PurgeTo(name) => match self.files.iter().position(|entry| entry.name == name) {
                    Some(count) => self.purge(count).map(|()| Ok(())),
                    None => Ok(Err(format!("no file {name} is in the index"))),
                },
                Request::PurgeBefore(time) => self.purge_before(time).map(|()| Ok(())),
            };
            let told = match &outcome {
                Ok(told) => told.clone(),
                Err(stop) => Err(stop.0.clone()),
            };
            self.log.shared.lock().outcomes.insert(ticket, told);
            self.log.publish(|_| {});
            outcome.map(drop)?;
        }
    }

    fn change_purged(&mut self, set: GtidSet, adds: bool) -> Result<Result<(), String>, Stop> {
        if adds {
            if !set.subtract(&self.executed).subtract(&set).is_empty() || !self.is_disjoint(&set) {
                return Ok(Err("The added gtid set must not overlap with @@GLOBAL.GTID_EXECUTED".to_owned()));
            }
            self.purged.union(&set);
        } else {
            if !self.purged.is_subset_of(&set) {
                return Ok(Err("The new value must be a superset of the old value".to_owned()));
            }
            let logged = self.executed.subtract(&self.purged);
            if !set.subtract(&logged).subtract(&set).is_empty() || set.subtract(&logged) != set {
                return Ok(Err(
                    "The added gtid set must not overlap with @@GLOBAL.GTID_EXECUTED minus @@GLOBAL.GTID_PURGED".to_owned()
                ));
            }
            self.purged = set.clone();
        }
        self.executed.union(&set);
        self.last_number = self.last_number.max(self.executed.last_number(self.log.uuid));
        // A new file begins with the new set.
        self.rotate()?;
        Ok(Ok(()))
    }

    fn is_disjoint(&self, set: &GtidSet) -> bool {
        set.subtract(&self.executed) == *set
    }

    fn reset(&mut self, first: u64) -> Result<(), Stop> {
        let settings = self.log.settings();
        let old = std::mem::take(&mut self.files);
        (self.executed, self.purged, self.last_number) = (GtidSet::default(), GtidSet::default(), 0);
        // The state names a file of the old ones until the new one is there.
        files::write_index(&self.log.dir, &[])?;
        for entry in &old {
            files::remove(&self.log.dir, &entry.name)?;
        }
        self.begin_next(first.max(1), &settings)
    }
}
