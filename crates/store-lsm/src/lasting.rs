//! What lasts when the tree is opened again.

use std::sync::{Arc, atomic::AtomicU64};

use store::{Flight, Timepiece};

use crate::{filter::Predicate, measured::Measured, options::LsmOptions, room::Room};

/// The parts of a store that every opening of its tree shares.
pub(crate) struct Lasting {
    pub(crate) options: LsmOptions,
    pub(crate) time: Arc<dyn Timepiece>,
    pub(crate) flight: Arc<Flight>,
    /// The newest `seq` that anybody was told of.
    pub(crate) published: Arc<AtomicU64>,
    pub(crate) measured: Arc<Measured>,
    pub(crate) predicate: Predicate,
    pub(crate) room: Arc<Room>,
}
