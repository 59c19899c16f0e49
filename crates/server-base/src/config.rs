//! The configuration of a server. The binary determines where each value comes from (flag,
//! environment, file, default); invalid combinations are refused at the start.

use std::{path::PathBuf, time::Duration};

use auth::Secret;
use store_tree::OldViewsBound;

/// Default delay between a document's expiration and the earliest removal of its bytes, with a
/// system clock. Reads do not see the document in the meantime.
pub const REAP_DELAY: Duration = Duration::from_secs(60);

/// Mode in which the database clock advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockMode {
    /// The database clock follows the machine's clocks.
    System,
    /// The database clock advances only on request, by `POST /_ebb/clock` or the command
    /// `ebbClock`: for tests of retention.
    Manual,
}

/// Topology as which the MongoDB API of a server outside a cluster presents itself to drivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MongoTopology {
    /// A router of a sharded cluster: drivers number their writes and use transactions.
    Router,
    /// A standalone server: drivers refuse transactions and do not number their writes.
    Standalone,
    /// The only member of a replica set.
    ReplicaSet {
        /// Name of the set, which drivers compare with `replicaSet`.
        name: String,
        /// Address to which drivers connect; `None` for the configured or the bound address.
        advertise: Option<String>,
    },
}

/// Whether a listener speaks TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsMode {
    /// Plain connections only; TLS is refused.
    Off,
    /// TLS for clients that start with a TLS handshake, plain connections for all others.
    Allow,
    /// TLS only; other connections are refused.
    Require,
}

impl TlsMode {
    /// Returns the URL scheme shown to HTTP clients: plain HTTP if it is served.
    pub const fn http_scheme(self) -> &'static str {
        match self {
            Self::Require => "https",
            Self::Off | Self::Allow => "http",
        }
    }
}

/// Whether TLS clients of the MongoDB API present a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificates {
    /// A client certificate is verified if the client sends one.
    Allow,
    /// Clients without a certificate are refused.
    Require,
}

/// The text printed to standard output once the server accepts connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Banner {
    /// Prints nothing to standard output.
    Off,
    /// Prints the addresses as log lines.
    Lines,
    /// Prints the addresses for a person at a terminal, with example commands.
    Terminal,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people, one event per line.
    Text,
    /// One JSON object per line.
    Json,
}

/// A node's membership of a cluster: the location of the cluster's data, and the link between this
/// node and other nodes.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// Addresses of initial Cassandra nodes, each `host:port`.
    pub contact_points: Vec<String>,
    /// Cassandra keyspace that contains the cluster's ledger (ownership records and journals).
    pub keyspace: String,
    /// Datacenter of the Cassandra nodes to use; `None` uses any.
    pub datacenter: Option<String>,
    /// Cassandra user and password file; `None` if Cassandra requires no login.
    pub login: Option<(String, PathBuf)>,
    /// TLS certificates for Cassandra; `None` disables TLS.
    pub cassandra_tls: Option<CassandraCertificates>,
    /// Whether to accept a Cassandra that acknowledges writes before syncing them.
    pub accept_unsynced: bool,
    /// Listen address of the link between nodes.
    pub peer_addr: String,
    /// Address under which other nodes reach the link; defaults to `peer_addr`.
    pub peer_advertise: Option<String>,
    /// Certificates of the link; `None` disables TLS, allowed only between nodes of one machine.
    pub peer_tls: Option<PeerCertificates>,
    /// Display name of the node; defaults to the host name.
    pub node_name: Option<String>,
}

