//! `insert`: inserts documents, each with its own outcome, with one wait for durability.
//!
//! ```text
//! {insert: "c", documents: [{..}, {..}], ordered: true}
//! => {n: 2, writeErrors: [{index: 1, code: 11000, keyPattern: {..}, errmsg: ..}], ok: 1}
//! ```
//!
//! The reply has `ok: 1` even if documents failed.

use document::{DocBuf, DocBuilder, DocRef, MAX_STORED_DEPTH, depth_within, doc};
use engine::{ListOrdering, Namespace, NewDocument, RuleContext, WriteGroup};

use super::statements::{Staged, check_batch, open_receipts, push_errors};
use crate::{
    access::Action,
    call::Call,
    charges::{admit_statements, charge_inserts},
    counters::Counters,
    document_writer::{CheckedDocument, DocumentWriter, with_id},
    errors::{BSONObjectTooLarge, Error, Overflow, Result, WriteConflict},
    replies::{numbers::saturated_int, ok},
    reserved_property::{RESERVED, restored_second},
    retryable::ReceiptSlot,
    rights::{CommandRequest, Requirement},
    utf8,
};

pub(super) fn needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let mut needs = vec![Requirement::of(Action::Insert, request.collection()?)];
    needs.extend(bypass_requirement(request)?);
    Ok(needs)
}

/// Returns the right that is required if a write bypasses document validation; otherwise `None`.
pub(super) fn bypass_requirement(request: &CommandRequest<'_>) -> Result<Option<Requirement>> {
    let bypasses = request.is_set("bypassDocumentValidation");
    let need = |on| Requirement::of(Action::BypassDocumentValidation, on);
    bypasses.then(|| request.collection().map(need)).transpose()
}

/// Runs `insert`. An evaluation context is created only for a validator, since many inserts are
/// small.
///
/// The command fails with 16 if there are no documents or too many. A single document fails with
/// 10334 if it is too large, 15 if it is nested too deeply, 2 if it sets the reserved property, 52
/// or 53 if its id is invalid, 11000 if a key is a duplicate, and 121 if it fails validation.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace_of_writes()?;
    let documents = call.listed_documents("documents")?;
    check_batch(documents.len())?;
    let admission = admit_statements(call, &documents);
    let admitted = documents.get(..admission.statements).unwrap_or(&documents);
    Counters::add(&call.connection.counters.insert, admitted.len() as u64);
    call.args().lax_bool("bypassDocumentValidation")?;
    let ordered = call.args().bool("ordered")?.unwrap_or(true);
    let writer = call.document_writer(call.api.engine.now().await?);
    let receipts = open_receipts(call, documents.len()).await?;
    let slot = receipts.as_ref().map(|receipts| ReceiptSlot { receipts, at: 0 });
    charge_inserts(call, admitted);
    let context = call.insert_context(writer.now);
    let checks = InsertChecks { writer: &writer, context: &context };
    let (inserted, mut errors) =
        insert_documents(call, &namespace, admitted, ordered, checks, slot).await?;
    for at in admitted.len()..documents.len() {
        if ordered && !errors.is_empty() {
            break;
        }
        errors.push((at, admission.error()));
    }
    let mut reply = doc! { "n": saturated_int(inserted) };
    push_errors(&mut reply, &errors);
    if let Some(receipts) = &receipts {
        receipts.finish(!errors.is_empty()).await?;
        receipts.push_repeated(&mut reply);
    }
    ok(reply)
}

/// Checks the size and depth of a document that is to be stored; `most` is the maximum size in
/// bytes. Messages may be larger and deeper than stored documents, because of the surrounding
/// command.
pub(super) fn check_stored(document: DocRef<'_>, most: usize) -> Result<()> {
    let DocRef::Raw(bytes) = document else { return Ok(()) };
    if most < bytes.len() {
        let message =
            format!("object to insert too large. size in bytes: {}, max size: {most}", bytes.len());
        return Err(Error::new(BSONObjectTooLarge, message));
    }
    // Not validated again: the message was validated as a whole.
    if depth_within(bytes, MAX_STORED_DEPTH) {
        return Ok(());
    }
    let message =
        format!("cannot insert document because it exceeds {MAX_STORED_DEPTH} levels of nesting");
    Err(Error::new(Overflow, message))
}

/// The checks of inserted documents: those of `writer`, and the collection's validator.
#[derive(Clone, Copy)]
pub(super) struct InsertChecks<'a> {
    pub(super) writer: &'a DocumentWriter,
    /// The context of the validator. It reserves the memory of the validator's errors until the
    /// command ends.
    pub(super) context: &'a dyn RuleContext,
}

impl<'a> InsertChecks<'a> {
    /// Returns the context of the validator; `None` if it is bypassed.
    pub(super) fn rule(&self) -> Option<&'a dyn RuleContext> {
        (!self.writer.bypasses_validation).then_some(self.context)
    }
}

