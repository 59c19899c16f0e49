//! What one numbered command knows of its receipts: which of its statements were done before, and
//! what it has done itself. It reads pages as it needs them, and gives the engine those that belong
//! into a commit.
//!
//! Two attempts may run at once. Each commit is under the condition that the pages are those that
//! this attempt has read, and so is the page that says which number the session is at: one that
//! comes second is told so, and begins again with what the other has done.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use bytes::Bytes;
use document::{DocBuf, Document, Value};
use engine::{Effect, Engine, Kind, ReceiptPut, Receipts, StatementEffect, Store};
use parking_lot::Mutex;

use super::page::{Done, Page, STATEMENTS};
use crate::{
    errors::{Error, Result, TransactionTooOld, WriteConflict},
    limits::MAX_RECEIPT_BYTES,
    parsers::number::{Numbered, StatementIds},
    session::SessionId,
};

/// The page that says which number a session is at; it has the first statements too.
const HEAD: u32 = 0;

/// What `findAndModify` answers, as far as the document of the reply cannot be found again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The document was to be removed.
    pub(crate) removed: bool,
    /// The document was to be answered as it is after.
    pub(crate) new: bool,
    /// Whether a document was found.
    pub(crate) existing: bool,
    /// The document, before or after; none where there was none.
    pub(crate) value: Option<Bytes>,
}

/// What a `findAndModify` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The document is removed.
    pub(crate) removed: bool,
    /// The document is answered as it is after.
    pub(crate) new: bool,
}

/// Where a statement stands that is part of a numbered command.
pub(crate) struct Place<'a, S: Store> {
    pub(crate) book: &'a Book<'a, S>,
    /// Its position in the command.
    pub(crate) at: usize,
}

impl<'a, S: Store> Place<'a, S> {
    /// The next commits are about the statements at these positions, counted from this place.
    pub(crate) fn begin(self, positions: &[usize]) -> &'a dyn Receipts {
        let positions = positions.iter().map(|position| self.at + position).collect();
        self.book.state.lock().positions = positions;
        self.book
    }
}

impl<S: Store> Clone for Place<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Store> Copy for Place<'_, S> {}

/// A page that was read.
struct HeldPage {
    /// The version that is stored.
    stamp: Option<u64>,
    /// Whether the stored one belongs to this number.
    ours: bool,
    page: Page,
    /// Statements that wrote nothing are in it and not stored yet.
    unwritten: bool,
}

/// What changes while the command runs.
#[derive(Default)]
struct State {
    pages: BTreeMap<u32, HeldPage>,
    /// Positions in the command of the statements that the next commit is about.
    positions: Vec<usize>,
    /// What is answered of the document of the next commit.
    wanted: Option<Wanted>,
    /// Pages as they are once the commit that was asked about last has taken place; those that are
    /// put in it.
    asked: Vec<(u32, Page)>,
    /// Statements that were done by an earlier attempt, in the order of the command.
    repeated: Vec<i32>,
    /// The same.
    repeated_ids: HashSet<i32>,
}

/// The receipts of one numbered command.
pub(crate) struct Book<'a, S: Store> {
    engine: &'a Engine<S>,
    session: SessionId,
    number: i64,
    ids: StatementIds,
    state: Mutex<State>,
}

/// The page of a statement, and its place in there.
fn page_of(statement: i32) -> (u32, usize) {
    // Statement ids are not negative.
    let statement = usize::try_from(statement).unwrap_or(0);
    (u32::try_from(statement / STATEMENTS).unwrap_or(0), statement % STATEMENTS)
}

impl<'a, S: Store> Book<'a, S> {
    /// The receipts of a command.
    ///
    /// Errors: 225 when the session is at a higher number.
    pub(crate) async fn open(engine: &'a Engine<S>, numbered: Numbered) -> Result<Self> {
        let Numbered { session, number, ids } = numbered;
        let book = Self { engine, session, number, ids, state: Mutex::default() };
        book.read_page(HEAD).await?;
        Ok(book)
    }

