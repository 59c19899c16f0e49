//! Feature switches that can be changed at run time, stored in a small file of the data directory,
//! or, in a cluster, among its data. A command-line flag overrides the stored value. The effect of
//! a switch is implemented in the APIs, which read its value.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use document::{Document, Value, doc};
use engine::{Engine, Expected, Space};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use store::{Snapshot, Stamp};

use crate::{atomic_file, data_dir::Refused};

/// Name of the file in the data directory; JSON, see [`Stored`].
const FILE: &str = "features.json";
/// Version of the file's format; other versions are refused.
const VERSION: u32 = 1;

/// The source of the current value of a switch, for the portal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The default, because there is neither a flag nor a stored value.
    Default,
    /// A command-line flag of the running server.
    Flag,
    /// A change at run time, in this run or an earlier one.
    Stored,
}

/// Content of the file. Unknown fields are refused: a newer version wrote them.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    per_document_ttl: bool,
}

/// The switches of a running server. The APIs share the two flags and read them without a lock;
/// changing one takes the lock of `source`.
#[derive(Debug)]
pub struct Features {
    /// Whether a MongoDB document's own `ttl` field counts.
    per_document_ttl: Arc<AtomicBool>,
    /// Whether dump and restore tools read and write `_ts`, the time of a document's last write in
    /// seconds. This switch is not stored.
    carry_timestamps: Arc<AtomicBool>,
    /// Source of `per_document_ttl`. Its lock also serializes writes of the file.
    source: Mutex<Source>,
    storage: SwitchStorage,
}

/// Place in which the feature switches are stored.
#[derive(Debug)]
enum SwitchStorage {
    Nowhere,
    /// The switches are stored in a file of the data directory.
    Folder(PathBuf),
    /// In the cluster's data, so that the next owner reads them. The lock is held from the commit
    /// until the switch changes, so that after concurrent changes the stored value equals the
    /// switch.
    Cluster(Engine, tokio::sync::Mutex<()>),
}

/// Path of the switches among the engine's small records. No API uses a path that starts like this.
const RECORD: [&str; 2] = ["_ebb", "features"];

impl Features {
    /// Returns the switches of a cluster: the flag if given, else the stored value, else on.
    pub fn of_cluster(engine: &Engine, flag: Option<bool>) -> Arc<Self> {
        let stored = engine.resource_at(&RECORD);
        let stored = stored.and_then(|record| switch_of(&record.body));
        Self::made(
            flag,
            stored,
            SwitchStorage::Cluster(engine.clone(), tokio::sync::Mutex::default()),
        )
    }

    /// Returns the switches: the flag if given, else the stored value, else on. Without a folder
    /// nothing is stored. A damaged file is refused even with a flag, because the next start
    /// without it would read the file.
    pub fn open(folder: Option<&Path>, flag: Option<bool>) -> Result<Arc<Self>, Refused> {
        let stored = match folder {
            Some(folder) => read_switch(&folder.join(FILE))?,
            None => None,
        };
        let storage = folder
            .map_or(SwitchStorage::Nowhere, |folder| SwitchStorage::Folder(folder.to_owned()));
        Ok(Self::made(flag, stored, storage))
    }

    /// Returns the stored value of `per_document_ttl`; `None` if there is no file.
    pub fn stored_in(folder: &Path) -> Result<Option<bool>, Refused> {
        read_switch(&folder.join(FILE))
    }

    /// Returns the stored switches, encoded anew; `None` if there is no file.
    pub fn stored_bytes(folder: &Path) -> Result<Option<Vec<u8>>, Refused> {
        let on = read_switch(&folder.join(FILE))?;
        Ok(on.and_then(|on| {
            serde_json::to_vec(&Stored { version: VERSION, per_document_ttl: on }).ok()
        }))
    }

    /// Parses the content of the file of stored switches.
    pub fn parse_stored(bytes: &[u8]) -> Result<bool, String> {
        let stored: Stored = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match stored.version {
            VERSION => Ok(stored.per_document_ttl),
            other => Err(format!("they were written by another version ({other})")),
        }
    }

