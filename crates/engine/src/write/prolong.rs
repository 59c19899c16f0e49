//! Extends lifetimes: rewrites all live documents of a collection with a later second as the time
//! of their last write. For stores that are not in use otherwise, such as restored ones.

use std::sync::Arc;

use document::DocBuf;
use expiry::{Class, Header, Lifetime};
use store::{Commit, KeyRange, Outcome};

use super::WriteDraft;
use crate::{
    attempts::Attempts,
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt, Kind},
    row::Row,
    view::{LiveView, Pages},
};

impl Engine {
    /// Adds `seconds` to the second of the last write of all live documents, and so to their
    /// remaining lifetimes. Expiry by a document's own date is unaffected. Returns the number of
    /// documents.
    pub async fn prolong_lives(
        &self,
        collection: &Arc<Collection>,
        seconds: i64,
    ) -> Result<u64, Error> {
        let mut pages = Pages::of(KeyRange::all());
        let mut count = 0;
        loop {
            let mut attempts = Attempts::to_write();
            let commits = loop {
                attempts.begin_next()?;
                let view = self.view(collection).await?;
                // A repeated page starts from the same position.
                let mut next = pages.clone();
                match prolong_page(&view, &mut next, seconds).await {
                    Ok(commits) => {
                        pages = next;
                        break commits;
                    }
                    Err(halt) => self.resolve(&view, halt, &mut attempts).await?,
                }
            };
            let Some(commits) = commits else { return Ok(count) };
            let outcomes = self.inner.store().commit(commits).await?;
            count += outcomes.len() as u64;
            if outcomes.iter().any(|outcome| matches!(outcome, Outcome::Refused(_))) {
                let text = "a concurrent write changed documents whose lifetime is being extended";
                return Err(Error::new(Kind::Conflict, text));
            }
        }
    }
}

/// Reads the next page of rows, and builds the commits that extend their lifetimes; `None` after
/// the last page.
async fn prolong_page(
    view: &LiveView,
    pages: &mut Pages,
    seconds: i64,
) -> Result<Option<Vec<Commit>>, Halt> {
    let Some(page) = view.next_rows(pages).await? else { return Ok(None) };
    let mut commits = Vec::with_capacity(page.items.len());
    for row in page.items {
        commits.push(prolong_row(view, row, seconds).await?);
    }
    Ok(Some(commits))
}

async fn prolong_row(view: &LiveView, row: Row, seconds: i64) -> Result<Commit, Halt> {
    let header = row.header().ok_or_else(|| Error::corrupt("a stored row is damaged"))?;
    let lifetime = lifetime_of(&header);
    let at = Some(header.ts.saturating_add(seconds));
    let (key, body) = (row.key.clone(), DocBuf::from_trusted(row.clone().into_body()));
    let draft = WriteDraft { at, ..WriteDraft::of(view) };
    let previous = draft.previous_version(row).await?;
    draft.put_document(key, body, lifetime, Some(previous)).await
}

/// Returns the lifetime that a stored document has from the second of its write.
pub(super) fn lifetime_of(header: &Header<'_>) -> Lifetime {
    match header.class {
        Class::Inherit => Lifetime::Inherit,
        Class::Never => Lifetime::Never,
        Class::Explicit { deadline } => Lifetime::After(deadline.saturating_sub(header.ts)),
    }
}
