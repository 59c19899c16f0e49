//! `findAndModify`: changes or removes one document and returns it, as it was before or as it is
//! after. Everything that can be wrong with the command is found before it changes anything: there
//! is one document, and no second chance to see its old state.
//!
//! ```text
//! {findAndModify: "c", query: {..}, sort: {..}, update: {$inc: {a: 1}}, new: true, upsert: false}
//! => {lastErrorObject: {n: 1, updatedExisting: true}, value: {..} | null, ok: 1}
//! {findAndModify: "c", query: {..}, remove: true}
//! => {lastErrorObject: {n: 1}, value: {..} | null, ok: 1}
//! ```
//!
//! The flags are numbers or booleans, since old drivers send 1 for true.

use std::sync::Arc;

use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};
use engine::{Edited, Find, Namespace, Store, Update};
use evaluation::Context;
use pipeline::{Filter, edit::Edit, project::Projection};

use crate::{
    arguments::Args,
    call::Call,
    counters::Counters,
    errors::{BadValue, Error, FailedToParse, Result},
    parsers::{
        hint::parse_hint,
        statements::{parse_edit, parse_search},
    },
    replies::finish_reply,
};

/// Arguments of `findAndModify`.
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
];

/// Runs `findAndModify`. The reply's `lastErrorObject` counts what happened, `value` is the
/// document or null.
pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let args = call.args();
    let remove = args.lax_bool("remove")?.unwrap_or(false);
    let upsert = args.lax_bool("upsert")?.unwrap_or(false);
    let new = args.lax_bool("new")?.unwrap_or(false);
    check_combination(remove, upsert, new, args.get("update").is_some())?;
    args.lax_bool("bypassDocumentValidation")?;
    // Whatever can be wrong with the command is found before it changes anything.
    let find = parse_find(&args)?;
    // Without an update the document is removed; that exactly one is asked for was checked.
    let mut edit = args.get("update").map(|update| parse_edit(update, &args, false)).transpose()?;
    let projection = parse_projection(&args, new)?;
    let context = call.evaluation_context().await?;
    // All ways to the end reply in one form.
    let reply = |shown: Option<&[u8]>, last: Document| {
        build_reply(shown, last, projection.as_ref(), &find.filter, &context)
    };
    // A replacement is a document that is stored whole, so its empty timestamps are filled in.
    if let Some(edit) = &mut edit {
        call.door.timestamps.fill_edit(edit, context.now_ms);
    }
    let Some(edit) = edit else {
        Counters::add(&call.connection.counters.delete, 1);
        let removed = loop {
            // Nothing can be found where there is no collection, and none is made for it.
            let Some(collection) = call.find_collection(&namespace) else {
                return reply(None, doc! { "n": 0 });
            };
            let removed = call.door.engine.find_and_remove(&collection, &find, &context).await;
            if !Call::<S>::came_late(&removed) {
                break removed?;
            }
        };
        Counters::add(&call.connection.counters.deleted, u64::from(removed.is_some()));
        let last = doc! { "n": i32::from(removed.is_some()) };
        return reply(removed.as_deref(), last);
    };
    Counters::add(&call.connection.counters.update, 1);
    let edited = change_document(call, &namespace, &find, &edit, upsert, &context).await?;
    let found = edited.before.is_some();
    Counters::add(&call.connection.counters.updated, u64::from(found));
    let mut last = doc! {
        "n": i32::from(found || edited.upserted.is_some()),
        "updatedExisting": found,
    };
    if let Some(id) = edited.upserted {
        last.push("upserted", id);
    }
    // The document after the change, or as it was found: null for an upsert without `new`.
    let shown = if new { edited.after } else { edited.before };
    reply(shown.as_deref(), last)
}

/// Changes the document, or inserts one. A collection is only made for an upsert.
async fn change_document<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    find: &Find,
    edit: &Edit,
    upsert: bool,
    context: &Arc<Context>,
) -> Result<Edited> {
    let writer = call.document_writer(clock::Instant::from_ms(context.now_ms));
    let update = Update {
        find: find.clone(),
        edit,
        many: false,
        upsert,
        context: Arc::clone(context),
        writer: &writer,
    };
    loop {
        let collection = match call.find_collection(namespace) {
            Some(collection) => collection,
            None if upsert => call.ensure_collection(namespace).await?.0,
            None => return Ok(Edited::default()),
        };
        let edited = call.door.engine.find_and_update(&collection, &update).await;
        if !Call::<S>::came_late(&edited) {
            return edited.map_err(|error| Error::from(error).with_namespace(namespace));
        }
    }
}

/// Which part of the document is returned. A positional projection needs the filter's match, which
/// the new document may no longer have, so the two exclude each other.
fn parse_projection(args: &Args<'_>, new: bool) -> Result<Option<Projection>> {
    let Some(fields) = args.document("fields")?.filter(|fields| !fields.is_empty()) else {
        return Ok(None);
    };
    let projection = mongo_query::projection::parse_find(fields)?;
    if new && projection.needs_filter() {
        let message = "cannot use a positional projection and return the new document";
        return Err(Error::new(BadValue, message));
    }
    Ok(Some(projection))
}

/// Which document is meant: the first by `sort` of those that match. Without `query` any document
/// matches.
pub(super) fn parse_find(args: &Args<'_>) -> Result<Find> {
    match args.document("query")? {
        Some(_) => parse_search(args, "query"),
        None => {
            args.simple_collation()?;
            let sort = args.document("sort")?.filter(|sort| !sort.is_empty());
            let sort = sort.map(mongo_query::sort::parse).transpose()?;
            let hint = parse_hint(args)?;
            Ok(Find { sort, hint, ..Find::new(pipeline::Filter::always()) })
        }
    }
}

/// Which arguments exclude each other; number and texts are mongod's.
///
/// Errors: 9, with one text for each combination.
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

/// The reply: what happened, and the document or a part of it.
fn build_reply(
    shown: Option<&[u8]>,
    last: Document,
    projection: Option<&Projection>,
    filter: &Filter,
    context: &Context,
) -> Result<DocBuf> {
    let mut builder = document::DocBuilder::new();
    builder.append("lastErrorObject", Value::Document(last).as_ref());
    match (shown.map(DocRef::Raw), projection) {
        (None, _) => builder.append("value", ValueRef::Null),
        (Some(document), None) => builder.append("value", ValueRef::Document(document)),
        (Some(document), Some(projection)) => {
            let part = projection.apply(document, Some(filter), context)?;
            builder.append("value", ValueRef::Document(part.as_ref()));
        }
    }
    Ok(finish_reply(builder))
}
