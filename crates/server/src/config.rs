//! What a server is started with. Where each value came from (a flag, the environment, a file, a
//! default) is the binary's business; what cannot work together is refused at the start.

use std::{path::PathBuf, time::Duration};

use auth::Secret;
use journal_cassandra::Certificates;
use store_tree::OldViewsBound;

/// How long after its expiration a document's bytes may go, where nothing else is said and the clock
/// moves by itself. Reads never see them meanwhile.
pub const REAP_DELAY: Duration = Duration::from_secs(60);

/// How the database clock moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockMode {
    /// With the machine's clocks.
    System,
    /// Only when told, by `POST /_ebb/clock` or the command `ebbClock`: for tests of retention.
    Manual,
}

/// Whether a listener speaks TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsMode {
    /// With nobody.
    Off,
    /// With clients that begin with a handshake; others are served without.
    Allow,
    /// With everybody; who begins otherwise is not served.
    Require,
}

impl TlsMode {
    /// Returns the scheme that clients of HTTP are told: the plain one where it is served.
    pub(crate) const fn http_scheme(self) -> &'static str {
        match self {
            Self::Require => "https",
            Self::Off | Self::Allow => "http",
        }
    }
}

/// Whether clients that speak TLS to the MongoDB API show a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificates {
    /// They may.
    Allow,
    /// Each has to.
    Require,
}

/// What is printed to standard output once every listener accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Banner {
    /// Nothing.
    Off,
    /// Where to connect, as lines of a log.
    Lines,
    /// The same for a person at a terminal, with lines to paste.
    Terminal,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// A node's part in a cluster: where the cluster's data are, and how other nodes reach this one.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// `host:port` of nodes of Cassandra to begin with.
    pub contact_points: Vec<String>,
    /// In which keyspace the cluster is.
    pub keyspace: String,
    /// The datacenter of Cassandra whose nodes are asked; `None`: any.
    pub datacenter: Option<String>,
    /// User of Cassandra, and the file with the password; `None`: it asks for none.
    pub login: Option<(String, PathBuf)>,
    /// Certificates of TLS to Cassandra; `None`: without it.
    pub cassandra_tls: Option<Certificates>,
    /// Whether Cassandra may acknowledge what it has not synced to its disks.
    pub accept_unsynced: bool,
    /// Address of the link between nodes.
    pub peer_addr: String,
    /// Where other nodes reach it; `None`: at that address.
    pub peer_advertise: Option<String>,
    /// Certificates of the link; `None`: without TLS, which only nodes of one machine may do.
    pub peer_tls: Option<PeerCertificates>,
    /// What people call the node; `None`: as the machine.
    pub node_name: Option<String>,
}

