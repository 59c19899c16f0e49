//! Opens views by the one protocol for all views, for one collection or for several at one instant.
//!
//! A view must see every commit acknowledged before it was opened, and must be able to decide what
//! had expired at its instant. The order of steps is therefore fixed:
//!
//! 1. Register a read guard, so that nothing the view may read is reaped from here on.
//! 2. Wait while a change of settings is between its stamp and its publication.
//! 3. Take the instant.
//! 4. Take the stamp of the oldest commit in flight: later expirations are not final yet.
//! 5. Take the settings, then `published`, then the snapshot, which sees at least that.
//! 6. Restart if the settings have changed since step 5, or if a commit was stamped later than the
//!    instant: the snapshot may contain it, and the view must not see the future.

use std::sync::Arc;

use clock::Instant;
use store::Snapshot;

use super::{active::ReadGuard, factory::ViewFactory, live::LiveView, transaction::Transaction};
use crate::{
    catalog::{Collection, CollectionState},
    error::{Error, ErrorSubject, Kind},
    names::Model,
};

/// A collection for which a view is being opened.
pub(super) struct Opening<'a> {
    collection: &'a Arc<Collection>,
    guard: ReadGuard,
    /// Fence number (a counter of changes of settings) before the instant was taken; `None` if a
    /// change was in progress.
    fence: Option<u64>,
    state: Option<Arc<CollectionState>>,
}

impl<'a> Opening<'a> {
    /// Registers the view, which is the first step of opening it: from here on nothing that it may
    /// read is reaped.
    pub(super) fn register_guard(factory: &ViewFactory, collection: &'a Arc<Collection>) -> Self {
        let guard = factory.active.register(collection.id);
        Self { collection, guard, fence: None, state: None }
    }

    /// Returns whether the settings have changed since the fence number was read.
    fn has_changed(&self) -> bool {
        self.fence.is_none() || self.collection.fence_number() != self.fence
    }
}

/// The shared properties of views opened together.
pub(super) struct Opened {
    pub(super) instant: Instant,
    /// Stamp of the oldest commit in flight, and the batch of commits to wait for.
    pub(super) oldest: Option<(i64, u64)>,
    pub(super) seq: u64,
    pub(super) snapshot: Arc<dyn Snapshot>,
}

/// Opens a view of a collection.
///
/// # Errors
///
/// [`Kind::NotFound`] if the collection was dropped, [`Kind::Moved`] if the clock has ended.
pub(crate) async fn open_view(
    factory: &ViewFactory,
    collection: &Arc<Collection>,
) -> Result<LiveView, Error> {
    // Not bounded: each round waits for a change of settings or for the clock to pass a commit's
    // stamp, both of which are short.
    loop {
        let mut openings = [Opening::register_guard(factory, collection)];
        let Some(opened) = try_open(factory, &mut openings).await? else { continue };
        if collection.is_dropped() {
            return Err(dropped_error(collection));
        }
        let [opening] = openings;
        return Ok(opened.into_view(factory, opening));
    }
}

/// Opens a view of a collection in a transaction, which determines the snapshot.
pub(crate) async fn open_in(
    transaction: &Arc<Transaction>,
    factory: &ViewFactory,
    collection: &Arc<Collection>,
) -> Result<LiveView, Error> {
    transaction.adopt(open_view(factory, collection).await?).await
}

/// Waits until no change of the settings is in progress, then takes the instant, the settings and
/// one snapshot for registered views. `None` if all views must be opened again, because the
/// settings have changed or a commit was stamped later than the instant. `openings` is a caller's
/// slice, so that a view of one collection needs no allocation.
///
/// # Errors
///
/// [`Kind::Moved`] if the clock has ended.
pub(super) async fn try_open(
    factory: &ViewFactory,
    openings: &mut [Opening<'_>],
) -> Result<Option<Opened>, Error> {
    let fenced = factory.rules.fence();
    if fenced {
        // Waits before the fences are read, so that most views open at the first attempt.
        for opening in &*openings {
            opening.collection.wait_until_open().await;
        }
    }
    for opening in &mut *openings {
        opening.fence = opening.collection.fence_number();
    }
    // The instant is taken before the in-flight table is read: if the table is then empty, all
    // later stamps are later than this instant. In the other order a commit could slip in between.
    // A manual clock may be left behind by the last stamp.
    let newest = Instant::from_ms(factory.store.in_flight().newest_ms());
    let instant = factory.clock.now().await?.max(newest);
    let oldest = factory.store.in_flight().oldest_commit();
    for opening in &mut *openings {
        opening.state = Some(opening.collection.state());
    }
    // `published` is read before the snapshot is taken, which then contains at least these commits.
    // Conditions "no commit after `seq`" may be stricter than the snapshot requires, but never
    // weaker.
    let seq = factory.store.published();
    let snapshot = factory.store.snapshot();
    if fenced && openings.iter().any(Opening::has_changed) {
        return Ok(None);
    }
    // A commit was stamped later than the instant, and the snapshot may contain it.
    if instant.ms < factory.store.in_flight().newest_ms() {
        return Ok(None);
    }
    Ok(Some(Opened { instant, oldest, seq, snapshot }))
}

impl Opened {
    /// Creates the view of a single collection without copying the snapshot.
    fn into_view(self, factory: &ViewFactory, opening: Opening<'_>) -> LiveView {
        let Self { instant, oldest, seq, snapshot } = self;
        let Opening { collection, mut guard, state, fence } = opening;
        let state = state.unwrap_or_else(|| collection.state());
        // With no commit in flight everything up to the instant is final.
        let stable = oldest.map_or(instant, |(since_ms, _)| Instant::from_ms(since_ms));
        if factory.rules.read_guards() {
            // From here on the reaper keeps the data that this view can read.
            guard.hold_at(instant.min(stable), seq, &state);
        } else {
            guard.release();
        }
        let is_logged = state.record.model == Model::Documents;
        LiveView {
            collection: Arc::clone(collection),
            log: is_logged.then(|| factory.store.changes().kept()).flatten(),
            state,
            fence,
            instant,
            seq,
            stable,
            in_flight: oldest.map(|(_, batch)| batch),
            snapshot,
            rules: factory.rules,
            transaction: None,
            guard,
        }
    }

    /// Creates the views of all collections, in order.
    pub(super) fn into_views(
        self,
        factory: &ViewFactory,
        openings: Vec<Opening<'_>>,
    ) -> Vec<LiveView> {
        let Self { instant, oldest, seq, snapshot } = self;
        let one = |opening| {
            let snapshot = Arc::clone(&snapshot);
            Self { instant, oldest, seq, snapshot }.into_view(factory, opening)
        };
        openings.into_iter().map(one).collect()
    }
}

/// Returns the error for a collection that was dropped while its view was opened.
pub(super) fn dropped_error(collection: &Collection) -> Error {
    let namespace = collection.state().record.namespace.clone();
    let message = format!("collection {namespace} was dropped");
    Error::new(Kind::NotFound(ErrorSubject::DroppedCollection(namespace)), message)
}
