//! Writes: each document is one atomic commit of row, index entries and counters, built in a view
//! and rebuilt in a new one if refused.
//!
//! ```text
//!  view ──▶ draft ──▶ Commit { conditions, write } ──▶ store ──▶ committed
//!   ▲         │ the replaced version (previous)              └─▶ refused ─┐
//!   └─────────┴──────────────────── a new view ◀───────────────────────────┘
//! ```
//!
//! Conditions require that what the view showed still holds when the commit is ordered: no later
//! commit wrote the row, the settings or a unique value, and no document found live has expired by
//! the stamp. A writer therefore never holds a lock while reading.

mod capped;
mod draft;
mod evict;
mod find_and_modify;
mod floors;
mod group;
mod group_part;
mod insert;
mod insert_capped;
mod intent_waits;
mod logged;
mod mutations;
mod previous;
mod prolong;
mod queued_update;
mod receipt;
mod remove;
mod rule;
mod transaction;
mod turn;
mod unit;
mod update;
mod update_batch;
mod written;

pub(crate) use draft::{DocumentEntries, WriteDraft};
pub use find_and_modify::Edited;
pub use group::WriteGroup;
pub use insert::{Inserted, NewDocument};
pub(crate) use mutations::item_stamp;
pub(crate) use previous::PreviousVersion;
pub use receipt::{Effect, Receipt, ReceiptPut, Receipts, StatementEffect};
pub use remove::Removed;
pub(crate) use unit::as_one;
pub use update::{Update, Updated, Writer};
