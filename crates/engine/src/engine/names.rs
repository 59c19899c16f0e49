//! Creates, renames and drops collections. Each operation is a commit in the one total order; names
//! change one at a time.
//!
//! The lock on names exists only in this process, and its holder may be cancelled during a commit.
//! Conditions, not the lock, therefore protect the catalog: each commit requires that the records
//! it read are unchanged. A drop leaves a marker in the catalog until the collection's data is
//! deleted, so that the next startup can complete it.

use std::sync::Arc;

use bytes::Bytes;
use document::Document;
use store::{Commit, Condition, Mutation, Space};

use super::{Engine, RecordApply, admin::new_filter};
use crate::{
    attempts::Attempts,
    catalog::{
        Collection, CollectionIds, CollectionState, CounterState, PendingCreation, Publication,
        Record, RecordChange, decode_record, put_last_change, put_record,
    },
    error::{Error, ErrorSubject, Kind},
    keys,
    limits::MAX_NAMESPACE_BYTES,
    names::{Model, Namespace},
};

/// A check of the record that a collection's new name has before the renaming.
pub(crate) type TargetCheck = dyn Fn(Option<&Record>) -> Result<(), Error> + Send + Sync;

impl Engine {
    /// Creates a collection; fails if it exists.
    pub async fn create_collection(
        &self,
        model: Model,
        namespace: &Namespace,
        options: Document,
    ) -> Result<Arc<Collection>, Error> {
        let fill = move |record: &mut Record, _| record.set_options(&options);
        self.create_with(model, namespace, Arc::new(fill)).await
    }

    /// Creates a collection; `fill` completes its record once the stamp is known.
    pub(crate) async fn create_with(
        &self,
        model: Model,
        namespace: &Namespace,
        fill: Arc<RecordApply>,
    ) -> Result<Arc<Collection>, Error> {
        if MAX_NAMESPACE_BYTES < namespace.database.len() + namespace.collection.len() + 1 {
            let message = format!("namespace is too long: {namespace}");
            return Err(Error::new(Kind::Invalid, message));
        }
        let mut attempts = Attempts::new("too many conflicts while creating a collection");
        loop {
            attempts.begin_next()?;
            // Serializes changes of names. The commit of a cancelled caller may still be in flight
            // when the lock is free again; conditions and reads of an equally new snapshot protect
            // against that.
            let mut ids = self.inner.ids.lock().await;
            if self.collection(model, namespace).is_some() {
                let message = format!("collection {namespace} already exists");
                let kind = Kind::Exists(ErrorSubject::Collection(namespace.clone()));
                return Err(Error::new(kind, message));
            }
            let pending = self.announce(model, namespace)?;
            let made = self.try_create(&mut ids, model, namespace, &fill, pending).await?;
            if let Some(collection) = made {
                return Ok(collection);
            }
        }
    }

