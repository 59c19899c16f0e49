//! The ledger of a cluster in Apache Cassandra: records are changed by lightweight transactions,
//! entries of the journals are written and read at a quorum. The protocol, that is, who sends which
//! request and when, is in crate `cluster`.
//!
//! ```text
//!  Request ──▶ a prepared statement ──▶ any node of Cassandra ──▶ Reply
//!                                            └ no answer in time ▶ Unanswered
//! ```

mod connection;
mod coordinators;
mod entries;
mod failure;
mod ledger;
mod options;
mod pieces;
mod race;
mod records;
mod retry;
mod schema;
mod settings;
mod settings_reader;
mod statements;
mod swaps;
mod tls;
mod written;

pub use ledger::CassandraLedger;
pub use options::{Options, Replication};
pub use tls::Certificates;
