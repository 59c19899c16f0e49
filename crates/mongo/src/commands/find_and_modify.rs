//! `findAndModify`: changes or removes one document and answers it.

use std::sync::Arc;

use document::{DocBuf, DocRef, Value, ValueRef, doc};
use engine::Store;
use engine::{Edited, Find, Update};
use query::Context;

use super::{
    Call, finish,
    update::{edit, find},
};
use crate::{
    args::Args,
    door::Counters,
    errors::{Error, FailedToParse, Result},
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
];

pub(super) async fn run<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let args = call.args();
    let remove = args.bool("remove")?.unwrap_or(false);
    let upsert = args.bool("upsert")?.unwrap_or(false);
    let new = args.bool("new")?.unwrap_or(false);
    let update = args.get("update");
    check(remove, upsert, new, update.is_some())?;
    let context = call.context().await?;
    let find = parse_find(&args)?;
    let edited = if remove {
        Counters::add(&call.connection.counters.delete, 1);
        let Some(collection) = call.find(&namespace) else {
            return reply(&args, None, doc! { "n": 0 }, &find, &context);
        };
        let removed = call.door.engine.find_and_remove(&collection, &find, &context).await?;
        let last = doc! { "n": i32::from(removed.is_some()) };
        return reply(&args, removed.as_deref(), last, &find, &context);
    } else {
        Counters::add(&call.connection.counters.update, 1);
        let collection = match call.find(&namespace) {
            Some(collection) => Some(collection),
            None if upsert => Some(call.ensure(&namespace).await?.0),
            None => None,
        };
        let edit = edit(update.unwrap_or(ValueRef::Null), &args, false)?;
        match collection {
            None => Edited::default(),
            Some(collection) => {
                let writer = call.writer(&context);
                let update = Update {
                    find: find.clone(),
                    edit: &edit,
                    many: false,
                    upsert,
                    context: Arc::clone(&context),
                    writer: &writer,
                };
                let edited = call.door.engine.find_and_update(&collection, &update).await;
                edited.map_err(|error| Error::from(error).about(&namespace))?
            }
        }
    };
    let found = edited.before.is_some();
    let mut last = doc! {
        "n": i32::from(found || edited.upserted.is_some()),
        "updatedExisting": found,
    };
    if let Some(id) = edited.upserted {
        last.push("upserted", id);
    }
    let shown = if new { edited.after } else { edited.before };
    reply(&args, shown.as_deref(), last, &find, &context)
}

fn parse_find(args: &Args<'_>) -> Result<Find> {
    match args.document("query")? {
        Some(_) => find(args, "query"),
        None => {
            let sort = args.document("sort")?.filter(|sort| !sort.is_empty());
            let sort = sort.map(mongo_query::sort::parse).transpose()?;
            let hint = super::find::hint(args)?;
            Ok(Find { sort, hint, ..Find::new(query::Filter::always()) })
        }
    }
}

fn check(remove: bool, upsert: bool, new: bool, update: bool) -> Result<()> {
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

fn reply(
    args: &Args<'_>,
    shown: Option<&[u8]>,
    last: document::Document,
    find: &Find,
    context: &Context,
) -> Result<DocBuf> {
    let mut builder = document::DocBuilder::new();
    builder.append("lastErrorObject", Value::Document(last).as_ref());
    match shown {
        None => builder.append("value", ValueRef::Null),
        Some(bytes) => {
            let document = DocRef::Raw(bytes);
            match args.document("fields")?.filter(|fields| !fields.is_empty()) {
                None => builder.append("value", ValueRef::Document(document)),
                Some(fields) => {
                    let projection = mongo_query::projection::parse_find(fields)?;
                    let part = projection.apply(document, Some(&find.filter), context)?;
                    builder.append("value", ValueRef::Document(part.as_ref()));
                }
            }
        }
    }
    Ok(finish(builder))
}
