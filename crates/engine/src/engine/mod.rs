//! The engine as its users hold it: opening, collections, and what all operations share.
//!
//! ```text
//!  open      reads the catalog, ends what an earlier run left half-done
//!  names     collections are made, renamed and dropped
//!  admin     a collection's record changes
//!  resources small records of the doors
//!  reload    reads all of it again, after the store was opened again
//! ```

mod admin;
mod names;
mod open;
mod reload;
mod resources;

use std::sync::Arc;

use clock::{Clock, Instant};
use store::{Store, Timepiece};

pub(crate) use admin::{ChangeOutcome, RecordApply, RecordEdit};
pub use open::Options;

use crate::{
    catalog::Collection,
    error::{Error, Kind, What},
    inner::Inner,
    lanes::Lanes,
    names::{Model, Namespace},
    view::{LiveView, Storage, open_view},
};

/// The engine. Clones share it.
pub struct Engine<S: Store> {
    /// Shared by all clones.
    pub(crate) inner: Arc<Inner<S>>,
}

impl<S: Store> Clone for Engine<S> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<S: Store> std::fmt::Debug for Engine<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// Database time as a store asks for it.
#[derive(Debug)]
pub(crate) struct EngineTime(pub(crate) Arc<Clock>);

impl Timepiece for EngineTime {
    fn now_ms(&self) -> i64 {
        // What is stamped after the clock's end is never committed: whoever keeps the journal asks who
        // owns it.
        self.0.now_blocking().unwrap_or_else(|_| self.0.last_used()).ms
    }

    fn monotonic_ns(&self) -> u64 {
        u64::try_from(clock::monotonic_time().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl<S: Store> Engine<S> {
    /// Database time as a store asks for it: pass it to the store the engine will be opened on.
    pub fn timepiece(clock: &Arc<Clock>) -> Arc<dyn Timepiece> {
        Arc::new(EngineTime(Arc::clone(clock)))
    }

    /// The database clock.
    pub fn clock(&self) -> &Arc<Clock> {
        self.inner.clock()
    }

    /// Database time; waits while it may not be used.
    ///
    /// # Errors
    ///
    /// [`Kind::Moved`] when the clock has ended.
    pub async fn now(&self) -> Result<Instant, Error> {
        Ok(self.inner.clock().now().await?)
    }

    /// Where long operations wait for their turn to compute.
    pub fn lanes(&self) -> &Lanes {
        &self.inner.lanes
    }

    /// The store below, of which documents are read through views alone.
    pub fn store(&self) -> &Storage<S> {
        self.inner.store()
    }

    /// The collection of this name.
    pub fn collection(&self, model: Model, namespace: &Namespace) -> Option<Arc<Collection>> {
        self.inner.map().get(model, namespace)
    }

    /// The collection of this name, or an error that names it.
    pub fn expect_collection(
        &self,
        model: Model,
        namespace: &Namespace,
    ) -> Result<Arc<Collection>, Error> {
        self.collection(model, namespace).ok_or_else(|| {
            let message = format!("collection {namespace} does not exist");
            Error::new(Kind::NotFound(What::Collection(namespace.clone())), message)
        })
    }

    /// All collections of a model, by name.
    pub fn collections(&self, model: Model) -> Vec<(Namespace, Arc<Collection>)> {
        let all = self.inner.map().all_collections();
        all.iter()
            .filter(|((of, _), _)| *of == model)
            .map(|((_, namespace), collection)| (namespace.clone(), Arc::clone(collection)))
            .collect()
    }

    /// Opens a view of a collection.
    pub async fn view(&self, collection: &Arc<Collection>) -> Result<LiveView<S>, Error> {
        open_view(&self.inner.views, collection).await
    }
}
