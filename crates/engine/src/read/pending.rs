//! Documents that a query holds back between batches, and which of them are still live.
//!
//! A document may be derived from several stored ones (a join adds documents of other collections).
//! Its [`Source`] lists their origins: the view index of the collection ([`Views`]), the row's key,
//! and the header with which it was read. If a joined document has expired, the result is rebuilt
//! without it. The result is dropped if its own stored document has expired, or the joined document
//! that an `$unwind` selected for it.

use std::collections::HashSet;

use bytes::Bytes;
use document::DocBuf;
use expiry::Header;
use pipeline::exec::{self, Source};

use super::{Finder, Output, origin};
use crate::{
    error::{Error, Halt},
    row::Row,
    view::Views,
};

/// A document to be returned, with the data to check whether it is still live.
#[derive(Debug)]
pub(super) struct PendingResult {
    pub(super) document: Bytes,
    /// The stored documents from which the document was derived, as far as rechecking needs them.
    pub(super) source: ResultSource,
    /// Number of the view in which the document was found live; a batch of another view rechecks
    /// it.
    pub(super) checked_in: u64,
}

/// The source of a document. The origin of a plain row is created only on demand, because most
/// documents are returned in the view that found them.
#[derive(Debug)]
pub(super) enum ResultSource {
    /// A single row: view index of its collection, key and header.
    Row { view_index: u32, key: Bytes, header: Bytes },
    /// The source that the stages reported for the document.
    Stages(Source),
}

impl ResultSource {
    /// Returns whether the source of a result refers to stored documents.
    pub(super) fn is_known(&self) -> bool {
        match self {
            Self::Row { .. } => true,
            Self::Stages(source) => source.is_known(),
        }
    }

    /// Calls `visit` with the origin of each stored document from which the result was computed.
    fn visit_origins(&self, visit: &mut dyn FnMut(&[u8])) {
        match self {
            Self::Row { view_index, key, header } => {
                visit(&origin::of_key(*view_index, key, header))
            }
            Self::Stages(source) => source.visit_origins(visit),
        }
    }

    /// Converts to the [`Source`] that stages use.
    pub(super) fn into_source(self) -> Source {
        match self {
            Self::Row { view_index, key, header } => {
                Source::stored_at(Some(origin::of_key(view_index, &key, &header)))
            }
            Self::Stages(source) => source,
        }
    }
}

impl PendingResult {
    /// Wraps a row that the finder found in the view with this index.
    pub(super) fn of_row(
        row: Row,
        view_index: u32,
        finder: &Finder,
        output: Output,
        checked_in: u64,
    ) -> Self {
        let (key, header) = (row.key.clone(), row.value.slice(..row.start));
        let source = ResultSource::Row { view_index, key, header };
        Self { document: output.of_row(row, finder), source, checked_in }
    }

    /// Wraps a document that the stages produced.
    pub(super) fn of_stages(row: exec::Row, checked_in: u64) -> Self {
        let source = ResultSource::Stages(row.source);
        Self { document: row.document.into_bytes(), source, checked_in }
    }

    /// Wraps a document of the stages in the form in which it is returned.
    pub(super) fn of_output(
        row: exec::Row,
        finder: Option<&Finder>,
        output: Output,
        checked_in: u64,
    ) -> Self {
        let document = output.of_result(row.document, &row.source, finder);
        Self { document, source: ResultSource::Stages(row.source), checked_in }
    }

    /// Recomputes the result without expired documents, which are given by their origins. Returns
    /// `None` if one of them is the result's own document, or the joined document that an `$unwind`
    /// selected for it.
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

/// Returns the origins of documents that have expired since they were read, including joined
/// documents.
pub(super) async fn expired_in(
    views: &Views,
    held: &PendingResult,
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

/// Returns whether a document read in an earlier view is live in this one. The earlier header does
/// not suffice: a later write may have moved its expiry to an earlier instant, and a reader may
/// already have seen it expired.
async fn is_still_live(views: &Views, origin: &[u8]) -> Result<bool, Halt> {
    // An unreadable origin counts as expired.
    let Some((view_index, key, header)) = origin::split_origin(origin) else { return Ok(false) };
    let Some(view) = views.view_at(view_index) else { return Ok(false) };
    // Common case, in which no row has to be read.
    if !view.state.record.settings.can_expire() {
        return Ok(true);
    }
    let (header, _) = Header::split(header)?;
    let row = view.get_row(key).await?;
    // A new document under the same id does not count: the document read earlier has expired or was
    // deleted and must not reappear.
    Ok(row.is_some_and(|row| row.creation_stamp == header.creation_stamp))
}
