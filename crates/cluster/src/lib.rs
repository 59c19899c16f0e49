//! Shard ownership and the replicated journal of a cluster. A *shard* is one order of commits with
//! one clock, the unit that a single-machine server consists of. Its journal is stored in a
//! replicated database. Of the nodes that follow a shard, one owns it, and only the owner appends.
//! Each node applies the committed entries to its *tree*, a local store. Each claim of a shard
//! starts an *epoch*; the ownership of the shard in one epoch is a *term*. A *taker* is a node that
//! is taking a shard over. The *history* of a shard is the sequence of its committed entries. A
//! *base* is a copy of a shard's data, from which a tree is rebuilt if the journal that it lacks
//! was deleted.
//!
//! ```text
//!  owner ──requests──▶ ledger: registers, changed by compare and set   who owns it
//!  others ───────────▶         entries, written and read at a quorum   committed entries
//! ```
//!
//! This crate defines the requests ([`Request`]), the replies ([`Reply`]), the records and the
//! protocol as state machines without I/O and clocks ([`Member`]): the caller passes in time and
//! replies, and takes out requests and events. It accesses no database and is independent of
//! documents.

mod entry;
mod event;
mod follower;
mod home;
mod host;
pub mod laws;
mod lease;
mod member;
mod memory;
mod node_monitor;
mod outbox;
mod owner;
mod parts;
mod position;
mod reader;
mod records;
mod request;
mod rules;
mod settings;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod standing;
mod swaps;
mod tail_read;
mod takeover;
mod view;

pub use entry::{Encoded, Entry};
pub use event::ShardEvent;
pub use home::home_shard;
pub use host::{Backlog, ClockLowerBounds, Host};
pub use lease::Lease;
pub use member::Member;
pub use memory::{LedgerFault, MemoryLedger};
pub use outbox::{LedgerResult, OutgoingRequest, Token};
pub use owner::Owner;
pub use parts::{join, split};
pub use position::{MissingEntry, Position};
pub use reader::JournalReader;
pub use records::{
    BaseRecord, ClusterRecord, NodeRecord, NodeState, Phase, ShardRecord, TermRecord, decode_bases,
    decode_ends, decode_terms, encode_bases, encode_ends, encode_terms,
};
pub use request::{EntryPart, Ledger, Record, Reply, Request, Swapped, Unanswered};
pub use settings::Settings;
pub use view::{ShardView, View};
