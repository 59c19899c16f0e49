//! The portal of one server: what its routes share, and how it is set up.

use std::sync::Arc;

use auth::{Hosts, Keys, NotAKey};

use crate::{
    access::{Doorman, Login},
    doors::Doors,
    ended::Kept,
    session::Sessions,
};

/// The NoSQL door's own links stand behind this.
pub(crate) const NOSQL: &str = "/_portal/api/nosql";

/// Where the doors listen, for people to connect to.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// The MongoDB door; `None`: it is off.
    pub mongo: Option<String>,
    /// The NoSQL door; `None`: it is off.
    pub cosmos: Option<String>,
}

/// Settings of the portal.
#[derive(Debug)]
pub struct Settings {
    /// Keys of the account.
    pub keys: Keys,
    /// Whether one of them is asked for.
    pub login: Login,
    /// Names that the server answers to, beside addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Where the doors listen.
    pub addresses: Addresses,
    /// Random bytes of this process.
    pub secret: [u8; 32],
    /// Sessions that were ended before their time.
    pub ended: Kept,
}

/// The portal of one server.
#[derive(Debug)]
pub struct Portal<D> {
    pub(crate) doors: D,
    pub(crate) doorman: Doorman,
    pub(crate) hosts: Hosts,
    pub(crate) addresses: Addresses,
}

impl<D: Doors> Portal<D> {
    /// A portal to these doors.
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
