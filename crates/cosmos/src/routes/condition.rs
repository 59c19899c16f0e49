//! The condition of a patch: the text of a query that is evaluated on one item. It is compiled once
//! per request, and evaluated on the item's newest version within the write, so that no other write
//! can intervene.

use std::sync::Arc;

use cosmos_sql::compile_condition;
use engine::Item;
use evaluation::Context;
use select::plan::Select;

use crate::{
    catalog::Container, container::surface_of, failure::Result, item::ItemRenderer,
    routes::parsed_query,
};

#[derive(Debug)]
pub(super) struct Condition {
    /// Query that is equivalent to the condition.
    plan: Select,
    /// The limits of the condition's evaluation.
    context: Arc<Context>,
}

impl Condition {
    /// Compiles a condition of the form `from c where ...` for items of a container.
    pub(super) fn new(container: &Container, text: &str, context: Arc<Context>) -> Result<Self> {
        let surface = surface_of(container.options());
        let plan = compile_condition(surface, text)
            .map_err(|error| parsed_query::query_failure(&error))?;
        Ok(Self { plan, context })
    }

    /// Returns whether an item matches. The condition may read properties that the server sets, so
    /// those properties are added to the item first.
    pub(super) fn is_met(
        &self,
        renderer: &ItemRenderer,
        item: &Item,
    ) -> std::result::Result<bool, evaluation::Error> {
        let document = renderer.complete_document(item);
        self.plan.keeps_document(document.as_ref(), &self.context)
    }
}
