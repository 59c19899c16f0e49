//! The only way to a row: views of a collection at one instant, which cannot yield an expired
//! document. A snapshot of the store shows expired documents too, and so never leaves this folder;
//! the few readers that have to see them ask for [`including_expired`](LiveView::including_expired)
//! by name.
//!
//! ```text
//!  factory ──▶ open ──▶ live      get_row, next_rows, next_entries: checked one by one
//!     │          └────▶ together  several collections at one instant
//!     ├ storage   the store, and the only owner of snapshots
//!     ├ active    the views that are open, for the reaper
//!     ├ row_cache rows that were read lately; last_writes says which of them were written since
//!     └ expired   rows as they are stored, for the readers listed in xtask/src/views.rs
//! ```

mod active;
mod expired;
mod factory;
mod last_writes;
mod live;
mod open;
mod pages;
mod row_cache;
mod storage;
mod together;

pub(crate) use active::ActiveViews;
pub use active::ReapHold;
pub(crate) use expired::{Frozen, freeze_collection};
pub(crate) use factory::ViewFactory;
pub use live::LiveView;
pub(crate) use open::open_view;
pub(crate) use pages::{Pages, charge_keys};
pub(crate) use row_cache::RowCache;

pub use storage::Storage;
pub(crate) use storage::SystemView;
pub(crate) use together::{MAIN, Views, open_all, open_together};
