//! Creates, changes and drops indexes: commits in the one total order, like every change of a
//! collection.
//!
//! A new index is in the record from its first commit on, but not `ready`: writers maintain it, and
//! no query uses it before it is built (`build.rs`). A date index becomes active only when every
//! header carries its date, so that no document expires late.

use std::sync::Arc;

use clock::Instant;
use document::{DocRef, Document};
use expiry::DefaultTtl;
use store::Stamp;

use super::entries::refused_value;
use crate::{
    catalog::{Collection, CollectionState, IndexShape, IndexSpec, Record},
    engine::{Engine, RecordApply, RecordEdit},
    error::{Error, ErrorSubject, IndexConflict, IndexRefusal, Kind},
    expire::apply_default,
    limits::{MAX_INDEX_FIELDS, MAX_INDEXES},
    names::Namespace,
};

/// The requested change of an index; `None` leaves an option unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexChange {
    /// New TTL of a date index, seconds.
    pub expire_after: Option<i64>,
    /// Whether the index is excluded from queries.
    pub hidden: Option<bool>,
}

/// Options of an index before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviousIndexOptions {
    /// Previous TTL of a date index, seconds.
    pub expire_after: Option<i64>,
    /// Whether the index was hidden before the change.
    pub hidden: bool,
}

/// Returns the error for a unique value that another live document has.
pub(crate) fn duplicate_value(index: &IndexSpec, document: DocRef<'_>) -> Error {
    let kind = Kind::DuplicateKey {
        index: index.name.clone(),
        pattern: index.key_pattern(),
        value: refused_value(index, document),
    };
    Error::new(kind, format!("duplicate value in unique index '{}'", index.name))
}

/// Returns whether two specifications have the same entries: the same key, documents,
/// uniqueness and collation.
pub(super) fn is_same_index(held: &IndexSpec, wanted: &IndexSpec) -> bool {
    held.key == wanted.key
        && held.partial == wanted.partial
        && held.unique == wanted.unique
        && held.sparse == wanted.sparse
        && held.shape == wanted.shape
        && held.collation == wanted.collation
}

/// Returns whether the requested index already exists. An index is identified by its key, the
/// documents it covers, and uniqueness; a different TTL or name is a conflict, and whether it is
/// hidden does not matter.
fn exists_already(held: &[IndexSpec], wanted: &IndexSpec) -> Result<bool, Error> {
    let same_index = |held: &IndexSpec| is_same_index(held, wanted);
    let same_options = |held: &IndexSpec| held.expire_after == wanted.expire_after;
    if let Some(held) = held.iter().find(|held| held.name == wanted.name) {
        if !same_index(held) {
            let (wanted, existing) = (wanted.key_pattern(), held.key_pattern());
            return Err(conflict(IndexConflict::NameTaken { wanted, existing }, &held.name));
        }
        if same_options(held) {
            return Ok(true);
        }
        return Err(conflict(IndexConflict::OtherOptions(held.name.clone()), &held.name));
    }
    if let Some(held) = held.iter().find(|held| same_index(held)) {
        let why = match same_options(held) {
            true => IndexConflict::OtherName(held.name.clone()),
            false => IndexConflict::OtherNameAndOptions(held.name.clone()),
        };
        return Err(conflict(why, &held.name));
    }
    Ok(false)
}

/// Returns the error for an index that conflicts with an existing one.
fn conflict(why: IndexConflict, existing: &str) -> Error {
    let message = format!("the index conflicts with existing index '{existing}'");
    Error::new(Kind::IndexConflict(why), message)
}

/// Returns the requested indexes that do not exist yet. Fails if one of them cannot be created.
pub fn missing_indexes(
    namespace: &Namespace,
    held: &[IndexSpec],
    wanted: &[IndexSpec],
) -> Result<Vec<IndexSpec>, Error> {
    let (mut all, mut missing) = (held.to_vec(), Vec::new());
    for spec in wanted {
        if exists_already(&all, spec)? {
            continue;
        }
        let listed = all.iter().filter(|index| index.is_listed());
        check_spec(spec, listed.count(), namespace)?;
        check_text(spec, &all)?;
        all.push(spec.clone());
        missing.push(spec.clone());
    }
    Ok(missing)
}

