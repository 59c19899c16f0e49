//! Documents that a query holds back between batches, and whether they still live.

use bytes::Bytes;
use expiry::Header;
use store::Store;

use super::origin;
use crate::{
    error::Halt,
    view::{Row, Views},
};

/// A document on its way out, with what says whether it still lives.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) document: Bytes,
    pub(super) origin: Option<Box<[u8]>>,
}

/// Whether a document that was read in an earlier view lives in this one. Its header of then does
/// not tell: a later write may have shortened its life, and others may have seen it die.
pub(super) async fn still_lives<S: Store>(views: &Views<S>, held: &Held) -> Result<bool, Halt> {
    let Some(origin) = &held.origin else { return Ok(true) };
    let Some((place, key, header)) = origin::split(origin) else { return Ok(false) };
    let Some(view) = views.at(place) else { return Ok(false) };
    if !view.state.record.settings.can_expire() {
        return Ok(true);
    }
    let (header, _) = Header::split(header)?;
    let row: Option<Row> = view.get(key).await?;
    Ok(row.is_some_and(|row| row.birth == header.birth))
}
