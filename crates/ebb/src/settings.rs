//! Settings of `ebb serve`. Each is a flag, an environment variable and a key of the file with the
//! same name. Precedence: flag, environment, file, default. `values.rs` parses single settings;
//! [`Settings::config`] checks and combines them.
//!
//! ```text
//! --data-dir ./a   >   EBB_DATA_DIR=./b   >   data-dir = "./c"   >   ./ebb-data
//! ```

mod cluster;
mod direct;
mod exclusions;
mod file;
mod headings;
mod limits;
mod other_names;
mod source;
mod tls;
mod topology;
mod values;

use std::{collections::BTreeMap, io::IsTerminal, path::PathBuf, time::Duration};

use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};
pub(crate) use cluster::CassandraValues;
use cluster::PeerValues;
use file::ConfigFile;
use headings::heading_of;
use limits::LimitValues;
use other_names::{other_name, own_name, with_other_name, without_meaning};
use server::{ClockMode, Config, LogFormat, OldViewsBound, REAP_DELAY, RootUser, Secret};
use source::{Source, find_source, typed_text};
use tls::TlsValues;
use topology::TopologyValues;
pub(crate) use values::parse_span;
use values::{
    Address, Optional, StoreKind, banner_beside, optional, parse_address, parse_bool, parse_bytes,
    parse_clock, parse_collector, parse_days, parse_endpoint, parse_host, parse_log_format,
    parse_log_level, parse_log_size, parse_old_views, parse_path, parse_seconds, parse_size,
    parse_store, parse_text,
};

