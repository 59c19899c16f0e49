//! Cursors that follow a capped collection: at its end they stay open and continue with documents
//! that are inserted later. Between batches such a cursor keeps only its position, which is the
//! creation stamp of the last document that it has examined.

use std::sync::Arc;

use super::{Cursor, Finder};
use crate::{
    catalog::Collection,
    error::{Error, Kind},
    keys,
    view::Views,
};

impl Cursor {
    /// Keeps the cursor open at the end of its capped collection. Call it before the first batch.
    ///
    /// # Errors
    ///
    /// [`Kind::Unsupported`] if the query does not read the collection in the order of the inserts.
    pub fn follow_inserts(&mut self) -> Result<(), Error> {
        self.follows = self.finder.as_mut().is_some_and(Finder::follow);
        if self.follows {
            return Ok(());
        }
        let message = "only a query in the order of the inserts can follow a capped collection";
        Err(Error::new(Kind::Unsupported, message))
    }

    /// Returns the collection that the cursor reads, if it exists.
    pub fn collection(&self) -> Option<&Arc<Collection>> {
        self.collection.as_ref()
    }

    /// Returns the place in the order of the inserts up to which the cursor has read.
    pub(super) fn last_insertion(&self) -> Option<u64> {
        self.finder.as_ref()?.last_insertion()
    }

    /// Checks that no document after the cursor's position was evicted before the cursor could
    /// read it.
    ///
    /// # Errors
    ///
    /// [`Kind::PositionLost`]
    pub(super) async fn check_position(&self, views: &Views) -> Result<(), Error> {
        let (true, Some(view), Some(last)) = (self.follows, views.main(), self.last_insertion())
        else {
            return Ok(());
        };
        let key = keys::evicted(view.collection.id);
        let [evicted, _] = view.counters().amounts_under(&key).await?;
        if u64::try_from(evicted).unwrap_or(0) <= last {
            return Ok(());
        }
        let message = format!(
            "documents that the cursor has not read yet were evicted from the capped collection. \
             Last document read: {last}"
        );
        Err(Error::new(Kind::PositionLost, message))
    }
}
