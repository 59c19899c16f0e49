//! The receipts of one retryable write: which of its statements an earlier attempt has executed,
//! and the effects of this attempt. Reads the pages of receipts (`page.rs`) on demand, and supplies
//! the engine with the pages that belong to a commit.
//!
//! Two attempts may run concurrently. Each commit requires that the pages that it writes, and the
//! first page, which has the session's transaction number, are unchanged since this attempt read
//! them. The attempt that commits second gets a conflict, and restarts with the receipts of the
//! first.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use bytes::Bytes;
use document::{DocBuf, Document, Value};
use engine::{Effect, Engine, Kind, ReceiptPut, Receipts, StatementEffect};
use parking_lot::Mutex;

use super::{
    failures::WriteFailures,
    forget::written_at,
    page::{FIRST_PAGE, Page, STATEMENTS, StatementResult},
};
use crate::{
    errors::{Error, Result, TransactionTooOld, WriteConflict},
    limits::MAX_RECEIPT_BYTES,
    operation::Operation,
    parsers::number::{RetryableWrite, StatementIds},
    session_set::SessionKey,
    transaction_table::converted_to_transaction,
};

/// The part of the reply of a `findAndModify` that a receipt stores, because a repeat cannot read
/// the returned document again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredReply {
    /// Whether the document was to be removed.
    pub(crate) removed: bool,
    /// Whether the new document was to be returned.
    pub(crate) new: bool,
    pub(crate) existing: bool,
    /// The document before or after the change, if any.
    pub(crate) value: Option<Bytes>,
}

/// Options of a `findAndModify` that a retry has to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplyOptions {
    /// Whether the document is removed.
    pub(crate) removed: bool,
    /// Whether the new document is returned.
    pub(crate) new: bool,
}

/// A statement of a retryable write.
#[derive(Clone, Copy)]
pub(crate) struct ReceiptSlot<'a> {
    pub(crate) receipts: &'a WriteReceipts<'a>,
    /// Position of the statement in the command.
    pub(crate) at: usize,
}

impl<'a> ReceiptSlot<'a> {
    /// Declares that the next commits execute the statements at these positions, counted from this
    /// statement's position.
    pub(crate) fn begin(self, positions: &[usize]) -> &'a dyn Receipts {
        let positions = positions.iter().map(|position| self.at + position).collect();
        self.receipts.state.lock().positions = positions;
        self.receipts
    }
}

/// A page of receipts that was read for the command.
struct LoadedPage {
    /// Stamp of the stored page, which is its version; `None` if it is not stored.
    stamp: Option<u64>,
    /// Whether the stored page belongs to the transaction number of this command, not to an earlier
    /// one.
    ours: bool,
    page: Page,
    /// Whether the page has results of statements without writes that are not stored yet.
    unwritten: bool,
}

/// The part of the receipts that changes while the command runs.
#[derive(Default)]
struct State {
    pages: BTreeMap<u32, LoadedPage>,
    /// Positions in the command of the statements that the next commit executes.
    positions: Vec<usize>,
    /// Options of the `findAndModify` whose commit comes next.
    wanted: Option<ReplyOptions>,
    /// The contents of the pages that the last requested commit writes, valid once it succeeds.
    requested_pages: Vec<(u32, Page)>,
    /// Ids of statements executed by an earlier attempt, in the order of the command.
    repeated: Vec<i32>,
    /// The ids of `repeated` as a set.
    repeated_ids: HashSet<i32>,
}

/// The receipts of one retryable write.
pub(crate) struct WriteReceipts<'a> {
    engine: &'a Engine,
    /// The operation, which records whether it has written anything.
    operation: &'a Operation,
    /// Fail points to check at each commit; `None` while none is enabled.
    failures: Option<WriteFailures<'a>>,
    session: SessionKey,
    number: i64,
    ids: StatementIds,
    state: Mutex<State>,
}

