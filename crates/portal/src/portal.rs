//! The shared state of the portal's routes, and its setup.

use std::sync::Arc;

use auth::{CurrentKeys, Hosts, InvalidKey, Secret};

use crate::{
    access::{Authenticator, Login},
    apis::Apis,
    ended_sessions::SessionStore,
    session::Sessions,
};

/// Path prefix of relayed requests; the NoSQL API's own path follows it.
pub(crate) const NOSQL: &str = "/_portal/api/nosql";

/// Addresses of the APIs as `host:port`, shown to users. The portal does not connect to them.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    /// Address of the MongoDB API; `None` if it is disabled.
    pub mongo: Option<String>,
    /// Address of the NoSQL API; `None` if it is disabled.
    pub cosmos: Option<String>,
    /// Whether clients of the MongoDB API must use TLS.
    pub mongo_needs_tls: bool,
    /// Whether clients of the NoSQL API must use TLS.
    pub cosmos_needs_tls: bool,
    /// Whether clients of the MongoDB API must log in.
    pub mongo_needs_login: bool,
}

/// Keys, addresses and secrets of the portal.
#[derive(Debug)]
pub struct Settings {
    /// Keys that are accepted by the portal.
    pub keys: CurrentKeys,
    /// Keys of the account. Pages show the first key, for use with the NoSQL API.
    pub account: CurrentKeys,
    /// Whether a key is required.
    pub login: Login,
    /// Host names of the server in addition to IP addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Addresses of the APIs, for display.
    pub addresses: Addresses,
    /// Random secret of this process; signatures made with it become invalid at a restart.
    pub secret: Secret,
    /// Storage of sessions that were ended before their expiry.
    pub ended: SessionStore,
}

/// The portal of one server. All routes share it; only its sessions and its counts of wrong keys
/// change.
#[derive(Debug)]
pub struct Portal<D> {
    pub(crate) apis: D,
    pub(crate) authenticator: Authenticator,
    pub(crate) account: CurrentKeys,
    pub(crate) hosts: Hosts,
    pub(crate) addresses: Addresses,
}

impl<D: Apis> Portal<D> {
    /// Creates a portal for these APIs. Fails if a key cannot be used for signing.
    pub fn new(settings: Settings, apis: D) -> Result<Arc<Self>, InvalidKey> {
        let sessions = Sessions::new(&settings.keys, &settings.secret, settings.ended)?;
        Ok(Arc::new(Self {
            apis,
            authenticator: Authenticator::new(settings.login, settings.keys, sessions),
            account: settings.account,
            hosts: Hosts::new(&settings.hosts),
            addresses: settings.addresses,
        }))
    }
}

#[cfg(test)]
mod tests {
    use auth::{Keys, Right};

    use super::*;

    #[test]
    fn neither_keys_nor_the_secret_are_printed() {
        let planted = "cGxhbnRlZCBwbGFudGVkIGtleQ==";
        let settings = Settings {
            keys: Keys::new(&[(planted, Right::Write)]).unwrap().into(),
            account: Keys::new(&[(planted, Right::Write)]).unwrap().into(),
            login: Login::Required,
            hosts: vec!["shown".to_owned()],
            addresses: Addresses::default(),
            secret: Secret::from_text("planted".to_owned()),
            ended: SessionStore { text: "planted".to_owned(), ..SessionStore::nowhere() },
        };
        let text = format!("{settings:?}");
        assert!(text.contains("shown") && !text.contains("planted"), "{text}");
        assert!(!text.contains(planted) && !text.contains(&format!("{:?}", b"planted")), "{text}");
    }
}
