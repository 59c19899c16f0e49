//! Counts the live documents in a restored directory, and extends their lifetimes.

use engine::{Engine, Model};
use server_base::failure::{Failure, failed};

/// Postpones the expiry of all documents and items that are live at the engine's instant by
/// `seconds`.
pub(super) async fn prolong_all(engine: &Engine, seconds: i64) -> Result<(), Failure> {
    for model in [Model::Documents, Model::Items] {
        for (_, collection) in engine.collections(model) {
            engine.prolong_lives(&collection, seconds).await.map_err(failed)?;
        }
    }
    Ok(())
}

/// Counts all documents and items that are live at the engine's instant.
pub(super) async fn count_live(engine: &Engine) -> Result<u64, Failure> {
    let mut sum: i64 = 0;
    for model in [Model::Documents, Model::Items] {
        for (_, collection) in engine.collections(model) {
            let amount = engine.live_amount(&collection).await.map_err(failed)?;
            sum = sum.saturating_add(amount.documents);
        }
    }
    Ok(u64::try_from(sum).unwrap_or(0))
}