impl Engine {
    /// Creates indexes and returns the number of indexes before and after, including the primary
    /// key. Ids in the specifications are ignored. An existing index is left unchanged.
    pub async fn create_indexes(
        &self,
        collection: &Arc<Collection>,
        wanted: Vec<IndexSpec>,
    ) -> Result<(usize, usize), Error> {
        let floors = self.inner.rules().floors();
        let names: Vec<String> = wanted.iter().map(|spec| spec.name.clone()).collect();
        if wanted.iter().any(|spec| spec.expire_after.is_some()) {
            self.prepare_telling(collection).await?;
        }
        let dialect = Arc::clone(&self.inner.dialect);
        let edit: Box<RecordEdit<(usize, usize)>> = Box::new(move |state: &CollectionState| {
            let before = state.record.listed_indexes().count() + 1;
            let record = &state.record;
            let missing = missing_indexes(&record.namespace, &record.indexes, &wanted)?;
            // Parsed here to reject invalid filters, and again where the commit is ordered.
            for filter in missing.iter().filter_map(|spec| spec.partial.as_ref()) {
                dialect
                    .parse_filter(record.model, DocRef::Tree(filter))
                    .map_err(|message| Error::new(Kind::Invalid, message))?;
            }
            let after = before + missing.len();
            let apply = move |record: &mut Record, stamp: Stamp| {
                missing.iter().for_each(|spec| add_index(record, spec.clone(), stamp, floors));
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, (before, after))))
        });
        // The indexes exist from here on and serve queries once built.
        let (counts, begun) = self.change_with_backfill(collection, &*edit).await?;
        let (before, after) = counts.unwrap_or((1, 1));
        self.build_indexes(collection, |index| names.contains(&index.name)).await?;
        self.build_counters(collection, begun).await?;
        Ok((before, after))
    }

    /// Drops indexes by name; returns the number of indexes before the drop, including the primary
    /// key.
    pub async fn drop_indexes(
        &self,
        collection: &Arc<Collection>,
        names: Vec<String>,
    ) -> Result<usize, Error> {
        let floors = self.inner.rules().floors();
        let edit: Box<RecordEdit<usize>> = Box::new(move |state: &CollectionState| {
            for name in &names {
                if state.record.index_named(name).is_none() {
                    return Err(no_index(name));
                }
            }
            let names = names.clone();
            let apply = move |record: &mut Record, stamp: Stamp| {
                names.iter().for_each(|name| remove_index(record, name, stamp, floors));
            };
            let was = state.record.listed_indexes().count() + 1;
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, was)))
        });
        Ok(self.change_record(collection, &*edit).await?.unwrap_or(1))
    }

    /// Changes an index and returns its previous options. A plain index that gets `expire_after`
    /// becomes a date index once the header of every row contains the indexed date.
    pub async fn change_index(
        &self,
        collection: &Arc<Collection>,
        name: &str,
        change: IndexChange,
    ) -> Result<PreviousIndexOptions, Error> {
        if change.expire_after.is_some() {
            self.prepare_telling(collection).await?;
        }
        let floors = self.inner.rules().floors();
        let named = name.to_owned();
        let edit: Box<RecordEdit<PreviousIndexOptions>> =
            Box::new(move |state: &CollectionState| {
                let name = &named;
                let Some(held) = state.record.index_named(name) else {
                    return Err(no_index(name));
                };
                let was =
                    PreviousIndexOptions { expire_after: held.expire_after, hidden: held.hidden };
                let name = name.clone();
                let apply = move |record: &mut Record, stamp: Stamp| {
                    apply_change(record, &name, change, stamp, floors);
                };
                Ok(Some((Arc::new(apply) as Arc<RecordApply>, was)))
            });
        let (changed, begun) = self.change_with_backfill(collection, &*edit).await?;
        self.build_indexes(collection, |index| index.name == name).await?;
        self.build_counters(collection, begun).await?;
        changed.ok_or_else(|| Error::new(Kind::Conflict, "the index was not changed"))
    }

    /// Records that documents have several entries in these indexes.
    pub(crate) async fn set_multikey(
        &self,
        collection: &Arc<Collection>,
        indexes: Vec<u32>,
    ) -> Result<(), Error> {
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            let missing = |index: &IndexSpec| indexes.contains(&index.id) && !index.multikey;
            if !state.record.indexes.iter().any(missing) {
                return Ok(None);
            }
            let indexes = indexes.clone();
            let apply = move |record: &mut Record, _| {
                for index in &mut record.indexes {
                    index.multikey |= indexes.contains(&index.id);
                }
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        self.change_record(collection, &*edit).await?;
        Ok(())
    }
}

/// Returns the error for an index that does not exist.
fn no_index(name: &str) -> Error {
    let message = format!("index '{name}' does not exist");
    Error::new(Kind::NotFound(ErrorSubject::Index(name.to_owned())), message)
}

/// Checks whether an index can be added to `held` existing ones, not counting the primary key.
fn check_spec(spec: &IndexSpec, held: usize, namespace: &Namespace) -> Result<(), Error> {
    if MAX_INDEXES <= held + 1 {
        let message = format!("collection {namespace} has too many indexes");
        let (namespace, pattern) = (namespace.clone(), spec.key_pattern());
        let refusal = IndexRefusal::TooMany { namespace, pattern };
        return Err(Error::new(Kind::IndexRefused(refusal), message));
    }
    if spec.key.is_empty() || MAX_INDEX_FIELDS < spec.key.len() {
        let message = format!("an index must have 1 to {MAX_INDEX_FIELDS} fields");
        return Err(Error::new(Kind::IndexRefused(IndexRefusal::FieldCount), message));
    }
    Ok(())
}

