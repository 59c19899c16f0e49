//! Several nodes, one database: who owns a shard, and what its journal is. A *shard* is one order of
//! commits with one clock, what a whole server is on one machine. Its journal lies in a replicated
//! database; of the nodes that follow it one owns it, and only that one appends.
//!
//! ```text
//!  owner ──requests──▶ ledger: registers, changed by compare and set   who owns it
//!  others ───────────▶         entries, written and read at a quorum   what was committed
//! ```
//!
//! This crate has the requests ([`Request`]), their answers ([`Reply`]) and the records; it speaks to
//! no database and knows no documents.

mod records;
mod request;

pub use records::{
    ClusterRecord, NodeRecord, NodeState, Phase, ShardRecord, TermRecord, decode_ends,
    decode_terms, encode_ends, encode_terms,
};
pub use request::{EntryPart, Ledger, Reply, Request, Unanswered};
