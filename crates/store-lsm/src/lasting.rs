//! What lasts when the tree is opened again.

use std::sync::{Arc, atomic::AtomicU64};

use store::{InFlight, Timepiece};

use crate::{filter::PredicateInForce, metrics::LsmMetrics, options::LsmOptions, room::Room};

/// The parts of a store that every opening of its tree shares.
pub(crate) struct Lasting {
    pub(crate) options: LsmOptions,
    pub(crate) time: Arc<dyn Timepiece>,
    pub(crate) in_flight: Arc<InFlight>,
    /// The newest `seq` that anybody was told of.
    pub(crate) published: Arc<AtomicU64>,
    pub(crate) metrics: Arc<LsmMetrics>,
    pub(crate) predicate: PredicateInForce,
    pub(crate) room: Arc<Room>,
}
