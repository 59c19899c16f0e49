//! Reads the change log in the order of cluster times.
//!
//! A page ends at a time before which nothing can be added any more: after the newest commit that
//! was visible before the page's view was opened, or at the instant of the view if no commit is in
//! flight. A commit in flight gets a later time than every visible one.

use std::sync::Arc;

use clock::Instant;
use document::{DocRef, ValueRef};
use evaluation::Context;
use store::{ClusterTime, KeyRange};

use super::{
    Change, ChangeKind,
    record::{key_from, key_rest},
};
use crate::{
    catalog::Collection,
    change_log::ChangeScope,
    engine::Engine,
    error::{Error, Halt, Kind},
    limits::ROW_WORK,
    names::Model,
    retry::read_in_view,
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
};

/// A place in the change log: between two records, or before all records of a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangePosition(Vec<u8>);

impl ChangePosition {
    /// Returns the position before all changes of this time.
    pub fn at(time: ClusterTime) -> Self {
        Self(key_from(time))
    }

    /// Returns the position of the change with this time, operation, collection and row key.
    pub fn of_change(time: ClusterTime, place: (u32, [u8; 16]), row_key: &[u8]) -> Self {
        Self([&key_from(time)[..], &key_rest(place.0, place.1, row_key)].concat())
    }

    /// Returns the position after the change at this position.
    pub fn after(&self) -> Self {
        Self([&self.0[..], &[0]].concat())
    }

    /// Returns the time of the position.
    pub fn time(&self) -> ClusterTime {
        let bytes = self.0.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        ClusterTime::from_timestamp(bytes)
    }
}

impl Change {
    /// Returns the position of the change.
    pub fn position(&self) -> ChangePosition {
        ChangePosition::of_change(self.time, (self.operation, self.uuid), &self.row_key)
    }
}

/// Selects the changes that a page contains.
#[derive(Clone, Debug)]
pub struct ChangeLogQuery {
    /// The page starts with the first change at or after this position.
    pub from: ChangePosition,
    /// The collections whose changes the page contains.
    pub scope: ChangeScope,
    /// Maximum number of changes in a page.
    pub changes: usize,
    /// Approximate size at which the page ends, in bytes.
    pub bytes: usize,
}

/// A page of changes in order.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeLogPage {
    /// The changes of the page.
    pub changes: Vec<Change>,
    /// Position at which the next page starts. No change will be added before it.
    pub next: ChangePosition,
    /// Whether further changes may be there already.
    pub more: bool,
    /// The newest batch of commits that was in flight, whose changes may be visible soon.
    in_flight: Option<u64>,
}

impl Engine {
    /// Returns a page of changes.
    ///
    /// # Errors
    ///
    /// [`Kind::PositionLost`] if the position is before the start of the log or beyond its
    /// retention; [`Kind::Unsupported`] if no log is kept.
    pub async fn read_changes(
        &self,
        wanted: &ChangeLogQuery,
        context: &Context,
    ) -> Result<ChangeLogPage, Error> {
        let (log, since) = self.kept_records()?;
        if wanted.from.time() < since {
            return Err(lost());
        }
        // Read first: the view then shows all commits up to this time, and the expirations up to
        // there are recorded.
        let mut visible = self.cluster_time();
        let (mut told, was_due) = self.tell_in_scope(&wanted.scope).await?;
        if was_due {
            // Records that have the time of the commit that has told them are part of the page.
            visible = self.cluster_time();
            told = self.tell_in_scope(&wanted.scope).await?.0;
        }
        let known = (visible, told, self.inner.changes().last_time());
        let page = read_in_view!(self, &log, |view| {
            view.read_change_page(wanted, known, context).await
        });
        Ok(page?.0)
    }

    /// Tells the expirations of the collections in a scope up to now. Returns the instant up to
    /// which all of them are recorded, and whether any was recorded now.
    async fn tell_in_scope(&self, scope: &ChangeScope) -> Result<(Instant, bool), Error> {
        let now = self.now().await?;
        let (mut told, mut was_due) = (now, false);
        for collection in self.in_scope(scope) {
            if now < collection.next_expiration.at() {
                continue;
            }
            match self.tell_expirations(&collection).await {
                Err(_) if collection.is_dropped() => continue,
                done => was_due |= done?,
            }
            // A commit in flight may still postpone an expiration.
            told = told.min(collection.next_expiration.at().plus_ms(-1));
        }
        Ok((told, was_due))
    }

    /// Returns the collections of a scope whose expirations are recorded.
    fn in_scope(&self, scope: &ChangeScope) -> Vec<Arc<Collection>> {
        let all = self.inner.map().all_collections();
        let is_told = |collection: &&Arc<Collection>| {
            collection.state().record.told.as_ref().is_some_and(|told| told.begun.is_some())
        };
        if let ChangeScope::Collection(namespace) = scope {
            let one = all.get(&(Model::Documents, namespace.clone()));
            return one.filter(is_told).cloned().into_iter().collect();
        }
        all.iter()
            .filter(|((model, name), _)| {
                *model == Model::Documents && scope.contains(&name.database, &name.collection)
            })
            .map(|(_, collection)| collection)
            .filter(is_told)
            .cloned()
            .collect()
    }

