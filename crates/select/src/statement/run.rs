//! Runs a query over the rows that a driver feeds, one page at a time.
//!
//! Results have one canonical order, whatever way the driver goes: without ORDER BY that of rows'
//! positions, which the driver gives; with it that of sort keys, then of positions, turned round when
//! the first item descends; with DISTINCT that of the values; with GROUP BY that of the keys. A page
//! ends at a place in that
//! order, and the next one begins after it. So pages fit together although each is a query of its
//! own, over data that may have changed and perhaps by another index.
//!
//! There are two ways to run a page:
//!
//! * Rows come in the order of results (`sorted`): each row becomes results at once, the page is
//!   all that is held, and the driver may stop at any row.
//! * Rows come in any order: `any_order` keeps what the page may need, and the page is made when
//!   all rows have come.
//!
//! A driver makes a run, tells it [how rows come](Run::set_sorted), [starts over](Run::start_over_at)
//! whenever its walk has to be repeated, feeds [rows](Run::feed_row) until there is enough, and
//! [finishes](Run::finish_page).

use std::sync::Arc;

use document::{DocRef, key::skip};
use evaluation::{Context, Error, Kind};
use memory::Share;

use super::{
    Flow, Output, Page, PageLimit, Resume, ahead::Ahead, firsts::Firsts, groups::Groups,
    kept::Kept, mark::Gate, rest::Rest, source::expand_rows,
};
use crate::{
    eval::{Env, Whole},
    plan::{Clauses, Input, Select},
};

/// A query being run for one page.
#[derive(Debug)]
pub struct Run {
    /// What is done.
    pub(super) plan: Arc<Select>,
    /// The operation.
    context: Arc<Context>,
    /// Where the page before ended.
    pub(super) resume: Option<Resume>,
    /// What the page may hold.
    pub(super) limit: PageLimit,
    /// What is kept at most of results that come in any order: the page, and perhaps more.
    pub(super) keep: PageLimit,
    /// Whether rows come in the order of results.
    sorted: bool,
    /// The query that FROM collects first; it is fed the rows instead of this one.
    pub(super) inner: Option<Box<Run>>,
    /// Decides which rows come after the page before.
    pub(super) gate: Gate,
    /// Results of the page so far, in their order.
    pub(super) page: Vec<Output>,
    /// Bytes of the results in the page.
    bytes: usize,
    /// Results passed, since the first page.
    pub(super) done: u64,
    /// The ordinal of the last row that passed, inside its place.
    pub(super) ordinal: u64,
    /// Whether the last place passed the gate.
    pub(super) passed: bool,
    /// Whether the page takes no more results.
    pub(super) full: bool,
    /// The look beyond a full page, where rows come in the order of results.
    pub(super) ahead: Option<Ahead>,
    /// Results so far where rows come in any order.
    pub(super) kept: Kept,
    /// Groups so far, with GROUP BY.
    pub(super) groups: Groups,
    /// Values so far, with DISTINCT and an order of its own.
    pub(super) firsts: Firsts,
    /// Bytes of groups that are becoming results.
    pub(super) finishing: usize,
    /// What all of these hold.
    pub(super) held: Share,
}

impl Run {
    /// A run of one page. `resume` is what the page before ended with.
    pub fn new(
        plan: Arc<Select>,
        context: Context,
        resume: Option<Resume>,
        limit: PageLimit,
    ) -> Self {
        Self::new_shared(plan, Arc::new(context), resume, limit)
    }

    /// The same with a context that the collecting query and this one share.
    fn new_shared(
        plan: Arc<Select>,
        context: Arc<Context>,
        resume: Option<Resume>,
        limit: PageLimit,
    ) -> Self {
        let inner = match plan.clauses().from.first().map(|source| &source.input) {
            Some(Input::Collected(inner)) => {
                let all = PageLimit { items: usize::MAX, bytes: usize::MAX };
                let mut inner =
                    Self::new_shared(Arc::clone(inner), Arc::clone(&context), None, all);
                // Rows come in whatever order suits the query around it.
                inner.sorted = false;
                Some(Box::new(inner))
            }
            _ => None,
        };
        let sorted = plan.streams_rows();
        let limit = PageLimit { items: limit.items.max(1), bytes: limit.bytes.max(1) };
        let mut run = Self {
            plan,
            held: context.holding.share(),
            finishing: 0,
            context,
            limit,
            keep: limit,
            sorted,
            inner,
            gate: Gate::new(resume.clone()),
            resume,
            page: Vec::new(),
            bytes: 0,
            done: 0,
            ordinal: u64::MAX,
            passed: false,
            full: false,
            ahead: None,
            kept: Kept::default(),
            groups: Groups::default(),
            firsts: Firsts::default(),
        };
        run.start_over();
        run
    }

