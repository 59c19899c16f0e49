//! The ledger of a cluster in Apache Cassandra: its records, changed by lightweight transactions, and
//! the entries of its journals, written and read at a quorum. It asks Cassandra what it is asked; who
//! may ask what, and when, is decided in the crate `cluster`.
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
mod repeat;
mod schema;
mod settings;
mod statements;
mod survey;
mod swaps;
mod tls;
mod written;

pub use ledger::CassandraLedger;
pub use options::{Options, Replication};
pub use tls::Certificates;
