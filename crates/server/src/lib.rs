//! Assembly of a standalone server: the store and the clock's checkpoints, the APIs, background
//! work, the process, backup and restore. Of the protocols it depends only on which API listens on
//! which address.
//!
//! The binary `ebb` calls [`serve()`], which runs one server in this process until a signal. Tests
//! call [`start`] and [`Running::stop`], and may run several servers in one process. The crate
//! `node` starts a server that is a node of a cluster.
//!
//! `docs/operations.md` describes a server for operators.

mod background;
mod banner;
mod checkpoint;
mod downtime;
mod free_memory;
mod give_way;
mod host;
mod interrupt;
mod logging;
mod nosql;
mod offline_backup;
mod open;
#[cfg(feature = "otlp")]
mod otlp;
mod process;
mod recent_lines;
mod restore;
mod role_file;
mod serve;
mod server_context;
mod shares;
mod supervised;
mod term;
mod test_clocks;
mod tracer;
mod verify;

pub use audit::{Broken, Checked, check as check_audit};
pub use auth::Secret;
pub use checkpoint::{CheckpointFile, boot_id};
pub use cosmos::{BODY_BYTES, WELL_KNOWN_KEY};
pub use free_memory::return_free_memory;
pub use interrupt::Interrupt;
pub use memory::LEAST as LEAST_MEMORY;
pub use mongo::MESSAGE_BYTES;
pub use offline_backup::backup_directory;
pub use open::{engine_options, refused_store, store_options};
pub use portal::CLIENT as CLIENT_HEADER;
pub use process::{Companion, ReloadSettings, StartServer, serve, serve_with_companion};
pub use restore::{
    BackupChecked, Restore, Restored, Source, clock_of_backup, restore, verify_backup,
};
pub use serve::{Ending, Running, ServedData, check_settings, start};
pub use server_base::{
    config::{
        Banner, CassandraCertificates, ClientCertificates, ClockMode, ClusterConfig, Config,
        Limits, LogFormat, MongoTopology, PeerCertificates, REAP_DELAY, RootUser, TlsMode,
    },
    data_dir::Refused,
    failure::Failure,
    key_file::{first_key, new_key_file},
    tls::read_kept_certificate,
};
pub use server_context::ServerContext;
pub use shares::plan_memory;
pub use store_tree::OldViewsBound;
pub use term::{ServingTerm, Shards, end_tasks};
pub use test_clocks::clock_source;
pub use verify::{Difference, verify};
