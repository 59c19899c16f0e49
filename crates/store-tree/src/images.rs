//! Images of an open store for whoever copies it: all there is at one moment. They read beside commits,
//! and end when the store is closed.

use std::sync::Arc;

use store::{Error, Stamp};

use crate::{base::BaseReader, entry_reader::EntryReader, shared::StoreShared};

/// A way to images of a store that does not keep it open.
#[derive(Clone)]
pub struct Images(pub(crate) Arc<StoreShared>);

impl std::fmt::Debug for Images {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Images").finish_non_exhaustive()
    }
}

impl Images {
    /// All that is visible now, to be read in pieces.
    pub fn base(&self) -> Result<BaseReader, Error> {
        let live = self.0.open_generation()?;
        BaseReader::new(&live.inner, &self.0.lasting.predicate)
    }

    /// Entries behind this one, which has this stamp, up to what is visible now.
    pub fn entries_after(&self, entry: u64, stamp: Stamp) -> Result<EntryReader, Error> {
        EntryReader::new(&self.0.open_generation()?.inner, entry, stamp)
    }
}
