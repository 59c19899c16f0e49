//! Documents that a query holds back between batches, and what of them is still live.
//!
//! A document may be made of several stored ones (a join brings in documents of other collections).
//! Its [`Source`] names them by their origins: the collection's place among the views, the row's
//! key, and the header it was read with. When one of them has expired, the document is made again
//! without it; it goes as a whole only when its own stored document has expired.

use std::collections::HashSet;

use bytes::Bytes;
use document::DocBuf;
use expiry::Header;
use pipeline::exec::{self, Source};
use store::Store;

use super::{dated::with_second, origin};
use crate::{
    error::{Error, Halt},
    row::Row,
    view::Views,
};

/// A document on its way out, with what says whether it is still live.
#[derive(Debug)]
pub(super) struct HeldBack {
    pub(super) document: Bytes,
    /// The stored documents that it was made of, as far as that matters.
    pub(super) source: HeldSource,
    /// The number of the view that it was found live in: it is checked again before another view's
    /// batch returns it.
    pub(super) checked_in: u64,
}

/// Where a document on its way out came from. Most go into a batch of the view that found them, and
/// nobody asks: so the origin of a row is made when it is asked for.
#[derive(Debug)]
pub(super) enum HeldSource {
    /// One row: its collection's place, its key and its header.
    Row { place: u32, key: Bytes, header: Bytes },
    /// What stages say.
    Stages(Source),
}

impl HeldSource {
    /// Whether it came from anything that is stored.
    pub(super) fn is_known(&self) -> bool {
        match self {
            Self::Row { .. } => true,
            Self::Stages(source) => source.is_known(),
        }
    }

    /// Calls `visit` with the origin of each stored document.
    fn visit_origins(&self, visit: &mut dyn FnMut(&[u8])) {
        match self {
            Self::Row { place, key, header } => visit(&origin::of_key(*place, key, header)),
            Self::Stages(source) => source.visit_origins(visit),
        }
    }

    /// The same in the form that stages carry along.
    pub(super) fn into_source(self) -> Source {
        match self {
            Self::Row { place, key, header } => {
                Source::stored_at(Some(origin::of_key(place, &key, &header)))
            }
            Self::Stages(source) => source,
        }
    }
}

impl HeldBack {
    /// A row as it was found in this view; `dated` where it is to say when it was written.
    pub(super) fn of_row(row: Row, place: u32, dated: bool, checked_in: u64) -> Self {
        let (key, header) = (row.key.clone(), row.value.slice(..row.start));
        let source = HeldSource::Row { place, key, header };
        let document = if dated { with_second(&row) } else { row.into_body() };
        Self { document, source, checked_in }
    }

    /// A document that came out of stages.
    pub(super) fn of_stages(row: exec::Row, checked_in: u64) -> Self {
        let source = HeldSource::Stages(row.source);
        Self { document: row.document.into_bytes(), source, checked_in }
    }

    /// What is left of it without the documents that these origins mean.
    pub(super) fn without_expired(
        self,
        expired: &HashSet<Box<[u8]>>,
    ) -> Result<Option<Self>, Error> {
        let Self { document, source, checked_in } = self;
        let document = DocBuf::from_trusted(document);
        let row = exec::Row { document, source: source.into_source() };
        let left = row.without_dead(&|origin| expired.contains(origin))?;
        Ok(left.map(|row| Self::of_stages(row, checked_in)))
    }
}

/// The origins of what has expired since: of the document itself and of those joined to it.
pub(super) async fn expired_in<S: Store>(
    views: &Views<S>,
    held: &HeldBack,
) -> Result<HashSet<Box<[u8]>>, Halt> {
    let mut origins: Vec<Box<[u8]>> = Vec::new();
    held.source.visit_origins(&mut |origin| origins.push(origin.into()));
    let mut expired = HashSet::new();
    for origin in origins {
        if !is_still_live(views, &origin).await? {
            expired.insert(origin);
        }
    }
    Ok(expired)
}

/// Whether a document that was read in an earlier view is live in this one. The header read earlier
/// is not enough: a later write may have shortened its life, and others may have seen it expire.
async fn is_still_live<S: Store>(views: &Views<S>, origin: &[u8]) -> Result<bool, Halt> {
    // What cannot be read is not shown.
    let Some((place, key, header)) = origin::split_origin(origin) else { return Ok(false) };
    let Some(view) = views.view_at(place) else { return Ok(false) };
    // The common case costs no read.
    if !view.state.record.settings.can_expire() {
        return Ok(true);
    }
    let (header, _) = Header::split(header)?;
    let row = view.get_row(key).await?;
    // A new document under the same id is another one: the one that was read has expired, or was
    // removed, and must not come back.
    Ok(row.is_some_and(|row| row.birth == header.birth))
}
