//! Numbered writes: commands with a session and a `txnNumber`, which a driver sends again when it
//! heard nothing of them or an error that it may repeat after. What each statement did is kept in
//! receipts, in the same commit as the write, so that a repeat is answered from what the first
//! attempt did: on this node, after a restart, and on the node that took over.
//!
//! ```text
//! {insert: "c", documents: [a, b, c], lsid: {id: ..}, txnNumber: 7}
//!     first attempt    a and b are in, then the connection ends
//!     second attempt   receipts say "0 and 1 are done": only c is inserted
//!     => {n: 3, retriedStmtIds: [0, 1], ok: 1}
//! ```
//!
//! A session has receipts for its highest number alone: a higher one takes their place, a lower one
//! is refused. Only a door that looks like a router takes numbers; see [`Topology`](crate::Topology).

/// What one command knows of its receipts, and adds to them.
mod book;
/// Labels of errors that a driver may repeat a write after.
pub(crate) mod label;
/// A receipt as it is stored.
mod page;

pub(crate) use book::{Answer, Book, Place, Wanted};
pub(crate) use page::Done;
