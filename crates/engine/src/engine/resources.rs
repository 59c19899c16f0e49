//! Operations on the small records of doors: each change is a commit of its own, made one after the
//! other. What is held in memory changes as the commit is published, in the fence's last moment, so
//! that it is right also when the client that asked for it has gone.

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;
use document::Document;
use store::{Commit, Condition, Fence, Mutation, Space, Stamp, Store};

use super::Engine;
use crate::{
    error::{Error, Kind, What},
    keys,
    resource::{ByKey, Expected, Resource, encode_resource},
};

impl<S: Store> Engine<S> {
    /// The record at a path.
    pub fn resource_at(&self, path: &[&str]) -> Option<Arc<Resource>> {
        self.inner.resources.held.load().get(keys::resource(path).as_slice()).cloned()
    }

    /// The records directly or further below a path, in the order of their paths.
    pub fn resources_below(&self, path: &[&str]) -> Vec<Arc<Resource>> {
        let prefix = keys::resource(path);
        let held = self.inner.resources.held.load();
        let from = held.range(Bytes::from(prefix.clone())..);
        let below = from.take_while(|(key, _)| key.starts_with(&prefix));
        below.filter(|(key, _)| prefix.len() < key.len()).map(|(_, held)| held.clone()).collect()
    }

    /// How often the records changed since the engine was opened: who keeps what it made of records is
    /// right as long as this number, read before them, stays the same.
    pub fn resource_changes(&self) -> u64 {
        self.inner.resources.changes.load(Ordering::Acquire)
    }

    /// Sets the record at a path.
    pub async fn put_resource(
        &self,
        path: &[&str],
        body: Document,
        expect: Expected,
    ) -> Result<Arc<Resource>, Error> {
        let _one = self.inner.resources.changing.lock().await;
        let held = self.resource_at(path);
        check_expected(held.as_deref(), expect)?;
        let key = Bytes::from(keys::resource(path));
        let birth = held.map(|held| held.birth);
        let path: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
        let made = Arc::new(move |stamp: Stamp| Resource {
            path: path.clone(),
            body: body.clone(),
            stamp: stamp.seq,
            birth: birth.unwrap_or(stamp.seq),
            ts: stamp.at_ms.div_euclid(1000),
        });
        let (make, put) = (Arc::clone(&made), key.clone());
        let commit = Commit::new(Vec::<Condition>::new(), move |stamp| {
            let value = encode_resource(&make(stamp)).into();
            vec![Mutation::Put { space: Space::Catalog, key: put, value }]
        });
        let make = Arc::clone(&made);
        let change = move |held: &mut ByKey, stamp| {
            held.insert(key.clone(), Arc::new(make(stamp)));
        };
        let stamp = self.change_resources(commit, change).await?;
        Ok(Arc::new(made(stamp)))
    }

    /// Removes the record at a path and all below it.
    pub async fn remove_resource(&self, path: &[&str], expect: Expected) -> Result<(), Error> {
        let _one = self.inner.resources.changing.lock().await;
        check_expected(self.resource_at(path).as_deref(), expect)?;
        let prefix = keys::resource(path);
        let held = self.inner.resources.held.load_full();
        let gone: Vec<Bytes> =
            held.keys().filter(|key| key.starts_with(&prefix)).cloned().collect();
        let removed = gone.clone();
        let commit = Commit::new(Vec::<Condition>::new(), move |_| {
            let delete = |key| Mutation::Delete { space: Space::Catalog, key };
            removed.into_iter().map(delete).collect()
        })
        .freeing();
        let change = move |held: &mut ByKey, _| held.retain(|key, _| !gone.contains(key));
        self.change_resources(commit, change).await?;
        Ok(())
    }

    /// Commits a change; what is held in memory changes as it is published, also when nobody waits
    /// for it any more.
    async fn change_resources(
        &self,
        commit: Commit,
        change: impl Fn(&mut ByKey, Stamp) + Send + Sync + 'static,
    ) -> Result<Stamp, Error> {
        let held = Arc::clone(&self.inner.resources.held);
        let changes = Arc::clone(&self.inner.resources.changes);
        let fence = PublishedHook(Box::new(move |stamp| {
            held.rcu(|held| {
                let mut held = ByKey::clone(held);
                change(&mut held, stamp);
                held
            });
            changes.fetch_add(1, Ordering::Release);
        }));
        let stamp = self.commit_one(commit.with_fence(Arc::new(fence))).await?;
        stamp.ok_or_else(|| Error::new(Kind::Conflict, "the record was not changed"))
    }
}

/// A fence that closes nothing; it is called when a commit is visible.
struct PublishedHook(Box<dyn Fn(Stamp) + Send + Sync>);

impl Fence for PublishedHook {
    fn raise(&self) {}

    fn lower(&self, published: Option<Stamp>) {
        if let Some(stamp) = published {
            (self.0)(stamp);
        }
    }
}

/// Fails when what is there is not what the change needs.
fn check_expected(held: Option<&Resource>, expect: Expected) -> Result<(), Error> {
    let refused = match (held, expect) {
        (None, Expected::Absent) | (Some(_), Expected::Present) => return Ok(()),
        (Some(held), Expected::Version(stamp)) if held.stamp == stamp => return Ok(()),
        (Some(_), Expected::Version(_)) => (Kind::Precondition, "the record is another version"),
        (Some(_), Expected::Absent) => (Kind::Exists(What::Document), "the record exists"),
        (None, Expected::Present | Expected::Version(_)) => {
            (Kind::NotFound(What::Document), "the record does not exist")
        }
    };
    Err(Error::new(refused.0, refused.1))
}
