//! The stages `$out` and `$merge` of `aggregate`, which write the result of a pipeline. `$out` fills
//! a temporary collection with the indexes and options of its target, and replaces the target by it
//! in one commit; `$merge` is in `merge.rs`.

use std::sync::Arc;

use document::{DocBuf, DocRef, ValueRef};
use engine::{BatchLimit, Collection, Cursor, ListOrdering, Model, Namespace, Plan, Record};
use evaluation::Context;
use mongo_query::pipeline::output::{Output, WhenMatched, WhenNotMatched, parse_output};

use super::{
    insert::{InsertChecks, prepare_document},
    merge::{check_key, merge_documents},
};
use crate::{
    access::Action,
    call::Call,
    errors::{Error, Result},
    names::{self, SYSTEM_DATABASES},
    query::begin_query,
    replies::cursor::{BatchPlace, batch_reply},
    rights::{CommandRequest, Object, Requirement},
};

/// Maximum size of the batches in which a result is written.
pub(super) const BATCH: BatchLimit = BatchLimit { documents: 1_000, bytes: 4 * 1024 * 1024 };

/// Error code: the target of `$out` is capped.
const OUT_TO_CAPPED: i32 = 17152;

/// Returns the rights that a writing stage in the pipeline of a command requires on its target.
pub(super) fn output_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let pipeline = request.body.get("pipeline").and_then(ValueRef::as_array);
    let Some(last) = pipeline.and_then(|stages| stages.iter().last()) else {
        return Ok(Vec::new());
    };
    // A wrong stage, or one that writes at another place, is refused by the command itself.
    let Ok(Some(output)) = parse_output(last) else { return Ok(Vec::new()) };
    let target = output.target();
    let database = target.database.as_deref().unwrap_or(request.database);
    names::check_database(database)?;
    let on = || Object::Collection(Namespace::new(database, target.collection.as_str()));
    let actions = match &output {
        Output::Out(_) => vec![Action::Insert, Action::Remove],
        Output::Merge(merge) => {
            let updates = !matches!(merge.matched, WhenMatched::KeepExisting | WhenMatched::Fail);
            let inserts = merge.not_matched == WhenNotMatched::Insert;
            let asked = [(Action::Update, updates), (Action::Insert, inserts)];
            asked.into_iter().filter(|(_, asked)| *asked).map(|(action, _)| action).collect()
        }
    };
    let mut needs: Vec<_> =
        actions.into_iter().map(|action| Requirement::of(action, on())).collect();
    if request.is_set("bypassDocumentValidation") {
        needs.push(Requirement::of(Action::BypassDocumentValidation, on()));
    }
    Ok(needs)
}

/// Runs a pipeline over `source`, under which `read` was found, and writes its result. Replies with
/// an empty batch.
///
/// # Errors
///
/// Those of the target's name, 166 if it is a view, 17152 if it is capped and the stage is `$out`, 51183 if a `$merge` finds no unique index for its
/// `on`, those of the pipeline and of the writes, and 125 if the target of an `$out` has changed
/// since the command began.
pub(super) async fn write_output(
    call: &Call<'_>,
    source: &Namespace,
    read: Option<Arc<Collection>>,
    plan: Plan,
    output: Output,
    context: Arc<Context>,
) -> Result<DocBuf> {
    let target = target_namespace(call, &output)?;
    let held = call.find_no_view(&target)?.map(|held| held.state());
    match output {
        Output::Out(_) => {
            let held = held.map(|held| held.record.clone());
            if held.as_ref().is_some_and(|held| held.capped.is_some()) {
                let message =
                    format!("namespace '{target}' is capped so it can't be used for $out");
                return Err(Error::new(OUT_TO_CAPPED, message));
            }
            let cursor = begin_query(call, source, read, plan, context)?;
            replace_collection(call, &target, held, cursor).await?;
        }
        Output::Merge(merge) => {
            check_key(&merge, held.as_deref(), context.collation())?;
            let cursor = begin_query(call, source, read, plan, Arc::clone(&context))?;
            merge_documents(call, &target, &merge, cursor, context).await?;
        }
    }
    Ok(batch_reply("firstBatch", &[], (0, source), BatchPlace::default()))
}

/// Returns the name of the target. Fails for collections of the server.
fn target_namespace(call: &Call<'_>, output: &Output) -> Result<Namespace> {
    let target = output.target();
    let database = target.database.as_deref().unwrap_or(call.database);
    let stage = output.name();
    let namespace = names::parse_collection(database, &target.collection)?;
    let [special, internal] = match output {
        Output::Out(_) => [17385, 31321],
        Output::Merge(_) => [31319, 31320],
    };
    if namespace.collection.starts_with("system.") {
        let message = format!("Can't {stage} to special collection: {}", namespace.collection);
        return Err(Error::new(special, message));
    }
    if SYSTEM_DATABASES.contains(&database) {
        return Err(Error::new(
            internal,
            format!("Can't {stage} to internal database: {database}"),
        ));
    }
    call.check_home(database)?;
    if call.find_collection(&namespace).is_none() {
        call.check_new(&namespace)?;
    }
    Ok(namespace)
}

/// Writes the result into a temporary collection, which then replaces the target. The temporary
/// collection is dropped after a failure, or at the next start if the server stops.
async fn replace_collection(
    call: &Call<'_>,
    target: &Namespace,
    held: Option<Record>,
    cursor: Cursor,
) -> Result<()> {
    let engine = &call.api.engine;
    let name = format!("tmp.agg_out.{:032x}", fastrand::u128(..));
    let temporary = Namespace::new(target.database.as_str(), name);
    let made = engine.create_temporary(&temporary, held.as_ref()).await?;
    let replaced = match fill_collection(call, &made, target, cursor).await {
        Ok(()) => engine.replace_collection(&temporary, target, held).await.map_err(Error::from),
        Err(error) => Err(error),
    };
    if replaced.is_err()
        && let Err(error) = engine.drop_collection(Model::Documents, &temporary).await
    {
        tracing::warn!(%temporary, %error, "a temporary collection is dropped at the next start");
    }
    replaced
}

/// Inserts the result of a query. Errors name the collection `shown`.
async fn fill_collection(
    call: &Call<'_>,
    collection: &Arc<Collection>,
    shown: &Namespace,
    mut cursor: Cursor,
) -> Result<()> {
    loop {
        let batch = cursor.next_batch(BATCH).await?;
        let now = call.api.engine.now().await?;
        let (writer, context) = (call.document_writer(now), call.insert_context(now));
        let rule = InsertChecks { writer: &writer, context: &context }.rule();
        let ready = batch.documents.iter();
        let ready = ready.map(|document| prepare_document(call, DocRef::Raw(document), &writer));
        let ready = ready.collect::<Result<Vec<_>>>()?;
        if !ready.is_empty() {
            let inserted =
                call.api.engine.insert_since(collection, ready, ListOrdering::Ordered, None, rule);
            if let Some((_, error)) = inserted.await?.failed.into_iter().next() {
                return Err(Error::from(error).with_namespace(shown));
            }
        }
        call.operation.check_running()?;
        if batch.done {
            return Ok(());
        }
    }
}
