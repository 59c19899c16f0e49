//! `delete`: a list of statements, each for one document or for all that match.
//!
//! ```text
//! {delete: "c", deletes: [{q: {..}, limit: 0}], ordered: true}
//! => {n: 3, writeErrors: [{index: 0, code: .., errmsg: ..}], ok: 1}
//! ```

use std::sync::Arc;

use document::{DocBuf, DocRef, doc};
use engine::{Find, Namespace, WriteGroup};
use evaluation::Context;

use super::{
    insert::bypass_requirement,
    statements::{
        RunStatement, Staged, check_batch, check_one, open_receipts, push_errors, run_statements,
    },
};
use crate::{
    access::Action,
    arguments::Args,
    call::Call,
    counters::Counters,
    errors::Result,
    names,
    parsers::statements::{check_delete, deletes_many, parse_search, with_collation},
    replies::{numbers::saturated_int, ok},
    retryable::{ReceiptSlot, StatementResult, WriteReceipts},
    rights::{CommandRequest, Requirement},
};

/// Requires the right to remove documents and, like mongod, the right to bypass validation if the
/// command has that option, although a removal is never validated.
pub(super) fn needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let remove = Requirement::of(Action::Remove, request.collection()?);
    Ok(std::iter::once(remove).chain(bypass_requirement(request)?).collect())
}

/// Runs `delete`. The reply counts the removed documents; failures are in `writeErrors`.
///
/// The command fails with 16 if there are no statements or too many, 40414 if a statement has no
/// limit, and 9 if a limit is neither 0 nor 1.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace_of_documents()?;
    let statements = call.listed_documents("deletes")?;
    check_batch(statements.len())?;
    statements.iter().try_for_each(|it| check_delete(&Args::new("delete.deletes", *it)))?;
    Counters::add(&call.connection.counters.delete, statements.len() as u64);
    call.args().lax_bool("bypassDocumentValidation")?;
    let ordered = call.args().bool("ordered")?.unwrap_or(true);
    call.args().document("let")?;
    let context = call.evaluation_context().await;
    let receipts = open_receipts(call, statements.len()).await?;
    let mut run = Run { call, namespace, receipts: receipts.as_ref(), removed: 0 };
    let errors =
        run_statements(call, statements, ordered, context, receipts.as_ref(), &mut run).await?;
    let mut reply = doc! { "n": saturated_int(run.removed) };
    push_errors(&mut reply, &errors);
    if let Some(receipts) = &receipts {
        receipts.finish(!errors.is_empty()).await?;
        receipts.push_repeated(&mut reply);
    }
    ok(reply)
}

/// A running `delete`, with the number of documents removed so far.
struct Run<'a> {
    call: &'a Call<'a>,
    namespace: Namespace,
    receipts: Option<&'a WriteReceipts<'a>>,
    removed: usize,
}

impl<'a> Run<'a> {
    /// Parses a statement. Returns the removal, its evaluation context and, in a retryable write, the slot for its receipt
    /// (the recorded result).
    fn parse(
        &self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
    ) -> Result<(Removal, Arc<Context>, Option<ReceiptSlot<'a>>)> {
        names::check_deletable(&self.namespace)?;
        let args = Args::new("delete.deletes", statement);
        let removal = Removal { find: parse_search(&args, "q")?, many: deletes_many(&args)? };
        let default = self.call.default_collation(&self.namespace);
        let context = with_collation(&args, context, default)?;
        Ok((removal, context, self.receipts.map(|receipts| ReceiptSlot { receipts, at })))
    }
}

impl RunStatement for Run<'_> {
    type Outcome = usize;

    async fn stage(
        &mut self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
        group: &mut WriteGroup<'_>,
    ) -> Result<Staged<usize>> {
        let (removal, context, slot) = self.parse(at, statement, context)?;
        stage_removal(self.call, &self.namespace, at, &removal, &context, slot, group).await
    }

    fn record_staged(&mut self, at: usize, removed: &usize) {
        record_removed(
            self.call,
            self.receipts.map(|receipts| ReceiptSlot { receipts, at }),
            *removed,
        );
    }

    async fn run_statement(
        &mut self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
    ) -> Result<usize> {
        let (removal, context, slot) = self.parse(at, statement, context)?;
        remove_documents(self.call, &self.namespace, &removal, &context, slot).await
    }

    fn add_up(&mut self, _at: usize, removed: usize) {
        self.removed += removed;
    }
}

