//! The walks of a query that takes several access paths: one for each alternative of an `$or`, or one
//! for each of several values of a field. Each row is returned once, however many of them lead to it.
//!
//! ```text
//!  one after the other:   branch 0 ─▶ branch 1 ─▶ …             in no order
//!  merged:                head of branch 0 ┐
//!                         head of branch 1 ┴─▶ the first one    each branch is in the order of the sort
//! ```
//!
//! A head is the next candidate of a branch. Where it is an entry of an index, its place in the order is
//! read off its key, so that the row of an entry is not read before its turn.

use evaluation::Context;
use pipeline::sort::{Sort, SortKey};
use store::Store;

use super::{Finder, seen::SeenRows};
use crate::{
    catalog::CollectionState,
    error::{Error, Halt},
    limits::TAKE_BYTES,
    read::Explain,
    row::Row,
    view::LiveView,
};

/// The walks of a query with several access paths.
#[derive(Debug)]
pub(super) struct Branches {
    branches: Vec<Branch>,
    /// The order that they are merged in; without it they are walked one after the other.
    order: Option<Sort>,
    /// The rows that were returned; `None` where no two branches lead to one row.
    seen: Option<SeenRows>,
}

/// One of the walks.
#[derive(Debug)]
struct Branch {
    finder: Finder,
    /// The place of its next candidate in the order, once that is known.
    head: Option<SortKey>,
    /// It has no more candidates.
    ended: bool,
}

impl Branches {
    /// Merges the walks of these finders in an order, which each of them has to give. Without an order
    /// they are walked one after the other.
    pub(super) fn new(finders: Vec<Finder>, order: Option<Sort>, disjoint: bool) -> Self {
        let branch = |finder| Branch { finder, head: None, ended: false };
        let branches = finders.into_iter().map(branch).collect();
        Self { branches, order, seen: (!disjoint).then(SeenRows::default) }
    }

    /// Returns up to `wanted` rows, fewer where they are large, and none at the end.
    pub(super) async fn take_matching<S: Store>(
        &mut self,
        view: &LiveView<S>,
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
                // The rows that were found by then are certain.
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

    /// Takes rows of the first branch that has some. Returns `None` at the end.
    async fn take_next<S: Store>(
        &mut self,
        view: &LiveView<S>,
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

    /// Takes the first of all heads, and returns its row if that matches. Returns `None` at the end.
    async fn take_first<S: Store>(
        &mut self,
        view: &LiveView<S>,
        context: &Context,
    ) -> Result<Option<Vec<Row>>, Halt> {
        let Some(branch) = self.first_branch(view, context).await? else { return Ok(None) };
        branch.head = None;
        let row = branch.finder.take_front(view, context).await?;
        Ok(Some(row.into_iter().collect()))
    }

    /// Skips a row of merged walks without reading it. Returns false at the end.
    pub(super) async fn skip_row<S: Store>(
        &mut self,
        view: &LiveView<S>,
        context: &Context,
    ) -> Result<bool, Halt> {
        let Some(branch) = self.first_branch(view, context).await? else { return Ok(false) };
        branch.head = None;
        Ok(branch.finder.pass_front())
    }

    /// Reads all heads and returns the branch with the first of them; of equal ones the first branch.
    async fn first_branch<S: Store>(
        &mut self,
        view: &LiveView<S>,
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

    /// Whether a row was not returned before.
    fn is_new(&mut self, row: &Row, context: &Context) -> Result<bool, Error> {
        let Some(seen) = &mut self.seen else { return Ok(true) };
        seen.note(&row.key, context)
    }

    /// Whether all walks are still good in a view.
    pub(super) fn are_still_valid(&self, state: &CollectionState) -> bool {
        self.branches.iter().all(|branch| branch.finder.is_still_valid(state))
    }

    /// Forgets what was read ahead: it is read again.
    pub(super) fn forget_read_ahead(&mut self) {
        for branch in &mut self.branches {
            branch.head = None;
            branch.finder.forget_read_ahead();
        }
    }

    /// Goes on behind the last candidates that were used, in another view.
    pub(super) fn resume_after_last(&mut self) {
        for branch in &mut self.branches {
            branch.head = None;
            branch.finder.resume_after_last();
        }
    }

    /// Does not count the uses of their indexes.
    pub(super) fn leave_uncounted(&mut self) {
        self.branches.iter_mut().for_each(|branch| branch.finder.leave_uncounted());
    }

    /// Whether they are merged in the order of the sort.
    pub(super) fn are_merged(&self) -> bool {
        self.order.is_some()
    }

    /// Returns how each of them is run.
    pub(super) fn explain(&self) -> Vec<Explain> {
        self.branches.iter().map(|branch| branch.finder.explain()).collect()
    }
}
