//! A node of a cluster: its listeners and the link to other nodes, which exist as long as it runs;
//! its copies of the shards, which follow the cluster's journals; and a term (engine and APIs) for
//! each shard that it owns. Clients whose data another node owns are forwarded to it.
//!
//! ```text
//! open   data directory → the cluster's record → identity → addresses bound → follower started
//! run    role "serving" → engine and APIs (terms) → clients served here
//!        any other role → term ended → clients forwarded (gateway, link)
//! stop   shard handed over → term ended → follower stopped → store closed
//! ```
//!
//! Ownership is decided by the crates `cluster` and `store-shared`, never here.

mod about;
mod admin_routes;
#[cfg(test)]
mod base_tests;
#[cfg(test)]
mod clients_tests;
mod clock_guard;
mod cluster_state;
mod copy;
mod copy_guard;
mod disk_guard;
mod dump;
mod forgetting;
mod from_directory;
mod gateway;
mod hand_over;
mod heartbeats;
mod identity;
mod known_admin;
mod ledger;
mod link;
mod loss_acceptance;
mod metrics;
mod migration;
#[cfg(test)]
mod migration_tests;
mod nosql_routes;
mod ownership;
mod placement;
mod progress_report;
mod progress_reports;
mod route;
mod routes;
mod serve;
mod shard_relay;
#[cfg(test)]
mod shards_admin_tests;
#[cfg(test)]
mod shards_nosql_tests;
#[cfg(test)]
mod shards_tests;
mod siblings;
mod start;
mod terms;
#[cfg(test)]
mod tests;
mod users;
#[cfg(test)]
mod users_tests;
mod verification;

pub use forgetting::RemovedNode;
pub use from_directory::MigrationProgress;
pub use migration::{
    NewCluster, accept_loss, dump_cluster, forget_node, init_cluster, verify_node,
};
pub use serve::start;
pub use store_shared::Loss;
pub use verification::NodeVerified;
