//! Creates a collection of documents together with its indexes, and replaces the indexes and the
//! options of an existing one.
//!
//! ```text
//!  kept      the present index of the same name is equal
//!  changed   it is equal except for its TTL, or for whether it is hidden
//!  added     there is no such index of the same name
//!  removed   the present indexes that are neither kept nor changed
//!
//!  commit 1   the added indexes whose names are free; they are built before commit 2
//!  commit 2   all other changes, and the options
//! ```
//!
//! If the build of an index of commit 1 fails, for example because a unique index meets duplicates,
//! commit 2 is not made, and all present indexes stay.

use std::sync::Arc;

use document::{DocRef, Document};
use store::Stamp;

use super::change::{
    IndexChange, add_index, apply_change, is_same_index, missing_indexes, remove_index,
};
use crate::{
    catalog::{Collection, CollectionState, CounterState, IndexSpec, Record},
    engine::{Engine, RecordApply, RecordEdit},
    error::{Error, Kind},
    limits::MAX_INDEXES,
    names::{Model, Namespace},
};

/// The options and indexes that [`Engine::redefine_collection`] gives a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Options, which only the API interprets.
    pub options: Document,
    /// All indexes besides the primary key; `None` leaves them unchanged.
    pub indexes: Option<Vec<IndexSpec>>,
}

/// Derives the wanted definition from the present record. It may be called several times.
pub type Redefine = dyn Fn(&Record) -> Result<Definition, Error> + Send + Sync;

/// The differences between the present indexes and the wanted ones.
#[derive(Clone, Debug, Default, PartialEq)]
struct IndexDifferences {
    /// Names of the indexes to remove.
    removed: Vec<String>,
    /// Names of the indexes to change, with their changes.
    changed: Vec<(String, IndexChange)>,
    /// The indexes to add, some in place of a removed one of the same name.
    added: Vec<IndexSpec>,
}

impl IndexDifferences {
    /// Compares the present indexes with the wanted ones. Fails if the wanted ones conflict with
    /// each other.
    fn find(record: &Record, wanted: &[IndexSpec]) -> Result<Self, Error> {
        let wanted = missing_indexes(&record.namespace, &[], wanted)?;
        let mut differences = Self::default();
        let mut kept = Vec::new();
        for spec in wanted {
            let held = record.index_named(&spec.name).filter(|held| is_same_index(held, &spec));
            match held {
                // A TTL can be set in place, but not removed.
                Some(held) if held.expire_after.is_none() || spec.expire_after.is_some() => {
                    let expire_after =
                        spec.expire_after.filter(|_| held.expire_after != spec.expire_after);
                    let hidden = (held.hidden != spec.hidden).then_some(spec.hidden);
                    let change = IndexChange { expire_after, hidden };
                    if change != IndexChange::default() {
                        differences.changed.push((spec.name.clone(), change));
                    }
                    kept.push(spec.name);
                }
                _ => differences.added.push(spec),
            }
        }
        let gone = record.listed_indexes().filter(|held| !kept.contains(&held.name));
        differences.removed = gone.map(|held| held.name.clone()).collect();
        Ok(differences)
    }

    /// Returns the added indexes that can be created and built before the other changes, because
    /// they have entries and their names are free. Empty if the collection would then have too many
    /// indexes.
    fn early(&self, record: &Record) -> Vec<IndexSpec> {
        let room = MAX_INDEXES.saturating_sub(record.listed_indexes().count() + 1);
        let early: Vec<_> = self
            .added
            .iter()
            .filter(|spec| spec.has_entries() && record.index_named(&spec.name).is_none())
            .cloned()
            .collect();
        if early.len() <= room { early } else { Vec::new() }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the names of the indexes that must be built after the changes.
    fn unbuilt(&self) -> Vec<String> {
        let changed = self.changed.iter().map(|(name, _)| name.clone());
        changed.chain(self.added.iter().map(|spec| spec.name.clone())).collect()
    }

    /// Applies the differences to a record.
    fn apply(&self, record: &mut Record, stamp: Stamp, floors: bool) {
        for name in &self.removed {
            remove_index(record, name, stamp, floors);
        }
        for (name, change) in &self.changed {
            apply_change(record, name, *change, stamp, floors);
        }
        for spec in &self.added {
            add_index(record, spec.clone(), stamp, floors);
        }
    }
}

impl Engine {
    /// Creates a collection of documents with options and indexes, which may include the index of
    /// the default TTL, in one commit. Fails if it exists.
    pub async fn create_with_indexes(
        &self,
        namespace: &Namespace,
        options: Document,
        indexes: Vec<IndexSpec>,
    ) -> Result<Arc<Collection>, Error> {
        let floors = self.inner.rules().floors();
        let indexes = missing_indexes(namespace, &[], &indexes)?;
        self.check_filters(&indexes)?;
        let fill = move |record: &mut Record, stamp: Stamp| {
            record.options = options.clone();
            indexes.iter().for_each(|spec| add_index(record, spec.clone(), stamp, floors));
            // There are no documents to count.
            if let CounterState::Building(build) = record.counters {
                record.counters = CounterState::Ready(build);
            }
        };
        let made = self.create_with(Model::Documents, namespace, Arc::new(fill)).await?;
        self.build_indexes(&made, |_| true).await?;
        Ok(made)
    }

