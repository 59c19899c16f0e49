//! The naive model: documents, settings, and the set of expired documents.
//!
//! It follows the rules directly: at every instant each document is checked, rule by rule, for
//! expiration; expired documents stay expired under any later settings. It has no index and no
//! counter, so that it cannot share a mistake of the engine.

use std::collections::{BTreeMap, BTreeSet};

use document::{Document, Number, Value};

use crate::op::{Index, Op, Outcome, id_of};

/// A document of the model. A life of a document begins with its insertion and ends with its
/// deletion or expiration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Doc {
    pub(crate) body: Document,
    /// Time of the document's last write in seconds.
    ts: i64,
    /// Number of the document's life. A new life starts when the id is inserted again.
    pub(crate) life: u32,
    /// Number of the document's last write.
    pub(crate) version: u32,
    /// Whether the document has expired, which is permanent.
    died: bool,
}

/// The complete state at one instant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    pub(crate) now_ms: i64,
    /// Default TTL in seconds; -1 enables TTL without a default, and `None` disables TTL.
    pub(crate) default: Option<i64>,
    /// Documents by id; expired ones stay until overwritten.
    docs: BTreeMap<i32, Doc>,
    pub(crate) indexes: BTreeMap<&'static str, Index>,
    /// Numbers of the lives that ended by expiration, of all documents.
    expired: BTreeSet<u32>,
    /// Number of lives so far. It is also the number of the next life.
    lives: u32,
    /// Number of writes so far.
    versions: u32,
}

/// Returns an integer value of any numeric type.
fn whole_number(value: Option<&Value>) -> Option<i64> {
    Number::of(value?.as_ref())?.to_i64_exact()
}

/// Returns the date in a field, or the earliest in its array, in milliseconds.
fn earliest_date(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::DateTime(ms) => Some(*ms),
        Value::Array(values) => values
            .iter()
            .filter_map(|value| match value {
                Value::DateTime(ms) => Some(*ms),
                _ => None,
            })
            .min(),
        _ => None,
    }
}

impl Doc {
    /// Returns the instants at which the document expires under the model's settings, in
    /// milliseconds:
    ///
    /// | default | no `ttl` | `ttl` = -1 | `ttl` = n |
    /// |---|---|---|---|
    /// | off | never | never | never |
    /// | -1 | never | never | n seconds after the write |
    /// | d | d seconds after the write | never | n seconds after the write |
    ///
    /// In addition, for each date index that contains the document: the index's number of seconds
    /// after the date in the indexed field.
    fn expiry_instants(&self, model: &Model) -> Vec<i64> {
        let mut all = Vec::new();
        match (model.default, whole_number(self.body.get("ttl"))) {
            (None, _) | (_, Some(-1)) | (Some(-1), None) => {}
            (Some(_), Some(n)) | (Some(n), None) => all.push((self.ts + n) * 1000),
        }
        for index in model.indexes.values() {
            let holds = !index.partial || self.body.get("p") == Some(&Value::Int32(1));
            if let (Some(n), true, Some(date)) =
                (index.after, holds, earliest_date(self.body.get(index.path)))
            {
                all.push(date + 1000 * n);
            }
        }
        all
    }
}

impl Model {
    pub(crate) fn new(now_ms: i64) -> Self {
        Self {
            now_ms,
            default: None,
            docs: BTreeMap::new(),
            indexes: BTreeMap::new(),
            expired: BTreeSet::new(),
            lives: 0,
            versions: 0,
        }
    }

    /// Records the documents that have expired at this instant under the current settings.
    ///
    /// It is called before and after every change that affects expiry: a document that expires by a
    /// setting at the very instant at which the setting changes stays expired.
    pub(crate) fn remember_expired(&mut self) {
        let due =
            |doc: &Doc| doc.expiry_instants(self).iter().any(|deadline| *deadline <= self.now_ms);
        let live = self.docs.values().filter(|doc| !doc.died);
        let expired: Vec<u32> = live.filter(|doc| due(doc)).map(|doc| doc.life).collect();
        for doc in self.docs.values_mut().filter(|doc| expired.contains(&doc.life)) {
            doc.died = true;
        }
        self.expired.extend(expired);
    }