/// The removal that a `delete` statement requests.
pub(super) struct Removal {
    pub(super) find: Find,
    /// Whether all matching documents are removed, not only the first.
    pub(super) many: bool,
}

/// Adds a removal to a group of statements that are committed together. A missing collection has
/// nothing to remove.
pub(super) async fn stage_removal(
    call: &Call<'_>,
    namespace: &Namespace,
    at: usize,
    removal: &Removal,
    context: &Arc<Context>,
    slot: Option<ReceiptSlot<'_>>,
    group: &mut WriteGroup<'_>,
) -> Result<Staged<usize>> {
    if let Some(removed) = done_before(slot, removal.many).await? {
        return Ok(Staged::Repeated(removed));
    }
    let Some(collection) = call.find_no_view(namespace)? else {
        group.pass(at);
        return Ok(Staged::Added(0));
    };
    let removed = group.remove(at, &collection, &removal.find, removal.many, context).await;
    // The collection was dropped after the lookup; the statement is run alone and repeats it.
    if Call::collection_was_dropped(&removed) {
        return Ok(Staged::Left);
    }
    Ok(removed?.map_or(Staged::Left, Staged::Added))
}

/// Returns the number of documents that an earlier attempt of a retryable write removed for a
/// statement; `None` if no attempt has executed it. A statement of a retryable write may remove
/// only one document.
async fn done_before(slot: Option<ReceiptSlot<'_>>, many: bool) -> Result<Option<usize>> {
    check_one(slot, many, "limit=0")?;
    let Some(ReceiptSlot { receipts, at }) = slot else { return Ok(None) };
    Ok(receipts.find(at).await?.map(|done| usize::from(done.hit)))
}

/// Removes one or all matching documents and returns the count. A missing collection has nothing to
/// remove.
pub(super) async fn remove_documents(
    call: &Call<'_>,
    namespace: &Namespace,
    removal: &Removal,
    context: &Arc<Context>,
    slot: Option<ReceiptSlot<'_>>,
) -> Result<usize> {
    let Removal { find, many } = removal;
    if let Some(removed) = done_before(slot, *many).await? {
        return Ok(removed);
    }
    let engine = call.engine();
    loop {
        let Some(collection) = call.find_no_view(namespace)? else {
            record_unwritten(slot, 0);
            return Ok(0);
        };
        let removed = match slot {
            Some(slot) => {
                let receipts = Some(slot.begin(&[0]));
                let removed =
                    engine.find_and_remove_with(&collection, find, context, receipts, None);
                removed.await.map(|removed| usize::from(removed.is_some()))
            }
            None => engine.remove(&collection, find, *many, context).await.map(|it| it.count),
        };
        if !Call::collection_was_dropped(&removed) {
            let count = removed?;
            record_removed(call, slot, count);
            return Ok(count);
        }
    }
}

/// Adds to the counters the number of documents that a statement removed. For a statement of a
/// retryable write that removed none, also records the receipt.
pub(super) fn record_removed(call: &Call<'_>, slot: Option<ReceiptSlot<'_>>, removed: usize) {
    record_unwritten(slot, removed);
    Counters::add(&call.connection.counters.deleted, removed as u64);
}

/// Records the receipt for a statement of a retryable delete that removed nothing. Receipts of
/// other statements are committed with the removal.
fn record_unwritten(slot: Option<ReceiptSlot<'_>>, removed: usize) {
    if let Some(ReceiptSlot { receipts, at }) = slot
        && removed == 0
    {
        receipts.record_unwritten(at, &StatementResult::default(), None);
    }
}
