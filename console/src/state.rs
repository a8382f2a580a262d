//! Everything that answers are made of.

use crate::logins::{Login, Logins};
use crate::sampler::Sampler;
use crate::server::{Config, Server};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

/// What the routes, the pages and the metrics share.
pub struct State {
    pub config: Config,
    pub server: Arc<dyn Server>,
    pub logins: Logins,
    pub sampler: Sampler,
    /// It is reached by https.
    pub is_secure: bool,
    /// Its address is of this machine alone.
    pub is_local: bool,
}

impl State {
    pub fn new(config: Config, server: Arc<dyn Server>, address: SocketAddr, is_secure: bool) -> Self {
        Self {
            logins: Logins::new(Arc::clone(&server), address.port(), is_secure),
            sampler: Sampler::new(Arc::clone(&server), &config),
            is_local: address.ip().to_canonical().is_loopback(),
            config,
            server,
            is_secure,
        }
    }

    /// What the page must know of its login.
    pub fn about(&self, login: &Rc<Login>) -> Value {
        json!({
            "account": login.account,
            "csrf": login.csrf,
            "session": login.session,
            "version": self.config.version,
        })
    }
}
