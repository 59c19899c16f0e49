//! `delete`: a list of statements, each for one document or for all that match.

use std::sync::Arc;

use document::{DocBuf, DocRef, doc};
use engine::{Find, Namespace, Store};
use query::Context;

use super::{
    Call,
    find::hint,
    insert::{check_batch, push_errors},
    ok,
    update::find,
};
use crate::{
    args::Args,
    door::Counters,
    errors::{Error, FailedToParse, Result},
};

const FIELDS: &[&str] = &["q", "limit", "collation", "hint"];

pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let statements = call.documents("deletes")?;
    check_batch(statements.len())?;
    statements.iter().try_for_each(|it| check_shape(&Args::new("delete.deletes", *it)))?;
    Counters::add(&call.connection.counters.delete, statements.len() as u64);
    let ordered = call.args().bool("ordered")?.unwrap_or(true);
    call.args().document("let")?;
    let context = call.context().await;
    let mut n = 0;
    let mut errors = Vec::new();
    for (at, statement) in statements.into_iter().enumerate() {
        // What is wrong with the command's constants is wrong with each statement.
        let applied = match &context {
            Ok(context) => apply(call, &namespace, statement, context).await,
            Err(error) => Err(error.clone()),
        };
        match applied {
            Ok(count) => n += count,
            Err(error) => {
                errors.push((at, error));
                if ordered {
                    break;
                }
            }
        }
    }
    let mut reply = doc! { "n": i32::try_from(n).unwrap_or(i32::MAX) };
    push_errors(&mut reply, &errors);
    ok(reply)
}

async fn apply<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    statement: DocRef<'_>,
    context: &Arc<Context>,
) -> Result<usize> {
    let args = Args::new("delete.deletes", statement);
    let find = find(&args, "q")?;
    let many = many(&args)?;
    execute(call, namespace, &find, many, context).await
}

/// Removes what is found, and answers how many documents that were.
pub(super) async fn execute<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    find: &Find,
    many: bool,
    context: &Arc<Context>,
) -> Result<usize> {
    loop {
        let Some(collection) = call.find(namespace) else { return Ok(0) };
        let removed = call.door.engine.remove(&collection, find, many, context).await;
        if !Call::<S>::came_late(&removed) {
            let count = removed?.count;
            Counters::add(&call.connection.counters.deleted, count as u64);
            return Ok(count);
        }
    }
}

/// Checks what a statement looks like: one that is malformed spoils its command before any other
/// statement runs.
pub(super) fn check_shape(args: &Args<'_>) -> Result<()> {
    args.only(FIELDS)?;
    args.need_document("q")?;
    args.document("collation")?;
    hint(args)?;
    many(args).map(|_| ())
}

/// Whether all documents are meant, or one.
pub(super) fn many(args: &Args<'_>) -> Result<bool> {
    args.int("limit")?;
    let Some(limit) = args.get("limit") else { return Err(args.missing("limit")) };
    match document::Number::of(limit).and_then(document::Number::to_i64_exact) {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => {
            let message = format!(
                "The limit field in delete objects must be 0 or 1. Got {}",
                document::shell(limit)
            );
            Err(Error::new(FailedToParse, message))
        }
    }
}
