//! Ids of collections: each is given once, whatever becomes of the collection. What is left on disk
//! of a dropped one can then never be taken for part of another.

use crate::error::{Error, Kind};

/// Gives ids to collections as they get their names.
#[derive(Debug)]
pub(crate) struct CollectionIds {
    next_id: u32,
}

impl CollectionIds {
    /// Ids from this one on were never given.
    pub(crate) fn new(next_id: u32) -> Self {
        Self { next_id }
    }

    /// Ids below this one were given.
    pub(crate) fn at_least(&mut self, next_id: u32) {
        self.next_id = self.next_id.max(next_id);
    }

    /// An id that is given once.
    pub(crate) fn take_next(&mut self) -> Result<u32, Error> {
        let id = self.next_id;
        let spent = || Error::new(Kind::Unavailable, "no ids of collections are left");
        self.next_id = id.checked_add(1).ok_or_else(spent)?;
        Ok(id)
    }
}