/// All settings, typed. A doc comment is the help of its flag.
#[derive(Clone, Debug, Args)]
struct Values {
    /// Data directory; created if missing
    #[arg(long, env = "EBB_DATA_DIR", value_name = "PATH", default_value = "./ebb-data")]
    data_dir: PathBuf,
    /// Keep data in memory only; excludes --data-dir
    #[arg(long, env = "EBB_IN_MEMORY", value_name = "BOOL", default_value = "false", value_parser = parse_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    in_memory: bool,
    /// Where data is stored: in files of this server, or in a cluster's Cassandra
    #[arg(long, env = "EBB_STORE", value_name = "lsm|cassandra", default_value = "lsm", value_parser = parse_store)]
    store: StoreKind,
    #[command(flatten)]
    cassandra: CassandraValues,
    #[command(flatten)]
    peer: PeerValues,
    /// Address of the MongoDB API, or 'off'
    #[arg(long, env = "EBB_MONGO_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:27017", value_parser = parse_address)]
    mongo_addr: Address,
    #[command(flatten)]
    topology: TopologyValues,
    /// Require authentication on the MongoDB API, with role-based access control
    #[arg(long, env = "EBB_MONGO_AUTH", value_name = "BOOL", default_value = "false", value_parser = parse_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    mongo_auth: bool,
    /// Superuser to create if no user exists yet; implies --mongo-auth [none]
    #[arg(long, env = "EBB_ROOT_USER", value_name = "NAME", default_value = "", value_parser = optional(parse_text))]
    root_user: Optional<String>,
    /// File with the password of --root-user
    #[arg(long, env = "EBB_ROOT_PASSWORD_FILE", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    root_password_file: Optional<PathBuf>,
    /// Audit log of logins, refusals and administrative changes [none]
    #[arg(long, env = "EBB_AUDIT_FILE", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    audit_file: Optional<PathBuf>,
    /// Allow a MongoDB API without authentication even if other machines can reach it or --key-file is given; anyone who reaches it has full access
    #[arg(long, env = "EBB_MONGO_NO_AUTH", value_name = "BOOL", default_value = "false", value_parser = parse_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    mongo_no_auth: bool,
    /// Address of the NoSQL API, or 'off'
    #[arg(long, env = "EBB_COSMOS_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:8081", value_parser = parse_address)]
    cosmos_addr: Address,
    /// Host names that the NoSQL API accepts with the public emulator key, besides addresses, localhost and the machine's name
    #[arg(long, env = "EBB_COSMOS_HOST", value_name = "NAME,...", value_parser = parse_host, value_delimiter = ',')]
    cosmos_host: Vec<String>,
    /// Endpoint to which clients of the NoSQL API are directed [the address they connected to]
    #[arg(long, env = "EBB_ACCOUNT_ENDPOINT", value_name = "URL", default_value = "", value_parser = optional(parse_endpoint))]
    account_endpoint: Optional<String>,
    #[command(flatten)]
    direct: direct::DirectValues,
    /// Account keys of the NoSQL API, one per line: 'primary = BASE64', secondary, primary-readonly, secondary-readonly; 'ebb keys new FILE' generates one [the public emulator key]
    #[arg(long, env = "EBB_KEY_FILE", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    key_file: Optional<PathBuf>,
    /// User name that the MongoDB API accepts in any database, with a key of --key-file as the password; implies --mongo-auth [none]
    #[arg(long, env = "EBB_ACCOUNT_NAME", value_name = "NAME", default_value = "", value_parser = optional(parse_text))]
    account_name: Optional<String>,
    /// File of roles for clients that use the NoSQL API with an Entra token [none]
    #[arg(long, env = "EBB_COSMOS_ROLES", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    cosmos_roles: Optional<PathBuf>,
    /// Certificate of all addresses [self-signed, generated by the server]
    #[arg(long, env = "EBB_TLS_CERT", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    tls_cert: Optional<PathBuf>,
    /// Private key of the certificate --tls-cert
    #[arg(long, env = "EBB_TLS_KEY", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    tls_key: Optional<PathBuf>,
    #[command(flatten)]
    listeners: TlsValues,
    /// Refuse operations that exceed the throughput of their container or collection (429; 16500 in the MongoDB API)
    #[arg(long, env = "EBB_ENFORCE_THROUGHPUT", value_name = "BOOL", default_value = "false", value_parser = parse_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    enforce_throughput: bool,
    /// Address of the portal, health and metrics, or 'off'
    #[arg(long, env = "EBB_ADMIN_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:8080", value_parser = parse_address)]
    admin_addr: Address,
    /// Host names that --admin-addr accepts, besides addresses, localhost and the machine's name
    #[arg(long, env = "EBB_ADMIN_HOST", value_name = "NAME,...", value_parser = parse_host, value_delimiter = ',')]
    admin_host: Vec<String>,
    /// Directory of files served at /_explorer/ [none]
    #[arg(long, env = "EBB_EXPLORER_DIR", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    explorer_dir: Optional<PathBuf>,
    /// Mode of the database clock
    #[arg(long, env = "EBB_CLOCK", value_name = "system|manual", default_value = "system", value_parser = parse_clock)]
    clock: ClockMode,
    /// File to write once every listener accepts
    #[arg(long, env = "EBB_READY_FILE", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    ready_file: Optional<PathBuf>,
    /// Seconds from a document's expiry until it may be removed from disk [60; 0 on a manual clock]
    #[arg(long, env = "EBB_REAP_DELAY", value_name = "SECONDS", default_value = "", value_parser = optional(parse_seconds))]
    reap_delay: Optional<Duration>,
    /// Seconds that change streams of the MongoDB API can go back, with changes recorded from the start on; 0 refuses change streams [86400, recorded once a stream was opened]
    #[arg(long, env = "EBB_CHANGE_RETENTION", value_name = "SECONDS", default_value = "", value_parser = optional(parse_seconds))]
    change_retention: Optional<Duration>,
    /// Size of the recorded changes beyond which the oldest are dropped, with m or g; at least 1m [5% of the disk, 1g to 50g; a quarter of the memory for data with --in-memory]
    #[arg(long, env = "EBB_CHANGE_LOG_SIZE", value_name = "SIZE", default_value = "", value_parser = optional(parse_log_size))]
    change_log_size: Optional<u64>,
    /// Drop an automatically created index of a path after this many days without a query [never]
    #[arg(long, env = "EBB_INDEX_UNUSED_DAYS", value_name = "DAYS", default_value = "", value_parser = optional(parse_days))]
    index_unused_days: Optional<u32>,
    /// Whether the ttl field of a MongoDB document takes effect; overrides what 'ebb admin features' set
    #[arg(long, env = "EBB_PER_DOCUMENT_TTL", value_name = "on|off", default_value = "on", value_parser = parse_bool, action = ArgAction::Set)]
    per_document_ttl: bool,
    /// Size of the journal kept for incremental backups, with k, m or g; 0 keeps none
    #[arg(long, env = "EBB_BACKUP_JOURNAL", value_name = "SIZE", default_value = "0", value_parser = parse_bytes)]
    backup_journal: u64,
    /// Disk space that old versions may hold for a long read or backup before it is aborted: a percentage of the free space, or a size
    #[arg(long, env = "EBB_OLD_VIEWS_DISK", value_name = "PERCENT%|SIZE", default_value = "50%", value_parser = parse_old_views)]
    old_views_disk: OldViewsBound,
    /// Memory limit of the process, with k, m or g [a quarter of the machine's, 512m to 2g]
    #[arg(long, env = "EBB_MEMORY", value_name = "SIZE", default_value = "", value_parser = optional(parse_size))]
    memory: Optional<usize>,
    /// For tests: file with an offset of the wall clock in milliseconds
    #[arg(long, env = "EBB_TEST_WALL", value_name = "PATH", default_value = "", value_parser = optional(parse_path), hide = true)]
    test_wall: Optional<PathBuf>,
    /// For tests: file with the rate of the boot clock and its offset in milliseconds
    #[arg(long, env = "EBB_TEST_BOOT", value_name = "PATH", default_value = "", value_parser = optional(parse_path), hide = true)]
    test_boot: Optional<PathBuf>,
    /// Refuse to start if database time would jump forward by more than this, for example 36h or
    /// 30d [no limit]
    #[arg(long, env = "EBB_MAX_FORWARD_JUMP", value_name = "DURATION", default_value = "", value_parser = optional(parse_span))]
    max_forward_jump: Optional<Duration>,
    /// Start even if commits are missing from damaged data
    #[arg(long, env = "EBB_ACCEPT_LOSS", value_name = "BOOL", default_value = "false", value_parser = parse_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    accept_loss: bool,
    /// Format of log lines [text on a terminal, json elsewhere]
    #[arg(long, env = "EBB_LOG_FORMAT", value_name = "text|json", default_value = "", value_parser = optional(parse_log_format))]
    log_format: Optional<LogFormat>,
    /// OpenTelemetry collector to send a span per operation to, over HTTP; needs a build with --features otlp [none]
    #[arg(long, env = "EBB_OTLP_ENDPOINT", value_name = "URL", default_value = "", value_parser = optional(parse_collector))]
    otlp_endpoint: Optional<String>,
    #[command(flatten)]
    limits: LimitValues,
    /// Log level: error, warn, info, debug or trace
    #[arg(long, env = "EBB_LOG_LEVEL", value_name = "LEVEL", default_value = "info", value_parser = parse_log_level)]
    log_level: String,
}

