//! The engine's public interface: opening, collections, and state shared by all operations.
//!
//! ```text
//!  open      reads the catalog and completes interrupted changes
//!  names     creates, renames and drops collections
//!  admin     changes collection records
//!  free      deletes the data of dropped collections
//!  resources small records of the APIs
//!  reload    re-reads the cached catalog after the store was reopened
//! ```

mod admin;
mod free;
mod names;
mod open;
mod reload;
mod resources;

use std::sync::Arc;

use clock::{Clock, Instant};
use store::{ClusterTime, CommitClock};

pub(crate) use admin::{ChangeOutcome, RecordApply, RecordEdit};
pub use open::Options;

use crate::{
    catalog::Collection,
    error::{Error, ErrorSubject, Kind},
    inner::Inner,
    lanes::Lanes,
    names::{Model, Namespace},
    view::{LiveView, Storage, Transaction, open_in, open_view},
};

/// The database engine. Clones share one instance.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
    /// The transaction whose statements run through this handle; `None` for operations of their
    /// own.
    pub(crate) transaction: Option<Arc<Transaction>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// Implements the store's clock interface with the database clock.
#[derive(Debug)]
pub(crate) struct EngineTime(pub(crate) Arc<Clock>);

impl CommitClock for EngineTime {
    fn now_ms(&self) -> i64 {
        // A commit stamped after the clock's end is never committed, because the journal verifies
        // ownership first.
        self.0.now_blocking().unwrap_or_else(|_| self.0.last_used()).ms
    }

    fn monotonic_ns(&self) -> u64 {
        u64::try_from(clock::monotonic_time().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Engine {
    /// Returns the database clock as the type that stores take. Pass it to the store that the
    /// engine will use.
    pub fn commit_clock(clock: &Arc<Clock>) -> Arc<dyn CommitClock> {
        Arc::new(EngineTime(Arc::clone(clock)))
    }

    /// Returns the clock that decides expiry.
    pub fn clock(&self) -> &Arc<Clock> {
        self.inner.clock()
    }

    /// Returns database time; waits while the clock may not be used.
    ///
    /// # Errors
    ///
    /// [`Kind::Moved`] if the clock has ended.
    pub async fn now(&self) -> Result<Instant, Error> {
        Ok(self.inner.clock().now().await?)
    }

    /// Returns the cluster time of the newest visible commit, which covers every write acknowledged
    /// before the call and everything that a read has returned. It never goes back, not even over
    /// restarts, and does not advance with the clock.
    pub fn cluster_time(&self) -> ClusterTime {
        self.inner.store().in_flight().published_time()
    }

    /// Returns the lanes in which long operations take turns to compute.
    pub fn lanes(&self) -> &Lanes {
        &self.inner.lanes
    }

    /// Returns the store. Documents must be read through views, not through it.
    pub fn store(&self) -> &Storage {
        self.inner.store()
    }

    /// Returns the collection with this name.
    pub fn collection(&self, model: Model, namespace: &Namespace) -> Option<Arc<Collection>> {
        self.collection_named(model, &namespace.database, &namespace.collection)
    }

    /// Returns the collection with this name in a database.
    pub fn collection_named(
        &self,
        model: Model,
        database: &str,
        collection: &str,
    ) -> Option<Arc<Collection>> {
        self.inner.map().get(model, database, collection)
    }

    /// Returns the collection with this name, or [`Kind::NotFound`].
    pub fn expect_collection(
        &self,
        model: Model,
        namespace: &Namespace,
    ) -> Result<Arc<Collection>, Error> {
        self.collection(model, namespace).ok_or_else(|| {
            let message = format!("collection {namespace} does not exist");
            Error::new(Kind::NotFound(ErrorSubject::Collection(namespace.clone())), message)
        })
    }

    /// Returns all collections of a model, by name.
    pub fn collections(&self, model: Model) -> Vec<(Namespace, Arc<Collection>)> {
        let all = self.inner.map().all_collections();
        all.iter()
            .filter(|((of, _), _)| *of == model)
            .map(|((_, namespace), collection)| (namespace.clone(), Arc::clone(collection)))
            .collect()
    }

    /// Opens a view of a collection.
    pub async fn view(&self, collection: &Arc<Collection>) -> Result<LiveView, Error> {
        match &self.transaction {
            None => open_view(&self.inner.views, collection).await,
            Some(transaction) => open_in(transaction, &self.inner.views, collection).await,
        }
    }
}
