//! Ids of collections. An id is never reused, so that remains of a dropped collection on disk are
//! never taken for part of another one.

use super::Record;
use crate::error::{Error, Kind};

/// Assigns ids to new collections.
#[derive(Debug)]
pub(crate) struct CollectionIds {
    next_id: u32,
}

impl CollectionIds {
    /// Creates a source of ids, starting with `next_id`.
    pub(crate) fn new(next_id: u32) -> Self {
        Self { next_id }
    }

    /// Raises the next id to at least `next_id`.
    pub(crate) fn at_least(&mut self, next_id: u32) {
        self.next_id = self.next_id.max(next_id);
    }

    /// Returns a new id. Fails when all are used.
    pub(crate) fn take_next(&mut self) -> Result<u32, Error> {
        let id = self.next_id;
        let spent = || Error::new(Kind::Unavailable, "collection ids are exhausted");
        self.next_id = id.checked_add(1).ok_or_else(spent)?;
        Ok(id)
    }
}

impl Record {
    /// Returns the collection's UUID, made of its id and the stamp of its creation. It is stable
    /// over restarts and renames, and different for a recreated collection.
    pub fn uuid(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&self.id.to_be_bytes());
        bytes[8..].copy_from_slice(&self.created.to_be_bytes());
        bytes[6] = 0x40;
        bytes[8] = 0x80;
        bytes
    }
}
