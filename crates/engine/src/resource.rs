//! Small records that a door keeps beside its collections, by path: databases, users, scripts.
//! Each change is a commit; all of them are held in memory.

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::ArcSwap;
use bytes::Bytes;
use document::{DocRef, Document, Value, doc, validate};
use store::{Condition, Fence, Mutation, Range, Space, Stamp, Store, Unit};

use crate::{
    engine::Engine,
    error::{Error, Kind, What},
    keys,
    view::{Pages, Storage},
};

/// A small record.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Where it is.
    pub path: Vec<String>,
    /// What the door keeps.
    pub body: Document,
    /// Stamp of its last change: its version.
    pub stamp: u64,
    /// Stamp of its creation.
    pub birth: u64,
    /// Second of its last change.
    pub ts: i64,
}

/// What has to be there for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing.
    Absent,
    /// Some version.
    Present,
    /// The version with this stamp.
    Version(u64),
}

type ByKey = BTreeMap<Bytes, Arc<Resource>>;

/// All of them, as last committed.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    held: Arc<ArcSwap<ByKey>>,
    /// Changes are made one after the other.
    changing: tokio::sync::Mutex<()>,
}

impl Resources {
    /// Reads what is stored.
    pub(crate) async fn open<S: Store>(store: &Storage<S>) -> Result<Self, Error> {
        let held = Arc::new(ArcSwap::from_pointee(Self::stored(store).await?));
        Ok(Self { held, changing: tokio::sync::Mutex::default() })
    }

    /// Reads again what is stored.
    pub(crate) async fn reload<S: Store>(&self, store: &Storage<S>) -> Result<(), Error> {
        let _one = self.changing.lock().await;
        self.held.store(Arc::new(Self::stored(store).await?));
        Ok(())
    }

    async fn stored<S: Store>(store: &Storage<S>) -> Result<ByKey, Error> {
        let system = store.system();
        let mut held = ByKey::new();
        let mut pages = Pages::of(Range::prefix(&keys::resource(&[])));
        while let Some(page) = system.next_catalog(&mut pages).await? {
            for (key, value) in page.rows {
                held.insert(key, Arc::new(decode(&value)?));
            }
        }
        Ok(held)
    }
}

impl<S: Store> Engine<S> {
    /// The record at a path.
    pub fn resource(&self, path: &[&str]) -> Option<Arc<Resource>> {
        self.inner.resources.held.load().get(keys::resource(path).as_slice()).cloned()
    }

    /// The records directly or further below a path, in the order of their paths.
    pub fn resources(&self, path: &[&str]) -> Vec<Arc<Resource>> {
        let prefix = keys::resource(path);
        let held = self.inner.resources.held.load();
        let from = held.range(Bytes::from(prefix.clone())..);
        let below = from.take_while(|(key, _)| key.starts_with(&prefix));
        below.filter(|(key, _)| prefix.len() < key.len()).map(|(_, held)| held.clone()).collect()
    }

    /// Sets the record at a path.
    pub async fn put_resource(
        &self,
        path: &[&str],
        body: Document,
        expect: Expect,
    ) -> Result<Arc<Resource>, Error> {
        let _one = self.inner.resources.changing.lock().await;
        let held = self.resource(path);
        check(held.as_deref(), expect)?;
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
        let unit = Unit::new(Vec::<Condition>::new(), move |stamp| {
            let value = encode(&make(stamp)).into();
            vec![Mutation::Put { space: Space::Catalog, key: put, value }]
        });
        let make = Arc::clone(&made);
        let change = move |held: &mut ByKey, stamp| {
            held.insert(key.clone(), Arc::new(make(stamp)));
        };
        let stamp = self.change_resources(unit, change).await?;
        Ok(Arc::new(made(stamp)))
    }

    /// Removes the record at a path and all below it.
    pub async fn remove_resource(&self, path: &[&str], expect: Expect) -> Result<(), Error> {
        let _one = self.inner.resources.changing.lock().await;
        check(self.resource(path).as_deref(), expect)?;
        let prefix = keys::resource(path);
        let held = self.inner.resources.held.load_full();
        let gone: Vec<Bytes> =
            held.keys().filter(|key| key.starts_with(&prefix)).cloned().collect();
        let removed = gone.clone();
        let unit = Unit::new(Vec::<Condition>::new(), move |_| {
            let delete = |key| Mutation::Delete { space: Space::Catalog, key };
            removed.into_iter().map(delete).collect()
        })
        .freeing();
        let change = move |held: &mut ByKey, _| held.retain(|key, _| !gone.contains(key));
        self.change_resources(unit, change).await?;
        Ok(())
    }

