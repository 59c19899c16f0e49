//! The condition of a patch: the rest of a query, asked of one item. It is compiled once for a
//! request, and asked of the newest version of the item within the write, so that no other write
//! can come between.

use std::sync::Arc;

use cosmos_sql::compile_condition;
use engine::Item;
use evaluation::Context;
use select::plan::Select;

use crate::{failure::Result, item::ItemRenderer, routes::parsed_query};

/// A compiled condition.
#[derive(Debug)]
pub(super) struct Condition {
    /// The query that it stands for.
    plan: Select,
    /// What its evaluation may take.
    context: Arc<Context>,
}

impl Condition {
    /// Reads `from c where …`.
    pub(super) fn new(text: &str, context: Arc<Context>) -> Result<Self> {
        let plan = compile_condition(text).map_err(|error| parsed_query::query_failure(&error))?;
        Ok(Self { plan, context })
    }

    /// Whether an item meets it. The condition may read what the server sets, so the item is
    /// completed first.
    pub(super) fn is_met(
        &self,
        renderer: &ItemRenderer,
        item: &Item,
    ) -> std::result::Result<bool, evaluation::Error> {
        let document = renderer.complete_document(item);
        self.plan.keeps_document(document.as_ref(), &self.context)
    }
}
