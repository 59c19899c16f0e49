//! Views as they are stored: a catalog record of a collection without documents, whose options
//! contain the definition. The engine computes the documents of a view in each query
//! ([`engine::StoredView`]).
//!
//! ```text
//! {viewOn: "c", pipeline: [{$match: {a: 1}}], collation: {locale: "en", ..}}
//! ```

use document::{ArrayRef, Document, Value};
use engine::{Collection, Kind, Namespace, Record, StoredView};

use crate::errors::{CommandNotSupportedOnView, Error};

/// Name of the option that contains the name of the collection or view that a view reads.
pub(crate) const VIEW_ON: &str = "viewOn";
/// Name of the option that contains the pipeline of a view.
pub(crate) const PIPELINE: &str = "pipeline";

/// Returns whether a collection is a view. A collection never becomes a view, nor the reverse.
pub(crate) fn is_view(collection: &Collection) -> bool {
    collection.state().record.options.get(VIEW_ON).is_some()
}

/// Returns the name of the collection or view that a view reads; `None` for a collection.
pub(crate) fn view_source(collection: &Collection) -> Option<String> {
    match collection.state().record.options.get(VIEW_ON) {
        Some(Value::String(source)) => Some(source.clone()),
        _ => None,
    }
}

/// Returns the error (166) of a command that needs a collection and got a view.
pub(crate) fn not_on_view(namespace: &Namespace) -> Error {
    let message = format!("Namespace {namespace} is a view, not a collection");
    Error::new(CommandNotSupportedOnView, message)
}

/// Returns the options of a record with this definition.
pub(crate) fn view_options(source: &str, pipeline: ArrayRef<'_>) -> Document {
    let mut options = Document::new();
    options.push(VIEW_ON, source);
    options.push(PIPELINE, Value::Array(pipeline.to_values()));
    options
}

/// Parses the definition in a record; `None` if it is not that of a view.
///
/// # Errors
///
/// Those of the pipeline. It was accepted when it was stored, so only another version of the server
/// may refuse it.
pub(crate) fn parse_stored(record: &Record) -> Result<Option<StoredView>, engine::Error> {
    let options = &record.options;
    let (Some(Value::String(source)), Some(Value::Array(pipeline))) =
        (options.get(VIEW_ON), options.get(PIPELINE))
    else {
        return Ok(None);
    };
    let collation = engine::default_collation(options);
    let parsed =
        mongo_query::pipeline::parse_collated(ArrayRef::Tree(pipeline), collation.as_deref());
    let stages = parsed.map_err(|error| {
        let message = format!("Cannot run the view {}: {error}", record.namespace);
        let kind = evaluation::Kind::Invalid;
        let inner = evaluation::Error::new(kind, error.code, message.as_str());
        engine::Error::new(Kind::Query(inner), message)
    })?;
    let bytes = pipeline.iter().map(|stage| stage.as_ref().encoded_len()).sum();
    Ok(Some(StoredView { source: source.clone(), stages, bytes }))
}
