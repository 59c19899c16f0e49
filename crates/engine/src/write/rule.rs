//! Checks documents against the rule of their collection.

use document::DocRef;

use super::WriteDraft;
use crate::{catalog::RuleContext, error::Error, yielding::yield_if_due};

impl WriteDraft<'_> {
    /// Checks a document against the collection's rule, in the context that `rule` provides; `None`
    /// skips the check. `before` is the document that it replaces.
    ///
    /// The rule is read from the view. If the rule changes before the commit is ordered, the
    /// condition on the collection's record ([`row_conditions`](Self::row_conditions)) refuses the
    /// commit, and the write is decided and checked again in a new view. If `before` changes, the
    /// condition on the row refuses the commit in the same way.
    pub(super) async fn check_rule(
        &self,
        rule: Option<&dyn RuleContext>,
        document: DocRef<'_>,
        before: Option<DocRef<'_>>,
    ) -> Result<(), Error> {
        let (Some(held), Some(rule)) = (&self.view.state.rule, rule) else { return Ok(()) };
        let context = rule.context();
        held.check(document, before, context)?;
        yield_if_due(context, 0).await?;
        Ok(())
    }
}
