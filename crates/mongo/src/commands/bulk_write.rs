//! `bulkWrite`: many writes of many collections in one command, with outcomes in a cursor. It is a
//! command of MongoDB 8.0; drivers send it to servers whose wire version is 25.
//!
//! Operations run one after the other. Their shapes are checked before the first one runs; what
//! their filters and updates mean is read when their turn comes, so that its error is that
//! operation's outcome. Outcomes are documents like those of a query, and those that do not fit
//! into the reply wait in a cursor on `admin.$cmd.bulkWrite`.
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
//! The number in the first field of an operation is its place in `nsInfo`. A command that ran is
//! `ok: 1` even if operations failed: drivers look at `nErrors` and at the outcomes.

use std::sync::Arc;

use document::{DocBuf, DocRef, Document, Number, Value, ValueRef, doc};
use engine::{Batch, BatchLimit, Namespace, Plan, Store};
use evaluation::Context;
use pipeline::{Expr, Filter, exec::Stage};

use super::{
    delete, insert,
    statements::{check_batch, ends_command, open_book},
    update,
};
use crate::{
    access::{Action, Actions},
    arguments::Args,
    call::Call,
    cursor_description::CursorDescription,
    cursors::NewCursor,
    errors::{BadValue, Error, Result},
    names,
    numbered::Place,
    parsers::{
        hint::parse_hint,
        statements::{UpdateFields, check_update, parse_search, parse_update},
    },
    query::begin_query,
    replies::{cursor::batch_limit, finish_reply, numbers::saturated_int},
    rights::{Asked, Need, Object, is_set},
    session,
};

/// Arguments of `bulkWrite`.
pub(super) const FIELDS: &[&str] =
    &["ops", "nsInfo", "ordered", "errorsOnly", "bypassDocumentValidation", "let", "cursor"];

/// Fields of an operation that inserts. The first one holds the position of its namespace in
/// `nsInfo`.
const INSERT_FIELDS: &[&str] = &["insert", "document"];
/// What an operation that updates calls the fields of a statement; [`update`] has other names for
/// them.
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
/// Fields of an operation that removes.
const DELETE_FIELDS: &[&str] = &["delete", "filter", "multi", "hint", "collation"];
/// The name of its cursor, in database `admin`.
const CURSOR: &str = "$cmd.bulkWrite";

/// What all operations did together, as the reply counts it.
#[derive(Default)]
struct Totals {
    inserted: usize,
    matched: usize,
    modified: usize,
    upserted: usize,
    deleted: usize,
    errors: usize,
}

/// What it asks of its sender: of each operation what the command of its kind would ask. One that
/// cannot be read asks for nothing, and spoils the command before anything runs.
pub(super) fn needs(asked: &Asked<'_>) -> Result<Vec<Need>> {
    let mut namespaces = Vec::new();
    for info in asked.listed("nsInfo") {
        let Some(ValueRef::String(name)) = info.get("ns") else { continue };
        namespaces.push(names::parse_full_name(name)?);
    }
    let bypasses = asked.is_set("bypassDocumentValidation");
    // There may be many operations, and few kinds of them on each namespace.
    let mut actions = vec![Actions::NONE; namespaces.len()];
    for operation in asked.listed("ops") {
        let Some((kind, place)) = operation.iter().next() else { continue };
        let place = Number::of(place).and_then(Number::to_i64_exact);
        let place = place.and_then(|place| usize::try_from(place).ok());
        let Some(actions) = place.and_then(|place| actions.get_mut(place)) else { continue };
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
        needs.extend(actions.iter().map(|action| Need::of(action, on.clone())));
    }
    Ok(needs)
}

