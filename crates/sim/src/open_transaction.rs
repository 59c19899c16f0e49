//! A transaction of a simulated history: the documents that it has seen and written, and the checks
//! of the results of its statements.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use document::Document;
use engine::{Engine, Error, Kind, Transaction};

use crate::{
    model::Model,
    op::{Op, Outcome, id_of},
};

/// The result of a check; the error describes the broken law.
pub(crate) type Checked = Result<(), String>;

/// The committed state beside the transactions.
pub(crate) struct Committed {
    pub(crate) model: Model,
    /// Instant of the death of each version that has expired.
    pub(crate) deaths: BTreeMap<u32, i64>,
    /// Number of changes of settings.
    pub(crate) epoch: usize,
}

/// The live documents at the first statement of a transaction.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) first_ms: i64,
    /// Version and body by id.
    pub(crate) docs: BTreeMap<i32, (u32, Document)>,
    /// The stored versions, live or expired.
    pub(crate) versions: BTreeMap<i32, Option<u32>>,
    /// Number of changes of settings before.
    pub(crate) epoch: usize,
}

/// An open transaction, and the documents that it has seen.
pub(crate) struct Open {
    pub(crate) transaction: Arc<Transaction>,
    pub(crate) engine: Engine,
    pub(crate) base: Option<Base>,
    /// Versions that statements have returned.
    pub(crate) shown: BTreeSet<u32>,
    /// Latest death of a version that a statement has left out.
    pub(crate) left_out_ms: i64,
    /// Ids and versions that its writes have matched, and whether they have changed them.
    pub(crate) relied: Vec<(i32, u32, bool)>,
    /// Earliest expiry of these versions, by the settings at the writes.
    pub(crate) relied_until_ms: i64,
    /// The documents that it has written; `None` for removed ones.
    pub(crate) own: BTreeMap<i32, Option<Document>>,
    /// Ids of documents that it has removed and may have inserted again.
    pub(crate) reborn: BTreeSet<i32>,
}

/// Returns whether a document may expire by a date of its own.
fn is_dated(body: &Document) -> bool {
    ["d", "e"].iter().any(|name| body.get(name).is_some())
}

impl Open {
    /// Creates a transaction that has run no statement.
    pub(crate) fn new(transaction: Arc<Transaction>, engine: Engine) -> Self {
        Self {
            transaction,
            engine,
            base: None,
            shown: BTreeSet::new(),
            left_out_ms: i64::MIN,
            relied: Vec::new(),
            relied_until_ms: i64::MAX,
            own: BTreeMap::new(),
            reborn: BTreeSet::new(),
        }
    }

    /// Returns whether the transaction can no longer commit because of an expiry.
    pub(crate) fn is_doomed(&self, now_ms: i64) -> bool {
        self.relied_until_ms <= now_ms
    }

    /// Aborts a transaction whose statement has failed, and returns an error unless there was a
    /// reason. `is_held` is whether another transaction has written the document.
    pub(crate) fn failed(
        self,
        committed: &Committed,
        error: &Error,
        key: Option<i32>,
        is_held: bool,
    ) -> Option<String> {
        let Committed { model, deaths, epoch } = committed;
        self.transaction.abort();
        let Some(base) = &self.base else { return Some(format!("it failed first: {error:?}")) };
        let died = |(version, _): &(u32, Document)| {
            deaths.get(version).is_some_and(|at| base.first_ms < *at)
        };
        let is_current = |id: &i32, version: u32| {
            model.live_document(*id).is_some_and(|held| held.version == version)
        };
        let is_gone = |(id, (version, _)): (&i32, &(u32, Document))| !is_current(id, *version);
        let is_contended = key.is_some_and(|id| {
            let before = base.versions.get(&id).copied().flatten();
            model.version_of(id) != before || is_held
        });
        let has_reason = match error.kind {
            Kind::SnapshotUnavailable => base.epoch != *epoch,
            // Something expired, or was replaced, that a statement may have read.
            Kind::Conflict => {
                is_contended
                    || base.docs.values().any(died)
                    || base.docs.iter().any(is_gone)
                    || self.relied.iter().any(|(id, version, _)| !is_current(id, *version))
            }
            _ => false,
        };
        (!has_reason).then(|| format!("a statement failed without a reason: {error:?}"))
    }

