//! Writes: each document one atomic commit of row, index entries and counts, built in a view and
//! built again in a new one when it is refused.
//!
//! ```text
//!  view ──▶ draft ──▶ Commit { conditions, write } ──▶ store ──▶ committed
//!   ▲         │ what it replaces (previous)                  └─▶ refused ─┐
//!   └─────────┴──────────────────── a new view ◀───────────────────────────┘
//! ```
//!
//! Conditions say that what the view showed is still so when the commit is ordered: no later commit
//! wrote the row, the settings or a unique value, and what was found live has not expired by the
//! stamp. So a writer never has to hold a lock while it reads.

mod draft;
mod find_and_modify;
mod group;
mod group_part;
mod insert;
mod mutations;
mod previous;
mod prolong;
mod receipt;
mod remove;
mod turn;
mod unit;
mod update;
mod written;

pub(crate) use draft::{DocumentEntries, WriteDraft};
pub use find_and_modify::Edited;
pub use group::WriteGroup;
pub use insert::{Inserted, NewDocument};
pub(crate) use mutations::birth_number;
pub(crate) use previous::Previous;
pub use receipt::{Effect, Receipt, ReceiptPut, Receipts, StatementEffect};
pub use remove::Removed;
pub(crate) use unit::as_one;
pub use update::{Update, Updated, Writer};
