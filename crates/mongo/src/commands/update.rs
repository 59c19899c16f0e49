//! `update`: a list of statements. Each may change one document or several, or insert one.
//!
//! ```text
//! {update: "c", updates: [{q: {..}, u: {$set: {..}}, multi: false, upsert: true}], ordered: true}
//! => {n: 1, nModified: 0, upserted: [{index: 0, _id: ..}], ok: 1}
//! ```
//!
//! `n` counts matched and inserted documents, `nModified` the documents whose bytes changed.
//! Statements take effect one after the other: a command is not a transaction.

use std::sync::Arc;

use document::{DocBuf, DocRef, Value, ValueRef, doc};
use engine::{Collection, Namespace, Updated, WriteGroup};
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
    parsers::statements::{UPDATE_FIELDS, UpdateStatement, check_update, parse_update},
    replies::{numbers::saturated_int, ok},
    retryable::{ReceiptSlot, StatementResult, WriteReceipts},
    rights::{CommandRequest, Requirement, is_set},
};

/// Requires the rights to update and, for upserts, to insert.
pub(super) fn needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let collection = request.collection()?;
    let mut needs = vec![Requirement::of(Action::Update, collection.clone())];
    if request.listed("updates").into_iter().any(|statement| is_set(statement, "upsert")) {
        needs.push(Requirement::of(Action::Insert, collection));
    }
    needs.extend(bypass_requirement(request)?);
    Ok(needs)
}

/// Runs `update`. As in mongod, an unknown pipeline stage counts as an error of the statement's
/// structure: it fails the command before the first statement runs.
///
/// The command fails with 16 if there are no statements or too many, and with the errors of a
/// statement's structure. Any other error is reported in `writeErrors`.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace_of_writes()?;
    let statements = call.listed_documents("updates")?;
    check_batch(statements.len())?;
    statements
        .iter()
        .try_for_each(|it| check_update(&Args::new("update.updates", *it), &UPDATE_FIELDS))?;
    for statement in &statements {
        if let Some(ValueRef::Array(stages)) = statement.get("u") {
            mongo_query::pipeline::check_stages(stages)?;
        }
    }
    Counters::add(&call.connection.counters.update, statements.len() as u64);
    call.args().lax_bool("bypassDocumentValidation")?;
    let ordered = call.args().bool("ordered")?.unwrap_or(true);
    call.args().document("let")?;
    let context = call.evaluation_context().await;
    let receipts = open_receipts(call, statements.len()).await?;
    let receipts = receipts.as_ref();
    let mut run = Run { call, namespace, receipts, matched: 0, modified: 0, upserted: Vec::new() };
    let errors = run_statements(call, statements, ordered, context, receipts, &mut run).await?;
    let n = run.matched + run.upserted.len();
    let mut reply = doc! { "n": saturated_int(n), "nModified": saturated_int(run.modified) };
    if !run.upserted.is_empty() {
        reply.push("upserted", Value::Array(run.upserted));
    }
    push_errors(&mut reply, &errors);
    if let Some(receipts) = receipts {
        receipts.finish(!errors.is_empty()).await?;
        receipts.push_repeated(&mut reply);
    }
    ok(reply)
}

/// A running `update`, with the sums of its statements so far.
struct Run<'a> {
    call: &'a Call<'a>,
    namespace: Namespace,
    receipts: Option<&'a WriteReceipts<'a>>,
    matched: usize,
    modified: usize,
    /// The entries of `upserted`, by statement position.
    upserted: Vec<Value>,
}

impl<'a> Run<'a> {
    /// Parses a statement. Returns it, its evaluation context, and its receipt slot in a retryable
    /// write.
    fn parse(
        &self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
    ) -> Result<(UpdateStatement, Arc<Context>, Option<ReceiptSlot<'a>>)> {
        let args = Args::new("update.updates", statement);
        let (statement, context) = parse_update(
            &args,
            &UPDATE_FIELDS,
            context,
            self.call.default_collation(&self.namespace),
        )?;
        Ok((statement, context, self.receipts.map(|receipts| ReceiptSlot { receipts, at })))
    }
}

impl RunStatement for Run<'_> {
    type Outcome = Updated;

    async fn stage(
        &mut self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
        group: &mut WriteGroup<'_>,
    ) -> Result<Staged<Updated>> {
        let (statement, context, slot) = self.parse(at, statement, context)?;
        let staged =
            stage_update(self.call, &self.namespace, at, statement, &context, slot, group).await;
        staged.map_err(|error| error.with_namespace(&self.namespace))
    }

    fn record_staged(&mut self, at: usize, updated: &Updated) {
        record_updated(
            self.call,
            self.receipts.map(|receipts| ReceiptSlot { receipts, at }),
            updated,
        );
    }

    async fn run_statement(
        &mut self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
    ) -> Result<Updated> {
        let (statement, context, slot) = self.parse(at, statement, context)?;
        let updated = update_documents(self.call, &self.namespace, statement, &context, slot).await;
        updated.map_err(|error| error.with_namespace(&self.namespace))
    }

    fn add_up(&mut self, at: usize, updated: Updated) {
        self.matched += updated.matched;
        self.modified += updated.modified;
        if let Some(id) = updated.upserted {
            self.upserted.push(Value::Document(doc! { "index": saturated_int(at), "_id": id }));
        }
    }
}

