//! The state of a store that persists when its files are closed and opened again.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64},
};

use journal::OpenJournal;
use store::{InFlight, Timepiece};

use crate::{filter::PredicateInForce, metrics::TreeMetrics, options::TreeOptions, room::Room};

/// The state of a store that persists when it is reopened.
pub(crate) struct AcrossOpenings {
    /// Options of all openings.
    pub(crate) options: TreeOptions,
    /// The journal that the trees follow.
    pub(crate) journal: Arc<dyn OpenJournal>,
    /// Whether commits are accepted; otherwise the store follows the journal.
    pub(crate) leads: Arc<AtomicBool>,
    /// Database time.
    pub(crate) time: Arc<dyn Timepiece>,
    /// Shared by all openings, because views also wait for batches of a stopped one.
    pub(crate) in_flight: Arc<InFlight>,
    /// The newest `seq` that a reader has seen, over all openings.
    pub(crate) published: Arc<AtomicU64>,
    /// Metrics, counted since the start of the process.
    pub(crate) metrics: Arc<TreeMetrics>,
    /// The predicate for compactions, which the engine sets once.
    pub(crate) predicate: PredicateInForce,
    /// Free space of the device.
    pub(crate) room: Arc<Room>,
}
