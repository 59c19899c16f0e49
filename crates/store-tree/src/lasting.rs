//! What lasts when the store is opened again.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64},
};

use journal::OpenJournal;
use store::{InFlight, Timepiece};

use crate::{filter::PredicateInForce, metrics::TreeMetrics, options::TreeOptions, room::Room};

/// The parts of a store that every opening shares.
pub(crate) struct AcrossOpenings {
    /// Where and how it is opened.
    pub(crate) options: TreeOptions,
    /// What the trees follow.
    pub(crate) journal: Arc<dyn OpenJournal>,
    /// Whether it takes commits; otherwise it follows what others append to the journal.
    pub(crate) leads: Arc<AtomicBool>,
    /// Database time.
    pub(crate) time: Arc<dyn Timepiece>,
    /// Views wait for batches of an opening that has stopped, too.
    pub(crate) in_flight: Arc<InFlight>,
    /// The newest `seq` that anybody was told of.
    pub(crate) published: Arc<AtomicU64>,
    /// Counted since the start of the server.
    pub(crate) metrics: Arc<TreeMetrics>,
    /// Set once by the engine.
    pub(crate) predicate: PredicateInForce,
    /// Of one device.
    pub(crate) room: Arc<Room>,
}
