//! The engine: collections of documents that expire exactly on time, over any store. It knows
//! documents, indexes, views and commits; it knows no protocol and no query language's syntax.
//!
//! Every read goes through [`LiveView`], which cannot yield a dead row; every write of a document
//! is one atomic unit of row, index entries and counts.

mod access;
mod catalog;
mod check;
mod engine;
mod error;
mod expire;
mod feed;
mod index;
mod item;
mod keys;
mod lanes;
pub mod limits;
mod read;
mod resource;
mod rest;
mod rules;
mod view;
mod write;

pub use catalog::{
    Books, Collection, Dialect, FeedBegun, FeedSettings, IndexSpec, ItemSettings, Model, Namespace,
    Ordering, Partition, Policy, PolicyRule, Record, Shape, State,
};
pub use check::Checked;
pub use engine::{Engine, Options};
pub use error::{Error, Kind, What};
pub use expire::{
    Amount, Ends, Fate, Fates, Forecast, KeepNothing, Outlook, Persist, Preview, Series, Steps,
    Unreaped, Within,
};
pub use feed::{Event, EventKind, EventPage, Events};
pub use index::{IndexChange, IndexChanged, missing_indexes};
pub use item::{
    Births, Change, Changes, Comes, Definition, Item, ItemAction, ItemDone, ItemFailure, ItemKey,
    ItemRange, ItemWrite, ItemWriter, Match, Patch, Scan, Scanned, Sink, Used,
};
pub use lanes::{Lanes, leave_lane};
pub use read::{Batch, BatchLimit, Cursor, Explain, Find, Hint, IndexTraits, Plan};
pub use resource::{Expect, Resource};
pub use rest::yield_now;
pub use rules::Rules;
pub use view::LiveView;
// What a door needs of the layers below to name its types and say what it wants.
pub use expiry::{Class, Default as DefaultTtl, Lifetime};
pub use query::json::select::Flow;
pub use store::{Direction, Distribution, Histogram, Latencies, Space, Store};
pub use write::{Edited, Inserted, New, Removed, Update, Updated, Writer};
