//! Reads: queries, scans of candidates, and cursors over several views.
//!
//! ```text
//!  begin --> cursor --> fill --> finder --> view        rows that match the filter
//!             |           +--> pending                  rechecks documents of earlier views
//!             |           +--> other --> (a cursor)     rows of other collections for stages
//!             + stored_view                the collections and stages below stored views
//!             + opens the views of one batch
//! ```

mod begin;
mod cursor;
mod fill;
mod find;
mod finder;
mod follow;
mod origin;
mod other;
mod output;
mod pending;
mod plan;
mod stored_view;
mod used;

pub use cursor::Cursor;
pub use find::{Explain, Find, IndexTraits};
pub(crate) use finder::Finder;
pub use plan::{Batch, BatchLimit, Output, Plan};
pub(crate) use used::UsedIndexes;
