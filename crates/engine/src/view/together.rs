//! Opens views of several collections together: one instant, one snapshot, and the protocol of a
//! single view for each.
//!
//! A name is looked up before the views are opened and may denote another collection afterwards, if
//! it was dropped and re-created or renamed. Names are therefore looked up again, and everything
//! restarts if one has changed.

use std::sync::Arc;

use clock::Instant;

use super::{
    factory::ViewFactory,
    live::LiveView,
    open::{Opening, dropped_error, open_view, try_open},
    transaction::Transaction,
};
use crate::{
    catalog::Collection,
    error::Error,
    names::{Model, Namespace},
};

/// Index in [`Views`] of the view of an operation's main collection.
pub(crate) const MAIN: u32 = 0;

/// The views of an operation: of its main collection, and of other collections. A view index
/// identifies one of them: 0 is the main collection, and the others have the indexes from 1 on.
pub(crate) struct Views {
    /// The view of the main collection; it has view index 0.
    main: Option<LiveView>,
    /// Names and views of the collections other than the main one, in the order of the requested
    /// names.
    others: Vec<(Namespace, Option<LiveView>)>,
}

impl Views {
    /// Makes the views, which were just opened, views of a transaction.
    pub(crate) async fn adopted_by(self, transaction: &Arc<Transaction>) -> Result<Self, Error> {
        let main = match self.main {
            Some(view) => Some(transaction.adopt(view).await?),
            None => None,
        };
        let mut others = Vec::with_capacity(self.others.len());
        for (name, view) in self.others {
            let view = match view {
                Some(view) => Some(transaction.adopt(view).await?),
                None => None,
            };
            others.push((name, view));
        }
        Ok(Self { main, others })
    }

    /// Returns the view of the main collection; `None` if it does not exist.
    pub(crate) fn main(&self) -> Option<&LiveView> {
        self.main.as_ref()
    }

    /// Returns the view index of a collection other than the main one; `None` if the views were
    /// opened without this name.
    pub(crate) fn view_index_of(&self, namespace: &Namespace) -> Option<u32> {
        let at = self.others.iter().position(|(name, _)| name == namespace)?;
        u32::try_from(at + 1).ok()
    }

    /// Returns the view with this index; `None` if the collection does not exist.
    pub(crate) fn view_at(&self, view_index: u32) -> Option<&LiveView> {
        match usize::try_from(view_index).ok()?.checked_sub(1) {
            None => self.main(),
            Some(at) => self.others.get(at).and_then(|(_, view)| view.as_ref()),
        }
    }

    /// Waits for the commits that were in flight, so that new views can decide which documents have
    /// expired. All views were opened together, so waiting for one suffices.
    pub(crate) async fn wait_for_in_flight(&self, factory: &ViewFactory) {
        let mut all =
            self.main.iter().chain(self.others.iter().filter_map(|(_, view)| view.as_ref()));
        if let Some(view) = all.next() {
            view.wait_for_in_flight(factory).await;
        }
    }
}

/// Opens views at one instant: of the main collection, and of other collections given by name.
///
/// # Errors
///
/// [`Kind::NotFound`](crate::error::Kind::NotFound) if the main collection was dropped. Other
/// collections that do not exist have no view.
pub(crate) async fn open_together(
    factory: &ViewFactory,
    model: Model,
    main: Option<&Arc<Collection>>,
    names: &[Namespace],
) -> Result<Views, Error> {
    if names.is_empty() {
        let main = match main {
            Some(collection) => Some(open_view(factory, collection).await?),
            None => None,
        };
        return Ok(Views { main, others: Vec::new() });
    }
    loop {
        let find = |name: &Namespace| factory.map.get(model, &name.database, &name.collection);
        let named = || names.iter().map(find).collect::<Vec<_>>();
        let others = named();
        let all: Vec<&Arc<Collection>> = main.into_iter().chain(others.iter().flatten()).collect();
        // The settings of a collection have changed during the opening: retry.
        let Some((_, views)) = try_open_all(factory, &all).await? else { continue };
        if let Some(collection) = main.filter(|main| main.is_dropped()) {
            return Err(dropped_error(collection));
        }
        // Names created, dropped or renamed since the first lookup are looked up again.
        let same = |(a, b): (&Option<Arc<_>>, &Option<Arc<_>>)| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if !others.iter().zip(&named()).all(same)
            || others.iter().flatten().any(|of| of.is_dropped())
        {
            continue;
        }
        // The views of existing collections, in order of opening.
        let mut views = views.into_iter();
        let main = main.and_then(|_| views.next());
        let others = names.iter().zip(&others).map(|(name, collection)| {
            (name.clone(), collection.as_ref().and_then(|_| views.next()))
        });
        return Ok(Views { main, others: others.collect() });
    }
}

/// Opens views of collections at one instant, leaving out dropped ones; `None` if they must be
/// opened again.
pub(crate) async fn open_all(
    factory: &ViewFactory,
    collections: &[Arc<Collection>],
) -> Result<Option<(Instant, Vec<LiveView>)>, Error> {
    let all: Vec<&Arc<Collection>> = collections.iter().collect();
    let Some((instant, mut views)) = try_open_all(factory, &all).await? else { return Ok(None) };
    views.retain(|view| !view.collection.is_dropped());
    Ok(Some((instant, views)))
}

/// Opens views in the given order; `None` if they must be opened again.
async fn try_open_all(
    factory: &ViewFactory,
    all: &[&Arc<Collection>],
) -> Result<Option<(Instant, Vec<LiveView>)>, Error> {
    let mut openings: Vec<_> =
        all.iter().map(|one| Opening::register_guard(factory, one)).collect();
    let opened = try_open(factory, &mut openings).await?;
    Ok(opened.map(|opened| (opened.instant, opened.into_views(factory, openings))))
}
