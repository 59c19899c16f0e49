//! A receipt of a session: the results of some statements of its highest transaction number.
//! Statements are divided into pages of [`STATEMENTS`], so that each commit of a large batch writes
//! a small receipt.
//!
//! ```text
//! {_id: <session, user, page>, t: 7, r: <runs>, u: [{s: 3, id: ..}], a: {..}, w: ..}
//!     r   run-length encoded results of statements: length minus one and result; two bytes a run
//!     u   ids of upserted documents, by statement
//!     a   the reply of `findAndModify`
//!     c   whether the number is that of a committed transaction
//!     w   when it was written, by the machine's clock in milliseconds; on a manual clock only
//! ```

use std::collections::BTreeMap;

use document::{DocBuf, DocBuilder, DocRef, Value, ValueRef};

use super::receipts::StoredReply;
use crate::{
    errors::{DataCorruptionDetected, Error, Result},
    session_set::SessionKey,
};

/// Number of the first page, which has the transaction number and the first statements.
pub(super) const FIRST_PAGE: u32 = 0;
/// Number of statements whose results one page of receipts stores.
pub(super) const STATEMENTS: usize = 128;

/// The result of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StatementResult {
    /// Whether the statement matched, inserted or removed a document.
    pub(crate) hit: bool,
    /// Whether the statement changed the matched document.
    pub(crate) modified: bool,
    /// The id of an upserted document.
    pub(crate) upserted: Option<Value>,
}

impl StatementResult {
    /// Returns the result of an insert or a removal of one document.
    pub(crate) fn hit() -> Self {
        Self { hit: true, ..Self::default() }
    }

    /// Returns the code of the result in the run-length encoding; 0 is reserved for a statement
    /// that was not executed.
    fn code(&self) -> u8 {
        1 + u8::from(self.hit) + u8::from(self.hit && self.modified)
    }
}

/// A page of receipts: the results of up to [`STATEMENTS`] statements.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page {
    /// The transaction number of the statements.
    pub(super) number: i64,
    /// Whether the number is that of a committed transaction, which has no statements here.
    pub(super) is_transaction: bool,
    /// Codes of the statements' results, by position in the page.
    codes: [u8; STATEMENTS],
    upserted: BTreeMap<usize, Value>,
    pub(super) answer: Option<StoredReply>,
}

impl Page {
    /// Creates an empty page for the statements of this transaction number.
    pub(super) fn new(number: i64) -> Self {
        let (codes, is_transaction) = ([0; STATEMENTS], false);
        Self { number, is_transaction, codes, upserted: BTreeMap::new(), answer: None }
    }

    /// Creates the page of a committed transaction.
    pub(super) fn of_transaction(number: i64) -> Self {
        Self { is_transaction: true, ..Self::new(number) }
    }

    /// Returns the `_id` of the receipt that stores this page of a session.
    pub(super) fn id_of((session, user): &SessionKey, page: u32) -> Value {
        let bytes = [&session[..], &user[..], &page.to_be_bytes()].concat();
        Value::Binary { subtype: 0, bytes }
    }

    /// Returns whether a stored page was written at this time of the machine's clock or before it.
    pub(super) fn was_written_by(bytes: &[u8], wall_ms: i64) -> bool {
        matches!(DocRef::Raw(bytes).get("w"), Some(ValueRef::Int64(at)) if at <= wall_ms)
    }

    /// Returns the result of the statement at this position in the page; `None` if it was not
    /// executed.
    pub(super) fn done(&self, slot: usize) -> Option<StatementResult> {
        let code = *self.codes.get(slot).filter(|code| **code != 0)?;
        let upserted = self.upserted.get(&slot).cloned();
        Some(StatementResult { hit: 1 < code, modified: 2 < code, upserted })
    }

    /// Records the result of the statement at this position in the page.
    pub(super) fn set(&mut self, slot: usize, done: &StatementResult) {
        if let Some(code) = self.codes.get_mut(slot) {
            *code = done.code();
        }
        if let Some(id) = &done.upserted {
            self.upserted.insert(slot, id.clone());
        }
    }

    /// Returns the page in stored form. `wall_ms` is the time of the machine's clock, if it decides
    /// how long the page is kept.
    pub(super) fn encode(&self, id: &Value, wall_ms: Option<i64>) -> DocBuf {
        let mut builder = DocBuilder::new();
        builder.append("_id", id.as_ref());
        builder.append("t", ValueRef::Int64(self.number));
        if self.is_transaction {
            builder.append("c", ValueRef::Bool(true));
        }
        let runs = runs_of(&self.codes);
        builder.append("r", ValueRef::Binary { subtype: 0, bytes: &runs });
        if !self.upserted.is_empty() {
            builder.array("u", |ids| {
                for (slot, id) in &self.upserted {
                    ids.document(|entry| {
                        entry.append("s", ValueRef::Int32(i32::try_from(*slot).unwrap_or(0)));
                        entry.append("id", id.as_ref());
                    });
                }
            });
        }
        if let Some(answer) = &self.answer {
            builder.document("a", |to| {
                to.append("remove", ValueRef::Bool(answer.removed));
                to.append("new", ValueRef::Bool(answer.new));
                to.append("existing", ValueRef::Bool(answer.existing));
                if let Some(value) = &answer.value {
                    to.append("value", ValueRef::Document(DocRef::Raw(value)));
                }
            });
        }
        if let Some(at) = wall_ms {
            builder.append("w", ValueRef::Int64(at));
        }
        builder.finish()
    }

