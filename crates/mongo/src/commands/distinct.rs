//! `distinct`: the values of a field, each once; arrays give their elements.

use std::collections::BTreeSet;

use document::{BsonOrder, DocBuf, DocRef, Path, Value, doc};
use engine::Store;
use engine::{BatchLimit, Model, Plan};
use query::filter::{Leaf, any_value};

use super::{Call, find::hint, ok};
use crate::{
    door::Counters,
    errors::{Error, Result},
    limits::MAX_DOCUMENT_BYTES,
};

pub(super) const FIELDS: &[&str] = &["key", "query", "collation", "hint"];

pub(super) async fn run<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    Counters::add(&call.connection.counters.query, 1);
    let namespace = call.namespace()?;
    let args = call.args();
    args.simple_collation()?;
    let key = args.need_str("key")?;
    if key.contains('\0') {
        return Err(Error::new(31032, "Key field cannot contain an embedded null byte"));
    }
    mongo_query::projection::check_path(key)?;
    let path = Path::new(key);
    let filter = match args.document("query")? {
        Some(filter) => mongo_query::filter::parse(filter)?,
        None => query::Filter::always(),
    };
    let plan = Plan { hint: hint(&args)?, ..Plan::new(filter) };
    let context = call.context().await?;
    let mut cursor = call.door.engine.query(Model::Documents, &namespace, plan, context)?;
    let mut seen = BTreeSet::new();
    let mut bytes = 0;
    // One batch, so that all values are of one instant.
    let batch = cursor.next(BatchLimit { documents: usize::MAX, bytes: usize::MAX }).await?;
    for document in &batch.documents {
        for value in values(DocRef::Raw(document), &path)? {
            let size = doc! { "": value.clone() }.to_buf().bytes().len();
            if seen.insert(BsonOrder(value)) {
                bytes += size;
            }
        }
        if MAX_DOCUMENT_BYTES < bytes {
            return Err(Error::new(17217, "distinct too big, 16mb cap"));
        }
    }
    ok(doc! { "values": Value::Array(seen.into_iter().map(|BsonOrder(value)| value).collect()) })
}

/// The values at a path, arrays on the way and at its end taken apart; missing gives none.
fn values(document: DocRef<'_>, path: &Path) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    any_value(document, path, Leaf::Whole, &mut |seen| {
        match seen.value {
            None => {}
            Some(document::ValueRef::Array(array)) => {
                found.extend(array.iter().map(|value| value.to_value()));
            }
            Some(value) => found.push(value.to_value()),
        }
        Ok::<bool, Error>(false)
    })?;
    Ok(found)
}
