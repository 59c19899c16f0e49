//! Small records ("resources") that an API stores in addition to its collections, by path:
//! databases, users, scripts. A change of one or several is a commit; all are cached in memory,
//! since there are few and every request needs some.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use document::{DocRef, Document, Value, doc, validate};
use store::{KeyRange, Stamp};

use crate::{
    error::Error,
    keys,
    view::{Pages, Storage},
};

/// A small record that an API stores, such as a user or a database.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Path that identifies the record.
    pub path: Vec<String>,
    /// Content, defined by the API.
    pub body: Document,
    /// Stamp of the resource's last change, which is its version.
    pub stamp: u64,
    /// Stamp of the resource's creation.
    pub creation_stamp: u64,
    /// Second of the resource's last change.
    pub ts: i64,
}

/// The state of the stored record that a change requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No record with the key exists.
    Absent,
    /// A record exists, in any version.
    Present,
    /// The record has the version with this stamp.
    Version(u64),
}

/// A change of one record, possibly part of an atomic set.
#[derive(Clone, Debug)]
pub struct ResourceChange {
    pub(crate) path: Vec<String>,
    /// New content; `None` removes the record and all records below its path.
    pub(crate) body: Option<Document>,
    pub(crate) expect: Expected,
}

impl ResourceChange {
    /// Creates a change that sets the record at a path.
    pub fn put(path: &[&str], body: Document, expect: Expected) -> Self {
        Self { path: owned_path(path), body: Some(body), expect }
    }

    /// Creates a change that removes the record at a path and all below it.
    pub fn remove(path: &[&str], expect: Expected) -> Self {
        Self { path: owned_path(path), body: None, expect }
    }
}

fn owned_path(path: &[&str]) -> Vec<String> {
    path.iter().map(|part| (*part).to_owned()).collect()
}

/// Records by their catalog keys, which sort by path.
pub(crate) type ByKey = BTreeMap<Bytes, Arc<Resource>>;

/// The records of the APIs, all of which are held in memory as last committed.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    pub(crate) held: Arc<ArcSwap<ByKey>>,
    /// Serializes changes: held until a change's commit is published or refused.
    pub(crate) changing: Arc<tokio::sync::Mutex<()>>,
    /// Number of times that the records in memory were replaced; readers compare it to detect
    /// changes.
    pub(crate) changes: Arc<AtomicU64>,
}

impl Resources {
    pub(crate) async fn open(store: &Storage) -> Result<Self, Error> {
        let held = Arc::new(ArcSwap::from_pointee(Self::stored_resources(store).await?));
        Ok(Self { held, changing: Arc::default(), changes: Arc::default() })
    }

    pub(crate) async fn reload(&self, store: &Storage) -> Result<(), Error> {
        let _one = self.changing.lock().await;
        self.held.store(Arc::new(Self::stored_resources(store).await?));
        self.changes.fetch_add(1, Ordering::Release);
        Ok(())
    }

    async fn stored_resources(store: &Storage) -> Result<ByKey, Error> {
        let system = store.system();
        let mut held = ByKey::new();
        let mut pages = Pages::of(KeyRange::with_prefix(&keys::resource(&[])));
        while let Some(page) = system.next_catalog(&mut pages).await? {
            for (key, value) in page.rows {
                held.insert(key, Arc::new(decode_resource(&value)?));
            }
        }
        Ok(held)
    }
}

/// Encodes a record for a store on which no engine is open.
pub fn stored_resource(path: &[&str], body: Document, stamp: Stamp) -> Bytes {
    let resource = Resource {
        path: owned_path(path),
        body,
        stamp: stamp.seq,
        creation_stamp: stamp.seq,
        ts: stamp.at_ms.div_euclid(1000),
    };
    encode_resource(&resource).into()
}

/// Returns a record's key for a store on which no engine is open.
pub fn stored_resource_key(path: &[&str]) -> Bytes {
    keys::resource(path).into()
}

/// Decodes the stored value of a resource record.
pub fn read_stored_resource(value: &[u8]) -> Result<Resource, Error> {
    decode_resource(value)
}

/// Format version of each record; a newer one is rejected.
const FORMAT: i64 = 1;

/// Encodes a record as BSON.
pub(crate) fn encode_resource(resource: &Resource) -> Vec<u8> {
    let int = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let tree = doc! {
        "format": FORMAT,
        "path": Value::Array(resource.path.iter().map(|part| Value::String(part.clone())).collect()),
        "stamp": int(resource.stamp),
        "birth": int(resource.creation_stamp),
        "ts": resource.ts,
        "body": resource.body.clone(),
    };
    tree.to_buf().into_bytes().into()
}

/// Decodes a record; rejects unknown fields.
fn decode_resource(bytes: &[u8]) -> Result<Resource, Error> {
    let damaged = || Error::corrupt("an API record is damaged");
    validate(bytes).map_err(|_| damaged())?;
    let mut tree = DocRef::Raw(bytes).to_tree();
    let mut take = |name: &str| tree.remove(name).ok_or_else(damaged);
    let int = |value: Value| match value {
        Value::Int64(value) => Ok(value),
        _ => Err(damaged()),
    };
    let stamp = |value: Value| u64::try_from(int(value)?).map_err(|_| damaged());
    if int(take("format")?)? != FORMAT {
        return Err(Error::corrupt("an API record has the format of a newer version"));
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
        creation_stamp: stamp(take("birth")?)?,
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
            creation_stamp: 7,
            ts: -1,
        };
        let bytes = encode_resource(&resource);
        assert_eq!(decode_resource(&bytes).unwrap(), resource);
        for end in 0..bytes.len() {
            decode_resource(&bytes[..end]).unwrap_err();
        }
        let mut tree = DocRef::Raw(&bytes).to_tree();
        tree.push("later", 1);
        decode_resource(tree.to_buf().bytes()).unwrap_err();
    }
}
