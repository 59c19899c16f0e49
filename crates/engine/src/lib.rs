//! The engine: collections of documents that expire exactly on time, over any store. It implements
//! documents, indexes, views and commits, but no protocol and no query syntax.
//!
//! Every read uses a [`LiveView`], which cannot return an expired row; every write of a document is
//! one atomic commit of row, index entries and counters.

mod access;
mod amount;
mod attempts;
mod backfill;
mod catalog;
mod change_log;
mod changes;
mod check;
mod copies;
mod counters;
mod differences;
mod engine;
mod entry;
mod error;
mod expire;
mod feed;
mod index;
mod inner;
mod intents;
mod item;
mod item_key;
mod keys;
mod lanes;
mod last_change;
pub mod limits;
mod names;
mod persist;
mod read;
mod reaper;
mod resource;
mod retry;
mod row;
mod row_queues;
mod rules;
mod turns;
mod view;
mod write;
mod yielding;

pub use access::Hint;
pub use amount::{Amount, Unreaped};
pub use catalog::{
    BuildProgress, Capped, Collection, CollectionState, CounterState, Dialect, DocumentRule,
    FeedSettings, FeedStart, ID_INDEX, ID_INDEX_NAME, IndexReason, IndexShape, IndexSpec,
    IndexUsage, IndexedPath, ItemSettings, ListOrdering, Policy, PolicyRule, Record, RuleContext,
    StoredView, TEXT_FIELD, ToldExpirations, WildcardPaths, default_collation, policy_path,
};
pub use change_log::{ChangeScope, ChangeWait};
pub use changes::{Change, ChangeKind, ChangeLogPage, ChangeLogQuery, ChangePosition};
pub use check::CheckReport;
pub use copies::{CopyComparison, CopyReaper, compare_copies};
pub use differences::Differences;
pub use engine::{Engine, Options};
pub use error::{Error, ErrorSubject, HintRefusal, IndexConflict, IndexRefusal, Kind};
pub use expire::{
    DocumentExpiries, DocumentExpiry, ExpiryPosition, ExpiryReason, Forecast, ForecastOfAll,
    HorizonAmounts, NextToExpire, Preview, Series, SeriesSteps,
};
pub use feed::{Event, EventKind, EventPage, EventQuery};
pub use index::{Definition, IndexChange, PreviousIndexOptions, Redefine, missing_indexes};
pub use item::{
    ChangePage, ChangeQuery, ContainerDefinition, CreationOrder, IndexUse, ItemAction, ItemDone,
    ItemFailure, ItemSink, ItemWrite, ItemWriter, Patch, PathProgress, PathStatus, Scan, ScanBasis,
    ScanOrder, Scanned, VersionMatch,
};
pub use item_key::{ItemKey, ItemRange};
pub use lanes::{BlockInPlace, Lanes, leave_lane, poll_in_place};
pub use names::{Model, Namespace, Partition};
pub use persist::{DiscardCheckpoints, Persist};
pub use read::{Batch, BatchLimit, Cursor, Explain, Find, IndexTraits, Output, Plan};
pub use resource::{
    Expected, Resource, ResourceChange, read_stored_resource, stored_resource, stored_resource_key,
};
pub use row::Item;
#[cfg(feature = "switchable-rules")]
pub use rules::Rules;
pub use view::{LiveView, ReapHold, Storage, Transaction, snapshot_too_old};
// Types of lower layers that the APIs need to use the engine.
pub use expiry::{Class, DefaultTtl, Lifetime};
pub use select::statement::Flow;
pub use store::{ClusterTime, Direction, Space};
pub use write::{
    Edited, Effect, Inserted, NewDocument, Receipt, ReceiptPut, Receipts, Removed, StatementEffect,
    Update, Updated, WriteGroup, Writer,
};
pub use yielding::yield_now;