    /// Returns whether the life with this number ended by expiration.
    pub(crate) fn has_expired(&self, life: u32) -> bool {
        self.expired.contains(&life)
    }

    /// Moves time. Records expirations before and after the move, under the current settings.
    pub(crate) fn move_to(&mut self, ms: i64) {
        self.remember_expired();
        self.now_ms = ms;
        self.remember_expired();
    }

    /// Returns the upcoming instants at which documents expire.
    pub(crate) fn coming_expirations(&self) -> Vec<i64> {
        let live = self.docs.values().filter(|doc| !doc.died);
        live.flat_map(|doc| doc.expiry_instants(self)).filter(|ms| self.now_ms < *ms).collect()
    }

    /// Returns the instant at which a live document expires under the current settings.
    pub(crate) fn expiry_of(&self, id: i32) -> Option<i64> {
        self.live_document(id)?.expiry_instants(self).into_iter().min()
    }

    /// Returns whether a version of a document has expired and was not overwritten.
    pub(crate) fn has_died(&self, id: i32, version: u32) -> bool {
        self.docs.get(&id).is_some_and(|doc| doc.version == version && doc.died)
    }

    /// Returns the version of a document, live or expired, that is stored.
    pub(crate) fn version_of(&self, id: i32) -> Option<u32> {
        self.docs.get(&id).map(|doc| doc.version)
    }

    /// Writes a document even if nothing changes, as a transaction does.
    pub(crate) fn rewrite(&mut self, body: Document) {
        self.remember_expired();
        self.write_body(body);
        self.remember_expired();
    }

    /// Returns the live documents by id.
    pub(crate) fn live_documents(&self) -> impl Iterator<Item = (&i32, &Doc)> {
        self.docs.iter().filter(|(_, doc)| !doc.died)
    }

    /// Returns the document with this id, if it is live.
    pub(crate) fn live_document(&self, id: i32) -> Option<&Doc> {
        self.docs.get(&id).filter(|doc| !doc.died)
    }

    /// Returns the id of a document that is expired in this state but live in `other`, a later
    /// state. No reader that sees this state may see the document again. `id` limits the search to
    /// one document.
    ///
    /// While a commit is held, a reader could see a document as expired that the held commit
    /// renews. The document would then reappear, so the engine has to make its readers wait.
    pub(crate) fn rises_in(&self, other: &Self, id: Option<i32>) -> Option<i32> {
        let here = self.docs.iter().filter(|(at, doc)| doc.died && id.is_none_or(|id| **at == id));
        let mut risen = here.filter(|(id, doc)| {
            other.live_document(**id).is_some_and(|again| again.life == doc.life)
        });
        risen.next().map(|(id, _)| *id)
    }

    /// Returns the number of live documents and the bytes of their bodies.
    pub(crate) fn live_amount(&self) -> (i64, i64) {
        let bytes = |doc: &Doc| doc.body.to_buf().bytes().len() as i64;
        self.live_documents().fold((0, 0), |(count, sum), (_, doc)| (count + 1, sum + bytes(doc)))
    }

    /// Returns whether another live document has a value that this body has and that must be
    /// unique.
    fn is_value_taken(&self, body: &Document) -> bool {
        let unique = self.indexes.values().filter(|index| index.unique);
        unique.into_iter().any(|index| {
            body.get(index.path).is_some_and(|value| {
                let same = |doc: &Doc| doc.body.get(index.path) == Some(value);
                self.live_documents().any(|(id, doc)| *id != id_of(body) && same(doc))
            })
        })
    }

    /// Writes a body, starting a new life unless the document is live.
    ///
    /// Returns `false` if a unique value is taken. The write time is the current second, as `_ts`
    /// is.
    fn write_body(&mut self, body: Document) -> bool {
        if self.is_value_taken(&body) {
            return false;
        }
        let id = id_of(&body);
        let life = self.live_document(id).map(|doc| doc.life);
        let life = life.unwrap_or_else(|| {
            self.lives += 1;
            self.lives
        });
        self.versions += 1;
        let ts = self.now_ms.div_euclid(1000);
        self.docs.insert(id, Doc { body, ts, life, version: self.versions, died: false });
        true
    }