/// Returns the number of the page with a statement's receipt, and the position in the page.
fn page_of(statement: i32) -> (u32, usize) {
    // Cannot fail, since statement ids are not negative.
    let statement = usize::try_from(statement).unwrap_or(0);
    (u32::try_from(statement / STATEMENTS).unwrap_or(0), statement % STATEMENTS)
}

impl<'a> WriteReceipts<'a> {
    /// Opens the receipts of a command. Fails with 225 if the session has already used a higher
    /// transaction number.
    pub(crate) async fn open(
        (engine, operation): (&'a Engine, &'a Operation),
        session: SessionKey,
        retryable: RetryableWrite,
    ) -> Result<Self> {
        let RetryableWrite { number, ids, .. } = retryable;
        let state = Mutex::default();
        let receipts = Self { engine, operation, failures: None, session, number, ids, state };
        receipts.read_page(FIRST_PAGE).await?;
        Ok(receipts)
    }

    /// Makes commits fail by these fail points.
    pub(crate) fn failing_by(self, failures: Option<WriteFailures<'a>>) -> Self {
        Self { failures, ..self }
    }

    /// Reads a page of receipts unless it was read before.
    async fn read_page(&self, at: u32) -> Result<()> {
        if self.state.lock().pages.contains_key(&at) {
            return Ok(());
        }
        let id = Page::id_of(&self.session, at);
        let receipt = self.engine.receipt(id.as_ref()).await?;
        let stored = receipt.as_ref().map(|it| Page::decode(&it.body)).transpose()?;
        let ours = match &stored {
            Some(stored) if self.number < stored.number => return Err(self.too_old(stored.number)),
            Some(stored) if stored.number == self.number && stored.is_transaction => {
                return Err(converted_to_transaction());
            }
            Some(stored) => stored.number == self.number,
            None => false,
        };
        // A page of an earlier transaction number is obsolete and will be overwritten.
        let page = stored.filter(|_| ours).unwrap_or_else(|| Page::new(self.number));
        let stamp = receipt.map(|receipt| receipt.stamp);
        let held = LoadedPage { stamp, ours, page, unwritten: false };
        self.state.lock().pages.insert(at, held);
        Ok(())
    }

    /// Returns error 225 for a transaction number below the session's current one.
    fn too_old(&self, newer: i64) -> Error {
        let message = format!(
            "Retryable write with txnNumber {} is prohibited on session because a newer retryable \
             write with txnNumber {newer} has already started on this session.",
            self.number
        );
        Error::new(TransactionTooOld, message)
    }

    /// Returns the result that an earlier attempt had for the statement at a position; `None` if no
    /// attempt has executed it.
    pub(crate) async fn find(&self, at: usize) -> Result<Option<StatementResult>> {
        let id = self.ids.id_at(at);
        let (page, slot) = page_of(id);
        self.read_page(page).await?;
        let mut state = self.state.lock();
        let done = state.pages.get(&page).and_then(|held| held.page.done(slot));
        // A statement may be looked up again after its group was refused.
        if done.is_some() && state.repeated_ids.insert(id) {
            state.repeated.push(id);
        }
        Ok(done)
    }

    /// Returns the result and reply of an earlier attempt of a `findAndModify`. Returns `None` if
    /// no attempt has executed it; the command is then executed, and its receipt stores the options
    /// `wanted`.
    pub(crate) async fn find_answer(
        &self,
        wanted: ReplyOptions,
    ) -> Result<Option<(StatementResult, StoredReply)>> {
        let done = self.find(0).await?;
        let mut state = self.state.lock();
        state.wanted = Some(wanted);
        let Some(done) = done else { return Ok(None) };
        let (page, _) = page_of(self.ids.id_at(0));
        let answer = state.pages.get(&page).and_then(|held| held.page.answer.clone());
        let fits = |answer: &StoredReply| {
            ReplyOptions { removed: answer.removed, new: answer.new } == wanted
        };
        match answer.filter(fits) {
            Some(answer) => Ok(Some((done, answer))),
            // A repeat with other options is a misuse: drivers repeat the command unchanged.
            None => {
                let message = "findAndModify retry request is not compatible with previous write";
                Err(Error::new(40606, message))
            }
        }
    }

