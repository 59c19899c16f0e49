//! The language of partial index filters, of validators and of views. The engine stores each as the
//! client sent it. A filter is parsed when the index is opened, a validator when it checks its first
//! document, and a view in each query.

use std::sync::Arc;

use document::DocRef;
use engine::{Dialect, DocumentRule, Model, Record, StoredView};
use pipeline::Filter;

use crate::{
    parsers::collection_options::keeps_images, stored_view::parse_stored, validator::Validator,
};

/// Parses partial index filters, validators and views in MongoDB's query language.
#[derive(Clone, Copy, Debug, Default)]
pub struct MongoDialect;

impl Dialect for MongoDialect {
    fn parse_filter(&self, model: Model, filter: DocRef<'_>) -> Result<Filter, String> {
        match model {
            Model::Documents => mongo_query::filter::parse(filter).map_err(|error| error.message),
            Model::Items | Model::Receipts | Model::Changes => {
                Err("it has no partial indexes".to_owned())
            }
        }
    }

    fn document_rule(&self, record: &Record) -> Option<Arc<dyn DocumentRule>> {
        match record.model {
            Model::Documents => {
                Validator::of_record(record).map(|rule| Arc::new(rule) as Arc<dyn DocumentRule>)
            }
            Model::Items | Model::Receipts | Model::Changes => None,
        }
    }

    fn keeps_images(&self, record: &Record) -> bool {
        record.model == Model::Documents && keeps_images(&record.options)
    }

    fn stored_view(&self, record: &Record) -> Result<Option<StoredView>, engine::Error> {
        match record.model {
            Model::Documents => parse_stored(record),
            Model::Items | Model::Receipts | Model::Changes => Ok(None),
        }
    }
}
