//! Starts the change log.
//!
//! Two commits are needed, because a writer may have looked for the log before the first one:
//!
//! ```text
//!  creation of the log's collection      second commit: the log is complete after it
//!  ──────●───────────────────────────────────●──────────▶
//!        └ later views show the log          └ a writer that has not seen the log has a view from
//!                                              before; its commit requires that the record of
//!                                              the log is unchanged, and is refused
//! ```

use std::sync::Arc;

use document::{DocRef, Value, ValueRef};
use expiry::DefaultTtl;
use store::{ClusterTime, Stamp};

use crate::{
    catalog::{Collection, CollectionState, CounterState, Record},
    change_log::{ChangeScope, ChangeWait, KeptLog, log_name},
    engine::{Engine, RecordApply, RecordEdit},
    error::{Error, ErrorSubject, Kind},
    expire::apply_default,
    names::Model,
};

/// Option of the log's record: the time after which the log has all changes.
const SINCE: &str = "since";

/// Returns the time after which the log is complete; `None` if it is not kept yet.
fn start_of(record: &Record) -> Option<ClusterTime> {
    match DocRef::Tree(&record.options).get(SINCE) {
        Some(ValueRef::Timestamp(since)) => Some(ClusterTime::from_timestamp(since)),
        _ => None,
    }
}

impl Engine {
    /// Keeps the change log from now on, and its records for this number of seconds. Every commit
    /// that is ordered after the call is recorded, and every expiration after it is recorded, also
    /// after restarts.
    pub async fn keep_changes(&self, retention_s: i64) -> Result<(), Error> {
        let retention = DefaultTtl::Seconds(retention_s.max(1));
        let kept = self.ensure_log(retention).await?;
        // From here on views show the log; views from before are older than the next commit.
        self.inner.changes().set_records(Some(Arc::clone(&kept)));
        if kept.state().record.settings.default != retention {
            self.set_default_ttl(&kept, retention).await?;
        }
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            if start_of(&state.record).is_some() {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| {
                let since = ClusterTime::of_commit(stamp).timestamp();
                record.options.insert(SINCE, Value::Timestamp(since));
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        self.change_record(&kept, &*edit).await?;
        self.prepare_all_telling().await
    }

    /// Returns the collection of the log, creating it if missing.
    async fn ensure_log(&self, retention: DefaultTtl) -> Result<Arc<Collection>, Error> {
        let floors = self.inner.rules().floors();
        loop {
            if let Some(kept) = self.collection(Model::Changes, &log_name()) {
                return Ok(kept);
            }
            let fill = move |record: &mut Record, stamp: Stamp| {
                apply_default(record, retention, stamp, floors);
                // The collection is empty, so the counters are complete.
                record.counters = CounterState::Ready(stamp.seq);
            };
            match self.create_with(Model::Changes, &log_name(), Arc::new(fill)).await {
                Ok(kept) => return Ok(kept),
                Err(Error { kind: Kind::Exists(ErrorSubject::Collection(_)), .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Uses the log that an earlier run has kept. Call it when the collections were read from the
    /// store.
    pub(crate) fn resume_changes(&self) {
        let kept = self.collection(Model::Changes, &log_name());
        let kept = kept.filter(|kept| start_of(&kept.state().record).is_some());
        let log = self.inner.changes();
        // Anything may have been recorded up to the last commit of the earlier run.
        log.record_time(self.cluster_time());
        log.set_records(kept);
        log.wake_all();
    }

    /// Returns the change log; `None` while it is not kept.
    pub(crate) fn kept_log(&self) -> Option<KeptLog> {
        self.inner.changes().kept()
    }

    /// Returns the time after which the change log has all changes; `None` if no log is kept.
    pub fn changes_since(&self) -> Option<ClusterTime> {
        start_of(&self.inner.changes().records()?.state().record)
    }

    /// Registers a reader of the change log that is about to read. If it finds nothing, it waits
    /// with [`ChangeWait::woken`] and misses no change.
    pub fn wait_for_changes(&self, scope: &ChangeScope) -> ChangeWait<'_> {
        self.inner.changes().wait_for(scope)
    }
}