/// Files in PEM.
#[derive(Clone, Debug)]
pub struct PeerCertificates {
    /// Of the authority whose certificates other nodes show.
    pub authority: PathBuf,
    /// The certificate that this node shows.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// The first user of the MongoDB API.
#[derive(Clone, Debug)]
pub struct RootUser {
    /// Its name, in the database `admin`.
    pub name: String,
    /// Its password.
    pub password: Secret,
}

/// What operations and clients may take, and what the log names of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// How many milliseconds an operation takes at least that the log names; `None`: it names none.
    pub slow_ms: Option<u64>,
    /// How long a read may take that does not say itself; `None`: as long as it needs, or as the API
    /// lets it.
    pub max_time: Option<Duration>,
    /// How many connections both APIs hold together; `None`: as many as descriptors allow.
    pub max_connections: Option<usize>,
    /// How many cursors are open at once; `None`: as is usual.
    pub max_cursors: Option<usize>,
    /// Bytes of the largest message of the MongoDB API; `None`: as large as mongod takes it.
    pub max_message_bytes: Option<usize>,
    /// Bytes of the largest body of a request of the NoSQL API; `None`: an item of the service and room.
    pub max_body_bytes: Option<usize>,
}

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where data lives; `None`: nothing is kept.
    pub data_dir: Option<PathBuf>,
    /// Where traces of operations are sent, `http(s)://HOST[:PORT][/PATH]`; `None`: nowhere.
    pub otlp_endpoint: Option<String>,
    /// Address of the MongoDB API; `None`: no such listener.
    pub mongo_addr: Option<String>,
    /// Whoever reaches the MongoDB API may do everything, also from other machines.
    pub mongo_no_auth: bool,
    /// Whether clients of the MongoDB API have to log in.
    pub mongo_auth: bool,
    /// A user who may do everything, made when there is no user yet.
    pub root_user: Option<RootUser>,
    /// File of the audit log; `None`: nothing is written down.
    pub audit_file: Option<PathBuf>,
    /// Address of the NoSQL API; `None`: no such listener.
    pub cosmos_addr: Option<String>,
    /// Names that the NoSQL API answers to while everybody knows its key, beside addresses,
    /// `localhost`, the machine's name and those of its other settings.
    pub cosmos_hosts: Vec<String>,
    /// Where clients of the NoSQL API are sent, with a slash at its end; `None`: where they came.
    pub account_endpoint: Option<String>,
    /// Keys of the NoSQL API; `None`: the public emulator key.
    pub key_file: Option<PathBuf>,
    /// Roles of those who come to the NoSQL API with an Entra token; `None`: there are none.
    pub cosmos_roles: Option<PathBuf>,
    /// Certificate of all listeners; `None`: one that is made.
    pub tls_cert: Option<PathBuf>,
    /// Its key.
    pub tls_key: Option<PathBuf>,
    /// Authority of the certificates that clients of the MongoDB API may show; `None`: they are asked for
    /// none.
    pub tls_client_ca: Option<PathBuf>,
    /// Whether they have to.
    pub tls_client_cert: ClientCertificates,
    /// Whether the MongoDB API speaks TLS.
    pub mongo_tls: TlsMode,
    /// Whether the admin listener does.
    pub admin_tls: TlsMode,
    /// Whether the NoSQL API does.
    pub cosmos_tls: TlsMode,
    /// Whether the NoSQL API limits requests by the throughput of offers.
    pub enforce_throughput: bool,
    /// Address of the admin listener; `None`: no such listener.
    pub admin_addr: Option<String>,
    /// Names that the admin listener answers to, beside addresses, `localhost`, the machine's name
    /// and the one it listens on.
    pub admin_hosts: Vec<String>,
    /// Files of another project's explorer; `None`: there is none.
    pub explorer_dir: Option<PathBuf>,
    /// How the clock moves.
    pub clock: ClockMode,
    /// Written once every listener accepts.
    pub ready_file: Option<PathBuf>,
    /// How long after its expiration the bytes of a document may go, at the earliest.
    pub reap_delay: Duration,
    /// After how many days without a query that uses it the index of a path ends that a query
    /// began; `None`: never.
    pub index_unused_days: Option<u32>,
    /// How log lines look; `None`: nothing is logged.
    pub log_format: Option<LogFormat>,
    /// The least severe level that is logged.
    pub log_level: String,
    /// What operations and clients may take.
    pub limits: Limits,
    /// What the log says at the start, besides: sentences.
    pub warnings: Vec<String>,
    /// What is printed once the server accepts.
    pub banner: Banner,
    /// Bytes of the journal that are kept for backups that follow others; `None`: what is kept stays as it
    /// is.
    pub backup_journal: Option<u64>,
    /// How much of the disk may be kept for an old view.
    pub old_views: OldViewsBound,
    /// Whether a MongoDB document's own `ttl` is interpreted; `None`: as it was last switched.
    pub per_document_ttl: Option<bool>,
    /// Open although commits are missing.
    pub accept_loss: bool,
    /// A file that says by how many milliseconds the wall clock is off; for tests alone.
    pub test_wall: Option<PathBuf>,
    /// A file that says how fast the boot clock runs and by how many milliseconds it is off; for tests
    /// alone.
    pub test_boot: Option<PathBuf>,
    /// By how much time may go forward at a start; `None`: by any span.
    pub max_forward_jump: Option<Duration>,
    /// Bytes of memory that the process may hold; `None`: as is usual on such a machine.
    pub memory: Option<usize>,
    /// The cluster of which it is a node; `None`: a server of its own.
    pub cluster: Option<ClusterConfig>,
}

impl Config {
    /// A server that keeps nothing, on free ports, with a manual clock: what tests start.
    pub fn for_tests() -> Self {
        Self { clock: ClockMode::Manual, reap_delay: Duration::ZERO, ..Self::in_memory() }
    }

    /// A server that keeps nothing and says nothing, on free ports.
    pub fn in_memory() -> Self {
        Self {
            data_dir: None,
            mongo_addr: Some("127.0.0.1:0".to_owned()),
            mongo_no_auth: false,
            mongo_auth: false,
            otlp_endpoint: None,
            root_user: None,
            audit_file: None,
            cosmos_addr: Some("127.0.0.1:0".to_owned()),
            cosmos_hosts: Vec::new(),
            account_endpoint: None,
            key_file: None,
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
