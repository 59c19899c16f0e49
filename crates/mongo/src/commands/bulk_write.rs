//! `bulkWrite`: writes to several collections in one command, with outcomes in a cursor. It is a
//! command of MongoDB 8.0; drivers send it to servers with wire version 25.
//!
//! Operations run one after the other. Their structure is checked before the first one runs;
//! filters and updates are parsed when their operation runs, so that their errors are that
//! operation's outcome. Outcomes are documents like the results of a query; if they do not fit into
//! the reply, the rest is read from a cursor on `admin.$cmd.bulkWrite`.
//!
//! ```text
//! {bulkWrite: 1, nsInfo: [{ns: "db.c"}], ops: [
//!     {insert: 0, document: {..}},
//!     {update: 0, filter: {..}, updateMods: {..}, multi: false, upsert: true},
//!     {delete: 0, filter: {..}, multi: true},
//! ]}
//! => {cursor: {id: 0, firstBatch: [{ok: 1, idx: 0, n: 1}, ..], ns: ..},
//!     nErrors: 0, nInserted: 1, nMatched: .., ok: 1}
//! ```
//!
//! The number in the first field of an operation is an index into `nsInfo`. The reply has `ok: 1`
//! even if operations failed: drivers check `nErrors` and the outcomes.

use std::sync::Arc;

use document::{DocBuf, DocRef, Document, Number, ValueRef, doc};
use engine::{Namespace, WriteGroup};
use evaluation::Context;

use super::{
    bulk_outcomes::{OperationResult, Totals, outcome_entry, reply_with_outcomes},
    delete,
    insert::{self, InsertChecks},
    statements::{RunStatement, Staged, check_batch, open_receipts, run_statements},
    update,
};
use crate::{
    access::{Action, Actions},
    arguments::Args,
    call::Call,
    errors::{BadValue, Error, Result},
    names,
    parsers::{
        hint::parse_hint,
        statements::{
            UpdateFields, UpdateStatement, check_update, parse_search, parse_update, with_collation,
        },
    },
    replies::numbers::saturated_int,
    retryable::{ReceiptSlot, WriteReceipts},
    rights::{CommandRequest, Object, Requirement, is_set},
};

pub(super) const FIELDS: &[&str] =
    &["ops", "nsInfo", "ordered", "errorsOnly", "bypassDocumentValidation", "let", "cursor"];

/// Fields of an insert. The first one is the index of its namespace in `nsInfo`.
const INSERT_FIELDS: &[&str] = &["insert", "document"];
/// Field names of an update operation, for which the command [`update`] has other names.
const UPDATE_FIELDS: UpdateFields = UpdateFields {
    filter: "filter",
    update: "updateMods",
    constants: "constants",
    all: &[
        "update",
        "filter",
        "sort",
        "updateMods",
        "multi",
        "upsert",
        "upsertSupplied",
        "arrayFilters",
        "hint",
        "constants",
        "collation",
    ],
};
/// Fields of a delete operation in `bulkWrite`.
const DELETE_FIELDS: &[&str] = &["delete", "filter", "multi", "hint", "collation"];

/// Requires for each operation the rights of the corresponding command. A malformed operation
/// requires none, since the command then fails before anything runs.
pub(super) fn needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let mut namespaces = Vec::new();
    for info in request.listed("nsInfo") {
        let Some(ValueRef::String(name)) = info.get("ns") else { continue };
        namespaces.push(names::parse_full_name(name)?);
    }
    let bypasses = request.is_set("bypassDocumentValidation");
    // Collected per namespace, since there may be many operations but only few kinds.
    let mut actions = vec![Actions::NONE; namespaces.len()];
    for operation in request.listed("ops") {
        let Some((kind, position)) = operation.iter().next() else { continue };
        let position = Number::of(position).and_then(Number::to_i64_exact);
        let position = position.and_then(|position| usize::try_from(position).ok());
        let Some(actions) = position.and_then(|position| actions.get_mut(position)) else {
            continue;
        };
        match kind {
            "insert" => actions.insert(Action::Insert),
            "update" => {
                actions.insert(Action::Update);
                if is_set(operation, "upsert") {
                    actions.insert(Action::Insert);
                }
            }
            "delete" => actions.insert(Action::Remove),
            _ => {}
        }
        if bypasses && kind != "delete" {
            actions.insert(Action::BypassDocumentValidation);
        }
    }
    let mut needs = Vec::new();
    for (namespace, actions) in namespaces.into_iter().zip(actions) {
        let on = Object::Collection(namespace);
        needs.extend(actions.iter().map(|action| Requirement::of(action, on.clone())));
    }
    Ok(needs)
}

