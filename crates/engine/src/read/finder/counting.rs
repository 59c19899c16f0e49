//! Counts matching documents by index keys and row headers, without reading the rows.

use evaluation::Context;

use super::{Finder, Progress};
use crate::{
    access::AccessPath,
    error::Halt,
    view::{LiveView, charge_keys},
};

impl Finder {
    /// Counts the next page of matching rows; `None` at the end. Requires that
    /// [`plan_count`](Self::plan_count) succeeded.
    pub(crate) async fn count_page(
        &mut self,
        view: &LiveView,
        context: &Context,
        wanted: usize,
    ) -> Result<Option<u64>, Halt> {
        let Some(mut pages) = self.begin_page(wanted) else { return Ok(None) };
        self.record_access(view, context);
        let by_index = matches!(self.chosen.access, AccessPath::Index { .. });
        let page = match by_index {
            true => view.count_entries(&mut pages).await?,
            false => view.count_rows(&mut pages).await?,
        };
        let page = page.unwrap_or_default();
        self.progress = Progress::Walking(pages);
        self.last = page.last.or(self.last.take());
        match self.counts_entries {
            true => self.keys_examined += page.live,
            false => self.documents_examined += page.live,
        }
        charge_keys(context, page.examined).await?;
        Ok(Some(page.live))
    }
}
