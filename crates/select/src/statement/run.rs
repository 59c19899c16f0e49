//! Runs a query over the rows that a driver feeds, one page at a time.
//!
//! Results have one canonical order, whatever way the driver goes: without ORDER BY that of row
//! keys; with it that of sort keys, then of row keys, turned round when the first item descends;
//! with DISTINCT that of the values, with GROUP BY that of the keys. A page ends at a place in that
//! order, and the next one begins behind it.
//!
//! A driver makes a run, tells it [how rows come](Run::set_sorted), [begins](Run::begin), feeds
//! [rows](Run::row) until there is enough, and [finishes](Run::finish).

use std::sync::Arc;

use document::DocRef;
use evaluation::{Context, Error, Kind};
use memory::Share;

use super::{
    Flow, Output, Page, PageLimit, Resume, ahead::Ahead, firsts::Firsts, groups::Groups,
    kept::Kept, mark::Gate, source::expand,
};
use crate::{
    eval::{Env, Whole},
    plan::{Clauses, Input, Select},
};

/// A query being run for one page.
#[derive(Debug)]
pub struct Run {
    pub(super) plan: Arc<Select>,
    context: Arc<Context>,
    pub(super) resume: Option<Resume>,
    pub(super) limit: PageLimit,
    sorted: bool,
    /// The query that FROM collects first.
    pub(super) inner: Option<Box<Run>>,
    gate: Gate,
    page: Vec<Output>,
    bytes: usize,
    /// Results passed, since the first page.
    pub(super) done: u64,
    /// The ordinal of the last row that passed, inside its place.
    ordinal: u64,
    /// Whether the last place passed the gate.
    passed: bool,
    pub(super) full: bool,
    /// What comes behind a page that is full, where rows come in the order of results.
    ahead: Option<Ahead>,
    pub(super) kept: Kept,
    pub(super) groups: Groups,
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
        Self::with(plan, Arc::new(context), resume, limit)
    }

    fn with(
        plan: Arc<Select>,
        context: Arc<Context>,
        resume: Option<Resume>,
        limit: PageLimit,
    ) -> Self {
        let inner = match plan.clauses().from.first().map(|source| &source.input) {
            Some(Input::Collected(inner)) => {
                let all = PageLimit { items: usize::MAX, bytes: usize::MAX };
                let mut inner = Self::with(Arc::clone(inner), Arc::clone(&context), None, all);
                // Rows come in whatever order suits the query around it.
                inner.sorted = false;
                Some(Box::new(inner))
            }
            _ => None,
        };
        let sorted = plan.streams();
        let limit = PageLimit { items: limit.items.max(1), bytes: limit.bytes.max(1) };
        let mut run = Self {
            plan,
            held: context.holding.share(),
            finishing: 0,
            context,
            limit,
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
        run.begin();
        run
    }

    /// Says whether rows will be fed in the order of the results: that of row keys for a plan that
    /// [streams](Select::streams), which is what is expected of the driver; that of
    /// [`Select::order_paths`], turned as a whole where they all descend, for one that has some.
    /// Any other plan takes rows in any order.
    pub fn set_sorted(&mut self, sorted: bool) {
        let clauses = self.plan.clauses();
        let can = self.plan.streams() || (self.plan.order_paths().is_some() && !clauses.distinct);
        self.sorted = sorted && can;
    }

    /// Whether a driver may stop at any row, and have the next page go on there.
    pub fn can_stop(&self) -> bool {
        self.sorted
    }

    /// Forgets everything since it was made: the driver starts over.
    pub fn begin(&mut self) {
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
        self.held.shrink(usize::MAX);
        if let Some(inner) = &mut self.inner {
            inner.begin();
        }
    }

    /// Behind which row key the scan may begin, for a plan that streams.
    pub fn start_after(&self) -> Option<Vec<u8>> {
        let resume = self.resume.as_ref().filter(|_| self.sorted && self.plan.streams())?;
        let known = resume.known();
        if resume.whole && resume.ordinal != u64::MAX {
            return Some(super::mark::shortly_before(known));
        }
        Some(known.to_vec())
    }

    /// Where a walk in the order of [`Select::order_paths`] may begin: the place of the last result
    /// before, or its beginning. Places are the components of the values as they are ordered, then
    /// the row's key, turned where the first path descends.
    pub fn seek(&self) -> Option<Vec<u8>> {
        let ordered = self.plan.order_paths().is_some() && !self.clauses().distinct;
        self.resume.as_ref().filter(|_| ordered).map(|resume| resume.known().to_vec())
    }

    /// One row: its key in the store's order, and its document.
    pub fn row(&mut self, position: &[u8], document: DocRef<'_>) -> Result<Flow, Error> {
        self.any_row(position, document, None)
    }

    /// The same for a query that reads the system's properties only [in its
    /// results](super::System::InResults): the document has to be `whole` where it makes one.
    pub fn row_with(
        &mut self,
        position: &[u8],
        document: DocRef<'_>,
        whole: &dyn Whole,
    ) -> Result<Flow, Error> {
        self.any_row(position, document, Some(whole))
    }

    fn any_row(
        &mut self,
        position: &[u8],
        document: DocRef<'_>,
        whole: Option<&dyn Whole>,
    ) -> Result<Flow, Error> {
        if let Some(inner) = &mut self.inner {
            return inner.any_row(position, document, whole);
        }
        let ends = self.full && self.ahead.as_ref().is_none_or(Ahead::is_over);
        if ends || !self.plan.scans() {
            return Ok(Flow::Enough);
        }
        let (plan, context) = (Arc::clone(&self.plan), Arc::clone(&self.context));
        let mut env = Env::new(plan.clauses().slots, &context);
        env.set_document(document, whole);
        self.take(&plan, &mut env, position)
    }

    /// The page. `all` says that every row there is was fed, or would have been behind
    /// [`Flow::Enough`]: there is no next page then, unless it is known otherwise. A driver that
    /// stopped earlier says false, which fails unless it [may](Run::can_stop).
    pub fn finish(mut self, all: bool) -> Result<Page, Error> {
        // Without FROM no row counts.
        let all = all || !self.plan.scans();
        if !all && !self.sorted && !self.full {
            let text = "the query needs all its rows before it has a result";
            return Err(Error::new(Kind::Unsupported, 0, text));
        }
        let (plan, context) = (Arc::clone(&self.plan), Arc::clone(&self.context));
        self.collected(&plan, &context)?;
        if let Some(group) = &plan.clauses().group {
            self.grouped(&plan, group, &context)?;
        }
        self.context.holding.settle();
        if self.sorted {
            return Ok(self.sorted_page(all));
        }
        let mut kept = std::mem::take(&mut self.kept);
        for ((place, ordinal), value) in std::mem::take(&mut self.firsts).into_results() {
            kept.add(place, ordinal, value);
        }
        let mut resume = None;
        let (results, more) = kept.into_results();
        let mut results = results.peekable();
        while let Some(((place, ordinal), value)) = results.next() {
            if self.full {
                break;
            }
            if self.gate.pass(&place).is_some_and(|from| from <= ordinal) {
                let flow = self.deliver(value)?;
                let goes_on = more || results.peek().is_some();
                if flow == Flow::Enough && goes_on && !self.is_over() {
                    resume = self.gate.mark(ordinal, self.done);
                }
            }
        }
        Ok(Page { values: self.page, resume, held: self.held })
    }

    pub(super) fn clauses(&self) -> &Clauses {
        self.plan.clauses()
    }

    /// Whether TOP or LIMIT is used up.
    fn is_over(&self) -> bool {
        let window = self.clauses().window;
        window.take == Some(0) || window.end() <= self.done
    }

    /// The row that the environment holds makes results.
    pub(super) fn take<'a>(
        &mut self,
        plan: &'a Select,
        env: &mut Env<'a>,
        position: &[u8],
    ) -> Result<Flow, Error> {
        let clauses = plan.clauses();
        if self.sorted {
            return self.in_order(plan, env, position);
        }
        let mut ordinal = 0;
        expand(&clauses.from, env, &mut |env| {
            if !clauses.keeps(env)? {
                return Ok(Flow::More);
            }
            match &clauses.group {
                Some(group) => self.join_group(clauses, group, env, position)?,
                None => self.keep(clauses, env, position, ordinal)?,
            }
            ordinal += 1;
            Ok(Flow::More)
        })?;
        Ok(Flow::More)
    }

    /// The same where rows come in the order of results.
    fn in_order<'a>(
        &mut self,
        plan: &'a Select,
        env: &mut Env<'a>,
        position: &[u8],
    ) -> Result<Flow, Error> {
        let clauses = plan.clauses();
        let from = if clauses.order.is_empty() {
            self.gate.pass(position)
        } else {
            let mut place = Vec::new();
            clauses.order_key(env, &mut place)?;
            clauses.push_position(position, &mut place);
            self.gate.pass(&place)
        };
        self.passed = from.is_some();
        let Some(from) = from else { return Ok(Flow::More) };
        let one = clauses.makes_one_row();
        if self.ahead.is_none() {
            self.ordinal = u64::MAX;
        }
        let mut next = 0;
        let expanded = expand(&clauses.from, env, &mut |env| {
            if !clauses.keeps(env)? {
                return Ok(Flow::More);
            }
            let ordinal = next;
            next += 1;
            if !one && ordinal < from {
                return Ok(Flow::More);
            }
            env.complete();
            let Some(value) = Output::new(clauses.projection.of(env)?) else {
                return Ok(Flow::More);
            };
            if let Some(ahead) = &mut self.ahead {
                return Ok(ahead.find());
            }
            if self.deliver(value)? == Flow::More {
                return Ok(Flow::More);
            }
            if !one {
                self.ordinal = ordinal;
            }
            if self.is_over() {
                return Ok(Flow::Enough);
            }
            self.ahead = Some(Ahead::new(self.gate.mark(self.ordinal, self.done)));
            Ok(if one { Flow::Enough } else { Flow::More })
        });
        match (&mut self.ahead, expanded) {
            // What is wrong with a row behind the page is for the next page to say.
            (Some(ahead), Err(_)) if self.full => Ok(ahead.find()),
            (Some(ahead), Ok(_)) => Ok(ahead.row()),
            (_, expanded) => expanded,
        }
    }

    /// A result, in the canonical order.
    fn deliver(&mut self, value: Output) -> Result<Flow, Error> {
        if self.done < self.clauses().window.skip {
            self.done += 1;
            return Ok(Flow::More);
        }
        let size = value.size();
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

    fn sorted_page(self, all: bool) -> Page {
        let resume = if self.is_over() {
            None
        } else if let Some(ahead) = self.ahead {
            ahead.resume(all)
        } else if all {
            None
        } else if self.passed {
            self.gate.mark(self.ordinal, self.done)
        } else {
            Some(self.resume.unwrap_or_else(|| Resume::at(b"", u64::MAX, 1, 0)))
        };
        Page { values: self.page, resume, held: self.held }
    }
}

impl Clauses {
    /// Whether a document makes one row at most.
    fn makes_one_row(&self) -> bool {
        self.from.iter().all(|source| {
            matches!(source.input, Input::Root | Input::Value(_) | Input::Collected(_))
        })
    }

    /// Appends a row key so that it decides where sort keys are the same.
    pub(super) fn push_position(&self, position: &[u8], place: &mut Vec<u8>) {
        if !self.order.first().is_some_and(|order| order.descending) {
            place.extend_from_slice(position);
            return;
        }
        for byte in position {
            place.push(!*byte);
            if *byte == 0 {
                place.push(0);
            }
        }
        place.extend_from_slice(&[0xff, 0xff]);
    }
}