    /// Reads a page, once.
    async fn read_page(&self, at: u32) -> Result<()> {
        if self.state.lock().pages.contains_key(&at) {
            return Ok(());
        }
        let id = Page::id_of(&self.session, at);
        let receipt = self.engine.receipt(id.as_ref()).await?;
        let stored = receipt.as_ref().map(|it| Page::decode(&it.body)).transpose()?;
        let ours = match &stored {
            Some(stored) if self.number < stored.number => return Err(self.too_old(stored.number)),
            Some(stored) => stored.number == self.number,
            None => false,
        };
        // A page of an earlier number says nothing, and is written over.
        let page = stored.filter(|_| ours).unwrap_or_else(|| Page::new(self.number));
        let stamp = receipt.map(|receipt| receipt.stamp);
        let held = HeldPage { stamp, ours, page, unwritten: false };
        self.state.lock().pages.insert(at, held);
        Ok(())
    }

    /// The session is at a higher number (225).
    fn too_old(&self, newer: i64) -> Error {
        let message = format!(
            "Retryable write with txnNumber {} is prohibited on session because a newer retryable \
             write with txnNumber {newer} has already started on this session.",
            self.number
        );
        Error::new(TransactionTooOld, message)
    }

    /// What an earlier attempt did for the statement at a position; `None`: it is still to be done.
    pub(crate) async fn find(&self, at: usize) -> Result<Option<Done>> {
        let id = self.ids.id_at(at);
        let (page, place) = page_of(id);
        self.read_page(page).await?;
        let mut state = self.state.lock();
        let done = state.pages.get(&page).and_then(|held| held.page.done(place));
        // A statement may be looked up again when its group was refused.
        if done.is_some() && state.repeated_ids.insert(id) {
            state.repeated.push(id);
        }
        Ok(done)
    }

    /// What an earlier attempt answered for a `findAndModify`; `None`: it is still to be done, and is
    /// to be answered like this.
    pub(crate) async fn find_answer(&self, wanted: Wanted) -> Result<Option<(Done, Answer)>> {
        let done = self.find(0).await?;
        let mut state = self.state.lock();
        state.wanted = Some(wanted);
        let Some(done) = done else { return Ok(None) };
        let (page, _) = page_of(self.ids.id_at(0));
        let answer = state.pages.get(&page).and_then(|held| held.page.answer.clone());
        let fits = |answer: &Answer| Wanted { removed: answer.removed, new: answer.new } == wanted;
        match answer.filter(fits) {
            Some(answer) => Ok(Some((done, answer))),
            // No driver does that: it repeats the command as it was.
            None => {
                let message = "findAndModify retry request is not compatible with previous write";
                Err(Error::new(40606, message))
            }
        }
    }

    /// A statement has ended without writing anything. That is kept with the next commit, or at the
    /// end.
    pub(crate) fn note_unwritten(&self, at: usize, done: &Done, answer: Option<Answer>) {
        let (page, place) = page_of(self.ids.id_at(at));
        if let Some(held) = self.state.lock().pages.get_mut(&page)
            // A group keeps it with its commit.
            && (held.page.done(place).as_ref() != Some(done) || answer.is_some())
        {
            held.page.set(place, done);
            held.page.answer = answer;
            held.unwritten = true;
        }
    }

    /// Stores what is not stored yet, so that a repeat which comes late changes nothing either. A
    /// command is answered after that. `failed` says that a statement could not be done.
    ///
    /// Errors: 112 when another attempt came first: what a statement failed by may be what the other
    /// one did for it, which was not in the receipts yet when they were read.
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
                return Err(Error::new(WriteConflict, "another attempt of the write came first"));
            }
        }
        Ok(())
    }

    /// The pages that were read, and which versions of them are known.
    fn versions(&self) -> Vec<(u32, Option<u64>)> {
        self.state.lock().pages.iter().map(|(at, held)| (*at, held.stamp)).collect()
    }

    /// Adds to a reply which statements an earlier attempt had done.
    pub(crate) fn push_repeated(&self, reply: &mut Document) {
        let repeated = self.repeated();
        if !repeated.is_empty() {
            let ids = repeated.into_iter().map(Value::Int32).collect();
            reply.push("retriedStmtIds", Value::Array(ids));
        }
    }

    /// Statements that an earlier attempt had done.
    pub(crate) fn repeated(&self) -> Vec<i32> {
        self.state.lock().repeated.clone()
    }
}