/// Runs `bulkWrite`. In an `ordered` command no operation runs after the first failure.
/// `errorsOnly` omits the outcomes of successful operations.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    // All names are checked first, since operations refer to them by index.
    let namespaces = call
        .listed_documents("nsInfo")?
        .into_iter()
        .map(|info| {
            let args = Args::new("bulkWrite.nsInfo", info);
            args.allow_only(&["ns"])?;
            names::parse_full_name(args.need_str("ns")?)
        })
        .collect::<Result<Vec<_>>>()?;
    namespaces.iter().try_for_each(names::check_no_dollar)?;
    namespaces.iter().try_for_each(|namespace| call.check_home(&namespace.database))?;
    let operations = call.listed_documents("ops")?;
    check_batch(operations.len())?;
    // Nothing runs unless every operation is well formed.
    operations.iter().try_for_each(|it| check_shape(*it, namespaces.len()))?;
    args.lax_bool("bypassDocumentValidation")?;
    let ordered = args.bool("ordered")?.unwrap_or(true);
    let errors_only = args.bool("errorsOnly")?.unwrap_or(false);
    let size = match args.document("cursor")? {
        Some(cursor) => {
            let args = Args::new("bulkWrite.cursor", cursor);
            args.allow_only(&["batchSize"])?;
            args.count("batchSize")?
        }
        None => None,
    };
    let context = call.evaluation_context().await?;
    let receipts = open_receipts(call, operations.len()).await?;
    let mut run = Run {
        call,
        namespaces,
        receipts: receipts.as_ref(),
        errors_only,
        totals: Totals::default(),
        results: Vec::new(),
    };
    run_statements(call, operations, ordered, Ok(context), receipts.as_ref(), &mut run).await?;
    let Run { totals, results, .. } = run;
    let mut repeated = Document::new();
    if let Some(receipts) = &receipts {
        receipts.finish(0 < totals.errors).await?;
        receipts.push_repeated(&mut repeated);
    }
    reply_with_outcomes(call, results, &totals, repeated, size).await
}

struct Run<'a> {
    call: &'a Call<'a>,
    namespaces: Vec<Namespace>,
    receipts: Option<&'a WriteReceipts<'a>>,
    errors_only: bool,
    /// Numbers of documents affected by the successful operations.
    totals: Totals,
    results: Vec<Document>,
}

impl RunStatement for Run<'_> {
    type Outcome = OperationResult;

    async fn stage(
        &mut self,
        at: usize,
        operation: DocRef<'_>,
        context: &Arc<Context>,
        group: &mut WriteGroup<'_>,
    ) -> Result<Staged<OperationResult>> {
        let (call, slot) = (self.call, self.receipts.map(|receipts| ReceiptSlot { receipts, at }));
        let (planned, namespace) = self.parse(operation, context)?;
        Ok(match planned {
            ParsedOperation::Insert(document) => {
                let writer = call.document_writer(clock::Instant::from_ms(context.now_ms));
                let checks = InsertChecks { writer: &writer, context: &**context };
                insert::stage_insert(call, namespace, at, document, checks, slot, group)
                    .await?
                    .map(|()| OperationResult::Inserted)
            }
            ParsedOperation::Update(statement, context) => {
                let staged =
                    update::stage_update(call, namespace, at, *statement, &context, slot, group);
                let staged = staged.await.map_err(|error| error.with_namespace(namespace))?;
                staged.map(OperationResult::Updated)
            }
            ParsedOperation::Remove(removal, context) => {
                delete::stage_removal(call, namespace, at, &removal, &context, slot, group)
                    .await?
                    .map(OperationResult::Removed)
            }
        })
    }

    fn record_staged(&mut self, at: usize, done: &OperationResult) {
        let slot = self.receipts.map(|receipts| ReceiptSlot { receipts, at });
        match done {
            OperationResult::Inserted => {}
            OperationResult::Updated(updated) => update::record_updated(self.call, slot, updated),
            OperationResult::Removed(count) => delete::record_removed(self.call, slot, *count),
        }
    }

    async fn run_statement(
        &mut self,
        at: usize,
        operation: DocRef<'_>,
        context: &Arc<Context>,
    ) -> Result<OperationResult> {
        let (call, slot) = (self.call, self.receipts.map(|receipts| ReceiptSlot { receipts, at }));
        let (planned, namespace) = self.parse(operation, context)?;
        match planned {
            ParsedOperation::Insert(document) => {
                insert_one(call, namespace, document, context, slot).await
            }
            ParsedOperation::Update(statement, context) => {
                update::update_documents(call, namespace, *statement, &context, slot)
                    .await
                    .map(OperationResult::Updated)
                    .map_err(|error| error.with_namespace(namespace))
            }
            ParsedOperation::Remove(removal, context) => {
                delete::remove_documents(call, namespace, &removal, &context, slot)
                    .await
                    .map(OperationResult::Removed)
            }
        }
    }

    fn add_up(&mut self, at: usize, done: OperationResult) {
        let fields = self.totals.count(done);
        if !self.errors_only {
            self.results.push(outcome_entry(1.0, saturated_int(at), fields));
        }
    }

    fn record_failure(&mut self, at: usize, error: &Error) {
        self.totals.errors += 1;
        // What an operation did before it failed is not counted.
        let mut fields = doc! { "n": 0 };
        for (name, value) in error.reply_fields() {
            fields.push(name, value);
        }
        self.results.push(outcome_entry(0.0, saturated_int(at), fields));
    }
}

