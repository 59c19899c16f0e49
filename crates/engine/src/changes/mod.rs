//! The change log: one record for each change of a document and each change of a collection, in the
//! order of cluster times, over all collections of documents. It is kept only once it was
//! requested ([`Engine::keep_changes`](crate::Engine::keep_changes)).
//!
//! ```text
//!  write ───▶ row, entries, counters and a change record, in one commit ──┐
//!  expiry ──▶ (not a write)  … told: a record at the time of the expiry ──┴─▶ read, in order
//! ```
//!
//! The records are rows of a collection of their own, whose default TTL is the retention: records
//! beyond it are invisible and are dropped by compactions, like all expired rows. The same happens
//! to the oldest records of a log that is too large (`bound.rs`). Until a record is dropped, it is
//! history: its document may have expired since.
//!
//! The feed of all versions (`feed`) has an order of its own, the order of publication.

mod bound;
mod collections;
mod draft;
mod keep;
mod read;
mod record;
mod tell;
mod track;

pub(crate) use draft::{ChangeBody, DraftedChange};
pub use read::{ChangeLogPage, ChangeLogQuery, ChangePosition};
pub use record::{Change, ChangeKind};
