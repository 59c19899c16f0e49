//! Operations on small records ("resources") of the APIs: a change of one or several is a commit,
//! and changes are serialized. The store calls the commit's fence at publication, and the fence
//! updates the cache, so that the cache is correct even if the requesting client has disconnected.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, atomic::Ordering},
};

use bytes::Bytes;
use document::Document;
use parking_lot::Mutex;
use store::{Commit, Condition, Fence, Mutation, Space, Stamp};
use tokio::sync::OwnedMutexGuard;

use super::Engine;
use crate::{
    error::{Error, ErrorSubject, Kind},
    keys,
    resource::{ByKey, Expected, Resource, ResourceChange, encode_resource},
};

impl Engine {
    /// Returns the record at a path.
    pub fn resource_at(&self, path: &[&str]) -> Option<Arc<Resource>> {
        self.inner.resources.held.load().get(keys::resource(path).as_slice()).cloned()
    }

    /// Returns all records below a path, at any depth, in the order of their paths.
    pub fn resources_below(&self, path: &[&str]) -> Vec<Arc<Resource>> {
        let prefix = keys::resource(path);
        let held = self.inner.resources.held.load();
        let found = beginning_with(&held, &prefix);
        found.filter(|(key, _)| prefix.len() < key.len()).map(|(_, held)| held.clone()).collect()
    }

    /// Returns the number of record changes since the engine was opened. Data derived from records
    /// is valid as long as this number, read before the records, is unchanged.
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
        let change = ResourceChange::put(path, body, expect);
        self.change_resources(vec![change]).await?.pop().ok_or_else(unchanged)
    }

    /// Removes the record at a path and all records below it.
    pub async fn remove_resource(&self, path: &[&str], expect: Expected) -> Result<(), Error> {
        self.change_resources(vec![ResourceChange::remove(path, expect)]).await?;
        Ok(())
    }

    /// Changes records atomically: in one commit, or not at all if a stored record is not in the
    /// state that its change requires. Returns the records that were set, in the order of their
    /// paths.
    ///
    /// Fails with [`Kind::Invalid`] if two changes concern the same record, or with the error for
    /// the record in another state.
    pub async fn change_resources(
        &self,
        changes: Vec<ResourceChange>,
    ) -> Result<Vec<Arc<Resource>>, Error> {
        let one = Arc::clone(&self.inner.resources.changing).lock_owned().await;
        let drafts = plan(&self.inner.resources.held.load(), changes)?;
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let frees = drafts.values().all(Option::is_none);
        let changed = Arc::new(OnceLock::new());
        let commit = commit_of(drafts, Arc::clone(&changed));
        let commit = if frees { commit.freeing() } else { commit };
        let fence = Arc::new(self.fence_of(Arc::clone(&changed), one));
        self.commit_one(commit.with_fence(fence)).await?.ok_or_else(unchanged)?;
        let changed = changed.get().ok_or_else(unchanged)?;
        Ok(changed.iter().filter_map(|(_, now)| now.clone()).collect())
    }

    /// Returns the fence of a change's commit. It updates the cache at publication, even if the
    /// caller was cancelled, and holds the lock on changes until then, since the next change reads
    /// the cache.
    fn fence_of(
        &self,
        changed: Arc<OnceLock<ChangedRecords>>,
        one: OwnedMutexGuard<()>,
    ) -> PublishedHook {
        let held = Arc::clone(&self.inner.resources.held);
        let changes = Arc::clone(&self.inner.resources.changes);
        let published = Box::new(move || {
            held.rcu(|held| {
                let mut held = ByKey::clone(held);
                for (key, now) in changed.get().into_iter().flatten() {
                    match now {
                        Some(now) => held.insert(key.clone(), Arc::clone(now)),
                        None => held.remove(key),
                    };
                }
                held
            });
            changes.fetch_add(1, Ordering::Release);
        });
        PublishedHook { published, one: Mutex::new(Some(one)) }
    }
}

/// Changed records by key after a commit; `None` means removed.
type ChangedRecords = Vec<(Bytes, Option<Arc<Resource>>)>;

/// A record to be written, whose stamp is not known yet.
struct Draft {
    path: Vec<String>,
    body: Document,
    /// Creation stamp of the replaced record; `None` if it is new.
    creation_stamp: Option<u64>,
}