    /// Has the run keep this much of results that come in any order, where there is memory for it, and
    /// hand out what is behind the page as [`Page::rest`]. It has no effect where rows come in the order
    /// of the results.
    pub fn keep_ahead(&mut self, most: PageLimit) {
        self.keep = PageLimit {
            items: most.items.max(self.limit.items),
            bytes: most.bytes.max(self.limit.bytes),
        };
    }

    /// Says whether rows will be fed in the order of the results: that of row keys for a plan that
    /// [streams](Select::streams_rows), which is what is expected of the driver; that of
    /// [`Select::order_paths`], turned as a whole where they all descend, for one that has some.
    /// Any other plan takes rows in any order.
    pub fn set_sorted(&mut self, sorted: bool) {
        let clauses = self.plan.clauses();
        let can =
            self.plan.streams_rows() || (self.plan.order_paths().is_some() && !clauses.distinct);
        self.sorted = sorted && can;
    }

    /// Whether a driver may stop at any row, and have the next page go on there.
    pub fn can_stop(&self) -> bool {
        self.sorted
    }

    /// Starts over with rows that are judged at another instant, milliseconds since 1970: functions
    /// of the current time tell the instant at which the rows live that a page shows, and not the
    /// one at which the request came.
    pub fn start_over_at(&mut self, now_ms: i64) {
        if self.context.now_ms != now_ms {
            self.share_context(&Arc::new(Context { now_ms, ..Context::clone(&self.context) }));
        }
        self.start_over();
    }

    /// One context for a collecting query and for the one that it collects.
    fn share_context(&mut self, context: &Arc<Context>) {
        self.context = Arc::clone(context);
        if let Some(inner) = &mut self.inner {
            inner.share_context(context);
        }
    }

    /// Forgets everything since the run was made: the driver walks again, in another view or by
    /// another index.
    pub fn start_over(&mut self) {
        self.gate = Gate::new(self.resume.clone());
        self.page.clear();
        self.bytes = 0;
        self.done = self.resume.as_ref().map_or(0, |resume| resume.done);
        self.ordinal = u64::MAX;
        self.passed = false;
        self.full = self.is_over();
        self.ahead = None;
        self.kept = Kept::default();
        self.groups = Groups::default();
        self.firsts = Firsts::default();
        // Nothing is held any more.
        self.held.shrink(usize::MAX);
        if let Some(inner) = &mut self.inner {
            inner.start_over();
        }
    }

    /// After which row key the scan may begin, for a plan that streams. A document that makes
    /// several rows may have given only some of them to the page before, so its key has to come
    /// again.
    pub fn start_after(&self) -> Option<Vec<u8>> {
        let resume = self.resume.as_ref().filter(|_| self.sorted && self.plan.streams_rows())?;
        let known = resume.known_place();
        if resume.whole && resume.ordinal != u64::MAX {
            return Some(super::mark::shortly_before(known));
        }
        Some(known.to_vec())
    }

    /// Where a walk in the order of [`Select::order_paths`] may begin: the place of the last result
    /// before, or its beginning. It is the components of the values as they are ordered, then the
    /// row's position, with all of its bits turned where the first path descends.
    pub fn seek_place(&self) -> Option<Vec<u8>> {
        let ordered = self.plan.order_paths().is_some() && !self.clauses().distinct;
        let resume = self.resume.as_ref().filter(|_| ordered)?;
        Some(self.clauses().without_escapes(resume.known_place()))
    }

    /// Takes one row: its position, which is another one for each row and decides the order of rows
    /// with equal sort keys, and its document.
    pub fn feed_row(&mut self, position: &[u8], document: DocRef<'_>) -> Result<Flow, Error> {
        self.feed_any_row(position, document, None)
    }

    /// The same for a query that reads the system's properties only [in its
    /// results](super::SystemReads::InResults): `whole` makes the whole document where a row
    /// becomes a result.
    pub fn feed_row_with(
        &mut self,
        position: &[u8],
        document: DocRef<'_>,
        whole: &dyn Whole,
    ) -> Result<Flow, Error> {
        self.feed_any_row(position, document, Some(whole))
    }

    /// Takes a row, or hands it to the query that FROM collects.
    fn feed_any_row(
        &mut self,
        position: &[u8],
        document: DocRef<'_>,
        whole: Option<&dyn Whole>,
    ) -> Result<Flow, Error> {
        if let Some(inner) = &mut self.inner {
            return inner.feed_any_row(position, document, whole);
        }
        let ends = self.full && self.ahead.as_ref().is_none_or(Ahead::is_over);
        if ends || !self.plan.scans_documents() {
            return Ok(Flow::Enough);
        }
        let (plan, context) = (Arc::clone(&self.plan), Arc::clone(&self.context));
        let mut env = Env::new(plan.clauses().slots, &context);
        env.set_document(document, whole);
        self.take_row(&plan, &mut env, position)
    }

