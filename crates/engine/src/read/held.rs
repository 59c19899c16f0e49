//! Documents that a query holds back between batches, and what of them still lives.

use std::collections::HashSet;

use bytes::Bytes;
use document::DocBuf;
use expiry::Header;
use query::exec::{Row, Source};
use store::Store;

use super::origin;
use crate::{
    error::{Error, Halt},
    view::Views,
};

/// A document on its way out, with what says whether it still lives.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) document: Bytes,
    pub(super) source: Source,
}

impl Held {
    /// What is left of it without the documents that these origins mean.
    pub(super) fn without(self, dead: &HashSet<Box<[u8]>>) -> Result<Option<Self>, Error> {
        let row = Row { document: DocBuf::from_trusted(self.document), source: self.source };
        let left = row.without(&|origin| dead.contains(origin))?;
        let held = |row: Row| Self { document: row.document.into_bytes(), source: row.source };
        Ok(left.map(held))
    }
}

/// The origins of what has died since: of the document itself and of those joined to it.
pub(super) async fn dead_in<S: Store>(
    views: &Views<S>,
    held: &Held,
) -> Result<HashSet<Box<[u8]>>, Halt> {
    let mut origins: Vec<Box<[u8]>> = Vec::new();
    held.source.visit(&mut |origin| origins.push(origin.into()));
    let mut dead = HashSet::new();
    for origin in origins {
        if !still_lives(views, &origin).await? {
            dead.insert(origin);
        }
    }
    Ok(dead)
}

/// Whether a document that was read in an earlier view lives in this one. Its header of then does
/// not tell: a later write may have shortened its life, and others may have seen it die.
async fn still_lives<S: Store>(views: &Views<S>, origin: &[u8]) -> Result<bool, Halt> {
    let Some((place, key, header)) = origin::split(origin) else { return Ok(false) };
    let Some(view) = views.at(place) else { return Ok(false) };
    if !view.state.record.settings.can_expire() {
        return Ok(true);
    }
    let (header, _) = Header::split(header)?;
    let row = view.get(key).await?;
    Ok(row.is_some_and(|row| row.birth == header.birth))
}
