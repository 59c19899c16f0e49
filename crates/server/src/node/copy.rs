//! What a node does with its copy of the data while another node owns them: what the owner has reaped
//! goes from it, too.

use std::{convert::Infallible, time::Duration};

use engine::CopyReaper;
use store_shared::SharedShard;

use crate::background;

/// Between two looks at what the owner has reaped.
const EVERY: Duration = Duration::from_secs(1);

/// Looks for as long as it is polled.
pub(super) async fn tend(reaper: &mut CopyReaper, shard: &SharedShard) -> Infallible {
    // An engine that was open on it has put its own floors in force.
    reaper.put_in_force(&**shard.tree());
    loop {
        background::wait_for(EVERY).await;
        match reaper.look(&**shard.tree()).await {
            Ok(0) => {}
            Ok(collections) => tracing::debug!(collections, "compacted what the owner has reaped"),
            // As when the store is opened again, or loads a base.
            Err(error) => tracing::debug!(%error, "what the owner has reaped stays for now"),
        }
    }
}