/// All settings with which the server is started, each also with its text and source for
/// `--print-config`.
#[derive(Debug)]
pub(crate) struct Settings {
    values: Values,
    /// Text and source of each setting, by its name without leading dashes.
    sources: BTreeMap<String, (String, Source)>,
}

/// A usage error: a sentence that names the wrong setting and the reason.
#[derive(Debug)]
pub(crate) struct Wrong(pub(crate) String);

/// Variable with the password of the first user, as used by MongoDB's container image. It is not a
/// setting, because `--print-config` would show it, and as a flag the process list would.
const ROOT_PASSWORD: &str = "MONGO_INITDB_ROOT_PASSWORD";

/// Adds the flags of `ebb serve` to its command. An empty default means "not set" and is not shown
/// in `--help`.
pub(crate) fn add_flags(command: Command) -> Command {
    let settings = Values::augment_args(Command::new("settings"));
    let mut placed: Vec<_> = settings
        .get_arguments()
        .filter_map(|arg| Some((heading_of(arg.get_long()?)?, arg.clone())))
        .collect();
    // `clap` shows headings in the order of their first settings.
    placed.sort_by_key(|((_, place), _)| *place);
    command.args(placed.into_iter().map(|((heading, place), arg)| {
        let unset = arg.get_default_values().iter().all(|value| value.is_empty());
        let arg = with_other_name(arg).allow_hyphen_values(true).hide_default_value(unset);
        // Arguments without a heading, such as --config, come first.
        arg.help_heading(heading).display_order(10 + place)
    }))
}

