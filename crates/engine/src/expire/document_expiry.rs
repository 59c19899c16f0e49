//! When documents expire and by which rule: for documents given by id, and for all documents of a
//! collection in the order of expiry. Only headers are read.
//!
//! No index has that order, because deadlines depend on the current settings. The next documents
//! are those with the smallest deadlines of a full scan, which keeps only as many keys as
//! requested.

use std::{collections::BinaryHeap, sync::Arc};

use bytes::Bytes;
use clock::Instant;
use document::{Value, ValueRef};
use evaluation::Context;
use expiry::{Class, DefaultTtl, ExpiryRule};
use store::KeyRange;

use crate::{
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    keys,
    limits::{CANDIDATE_WORK, MAX_EXPIRY_POSITION_BYTES},
    retry::read_in_view,
    row::Row,
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
};

/// The rule by which a document expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpiryReason {
    /// The default TTL of the collection.
    Default,
    /// The document's own property `ttl`.
    Own,
    /// The date index with this name.
    Index(String),
}

/// The expiry of a live document that is not written again, and the rule that causes it.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentExpiry {
    /// Value of the document's `_id`.
    pub id: Value,
    /// Second of the document's last write.
    pub written_s: i64,
    /// The expiry class in the document's header.
    pub class: Class,
    /// Expiry of the document and the rule that causes it; `None` if it never expires.
    pub expiry: Option<(Instant, ExpiryReason)>,
}

/// Expiries of several documents, read at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentExpiries {
    /// The default TTL of the collection.
    pub default: DefaultTtl,
    /// Expiries of the live documents, in the order of the requested ids.
    pub documents: Vec<DocumentExpiry>,
}

/// A position in the order of expiry: by deadline, then by key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpiryPosition {
    at: Instant,
    key: Bytes,
}

impl ExpiryPosition {
    /// Formats the position as text that [`parse`](Self::parse) reads.
    pub fn to_text(&self) -> String {
        let key: String = self.key.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{key}", self.at.ms)
    }

    /// Parses a position; returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (ms, hex) = text.rsplit_once('-')?;
        if hex.len() % 2 != 0 || MAX_EXPIRY_POSITION_BYTES < hex.len() / 2 {
            return None;
        }
        let digits: Option<Vec<u8>> =
            hex.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
        let key: Vec<u8> = digits?.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        Some(Self { at: Instant::from_ms(ms.parse().ok()?), key: key.into() })
    }
}

/// The documents of a collection that expire next.
#[derive(Clone, Debug, PartialEq)]
pub struct NextToExpire {
    /// The instant of the read; all the documents are live at it.
    pub now: Instant,
    /// Expiries of the documents, earliest first; documents that never expire are left out.
    pub expiries: DocumentExpiries,
    /// Position from which to continue; `None` if no other document expires.
    pub after: Option<ExpiryPosition>,
}

impl Engine {
    /// Returns at most `limit` documents that expire after a position, or from the start. Scans all
    /// headers of the collection. `id_field` names the field with a document's id.
    pub async fn next_to_expire(
        &self,
        collection: &Arc<Collection>,
        id_field: &str,
        after: Option<&ExpiryPosition>,
        limit: usize,
        operation: &Context,
    ) -> Result<NextToExpire, Error> {
        let read = read_in_view!(self, collection, |view| {
            view.read_next_to_expire(id_field, after, limit, operation).await
        });
        Ok(read?.0)
    }

    /// Returns the expiries of the live documents with these ids.
    pub async fn document_expiries(
        &self,
        collection: &Arc<Collection>,
        ids: &[ValueRef<'_>],
        operation: &Context,
    ) -> Result<DocumentExpiries, Error> {
        Ok(read_in_view!(self, collection, |view| view.read_expiries(ids, operation).await)?.0)
    }
}

impl LiveView {
    async fn read_expiries(
        &self,
        ids: &[ValueRef<'_>],
        operation: &Context,
    ) -> Result<DocumentExpiries, Halt> {
        let record = &self.state.record;
        let mut documents = Vec::with_capacity(ids.len());
        for id in ids {
            yield_if_due(operation, CANDIDATE_WORK).await?;
            let Some(row) = self.get_row(&keys::row(*id)).await? else { continue };
            documents.extend(self.expiry_of(&row, "_id"));
        }
        Ok(DocumentExpiries { default: record.settings.default, documents })
    }

    async fn read_next_to_expire(
        &self,
        id_field: &str,
        after: Option<&ExpiryPosition>,
        limit: usize,
        operation: &Context,
    ) -> Result<NextToExpire, Halt> {
        let settings = &self.state.record.settings;
        // A max-heap, from which the latest position is removed when an earlier one is found. One
        // more than requested shows whether others follow.
        let mut nearest = BinaryHeap::with_capacity(limit + 2);
        let mut pages = Pages::of(KeyRange::all());
        while let Some(page) = self.next_rows(&mut pages).await? {
            for row in &page.items {
                let at = row.expires_at;
                let is_beyond =
                    |place: &ExpiryPosition| (at, &row.key[..]) >= (place.at, &place.key[..]);
                if at == Instant::MAX
                    || after.is_some_and(|after| (at, &row.key[..]) <= (after.at, &after.key[..]))
                    || (limit < nearest.len() && nearest.peek().is_some_and(is_beyond))
                {
                    continue;
                }
                // Copied, because the key as read would keep its whole page in memory.
                nearest.push(ExpiryPosition { at, key: Bytes::copy_from_slice(&row.key[..]) });
                if limit + 1 < nearest.len() {
                    nearest.pop();
                }
            }
            charge_keys(operation, page.examined).await?;
        }
        let mut places = nearest.into_sorted_vec();
        let has_more = limit < places.len();
        places.truncate(limit);
        let mut documents = Vec::with_capacity(places.len());
        for place in &places {
            yield_if_due(operation, CANDIDATE_WORK).await?;
            if let Some(row) = self.get_row(&place.key).await? {
                documents.extend(self.expiry_of(&row, id_field));
            }
        }
        let expiries = DocumentExpiries { default: settings.default, documents };
        let after = places.pop().filter(|_| has_more);
        Ok(NextToExpire { now: self.instant, expiries, after })
    }

    /// Returns when and why the document of a row expires; `None` for a row without a header or id,
    /// which cannot be live.
    fn expiry_of(&self, row: &Row, id_field: &str) -> Option<DocumentExpiry> {
        let record = &self.state.record;
        let header = row.header()?;
        let (expires_at, rule) = record.settings.expiry_and_rule(&header);
        // A dropped index has no name, but documents that it expired are not live.
        let name = |id| record.index_name(id);
        let reason = match rule {
            Some(ExpiryRule::Default) => Some(ExpiryReason::Default),
            Some(ExpiryRule::Own) => Some(ExpiryReason::Own),
            Some(ExpiryRule::Date(id)) => name(id).map(|name| ExpiryReason::Index(name.to_owned())),
            None => None,
        };
        // The id as stored, which may differ in type from the requested one (`1` and `1.0`).
        Some(DocumentExpiry {
            id: row.document().get(id_field)?.to_value(),
            written_s: header.ts,
            class: header.class,
            expiry: reason.filter(|_| expires_at < Instant::MAX).map(|reason| (expires_at, reason)),
        })
    }
}
