//! Deletes documents that match a filter, each in one commit. A document written since it was found
//! is looked up again in a new view and deleted only if it still matches.

use std::sync::Arc;

use evaluation::Context;
use store::Outcome;

use super::{WriteDraft, intent_waits::OnIntent, turn::WriterTurns};
use crate::{
    attempts::Attempts,
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    limits::{COMMITS_AT_ONCE, ROW_WORK},
    read::{Find, Finder, UsedIndexes},
    view::LiveView,
    yielding::yield_if_due,
};

/// The result of a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Number of documents that were deleted.
    pub count: usize,
}

impl Engine {
    /// Deletes the first matching document, or all of them.
    pub async fn remove(
        &self,
        collection: &Arc<Collection>,
        find: &Find,
        many: bool,
        context: &Arc<Context>,
    ) -> Result<Removed, Error> {
        let mut removed = Removed::default();
        let (mut attempts, used) = (Attempts::to_write(), Arc::<UsedIndexes>::default());
        let mut turns = self.writer_turns(collection, None, context);
        loop {
            turns.begin_attempt(&mut attempts).await?;
            let view = self.view(collection).await?;
            let mut finder = Finder::new(&view.state, find, context.collation(), Some(&used))?;
            match self.remove_in(&view, &mut finder, many, &mut removed, &mut turns).await {
                Ok(true) => return Ok(removed),
                Ok(false) => {}
                Err(halt) => self.resolve(&view, halt, &mut attempts).await?,
            }
        }
    }

    /// Deletes matching documents in one view; returns whether no commit was refused.
    async fn remove_in(
        &self,
        view: &LiveView,
        finder: &mut Finder,
        many: bool,
        removed: &mut Removed,
        turns: &mut WriterTurns<'_>,
    ) -> Result<bool, Halt> {
        let (mut clean, context) = (true, turns.context());
        loop {
            turns.begin_batch().await?;
            // The scan continues in this view after each round and does not meet deleted documents
            // again.
            let wanted = if many { COMMITS_AT_ONCE } else { 1 };
            let rows = finder.take_matching(view, context, wanted).await?;
            turns.admit(&rows)?;
            // End of the scan; refused documents need another pass in a new view.
            if rows.is_empty() {
                return Ok(clean);
            }
            let draft = WriteDraft::of(view);
            let mut commits = Vec::with_capacity(rows.len());
            for row in rows {
                yield_if_due(context, ROW_WORK + row.body().len()).await?;
                commits.push(draft.remove_document(draft.previous_version(row).await?));
            }
            for outcome in self.commit_writes(commits, OnIntent::Wait(Some(context))).await? {
                match outcome {
                    Outcome::Committed(_) => removed.count += 1,
                    // The row was written or has expired since it was found; a new view decides.
                    Outcome::Refused(_) => clean = false,
                }
            }
            if !many {
                return Ok(clean);
            }
            turns.end_batch();
        }
    }
}
