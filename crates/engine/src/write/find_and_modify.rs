//! Updates or deletes one document and returns it before and after. The document is selected and
//! edited as in updates (`update.rs`).

use std::sync::Arc;

use bytes::Bytes;
use document::Value;
use evaluation::Context;
use memory::Share;

use super::{
    Effect, Receipts, WriteDraft, draft::row_key, insert::duplicate_id, intent_waits::OnIntent,
    queued_update::QueuedUpdate, turn::WriterTurns, update::Update,
};
use crate::{
    attempts::Attempts,
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    limits::BATCH_COPIES,
    read::{Find, UsedIndexes},
    view::LiveView,
};

/// A document before and after an edit.
#[derive(Clone, Debug, Default)]
pub struct Edited {
    /// The document before the edit; `None` if it was not found or an upsert inserted it.
    pub before: Option<Bytes>,
    /// The document after the edit; `None` if it was deleted or not found.
    pub after: Option<Bytes>,
    /// Whether the document was written; false if the edit changed nothing.
    pub changed: bool,
    /// Id of the document that an upsert inserted.
    pub upserted: Option<Value>,
}

/// Reserves the memory in which a client gets a document of this size; nothing without `reply`. It
/// is reserved before the write, since after a failure the document could not be returned.
pub(super) fn reserve_reply(reply: Option<&mut Share>, bytes: usize) -> Result<(), Error> {
    match reply {
        Some(reply) => Ok(reply.set(bytes.saturating_mul(BATCH_COPIES))?),
        None => Ok(()),
    }
}

impl Engine {
    /// Updates the first matching document and returns it before and after.
    pub async fn find_and_update(
        &self,
        collection: &Arc<Collection>,
        update: &Update<'_>,
    ) -> Result<Edited, Error> {
        self.find_and_update_with(collection, update, None, None).await
    }

    /// Finds and updates a document, with receipts in the commit that writes it. No receipt is
    /// written if nothing is found or changed. A caller that sends one of the documents to a client
    /// gets the memory for it in `reply`; if it is not available, nothing is written.
    pub async fn find_and_update_with(
        &self,
        collection: &Arc<Collection>,
        update: &Update<'_>,
        receipts: Option<&dyn Receipts>,
        mut reply: Option<&mut Share>,
    ) -> Result<Edited, Error> {
        let (mut attempts, used) = (Attempts::to_write(), Arc::<UsedIndexes>::default());
        let mut turns = self.writer_turns(collection, Some(&update.find), &update.context);
        let reserved = reply.as_deref_mut();
        let mut queued =
            QueuedUpdate { collection, update, receipts, used: &used, reply: reserved };
        if let Some(edited) = self.update_in_queue(&mut queued, &mut attempts, &mut turns).await? {
            if edited.before.is_some() || !update.upsert {
                return Ok(edited);
            }
            let reserved = reply.as_deref_mut();
            let inserted =
                self.insert_upserted(collection, update, receipts, &mut attempts, reserved);
            if let Some(edited) = inserted.await? {
                return Ok(edited);
            }
        }
        loop {
            turns.begin_attempt(&mut attempts).await?;
            let view = self.view(collection).await?;
            let reserved = reply.as_deref_mut();
            match self.modify_in(&view, update, receipts, &used, &mut turns, reserved).await {
                Ok(Some(Some(edited))) => return Ok(edited),
                Ok(Some(None)) if !update.upsert => return Ok(Edited::default()),
                Ok(Some(None)) => {
                    drop(view);
                    let reserved = reply.as_deref_mut();
                    let edited =
                        self.insert_upserted(collection, update, receipts, &mut attempts, reserved);
                    if let Some(edited) = edited.await? {
                        return Ok(edited);
                    }
                }
                Ok(None) => {}
                Err(halt) => self.resolve(&view, halt, &mut attempts).await?,
            }
        }
    }

    /// Edits the first matching document and returns it; `Some(None)` if none was found, `None` if
    /// the commit was refused.
    async fn modify_in(
        &self,
        view: &LiveView,
        update: &Update<'_>,
        receipts: Option<&dyn Receipts>,
        used: &Arc<UsedIndexes>,
        turns: &mut WriterTurns<'_>,
        reply: Option<&mut Share>,
    ) -> Result<Option<Option<Edited>>, Halt> {
        let first = self.first_row(view, &update.find, &update.context, used, turns).await?;
        let Some(row) = first else { return Ok(Some(None)) };
        let before = row.value.slice(row.start..);
        let outcome = update.apply(row.document())?;
        let changed = outcome.changed;
        let after = Bytes::from(outcome.document.bytes().to_vec());
        reserve_reply(reply, before.len().max(after.len()))?;
        let effect = Effect::Edited { before: &before, after: &after };
        if !changed {
            view.rely_on(&row);
        } else {
            let on_intent = OnIntent::Wait(Some(&update.context));
            let commit = self.edit_commit(view, row, outcome.document, update).await?;
            if self.commit_with(vec![commit], receipts, effect, on_intent).await?.is_none() {
                return Ok(None);
            }
        }
        let (before, after) = (Some(before.clone()), Some(after.clone()));
        Ok(Some(Some(Edited { before, after, changed, upserted: None })))
    }