    /// Gives a collection the definition that `redefine` derives from its record. Indexes that the
    /// definition does not contain are dropped.
    pub async fn redefine_collection(
        &self,
        collection: &Arc<Collection>,
        redefine: Arc<Redefine>,
    ) -> Result<(), Error> {
        let indexes = redefine(&collection.state().record)?.indexes.unwrap_or_default();
        if indexes.iter().any(|spec| spec.expire_after.is_some()) {
            self.prepare_telling(collection).await?;
        }
        let floors = self.inner.rules().floors();
        let (engine, wanted) = (self.clone(), Arc::clone(&redefine));
        let begin: Box<RecordEdit<Vec<String>>> = Box::new(move |state: &CollectionState| {
            let record = &state.record;
            let Some(indexes) = wanted(record)?.indexes else { return Ok(None) };
            let differences = IndexDifferences::find(record, &indexes)?;
            engine.check_filters(&differences.added)?;
            let early = differences.early(record);
            if early.is_empty() {
                return Ok(None);
            }
            let names = early.iter().map(|spec| spec.name.clone()).collect();
            let apply = move |record: &mut Record, stamp: Stamp| {
                early.iter().for_each(|spec| add_index(record, spec.clone(), stamp, floors));
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, names)))
        });
        let (early, begun) = self.change_with_backfill(collection, &*begin).await?;
        if let Some(names) = early {
            self.build_indexes(collection, |index| names.contains(&index.name)).await?;
            self.build_counters(collection, begun).await?;
        }
        let finish: Box<RecordEdit<Vec<String>>> = Box::new(move |state: &CollectionState| {
            let record = &state.record;
            let Definition { options, indexes } = redefine(record)?;
            let differences = match &indexes {
                Some(indexes) => IndexDifferences::find(record, indexes)?,
                None => IndexDifferences::default(),
            };
            if differences.is_empty() && options == record.options {
                return Ok(None);
            }
            let names = differences.unbuilt();
            let apply = move |record: &mut Record, stamp: Stamp| {
                record.options = options.clone();
                differences.apply(record, stamp, floors);
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, names)))
        });
        let (late, begun) = self.change_with_backfill(collection, &*finish).await?;
        let names = late.unwrap_or_default();
        self.build_indexes(collection, |index| names.contains(&index.name)).await?;
        self.build_counters(collection, begun).await
    }

    /// Fails if a filter of these indexes cannot be parsed.
    fn check_filters(&self, indexes: &[IndexSpec]) -> Result<(), Error> {
        for filter in indexes.iter().filter_map(|spec| spec.partial.as_ref()) {
            self.inner
                .dialect
                .parse_filter(Model::Documents, DocRef::Tree(filter))
                .map_err(|message| Error::new(Kind::Invalid, message))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    fn record(indexes: Vec<IndexSpec>) -> Record {
        Record {
            id: 1,
            model: Model::Documents,
            namespace: Namespace::new("db", "c"),
            settings: expiry::Settings::default(),
            indexes,
            next_index: 9,
            dropped: Vec::new(),
            counters: CounterState::Off,
            created: 0,
            options: doc! {},
            items: None,
            cluster_key: None,
            temporary: false,
            capped: None,
            told: None,
        }
    }

    fn index(name: &str, path: &str, expire_after: Option<i64>) -> IndexSpec {
        let key = vec![(path.to_owned(), false)];
        IndexSpec { expire_after, ..IndexSpec::new(name, key) }
    }

    #[test]
    fn equal_indexes_are_kept() {
        let held =
            record(vec![index("a", "a", None), index("b", "b", Some(60)), index("c", "c", None)]);
        let hour = IndexChange { expire_after: Some(3600), hidden: None };
        for (wanted, removed, changed, added) in [
            (vec![], vec!["a", "b", "c"], vec![], vec![]),
            (vec![index("a", "a", None), index("c", "c", None)], vec!["b"], vec![], vec![]),
            // A TTL is set in place, and removed with the index.
            (vec![index("b", "b", Some(3600))], vec!["a", "c"], vec![("b", hour)], vec![]),
            (vec![index("a", "a", Some(3600))], vec!["b", "c"], vec![("a", hour)], vec![]),
            (vec![index("b", "b", None)], vec!["a", "b", "c"], vec![], vec!["b"]),
            // An index with another key or another name is another index.
            (vec![index("a", "x", None)], vec!["a", "b", "c"], vec![], vec!["a"]),
            (vec![index("x", "a", None)], vec!["a", "b", "c"], vec![], vec!["x"]),
        ] {
            let found = IndexDifferences::find(&held, &wanted).unwrap();
            let changed_names: Vec<_> =
                found.changed.iter().map(|(name, change)| (name.as_str(), *change)).collect();
            let added_names: Vec<_> = found.added.iter().map(|spec| spec.name.as_str()).collect();
            assert_eq!(found.removed, removed, "{wanted:?}");
            assert_eq!((changed_names, added_names), (changed, added), "{wanted:?}");
        }
        // Only an index of another name can exist beside the present ones.
        let found = IndexDifferences::find(&held, &[index("a", "x", None), index("y", "y", None)]);
        let early = found.unwrap().early(&held);
        assert_eq!(early.len(), 1);
        assert_eq!(early[0].name, "y");
    }
}
