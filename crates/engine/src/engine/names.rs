//! Collections come, get other names and go. Each is a commit in the one order; one name at a time
//! is looked at and changed.

use std::sync::Arc;

use bytes::Bytes;
use document::Document;
use store::{Condition, Mutation, Snapshot, Space, Store, Unit};

use super::{Apply, Engine};
use crate::{
    Collection, Error, Kind, Model, Namespace, Record, State,
    catalog::{Books, Change, Publish, decode, put_record},
    error::What,
    keys,
    limits::{MAX_ATTEMPTS, MAX_NAMESPACE_BYTES},
};

impl<S: Store> Engine<S> {
    /// Makes a collection; an error when it exists.
    pub async fn create(
        &self,
        model: Model,
        namespace: &Namespace,
        options: Document,
    ) -> Result<Arc<Collection>, Error> {
        let fill = move |record: &mut Record, _| record.options = options.clone();
        self.create_with(model, namespace, Arc::new(fill)).await
    }

    /// Makes a collection whose record is completed in the commit that makes it.
    pub(crate) async fn create_with(
        &self,
        model: Model,
        namespace: &Namespace,
        fill: Arc<Apply>,
    ) -> Result<Arc<Collection>, Error> {
        if MAX_NAMESPACE_BYTES < namespace.database.len() + namespace.collection.len() + 1 {
            let message = format!("namespace is too long: {namespace}");
            return Err(Error::new(Kind::Invalid, message));
        }
        for _ in 0..MAX_ATTEMPTS {
            // One name at a time comes, moves or goes. A commit whose asker has left may still be
            // under way when the lock is free again: conditions and the looks at a snapshot that
            // is as new as they hold against that.
            let mut names = self.inner.names.lock().await;
            if self.collection(model, namespace).is_some() {
                let message = format!("Collection {namespace} already exists.");
                return Err(Error::new(Kind::Exists(What::Collection), message));
            }
            if let Some(collection) = self.try_create(&mut names, model, namespace, &fill).await? {
                return Ok(collection);
            }
        }
        Err(Error::new(Kind::Conflict, "too many attempts to create a collection"))
    }

