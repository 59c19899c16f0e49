//! `bulkWrite`: many writes of many collections in one command, with outcomes in a cursor.

use std::sync::Arc;

use bytes::Bytes;
use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};
use engine::Namespace;
use engine::Store;
use query::Context;

use super::{
    Call, finish,
    insert::{check_batch, insert},
    update::{Statement, edit, execute, find, with_constants},
};
use crate::{
    args::Args,
    errors::{BadValue, Error, Result},
    names,
};

pub(super) const FIELDS: &[&str] =
    &["ops", "nsInfo", "ordered", "errorsOnly", "bypassDocumentValidation", "let", "cursor"];

#[derive(Default)]
struct Totals {
    inserted: usize,
    matched: usize,
    modified: usize,
    upserted: usize,
    deleted: usize,
    errors: usize,
}

pub(super) async fn run<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let args = call.args();
    let namespaces = call
        .documents("nsInfo")?
        .into_iter()
        .map(|info| full_name(Args::new("bulkWrite.nsInfo", info).need_str("ns")?))
        .collect::<Result<Vec<_>>>()?;
    let operations = call.documents("ops")?;
    check_batch(operations.len())?;
    let ordered = args.bool("ordered")?.unwrap_or(true);
    let errors_only = args.bool("errorsOnly")?.unwrap_or(false);
    let context = call.context().await?;
    let mut totals = Totals::default();
    let mut results = Vec::new();
    for (at, operation) in operations.into_iter().enumerate() {
        let outcome = apply(&call, &namespaces, operation, &context, &mut totals).await;
        let index = i32::try_from(at).unwrap_or(i32::MAX);
        match outcome {
            Ok(fields) if errors_only => drop(fields),
            Ok(fields) => results.push(entry(1.0, index, fields)),
            Err(error) => {
                totals.errors += 1;
                let mut fields = doc! { "n": 0 };
                for (name, value) in error.fields() {
                    fields.push(name, value);
                }
                results.push(entry(0.0, index, fields));
                if ordered {
                    break;
                }
            }
        }
    }
    Ok(reply(&results, &totals))
}

fn full_name(name: &str) -> Result<Namespace> {
    let (database, collection) = name.split_once('.').unwrap_or((name, ""));
    names::collection(database, collection)
}

fn entry(ok: f64, index: i32, fields: Document) -> Bytes {
    let mut entry = doc! { "ok": ok, "idx": index };
    for (name, value) in fields {
        entry.push(name, value);
    }
    entry.to_buf().into_bytes()
}

async fn apply<S: Store>(
    call: &Call<'_, S>,
    namespaces: &[Namespace],
    operation: DocRef<'_>,
    context: &Arc<Context>,
    totals: &mut Totals,
) -> Result<Document> {
    let kind = operation.iter().next().map_or("", |(name, _)| name);
    let args = Args::new(kind, operation);
    let at = args.int(kind)?.and_then(|at| usize::try_from(at).ok());
    let namespace = at
        .and_then(|at| namespaces.get(at))
        .ok_or_else(|| Error::new(BadValue, "BulkWrite ops entry has an invalid nsInfo index."))?;
    match kind {
        "insert" => insert_one(call, namespace, &args, context, totals).await,
        "update" => update_one(call, namespace, &args, context, totals).await,
        "delete" => delete_one(call, namespace, &args, context, totals).await,
        other => {
            let message = format!("BSON field 'bulkWrite.ops.{other}' is an unknown field.");
            Err(Error::new(40415, message))
        }
    }
}

async fn insert_one<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    args: &Args<'_>,
    context: &Context,
    totals: &mut Totals,
) -> Result<Document> {
    let document = args.need_document("document")?;
    let writer = call.writer(context);
    let (count, mut errors) = insert(call, namespace, &[document], true, &writer).await?;
    totals.inserted += count;
    match errors.pop() {
        Some((_, error)) => Err(error),
        None => Ok(doc! { "n": 1 }),
    }
}

async fn update_one<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    args: &Args<'_>,
    context: &Arc<Context>,
    totals: &mut Totals,
) -> Result<Document> {
    let update = args.get("updateMods").unwrap_or(ValueRef::Null);
    let many = args.bool("multi")?.unwrap_or(false);
    let statement = Statement {
        find: find(args, "filter")?,
        edit: edit(update, args, many)?,
        many,
        upsert: args.bool("upsert")?.unwrap_or(false),
    };
    let context = with_constants(context, args.document("constants")?);
    let updated = execute(call, namespace, statement, &context).await;
    let updated = updated.map_err(|error| error.about(namespace))?;
    totals.matched += updated.matched;
    totals.modified += updated.modified;
    totals.upserted += usize::from(updated.upserted.is_some());
    let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let n = updated.matched + usize::from(updated.upserted.is_some());
    let mut fields = doc! { "n": number(n), "nModified": number(updated.modified) };
    if let Some(id) = updated.upserted {
        fields.push("upserted", doc! { "_id": id });
    }
    Ok(fields)
}

async fn delete_one<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    args: &Args<'_>,
    context: &Arc<Context>,
    totals: &mut Totals,
) -> Result<Document> {
    let find = find(args, "filter")?;
    let many = args.bool("multi")?.unwrap_or(false);
    let count = match call.find(namespace) {
        Some(collection) => call.door.engine.remove(&collection, &find, many, context).await?.count,
        None => 0,
    };
    totals.deleted += count;
    Ok(doc! { "n": i32::try_from(count).unwrap_or(i32::MAX) })
}

fn reply(results: &[Bytes], totals: &Totals) -> DocBuf {
    let mut builder = document::DocBuilder::new();
    builder.document("cursor", |cursor| {
        cursor.append("id", ValueRef::Int64(0));
        cursor.array("firstBatch", |batch| {
            for result in results {
                batch.push(ValueRef::Document(DocRef::Raw(result)));
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
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        builder.append(name, Value::Int32(count).as_ref());
    }
    finish(builder)
}