/// Inserts documents; returns the number inserted, and the errors by position.
///
/// All documents are checked first. An `ordered` insert inserts the documents before the first one
/// that fails its check. If the engine refuses one of these, that error is reported instead, since
/// its position is earlier. Otherwise every document that passes its check is inserted.
///
/// In a retryable write, `slot` is where the receipt (the recorded result) of the first document is
/// stored. Documents that an earlier attempt inserted are counted and skipped.
pub(super) async fn insert_documents(
    call: &Call<'_>,
    namespace: &Namespace,
    documents: &[DocRef<'_>],
    ordered: bool,
    checks: InsertChecks<'_>,
    slot: Option<ReceiptSlot<'_>>,
) -> Result<(usize, Vec<(usize, Error)>)> {
    let writer = checks.writer;
    let mut errors = Vec::new();
    let (mut positions, mut ready) = (Vec::new(), Vec::new());
    let left = positions_left(documents.len(), slot).await?;
    let before = documents.len() - left.len();
    for (at, document) in left.iter().filter_map(|at| Some((*at, documents.get(*at)?))) {
        match prepare_document(call, *document, writer) {
            Ok(new) => {
                positions.push(at);
                ready.push(new);
            }
            Err(error) => {
                errors.push((at, error));
                if ordered {
                    break;
                }
            }
        }
    }
    if ready.is_empty() {
        return Ok((before, errors));
    }
    let rule = checks.rule();
    let ordering = if ordered { ListOrdering::Ordered } else { ListOrdering::Unordered };
    let inserted = loop {
        let (collection, _) = call.ensure_collection(namespace).await?;
        let receipts = slot.map(|slot| slot.begin(&positions));
        let inserted =
            call.engine().insert_since(&collection, ready, ordering, receipts, rule).await;
        if !Call::collection_was_dropped(&inserted) {
            break inserted?;
        }
        if slot.is_some() {
            // The documents inserted so far have receipts, although they were dropped with the
            // collection; the driver retries the command for the rest.
            let message = "the collection was dropped";
            return Err(Error::new(WriteConflict, message));
        }
        // The documents inserted so far were dropped with the collection, so all are inserted
        // again.
        ready = positions
            .iter()
            .filter_map(|at| documents.get(*at))
            .map(|document| prepare_document(call, *document, writer))
            .collect::<Result<_>>()?;
    };
    if ordered && !inserted.failed.is_empty() {
        errors.clear();
    }
    for (at, error) in inserted.failed {
        let at = positions.get(at).copied().unwrap_or(at);
        errors.push((at, Error::from(error).with_namespace(namespace)));
    }
    errors.sort_by_key(|(at, _)| *at);
    Ok((before + inserted.count, errors))
}

/// Adds the insert of one document to a group of statements that are committed together; `at` is
/// its position in the command.
pub(super) async fn stage_insert(
    call: &Call<'_>,
    namespace: &Namespace,
    at: usize,
    document: DocRef<'_>,
    checks: InsertChecks<'_>,
    slot: Option<ReceiptSlot<'_>>,
    group: &mut WriteGroup<'_>,
) -> Result<Staged<()>> {
    if positions_left(1, slot).await?.is_empty() {
        return Ok(Staged::Repeated(()));
    }
    let new = prepare_document(call, document, checks.writer)?;
    let (collection, _) = call.ensure_collection(namespace).await?;
    let inserted = group.insert(at, &collection, new, checks.rule()).await;
    // The collection was dropped after the lookup; the statement is run alone and repeats it.
    if Call::collection_was_dropped(&inserted) {
        return Ok(Staged::Left);
    }
    let inserted = inserted.map_err(|error| Error::from(error).with_namespace(namespace))?;
    Ok(inserted.map_or(Staged::Left, Staged::Added))
}

/// Returns the positions of the documents that no earlier attempt of a retryable write has
/// inserted.
async fn positions_left(documents: usize, slot: Option<ReceiptSlot<'_>>) -> Result<Vec<usize>> {
    let Some(ReceiptSlot { receipts, at }) = slot else { return Ok((0..documents).collect()) };
    let mut left = Vec::with_capacity(documents);
    for position in 0..documents {
        if receipts.find(at + position).await?.is_none() {
            left.push(position);
        }
    }
    Ok(left)
}

/// Returns the document to store and its expiry. If `carry_timestamps` is on, a restored document
/// may contain `_ts`, the time of its last write, which is then removed from the document.
pub(super) fn prepare_document(
    call: &Call<'_>,
    document: DocRef<'_>,
    writer: &DocumentWriter,
) -> Result<NewDocument> {
    utf8::check_document(call.message, document)?;
    if call.api.carries_timestamps()
        && let Some(since) = document.get(RESERVED)
    {
        let since = restored_second(since)?;
        let rest = without_field(document, RESERVED);
        return as_stored(call, rest.as_ref(), writer, Some(since));
    }
    as_stored(call, document, writer, None)
}

/// Returns a document without one of its root-level fields.
fn without_field(document: DocRef<'_>, left_out: &str) -> DocBuf {
    let mut builder = DocBuilder::new();
    for (name, value) in document.iter().filter(|(name, _)| *name != left_out) {
        builder.append(name, value);
    }
    builder.finish()
}

/// Returns the checked and completed document: `_id` is first and is generated if missing; empty
/// timestamps are filled in.
fn as_stored(
    call: &Call<'_>,
    document: DocRef<'_>,
    writer: &DocumentWriter,
    since: Option<i64>,
) -> Result<NewDocument> {
    check_stored(document, call.api.settings.max_document_bytes())?;
    let CheckedDocument { lifetime, has_empty_timestamp } = writer.check_document(document)?;
    let mut owned = match document.iter().next() {
        Some(("_id", _)) => call.message.owned_document(document),
        _ => with_id(document, writer.now),
    };
    if has_empty_timestamp {
        owned = call.api.timestamps.fill_empty(owned.as_ref(), writer.now.ms);
    }
    Ok(NewDocument { document: owned, lifetime, since })
}
