//! The replicas that are connected, for SHOW REPLICAS, and so that a newer dump of a replica ends the older one.

use std::collections::HashMap;
use sync::Mutex;

/// What a replica has said of itself.
#[derive(Clone, Debug, Default)]
pub struct Replica {
    pub server_id: u32,
    pub host: String,
    pub user: String,
    pub password: String,
    pub port: u16,
    pub uuid: String,
}

/// A line of SHOW REPLICAS.
#[derive(Clone, Debug)]
pub struct ReplicaLine {
    pub session: u32,
    pub replica: Replica,
    pub is_dumping: bool,
}

/// The replicas that are connected, by session.
#[derive(Default)]
pub struct Dumps(Mutex<HashMap<u32, (Replica, bool)>>);

impl Dumps {
    pub fn lines(&self) -> Vec<ReplicaLine> {
        let mut lines: Vec<_> = self
            .0
            .lock()
            .iter()
            .map(|(session, (replica, is_dumping))| ReplicaLine {
                session: *session,
                replica: replica.clone(),
                is_dumping: *is_dumping,
            })
            .collect();
        lines.sort_by_key(|line| line.session);
        lines
    }

    /// The session has ended.
    pub fn leave(&self, session: u32) {
        let mut all = self.0.lock();
        // The usual case is that no session is a replica's.
        if !all.is_empty() {
            all.remove(&session);
        }
    }

    pub fn register(&self, session: u32, replica: Replica) {
        self.0.lock().insert(session, (replica, false));
    }

    /// The session begins to dump; returns the sessions that dump for the same replica.
    pub fn begin(&self, session: u32, uuid: &str, server_id: u32) -> Vec<u32> {
        let mut all = self.0.lock();
        let own = all.entry(session).or_default();
        own.0.uuid = uuid.to_owned();
        if own.0.server_id == 0 {
            own.0.server_id = server_id;
        }
        own.1 = true;
        let is_same = |replica: &Replica| if uuid.is_empty() { false } else { replica.uuid == uuid };
        all.iter().filter(|(id, (replica, dumps))| **id != session && *dumps && is_same(replica)).map(|(id, _)| *id).collect()
    }
}