    /// Checks the documents that a statement has returned; `only` limits the read to one id.
    pub(crate) fn check_read(
        &mut self,
        committed: &Committed,
        ids: std::ops::Range<i32>,
        only: Option<i32>,
        found: &[Document],
    ) -> Checked {
        let Committed { model, deaths, .. } = committed;
        let Some(base) = &self.base else { return Ok(()) };
        let found: BTreeMap<i32, &Document> = found.iter().map(|it| (id_of(it), it)).collect();
        for id in ids.filter(|id| only.is_none_or(|only| only == *id)) {
            let seen = found.get(&id).copied();
            if let Some(own) = self.own.get(&id) {
                let is_same = match (own, seen) {
                    (Some(own), Some(seen)) => own == seen,
                    (Some(own), None) => is_dated(own),
                    (None, seen) => seen.is_none(),
                };
                if !is_same {
                    return Err(format!("its own {id} was {own:?} and is {seen:?}"));
                }
                continue;
            }
            match (base.docs.get(&id), seen) {
                (None, None) => {}
                (None, Some(seen)) => return Err(format!("{seen:?} is not in its snapshot")),
                (Some((version, body)), Some(seen)) => {
                    if body != seen {
                        return Err(format!("{body:?} of its snapshot became {seen:?}"));
                    }
                    if deaths.get(version).is_some_and(|death| *death <= model.now_ms) {
                        return Err(format!("{seen:?} has expired"));
                    }
                    self.shown.insert(*version);
                }
                (Some((version, body)), None) => match deaths.get(version) {
                    Some(death) => self.left_out_ms = self.left_out_ms.max(*death),
                    None => return Err(format!("{body:?} was left out and has not expired")),
                },
            }
        }
        let ends = self.shown.iter().filter_map(|version| deaths.get(version));
        if ends.min().is_some_and(|first| *first <= self.left_out_ms) {
            return Err("at no instant was all that it was shown true".to_owned());
        }
        Ok(())
    }

    /// Checks and records a write of a transaction that has succeeded.
    pub(crate) fn note_write(
        &mut self,
        committed: &Committed,
        (id, is_held): (i32, bool),
        write: &Op,
        outcome: &Outcome,
    ) -> Checked {
        let Committed { model, deaths, .. } = committed;
        let is_effective = match outcome {
            Outcome::Inserted | Outcome::Upserted => true,
            Outcome::Updated { modified, .. } => 0 < *modified,
            Outcome::Removed(count) => 0 < *count,
            _ => false,
        };
        let is_match = matches!(outcome, Outcome::Updated { matched: 1.., .. })
            || matches!(outcome, Outcome::Removed(1..));
        let current = model.live_document(id).map(|held| held.version);
        if is_effective && is_held {
            return Err(format!("{write:?} took a document of another transaction"));
        }
        let Some(base) = &self.base else { return Ok(()) };
        if !self.own.contains_key(&id) {
            let before = base.docs.get(&id).map(|(version, _)| *version);
            let lives = before.filter(|version| !deaths.contains_key(version));
            if is_effective && lives != current {
                return Err(format!("{write:?} has overwritten the write of another"));
            }
            if is_match {
                let Some(version) = lives else {
                    return Err(format!("{write:?} has matched an expired document"));
                };
                self.relied.push((id, version, is_effective));
                let until = model.expiry_of(id).unwrap_or(i64::MAX);
                self.relied_until_ms = self.relied_until_ms.min(until);
            }
        }
        if !is_effective {
            return Ok(());
        }
        // The new body follows from the previous one, which the model of the operation edits.
        let mut scratch = Model::new(model.now_ms);
        let held = match self.own.get(&id) {
            Some(own) => own.clone(),
            None => base.docs.get(&id).map(|(_, body)| body.clone()),
        };
        if let Some(held) = held.filter(|_| is_match) {
            scratch.apply_op(&Op::Insert(held));
        }
        scratch.apply_op(write);
        let after = scratch.live_document(id).map(|held| held.body.clone());
        if after.is_none() {
            self.reborn.insert(id);
        }
        self.own.insert(id, after);
        Ok(())
    }
}
