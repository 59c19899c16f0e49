//! Settings of a cluster node: the connection to Cassandra and the link between nodes. The settings
//! of the connection are also flags of `ebb admin cluster`.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use server::{CassandraCertificates, ClusterConfig, PeerCertificates};

use super::{
    Wrong,
    values::{Address, Optional, optional, parse_address, parse_bool, parse_path},
};

/// Settings of the cluster's data in Cassandra. A doc comment is the help of its flag.
#[derive(Clone, Debug, Args)]
pub(crate) struct CassandraValues {
    /// Contact points: Cassandra nodes to connect to first
    #[arg(long, env = "EBB_CASSANDRA_CONTACT_POINTS", value_name = "HOST:PORT,...", value_delimiter = ',', value_parser = parse_point)]
    cassandra_contact_points: Vec<String>,
    /// Keyspace of the cluster
    #[arg(long, env = "EBB_CASSANDRA_KEYSPACE", value_name = "NAME", default_value = "ebb")]
    cassandra_keyspace: String,
    /// Cassandra datacenter whose nodes are queried [any]
    #[arg(long, env = "EBB_CASSANDRA_DATACENTER", value_name = "NAME", default_value = "", value_parser = optional(parse_text))]
    cassandra_datacenter: Optional<String>,
    /// Cassandra user [no authentication]
    #[arg(long, env = "EBB_CASSANDRA_USER", value_name = "NAME", default_value = "", value_parser = optional(parse_text))]
    cassandra_user: Optional<String>,
    /// File with the password of --cassandra-user
    #[arg(long, env = "EBB_CASSANDRA_PASSWORD_FILE", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    cassandra_password_file: Optional<PathBuf>,
    /// CA of the Cassandra nodes' certificates [no TLS to Cassandra]
    #[arg(long, env = "EBB_CASSANDRA_CA", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    cassandra_ca: Optional<PathBuf>,
    /// Client certificate for Cassandra [none]
    #[arg(long, env = "EBB_CASSANDRA_CERT", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    cassandra_cert: Optional<PathBuf>,
    /// Private key of the certificate --cassandra-cert
    #[arg(long, env = "EBB_CASSANDRA_CERT_KEY", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    cassandra_cert_key: Optional<PathBuf>,
    /// Start although Cassandra acknowledges writes before syncing them to disk
    #[arg(long, env = "EBB_ACCEPT_UNSYNCED", value_name = "BOOL", default_value = "false", value_parser = parse_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    accept_unsynced: bool,
}

/// Addresses, certificates and name by which nodes reach each other.
#[derive(Clone, Debug, Args)]
pub(super) struct PeerValues {
    /// Address of the link between nodes
    #[arg(long, env = "EBB_PEER_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:8090", value_parser = parse_address)]
    peer_addr: Address,
    /// Address that other nodes connect to [--peer-addr]
    #[arg(long, env = "EBB_PEER_ADVERTISE", value_name = "HOST:PORT", default_value = "", value_parser = optional(parse_point))]
    peer_advertise: Optional<String>,
    /// CA of the nodes' certificates [none: only for nodes on one machine]
    #[arg(long, env = "EBB_PEER_CA", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    peer_ca: Optional<PathBuf>,
    /// Certificate of this node
    #[arg(long, env = "EBB_PEER_CERT", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    peer_cert: Optional<PathBuf>,
    /// Private key of the certificate --peer-cert
    #[arg(long, env = "EBB_PEER_KEY", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    peer_key: Optional<PathBuf>,
    /// Name of this node [the host name]
    #[arg(long, env = "EBB_NODE_NAME", value_name = "NAME", default_value = "", value_parser = optional(parse_text))]
    node_name: Optional<String>,
}