    /// Edits a live document. If the edit changes nothing, nothing is written.
    fn update_body(&mut self, id: i32, change: impl FnOnce(&mut Document)) -> Outcome {
        let Some(doc) = self.live_document(id) else { return Outcome::updated(0, 0) };
        let mut body = doc.body.clone();
        change(&mut body);
        if body.to_buf() == doc.body.to_buf() {
            return Outcome::updated(1, 0);
        }
        if self.write_body(body) { Outcome::updated(1, 1) } else { Outcome::Duplicate }
    }

    /// Applies an operation at the current instant. Returns the result that the engine is expected
    /// to have.
    pub(crate) fn apply_op(&mut self, op: &Op) -> Outcome {
        self.remember_expired();
        let outcome = self.apply_now(op);
        self.remember_expired();
        outcome
    }

    /// Applies an operation; the caller handles expirations.
    fn apply_now(&mut self, op: &Op) -> Outcome {
        match op {
            Op::Insert(body) if self.live_document(id_of(body)).is_some() => Outcome::Duplicate,
            Op::Insert(body) => match self.write_body(body.clone()) {
                true => Outcome::Inserted,
                false => Outcome::Duplicate,
            },
            Op::Replace { body, upsert } => {
                let id = id_of(body);
                if self.live_document(id).is_none() && *upsert {
                    return match self.write_body(body.clone()) {
                        true => Outcome::Upserted,
                        false => Outcome::Duplicate,
                    };
                }
                self.update_body(id, |held| *held = body.clone())
            }
            Op::Set { id, field, value } => self.update_body(*id, |body| match value {
                Some(value) => body.insert(field.clone(), value.clone()),
                None => drop(body.remove(field)),
            }),
            Op::Increment { id } => self.update_body(*id, increment),
            Op::FindAndReplace(body) => {
                let before = self.live_document(id_of(body)).map(|doc| doc.body.clone());
                match self.update_body(id_of(body), |held| *held = body.clone()) {
                    Outcome::Duplicate => Outcome::Duplicate,
                    _ => Outcome::Found(before),
                }
            }
            Op::FindAndRemove { id } => {
                let before = self.live_document(*id).map(|doc| doc.body.clone());
                if before.is_some() {
                    self.docs.remove(id);
                }
                Outcome::Found(before)
            }
            Op::Remove { id } => match self.live_document(*id).is_some() {
                true => {
                    self.docs.remove(id);
                    Outcome::Removed(1)
                }
                false => Outcome::Removed(0),
            },
            Op::UpdateMany { v } => {
                let found = self.with_v(*v);
                for id in &found {
                    self.update_body(*id, increment);
                }
                Outcome::updated(found.len(), found.len())
            }
            Op::RemoveMany { v } => {
                let found = self.with_v(*v);
                found.iter().for_each(|id| drop(self.docs.remove(id)));
                Outcome::Removed(found.len())
            }
            Op::SetDefault(default) => {
                self.default = *default;
                Outcome::Done
            }
            Op::CreateIndex { name, index } => {
                // A unique index cannot be built over documents that share a value.
                let with = Self { indexes: [(*name, index.clone())].into(), ..self.clone() };
                if with.live_documents().any(|(_, doc)| with.is_value_taken(&doc.body)) {
                    return Outcome::Duplicate;
                }
                self.indexes.insert(name, index.clone());
                Outcome::Done
            }
            Op::ChangeIndex { name, after } => {
                if let Some(index) = self.indexes.get_mut(name) {
                    index.after = Some(*after);
                }
                Outcome::Done
            }
            Op::DropIndex { name } => {
                self.indexes.remove(name);
                Outcome::Done
            }
        }
    }

    /// Returns the ids of the live documents with this `v`.
    fn with_v(&self, v: i32) -> Vec<i32> {
        let wanted = Value::Int32(v);
        let found = self.live_documents().filter(|(_, doc)| doc.body.get("v") == Some(&wanted));
        found.map(|(id, _)| *id).collect()
    }
}

/// Adds one to `n` like `$inc`: a missing field becomes one.
fn increment(body: &mut Document) {
    let n = whole_number(body.get("n")).unwrap_or(0);
    body.insert("n", Value::Int32(i32::try_from(n + 1).unwrap_or(0)));
}
