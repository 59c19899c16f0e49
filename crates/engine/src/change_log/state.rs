//! Whether the change log is kept.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicI64, AtomicU64, Ordering::SeqCst},
};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use store::ClusterTime;

use super::{ChangeScope, ChangeWait, wake::Wakes};
use crate::{
    catalog::Collection,
    keys,
    names::{Model, Namespace},
};

/// Key of the catalog record of the log's collection. A write of a document has the condition that
/// this record is unchanged since its view: a writer that did not see that the log is kept is
/// refused once it is, and tries again.
static LOG_RECORD_KEY: LazyLock<Bytes> =
    LazyLock::new(|| keys::record(Model::Changes, &log_name()));

/// Returns the key of the catalog record of the log's collection.
pub(crate) fn log_record_key() -> Bytes {
    LOG_RECORD_KEY.clone()
}

/// Returns the name of the collection of change records, which has a model of its own.
pub(crate) fn log_name() -> Namespace {
    Namespace::new("changes", "changes")
}

/// The change log while it is kept.
#[derive(Clone, Debug)]
pub(crate) struct KeptLog {
    pub(crate) log: Arc<ChangeLog>,
    /// The collection of the records.
    pub(crate) records: Arc<Collection>,
}

/// The change log of an engine.
#[derive(Debug)]
pub(crate) struct ChangeLog {
    /// The collection of the records; `None` while no log is kept.
    records: ArcSwapOption<Collection>,
    /// Size beyond which the oldest records are dropped.
    max_bytes: u64,
    /// Second in which all waiting readers were last woken because the log was too large.
    all_woken_s: AtomicI64,
    /// Time of the newest commit with a record, or a later one, as a timestamp.
    last_time: AtomicU64,
    wakes: Wakes,
}

impl ChangeLog {
    /// Creates the state of a log that is not kept yet, and whose oldest records are dropped when
    /// it is larger than `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            records: ArcSwapOption::empty(),
            max_bytes,
            all_woken_s: AtomicI64::new(i64::MIN),
            last_time: AtomicU64::new(0),
            wakes: Wakes::default(),
        }
    }

    /// Returns the size in bytes beyond which the oldest records are dropped.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Returns the second given with the last call of [`wake_all_in`](Self::wake_all_in).
    pub(crate) fn all_woken_s(&self) -> i64 {
        self.all_woken_s.load(SeqCst)
    }

    /// Wakes all readers in this second, so that readers that keep up have no older position.
    pub(crate) fn wake_all_in(&self, second: i64) {
        self.all_woken_s.store(second, SeqCst);
        self.wake_all();
    }

    /// Returns the collection of the records; `None` while no log is kept.
    pub(crate) fn records(&self) -> Option<Arc<Collection>> {
        self.records.load_full()
    }

    /// Returns the log with its records; `None` while no log is kept.
    pub(crate) fn kept(self: &Arc<Self>) -> Option<KeptLog> {
        Some(KeptLog { log: Arc::clone(self), records: self.records()? })
    }

    /// Sets the collection of the records.
    pub(crate) fn set_records(&self, records: Option<Arc<Collection>>) {
        self.records.store(records);
    }

    /// Registers a reader that is about to read.
    pub(crate) fn wait_for(&self, scope: &ChangeScope) -> ChangeWait<'_> {
        self.wakes.wait_for(scope)
    }

    /// Records a change of a collection that a commit makes at this time.
    pub(crate) fn record_change(&self, seq: u64, time: ClusterTime, namespace: &Namespace) {
        self.record_time(time);
        self.wakes.record_change(seq, namespace);
    }

    /// Records that a commit of this time may have a record.
    pub(crate) fn record_time(&self, time: ClusterTime) {
        self.last_time.fetch_max(time.timestamp(), SeqCst);
    }

    /// Returns a time that no commit with a record exceeds.
    pub(crate) fn last_time(&self) -> ClusterTime {
        ClusterTime::from_timestamp(self.last_time.load(SeqCst))
    }

    /// Wakes the readers of visible changes, given the newest visible commit.
    pub(crate) fn wake_up_to(&self, published: u64) {
        self.wakes.wake_up_to(published);
    }

    pub(crate) fn wake_all(&self) {
        self.wakes.wake_all();
    }
}