    /// Commits a change; what is held in memory changes as it is published, also when nobody waits
    /// for it any more.
    async fn change_resources(
        &self,
        unit: Unit,
        change: impl Fn(&mut ByKey, Stamp) + Send + Sync + 'static,
    ) -> Result<Stamp, Error> {
        let held = Arc::clone(&self.inner.resources.held);
        let fence = Published(Box::new(move |stamp| {
            held.rcu(|held| {
                let mut held = ByKey::clone(held);
                change(&mut held, stamp);
                held
            });
        }));
        let stamp = self.commit_one(unit.with_fence(Arc::new(fence))).await?;
        stamp.ok_or_else(|| Error::new(Kind::Conflict, "the record was not changed"))
    }
}

/// A fence that closes nothing; it tells that a commit is visible.
struct Published(Box<dyn Fn(Stamp) + Send + Sync>);

impl Fence for Published {
    fn raise(&self) {}

    fn lower(&self, published: Option<Stamp>) {
        if let Some(stamp) = published {
            (self.0)(stamp);
        }
    }
}

fn check(held: Option<&Resource>, expect: Expect) -> Result<(), Error> {
    let refused = match (held, expect) {
        (None, Expect::Absent) | (Some(_), Expect::Present) => return Ok(()),
        (Some(held), Expect::Version(stamp)) if held.stamp == stamp => return Ok(()),
        (Some(_), Expect::Version(_)) => (Kind::Precondition, "the record is another version"),
        (Some(_), Expect::Absent) => (Kind::Exists(What::Document), "the record exists"),
        (None, Expect::Present | Expect::Version(_)) => {
            (Kind::NotFound(What::Document), "the record does not exist")
        }
    };
    Err(Error::new(refused.0, refused.1))
}

const FORMAT: i64 = 1;

fn encode(resource: &Resource) -> Vec<u8> {
    let int = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let tree = doc! {
        "format": FORMAT,
        "path": Value::Array(resource.path.iter().map(|part| Value::String(part.clone())).collect()),
        "stamp": int(resource.stamp),
        "birth": int(resource.birth),
        "ts": resource.ts,
        "body": resource.body.clone(),
    };
    tree.to_buf().into_bytes().into()
}

fn decode(bytes: &[u8]) -> Result<Resource, Error> {
    let damaged = || Error::corrupt("a small record of a door is damaged");
    validate(bytes).map_err(|_| damaged())?;
    let mut tree = DocRef::Raw(bytes).to_tree();
    let mut take = |name: &str| tree.remove(name).ok_or_else(damaged);
    let int = |value: Value| match value {
        Value::Int64(value) => Ok(value),
        _ => Err(damaged()),
    };
    let stamp = |value: Value| u64::try_from(int(value)?).map_err(|_| damaged());
    if int(take("format")?)? != FORMAT {
        return Err(Error::corrupt("a small record of a door has a format of a newer version"));
    }
    let Value::Array(path) = take("path")? else { return Err(damaged()) };
    let part = |part| match part {
        Value::String(part) => Ok(part),
        _ => Err(damaged()),
    };
    let Value::Document(body) = take("body")? else { return Err(damaged()) };
    let resource = Resource {
        path: path.into_iter().map(part).collect::<Result<_, _>>()?,
        body,
        stamp: stamp(take("stamp")?)?,
        birth: stamp(take("birth")?)?,
        ts: int(take("ts")?)?,
    };
    if tree.is_empty() { Ok(resource) } else { Err(damaged()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip_and_damaged_ones_are_refused() {
        let resource = Resource {
            path: vec!["db".into(), "sales".into()],
            body: doc! { "a": 1 },
            stamp: 9,
            birth: 7,
            ts: -1,
        };
        let bytes = encode(&resource);
        assert_eq!(decode(&bytes).unwrap(), resource);
        for end in 0..bytes.len() {
            decode(&bytes[..end]).unwrap_err();
        }
        let mut tree = DocRef::Raw(&bytes).to_tree();
        tree.push("later", 1);
        decode(tree.to_buf().bytes()).unwrap_err();
    }
}