/// Fails if a text index is added to a collection that has one.
fn check_text(spec: &IndexSpec, held: &[IndexSpec]) -> Result<(), Error> {
    let is_text = |index: &IndexSpec| matches!(index.shape, IndexShape::Text(_));
    match held.iter().find(|held| is_text(held) && is_text(spec)) {
        None => Ok(()),
        Some(held) => {
            let refusal = IndexRefusal::SecondText(held.name.clone());
            let message = "a collection has one text index at most";
            Err(Error::new(Kind::IndexRefused(refusal), message))
        }
    }
}

/// Adds an index with the next id. The index of the default TTL changes the default and gets no
/// entries.
pub(super) fn add_index(record: &mut Record, spec: IndexSpec, stamp: Stamp, floors: bool) {
    let id = record.next_index;
    record.next_index += 1;
    if spec.system_ttl
        && let Some(seconds) = spec.expire_after
    {
        apply_default(record, default_of(seconds), stamp, floors);
    }
    // The rule is inactive until the build completes.
    if !spec.system_ttl && spec.expire_after.is_some() {
        record.settings.date_rule(id);
    }
    // An index without entries needs no build.
    let ready = !spec.has_entries();
    record.indexes.push(IndexSpec { id, ready, multikey: false, ..spec });
}

/// Removes an index from a record. Its id is kept until its entries are dropped, and its rule as
/// long as documents that it expired may be on disk.
pub(super) fn remove_index(record: &mut Record, name: &str, stamp: Stamp, floors: bool) {
    let Some(at) = record.indexes.iter().position(|index| index.name == name) else { return };
    let index = record.indexes.remove(at);
    if index.system_ttl {
        if index.expire_after.is_some() {
            apply_default(record, DefaultTtl::Off, stamp, floors);
        }
        return;
    }
    // The entries of the dropped index stay on disk until a compaction drops them; its id is never
    // reused.
    record.dropped.push(index.id);
    if index.expire_after.is_some() {
        change_rule(record, index.id, None, stamp, floors);
    }
}

/// Changes an index in a record.
pub(super) fn apply_change(
    record: &mut Record,
    name: &str,
    change: IndexChange,
    stamp: Stamp,
    floors: bool,
) {
    let Some(at) = record.indexes.iter().position(|index| index.name == name) else { return };
    // A hidden index is maintained, so it can be unhidden at once.
    if let Some(hidden) = change.hidden {
        record.indexes[at].hidden = hidden;
    }
    let Some(seconds) = change.expire_after else { return };
    // Clients see the new TTL in the index at once; it takes effect through the index's expiry
    // rule.
    let (id, system, was) = {
        let index = &mut record.indexes[at];
        (index.id, index.system_ttl, index.expire_after.replace(seconds))
    };
    if system {
        apply_default(record, default_of(seconds), stamp, floors);
    // The rule is active: every header already carries the date.
    } else if was.is_some() && record.settings.date_rule(id).after_s.is_some() {
        change_rule(record, id, Some(seconds), stamp, floors);
    } else {
        // Becomes active once every header carries the date.
        record.settings.date_rule(id);
    }
}

/// Changes the TTL of a date index with a floor at the stamp: expired documents stay expired.
pub(super) fn change_rule(
    record: &mut Record,
    index: u32,
    after_s: Option<i64>,
    stamp: Stamp,
    floors: bool,
) {
    let rule = record.settings.date_rule(index);
    if floors {
        rule.change_at(after_s, stamp.seq, Instant::from_ms(stamp.at_ms));
    } else {
        rule.after_s = after_s;
    }
}

/// Returns the default TTL that the index of the default TTL represents; -1 means that TTL is
/// enabled without a default.
fn default_of(seconds: i64) -> DefaultTtl {
    if seconds == -1 { DefaultTtl::Infinite } else { DefaultTtl::Seconds(seconds) }
}

impl IndexSpec {
    /// Creates the specification of an index on these paths (true: descending), without options or
    /// id.
    pub fn new(name: impl Into<String>, key: Vec<(String, bool)>) -> Self {
        Self {
            id: 0,
            name: name.into(),
            key,
            unique: false,
            sparse: false,
            partial: None,
            hidden: false,
            expire_after: None,
            system_ttl: false,
            multikey: false,
            ready: false,
            shown: Document::new(),
            shape: IndexShape::Fields,
            by_creation: false,
            collation: None,
        }
    }
}
