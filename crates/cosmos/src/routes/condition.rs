//! The condition of a patch: the rest of a query, asked of one item.

use std::sync::Arc;

use cosmos_sql::compile;
use engine::Item;
use query::{
    Context,
    json::select::{PageLimit, Run, Select},
};

use crate::{failure::Result, item::Frame, routes::queries};

/// A compiled condition.
#[derive(Debug)]
pub(super) struct Condition {
    plan: Arc<Select>,
    context: Arc<Context>,
}

impl Condition {
    /// Reads `from c where …`.
    pub(super) fn new(text: &str, context: Arc<Context>) -> Result<Self> {
        let plan = compile(&format!("SELECT VALUE 1 {text}"), &[]);
        Ok(Self { plan: Arc::new(plan.map_err(|error| queries::refused(&error))?), context })
    }

    /// Whether an item meets it.
    pub(super) fn holds(
        &self,
        frame: &Frame,
        item: &Item,
    ) -> std::result::Result<bool, query::Error> {
        let limit = PageLimit { items: 1, bytes: usize::MAX };
        let context = Context::clone(&self.context);
        let mut run = Run::new(Arc::clone(&self.plan), context, None, limit);
        let document = frame.complete(item);
        run.row(&item.key, document.as_ref())?;
        Ok(!run.finish(true)?.values.is_empty())
    }
}
