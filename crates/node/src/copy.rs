//! Maintenance of a node's copy while another node owns the data: removes reaped documents.

use std::{convert::Infallible, time::Duration};

use engine::CopyReaper;
use server_base::sleep;
use store_shared::SharedShard;

/// Interval of checks for newly reaped data.
const EVERY: Duration = Duration::from_secs(1);

/// Compacts a node's copy of a shard whenever the shard's owner has reaped more. Runs until the
/// future is dropped.
pub(super) async fn tend(reaper: &mut CopyReaper, shard: &SharedShard) -> Infallible {
    // Replaces the reap floors (the bounds up to which expired data may be dropped), which an
    // engine that was open on the copy has set to its own.
    reaper.put_in_force(&**shard.tree());
    loop {
        sleep::wait_for(EVERY).await;
        match reaper.reap_committed(&**shard.tree()).await {
            Ok(0) => {}
            Ok(collections) => {
                tracing::debug!(collections, "compacted the documents that the owner has reaped")
            }
            // Compaction fails, for example, while the store is reopened or loads a base (full copy
            // of the shard).
            Err(error) => {
                tracing::debug!(%error, "cannot compact documents the owner has reaped; will retry")
            }
        }
    }
}
