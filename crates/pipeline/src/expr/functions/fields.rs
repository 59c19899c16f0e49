//! Fields of a document under construction: each name once, at its first position, with its last
//! value.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, RandomState},
};

use document::{Value, ValueRef};
use evaluation::{Budget, Error, Growth, Size};

use super::Call;

/// Number of fields up to which a linear search is used, since hashing costs more.
const FEW: usize = 16;
/// Units of work charged for a new field, in addition to copying it.
const FIELD: usize = 64;
/// Memory charged for an entry of the index of names.
const ENTRY_SIZE: Size = Size { bytes: 0, memory: 48 };

/// Fields under construction, with size checks.
pub(super) struct Fields<'a> {
    budget: &'a Budget,
    growth: Growth<'a>,
    /// Names and values in the order of their first occurrence.
    fields: Vec<(String, Value)>,
    /// A hash function with a random seed, so that requests cannot choose names with colliding
    /// hashes.
    state: RandomState,
    /// Index into `fields` by the hash of the name, for names after the first few.
    indexes: HashMap<u64, usize>,
    /// Indexes of the few fields whose name has the same hash as an earlier one.
    others: Vec<usize>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(call: &Call<'a>) -> Self {
        Self {
            budget: &call.env.context.budget,
            growth: call.new_growth(),
            fields: Vec::new(),
            state: RandomState::new(),
            indexes: HashMap::new(),
            others: Vec::new(),
        }
    }

    /// Sets a field; an existing name keeps its position and gets the new value. Fails if work or
    /// memory exceeds the limits of one evaluation.
    pub(super) fn insert_field(&mut self, name: &str, value: ValueRef<'_>) -> Result<(), Error> {
        let hash = if self.fields.len() < FEW { 0 } else { self.state.hash_one(name) };
        match self.index_of(name, hash) {
            Some(at) => {
                // The replaced value stays counted, since it was built.
                let value = self.growth.copy_value(value)?;
                if let Some(held) = self.fields.get_mut(at) {
                    held.1 = value;
                }
            }
            None => {
                self.budget.spend_bounded(FIELD)?;
                self.growth.add_name(name)?;
                let value = self.growth.copy_value(value)?;
                if FEW <= self.fields.len() {
                    self.growth.add_size(ENTRY_SIZE)?;
                    self.record_hash(hash);
                }
                self.fields.push((name.to_owned(), value));
            }
        }
        Ok(())
    }

    /// Records the hash of the name of the field that is appended next.
    fn record_hash(&mut self, hash: u64) {
        let at = self.fields.len();
        match self.indexes.entry(hash) {
            Entry::Vacant(vacant) => {
                vacant.insert(at);
            }
            Entry::Occupied(_) => self.others.push(at),
        }
    }

    /// Returns the index of a field: the first few names by linear search, others by their hash.
    /// `hash` is unused if there are only a few.
    fn index_of(&self, name: &str, hash: u64) -> Option<usize> {
        let is = |at: &usize| self.fields.get(*at).is_some_and(|(held, _)| held == name);
        let first = (0..self.fields.len().min(FEW)).find(is);
        first
            .or_else(|| self.indexes.get(&hash).copied().filter(is))
            .or_else(|| self.others.iter().copied().find(is))
    }

    pub(super) fn into_document(self) -> Value {
        Value::Document(self.fields.into_iter().collect())
    }
}
