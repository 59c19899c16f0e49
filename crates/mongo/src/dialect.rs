//! The language of partial index filters and of validators. The engine stores each as the document
//! that the client sent. A filter is parsed when the index is opened, and a validator when it
//! checks its first document.

use std::sync::Arc;

use document::DocRef;
use engine::{Dialect, DocumentRule, Model, Record};
use pipeline::Filter;

use crate::validator::Validator;

/// Parses partial index filters and validators in MongoDB's query language.
#[derive(Clone, Copy, Debug, Default)]
pub struct MongoDialect;

impl Dialect for MongoDialect {
    fn parse_filter(&self, model: Model, filter: DocRef<'_>) -> Result<Filter, String> {
        match model {
            Model::Documents => mongo_query::filter::parse(filter).map_err(|error| error.message),
            Model::Items | Model::Receipts => Err("it has no partial indexes".to_owned()),
        }
    }

    fn document_rule(&self, record: &Record) -> Option<Arc<dyn DocumentRule>> {
        match record.model {
            Model::Documents => {
                Validator::of_record(record).map(|rule| Arc::new(rule) as Arc<dyn DocumentRule>)
            }
            Model::Items | Model::Receipts => None,
        }
    }
}
