//! The state of a store that persists when its files are closed and opened again.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64},
};

use journal::OpenJournal;
use store::{CommitClock, InFlight};

use crate::{
    disk_space::DiskSpace, filter::PredicateInForce, metrics::TreeMetrics, options::TreeOptions,
};

/// The state of a store that persists when it is reopened.
pub(crate) struct RetainedState {
    pub(crate) options: TreeOptions,
    /// The journal that the trees follow.
    pub(crate) journal: Arc<dyn OpenJournal>,
    /// Whether commits are accepted; otherwise the store follows the journal.
    pub(crate) leads: Arc<AtomicBool>,
    pub(crate) time: Arc<dyn CommitClock>,
    /// Shared by all openings, because views also wait for batches of a stopped one.
    pub(crate) in_flight: Arc<InFlight>,
    /// The newest `seq` that a reader has seen, over all openings.
    pub(crate) published: Arc<AtomicU64>,
    /// Metrics, counted since the start of the process.
    pub(crate) metrics: Arc<TreeMetrics>,
    /// The predicate for compactions, which the engine sets once.
    pub(crate) predicate: PredicateInForce,
    /// Free space of the device.
    pub(crate) disk_space: Arc<DiskSpace>,
}
