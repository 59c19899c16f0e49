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
mod insert;
mod mutations;
mod previous;
mod remove;
mod update;

pub(crate) use draft::{DocumentEntries, WriteDraft};
pub use insert::{Inserted, NewDocument};
pub(crate) use mutations::birth_number;
pub(crate) use previous::Previous;
pub use remove::Removed;
pub use update::{Edited, Update, Updated, Writer};
