//! `createIndexes`: made online; the reply comes when they are complete.

use document::{DocBuf, doc};
use engine::Store;

use super::{Call, index_spec, ok};
use crate::errors::{BadValue, Error, Result};

pub(super) async fn run<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let specs = call.args().documents("indexes")?;
    if specs.is_empty() {
        return Err(Error::new(BadValue, "Must specify at least one index to create"));
    }
    let mut wanted = Vec::with_capacity(specs.len());
    for spec in specs {
        wanted.extend(index_spec::parse(spec)?);
    }
    let (collection, made) = call.ensure(&namespace).await?;
    let created = call.door.engine.create_indexes(&collection, wanted).await;
    let (before, after) = created.map_err(|error| Error::from(error).about(&namespace))?;
    let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let mut reply = doc! {
        "_t": "CreateIndexesResponse",
        "numIndexesBefore": number(before),
        "numIndexesAfter": number(after),
        "createdCollectionAutomatically": made,
    };
    if before == after {
        reply.push("note", "all indexes already exist");
    }
    ok(reply)
}