/// Runs `bulkWrite`. In an `ordered` command the first failure is the last operation that runs.
/// With `errorsOnly` the outcomes of those that succeeded are left out.
pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let args = call.args();
    // All names first: an operation refers to one by its place.
    let namespaces = call
        .listed_documents("nsInfo")?
        .into_iter()
        .map(|info| {
            let args = Args::new("bulkWrite.nsInfo", info);
            args.allow_only(&["ns"])?;
            names::parse_full_name(args.need_str("ns")?)
        })
        .collect::<Result<Vec<_>>>()?;
    namespaces.iter().try_for_each(|namespace| call.check_home(&namespace.database))?;
    let operations = call.listed_documents("ops")?;
    check_batch(operations.len())?;
    // Nothing runs unless every operation has the shape of one.
    operations.iter().try_for_each(|it| check_shape(*it, namespaces.len()))?;
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
    let book = open_book(call, operations.len()).await?;
    let mut totals = Totals::default();
    let mut results = Vec::new();
    for (at, operation) in operations.into_iter().enumerate() {
        // Totals grow only with operations that succeed.
        let place = book.as_ref().map(|book| Place { book, at });
        let outcome =
            apply_operation(call, &namespaces, operation, &context, place, &mut totals).await;
        let index = saturated_int(at);
        match outcome {
            Ok(fields) if errors_only => drop(fields),
            Ok(fields) => results.push(outcome_entry(1.0, index, fields)),
            Err(error) if ends_command(call, &error) => return Err(error),
            Err(error) => {
                totals.errors += 1;
                // What an operation did before it failed is not counted.
                let mut fields = doc! { "n": 0 };
                for (name, value) in error.reply_fields() {
                    fields.push(name, value);
                }
                results.push(outcome_entry(0.0, index, fields));
                if ordered {
                    break;
                }
            }
        }
    }
    let mut repeated = Document::new();
    if let Some(book) = &book {
        book.finish(0 < totals.errors).await?;
        book.push_repeated(&mut repeated);
    }
    reply_with_outcomes(call, results, &totals, repeated, size).await
}

/// The outcome of one operation: whether it succeeded, its position, and what it did or why it
/// failed.
fn outcome_entry(ok: f64, index: i32, fields: Document) -> Document {
    let mut entry = doc! { "ok": ok, "idx": index };
    for (name, value) in fields {
        entry.push(name, value);
    }
    entry
}

/// Runs one operation; returns what its outcome says beside its position.
async fn apply_operation<S: Store>(
    call: &Call<'_, S>,
    namespaces: &[Namespace],
    operation: DocRef<'_>,
    context: &Arc<Context>,
    place: Option<Place<'_, S>>,
    totals: &mut Totals,
) -> Result<Document> {
    let kind = operation.iter().next().map_or("", |(name, _)| name);
    let args = Args::new(kind, operation);
    let namespace =
        namespaces.get(namespace_place(&args, namespaces.len())?).ok_or_else(no_place)?;
    match kind {
        "insert" => insert_one(call, namespace, &args, context, place, totals).await,
        "update" => update_one(call, namespace, &args, context, place, totals).await,
        "delete" => delete_one(call, namespace, &args, context, place, totals).await,
        other => Err(unknown_kind(other)),
    }
}

/// Checks what an operation looks like: one that is malformed spoils the command before any other
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
    namespace_place(&args, namespaces).map(|_| ())
}

/// The error of an operation that is none of the three.
fn unknown_kind(kind: &str) -> Error {
    Error::new(40415, format!("BSON field 'bulkWrite.ops.{kind}' is an unknown field."))
}

/// The error of an operation whose namespace is not in the list.
fn no_place() -> Error {
    Error::new(BadValue, "BulkWrite ops entry has an invalid nsInfo index.")
}

/// Which of the namespaces an operation is about: the number in its first field.
fn namespace_place(args: &Args<'_>, namespaces: usize) -> Result<usize> {
    let at = args.int(args.of)?.and_then(|at| usize::try_from(at).ok());
    at.filter(|at| *at < namespaces).ok_or_else(no_place)
}

/// Inserts the document of an operation.
async fn insert_one<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    args: &Args<'_>,
    context: &Context,
    place: Option<Place<'_, S>>,
    totals: &mut Totals,
) -> Result<Document> {
    let document = args.need_document("document")?;
    let writer = call.document_writer(clock::Instant::from_ms(context.now_ms));
    let (count, mut errors) =
        insert::insert_documents(call, namespace, &[document], true, &writer, place).await?;
    totals.inserted += count;
    // One document, so at most one error.
    match errors.pop() {
        Some((_, error)) => Err(error),
        None => Ok(doc! { "n": 1 }),
    }
}

