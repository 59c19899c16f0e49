//! Views of several collections opened together: one instant, one snapshot, and the rules of a
//! single view for each of them.

use std::sync::Arc;

use clock::Instant;
use store::Store;

use super::{LiveView, Moment, dropped, open};
use crate::{Collection, Error, Model, Namespace, engine::Inner};

/// Where a row of the collection that an operation is about comes from.
pub(crate) const MAIN: u32 = 0;

/// The view of the collection that an operation is about, and those of others that it reads.
pub(crate) struct Views<S: Store> {
    main: Option<LiveView<S>>,
    others: Vec<(Namespace, Option<LiveView<S>>)>,
}

impl<S: Store> Views<S> {
    /// That of the collection the operation is about; `None` when it does not exist.
    pub(crate) fn main(&self) -> Option<&LiveView<S>> {
        self.main.as_ref()
    }

    /// The place of another collection by its name.
    pub(crate) fn place_of(&self, namespace: &Namespace) -> Option<u32> {
        let at = self.others.iter().position(|(name, _)| name == namespace)?;
        u32::try_from(at + 1).ok()
    }

    /// The view at a place; `None` when there is no such collection.
    pub(crate) fn at(&self, place: u32) -> Option<&LiveView<S>> {
        match usize::try_from(place).ok()?.checked_sub(1) {
            None => self.main(),
            Some(at) => self.others.get(at).and_then(|(_, view)| view.as_ref()),
        }
    }

    /// Waits until new views can tell what died in the last moments of these. They share them.
    pub(crate) async fn land(&self, inner: &Inner<S>) {
        let mut all =
            self.main.iter().chain(self.others.iter().filter_map(|(_, view)| view.as_ref()));
        if let Some(view) = all.next() {
            view.land(inner).await;
        }
    }
}

/// Opens a view of a collection together with those of others by their names.
pub(crate) async fn open_together<S: Store>(
    inner: &Inner<S>,
    model: Model,
    main: Option<&Arc<Collection>>,
    names: &[Namespace],
) -> Result<Views<S>, Error> {
    if names.is_empty() {
        let main = match main {
            Some(collection) => Some(open(inner, collection).await?),
            None => None,
        };
        return Ok(Views { main, others: Vec::new() });
    }
    loop {
        let named = || names.iter().map(|name| inner.map.get(model, name)).collect::<Vec<_>>();
        let others = named();
        let all: Vec<&Arc<Collection>> = main.into_iter().chain(others.iter().flatten()).collect();
        let Some((_, mut views)) = try_open(inner, &all).await else { continue };
        if let Some(collection) = main.filter(|main| main.is_dropped()) {
            return Err(dropped(&collection.state()));
        }
        // A name that came, went or moved while the views were opened is looked up again.
        let same = |(a, b): (&Option<Arc<_>>, &Option<Arc<_>>)| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if !others.iter().zip(&named()).all(same)
            || others.iter().flatten().any(|of| of.is_dropped())
        {
            continue;
        }
        let main = main.and_then(|_| views.next());
        let others = names.iter().zip(&others).map(|(name, collection)| {
            (name.clone(), collection.as_ref().and_then(|_| views.next()))
        });
        return Ok(Views { main, others: others.collect() });
    }
}

/// Views of collections at one instant, those left out that were dropped; `None` when they have to
/// be opened anew.
pub(crate) async fn open_all<S: Store>(
    inner: &Inner<S>,
    collections: &[Arc<Collection>],
) -> Option<(Instant, Vec<LiveView<S>>)> {
    let all: Vec<&Arc<Collection>> = collections.iter().collect();
    let (instant, views) = try_open(inner, &all).await?;
    Some((instant, views.filter(|view| !view.collection.is_dropped()).collect()))
}

/// The views, in the order asked for; `None` when they have to be opened anew.
async fn try_open<S: Store>(
    inner: &Inner<S>,
    all: &[&Arc<Collection>],
) -> Option<(Instant, std::vec::IntoIter<LiveView<S>>)> {
    let holds: Vec<_> = all.iter().map(|collection| inner.holds.register(collection.id)).collect();
    if inner.rules.fence {
        for collection in all {
            collection.opened().await;
        }
    }
    let fences = || all.iter().map(|collection| collection.fence()).collect::<Vec<_>>();
    let before = fences();
    let instant = inner.clock.now().await;
    let oldest = inner.store.flight().oldest();
    let states: Vec<_> = all.iter().map(|collection| collection.state()).collect();
    let seq = inner.store.published();
    let snapshot = inner.store.snapshot();
    let changed = inner.rules.fence && (before.contains(&None) || fences() != before);
    if changed || instant.ms < inner.store.flight().newest_ms() {
        return None;
    }
    let moment = Moment { instant, oldest, seq };
    let parts = all.iter().zip(holds).zip(states);
    let views = parts.map(|((collection, hold), state)| {
        moment.view(inner, collection, state, snapshot.clone(), hold)
    });
    Some((instant, views.collect::<Vec<_>>().into_iter()))
}