    /// Returns the collection with this name, creating it if missing, and whether it was created.
    pub async fn ensure_collection(
        &self,
        model: Model,
        namespace: &Namespace,
    ) -> Result<(Arc<Collection>, bool), Error> {
        loop {
            if let Some(collection) = self.collection(model, namespace) {
                return Ok((collection, false));
            }
            match self.create_collection(model, namespace, Document::new()).await {
                Ok(collection) => return Ok((collection, true)),
                Err(Error { kind: Kind::Exists(ErrorSubject::Collection(_)), .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Announces that a commit puts a collection into a database. Fails if a database exists whose
    /// name differs only in case.
    fn announce(&self, model: Model, namespace: &Namespace) -> Result<PendingCreation, Error> {
        self.inner.map().announce(model, &namespace.database).map_err(|existing| {
            let wanted = namespace.database.clone();
            let message = format!(
                "database {wanted} differs only in case from the existing database {existing}"
            );
            Error::new(
                Kind::Exists(ErrorSubject::DatabaseOfOtherCase { existing, wanted }),
                message,
            )
        })
    }

    /// Makes one attempt to create a collection; `None` if the name is taken.
    async fn try_create(
        &self,
        ids: &mut CollectionIds,
        model: Model,
        namespace: &Namespace,
        fill: &Arc<RecordApply>,
        pending: PendingCreation,
    ) -> Result<Option<Arc<Collection>>, Error> {
        let (seq, held) = self.record_at(model, namespace).await?;
        if held.is_some() {
            return Ok(None);
        }
        // The id is used up even if the attempt fails: ids are never reused.
        let id = ids.take_next()?;
        // The collection's key spaces are created first: a record without them would be damage,
        // while key spaces without a record are removed at startup.
        self.inner.store().create_space(Space::Rows(id))?;
        self.inner.store().create_space(Space::Index(id))?;
        let record = Record {
            id,
            model,
            namespace: namespace.clone(),
            settings: expiry::Settings::default(),
            indexes: Vec::new(),
            next_index: 1,
            dropped: Vec::new(),
            counters: CounterState::Off,
            created: 0,
            options: Document::new(),
            items: None,
            cluster_key: None,
            temporary: false,
            capped: None,
            told: None,
        };
        let state = CollectionState::new(record.clone(), &*self.inner.dialect)?;
        let collection = Arc::new(Collection::new(state, self.inner.clock().last_used()));
        let key = keys::record(model, namespace);
        let conditions = vec![Condition::NotNewer { space: Space::Catalog, key, seq }];
        let change = {
            let (map, namespace) = (Arc::clone(self.inner.map()), namespace.clone());
            let made = Arc::clone(&collection);
            RecordChange::new(Arc::clone(&collection), move |published| {
                let _until_it_is_in_the_map = &pending;
                if published {
                    // The name is added when the commit is published, so that it exists once the
                    // commit is acknowledged.
                    map.insert(model, namespace.clone(), Arc::clone(&made));
                }
            })
        };
        let (prepared, fill) = (Arc::clone(&change), Arc::clone(fill));
        let (log, dialect) = (Arc::clone(self.inner.changes()), Arc::clone(&self.inner.dialect));
        let commit = Commit::new(conditions, move |stamp| {
            let mut record = Record { created: stamp.seq, ..record };
            fill(&mut record, stamp);
            log.prepare_new(&mut record, stamp);
            let next = Mutation::Put {
                space: Space::Catalog,
                key: keys::NEXT_ID.into(),
                value: (id + 1).to_be_bytes().to_vec().into(),
            };
            let mut out = vec![put_record(&record), next];
            log.put_created(&record, stamp, &mut out);
            out.extend(record.items.map(|_| put_last_change(id, stamp.seq)));
            let parsed = |index| new_filter(&record, index, &*dialect);
            let partial = record.indexes.iter().map(parsed).collect();
            prepared.prepare_publication(Publication::State(Box::new(
                CollectionState::with_filters(record, partial, &*dialect),
            )));
            out
        });
        let committed = self.commit_one(commit.with_fence(change)).await?;
        // No other operation knows the id, so its key spaces can be dropped at once.
        if committed.is_none() {
            self.inner.store().drop_space(Space::Rows(id))?;
            self.inner.store().drop_space(Space::Index(id))?;
        }
        Ok(committed.map(|_| collection))
    }

    /// Reads the record of the collection with this name from the catalog. Also returns the sequence
    /// number of the newest commit that was visible before the read. If a later commit has the
    /// condition that the record was not written since then, it succeeds only if the record is
    /// unchanged. The map in memory does not suffice, because it is updated shortly after the
    /// catalog.
    async fn record_at(
        &self,
        model: Model,
        namespace: &Namespace,
    ) -> Result<(u64, Option<Record>), Error> {
        let seq = self.inner.store().published();
        let key = keys::record(model, namespace);
        let record = self.inner.store().system().catalog_record(&key).await?;
        Ok((seq, record.map(|record| decode_record(&record)).transpose()?))
    }

    /// Returns whether the collection has this name now.
    fn has_name(&self, collection: &Arc<Collection>, model: Model, name: &Namespace) -> bool {
        self.collection(model, name).is_some_and(|held| Arc::ptr_eq(&held, collection))
    }

    /// Drops a collection with all its data. Returns whether it existed.
    pub async fn drop_collection(
        &self,
        model: Model,
        namespace: &Namespace,
    ) -> Result<bool, Error> {
        let mut attempts = Attempts::to_change();
        loop {
            attempts.begin_next()?;
            let ids = self.inner.ids.lock().await;
            let Some(collection) = self.collection(model, namespace) else { return Ok(false) };
            if self.try_drop(model, namespace, &collection).await? {
                drop(ids);
                self.free_or_leave(collection.id).await;
                return Ok(true);
            }
        }
    }

    /// Makes one attempt to drop a collection; false if the name now denotes another collection or
    /// the commit was refused.
    async fn try_drop(
        &self,
        model: Model,
        namespace: &Namespace,
        collection: &Arc<Collection>,
    ) -> Result<bool, Error> {
        let (seq, state) = collection.settled_state(|| self.inner.store().published()).await;
        if !self.has_name(collection, model, namespace) {
            return Ok(false);
        }
        let key = keys::record(model, namespace);
        let mut conditions = Vec::from_iter(self.before_next_expiration(collection).await?);
        conditions.push(Condition::NotNewer { space: Space::Catalog, key: key.clone(), seq });
        let change = {
            let (map, namespace) = (Arc::clone(self.inner.map()), namespace.clone());
            RecordChange::new(Arc::clone(collection), move |published| {
                if published {
                    map.remove(model, &namespace);
                }
            })
        };
        let (prepared, log) = (Arc::clone(&change), Arc::clone(self.inner.changes()));
        let commit = Commit::new(conditions, move |stamp| {
            prepared.prepare_publication(Publication::Dropped);
            let (record, space) = (&state.record, Space::Catalog);
            let mut out = vec![Mutation::Delete { space, key }, mark_dropped(record.id)];
            log.put_dropped(record, stamp, &mut out);
            out
        });
        Ok(self.commit_one(commit.freeing().with_fence(change)).await?.is_some())
    }

    /// Renames a collection. With `replace`, an existing collection of the new name is dropped in
    /// the same commit.
    pub async fn rename_collection(
        &self,
        model: Model,
        from: &Namespace,
        to: &Namespace,
        replace: bool,
    ) -> Result<(), Error> {
        self.rename_checked(model, from, to, replace, &|_| Ok(())).await
    }

    /// Renames a collection as [`rename_collection`](Self::rename_collection). `check` is applied to
    /// the record that the new name has then, if any; if it fails, nothing is renamed.
    pub(crate) async fn rename_checked(
        &self,
        model: Model,
        from: &Namespace,
        to: &Namespace,
        replace: bool,
        check: &TargetCheck,
    ) -> Result<(), Error> {
        let mut attempts = Attempts::to_change();
        loop {
            attempts.begin_next()?;
            let ids = self.inner.ids.lock().await;
            let collection = self.expect_collection(model, from)?;
            let target = self.collection(model, to);
            if target.is_some() && !replace {
                let message = format!("collection {to} already exists");
                return Err(Error::new(
                    Kind::Exists(ErrorSubject::RenameTarget(to.clone())),
                    message,
                ));
            }
            let replaced = target.as_ref().map(|target| target.id);
            let pending = self.announce(model, to)?;
            let target = (&collection, target, check);
            if self.try_rename(model, from, to, target, pending).await? {
                drop(ids);
                if let Some(id) = replaced {
                    self.free_or_leave(id).await;
                }
                return Ok(());
            }
        }
    }

    /// Makes one attempt to rename a collection; false if one of the names now denotes another
    /// collection or the commit was refused.
    async fn try_rename(
        &self,
        model: Model,
        from: &Namespace,
        to: &Namespace,
        (collection, target, check): (&Arc<Collection>, Option<Arc<Collection>>, &TargetCheck),
        pending: PendingCreation,
    ) -> Result<bool, Error> {
        let (old_seq, state) = collection.settled_state(|| self.inner.store().published()).await;
        let (new_seq, held) = self.record_at(model, to).await?;
        let replaced = target.as_ref().map(|target| target.id);
        if !self.has_name(collection, model, from) || held.as_ref().map(|held| held.id) != replaced
        {
            return Ok(false);
        }
        check(held.as_ref())?;
        let (old_key, new_key) = (keys::record(model, from), keys::record(model, to));
        let conditions = [(&old_key, old_seq), (&new_key, new_seq)];
        let conditions = conditions.map(|(key, seq)| Condition::NotNewer {
            space: Space::Catalog,
            key: key.clone(),
            seq,
        });
        let mut conditions = Vec::from(conditions);
        for renamed in [Some(collection), target.as_ref()].into_iter().flatten() {
            conditions.extend(self.before_next_expiration(renamed).await?);
        }
        let change = {
            let (map, from, to) = (Arc::clone(self.inner.map()), from.clone(), to.clone());
            let renamed = Arc::clone(collection);
            RecordChange::replacing(Arc::clone(collection), target, move |published| {
                let _until_it_is_in_the_map = &pending;
                if published {
                    map.rename(model, &from, to.clone(), Arc::clone(&renamed));
                }
            })
        };
        let (prepared, to) = (Arc::clone(&change), to.clone());
        let (log, dialect) = (Arc::clone(self.inner.changes()), Arc::clone(&self.inner.dialect));
        let replaced_uuid = held.as_ref().map(Record::uuid);
        let commit = Commit::new(conditions, move |stamp| {
            let mut out = Vec::new();
            log.put_renamed(&state.record, (&to, replaced_uuid), stamp, &mut out);
            // A temporary collection that gets another name remains.
            let record = Record { namespace: to, temporary: false, ..state.record.clone() };
            let gone = Mutation::Delete { space: Space::Catalog, key: old_key };
            out.extend([gone, put_record(&record)]);
            // The replaced collection is dropped in the same commit, so that the name always
            // denotes exactly one collection.
            out.extend(replaced.map(mark_dropped));
            let state = CollectionState::with_filters(record, state.partial.clone(), &*dialect);
            prepared.prepare_publication(Publication::State(Box::new(state)));
            out
        });
        Ok(self.commit_one(commit.with_fence(change)).await?.is_some())
    }
}

/// Returns the mutation that marks a collection as dropped while its key spaces may still exist.
fn mark_dropped(id: u32) -> Mutation {
    Mutation::Put { space: Space::Catalog, key: keys::dropped_collection(id), value: Bytes::new() }
}
