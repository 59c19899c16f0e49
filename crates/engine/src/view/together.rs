//! Views of several collections opened together: one instant, one snapshot, and the protocol of a
//! single view for each of them.
//!
//! A name is looked up before the views are opened, and may mean another collection when they are:
//! it was dropped and made again, or renamed. So names are looked up again afterwards, and all
//! begins anew when one of them has changed.

use std::sync::Arc;

use clock::Instant;
use store::Store;

use super::{
    factory::ViewFactory,
    live::LiveView,
    open::{Opening, dropped_error, open_view, try_open},
};
use crate::{
    catalog::Collection,
    error::Error,
    names::{Model, Namespace},
};

/// Where a row of the collection that an operation is about comes from.
pub(crate) const MAIN: u32 = 0;

/// The view of the collection that an operation is about, and those of others that it reads.
pub(crate) struct Views<S: Store> {
    /// Place 0.
    main: Option<LiveView<S>>,
    /// Places from 1 on, in the order of the names that were asked for.
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
    pub(crate) fn view_at(&self, place: u32) -> Option<&LiveView<S>> {
        match usize::try_from(place).ok()?.checked_sub(1) {
            None => self.main(),
            Some(at) => self.others.get(at).and_then(|(_, view)| view.as_ref()),
        }
    }

    /// Waits until new views can tell what these could not. All were opened at one moment, so they
    /// wait for the same commits.
    pub(crate) async fn wait_for_in_flight(&self, factory: &ViewFactory<S>) {
        let mut all =
            self.main.iter().chain(self.others.iter().filter_map(|(_, view)| view.as_ref()));
        if let Some(view) = all.next() {
            view.wait_for_in_flight(factory).await;
        }
    }
}

/// Opens a view of a collection together with those of others by their names.
///
/// # Errors
///
/// [`Kind::NotFound`](crate::error::Kind::NotFound) when the first was dropped. Others that do not
/// exist have no view.
pub(crate) async fn open_together<S: Store>(
    factory: &ViewFactory<S>,
    model: Model,
    main: Option<&Arc<Collection>>,
    names: &[Namespace],
) -> Result<Views<S>, Error> {
    if names.is_empty() {
        let main = match main {
            Some(collection) => Some(open_view(factory, collection).await?),
            None => None,
        };
        return Ok(Views { main, others: Vec::new() });
    }
    loop {
        let named = || names.iter().map(|name| factory.map.get(model, name)).collect::<Vec<_>>();
        let others = named();
        let all: Vec<&Arc<Collection>> = main.into_iter().chain(others.iter().flatten()).collect();
        // A change of settings came in between; it passes.
        let Some((_, views)) = try_open_all(factory, &all).await? else { continue };
        if let Some(collection) = main.filter(|main| main.is_dropped()) {
            return Err(dropped_error(collection));
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
        // Those of collections that exist, in the order in which they were opened.
        let mut views = views.into_iter();
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
    factory: &ViewFactory<S>,
    collections: &[Arc<Collection>],
) -> Result<Option<(Instant, Vec<LiveView<S>>)>, Error> {
    let all: Vec<&Arc<Collection>> = collections.iter().collect();
    let Some((instant, mut views)) = try_open_all(factory, &all).await? else { return Ok(None) };
    views.retain(|view| !view.collection.is_dropped());
    Ok(Some((instant, views)))
}

/// The views, in the order asked for; `None` when they have to be opened anew.
async fn try_open_all<S: Store>(
    factory: &ViewFactory<S>,
    all: &[&Arc<Collection>],
) -> Result<Option<(Instant, Vec<LiveView<S>>)>, Error> {
    let mut openings: Vec<_> =
        all.iter().map(|one| Opening::register_guard(factory, one)).collect();
    let opened = try_open(factory, &mut openings).await?;
    Ok(opened.map(|opened| (opened.instant, opened.into_views(factory, openings))))
}
