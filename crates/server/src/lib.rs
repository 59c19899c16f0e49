//! Assembly of a server: configuration, the data directory, the clock's checkpoints, listeners,
//! background work, the admin API, shutdown. It is the only crate that waits: the others receive
//! the time as an argument, or return the time at which they want to be called again. Of the
//! protocols it depends only on which API listens on which address.
//!
//! The binary `ebb` calls [`serve()`], which runs one server in this process until a signal. Tests
//! call [`start`] and [`Running::stop`], and may run several servers in one process.
//!
//! `docs/operations.md` describes a server for operators.

mod addresses;
mod admin;
mod atomic_file;
mod background;
mod backup;
mod banner;
mod checkpoint;
mod checksummed;
mod config;
mod data_dir;
mod downtime;
mod early_admin;
mod entrance;
mod explorer;
mod failure;
mod features;
mod figures;
mod free_memory;
mod give_way;
mod host;
mod interrupt;
mod listen;
mod logging;
mod machine;
mod misdirected;
mod node;
mod nosql;
mod offline_backup;
mod open;
#[cfg(feature = "otlp")]
mod otlp;
mod process;
mod quickstart;
mod ready;
mod reaping;
mod recent_lines;
mod relayed;
mod restore;
mod role_file;
mod serve;
mod server_context;
mod shares;
mod supervised;
mod term;
mod test_clocks;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod testing_nosql;
mod tls;
mod tracer;
mod verify;

pub use audit::{Broken, Checked, check as check_audit};
pub use auth::Secret;
pub use config::{
    Banner, ClientCertificates, ClockMode, ClusterConfig, Config, Limits, LogFormat,
    PeerCertificates, REAP_DELAY, RootUser, TlsMode,
};

pub use cosmos::{BODY_BYTES, WELL_KNOWN_KEY};
pub use data_dir::Refused;
pub use failure::Failure;
pub use interrupt::Interrupt;
pub use journal_cassandra::Certificates;
pub use memory::LEAST as LEAST_MEMORY;
pub use mongo::MESSAGE_BYTES;

pub use node::{
    MigrationProgress, NewCluster, NodeVerified, RemovedNode, accept_loss, dump_cluster,
    forget_node, init_cluster, verify_node,
};
pub use nosql::{first_key, new_key_file};
pub use offline_backup::backup_directory;
pub use portal::CLIENT as CLIENT_HEADER;
pub use process::{Companion, ReloadSettings, serve, serve_with_companion};
pub use restore::{
    BackupChecked, Restore, Restored, Source, clock_of_backup, restore, verify_backup,
};
pub use serve::{Running, start};
pub use store_shared::Loss;
pub use store_tree::OldViewsBound;
pub use verify::{Difference, verify};
