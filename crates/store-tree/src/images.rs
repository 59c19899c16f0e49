//! Consistent images of an open store, from which it is copied. They are read concurrently with
//! commits, and end when the store is closed.

use std::sync::Arc;

use store::{Error, Stamp};

use crate::{base::BaseReader, entry_reader::EntryReader, shared::StoreShared};

/// Access to images of a store, without keeping the store open.
#[derive(Clone)]
pub struct Images(pub(crate) Arc<StoreShared>);

impl std::fmt::Debug for Images {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Images").finish_non_exhaustive()
    }
}

impl Images {
    /// Returns a reader of everything visible now.
    pub fn base(&self) -> Result<BaseReader, Error> {
        let live = self.0.open_generation()?;
        BaseReader::new(&live.inner, &self.0.retained.predicate)
    }

    /// Returns a reader of the entries after this one, which must have this stamp, up to the last
    /// entry that is visible now.
    pub fn entries_after(&self, entry: u64, stamp: Stamp) -> Result<EntryReader, Error> {
        EntryReader::new(&self.0.open_generation()?.inner, entry, stamp)
    }
}
