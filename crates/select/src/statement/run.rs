//! Runs a query for one page of results, over the rows that the caller (the driver, in the engine)
//! feeds.
//!
//! Results have one canonical order, independent of the access path: without ORDER BY the order of
//! the rows' positions, which the driver assigns; with it the order of sort keys, then of
//! positions, reversed if the first sort item descends; with DISTINCT the order of the values; with
//! GROUP BY the order of the keys. A page ends at a sort position (a byte string) in that order,
//! and the next page starts after it. So pages fit together although each is a query of its own,
//! over data that may have changed and possibly through another index.
//!
//! There are two ways to run a page:
//!
//! * Rows come in the order of results (`sorted`): each row becomes results at once, only the page
//!   is held in memory, and the driver may stop at any row.
//! * Rows come in any order: `any_order` keeps the results that the page may need, and the page is
//!   made after the last row.
//!
//! A driver creates a run, sets [whether rows are sorted](Run::set_sorted), [starts
//! over](Run::start_over_at) whenever its scan has to be repeated, feeds [rows](Run::feed_row)
//! until the run has enough, and [finishes](Run::finish_page).

use std::sync::Arc;

use document::{DocRef, key::skip};
use evaluation::{Context, Error, Kind};
use memory::Share;

use super::{
    Flow, Output, Page, PageLimit, Resume, ahead::LookAhead, buffered::BufferedResults,
    firsts::FirstOccurrences, groups::Groups, rest::RemainingResults,
    resume_position::ResumeFilter, source::expand_rows,
};
use crate::{
    eval::{CompleteDocument, Env},
    plan::{Clauses, Input, Select},
};

/// One page of a running query.
#[derive(Debug)]
pub struct Run {
    pub(super) plan: Arc<Select>,
    context: Arc<Context>,
    /// The end of the previous page.
    pub(super) resume: Option<Resume>,
    /// The limits of the page.
    pub(super) limit: PageLimit,
    /// The limits of the kept results, if the rows are not in the order of the results: those of
    /// the page or, after [`keep_ahead`](Self::keep_ahead), higher ones.
    pub(super) keep: PageLimit,
    /// Whether rows come in the order of results.
    sorted: bool,
    /// The subquery that FROM collects first; rows are fed to it instead of to this run.
    pub(super) inner: Option<Box<Run>>,
    /// Decides which rows come after the end of the previous page.
    pub(super) resume_filter: ResumeFilter,
    /// Results of the page so far, in order.
    pub(super) page: Vec<Output>,
    /// Bytes of the results in `page`.
    bytes: usize,
    /// Results returned or skipped since the first page.
    pub(super) done: u64,
    /// Ordinal of the last row on the page; `u64::MAX` if all rows of its document are done.
    pub(super) ordinal: u64,
    /// Whether rows with the last sort position come after the end of the previous page.
    pub(super) passed: bool,
    /// Whether the page has as many results as its limits allow.
    pub(super) full: bool,
    /// Determines after a full page whether another result follows, if rows are in result order.
    pub(super) ahead: Option<LookAhead>,
    /// Results so far, if the rows are not in the order of the results.
    pub(super) buffered: BufferedResults,
    /// Groups so far, with GROUP BY.
    pub(super) groups: Groups,
    /// Distinct values so far, for DISTINCT with an ORDER BY by another expression.
    pub(super) firsts: FirstOccurrences,
    /// Bytes of groups whose results are being computed.
    pub(super) finishing: usize,
    /// Memory reserved for results, groups and values of the run.
    pub(super) held: Share,
}

impl Run {
    /// Creates a run of one page. `resume` is the end of the previous page.
    pub fn new(
        plan: Arc<Select>,
        context: Context,
        resume: Option<Resume>,
        limit: PageLimit,
    ) -> Self {
        Self::new_shared(plan, Arc::new(context), resume, limit)
    }