    /// Decodes the stored form of a page.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let stored = DocRef::Raw(bytes);
        Self::decode_fields(stored).ok_or_else(|| {
            Error::new(DataCorruptionDetected, "the receipt of a retryable write is damaged")
        })
    }

    fn decode_fields(stored: DocRef<'_>) -> Option<Self> {
        let ValueRef::Int64(number) = stored.get("t")? else { return None };
        let ValueRef::Binary { bytes: runs, .. } = stored.get("r")? else { return None };
        let is_transaction = stored.get("c").is_some_and(ValueRef::is_truthy);
        let mut page = Self { is_transaction, codes: codes_of(runs)?, ..Self::new(number) };
        if let Some(ids) = stored.get("u") {
            let ValueRef::Array(ids) = ids else { return None };
            for entry in ids.iter() {
                let entry = entry.as_document()?;
                let ValueRef::Int32(slot) = entry.get("s")? else { return None };
                let id = entry.get("id")?.to_value();
                page.upserted.insert(usize::try_from(slot).ok()?, id);
            }
        }
        if let Some(answer) = stored.get("a") {
            let answer = answer.as_document()?;
            let flag = |name| match answer.get(name)? {
                ValueRef::Bool(flag) => Some(flag),
                _ => None,
            };
            let value = match answer.get("value") {
                None => None,
                Some(value) => Some(value.as_document()?.to_buf().bytes().to_vec().into()),
            };
            let (removed, new, existing) = (flag("remove")?, flag("new")?, flag("existing")?);
            page.answer = Some(StoredReply { removed, new, existing, value });
        }
        Some(page)
    }
}

/// Returns the run-length encoded codes, without statements at the end that were not executed.
fn runs_of(codes: &[u8; STATEMENTS]) -> Vec<u8> {
    let end = codes.iter().rposition(|code| *code != 0).map_or(0, |last| last + 1);
    let mut runs = Vec::new();
    for run in codes.get(..end).unwrap_or_default().chunk_by(|one, next| one == next) {
        // Fits: a page has fewer statements than a byte has values.
        runs.push(u8::try_from(run.len() - 1).unwrap_or(u8::MAX));
        runs.extend(run.first());
    }
    runs
}

/// Decodes the result codes of the page's statements from their run-length encoding; `None` if it
/// is invalid.
fn codes_of(runs: &[u8]) -> Option<[u8; STATEMENTS]> {
    let mut codes = [0; STATEMENTS];
    let mut at = 0;
    let (pairs, rest) = runs.as_chunks::<2>();
    for [more, code] in pairs {
        let end = at + usize::from(*more) + 1;
        if 3 < *code {
            return None;
        }
        codes.get_mut(at..end)?.fill(*code);
        at = end;
    }
    rest.is_empty().then_some(codes)
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    /// Returns a page with these results.
    fn page_of(done: &[(usize, StatementResult)]) -> Page {
        let mut page = Page::new(7);
        done.iter().for_each(|(slot, done)| page.set(*slot, done));
        page
    }

    #[test]
    fn pages_round_trip_and_are_small() {
        let id = Page::id_of(&([9; 16], [8; 32]), 3);
        let hit = StatementResult::hit;
        let upsert = |id: i32| StatementResult { upserted: Some(id.into()), ..hit() };
        let edit = StatementResult { modified: true, ..hit() };
        let all = |done: StatementResult| {
            (0..STATEMENTS).map(|at| (at, done.clone())).collect::<Vec<_>>()
        };
        let odd = |at: usize| {
            if at.is_multiple_of(2) { StatementResult::default() } else { edit.clone() }
        };
        let image = doc! { "_id": 1, "a": "b" }.to_buf().bytes().to_vec();
        let answer =
            StoredReply { removed: false, new: true, existing: true, value: Some(image.into()) };
        for (page, bytes) in [
            (page_of(&[]), 86),
            (page_of(&[(0, hit())]), 88),
            (page_of(&[(127, hit())]), 90),
            (page_of(&all(hit())), 88),
            (page_of(&all(edit.clone())), 88),
            // The longest encoding of results without ids of upserted documents.
            (page_of(&(0..STATEMENTS).map(|at| (at, odd(at))).collect::<Vec<_>>()), 342),
            (page_of(&[(5, upsert(7)), (6, StatementResult::default()), (9, edit.clone())]), 127),
            (Page { answer: Some(answer), ..page_of(&[(0, edit.clone())]) }, 152),
        ] {
            let stored = page.encode(&id, None);
            assert_eq!(stored.bytes().len(), bytes, "{page:?}");
            assert_eq!(Page::decode(stored.bytes()).unwrap(), page);
            assert!(!Page::was_written_by(stored.bytes(), i64::MAX));
            let timed = page.encode(&id, Some(5));
            assert_eq!(Page::decode(timed.bytes()).unwrap(), page);
            assert_eq!([4, 5].map(|at| Page::was_written_by(timed.bytes(), at)), [false, true]);
        }
    }

    #[test]
    fn sessions_of_two_users_have_different_receipts() {
        let id = |user| Page::id_of(&([9; 16], user), 3);
        assert_ne!(id([1; 32]), id([2; 32]));
    }

    #[test]
    fn what_no_page_has_is_damage() {
        let binary = |bytes: &[u8]| Value::Binary { subtype: 0, bytes: bytes.to_vec() };
        for runs in [&[0][..], &[0, 4], &[128, 1], &[127, 1, 0, 1]] {
            let stored = doc! { "_id": 1, "t": 7_i64, "r": binary(runs) }.to_buf();
            assert!(Page::decode(stored.bytes()).is_err(), "{runs:?}");
        }
        let stored = doc! { "_id": 1, "t": 7, "r": binary(&[]) }.to_buf();
        assert!(Page::decode(stored.bytes()).is_err());
    }
}