/// Adds an update to a group of statements that are committed together. A missing collection is
/// created only for an upsert.
pub(super) async fn stage_update(
    call: &Call<'_>,
    namespace: &Namespace,
    at: usize,
    mut statement: UpdateStatement,
    context: &Arc<Context>,
    slot: Option<ReceiptSlot<'_>>,
    group: &mut WriteGroup<'_>,
) -> Result<Staged<Updated>> {
    if let Some(updated) = done_before(slot, statement.many).await? {
        return Ok(Staged::Repeated(updated));
    }
    call.api.timestamps.fill_edit(&mut statement.edit, context.now_ms);
    let writer = call.document_writer(clock::Instant::from_ms(context.now_ms));
    let update = engine::Update {
        find: statement.find,
        edit: &statement.edit,
        many: statement.many,
        upsert: statement.upsert,
        context: Arc::clone(context),
        writer: &writer,
    };
    let collection = match call.find_no_view(namespace)? {
        Some(collection) => collection,
        None if update.upsert => call.ensure_collection(namespace).await?.0,
        None => {
            group.pass(at);
            return Ok(Staged::Added(Updated::default()));
        }
    };
    let updated = group.update(at, &collection, &update).await;
    // If the collection was dropped since it was looked up, the statement runs alone, which looks
    // it up again.
    if Call::collection_was_dropped(&updated) {
        return Ok(Staged::Left);
    }
    Ok(updated?.map_or(Staged::Left, Staged::Added))
}

/// Returns the result that an earlier attempt of a retryable write had for a statement; `None` if
/// no attempt has executed it. A statement of a retryable write may update only one document.
async fn done_before(slot: Option<ReceiptSlot<'_>>, many: bool) -> Result<Option<Updated>> {
    check_one(slot, many, "multi=true")?;
    let Some(ReceiptSlot { receipts, at }) = slot else { return Ok(None) };
    let done = receipts.find(at).await?;
    Ok(done.map(|StatementResult { hit, modified, upserted }| {
        let matched = usize::from(hit && upserted.is_none());
        Updated { matched, modified: usize::from(modified), upserted }
    }))
}

/// Adds to the counters the number of documents that a statement changed. For a statement of a
/// retryable write that wrote nothing, also records the receipt.
pub(super) fn record_updated(call: &Call<'_>, slot: Option<ReceiptSlot<'_>>, updated: &Updated) {
    record_unwritten(slot, updated);
    Counters::add(&call.connection.counters.updated, updated.modified as u64);
}

/// Runs a statement. A missing collection is created only for an upsert.
pub(super) async fn update_documents(
    call: &Call<'_>,
    namespace: &Namespace,
    mut statement: UpdateStatement,
    context: &Arc<Context>,
    slot: Option<ReceiptSlot<'_>>,
) -> Result<Updated> {
    if let Some(updated) = done_before(slot, statement.many).await? {
        return Ok(updated);
    }
    call.api.timestamps.fill_edit(&mut statement.edit, context.now_ms);
    let writer = call.document_writer(clock::Instant::from_ms(context.now_ms));
    let update = engine::Update {
        find: statement.find,
        edit: &statement.edit,
        many: statement.many,
        upsert: statement.upsert,
        context: Arc::clone(context),
        writer: &writer,
    };
    loop {
        let collection = match call.find_no_view(namespace)? {
            Some(collection) => collection,
            None if update.upsert => call.ensure_collection(namespace).await?.0,
            None => {
                record_unwritten(slot, &Updated::default());
                return Ok(Updated::default());
            }
        };
        let updated = match slot {
            Some(slot) => update_once(call, &collection, &update, slot).await,
            None => call.engine().update(&collection, &update).await,
        };
        if !Call::collection_was_dropped(&updated) {
            let updated = updated?;
            record_updated(call, slot, &updated);
            return Ok(updated);
        }
    }
}

/// Updates the first matching document and stores the receipt in the same commit.
async fn update_once(
    call: &Call<'_>,
    collection: &Arc<Collection>,
    update: &engine::Update<'_>,
    slot: ReceiptSlot<'_>,
) -> std::result::Result<Updated, engine::Error> {
    let receipts = slot.begin(&[0]);
    let edited = call.engine().find_and_update_with(collection, update, Some(receipts), None);
    let edited = edited.await?;
    Ok(Updated {
        matched: usize::from(edited.before.is_some()),
        modified: usize::from(edited.before.is_some() && edited.changed),
        upserted: edited.upserted,
    })
}

/// Records the receipt for a statement of a retryable update that wrote nothing. Receipts of other
/// statements are committed with the write.
fn record_unwritten(slot: Option<ReceiptSlot<'_>>, updated: &Updated) {
    if let Some(ReceiptSlot { receipts, at }) = slot
        && updated.modified == 0
        && updated.upserted.is_none()
    {
        let done = StatementResult { hit: 0 < updated.matched, ..StatementResult::default() };
        receipts.record_unwritten(at, &done, None);
    }
}