impl Settings {
    /// Gathers values from command line, environment and file, by precedence. `matches` has those
    /// of the command line, the environment and the defaults; `file` is the file's path, for
    /// errors, and its text. Fails on unknown names in the file and on invalid values.
    pub(crate) fn gather(matches: &ArgMatches, file: Option<(&str, &str)>) -> Result<Self, Wrong> {
        let known = add_flags(Command::new("config"));
        let names: Vec<_> = known.get_arguments().filter_map(|arg| arg.get_long()).collect();
        let hidden = known.get_arguments().filter(|arg| arg.is_hide_set());
        let hidden: Vec<_> = hidden.filter_map(|arg| arg.get_long()).collect();
        let file = file.map(|(path, text)| ConfigFile::parse(path, text, &names)).transpose()?;
        let file = file.unwrap_or_default();
        let mut sources = BTreeMap::new();
        let mut used = Vec::new();
        for name in names {
            let value = match (find_source(matches, name), file.text(name)) {
                // Hidden test settings are not shown unless set.
                (Source::Default, None) if hidden.contains(&name) => continue,
                (Source::Default, Some(text)) => {
                    used.push(format!("--{name}={text}"));
                    (text.clone(), Source::File)
                }
                (source, _) => (typed_text(matches, name), source),
            };
            sources.insert(name.to_owned(), value);
        }
        // The file's values are parsed like flags, but without environment and defaults, which
        // would overwrite other values.
        let of_file = known
            .no_binary_name(true)
            .mut_args(|arg| arg.env(None).default_value(None))
            .try_get_matches_from(used);
        let mut values = Values::from_arg_matches(matches).map_err(|error| value_error(&error))?;
        of_file
            .and_then(|of_file| values.update_from_arg_matches(&of_file))
            .map_err(|error| file.at_its_line(value_error(&error)))?;
        Ok(Self { values, sources })
    }

    /// Formats all settings for `--print-config`, one per line: `name = "value" # source`.
    pub(crate) fn print(&self) -> String {
        let mut out = String::new();
        for (name, (value, source)) in &self.sources {
            let other = other_name(name);
            let source = match (source, other) {
                (Source::Flag, _) => "flag".to_owned(),
                (Source::Environment, None) => format!("environment {}", own_name(name)),
                (Source::Environment, Some(other)) => format!("environment {other}"),
                (Source::File, _) => "file".to_owned(),
                (Source::Default, _) => "default".to_owned(),
            };
            out.push_str(&format!("{name} = {value:?} # {source}\n"));
        }
        out
    }

    /// Returns whether the setting was given, even if its value is the default.
    fn is_set(&self, name: &str) -> bool {
        self.sources.get(name).is_some_and(|(_, source)| *source != Source::Default)
    }