/// Certificate files of the connection to Cassandra, in PEM format.
#[derive(Clone, Debug)]
pub struct CassandraCertificates {
    /// Certificate authority of the Cassandra nodes' certificates.
    pub authority: PathBuf,
    /// Client certificate and key, if Cassandra requires one.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// Certificate files of the link between nodes, in PEM format.
#[derive(Clone, Debug)]
pub struct PeerCertificates {
    /// Certificate authority of the other nodes' certificates.
    pub authority: PathBuf,
    /// Certificate that this node presents to others.
    pub certificate: PathBuf,
    /// Private key of the certificate.
    pub key: PathBuf,
}

/// The first user of the MongoDB API.
#[derive(Clone, Debug)]
pub struct RootUser {
    /// User name, in the database `admin`.
    pub name: String,
    /// Password of the user; hidden in debug output.
    pub password: Secret,
}

/// Limits of operations and connections, and the threshold of the slow log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Duration in milliseconds from which operations are logged as slow; `None` disables that.
    pub slow_ms: Option<u64>,
    /// Default time limit of reads; `None` applies the API's own limit, if any.
    pub max_time: Option<Duration>,
    /// Maximum connections of both APIs together; `None` derives it from the descriptor limit.
    pub max_connections: Option<usize>,
    /// Maximum open cursors; `None` uses the default.
    pub max_cursors: Option<usize>,
    /// Maximum message size of the MongoDB API, bytes; `None` uses mongod's.
    pub max_message_bytes: Option<usize>,
    /// Maximum request body of the NoSQL API, bytes; `None` allows an item of the largest size in
    /// Azure Cosmos DB with some overhead.
    pub max_body_bytes: Option<usize>,
}

/// Settings of a server process.
#[derive(Clone, Debug)]
pub struct Config {
    /// Data directory; `None` keeps everything in memory.
    pub data_dir: Option<PathBuf>,
    /// Collector for traces, `http(s)://HOST[:PORT][/PATH]`; `None` disables tracing.
    pub otlp_endpoint: Option<String>,
    /// Listen address of the MongoDB API; `None` disables it.
    pub mongo_addr: Option<String>,
    /// Topology as which the MongoDB API presents itself to drivers. A node of a cluster is always
    /// a router.
    pub mongo_topology: MongoTopology,
    /// Whether to allow the MongoDB API without logins on an address that other machines can reach.
    pub mongo_no_auth: bool,
    /// Whether clients of the MongoDB API have to log in.
    pub mongo_auth: bool,
    /// An administrator, created if no user exists yet.
    pub root_user: Option<RootUser>,
    /// File of the audit log; `None` disables it.
    pub audit_file: Option<PathBuf>,
    /// Listen address of the NoSQL API; `None` disables it.
    pub cosmos_addr: Option<String>,
    /// Additional host names accepted by the NoSQL API while the emulator's well-known key is in
    /// use, besides IP addresses, `localhost`, the machine's name and hosts in its other settings.
    pub cosmos_hosts: Vec<String>,
    /// Endpoint that clients of the NoSQL API are referred to, with a trailing slash; `None` uses
    /// the one they connected to.
    pub account_endpoint: Option<String>,
    /// Whether clients may use the NoSQL API in direct mode. It needs TLS.
    pub cosmos_direct: bool,
    /// Host and port that clients in direct mode are given; `None` uses those of the endpoint.
    pub cosmos_direct_advertise: Option<String>,
    /// File of the NoSQL API's keys; `None` uses the emulator's well-known key.
    pub key_file: Option<PathBuf>,
    /// User name that the MongoDB API accepts with any key of the key file as the password; `None`:
    /// the keys are not accepted as passwords.
    pub account_name: Option<String>,
    /// File of roles for Entra tokens at the NoSQL API; `None`: any token signed with an account
    /// key has that key's rights.
    pub cosmos_roles: Option<PathBuf>,
    /// Certificate of all listeners; `None` generates one.
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate.
    pub tls_key: Option<PathBuf>,
    /// Certificate authority for client certificates of the MongoDB API; `None` requests none.
    pub tls_client_ca: Option<PathBuf>,
    /// Whether client certificates of the MongoDB API are optional or required.
    pub tls_client_cert: ClientCertificates,
    /// Whether the MongoDB API speaks TLS.
    pub mongo_tls: TlsMode,
    /// Whether the admin listener speaks TLS.
    pub admin_tls: TlsMode,
    /// Whether the NoSQL API speaks TLS.
    pub cosmos_tls: TlsMode,
    /// Whether operations that exceed the throughput of their container or collection are refused.
    pub enforce_throughput: bool,
    /// Listen address of the admin API; `None` disables it.
    pub admin_addr: Option<String>,
    /// Additional host names accepted by the admin listener, besides IP addresses, `localhost`, the
    /// machine's name and the host it listens on.
    pub admin_hosts: Vec<String>,
    /// Directory of a data explorer that another project provides; `None` serves none.
    pub explorer_dir: Option<PathBuf>,
    /// Whether the database clock is manual.
    pub clock: ClockMode,
    /// File written once every listener accepts.
    pub ready_file: Option<PathBuf>,
    /// Minimum delay between a document's expiration and the removal of its bytes.
    pub reap_delay: Duration,
    /// Time for which changes are kept, from the start of the server on; zero disables change
    /// streams. With `None`, changes are kept for a day once a change stream was opened.
    pub change_retention: Option<Duration>,
    /// Size of the change log beyond which its oldest records are dropped; `None` derives it from
    /// the disk or, in memory, from the memory for data.
    pub change_log_bytes: Option<u64>,
    /// Days without use after which an automatic path index is dropped; `None` keeps it.
    pub index_unused_days: Option<u32>,
    /// Format of log lines; `None` disables the log.
    pub log_format: Option<LogFormat>,
    /// Minimum severity that is logged.
    pub log_level: String,
    /// Limits of operations and connections.
    pub limits: Limits,
    /// Additional warnings that are logged at the start, as sentences.
    pub warnings: Vec<String>,
    /// The text that is printed when the server accepts connections.
    pub banner: Banner,
    /// Bytes of the journal to keep for incremental backups; `None` leaves the current archive
    /// setting unchanged.
    pub backup_journal: Option<u64>,
    /// Bound on the disk space that old views (snapshots of reads and backups) may retain.
    pub old_views: OldViewsBound,
    /// Whether a MongoDB document's own `ttl` is interpreted; `None` uses the stored setting.
    pub per_document_ttl: Option<bool>,
    /// Whether to open a store although acknowledged commits are missing.
    pub accept_loss: bool,
    /// A file with the wall clock's offset in milliseconds; for tests only.
    pub test_wall: Option<PathBuf>,
    /// A file with the boot clock's speed and its offset in milliseconds; for tests only.
    pub test_boot: Option<PathBuf>,
    /// Maximum forward jump of time at startup; `None` allows any.
    pub max_forward_jump: Option<Duration>,
    /// Memory budget of the process in bytes; `None` derives it from the machine.
    pub memory: Option<usize>,
    /// Cluster membership; `None` for a standalone server.
    pub cluster: Option<ClusterConfig>,
}