    /// Inserts the document of an upsert; `None` if the update must be retried.
    pub(super) async fn insert_upserted(
        &self,
        collection: &Arc<Collection>,
        update: &Update<'_>,
        receipts: Option<&dyn Receipts>,
        attempts: &mut Attempts,
        reply: Option<&mut Share>,
    ) -> Result<Option<Edited>, Error> {
        // Built from the filter's equalities and the edit, before any view is open.
        let made = update.edit.insert(&update.find.filter, &update.context)?;
        let made = update.writer.with_id(made);
        let lifetime = update.writer.lifetime_of(&made)?;
        let id = made.get("_id").map_or(Value::Null, |id| id.to_value());
        reserve_reply(reply, made.bytes().len())?;
        // Without a turn, the inserts of others could refuse this one again and again.
        let is_capped = collection.state().record.capped.is_some();
        let _turn = match is_capped {
            true => Some(collection.insertions.wait(1, &update.context).await?),
            false => None,
        };
        let view = self.view(collection).await?;
        let draft = WriteDraft::of(&view);
        let key = row_key(made.as_ref())?;
        let existing = match view.get_row(&key).await {
            Ok(existing) => existing,
            Err(halt) => {
                self.resolve(&view, halt, attempts).await?;
                return Ok(None);
            }
        };
        // A document with the id was inserted since the search, and may match the filter.
        if let Some(row) = &existing
            && update.find.filter.matches(row.document(), &update.context)?
        {
            return Ok(None);
        }
        draft.check_rule(update.rule_context(), made.as_ref(), None).await?;
        // The id belongs to a document that the filter does not match.
        if existing.is_some() {
            return Err(duplicate_id(made.as_ref()));
        }
        let after = Bytes::from(made.bytes().to_vec());
        match draft.insert_with_room(key, made, lifetime).await {
            Ok(commits) => {
                drop(view);
                let effect = Effect::Upserted { id: &id, after: &after };
                let on_intent = OnIntent::Wait(Some(&update.context));
                let committed = self.commit_with(commits, receipts, effect, on_intent).await?;
                collection.wake_readers();
                Ok(committed.map(|_| Edited {
                    before: None,
                    after: Some(after),
                    changed: true,
                    upserted: Some(id),
                }))
            }
            Err(halt) => {
                self.resolve(&view, halt, attempts).await?;
                Ok(None)
            }
        }
    }

    /// Deletes the first matching document and returns it.
    pub async fn find_and_remove(
        &self,
        collection: &Arc<Collection>,
        find: &Find,
        context: &Context,
    ) -> Result<Option<Bytes>, Error> {
        self.find_and_remove_with(collection, find, context, None, None).await
    }

    /// Finds and deletes a document, with receipts in the commit that deletes it. No receipt is
    /// written if nothing is found. A caller that sends the document to a client gets the memory
    /// for it in `reply`; if it is not available, nothing is deleted.
    pub async fn find_and_remove_with(
        &self,
        collection: &Arc<Collection>,
        find: &Find,
        context: &Context,
        receipts: Option<&dyn Receipts>,
        mut reply: Option<&mut Share>,
    ) -> Result<Option<Bytes>, Error> {
        let (mut attempts, used) = (Attempts::to_write(), Arc::<UsedIndexes>::default());
        let mut turns = self.writer_turns(collection, Some(find), context);
        loop {
            turns.begin_attempt(&mut attempts).await?;
            let view = self.view(collection).await?;
            let reserved = reply.as_deref_mut();
            let removed =
                self.remove_first(&view, (find, context), receipts, &used, &mut turns, reserved);
            match removed.await {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => {}
                Err(halt) => self.resolve(&view, halt, &mut attempts).await?,
            }
        }
    }

    /// Deletes the first matching document and returns it; `Some(None)` if none was found, `None`
    /// if the commit was refused.
    async fn remove_first(
        &self,
        view: &LiveView,
        (find, context): (&Find, &Context),
        receipts: Option<&dyn Receipts>,
        used: &Arc<UsedIndexes>,
        turns: &mut WriterTurns<'_>,
        reply: Option<&mut Share>,
    ) -> Result<Option<Option<Bytes>>, Halt> {
        let first = self.first_row(view, find, context, used, turns).await?;
        let Some(row) = first else { return Ok(Some(None)) };
        let before = row.value.slice(row.start..);
        reserve_reply(reply, before.len())?;
        let draft = WriteDraft::of(view);
        let commit = draft.remove_document(draft.previous_version(row).await?);
        let effect = Effect::Removed { before: &before };
        let on_intent = OnIntent::Wait(Some(context));
        let committed = self.commit_with(vec![commit], receipts, effect, on_intent).await?;
        Ok(committed.map(|_| Some(before)))
    }
}
