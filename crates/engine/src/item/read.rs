//! Reads one item by its key with one point read in one view.

use std::sync::Arc;

use crate::{
    catalog::Collection, engine::Engine, error::Error, item_key::ItemKey, retry::read_in_view,
    row::Item,
};

impl Engine {
    /// Returns a live item, and the sequence number of a commit up to which the read certainly
    /// covers all commits.
    pub async fn read_item(
        &self,
        collection: &Arc<Collection>,
        key: &ItemKey,
    ) -> Result<(Option<Item>, u64), Error> {
        let read = read_in_view!(self, collection, |view| view.get_row(&key.0).await);
        let (row, view) = read?;
        Ok((row.map(Item::from_row), view.seq))
    }
}