    /// Creates a run as `new` does, with a context that the query shares with the collected
    /// subquery.
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
                // The outer query decides the order of rows.
                inner.sorted = false;
                Some(Box::new(inner))
            }
            _ => None,
        };
        let sorted = plan.streams_rows();
        let limit = PageLimit { items: limit.items.max(1), bytes: limit.bytes.max(1) };
        let mut run = Self {
            plan,
            held: context.operation_memory.share(),
            finishing: 0,
            context,
            limit,
            keep: limit,
            sorted,
            inner,
            resume_filter: ResumeFilter::new(resume.clone()),
            resume,
            page: Vec::new(),
            bytes: 0,
            done: 0,
            ordinal: u64::MAX,
            passed: false,
            full: false,
            ahead: None,
            buffered: BufferedResults::default(),
            groups: Groups::default(),
            firsts: FirstOccurrences::default(),
        };
        run.start_over();
        run
    }

    /// Raises the limits of the kept results if rows come in any order, as far as memory is
    /// available. The results after the page are returned as [`Page::rest`]. Has no effect if rows
    /// come in the order of results.
    pub fn keep_ahead(&mut self, most: PageLimit) {
        self.keep = PageLimit {
            items: most.items.max(self.limit.items),
            bytes: most.bytes.max(self.limit.bytes),
        };
    }

    /// Sets whether rows will be fed in the order of results. For a query that
    /// [streams](Select::streams_rows), this is the order of row keys, and the default; for a query
    /// with [`Select::order_paths`], the order of these paths, scanned backward if they descend.
    /// Other queries accept rows in any order and ignore the setting.
    pub fn set_sorted(&mut self, sorted: bool) {
        let clauses = self.plan.clauses();
        let can =
            self.plan.streams_rows() || (self.plan.order_paths().is_some() && !clauses.distinct);
        self.sorted = sorted && can;
    }

    /// Returns whether the driver may stop at any row and continue there with the next page.
    pub fn can_stop(&self) -> bool {
        self.sorted
    }

    /// Starts over at another instant, in milliseconds since the epoch, which decides whether a row
    /// has expired. Functions of the current time return this instant too, and not that of the
    /// request's arrival.
    pub fn start_over_at(&mut self, now_ms: i64) {
        if self.context.now_ms != now_ms {
            self.share_context(&Arc::new(Context { now_ms, ..Context::clone(&self.context) }));
        }
        self.start_over();
    }

    /// Replaces the context of this run and of a subquery in FROM that reads all documents first.
    fn share_context(&mut self, context: &Arc<Context>) {
        self.context = Arc::clone(context);
        if let Some(inner) = &mut self.inner {
            inner.share_context(context);
        }
    }

    /// Discards everything since the run was created, because the driver scans again, in another
    /// view or through another index.
    pub fn start_over(&mut self) {
        self.resume_filter = ResumeFilter::new(self.resume.clone());
        self.page.clear();
        self.bytes = 0;
        self.done = self.resume.as_ref().map_or(0, |resume| resume.done);
        self.ordinal = u64::MAX;
        self.passed = false;
        self.full = self.is_over();
        self.ahead = None;
        self.buffered = BufferedResults::default();
        self.groups = Groups::default();
        self.firsts = FirstOccurrences::default();
        self.held.shrink(usize::MAX);
        if let Some(inner) = &mut self.inner {
            inner.start_over();
        }
    }

    /// Returns the row key after which the scan may start, for a plan that streams. If a document
    /// makes several rows, some may be missing from the previous page, so its key must be scanned
    /// again.
    pub fn start_after(&self) -> Option<Vec<u8>> {
        let resume = self.resume.as_ref().filter(|_| self.sorted && self.plan.streams_rows())?;
        let known = resume.known_sort_position();
        if resume.is_whole && resume.ordinal != u64::MAX {
            return Some(super::resume_position::shortly_before(known));
        }
        Some(known.to_vec())
    }

    /// Returns where a scan in the order of [`Select::order_paths`] may start: the sort position of
    /// the last result, or a prefix of it. It consists of the encoded sort values and the row's
    /// position, whose bits are inverted if the first path descends.
    pub fn seek_position(&self) -> Option<Vec<u8>> {
        let ordered = self.plan.order_paths().is_some() && !self.clauses().distinct;
        let resume = self.resume.as_ref().filter(|_| ordered)?;
        Some(self.clauses().without_escapes(resume.known_sort_position()))
    }

    /// Feeds one row: its document and its position. Positions are unique and decide the order of
    /// rows with equal sort keys.
    pub fn feed_row(&mut self, position: &[u8], document: DocRef<'_>) -> Result<Flow, Error> {
        self.feed_any_row(position, document, None)
    }

    /// Like [`feed_row`](Self::feed_row), for a query that reads system properties only [in its
    /// results](super::SystemReads::InResults): `whole` provides the document with system
    /// properties when a row becomes a result.
    pub fn feed_row_with(
        &mut self,
        position: &[u8],
        document: DocRef<'_>,
        whole: &dyn CompleteDocument,
    ) -> Result<Flow, Error> {
        self.feed_any_row(position, document, Some(whole))
    }

    /// Passes a row to this run or, if FROM has one, to the collected subquery.
    fn feed_any_row(
        &mut self,
        position: &[u8],
        document: DocRef<'_>,
        whole: Option<&dyn CompleteDocument>,
    ) -> Result<Flow, Error> {
        if let Some(inner) = &mut self.inner {
            return inner.feed_any_row(position, document, whole);
        }
        let ends = self.full && self.ahead.as_ref().is_none_or(LookAhead::is_over);
        if ends || !self.plan.scans_documents() {
            return Ok(Flow::Enough);
        }
        let (plan, context) = (Arc::clone(&self.plan), Arc::clone(&self.context));
        let mut env = Env::new(plan.clauses().slots, &context);
        env.set_document(document, whole);
        self.take_row(&plan, &mut env, position)
    }

    /// Returns the page. `all` is true if every row was fed, or if feeding stopped only because of
    /// [`Flow::Enough`]; there is then a next page only if results beyond this page were found. A
    /// driver that stopped earlier passes false, which fails unless [`can_stop`](Run::can_stop)
    /// allows it.
    pub fn finish_page(mut self, all: bool) -> Result<Page, Error> {
        // Without FROM there is one row, regardless of the rows fed.
        let all = all || !self.plan.scans_documents();
        if !all && !self.sorted && !self.full {
            let text = "the query needs all rows before it can return a result";
            return Err(Error::new(Kind::Unsupported, 0, text));
        }
        let (plan, context) = (Arc::clone(&self.plan), Arc::clone(&self.context));
        self.run_collected(&plan, &context)?;
        if let Some(group) = &plan.clauses().group {
            self.finish_groups(&plan, group, &context)?;
        }
        // No expression is evaluated any more. The memory of the last one is released before the
        // page is counted.
        self.context.operation_memory.release_expression();
        if self.sorted {
            return Ok(self.sorted_page(all));
        }
        let mut buffered = std::mem::take(&mut self.buffered);
        for ((position, ordinal), value) in std::mem::take(&mut self.firsts).into_results() {
            // The sort positions of DISTINCT values become final only here, so they are compared
            // with the resume position now.
            if self.resume.as_ref().is_none_or(|resume| resume.may_be_behind(&position, ordinal)) {
                buffered.add_result(position, ordinal, value);
            }
        }
        let (most, bytes) = self.most_kept();
        buffered.shrink_to(most, bytes);
        let held = self.held;
        let window = plan.clauses().window;
        let page = RemainingResults::new(buffered, self.resume_filter, window, self.done)
            .cut_page(self.limit, held);
        // Without `keep_ahead`, too few results after the page were kept to make the next page.
        let rest = page.rest.filter(|_| self.keep != self.limit);
        Ok(Page { rest, ..page })
    }

    pub(super) fn clauses(&self) -> &Clauses {
        self.plan.clauses()
    }

    /// Returns whether TOP or LIMIT is exhausted, so that no page follows.
    pub(super) fn is_over(&self) -> bool {
        self.clauses().window.is_over(self.done)
    }

    /// Makes results of the document in the environment, after FROM and JOIN have expanded it to
    /// rows.
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

    /// Appends the next result in canonical order to the page, unless OFFSET skips it. Returns
    /// `Enough` if the page is full.
    pub(super) fn deliver_result(&mut self, value: Output) -> Result<Flow, Error> {
        if self.done < self.clauses().window.skip {
            self.done += 1;
            return Ok(Flow::More);
        }
        let size = value.size_of_result();
        if self.sorted {
            // Results of unsorted rows were counted when they were kept.
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
    /// Appends a position to a sort key, to order rows with equal sort keys. If the first sort item
    /// descends it is inverted, because an index scanned backward yields positions in reverse.
    pub(super) fn push_position(&self, position: &[u8], sort_position: &mut Vec<u8>) {
        if !self.order.first().is_some_and(|order| order.descending) {
            sort_position.extend_from_slice(position);
            return;
        }
        // Inverts each byte. A zero byte becomes ff 00 and the end is ff ff, so that a position
        // sorts before its own prefixes: the exact reverse of their order.
        for byte in position {
            sort_position.push(!*byte);
            if *byte == 0 {
                sort_position.push(0);
            }
        }
        sort_position.extend_from_slice(&[0xff, 0xff]);
    }

    /// Removes from a sort position, or from a prefix of one, the bytes that
    /// [`push_position`](Self::push_position) adds to an inverted position.
    fn without_escapes(&self, key: &[u8]) -> Vec<u8> {
        if !self.order.first().is_some_and(|order| order.descending) {
            return key.to_vec();
        }
        let position = self.order.iter().try_fold(key, |rest, order| skip(rest, order.descending));
        // The sort position was truncated within the sort key.
        let Some(position) = position else { return key.to_vec() };
        let mut out = key.get(..key.len() - position.len()).unwrap_or_default().to_vec();
        let mut bytes = position.iter();
        while let Some(byte) = bytes.next() {
            // ff ff is the end, and so is a single ff where the sort position was truncated.
            if *byte == 0xff && bytes.next() != Some(&0) {
                break;
            }
            out.push(*byte);
        }
        out
    }
}
