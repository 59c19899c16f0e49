//! `delete`: a list of statements, each for one document or for all that match.

use std::sync::Arc;

use document::{DocBuf, DocRef, doc};
use engine::Namespace;
use engine::Store;
use query::Context;

use super::{
    Call,
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

pub(super) async fn run<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let statements = call.documents("deletes")?;
    check_batch(statements.len())?;
    Counters::add(&call.connection.counters.delete, statements.len() as u64);
    let ordered = call.args().bool("ordered")?.unwrap_or(true);
    let context = call.context().await?;
    let mut n = 0;
    let mut errors = Vec::new();
    for (at, statement) in statements.into_iter().enumerate() {
        match apply(&call, &namespace, statement, &context).await {
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
    args.only(FIELDS)?;
    let many = match args.int("limit")? {
        Some(0) => true,
        Some(1) => false,
        Some(other) => {
            let message = format!("The limit field in delete objects must be 0 or 1. Got {other}");
            return Err(Error::new(FailedToParse, message));
        }
        None => {
            let message = "BSON field 'delete.deletes.limit' is missing but a required field";
            return Err(Error::new(40414, message));
        }
    };
    let find = find(&args, "q")?;
    let Some(collection) = call.find(namespace) else { return Ok(0) };
    Ok(call.door.engine.remove(&collection, &find, many, context).await?.count)
}
