//! Options of the connection to Cassandra.

use std::time::Duration;

use secret::Secret;
use store::{Error, Kind};

use crate::tls::Certificates;

/// Options of a ledger in Cassandra.
#[derive(Clone, Debug)]
pub struct Options {
    /// `host:port` of initial contact points; other nodes are discovered through them.
    pub contact_points: Vec<String>,
    /// Keyspace that contains the ledger's tables.
    pub keyspace: String,
    /// Datacenter whose nodes are preferred as coordinators.
    pub datacenter: Option<String>,
    /// User and password, if Cassandra requires authentication.
    pub login: Option<(String, Secret)>,
    /// Certificates for TLS; `None` disables TLS.
    pub tls: Option<Certificates>,
    /// Timeout of a request, including repeats on other nodes.
    pub timeout: Duration,
    /// Whether to accept a Cassandra configuration that acknowledges writes before they are synced.
    pub accept_unsynced: bool,
}

impl Options {
    /// Creates options with the default values.
    pub fn new(contact_points: Vec<String>, keyspace: impl Into<String>) -> Self {
        Self {
            contact_points,
            keyspace: keyspace.into(),
            datacenter: None,
            login: None,
            tls: None,
            timeout: Duration::from_secs(2),
            accept_unsynced: false,
        }
    }
}

/// Replication of a new keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replication {
    /// This number of replicas on any nodes.
    Simple(u32),
    /// This number of replicas in a datacenter.
    Datacenter(String, u32),
}

impl Replication {
    /// Formats the replication for a CQL statement.
    pub(crate) fn to_cql(&self) -> Result<String, Error> {
        match self {
            Self::Simple(copies) => {
                Ok(format!("{{'class': 'SimpleStrategy', 'replication_factor': {copies}}}"))
            }
            Self::Datacenter(name, copies) if is_plain(name, true) => {
                Ok(format!("{{'class': 'NetworkTopologyStrategy', '{name}': {copies}}}"))
            }
            Self::Datacenter(name, _) => Err(invalid(format!("{name:?} names no datacenter"))),
        }
    }
}

/// Refuses names that would need quoting.
pub(crate) fn check_keyspace(name: &str) -> Result<(), Error> {
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    if begins && name.len() <= 48 && is_plain(name, false) {
        return Ok(());
    }
    Err(invalid(format!(
        "{name:?} is not the name of a keyspace: up to 48 lower-case letters, digits and underscores"
    )))
}

fn is_plain(name: &str, any_case: bool) -> bool {
    let is_plain = |c: char| {
        c.is_ascii_lowercase()
            || c.is_ascii_digit()
            || c == '_'
            || (any_case && (c.is_ascii_uppercase() || c == '-'))
    };
    !name.is_empty() && name.chars().all(is_plain)
}

fn invalid(message: String) -> Error {
    Error::new(Kind::Invalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_have_to_be_quoted_are_refused() {
        for name in ["ebb", "e", "ebb_2"] {
            check_keyspace(name).unwrap();
        }
        for name in ["", "Ebb", "2ebb", "_ebb", "e b", "e;drop", "e\"", "é", &"e".repeat(49)] {
            assert_eq!(check_keyspace(name).unwrap_err().kind, Kind::Invalid, "{name}");
        }
        let quoted = Replication::Datacenter("x': 1, 'y".to_owned(), 3);
        assert_eq!(quoted.to_cql().unwrap_err().kind, Kind::Invalid);
        let cql = Replication::Datacenter("DC-1".to_owned(), 3).to_cql().unwrap();
        assert_eq!(cql, "{'class': 'NetworkTopologyStrategy', 'DC-1': 3}");
    }

    #[test]
    fn a_password_is_not_printed() {
        let mut options = Options::new(vec![], "ebb");
        options.login = Some(("user".to_owned(), Secret::from_text("hush".to_owned())));
        let text = format!("{options:?}");
        assert!(text.contains("user") && !text.contains("hush"), "{text}");
    }
}