    /// Records the result of a statement that wrote nothing. It is stored with the next commit, or
    /// by `finish`.
    pub(crate) fn record_unwritten(
        &self,
        at: usize,
        done: &StatementResult,
        answer: Option<StoredReply>,
    ) {
        let (page, slot) = page_of(self.ids.id_at(at));
        if let Some(held) = self.state.lock().pages.get_mut(&page)
            // An unchanged result was already stored by the commit of its group.
            && (held.page.done(slot).as_ref() != Some(done) || answer.is_some())
        {
            held.page.set(slot, done);
            held.page.answer = answer;
            held.unwritten = true;
        }
    }

    /// Stores the results that are not stored yet, so that a later retry of the command changes
    /// nothing. Called before the reply is sent. `failed` is true if a statement failed.
    ///
    /// Fails with 112 if another attempt was committed first. That attempt, which was not in the
    /// receipts when they were read, may have caused the failure of a statement.
    pub(crate) async fn finish(&self, failed: bool) -> Result<()> {
        if self.state.lock().pages.values().any(|held| held.unwritten) {
            self.engine.put_receipts(self).await?;
        }
        if !failed {
            return Ok(());
        }
        for (at, stamp) in self.versions() {
            let id = Page::id_of(&self.session, at);
            let stored = self.engine.receipt(id.as_ref()).await?.map(|receipt| receipt.stamp);
            if stored.is_some() && stored != stamp {
                return Err(Error::new(
                    WriteConflict,
                    "another attempt of the write was committed first",
                ));
            }
        }
        Ok(())
    }

    /// Returns the numbers of the pages of receipts that were read, each with the version that was
    /// read.
    fn versions(&self) -> Vec<(u32, Option<u64>)> {
        self.state.lock().pages.iter().map(|(at, held)| (*at, held.stamp)).collect()
    }

    /// Adds to a reply the ids of the statements that an earlier attempt has executed.
    pub(crate) fn push_repeated(&self, reply: &mut Document) {
        let repeated = self.repeated();
        if !repeated.is_empty() {
            let ids = repeated.into_iter().map(Value::Int32).collect();
            reply.push("retriedStmtIds", Value::Array(ids));
        }
    }

    /// Returns the ids of the statements that an earlier attempt executed.
    pub(crate) fn repeated(&self) -> Vec<i32> {
        self.state.lock().repeated.clone()
    }
}

/// Returns the results of the statements that the next commit executes, by position. `effect` is
/// the change that the commit makes.
fn results(
    state: &State,
    effect: Effect<'_>,
) -> (Vec<(usize, StatementResult)>, Option<StoredReply>) {
    let first = state.positions.first().copied().unwrap_or(0);
    let answer = |existing: bool, before: Option<&Bytes>, after: Option<&Bytes>| {
        let ReplyOptions { removed, new } = state.wanted?;
        let value = if new { after } else { before }.cloned();
        Some(StoredReply { removed, new, existing, value })
    };
    match effect {
        Effect::Nothing => (Vec::new(), None),
        Effect::Inserted(places) => {
            let at = places.iter().filter_map(|slot| state.positions.get(*slot));
            (at.map(|at| (*at, StatementResult::hit())).collect(), None)
        }
        Effect::Edited { before, after } => {
            let done = StatementResult { modified: true, ..StatementResult::hit() };
            (vec![(first, done)], answer(true, Some(before), Some(after)))
        }
        Effect::Upserted { id, after } => {
            let done = StatementResult { upserted: Some(id.clone()), ..StatementResult::hit() };
            (vec![(first, done)], answer(false, None, Some(after)))
        }
        Effect::Removed { before } => {
            (vec![(first, StatementResult::hit())], answer(true, Some(before), None))
        }
        Effect::Statements(statements) => {
            let done = |effect: &StatementEffect| match effect {
                StatementEffect::Inserted | StatementEffect::Removed => StatementResult::hit(),
                StatementEffect::Edited => {
                    StatementResult { modified: true, ..StatementResult::hit() }
                }
                StatementEffect::Upserted(id) => {
                    StatementResult { upserted: Some(id.clone()), ..StatementResult::hit() }
                }
                StatementEffect::Unwritten(found) => {
                    StatementResult { hit: *found, ..StatementResult::default() }
                }
            };
            (statements.iter().map(|(at, effect)| (*at, done(effect))).collect(), None)
        }
    }
}

