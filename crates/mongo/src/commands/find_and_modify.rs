//! `findAndModify`: changes or removes one document, and returns the document from before or from
//! after the change. All errors of the command are detected before it changes anything, since the
//! old document could not be returned later.
//!
//! ```text
//! {findAndModify: "c", query: {..}, sort: {..}, update: {$inc: {a: 1}}, new: true, upsert: false}
//! => {lastErrorObject: {n: 1, updatedExisting: true}, value: {..} | null, ok: 1}
//! {findAndModify: "c", query: {..}, remove: true}
//! => {lastErrorObject: {n: 1}, value: {..} | null, ok: 1}
//! ```
//!
//! Flags are numbers or booleans, since old drivers send 1 for true.

use std::sync::Arc;

use bytes::Bytes;
use document::{DocBuf, DocRef, Value, ValueRef, doc};
use engine::{Edited, Find, Namespace, Update, limits::BATCH_COPIES};
use evaluation::Context;
use memory::Share;
use pipeline::{Filter, project::Projection};

use super::{insert::bypass_requirement, statements::open_receipts};
use crate::{
    access::Action,
    arguments::Args,
    call::Call,
    counters::Counters,
    errors::{BadValue, Error, FailedToParse, Result},
    parsers::{
        collation::parse_collation,
        hint::parse_hint,
        statements::{parse_edit, parse_search},
    },
    replies::finish_reply,
    retryable::{ReceiptSlot, ReplyOptions, StatementResult, StoredReply},
    rights::{CommandRequest, Requirement},
};

pub(super) const FIELDS: &[&str] = &[
    "query",
    "sort",
    "remove",
    "update",
    "new",
    "fields",
    "upsert",
    "bypassDocumentValidation",
    "collation",
    "arrayFilters",
    "hint",
    "let",
    // Ignored, as in mongod.
    "batchSize",
    "singleBatch",
];

/// Requires the rights to read the document and to change, remove or insert it.
pub(super) fn needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let collection = request.collection()?;
    let mut needs = vec![Requirement::of(Action::Find, collection.clone())];
    let changes: &[Action] = match (request.is_set("remove"), request.is_set("upsert")) {
        (true, _) => &[Action::Remove],
        (false, true) => &[Action::Update, Action::Insert],
        (false, false) => &[Action::Update],
    };
    needs.extend(changes.iter().map(|action| Requirement::of(*action, collection.clone())));
    needs.extend(bypass_requirement(request)?);
    Ok(needs)
}

/// Runs `findAndModify`. In the reply `lastErrorObject` has the counts, and `value` the document or
/// null.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace_of_writes()?;
    let args = call.args();
    let remove = args.lax_bool("remove")?.unwrap_or(false);
    let upsert = args.lax_bool("upsert")?.unwrap_or(false);
    let new = args.lax_bool("new")?.unwrap_or(false);
    check_combination(remove, upsert, new, args.get("update").is_some())?;
    args.lax_bool("bypassDocumentValidation")?;
    // Everything that can fail is parsed before anything changes.
    let collation = parse_collation(&args)?;
    let find = parse_find(&args)?;
    // Without an update the document is removed; the combination was checked above.
    let mut edit = args.get("update").map(|update| parse_edit(update, &args, false)).transpose()?;
    let projection = parse_projection(&args, new, &find.filter)?;
    let collation = collation.or_default(call.default_collation(&namespace));
    let context = call.context_with(collation).await?;
    // A replacement is stored as a whole, so its empty timestamps are filled in.
    if let Some(edit) = &mut edit {
        call.api.timestamps.fill_edit(edit, context.now_ms);
    }
    let wanted = ReplyOptions { removed: edit.is_none(), new };
    let receipts = open_receipts(call, 1).await?;
    let slot = receipts.as_ref().map(|receipts| ReceiptSlot { receipts, at: 0 });
    let mut held = context.operation_memory.share();
    let before = match &receipts {
        Some(receipts) => receipts.find_answer(wanted).await?,
        None => None,
    };
    let outcome = match (before, edit) {
        (Some((done, answer)), _) => {
            let bytes = answer.value.as_ref().map_or(0, Bytes::len);
            held.set(bytes * BATCH_COPIES).map(|()| (done, answer)).map_err(Error::from)
        }
        (None, None) => remove_document(call, &namespace, &find, &context, slot, &mut held).await,
        (None, Some(edit)) => {
            Counters::add(&call.connection.counters.update, 1);
            let writer = call.document_writer(clock::Instant::from_ms(context.now_ms));
            let update = Update {
                find: find.clone(),
                edit: &edit,
                many: false,
                upsert,
                context: Arc::clone(&context),
                writer: &writer,
            };
            let edited = change_document(call, &namespace, &update, slot, &mut held).await;
            edited.map(|edited| {
                let found = edited.before.is_some();
                Counters::add(&call.connection.counters.updated, u64::from(found));
                outcome_of(edited, wanted, slot)
            })
        }
    };
    if let Some(receipts) = &receipts {
        receipts.finish(outcome.is_err()).await?;
    }
    let (done, answer) = outcome?;
    let repeated = receipts.as_ref().and_then(|receipts| receipts.repeated().first().copied());
    call.connection.hold_reply_memory(held);
    build_reply(&done, &answer, repeated, projection.as_ref(), &find.filter, &context)
}

