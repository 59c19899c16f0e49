//! The portal of one server: what its routes share, and how it is set up.

use std::sync::Arc;

use auth::{Hosts, Keys, NotAKey};

use crate::{
    access::{Doorman, Login},
    doors::Doors,
    ended::Kept,
    session::Sessions,
};

/// Prefix of relayed requests; the NoSQL API's own path follows it.
pub(crate) const NOSQL: &str = "/_portal/api/nosql";

/// Where the APIs listen, `host:port`, for people to connect to. The portal itself does not.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// The MongoDB API; `None`: it is off.
    pub mongo: Option<String>,
    /// The NoSQL API; `None`: it is off.
    pub cosmos: Option<String>,
}

/// Settings of the portal.
#[derive(Debug)]
pub struct Settings {
    /// Keys of the account, the first of which is the one that pages show.
    pub keys: Keys,
    /// Whether one of them is asked for.
    pub login: Login,
    /// Names that the server answers to, beside IP addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Where the APIs listen.
    pub addresses: Addresses,
    /// Random bytes of this process; what they sign ends with it.
    pub secret: [u8; 32],
    /// Sessions that were ended before their time, and how more are kept.
    pub ended: Kept,
}

/// The portal of one server. Its routes share it; it changes only in its sessions and its counts of
/// wrong keys.
#[derive(Debug)]
pub struct Portal<D> {
    pub(crate) doors: D,
    pub(crate) doorman: Doorman,
    pub(crate) hosts: Hosts,
    pub(crate) addresses: Addresses,
}

impl<D: Doors> Portal<D> {
    /// Returns a portal to these APIs. It fails where a key cannot sign.
    pub fn new(settings: Settings, doors: D) -> Result<Arc<Self>, NotAKey> {
        let sessions = Sessions::new(&settings.keys, &settings.secret, settings.ended)?;
        Ok(Arc::new(Self {
            doors,
            doorman: Doorman::new(settings.login, settings.keys, sessions),
            hosts: Hosts::new(&settings.hosts),
            addresses: settings.addresses,
        }))
    }
}