    /// Writes the file of switches into a directory that no server has open.
    pub fn store_in(folder: &Path, on: bool) -> io::Result<()> {
        let stored = Stored { version: VERSION, per_document_ttl: on };
        let text = serde_json::to_vec(&stored).map_err(io::Error::other)?;
        atomic_file::replace_atomically(folder, FILE, &text)
    }

    /// Returns key and value of the record that stores the switch `per_document_ttl` in a cluster's
    /// catalog; the value is `None` if `on` is.
    pub fn cluster_row(on: Option<bool>, stamp: Stamp) -> (Bytes, Option<Bytes>) {
        let body = |on: bool| doc! { "per_document_ttl": on };
        let value = on.map(|on| engine::stored_resource(&RECORD, body(on), stamp));
        (engine::stored_resource_key(&RECORD), value)
    }

    /// Returns the value of `per_document_ttl` that a cluster's catalog stores; `None` if the
    /// switch was never changed.
    pub async fn of_catalog(snapshot: &dyn Snapshot) -> Result<Option<bool>, engine::Error> {
        let key = engine::stored_resource_key(&RECORD);
        let Some(value) = snapshot.get(Space::Catalog, &key).await? else { return Ok(None) };
        Ok(switch_of(&engine::read_stored_resource(&value)?.body))
    }

    fn made(flag: Option<bool>, stored: Option<bool>, storage: SwitchStorage) -> Arc<Self> {
        let (on, source) = match (flag, stored) {
            (Some(on), _) => (on, Source::Flag),
            (None, Some(on)) => (on, Source::Stored),
            (None, None) => (true, Source::Default),
        };
        Arc::new(Self {
            per_document_ttl: Arc::new(AtomicBool::new(on)),
            carry_timestamps: Arc::default(),
            source: Mutex::new(source),
            storage,
        })
    }

    /// Returns the shared switch whether a document's own `ttl` is interpreted.
    pub fn per_document_ttl(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.per_document_ttl)
    }

    /// Returns the shared switch `carry_timestamps`: whether dump and restore tools read and write
    /// `_ts`, the time of a document's last write in seconds. It is off at every start, since it is
    /// meant for the duration of a dump or a restore.
    pub fn carry_timestamps(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.carry_timestamps)
    }

    /// Sets `carry_timestamps`, logging only changes.
    pub fn set_carrying(&self, on: bool) {
        if self.carry_timestamps.swap(on, Ordering::Relaxed) == on {
            return;
        }
        if on {
            tracing::warn!(
                "documents of the MongoDB API carry '_ts': dumps include it, and inserts may set it"
            );
        } else {
            tracing::info!("documents of the MongoDB API no longer carry '_ts'");
        }
    }

    /// Returns the value of `per_document_ttl` and the source that set it.
    pub fn state(&self) -> (bool, Source) {
        let source = self.source.lock();
        (self.per_document_ttl.load(Ordering::Relaxed), *source)
    }

    /// Sets `per_document_ttl`; durable and in effect on return. Runs on a blocking thread and to
    /// completion even if the client disconnects. On failure the switch is unchanged.
    pub async fn turn_per_document_ttl(self: &Arc<Self>, on: bool) -> io::Result<()> {
        if let SwitchStorage::Cluster(engine, turning) = &self.storage {
            let _one = turning.lock().await;
            return self.turn_in_cluster(engine, on).await;
        }
        let features = Arc::clone(self);
        let turned = tokio::task::spawn_blocking(move || features.turn_now(on)).await;
        turned.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Sets `per_document_ttl` in the cluster's data and in this process; the caller holds the lock
    /// of `storage`.
    async fn turn_in_cluster(&self, engine: &Engine, on: bool) -> io::Result<()> {
        let body = doc! { "per_document_ttl": on };
        let there = engine.resource_at(&RECORD).is_some();
        let expected = if there { Expected::Present } else { Expected::Absent };
        engine.put_resource(&RECORD, body, expected).await.map_err(io::Error::other)?;
        self.per_document_ttl.store(on, Ordering::Relaxed);
        *self.source.lock() = Source::Stored;
        Ok(())
    }

    /// Sets `per_document_ttl`; blocks the calling thread. The file is written first: a value in
    /// effect must never be unknown to the next start.
    fn turn_now(&self, on: bool) -> io::Result<()> {
        // Held while the file is written, so that concurrent changes leave the same value in the
        // file and in the switch.
        let mut source = self.source.lock();
        if let SwitchStorage::Folder(folder) = &self.storage {
            Self::store_in(folder, on)?;
        }
        // Requests use the new value from here on; one in progress may have read the old value.
        self.per_document_ttl.store(on, Ordering::Relaxed);
        *source = Source::Stored;
        Ok(())
    }
}