    /// Returns the configuration. Fails if settings exclude each other; fills in defaults that
    /// depend on other settings.
    pub(crate) fn config(&self) -> Result<Config, Wrong> {
        let given = self.values.clone();
        self.check_exclusions()?;
        let cluster = match given.store {
            StoreKind::Cassandra => Some(given.peer.add_to(given.cassandra.config()?)?),
            StoreKind::Lsm => self.refuse_cluster_settings()?,
        };
        let (root_user, account_name) = (self.root_user()?, given.account_name.0);
        if account_name.is_some() && given.key_file.0.is_none() {
            return Err(Wrong("--account-name needs --key-file".to_owned()));
        }
        let mongo_auth = given.mongo_auth || root_user.is_some() || account_name.is_some();
        if given.mongo_no_auth && mongo_auth {
            return Err(Wrong("--mongo-auth and --mongo-no-auth exclude each other".to_owned()));
        }
        let tls = given.listeners.checked()?;
        let usual_delay = match given.clock {
            ClockMode::System => REAP_DELAY,
            // A manual clock is used in tests, in which expired documents must leave the disk
            // immediately.
            ClockMode::Manual => Duration::ZERO,
        };
        let usual_format = match std::io::stderr().is_terminal() {
            true => LogFormat::Text,
            false => LogFormat::Json,
        };
        let names =
            |names: Vec<String>| names.into_iter().filter(|name| !name.is_empty()).collect();
        Ok(Config {
            data_dir: (!given.in_memory).then_some(given.data_dir),
            mongo_addr: given.mongo_addr.0,
            mongo_topology: given.topology.into_topology(),
            mongo_no_auth: given.mongo_no_auth,
            mongo_auth,
            root_user,
            audit_file: given.audit_file.0,
            cosmos_addr: given.cosmos_addr.0,
            cosmos_hosts: names(given.cosmos_host),
            account_endpoint: given.account_endpoint.0,
            cosmos_direct: given.direct.cosmos_direct,
            cosmos_direct_advertise: given.direct.cosmos_direct_advertise.0,
            key_file: given.key_file.0,
            account_name,
            cosmos_roles: given.cosmos_roles.0,
            tls_cert: given.tls_cert.0,
            tls_key: given.tls_key.0,
            tls_client_ca: tls.client_ca,
            tls_client_cert: tls.client_cert,
            mongo_tls: tls.mongo,
            admin_tls: tls.admin,
            cosmos_tls: tls.cosmos,
            enforce_throughput: given.enforce_throughput,
            admin_addr: given.admin_addr.0,
            admin_hosts: names(given.admin_host),
            explorer_dir: given.explorer_dir.0,
            clock: given.clock,
            ready_file: given.ready_file.0,
            reap_delay: given.reap_delay.0.unwrap_or(usual_delay),
            change_retention: given.change_retention.0,
            change_log_bytes: given.change_log_size.0,
            index_unused_days: given.index_unused_days.0,
            log_format: Some(given.log_format.0.unwrap_or(usual_format)),
            log_level: given.log_level,
            otlp_endpoint: given.otlp_endpoint.0,
            limits: given.limits.limits(),
            warnings: without_meaning(),
            banner: banner_beside(given.log_format.0),
            // If the setting is not given, the value switched by an administrator is kept.
            per_document_ttl: self.is_set("per-document-ttl").then_some(given.per_document_ttl),
            accept_loss: given.accept_loss,
            backup_journal: Some(given.backup_journal),
            old_views: given.old_views_disk,
            test_wall: given.test_wall.0,
            test_boot: given.test_boot.0,
            max_forward_jump: given.max_forward_jump.0,
            memory: given.memory.0,
            cluster,
        })
    }

    /// Returns the first user to create, with the password from the source that provides it.
    fn root_user(&self) -> Result<Option<RootUser>, Wrong> {
        let given = &self.values;
        let text = std::env::var(ROOT_PASSWORD).ok().filter(|text| !text.is_empty());
        let password = match (&given.root_user.0, &given.root_password_file.0, text) {
            (None, None, None) => return Ok(None),
            (None, _, _) => return Err(Wrong("the root password needs --root-user".to_owned())),
            (Some(_), Some(_), Some(_)) => {
                let text = format!("give --root-password-file or {ROOT_PASSWORD}, not both");
                return Err(Wrong(text));
            }
            (Some(_), None, None) => {
                return Err(Wrong("--root-user needs --root-password-file".to_owned()));
            }
            (Some(_), None, Some(text)) => Secret::from_text(text),
            (Some(_), Some(path), None) => {
                let text = std::fs::read_to_string(path).map_err(|error| {
                    Wrong(format!("--root-password-file {}: {error}", path.display()))
                })?;
                Secret::from_text(text.trim_end_matches(['\r', '\n']).to_owned())
            }
        };
        Ok(given.root_user.0.clone().map(|name| RootUser { name, password }))
    }

    /// Fails if a cluster setting is given for a stand-alone server, which would ignore it.
    fn refuse_cluster_settings<T>(&self) -> Result<Option<T>, Wrong> {
        let of_cluster =
            |name: &&String| name.starts_with("cassandra-") || name.starts_with("peer-");
        match self.sources.keys().filter(of_cluster).find(|name| self.is_set(name)) {
            Some(name) => Err(Wrong(format!("--{name} needs --store cassandra"))),
            None => Ok(None),
        }
    }
}

/// Returns the first line of a `clap` error, without the usage that follows.
fn value_error(error: &clap::Error) -> Wrong {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    Wrong(line.strip_prefix("error: ").unwrap_or(line).to_owned())
}

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