/// What a commit says of statements.
fn results(state: &State, effect: Effect<'_>) -> (Vec<(usize, Done)>, Option<Answer>) {
    let first = state.positions.first().copied().unwrap_or(0);
    let answer = |existing: bool, before: Option<&Bytes>, after: Option<&Bytes>| {
        let Wanted { removed, new } = state.wanted?;
        let value = if new { after } else { before }.cloned();
        Some(Answer { removed, new, existing, value })
    };
    match effect {
        Effect::Nothing => (Vec::new(), None),
        Effect::Inserted(places) => {
            let at = places.iter().filter_map(|place| state.positions.get(*place));
            (at.map(|at| (*at, Done::hit())).collect(), None)
        }
        Effect::Edited { before, after } => {
            let done = Done { modified: true, ..Done::hit() };
            (vec![(first, done)], answer(true, Some(before), Some(after)))
        }
        Effect::Upserted { id, after } => {
            let done = Done { upserted: Some(id.clone()), ..Done::hit() };
            (vec![(first, done)], answer(false, None, Some(after)))
        }
        Effect::Removed { before } => {
            (vec![(first, Done::hit())], answer(true, Some(before), None))
        }
        Effect::Statements(statements) => {
            let done = |effect: &StatementEffect| match effect {
                StatementEffect::Inserted | StatementEffect::Removed => Done::hit(),
                StatementEffect::Edited => Done { modified: true, ..Done::hit() },
                StatementEffect::Upserted(id) => Done { upserted: Some(id.clone()), ..Done::hit() },
                StatementEffect::Unwritten(found) => Done { hit: *found, ..Done::default() },
            };
            (statements.iter().map(|(at, effect)| (*at, done(effect))).collect(), None)
        }
    }
}

impl<S: Store> Receipts for Book<'_, S> {
    fn receipts_for(
        &self,
        effect: Effect<'_>,
    ) -> std::result::Result<Vec<ReceiptPut>, engine::Error> {
        let mut state = self.state.lock();
        let (results, mut answer) = results(&state, effect);
        let mut pages: BTreeMap<u32, Page> = BTreeMap::new();
        let unwritten = state.pages.iter().filter(|(_, held)| held.unwritten);
        pages.extend(unwritten.map(|(at, held)| (*at, held.page.clone())));
        for (at, done) in results {
            let (page, place) = page_of(self.ids.id_at(at));
            let Some(held) = state.pages.get(&page) else {
                let message = "a statement has begun without its receipt";
                return Err(engine::Error::new(Kind::Invalid, message));
            };
            let page = pages.entry(page).or_insert_with(|| held.page.clone());
            page.set(place, &done);
            page.answer = answer.take();
        }
        // The head is put with the first receipt of each page, so that it lives as long as they do;
        // else it only has to be still the one that was read.
        let fresh = |at: &u32| state.pages.get(at).is_none_or(|held| !held.ours);
        let put: BTreeSet<u32> = pages.keys().copied().collect();
        if put.iter().any(fresh) || fresh(&HEAD) {
            let head = state.pages.get(&HEAD).map(|held| held.page.clone());
            pages.entry(HEAD).or_insert_with(|| head.unwrap_or_else(|| Page::new(self.number)));
        }
        let mut puts = Vec::with_capacity(pages.len() + 1);
        let over = |at: u32| state.pages.get(&at).and_then(|held| held.stamp);
        for (at, page) in &pages {
            let id = Page::id_of(&self.session, *at);
            let body = Some(checked_size(page.encode(&id))?);
            puts.push(ReceiptPut { id, over: over(*at), body });
        }
        if !pages.contains_key(&HEAD) {
            let id = Page::id_of(&self.session, HEAD);
            puts.push(ReceiptPut { id, over: over(HEAD), body: None });
        }
        state.asked = pages.into_iter().collect();
        Ok(puts)
    }

    fn note_commit(&self, stamp: u64) {
        let mut state = self.state.lock();
        for (at, page) in std::mem::take(&mut state.asked) {
            let held = HeldPage { stamp: Some(stamp), ours: true, page, unwritten: false };
            state.pages.insert(at, held);
        }
    }
}

/// Refuses a receipt that is too large: of many upserts with very long ids.
fn checked_size(receipt: DocBuf) -> std::result::Result<DocBuf, engine::Error> {
    if MAX_RECEIPT_BYTES < receipt.bytes().len() {
        let message = "what numbered writes did is too large to be kept";
        return Err(engine::Error::new(Kind::TooLarge, message));
    }
    Ok(receipt)
}