    /// The collection of this name, made when it is missing. Answers whether it was made.
    pub async fn ensure(
        &self,
        model: Model,
        namespace: &Namespace,
    ) -> Result<(Arc<Collection>, bool), Error> {
        loop {
            if let Some(collection) = self.collection(model, namespace) {
                return Ok((collection, false));
            }
            match self.create(model, namespace, Document::new()).await {
                Ok(collection) => return Ok((collection, true)),
                Err(error) if error.kind == Kind::Exists(What::Collection) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn try_create(
        &self,
        names: &mut Names,
        model: Model,
        namespace: &Namespace,
        fill: &Arc<Apply>,
    ) -> Result<Option<Arc<Collection>>, Error> {
        let (seq, held) = self.named_at(model, namespace).await?;
        if held.is_some() {
            return Ok(None);
        }
        // No other collection ever gets this id, whatever becomes of this one.
        let id = names.take_id()?;
        self.inner.store.create_space(Space::Rows(id))?;
        self.inner.store.create_space(Space::Index(id))?;
        let record = Record {
            id,
            model,
            namespace: namespace.clone(),
            settings: expiry::Settings::default(),
            indexes: Vec::new(),
            next_index: 1,
            dropped: Vec::new(),
            books: Books::Off,
            created: 0,
            options: Document::new(),
            items: None,
        };
        let state = State::new(record.clone(), &*self.inner.dialect)?;
        let collection = Arc::new(Collection::new(state));
        let key = keys::record(model, namespace);
        let conditions = vec![Condition::NotNewer { space: Space::Catalog, key, seq }];
        let change = {
            let (map, namespace) = (Arc::clone(&self.inner.map), namespace.clone());
            let made = Arc::clone(&collection);
            Change::new(Arc::clone(&collection), move |published| {
                if published {
                    map.insert(model, namespace.clone(), Arc::clone(&made));
                }
            })
        };
        let (prepared, fill) = (Arc::clone(&change), Arc::clone(fill));
        let unit = Unit::new(conditions, move |stamp| {
            let mut record = Record { created: stamp.seq, ..record };
            fill(&mut record, stamp);
            let next = Mutation::Put {
                space: Space::Catalog,
                key: keys::NEXT_ID.into(),
                value: (id + 1).to_be_bytes().to_vec().into(),
            };
            let out = vec![put_record(&record), next];
            let partial = record.indexes.iter().map(|_| None).collect();
            prepared.prepare(Publish::State(Box::new(State::with(record, partial))));
            out
        });
        let committed = self.commit_one(unit.with_fence(change)).await?;
        if committed.is_none() {
            self.inner.store.drop_space(Space::Rows(id))?;
            self.inner.store.drop_space(Space::Index(id))?;
        }
        Ok(committed.map(|_| collection))
    }

    /// The id of the collection that has a name in the catalog, and a `seq` that this look does
    /// not lie behind: with a condition on the record it stays true until the commit. The names in
    /// memory do not serve for that, they change a moment after the catalog.
    async fn named_at(
        &self,
        model: Model,
        namespace: &Namespace,
    ) -> Result<(u64, Option<u32>), Error> {
        let seq = self.inner.store.published();
        let key = keys::record(model, namespace);
        let record = self.inner.store.snapshot().get(Space::Catalog, &key).await?;
        let id = record.map(|record| decode(&record).map(|record| record.id)).transpose()?;
        Ok((seq, id))
    }

    fn has_name(&self, collection: &Arc<Collection>, model: Model, name: &Namespace) -> bool {
        self.collection(model, name).is_some_and(|held| Arc::ptr_eq(&held, collection))
    }

    /// Drops a collection and everything in it. Answers whether it existed.
    pub async fn drop_collection(
        &self,
        model: Model,
        namespace: &Namespace,
    ) -> Result<bool, Error> {
        for _ in 0..MAX_ATTEMPTS {
            let names = self.inner.names.lock().await;
            let Some(collection) = self.collection(model, namespace) else { return Ok(false) };
            if self.try_drop(model, namespace, &collection).await? {
                drop(names);
                self.free_dropped(collection.id).await?;
                return Ok(true);
            }
        }
        Err(Error::new(Kind::Conflict, "too many changes of a collection at once"))
    }

    async fn try_drop(
        &self,
        model: Model,
        namespace: &Namespace,
        collection: &Arc<Collection>,
    ) -> Result<bool, Error> {
        let (seq, _) = collection.stable(|| self.inner.store.published()).await;
        if !self.has_name(collection, model, namespace) {
            return Ok(false);
        }
        let key = keys::record(model, namespace);
        let condition = Condition::NotNewer { space: Space::Catalog, key: key.clone(), seq };
        let change = {
            let (map, namespace) = (Arc::clone(&self.inner.map), namespace.clone());
            Change::new(Arc::clone(collection), move |published| {
                if published {
                    map.remove(model, &namespace);
                }
            })
        };
        let (prepared, id) = (Arc::clone(&change), collection.id);
        let unit = Unit::new(vec![condition], move |_| {
            prepared.prepare(Publish::Dropped);
            vec![Mutation::Delete { space: Space::Catalog, key }, note_gone(id)]
        });
        Ok(self.commit_one(unit.freeing().with_fence(change)).await?.is_some())
    }

    /// Removes what a dropped collection had. The note that it is gone stays until its spaces are:
    /// a start can tell it from a collection whose record was lost.
    pub(crate) async fn free_dropped(&self, id: u32) -> Result<(), Error> {
        self.inner.store.drop_space(Space::Rows(id))?;
        self.inner.store.drop_space(Space::Index(id))?;
        self.purge_counts(id).await?;
        let free = Mutation::Delete { space: Space::Catalog, key: keys::gone(id) };
        self.commit_one(Unit::new(Vec::new(), move |_| vec![free]).freeing()).await?;
        Ok(())
    }

    /// Gives a collection another name; `replace` drops one that has it already, in the same
    /// commit.
    pub async fn rename(
        &self,
        model: Model,
        from: &Namespace,
        to: &Namespace,
        replace: bool,
    ) -> Result<(), Error> {
        for _ in 0..MAX_ATTEMPTS {
            let names = self.inner.names.lock().await;
            let collection = self.expect(model, from)?;
            let target = self.collection(model, to);
            if target.is_some() && !replace {
                let message = "target namespace exists";
                return Err(Error::new(Kind::Exists(What::Collection), message));
            }
            let replaced = target.as_ref().map(|target| target.id);
            if self.try_rename(model, from, to, &collection, target).await? {
                drop(names);
                if let Some(id) = replaced {
                    self.free_dropped(id).await?;
                }
                return Ok(());
            }
        }
        Err(Error::new(Kind::Conflict, "too many changes of a collection at once"))
    }

    async fn try_rename(
        &self,
        model: Model,
        from: &Namespace,
        to: &Namespace,
        collection: &Arc<Collection>,
        target: Option<Arc<Collection>>,
    ) -> Result<bool, Error> {
        let (old_seq, state) = collection.stable(|| self.inner.store.published()).await;
        let (new_seq, held) = self.named_at(model, to).await?;
        let replaced = target.as_ref().map(|target| target.id);
        if !self.has_name(collection, model, from) || held != replaced {
            return Ok(false);
        }
        let (old_key, new_key) = (keys::record(model, from), keys::record(model, to));
        let conditions = [(&old_key, old_seq), (&new_key, new_seq)];
        let conditions = conditions.map(|(key, seq)| Condition::NotNewer {
            space: Space::Catalog,
            key: key.clone(),
            seq,
        });
        let change = {
            let (map, from, to) = (Arc::clone(&self.inner.map), from.clone(), to.clone());
            let renamed = Arc::clone(collection);
            Change::replacing(Arc::clone(collection), target, move |published| {
                if published {
                    map.rename(model, &from, to.clone(), Arc::clone(&renamed));
                }
            })
        };
        let (prepared, to) = (Arc::clone(&change), to.clone());
        let unit = Unit::new(conditions.into(), move |_| {
            let record = Record { namespace: to, ..state.record.clone() };
            let gone = Mutation::Delete { space: Space::Catalog, key: old_key };
            let mut out = vec![gone, put_record(&record)];
            out.extend(replaced.map(note_gone));
            let state = State::with(record, state.partial.clone());
            prepared.prepare(Publish::State(Box::new(state)));
            out
        });
        Ok(self.commit_one(unit.with_fence(change)).await?.is_some())
    }
}

/// Notes that a collection was dropped but its spaces may still be there.
fn note_gone(id: u32) -> Mutation {
    Mutation::Put { space: Space::Catalog, key: keys::gone(id), value: Bytes::new() }
}

/// What is given to collections as they get their names.
#[derive(Debug)]
pub(crate) struct Names {
    next_id: u32,
}

impl Names {
    /// Ids from this one on were never given.
    pub(crate) fn new(next_id: u32) -> Self {
        Self { next_id }
    }

    /// Ids below this one were given.
    pub(crate) fn at_least(&mut self, next_id: u32) {
        self.next_id = self.next_id.max(next_id);
    }

    /// An id that is given once.
    fn take_id(&mut self) -> Result<u32, Error> {
        let id = self.next_id;
        let spent = || Error::new(Kind::Unavailable, "no ids of collections are left");
        self.next_id = id.checked_add(1).ok_or_else(spent)?;
        Ok(id)
    }
}
