//! The condition of a patch: the rest of a query, asked of one item.

use std::sync::Arc;

use cosmos_sql::compile_condition;
use engine::Item;
use query::{Context, json::select::Select};

use crate::{failure::Result, item::ItemRenderer, routes::queries};

/// A compiled condition.
#[derive(Debug)]
pub(super) struct Condition {
    plan: Select,
    context: Arc<Context>,
}

impl Condition {
    /// Reads `from c where …`.
    pub(super) fn new(text: &str, context: Arc<Context>) -> Result<Self> {
        let plan = compile_condition(text).map_err(|error| queries::query_failure(&error))?;
        Ok(Self { plan, context })
    }

    /// Whether an item meets it.
    pub(super) fn is_met(
        &self,
        renderer: &ItemRenderer,
        item: &Item,
    ) -> std::result::Result<bool, query::Error> {
        let document = renderer.complete_document(item);
        self.plan.keeps(document.as_ref(), &self.context)
    }
}
