//! Retryable writes: commands with a session and a `txnNumber`, which a driver repeats if it gets
//! no reply or a retryable error. The result of each statement is stored in receipts, in the same
//! commit as the write, so that a repeat returns the result of the first attempt: on this node,
//! after a restart, and after a failover.
//!
//! ```text
//! {insert: "c", documents: [a, b, c], lsid: {id: ..}, txnNumber: 7}
//!     first attempt    a and b are inserted, then the connection ends
//!     second attempt   receipts say "0 and 1 are done": only c is inserted
//!     => {n: 3, retriedStmtIds: [0, 1], ok: 1}
//! ```
//!
//! A session has receipts for its highest `txnNumber` only: a higher one replaces them, a lower one
//! is refused. A `txnNumber` is refused if the server presents itself as a standalone one; see
//! [`Topology`](crate::Topology).

/// The receipts of committed transactions.
mod committed;
mod failures;
mod forget;
/// The stored format of receipts.
mod page;
/// The receipts of one command.
mod receipts;

pub(crate) use committed::{CommitReceipt, stored_number};
pub(crate) use failures::WriteFailures;
pub(crate) use page::StatementResult;
pub(crate) use receipts::{ReceiptSlot, ReplyOptions, StoredReply, WriteReceipts};
