//! `createIndexes`: made online; the reply comes when they are complete.

use document::{DocBuf, doc};
use engine::{Collection, IndexSpec, Store};

use super::{Call, index_spec, ok};
use crate::errors::{BadValue, Error, OperationFailed, Result};

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
    if 32 < wanted.iter().map(|spec| spec.key.len()).max().unwrap_or(0) {
        return Err(Error::new(13103, "too many compound keys"));
    }
    let (collection, made) = call.ensure(&namespace).await?;
    refuse_twins(&collection, &wanted)?;
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

/// A new index is asked for once.
fn refuse_twins(collection: &Collection, wanted: &[IndexSpec]) -> Result<()> {
    let state = collection.state();
    for (at, spec) in wanted.iter().enumerate() {
        let twin = wanted.iter().take(at).any(|other| other == spec);
        if twin && state.record.index(&spec.name).is_none() {
            let message =
                "Cannot build two identical indexes. Try again without duplicate indexes.";
            return Err(Error::new(OperationFailed, message));
        }
    }
    Ok(())
}
