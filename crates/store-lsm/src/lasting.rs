//! What lasts when the tree is opened again.

use std::sync::{Arc, atomic::AtomicU64};

use store::{InFlight, Timepiece};

use crate::{filter::PredicateInForce, metrics::LsmMetrics, options::LsmOptions, room::Room};

/// The parts of a store that every opening of its tree shares.
pub(crate) struct AcrossOpenings {
    /// Where and how the tree is opened.
    pub(crate) options: LsmOptions,
    /// Database time.
    pub(crate) time: Arc<dyn Timepiece>,
    /// Views wait for batches of a tree that has stopped, too.
    pub(crate) in_flight: Arc<InFlight>,
    /// The newest `seq` that anybody was told of.
    pub(crate) published: Arc<AtomicU64>,
    /// Counted since the start of the server.
    pub(crate) metrics: Arc<LsmMetrics>,
    /// Set once by the engine.
    pub(crate) predicate: PredicateInForce,
    /// Of one device.
    pub(crate) room: Arc<Room>,
}