enum ParsedOperation<'d> {
    Insert(DocRef<'d>),
    /// An update, and its evaluation context.
    Update(Box<UpdateStatement>, Arc<Context>),
    /// A removal, and its evaluation context.
    Remove(delete::Removal, Arc<Context>),
}

impl Run<'_> {
    /// Parses an operation and returns the collection that it writes to.
    fn parse<'d>(
        &self,
        operation: DocRef<'d>,
        context: &Arc<Context>,
    ) -> Result<(ParsedOperation<'d>, &Namespace)> {
        let kind = operation.iter().next().map_or("", |(name, _)| name);
        let args = Args::new(kind, operation);
        let position = namespace_index(&args, self.namespaces.len())?;
        let namespace = self.namespaces.get(position).ok_or_else(invalid_namespace_index)?;
        match kind {
            "delete" => names::check_deletable(namespace)?,
            _ => names::check_writable(namespace)?,
        }
        let default = || self.call.default_collation(namespace);
        let planned = match kind {
            "insert" => ParsedOperation::Insert(args.need_document("document")?),
            "update" => {
                let (statement, context) = parse_update(&args, &UPDATE_FIELDS, context, default())?;
                ParsedOperation::Update(Box::new(statement), context)
            }
            "delete" => {
                let context = with_collation(&args, context, default())?;
                ParsedOperation::Remove(removal_of(&args)?, context)
            }
            other => return Err(unknown_kind(other)),
        };
        Ok((planned, namespace))
    }
}

fn removal_of(args: &Args<'_>) -> Result<delete::Removal> {
    let find = parse_search(args, "filter")?;
    Ok(delete::Removal { find, many: args.bool("multi")?.unwrap_or(false) })
}

/// Checks the structure of an operation. A malformed operation fails the command before any
/// operation runs.
fn check_shape(operation: DocRef<'_>, namespaces: usize) -> Result<()> {
    let kind = operation.iter().next().map_or("", |(name, _)| name);
    let args = Args::new(kind, operation);
    match kind {
        "insert" => {
            args.allow_only(INSERT_FIELDS)?;
            args.need_document("document")?;
        }
        "update" => check_update(&args, &UPDATE_FIELDS)?,
        "delete" => {
            args.allow_only(DELETE_FIELDS)?;
            args.need_document("filter")?;
            args.bool("multi")?;
            args.document("collation")?;
            parse_hint(&args)?;
        }
        other => return Err(unknown_kind(other)),
    }
    namespace_index(&args, namespaces).map(|_| ())
}

/// Returns the error of an operation that is not an insert, update or delete.
fn unknown_kind(kind: &str) -> Error {
    Error::new(40415, format!("BSON field 'bulkWrite.ops.{kind}' is an unknown field."))
}

/// Returns the error of an operation whose namespace index is out of range.
fn invalid_namespace_index() -> Error {
    Error::new(BadValue, "BulkWrite ops entry has an invalid nsInfo index.")
}

/// Returns the index into `nsInfo` in an operation's first field.
fn namespace_index(args: &Args<'_>, namespaces: usize) -> Result<usize> {
    let at = args.int(args.of)?.and_then(|at| usize::try_from(at).ok());
    at.filter(|at| *at < namespaces).ok_or_else(invalid_namespace_index)
}

/// Inserts the document of an operation.
async fn insert_one(
    call: &Call<'_>,
    namespace: &Namespace,
    document: DocRef<'_>,
    context: &Context,
    slot: Option<ReceiptSlot<'_>>,
) -> Result<OperationResult> {
    let writer = call.document_writer(clock::Instant::from_ms(context.now_ms));
    let checks = InsertChecks { writer: &writer, context };
    let (_, mut errors) =
        insert::insert_documents(call, namespace, &[document], true, checks, slot).await?;
    // At most one error, since there is one document.
    errors.pop().map_or(Ok(OperationResult::Inserted), |(_, error)| Err(error))
}
