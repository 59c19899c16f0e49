//! The finders of a query with several access paths: one per alternative of an `$or`, or one per
//! value of a field. Each row is returned once, even if several branches reach it.
//!
//! ```text
//!  sequential:            branch 0 --> branch 1 --> ...         in no order
//!  merged:                head of branch 0 +
//!                         head of branch 1 +--> the least    each branch is in sort order
//! ```
//!
//! A head is the next candidate of a branch. For an index entry, its sort position is decoded from
//! the key, so that rows are not read before their turn.

use evaluation::Context;
use pipeline::sort::{Sort, SortKey};

use super::{Finder, seen::SeenRows};
use crate::{
    catalog::CollectionState,
    error::{Error, Halt},
    limits::TAKE_BYTES,
    read::Explain,
    row::Row,
    view::LiveView,
};

/// The access paths (branches) of a query that uses several.
#[derive(Debug)]
pub(super) struct Branches {
    branches: Vec<Branch>,
    /// The order in which the branches are merged; `None` runs them sequentially.
    order: Option<Sort>,
    /// Rows returned so far; `None` if no two branches reach the same row.
    seen: Option<SeenRows>,
}

/// The scan of one of several access paths.
#[derive(Debug)]
struct Branch {
    finder: Finder,
    /// Sort position of the branch's next candidate, once known.
    head: Option<SortKey>,
    /// Whether the branch has no more candidates.
    ended: bool,
}

impl Branches {
    /// Merges finders in an order that each of them yields, or runs them sequentially without one.
    /// `disjoint` is true if no two finders return the same row.
    pub(super) fn new(finders: Vec<Finder>, order: Option<Sort>, disjoint: bool) -> Self {
        let branch = |finder| Branch { finder, head: None, ended: false };
        let branches = finders.into_iter().map(branch).collect();
        Self { branches, order, seen: (!disjoint).then(SeenRows::default) }
    }

    /// Iterates over the finders of the branches.
    pub(super) fn finders(&self) -> impl Iterator<Item = &Finder> {
        self.branches.iter().map(|branch| &branch.finder)
    }

    /// Returns up to `wanted` rows, fewer if they are large, and an empty list at the end.
    pub(super) async fn take_matching(
        &mut self,
        view: &LiveView,
        context: &Context,
        wanted: usize,
    ) -> Result<Vec<Row>, Halt> {
        let (mut found, mut bytes) = (Vec::new(), 0);
        while found.len() < wanted && bytes < TAKE_BYTES {
            let more = match &self.order {
                None => self.take_next(view, context, wanted - found.len()).await,
                Some(_) => self.take_first(view, context).await,
            };
            let rows = match more {
                Ok(Some(rows)) => rows,
                Ok(None) => break,
                // Rows found so far are decided and can be returned.
                Err(Halt::LookAgain) if !found.is_empty() => break,
                Err(halt) => return Err(halt),
            };
            for row in rows {
                if self.is_new(&row, context)? {
                    bytes += row.value.len();
                    found.push(row);
                }
            }
        }
        Ok(found)
    }

    /// Takes rows from the first branch that has any; `None` at the end.
    async fn take_next(
        &mut self,
        view: &LiveView,
        context: &Context,
        wanted: usize,
    ) -> Result<Option<Vec<Row>>, Halt> {
        for branch in self.branches.iter_mut().filter(|branch| !branch.ended) {
            let rows = Box::pin(branch.finder.take_matching(view, context, wanted)).await?;
            if !rows.is_empty() {
                return Ok(Some(rows));
            }
            branch.ended = true;
        }
        Ok(None)
    }

    /// Takes the branches' next candidate that is first in sort order, and returns its row if it
    /// matches; `None` at the end.
    async fn take_first(
        &mut self,
        view: &LiveView,
        context: &Context,
    ) -> Result<Option<Vec<Row>>, Halt> {
        let Some(branch) = self.first_branch(view, context).await? else { return Ok(None) };
        branch.head = None;
        let row = branch.finder.take_front(view, context).await?;
        Ok(Some(row.into_iter().collect()))
    }

    /// Skips a row of merged branches without reading it; false at the end.
    pub(super) async fn skip_row(
        &mut self,
        view: &LiveView,
        context: &Context,
    ) -> Result<bool, Halt> {
        let Some(branch) = self.first_branch(view, context).await? else { return Ok(false) };
        branch.head = None;
        Ok(branch.finder.pass_front())
    }

    /// Determines the sort position of every branch's next candidate and returns the branch whose
    /// candidate is first; the first branch on a tie.
    async fn first_branch(
        &mut self,
        view: &LiveView,
        context: &Context,
    ) -> Result<Option<&mut Branch>, Halt> {
        let Self { branches, order: Some(order), .. } = self else { return Ok(None) };
        for branch in branches.iter_mut().filter(|it| !it.ended && it.head.is_none()) {
            branch.head = branch.finder.peek_key(view, context, order).await?;
            branch.ended = branch.head.is_none();
        }
        let with_head = branches.iter_mut().filter(|branch| branch.head.is_some());
        Ok(with_head.reduce(|held, next| match (&next.head, &held.head) {
            (Some(key), Some(first)) if order.compare(key, first).is_lt() => next,
            _ => held,
        }))
    }

    /// Returns whether no branch has returned the row before.
    fn is_new(&mut self, row: &Row, context: &Context) -> Result<bool, Error> {
        let Some(seen) = &mut self.seen else { return Ok(true) };
        seen.note(&row.key, context)
    }

    /// Returns whether the plans of all branches are still valid in a view.
    pub(super) fn are_still_valid(&self, state: &CollectionState) -> bool {
        self.branches.iter().all(|branch| branch.finder.is_still_valid(state))
    }

    /// Drops the candidates that were read ahead; they are read again later.
    pub(super) fn forget_read_ahead(&mut self) {
        for branch in &mut self.branches {
            branch.head = None;
            branch.finder.forget_read_ahead();
        }
    }

    /// Makes all branches continue after their last used candidates, in another view.
    pub(super) fn resume_after_last(&mut self) {
        for branch in &mut self.branches {
            branch.head = None;
            branch.finder.resume_after_last();
        }
    }

    /// Makes the scans not count as uses of their indexes.
    pub(super) fn leave_uncounted(&mut self) {
        self.branches.iter_mut().for_each(|branch| branch.finder.leave_uncounted());
    }

    /// Returns whether the branches are merged in sort order.
    pub(super) fn are_merged(&self) -> bool {
        self.order.is_some()
    }

    /// Returns the description of each branch's execution.
    pub(super) fn explain(&self) -> Vec<Explain> {
        self.branches.iter().map(|branch| branch.finder.explain()).collect()
    }
}