/// Removes the document. The memory of the reply with it is reserved in `held`.
async fn remove_document(
    call: &Call<'_>,
    namespace: &Namespace,
    find: &Find,
    context: &Context,
    slot: Option<ReceiptSlot<'_>>,
    held: &mut Share,
) -> Result<(StatementResult, StoredReply)> {
    Counters::add(&call.connection.counters.delete, 1);
    let removed = loop {
        // A missing collection is not created for a removal.
        let Some(collection) = call.find_no_view(namespace)? else { break None };
        let receipts = slot.map(|slot| slot.begin(&[0]));
        let engine = call.engine();
        let removed = engine.find_and_remove_with(&collection, find, context, receipts, Some(held));
        let removed = removed.await;
        if !Call::collection_was_dropped(&removed) {
            break removed?;
        }
    };
    Counters::add(&call.connection.counters.deleted, u64::from(removed.is_some()));
    let done = StatementResult { hit: removed.is_some(), ..StatementResult::default() };
    let answer =
        StoredReply { removed: true, new: false, existing: removed.is_some(), value: removed };
    if let Some(ReceiptSlot { receipts, at }) = slot.filter(|_| !done.hit) {
        receipts.record_unwritten(at, &done, Some(answer.clone()));
    }
    Ok((done, answer))
}

/// Returns the two results of a change that the receipt of a retryable write stores: that of the
/// statement, and the parts of the reply.
fn outcome_of(
    edited: Edited,
    wanted: ReplyOptions,
    slot: Option<ReceiptSlot<'_>>,
) -> (StatementResult, StoredReply) {
    let existing = edited.before.is_some();
    let wrote = edited.changed;
    let hit = existing || edited.upserted.is_some();
    let done = StatementResult { hit, modified: existing && wrote, upserted: edited.upserted };
    // The value is null for an upsert without `new`.
    let value = if wanted.new { edited.after } else { edited.before };
    let answer = StoredReply { removed: false, new: wanted.new, existing, value };
    if let Some(ReceiptSlot { receipts, at }) = slot.filter(|_| !wrote) {
        receipts.record_unwritten(at, &done, Some(answer.clone()));
    }
    (done, answer)
}

/// Changes the document, or inserts one. A missing collection is created only for an upsert. The
/// memory of the reply with the document is reserved in `held`.
async fn change_document(
    call: &Call<'_>,
    namespace: &Namespace,
    update: &Update<'_>,
    slot: Option<ReceiptSlot<'_>>,
    held: &mut Share,
) -> Result<Edited> {
    loop {
        let collection = match call.find_no_view(namespace)? {
            Some(collection) => collection,
            None if update.upsert => call.ensure_collection(namespace).await?.0,
            None => return Ok(Edited::default()),
        };
        let receipts = slot.map(|slot| slot.begin(&[0]));
        let engine = call.engine();
        let edited = engine.find_and_update_with(&collection, update, receipts, Some(held)).await;
        if !Call::collection_was_dropped(&edited) {
            return edited.map_err(|error| Error::from(error).with_namespace(namespace));
        }
    }
}

/// Parses the projection of the returned document. A positional projection excludes `new`: it needs
/// the array position at which the filter matched, and the new document may not have an element
/// there.
fn parse_projection(args: &Args<'_>, new: bool, filter: &Filter) -> Result<Option<Projection>> {
    let Some(fields) = args.document("fields")?.filter(|fields| !fields.is_empty()) else {
        return Ok(None);
    };
    let projection = mongo_query::projection::parse_find_over(fields, filter)?;
    if new && projection.needs_filter() {
        let message = "cannot use a positional projection and return the new document";
        return Err(Error::new(BadValue, message));
    }
    Ok(Some(projection))
}

/// Parses the search: the first matching document by `sort`. Without `query` every document
/// matches.
pub(super) fn parse_find(args: &Args<'_>) -> Result<Find> {
    match args.document("query")? {
        Some(_) => parse_search(args, "query"),
        None => {
            let sort = args.document("sort")?.filter(|sort| !sort.is_empty());
            let sort = sort.map(mongo_query::sort::parse).transpose()?;
            let hint = parse_hint(args)?;
            Ok(Find { sort, hint, ..Find::new(pipeline::Filter::always()) })
        }
    }
}

/// Fails with 9 if arguments exclude each other. The texts are mongod's.
fn check_combination(remove: bool, upsert: bool, new: bool, update: bool) -> Result<()> {
    let message = match (remove, update) {
        (true, true) => "Cannot specify both an update and remove=true",
        (false, false) => "Either an update or remove=true must be specified",
        (true, _) if upsert => "Cannot specify both upsert=true and remove=true ",
        (true, _) if new => {
            "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document"
        }
        _ => return Ok(()),
    };
    Err(Error::new(FailedToParse, message))
}

/// Returns the reply: the counts, and the document or its projection. `repeated` is the statement's
/// id if an earlier attempt executed the statement.
fn build_reply(
    done: &StatementResult,
    answer: &StoredReply,
    repeated: Option<i32>,
    projection: Option<&Projection>,
    filter: &Filter,
    context: &Context,
) -> Result<DocBuf> {
    let mut last = doc! { "n": i32::from(done.hit) };
    if !answer.removed {
        last.push("updatedExisting", answer.existing);
    }
    if let Some(id) = &done.upserted {
        last.push("upserted", id.clone());
    }
    let mut builder = document::DocBuilder::new();
    builder.append("lastErrorObject", Value::Document(last).as_ref());
    match (answer.value.as_deref().map(DocRef::Raw), projection) {
        (None, _) => builder.append("value", ValueRef::Null),
        (Some(document), None) => builder.append("value", ValueRef::Document(document)),
        (Some(document), Some(projection)) => {
            let part = projection.apply(document, Some(filter), context)?;
            let bytes = part.bytes().len();
            if evaluation::MAX_RETURNED_BYTES < bytes {
                return Err(evaluation::too_large(bytes).into());
            }
            builder.append("value", ValueRef::Document(part.as_ref()));
        }
    }
    if let Some(id) = repeated {
        builder.append("retriedStmtId", ValueRef::Int32(id));
    }
    Ok(finish_reply(builder))
}
