//! Opens views: the one protocol that every view goes through, for one collection or for several at
//! one instant.
//!
//! A view has to see every commit that was acknowledged before it was opened, and nothing of which
//! it cannot tell whether it had expired at its instant. So the order is fixed:
//!
//! 1. Register a read guard, so that nothing is reaped from here on that the view may read.
//! 2. Wait while a change of settings is between its stamp and its publication.
//! 3. Take the instant.
//! 4. Take the stamp of the oldest commit in flight: later expirations are not final yet.
//! 5. Take the settings, then `published`, then the snapshot, which sees at least that.
//! 6. Begin again if a change of settings came in between, or if a commit was stamped later than
//!    the instant: the snapshot may show it, and the view must not see the future.

use std::sync::Arc;

use clock::Instant;
use store::Store;

use super::{active::ReadGuard, factory::ViewFactory, live::LiveView};
use crate::{
    catalog::{Collection, CollectionState},
    error::{Error, Kind, What},
};

/// A collection of which a view is being opened.
pub(super) struct Opening<'a> {
    collection: &'a Arc<Collection>,
    guard: ReadGuard,
    /// The fence's number before the instant was taken; `None` while a change was under way.
    fence: Option<u64>,
    state: Option<Arc<CollectionState>>,
}

impl<'a> Opening<'a> {
    /// Step 1, which comes before everything else.
    pub(super) fn register_guard<S: Store>(
        factory: &ViewFactory<S>,
        collection: &'a Arc<Collection>,
    ) -> Self {
        let guard = factory.active.register(collection.id);
        Self { collection, guard, fence: None, state: None }
    }

    /// Whether the settings have been changing since the fence was read.
    fn has_changed(&self) -> bool {
        self.fence.is_none() || self.collection.fence_number() != self.fence
    }
}

/// What views have in common that were opened together.
pub(super) struct Opened<S: Store> {
    pub(super) instant: Instant,
    /// Stamp and number of the oldest commit in flight.
    oldest: Option<(i64, u64)>,
    seq: u64,
    pub(super) snapshot: S::Snapshot,
}

/// Opens a view of a collection.
///
/// # Errors
///
/// [`Kind::NotFound`] when it was dropped, [`Kind::Moved`] when the clock has ended.
pub(crate) async fn open_view<S: Store>(
    factory: &ViewFactory<S>,
    collection: &Arc<Collection>,
) -> Result<LiveView<S>, Error> {
    // Unbounded, unlike retries of operations: each round waits for a change of settings or for a
    // clock that a commit was ahead of, and both pass.
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

/// Steps 2 to 6; `None` when all has to begin again. The caller chooses where the openings stand:
/// a view of one collection allocates nothing for them.
///
/// # Errors
///
/// [`Kind::Moved`] when the clock has ended.
pub(super) async fn try_open<S: Store>(
    factory: &ViewFactory<S>,
    openings: &mut [Opening<'_>],
) -> Result<Option<Opened<S>>, Error> {
    let fenced = factory.rules.fence();
    if fenced {
        // Waited for before the fences are read, so that most views open at the first attempt.
        for opening in &*openings {
            opening.collection.wait_until_open().await;
        }
    }
    for opening in &mut *openings {
        opening.fence = opening.collection.fence_number();
    }
    // Before the in-flight table is read: what is stamped after a look at an empty table is stamped
    // later than this instant. In the other order a commit could slip in between the two.
    let instant = factory.clock.now().await?;
    let oldest = factory.store.in_flight().oldest_commit();
    for opening in &mut *openings {
        opening.state = Some(opening.collection.state());
    }
    // Before the snapshot, which then sees at least this much: conditions of writes say "no commit
    // after `seq`", and may be stricter than what the snapshot shows, but never laxer.
    let seq = factory.store.published();
    let snapshot = factory.store.snapshot();
    if fenced && openings.iter().any(Opening::has_changed) {
        return Ok(None);
    }
    // A commit was stamped later than the instant, and the snapshot may show it already.
    if instant.ms < factory.store.in_flight().newest_ms() {
        return Ok(None);
    }
    Ok(Some(Opened { instant, oldest, seq, snapshot }))
}

impl<S: Store> Opened<S> {
    /// The view of one collection; the only one, so that the snapshot is not copied for it.
    fn into_view(self, factory: &ViewFactory<S>, opening: Opening<'_>) -> LiveView<S> {
        let Self { instant, oldest, seq, snapshot } = self;
        let Opening { collection, mut guard, state, fence } = opening;
        // `try_open` has set it.
        let state = state.unwrap_or_else(|| collection.state());
        // With an empty table everything up to the instant is final.
        let stable = oldest.map_or(instant, |(since_ms, _)| Instant::from_ms(since_ms));
        if factory.rules.read_guards() {
            // From here on the reaper knows what this view can read.
            guard.hold_at(instant.min(stable), seq, &state);
        } else {
            guard.release();
        }
        LiveView {
            collection: Arc::clone(collection),
            state,
            fence,
            instant,
            seq,
            stable,
            in_flight: oldest.map(|(_, batch)| batch),
            snapshot,
            rules: factory.rules,
            guard,
        }
    }

    /// The views of all of these collections, in their order.
    pub(super) fn into_views(
        self,
        factory: &ViewFactory<S>,
        openings: Vec<Opening<'_>>,
    ) -> Vec<LiveView<S>> {
        let Self { instant, oldest, seq, snapshot } = self;
        let one = |opening| {
            let snapshot = snapshot.clone();
            Self { instant, oldest, seq, snapshot }.into_view(factory, opening)
        };
        openings.into_iter().map(one).collect()
    }
}

/// The error of an operation on a collection that was dropped meanwhile.
pub(super) fn dropped_error(collection: &Collection) -> Error {
    let namespace = collection.state().record.namespace.clone();
    let message = format!("collection {namespace} was dropped");
    Error::new(Kind::NotFound(What::DroppedCollection(namespace)), message)
}
