//! The only access to rows: views of a collection at one instant, which cannot return an expired
//! document. Snapshots of the store contain expired documents and therefore never leave this module
//! tree; the few readers that need those use [`including_expired`](LiveView::including_expired).
//!
//! ```text
//!  factory ──▶ open ──▶ live      get_row, next_rows, next_entries: checked one by one
//!     │          └────▶ together  several collections at one instant
//!     ├ storage   the store, and the only owner of snapshots
//!     ├ active    the registry of open views, for the reaper
//!     ├ row_cache rows read recently; last_writes records which were written since
//!     ├ transaction  one snapshot for several statements, with their own writes (overlay)
//!     ├ historical  one snapshot and one instant for several reads
//!     └ expired   stored rows, for the readers listed in xtask/src/views.rs
//! ```

mod active;
mod expired;
mod factory;
mod historical;
mod judged;
mod last_writes;
mod live;
mod open;
mod overlay;
mod pages;
mod row_cache;
mod storage;
mod together;
mod transaction;
mod transaction_errors;
mod transaction_writes;

pub(crate) use active::ActiveViews;
pub use active::ReapHold;
pub(crate) use expired::{Frozen, freeze_collection};
pub(crate) use factory::ViewFactory;
pub use historical::snapshot_too_old;
pub use live::LiveView;
pub(crate) use open::{open_in, open_view};
pub(crate) use pages::{Pages, charge_keys};
pub(crate) use row_cache::RowCache;

pub use storage::Storage;
pub(crate) use storage::SystemView;
pub(crate) use together::{MAIN, Views, open_all, open_together};
pub use transaction::Transaction;
pub(crate) use transaction_errors::{check_not_capped, snapshot_unavailable, write_conflict};