impl CassandraValues {
    /// Returns a cluster configuration with these Cassandra settings, and with defaults for the
    /// link between nodes.
    pub(crate) fn config(self) -> Result<ClusterConfig, Wrong> {
        let wrong = |text: &str| Err(Wrong(text.to_owned()));
        let contact_points: Vec<String> =
            self.cassandra_contact_points.into_iter().filter(|point| !point.is_empty()).collect();
        if contact_points.is_empty() {
            return wrong("--cassandra-contact-points must name at least one node of Cassandra");
        }
        let login = match (self.cassandra_user.0, self.cassandra_password_file.0) {
            (Some(user), Some(file)) => Some((user, file)),
            (None, None) => None,
            _ => {
                return wrong(
                    "--cassandra-user and --cassandra-password-file must be given together",
                );
            }
        };
        let own = match (self.cassandra_cert.0, self.cassandra_cert_key.0) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return wrong("--cassandra-cert and --cassandra-cert-key must be given together"),
        };
        let cassandra_tls = match (self.cassandra_ca.0, own) {
            (Some(authority), own) => Some(CassandraCertificates { authority, own }),
            (None, None) => None,
            (None, Some(_)) => return wrong("--cassandra-cert needs --cassandra-ca"),
        };
        Ok(ClusterConfig {
            contact_points,
            keyspace: self.cassandra_keyspace,
            datacenter: self.cassandra_datacenter.0,
            login,
            cassandra_tls,
            accept_unsynced: self.accept_unsynced,
            peer_addr: String::new(),
            peer_advertise: None,
            peer_tls: None,
            node_name: None,
        })
    }
}

impl PeerValues {
    /// Adds the settings of the link between nodes to a configuration that has the Cassandra
    /// settings.
    pub(super) fn add_to(self, mut config: ClusterConfig) -> Result<ClusterConfig, Wrong> {
        let wrong = |text: &str| Err(Wrong(text.to_owned()));
        let Some(address) = self.peer_addr.0 else {
            return wrong("--peer-addr cannot be off: nodes forward clients to each other over it");
        };
        config.peer_tls = match (self.peer_ca.0, self.peer_cert.0, self.peer_key.0) {
            (Some(authority), Some(certificate), Some(key)) => {
                Some(PeerCertificates { authority, certificate, key })
            }
            (None, None, None) => None,
            _ => return wrong("--peer-ca, --peer-cert and --peer-key must be given together"),
        };
        config.peer_addr = address;
        config.peer_advertise = self.peer_advertise.0;
        config.node_name = self.node_name.0;
        Ok(config)
    }
}

fn parse_text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Parses `HOST:PORT`. An empty text is accepted, because a list may end with a comma.
fn parse_point(text: &str) -> Result<String, String> {
    let text = text.trim();
    let has_port = text.rsplit_once(':').is_some_and(|(host, port)| {
        let named = !host.is_empty() && !host.contains(['@', '/', ' ']);
        named && port.parse::<u16>().is_ok_and(|port| port != 0)
    });
    match text.is_empty() || has_port {
        true => Ok(text.to_owned()),
        false => Err("it is not HOST:PORT".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::tests::config;

    #[test]
    fn a_node_is_told_where_its_cluster_is() {
        let cluster = |typed: &[&str]| {
            let typed = [&["--store", "cassandra"], typed].concat();
            config(&typed, None).map(|config| config.cluster.unwrap())
        };
        let points = "--cassandra-contact-points=127.0.0.1:9042, db:9043,";
        let found = cluster(&[points]).unwrap();
        assert_eq!(found.contact_points, ["127.0.0.1:9042", "db:9043"]);
        assert_eq!((found.keyspace.as_str(), found.peer_addr.as_str()), ("ebb", "127.0.0.1:8090"));
        assert!(found.peer_tls.is_none() && found.login.is_none() && !found.accept_unsynced);
        assert!(found.cassandra_tls.is_none());
        let found = cluster(&[points, "--cassandra-ca", "ca.pem"]).unwrap().cassandra_tls.unwrap();
        assert_eq!((found.authority.to_str(), found.own), (Some("ca.pem"), None));
        for (typed, name) in [
            (&[][..], "--cassandra-contact-points"),
            (&["--cassandra-contact-points", "nowhere"], "--cassandra-contact-points"),
            (&["--cassandra-contact-points", "ann:secret@db:9042"], "--cassandra-contact-points"),
            (&[points, "--cassandra-user", "a"], "--cassandra-password-file"),
            (&[points, "--cassandra-cert", "a", "--cassandra-ca", "b"], "--cassandra-cert-key"),
            (&[points, "--cassandra-cert", "a", "--cassandra-cert-key", "b"], "--cassandra-ca"),
            (&[points, "--peer-addr", "off"], "--peer-addr"),
            (&[points, "--peer-cert", "x"], "--peer-key"),
            (&[points, "--in-memory"], "--in-memory"),
        ] {
            let wrong = cluster(typed).unwrap_err();
            assert!(wrong.contains(name), "{typed:?}: {wrong}");
        }
        let wrong = config(&[points], None).unwrap_err();
        assert!(wrong.contains("--store cassandra"), "{wrong}");
        assert!(config(&["--store", "lsm"], None).unwrap().cluster.is_none());
    }
}