/// Runs the update of an operation, which may insert.
async fn update_one<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    args: &Args<'_>,
    context: &Arc<Context>,
    place: Option<Place<'_, S>>,
    totals: &mut Totals,
) -> Result<Document> {
    let (statement, context) = parse_update(args, &UPDATE_FIELDS, context)?;
    let updated = update::update_documents(call, namespace, statement, &context, place).await;
    let updated = updated.map_err(|error| error.with_namespace(namespace))?;
    totals.matched += updated.matched;
    totals.modified += updated.modified;
    totals.upserted += usize::from(updated.upserted.is_some());
    // An upsert counts as one document that was touched, as in `update`.
    let n = updated.matched + usize::from(updated.upserted.is_some());
    let mut fields = doc! { "n": saturated_int(n), "nModified": saturated_int(updated.modified) };
    if let Some(id) = updated.upserted {
        fields.push("upserted", doc! { "_id": id });
    }
    Ok(fields)
}

/// Runs the delete of an operation.
async fn delete_one<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    args: &Args<'_>,
    context: &Arc<Context>,
    place: Option<Place<'_, S>>,
    totals: &mut Totals,
) -> Result<Document> {
    let find = parse_search(args, "filter")?;
    let many = args.bool("multi")?.unwrap_or(false);
    let count = delete::remove_documents(call, namespace, &find, many, context, place).await?;
    totals.deleted += count;
    Ok(doc! { "n": saturated_int(count) })
}

/// The first batch of outcomes; the others wait in a cursor.
async fn reply_with_outcomes<S: Store>(
    call: &Call<'_, S>,
    results: Vec<Document>,
    totals: &Totals,
    repeated: Document,
    size: Option<u64>,
) -> Result<DocBuf> {
    let namespace = Namespace::new("admin", CURSOR);
    let results = Value::Array(results.into_iter().map(Value::Document).collect());
    let stages = vec![Stage::Documents(Expr::Literal(results))];
    let plan = Plan::new(Filter::always()).with_stages(stages);
    // The writes are done: their outcomes, which are small, are reported in any case.
    // Limits of time and memory would lose what the client has to know now.
    let context = Arc::new(Context::default());
    let mut cursor = begin_query(call, &namespace, plan, context)?;
    // A first batch of nothing is allowed, and still opens a cursor.
    let wanted = match size {
        Some(0) => BatchLimit { documents: 0, bytes: 0 },
        size => batch_limit(size, usize::MAX, &call.door.settings.memory),
    };
    let batch = cursor.next_batch(wanted).await?;
    let id = match batch.done {
        true => 0,
        false => {
            // The same as for a query's cursor, so that `currentOp` shows this one too.
            let mut about = CursorDescription::new(call.body, &cursor.explain());
            about.note_batch(batch.documents.len());
            let opened = NewCursor {
                cursor,
                keep: false,
                session: session::session_id(call.body),
                connection: call.connection.id,
                owner: call.connection.sender(),
                about,
            };
            call.door.cursors.open(namespace, opened, &call.operation)?
        }
    };
    Ok(build_reply(&batch, id, totals, &repeated))
}

/// The reply: a batch of outcomes and the totals.
fn build_reply(batch: &Batch, id: i64, totals: &Totals, repeated: &Document) -> DocBuf {
    let mut builder = document::DocBuilder::new();
    builder.document("cursor", |cursor| {
        cursor.append("id", ValueRef::Int64(id));
        cursor.array("firstBatch", |outcomes| {
            for outcome in &batch.documents {
                outcomes.push(ValueRef::Document(DocRef::Raw(outcome)));
            }
        });
        cursor.append("ns", ValueRef::String("admin.$cmd.bulkWrite"));
    });
    for (name, count) in [
        ("nErrors", totals.errors),
        ("nInserted", totals.inserted),
        ("nMatched", totals.matched),
        ("nModified", totals.modified),
        ("nUpserted", totals.upserted),
        ("nDeleted", totals.deleted),
    ] {
        builder.append(name, Value::Int32(saturated_int(count)).as_ref());
    }
    for (name, value) in repeated.fields() {
        builder.append(name, value.as_ref());
    }
    finish_reply(builder)
}
