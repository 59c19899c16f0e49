//! The portal of one server: what its routes share, and how it is set up.

use std::sync::Arc;

use auth::{CurrentKeys, Hosts, NotAKey, Secret};

use crate::{
    access::{Doorman, Login},
    doors::Doors,
    ended::Kept,
    session::Sessions,
};

/// Prefix of relayed requests; the NoSQL API's own path follows it.
pub(crate) const NOSQL: &str = "/_portal/api/nosql";

/// Where the APIs listen, `host:port`, for people to connect to. The portal itself does not.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    /// The MongoDB API; `None`: it is off.
    pub mongo: Option<String>,
    /// The NoSQL API; `None`: it is off.
    pub cosmos: Option<String>,
    /// Whether clients of the MongoDB API have to speak TLS.
    pub mongo_needs_tls: bool,
    /// The same for the NoSQL API.
    pub cosmos_needs_tls: bool,
    /// Whether clients of the MongoDB API have to log in.
    pub mongo_needs_login: bool,
}

/// Settings of the portal.
#[derive(Debug)]
pub struct Settings {
    /// Keys that let people in here.
    pub keys: CurrentKeys,
    /// Keys of the account, the first of which is the one that pages show for the NoSQL API.
    pub account: CurrentKeys,
    /// Whether one of them is asked for.
    pub login: Login,
    /// Names that the server answers to, beside IP addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Where the APIs listen.
    pub addresses: Addresses,
    /// Random bytes of this process; what they sign ends with it.
    pub secret: Secret,
    /// Sessions that were ended before their time, and how more are kept.
    pub ended: Kept,
}

/// The portal of one server. Its routes share it; it changes only in its sessions and its counts of
/// wrong keys.
#[derive(Debug)]
pub struct Portal<D> {
    pub(crate) doors: D,
    pub(crate) doorman: Doorman,
    pub(crate) account: CurrentKeys,
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
            ended: Kept { text: "planted".to_owned(), ..Kept::nowhere() },
        };
        let text = format!("{settings:?}");
        assert!(text.contains("shown") && !text.contains("planted"), "{text}");
        assert!(!text.contains(planted) && !text.contains(&format!("{:?}", b"planted")), "{text}");
    }
}