impl Config {
    /// Returns whether clients may use the NoSQL API in direct mode, which sends frames over TLS.
    pub fn serves_direct_mode(&self) -> bool {
        self.cosmos_direct && self.cosmos_tls != TlsMode::Off
    }

    /// Returns the configuration for tests: in memory, free ports, manual clock.
    pub fn for_tests() -> Self {
        Self { clock: ClockMode::Manual, reap_delay: Duration::ZERO, ..Self::in_memory() }
    }

    /// Returns a configuration without storage and log, on free ports.
    pub fn in_memory() -> Self {
        Self {
            data_dir: None,
            mongo_addr: Some("127.0.0.1:0".to_owned()),
            mongo_topology: MongoTopology::Router,
            mongo_no_auth: false,
            mongo_auth: false,
            otlp_endpoint: None,
            root_user: None,
            audit_file: None,
            cosmos_addr: Some("127.0.0.1:0".to_owned()),
            cosmos_hosts: Vec::new(),
            account_endpoint: None,
            cosmos_direct: true,
            cosmos_direct_advertise: None,
            key_file: None,
            account_name: None,
            cosmos_roles: None,
            tls_cert: None,
            tls_key: None,
            tls_client_ca: None,
            tls_client_cert: ClientCertificates::Allow,
            mongo_tls: TlsMode::Allow,
            admin_tls: TlsMode::Allow,
            cosmos_tls: TlsMode::Allow,
            enforce_throughput: false,
            admin_addr: Some("127.0.0.1:0".to_owned()),
            admin_hosts: Vec::new(),
            explorer_dir: None,
            clock: ClockMode::System,
            ready_file: None,
            reap_delay: REAP_DELAY,
            change_retention: None,
            change_log_bytes: None,
            index_unused_days: None,
            log_format: None,
            log_level: "info".to_owned(),
            limits: Limits::default(),
            warnings: Vec::new(),
            banner: Banner::Off,
            backup_journal: None,
            old_views: OldViewsBound::default(),
            per_document_ttl: None,
            accept_loss: false,
            test_wall: None,
            test_boot: None,
            max_forward_jump: None,
            memory: None,
            cluster: None,
        }
    }
}