    /// Returns when the next expiration of a scope may have to be told, for readers that wait;
    /// `MAX` if none is known.
    pub fn next_expiration_in(&self, scope: &ChangeScope) -> Instant {
        let all = self.in_scope(scope);
        all.iter().map(|collection| collection.next_expiration.at()).min().unwrap_or(Instant::MAX)
    }

    /// Returns whether the log has a change at this position.
    ///
    /// # Errors
    ///
    /// [`Kind::PositionLost`] if the position is before the start of the log or beyond its
    /// retention; [`Kind::Unsupported`] if no log is kept.
    pub async fn has_change(&self, position: &ChangePosition) -> Result<bool, Error> {
        let (log, since) = self.kept_records()?;
        let (row, view) = read_in_view!(self, &log, |view| view.get_row(&position.0).await)?;
        let floors = view.state.record.settings.floors_at(view.instant);
        let time = position.time();
        if row.is_none() && (time < since || i64::from(time.seconds()) <= floors.inherit_s) {
            return Err(lost());
        }
        Ok(row.is_some())
    }

    /// Returns the collection of the log, and the time after which it is complete.
    fn kept_records(&self) -> Result<(Arc<Collection>, ClusterTime), Error> {
        match (self.inner.changes().records(), self.changes_since()) {
            (Some(records), Some(since)) => Ok((records, since)),
            _ => Err(Error::new(Kind::Unsupported, "no change log is kept")),
        }
    }

    /// Waits for the commits that were in flight when a page was read. Returns whether there were
    /// any, so that the page is worth reading again.
    pub async fn wait_for_in_flight_changes(&self, page: &ChangeLogPage) -> bool {
        let Some(batch) = page.in_flight else { return false };
        self.inner.store().in_flight().wait_until_finished(batch).await;
        true
    }
}

/// Returns the error for a position whose changes are not kept.
fn lost() -> Error {
    Error::new(Kind::PositionLost, "changes after this position are no longer kept")
}

impl LiveView {
    /// Reads a page of changes. All commits up to `visible` are visible in the view, and all
    /// expirations up to `told`; the newest record ever written by a commit has the time `newest` or
    /// an earlier one.
    async fn read_change_page(
        &self,
        wanted: &ChangeLogQuery,
        (visible, told, newest): (ClusterTime, Instant, ClusterTime),
        context: &Context,
    ) -> Result<ChangeLogPage, Halt> {
        let floors = self.state.record.settings.floors_at(self.instant);
        let from = wanted.from.time();
        // Nothing was lost if nothing was recorded since the position, however long ago that is.
        if i64::from(from.seconds()) <= floors.inherit_s && from <= newest {
            return Err(lost().into());
        }
        let settled = match self.in_flight_batch() {
            Some(_) => ClusterTime::of_expiration(self.stable_instant().ms),
            None => ClusterTime::of_expiration(self.instant.ms).next(),
        };
        let settled = settled.min(ClusterTime::of_expiration(told.ms).next());
        let end = ChangePosition::at(settled.max(visible.next()));
        let in_flight = self.in_flight_batch();
        let mut found = ChangeLogPage {
            changes: Vec::new(),
            next: end.clone().max(wanted.from.clone()),
            more: false,
            in_flight,
        };
        let mut bytes = 0;
        let range = KeyRange { start: wanted.from.0.clone(), end: Some(end.0) };
        let mut pages = Pages::of(range).growing_slowly();
        while let Some(page) = self.next_rows(&mut pages).await? {
            charge_keys(context, page.examined).await?;
            for row in page.items {
                let position = ChangePosition(row.key.to_vec());
                if wanted.changes <= found.changes.len() || wanted.bytes <= bytes {
                    return Ok(ChangeLogPage { next: position, more: true, ..found });
                }
                if !concerns(&wanted.scope, row.document()) {
                    continue;
                }
                yield_if_due(context, ROW_WORK + row.body().len()).await?;
                bytes += row.body().len();
                let (key, body) = (row.key.clone(), row.into_body());
                found.changes.push(Change::decode(&key, &body)?);
            }
        }
        Ok(found)
    }
}

/// Returns whether a record concerns a collection of the scope. A renamed collection belongs to the
/// scopes of both names.
fn concerns(scope: &ChangeScope, record: DocRef<'_>) -> bool {
    let text = |document: DocRef<'_>, name| {
        document.get(name).and_then(ValueRef::as_str).map(str::to_owned).unwrap_or_default()
    };
    if scope.contains(&text(record, "d"), &text(record, "c")) {
        return true;
    }
    let is_rename = matches!(record.get("k"), Some(ValueRef::Int32(kind))
        if kind == ChangeKind::Rename.code());
    let description = record.get("x").and_then(ValueRef::as_document);
    let to = description.and_then(|it| it.get("to")).and_then(ValueRef::as_document);
    is_rename && to.is_some_and(|to| scope.contains(&text(to, "db"), &text(to, "coll")))
}