    /// Returns the page. `all` says that every row there is was fed, or would have been after
    /// [`Flow::Enough`]: there is no next page then, unless it is known otherwise. A driver that
    /// stopped earlier says false, which fails unless it [may](Run::can_stop).
    pub fn finish_page(mut self, all: bool) -> Result<Page, Error> {
        // Without FROM no row counts.
        let all = all || !self.plan.scans_documents();
        if !all && !self.sorted && !self.full {
            let text = "the query needs all its rows before it has a result";
            return Err(Error::new(Kind::Unsupported, 0, text));
        }
        let (plan, context) = (Arc::clone(&self.plan), Arc::clone(&self.context));
        self.run_collected(&plan, &context)?;
        if let Some(group) = &plan.clauses().group {
            self.finish_groups(&plan, group, &context)?;
        }
        // No expression is evaluated any more: what the last one held is given back before the page
        // is counted.
        self.context.holding.release_expression();
        if self.sorted {
            return Ok(self.sorted_page(all));
        }
        let mut kept = std::mem::take(&mut self.kept);
        for ((place, ordinal), value) in std::mem::take(&mut self.firsts).into_results() {
            // The places of these were not known before.
            if self.resume.as_ref().is_none_or(|resume| resume.may_be_behind(&place, ordinal)) {
                kept.add_result(place, ordinal, value);
            }
        }
        let (most, bytes) = self.most_kept();
        kept.shrink_to(most, bytes);
        let held = self.held;
        let window = plan.clauses().window;
        let page = Rest::new(kept, self.gate, window, self.done).cut_page(self.limit, held);
        // Without being asked for, what was kept for the page alone is of no use to the next one.
        let rest = page.rest.filter(|_| self.keep != self.limit);
        Ok(Page { rest, ..page })
    }

    /// The clauses of the query.
    pub(super) fn clauses(&self) -> &Clauses {
        self.plan.clauses()
    }

    /// Whether TOP or LIMIT is used up: no page follows.
    pub(super) fn is_over(&self) -> bool {
        self.clauses().window.is_over(self.done)
    }

    /// Makes results of the row in the environment, and of what FROM and JOIN make of it.
    pub(super) fn take_row<'a>(
        &mut self,
        plan: &'a Select,
        env: &mut Env<'a>,
        position: &[u8],
    ) -> Result<Flow, Error> {
        let clauses = plan.clauses();
        if self.sorted {
            return self.take_row_in_order(plan, env, position);
        }
        let mut ordinal = 0;
        expand_rows(&clauses.from, env, &mut |env| {
            if !clauses.where_keeps(env)? {
                return Ok(Flow::More);
            }
            match &clauses.group {
                Some(group) => self.join_group(clauses, group, env, position)?,
                None => self.keep_result(clauses, env, position, ordinal)?,
            }
            ordinal += 1;
            Ok(Flow::More)
        })?;
        Ok(Flow::More)
    }

    /// Puts a result into the page, in the canonical order, unless OFFSET passes over it. Enough
    /// when the page is full.
    pub(super) fn deliver_result(&mut self, value: Output) -> Result<Flow, Error> {
        if self.done < self.clauses().window.skip {
            self.done += 1;
            return Ok(Flow::More);
        }
        let size = value.size_of_result();
        if self.sorted {
            // Elsewhere it was kept before, and is counted.
            self.held.grow(size.memory)?;
        }
        self.done += 1;
        self.bytes = self.bytes.saturating_add(size.bytes);
        self.page.push(value);
        self.full =
            self.limit.items <= self.page.len() || self.limit.bytes <= self.bytes || self.is_over();
        Ok(if self.full { Flow::Enough } else { Flow::More })
    }
}

impl Clauses {
    /// Appends a position to a sort key, so that it decides where sort keys are the same. Where the
    /// first item descends it is turned round too, since an index that is walked backward gives it
    /// so.
    pub(super) fn push_position(&self, position: &[u8], place: &mut Vec<u8>) {
        if !self.order.first().is_some_and(|order| order.descending) {
            place.extend_from_slice(position);
            return;
        }
        // Each byte is inverted. A 0 becomes ff 00 and the end ff ff, so that a position sorts after
        // those it begins: the reverse of their order.
        for byte in position {
            place.push(!*byte);
            if *byte == 0 {
                place.push(0);
            }
        }
        place.extend_from_slice(&[0xff, 0xff]);
    }

    /// A place, or the beginning of one, without what [`push_position`](Self::push_position) adds to
    /// the inverted bytes of a position.
    fn without_escapes(&self, place: &[u8]) -> Vec<u8> {
        if !self.order.first().is_some_and(|order| order.descending) {
            return place.to_vec();
        }
        let position =
            self.order.iter().try_fold(place, |rest, order| skip(rest, order.descending));
        // The place was cut within the sort key.
        let Some(position) = position else { return place.to_vec() };
        let mut out = place.get(..place.len() - position.len()).unwrap_or_default().to_vec();
        let mut bytes = position.iter();
        while let Some(byte) = bytes.next() {
            // ff ff is the end, and so is one where the place was cut.
            if *byte == 0xff && bytes.next() != Some(&0) {
                break;
            }
            out.push(*byte);
        }
        out
    }
}