impl Draft {
    fn stamped(self, stamp: Stamp) -> Resource {
        Resource {
            path: self.path,
            body: self.body,
            stamp: stamp.seq,
            creation_stamp: self.creation_stamp.unwrap_or(stamp.seq),
            ts: stamp.at_ms.div_euclid(1000),
        }
    }
}

/// Returns the records with this key prefix.
fn beginning_with<'a>(
    held: &'a ByKey,
    prefix: &[u8],
) -> impl Iterator<Item = (&'a Bytes, &'a Arc<Resource>)> {
    let from = held.range(Bytes::copy_from_slice(prefix)..);
    from.take_while(move |(key, _)| key.starts_with(prefix))
}

/// Returns the draft of each key's new record, `None` for a removed one. Fails if one of the
/// changes is not allowed.
fn plan(
    held: &ByKey,
    changes: Vec<ResourceChange>,
) -> Result<BTreeMap<Bytes, Option<Draft>>, Error> {
    let mut drafts = BTreeMap::new();
    for ResourceChange { path, body, expect } in changes {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let key = Bytes::from(keys::resource(&parts));
        let there = held.get(&key).map(Arc::as_ref);
        check_expected(there, expect)?;
        let is_first = match body {
            Some(body) => {
                let creation_stamp = there.map(|there| there.creation_stamp);
                drafts.insert(key, Some(Draft { path, body, creation_stamp })).is_none()
            }
            None => beginning_with(held, &key)
                .all(|(gone, _)| drafts.insert(gone.clone(), None).is_none()),
        };
        if !is_first {
            return Err(Error::new(Kind::Invalid, "a commit changes the same record twice"));
        }
    }
    Ok(drafts)
}

/// Creates the commit of these changes; its closure stores the resulting records in `changed`.
fn commit_of(
    drafts: BTreeMap<Bytes, Option<Draft>>,
    changed: Arc<OnceLock<ChangedRecords>>,
) -> Commit {
    Commit::new(Vec::<Condition>::new(), move |stamp| {
        let now = |draft: Draft| Arc::new(draft.stamped(stamp));
        let drafts = drafts.into_iter().map(|(key, draft)| (key, draft.map(now)));
        let made = changed.get_or_init(|| drafts.collect());
        let mutation = |(key, now): &(Bytes, Option<Arc<Resource>>)| {
            let (space, key) = (Space::Catalog, key.clone());
            match now {
                Some(now) => Mutation::Put { space, key, value: encode_resource(now).into() },
                None => Mutation::Delete { space, key },
            }
        };
        made.iter().map(mutation).collect()
    })
}

/// Returns the error for a refused commit. It never occurs, since commits without conditions are
/// not refused.
fn unchanged() -> Error {
    Error::new(Kind::Conflict, "the record was not changed")
}

/// A fence that blocks no reader; it only calls `published` when the commit becomes visible.
struct PublishedHook {
    published: Box<dyn Fn() + Send + Sync>,
    /// Lock that serializes changes; released when the commit has ended, or when it is dropped
    /// before it was started.
    one: Mutex<Option<OwnedMutexGuard<()>>>,
}

impl Fence for PublishedHook {
    fn raise(&self) {}

    fn lower(&self, published: Option<Stamp>) {
        if published.is_some() {
            (self.published)();
        }
        drop(self.one.lock().take());
    }
}

/// Fails if the stored record does not have the state that the change requires.
fn check_expected(held: Option<&Resource>, expect: Expected) -> Result<(), Error> {
    let refused = match (held, expect) {
        (None, Expected::Absent) | (Some(_), Expected::Present) => return Ok(()),
        (Some(held), Expected::Version(stamp)) if held.stamp == stamp => return Ok(()),
        (Some(_), Expected::Version(_)) => {
            (Kind::Precondition, "the record has a different version")
        }
        (Some(_), Expected::Absent) => {
            (Kind::Exists(ErrorSubject::Document), "the record already exists")
        }
        (None, Expected::Present | Expected::Version(_)) => {
            (Kind::NotFound(ErrorSubject::Document), "the record does not exist")
        }
    };
    Err(Error::new(refused.0, refused.1))
}