/// Reads `per_document_ttl` from the body of a cluster's record of switches.
fn switch_of(body: &Document) -> Option<bool> {
    match body.get("per_document_ttl") {
        Some(Value::Bool(on)) => Some(*on),
        _ => None,
    }
}

/// Reads `per_document_ttl` from the file of switches; `None` if the file is missing. Every other
/// failure refuses the start, since a guess could make documents expire wrongly.
fn read_switch(file: &Path) -> Result<Option<bool>, Refused> {
    let refused = |why: String| {
        Refused::Unusable(format!(
            "{} {why}; remove it to start with all features on",
            file.display()
        ))
    };
    // Missing is the usual case; any other read error must not count as "on".
    let text = match fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(format!("cannot be read: {error}"))),
    };
    let stored: Stored =
        serde_json::from_slice(&text).map_err(|error| refused(format!("is damaged: {error}")))?;
    if stored.version != VERSION {
        return Err(refused(format!("was written by another version ({})", stored.version)));
    }
    Ok(Some(stored.per_document_ttl))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_turned_is_kept_and_a_flag_goes_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let open = |flag| Features::open(Some(folder.path()), flag).unwrap();
        assert_eq!(open(None).state(), (true, Source::Default));
        assert_eq!(open(Some(true)).state(), (true, Source::Flag));
        let features = open(Some(true));
        features.turn_now(false).unwrap();
        assert_eq!(features.state(), (false, Source::Stored));
        assert!(!features.per_document_ttl().load(Ordering::Relaxed));
        for (flag, want) in [
            (None, (false, Source::Stored)),
            (Some(true), (true, Source::Flag)),
            (Some(false), (false, Source::Flag)),
            (None, (false, Source::Stored)),
        ] {
            assert_eq!(open(flag).state(), want, "{flag:?}");
        }
        let unkept = Features::open(None, None).unwrap();
        unkept.turn_now(false).unwrap();
        assert_eq!(unkept.state(), (false, Source::Stored));
        assert_eq!(Features::open(None, None).unwrap().state(), (true, Source::Default));
    }

    #[test]
    fn a_switch_that_cannot_be_kept_is_not_turned() {
        let folder = tempfile::tempdir().unwrap();
        let features = Features::open(Some(folder.path()), None).unwrap();
        folder.close().unwrap();
        features.turn_now(false).unwrap_err();
        assert_eq!(features.state(), (true, Source::Default));
    }

    #[test]
    fn files_that_say_something_else_are_refused() {
        for (text, good) in [
            (r#"{"version":1,"per_document_ttl":false}"#, true),
            (r#"{"version":2,"per_document_ttl":false}"#, false),
            (r#"{"version":1,"per_document_ttl":false,"more":1}"#, false),
            (r#"{"version":1,"per_document_ttl":"off"}"#, false),
            (r#"{"version":1}"#, false),
            ("", false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(FILE), text).unwrap();
            // A damaged file is refused even with a flag: a later start without the flag would read
            // it.
            for flag in [None, Some(true)] {
                let opened = Features::open(Some(folder.path()), flag);
                assert_eq!(opened.is_ok(), good, "{text}");
            }
        }
    }
}