impl Receipts for WriteReceipts<'_> {
    fn receipts_for(
        &self,
        effect: Effect<'_>,
    ) -> std::result::Result<Vec<ReceiptPut>, engine::Error> {
        if let (Some(failures), false) = (self.failures, matches!(effect, Effect::Nothing)) {
            failures.check_commit()?;
        }
        let mut state = self.state.lock();
        let (results, mut answer) = results(&state, effect);
        let mut pages: BTreeMap<u32, Page> = BTreeMap::new();
        let unwritten = state.pages.iter().filter(|(_, held)| held.unwritten);
        pages.extend(unwritten.map(|(at, held)| (*at, held.page.clone())));
        for (at, done) in results {
            let (page, slot) = page_of(self.ids.id_at(at));
            let Some(held) = state.pages.get(&page) else {
                let message = "a statement started without its receipt";
                return Err(engine::Error::new(Kind::Invalid, message));
            };
            let page = pages.entry(page).or_insert_with(|| held.page.clone());
            page.set(slot, &done);
            page.answer = answer.take();
        }
        // The first page (`FIRST_PAGE`) is written with the first receipt of each other page, so
        // that it expires no earlier than they do; otherwise it only has to be unchanged.
        let fresh = |at: &u32| state.pages.get(at).is_none_or(|held| !held.ours);
        let put: BTreeSet<u32> = pages.keys().copied().collect();
        if put.iter().any(fresh) || fresh(&FIRST_PAGE) {
            let first_page = state.pages.get(&FIRST_PAGE).map(|held| held.page.clone());
            pages
                .entry(FIRST_PAGE)
                .or_insert_with(|| first_page.unwrap_or_else(|| Page::new(self.number)));
        }
        let wall_ms = written_at(self.engine);
        let mut puts = Vec::with_capacity(pages.len() + 1);
        let expected_stamp = |at: u32| state.pages.get(&at).and_then(|held| held.stamp);
        for (at, page) in &pages {
            let id = Page::id_of(&self.session, *at);
            let body = Some(checked_size(page.encode(&id, wall_ms))?);
            puts.push(ReceiptPut { id, expected_stamp: expected_stamp(*at), body });
        }
        if !pages.contains_key(&FIRST_PAGE) {
            let id = Page::id_of(&self.session, FIRST_PAGE);
            puts.push(ReceiptPut { id, expected_stamp: expected_stamp(FIRST_PAGE), body: None });
        }
        state.requested_pages = pages.into_iter().collect();
        Ok(puts)
    }

    fn record_commit(&self, stamp: u64) {
        self.operation.record_write();
        let mut state = self.state.lock();
        for (at, page) in std::mem::take(&mut state.requested_pages) {
            let held = LoadedPage { stamp: Some(stamp), ours: true, page, unwritten: false };
            state.pages.insert(at, held);
        }
    }
}

/// Fails if a receipt is too large. Many upserts with long ids can cause that.
fn checked_size(receipt: DocBuf) -> std::result::Result<DocBuf, engine::Error> {
    if MAX_RECEIPT_BYTES < receipt.bytes().len() {
        let message = "the receipt of retryable writes is too large";
        return Err(engine::Error::new(Kind::TooLarge, message));
    }
    Ok(receipt)
}
