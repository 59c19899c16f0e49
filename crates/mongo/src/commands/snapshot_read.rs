//! Reads with read concern `snapshot` outside of transactions.
//!
//! ```text
//! {find: "c", readConcern: {level: "snapshot"}}
//! => {cursor: {.., atClusterTime: T}, ok: 1}
//! {find: "d", readConcern: {level: "snapshot", atClusterTime: T}}    the same instant
//! ```
//!
//! A read without a time gets a snapshot of the newest commits, whose time the reply names. Reads at
//! that time see the documents live at its instant while the snapshot is kept; later ones fail with 239.

use std::sync::Arc;

use document::{ArrayRef, DocBuf};
use engine::{ClusterTime, snapshot_too_old};

use super::table::Run;
use crate::{
    call::Call,
    errors::{Error, InvalidOptions, Result, SnapshotUnavailable},
    limits::MAX_SNAPSHOT_ATTEMPTS,
    parsers::{
        concern::future_time,
        read_level::{ReadLevel, read_level},
    },
    snapshot_table::{Keeping, KeptSnapshot},
};

/// Stages that report on the server as it is now.
const LOCAL_STAGES: [&str; 6] = [
    "$collStats",
    "$currentOp",
    "$indexStats",
    "$listLocalSessions",
    "$listSessions",
    "$planCacheStats",
];

/// Runs a command at a snapshot: that of the time `at`, or a new one.
///
/// Fails with 239 if the snapshot of the time is not kept, and 72 if the time is in the future.
pub(super) async fn run_at_snapshot(
    call: &Call<'_>,
    at: Option<ClusterTime>,
    run: Run,
) -> Result<DocBuf> {
    let kept = match at.and_then(|at| call.api.snapshots.find(at)) {
        Some(kept) => kept,
        None => open(call, at).await?,
    };
    let operation = Arc::clone(&call.operation);
    run(&Call { snapshot: Some(&*kept), operation, ..*call }).await
}

/// Opens a snapshot of the newest commits. With `at` it must be the snapshot of that time.
async fn open(call: &Call<'_>, at: Option<ClusterTime>) -> Result<Arc<KeptSnapshot>> {
    let engine = &call.api.engine;
    for _ in 0..MAX_SNAPSHOT_ATTEMPTS {
        let snapshot = engine.open_historical(call.api.settings.memory.share()).await?;
        let new = KeptSnapshot::new(engine, snapshot, clock::monotonic_time());
        match at {
            Some(at) if new.time < at => return Err(future_time("atClusterTime", at, new.time)),
            Some(at) if at < new.time => return Err(snapshot_too_old(at).into()),
            _ => {}
        }
        if let Keeping::Kept(kept, removed) = call.api.snapshots.keep(new) {
            removed.iter().for_each(|removed| call.api.close_snapshot(removed));
            return Ok(kept);
        }
    }
    let message = "commits were published too fast to open a snapshot; please retry the operation";
    Err(Error::new(SnapshotUnavailable, message))
}

/// Fails with 72 if a stage cannot run at the read level of the command: streams require
/// `majority`, and stages that report on the server or write cannot run at a snapshot.
pub(super) fn check_stage_levels(call: &Call<'_>, pipeline: ArrayRef<'_>) -> Result<()> {
    let level = read_level(call.body);
    for stage in pipeline.iter() {
        let Some((name, _)) = stage.as_document().and_then(|stage| stage.iter().next()) else {
            continue;
        };
        let needed = match (name, level) {
            ("$changeStream", ReadLevel::Other(_) | ReadLevel::Snapshot(_)) => "majority",
            (name, ReadLevel::Snapshot(_)) if LOCAL_STAGES.contains(&name) => "local",
            ("$out" | "$merge", ReadLevel::Snapshot(_)) => {
                let message = format!("{name} cannot be used with a 'snapshot' read concern level");
                return Err(Error::new(InvalidOptions, message));
            }
            _ => continue,
        };
        let message = format!(
            "Aggregation stage {name} cannot run with a readConcern other than '{needed}', or in a \
             multi-document transaction. Current readConcern: {}",
            level.name()
        );
        return Err(Error::new(InvalidOptions, message));
    }
    Ok(())
}
