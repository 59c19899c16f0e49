//! Fields that a function puts together: each name once, where it came first, with its last value.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, RandomState},
};

use document::{Value, ValueRef};
use evaluation::{Budget, Error, Growth, Size};

use super::In;

/// Few fields are looked through; more are found by their hash.
/// Hashing costs more than looking through fewer.
const FEW: usize = 16;
/// Work of a new field beside its copy.
const FIELD: usize = 64;
/// Memory of a place.
const PLACE: Size = Size { bytes: 0, memory: 48 };

/// Fields put together, bounded while they grow.
pub(super) struct Fields<'a> {
    /// Pays for looking names up.
    budget: &'a Budget,
    /// What the fields have come to.
    growth: Growth<'a>,
    /// Names with values, in the order in which the names came first.
    fields: Vec<(String, Value)>,
    /// Makes the hashes of names, with a seed that no request knows.
    /// With a known seed a request could choose names that all have one hash.
    state: RandomState,
    /// Places by the hash of the name; the few names whose hash another has are not in it.
    /// It holds the names after the first few.
    places: HashMap<u64, usize>,
    /// Places of those.
    others: Vec<usize>,
}

impl<'a> Fields<'a> {
    /// No fields yet.
    pub(super) fn new(call: &In<'a>) -> Self {
        Self {
            budget: &call.env.context.budget,
            growth: call.new_growth(),
            fields: Vec::new(),
            state: RandomState::new(),
            places: HashMap::new(),
            others: Vec::new(),
        }
    }

    /// Sets a field: a name that is there keeps its place and gets the new value.
    /// Fails where the fields become too many for the work or the memory of one evaluation.
    pub(super) fn insert_field(&mut self, name: &str, value: ValueRef<'_>) -> Result<(), Error> {
        let hash = if self.fields.len() < FEW { 0 } else { self.state.hash_one(name) };
        match self.place_of(name, hash) {
            Some(at) => {
                // What it replaces stays counted: it was built.
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
                    self.growth.add_size(PLACE)?;
                    self.note_place(hash);
                }
                self.fields.push((name.to_owned(), value));
            }
        }
        Ok(())
    }

    /// The next field goes where its hash leads.
    fn note_place(&mut self, hash: u64) {
        let at = self.fields.len();
        match self.places.entry(hash) {
            Entry::Vacant(vacant) => {
                vacant.insert(at);
            }
            Entry::Occupied(_) => self.others.push(at),
        }
    }

    /// Where the field of a name stands. The first few names are looked through; others are found
    /// by their hash.
    /// `hash` matters only where there are more than a few.
    fn place_of(&self, name: &str, hash: u64) -> Option<usize> {
        let is = |at: &usize| self.fields.get(*at).is_some_and(|(held, _)| held == name);
        let first = (0..self.fields.len().min(FEW)).find(is);
        first
            .or_else(|| self.places.get(&hash).copied().filter(is))
            .or_else(|| self.others.iter().copied().find(is))
    }

    /// The document.
    pub(super) fn into_document(self) -> Value {
        Value::Document(self.fields.into_iter().collect())
    }
}
