//! When documents expire and by which rule: of documents that are asked for by their ids, and of all of a
//! collection in the order of expiry. Only headers are looked at.
//!
//! No index has that order: a deadline depends on the settings in force. The next documents are those with
//! the least deadlines of one walk over all headers, which holds as many keys as are asked for.

use std::{collections::BinaryHeap, sync::Arc};

use bytes::Bytes;
use clock::Instant;
use document::{Value, ValueRef};
use evaluation::Context;
use expiry::{Class, DefaultTtl, ExpiryRule};
use store::{KeyRange, Store};

use crate::{
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    keys,
    limits::{CANDIDATE_WORK, MAX_EXPIRY_PLACE_BYTES},
    retry::read_in_view,
    row::Row,
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
};

/// The rule by which a document expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpiryReason {
    /// The collection's default.
    Default,
    /// Its own `ttl`.
    Own,
    /// The date index of this name.
    Index(String),
}

/// When and why a live document expires, if nothing is written.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentExpiry {
    /// Its id.
    pub id: Value,
    /// Second of its last write.
    pub written_s: i64,
    /// What it says itself.
    pub class: Class,
    /// When it expires and by which rule; `None`: never.
    pub expiry: Option<(Instant, ExpiryReason)>,
}

/// Expiries of several documents, read at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentExpiries {
    /// The collection's default.
    pub default: DefaultTtl,
    /// Those of the live documents, in the order of the ids asked for.
    pub documents: Vec<DocumentExpiry>,
}

/// A place in the order of expiry: by deadline, and by key among documents with the same deadline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpiryPlace {
    at: Instant,
    key: Bytes,
}

impl ExpiryPlace {
    /// Returns the place as text that [`parse`](Self::parse) reads.
    pub fn to_text(&self) -> String {
        let key: String = self.key.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{key}", self.at.ms)
    }

    /// Reads a place; returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (ms, hex) = text.rsplit_once('-')?;
        if hex.len() % 2 != 0 || MAX_EXPIRY_PLACE_BYTES < hex.len() / 2 {
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
    /// The instant at which all of them are live.
    pub now: Instant,
    /// Their expiries, the earliest first. Documents that never expire are not among them.
    pub expiries: DocumentExpiries,
    /// Where to go on; `None` when no other document expires.
    pub after: Option<ExpiryPlace>,
}

impl<S: Store> Engine<S> {
    /// Returns the expiries of at most `limit` documents that expire after a place in the order of expiry,
    /// or first of all. It looks at every header of the collection. `id_field` names the field that holds a
    /// document's id.
    pub async fn next_to_expire(
        &self,
        collection: &Arc<Collection>,
        id_field: &str,
        after: Option<&ExpiryPlace>,
        limit: usize,
        operation: &Context,
    ) -> Result<NextToExpire, Error> {
        let read = read_in_view!(self, collection, |view| {
            view.read_next_to_expire(id_field, after, limit, operation).await
        });
        Ok(read?.0)
    }

    /// When documents expire, by their ids; those that are not live are left out.
    pub async fn document_expiries(
        &self,
        collection: &Arc<Collection>,
        ids: &[ValueRef<'_>],
        operation: &Context,
    ) -> Result<DocumentExpiries, Error> {
        Ok(read_in_view!(self, collection, |view| view.read_expiries(ids, operation).await)?.0)
    }
}

impl<S: Store> LiveView<S> {
    async fn read_expiries(
        &self,
        ids: &[ValueRef<'_>],
        operation: &Context,
    ) -> Result<DocumentExpiries, Halt> {
        let record = &self.state.record;
        let mut documents = Vec::with_capacity(ids.len());
        for id in ids {
            yield_if_due(operation, CANDIDATE_WORK).await?;
            // Through the view, as any read: what has expired has no expiry to tell of.
            let Some(row) = self.get_row(&keys::row(*id)).await? else { continue };
            documents.extend(self.expiry_of(&row, "_id"));
        }
        Ok(DocumentExpiries { default: record.settings.default, documents })
    }

    async fn read_next_to_expire(
        &self,
        id_field: &str,
        after: Option<&ExpiryPlace>,
        limit: usize,
        operation: &Context,
    ) -> Result<NextToExpire, Halt> {
        let settings = &self.state.record.settings;
        // The greatest place is on top: it leaves when an earlier one comes. One more than is wanted says
        // whether there are others.
        let mut nearest = BinaryHeap::with_capacity(limit + 2);
        let mut pages = Pages::of(KeyRange::all());
        while let Some(page) = self.next_rows(&mut pages).await? {
            for row in &page.items {
                let at = row.expires_at;
                let is_beyond =
                    |place: &ExpiryPlace| (at, &row.key[..]) >= (place.at, &place.key[..]);
                if at == Instant::MAX
                    || after.is_some_and(|after| (at, &row.key[..]) <= (after.at, &after.key[..]))
                    || (limit < nearest.len() && nearest.peek().is_some_and(is_beyond))
                {
                    continue;
                }
                // Copied: the key as it was read keeps a whole page in memory.
                nearest.push(ExpiryPlace { at, key: Bytes::copy_from_slice(&row.key[..]) });
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

    /// Returns when and why the document of a row expires; `None` for a row without a header or an id, which
    /// no live row is.
    fn expiry_of(&self, row: &Row, id_field: &str) -> Option<DocumentExpiry> {
        let record = &self.state.record;
        let header = row.header()?;
        let (expires_at, rule) = record.settings.expiry_and_rule(&header);
        // An index that was dropped has no name any more; documents that it made expire are not live.
        let name = |id| record.indexes.iter().find(|index| index.id == id);
        let reason = match rule {
            Some(ExpiryRule::Default) => Some(ExpiryReason::Default),
            Some(ExpiryRule::Own) => Some(ExpiryReason::Own),
            Some(ExpiryRule::Date(id)) => {
                name(id).map(|index| ExpiryReason::Index(index.name.clone()))
            }
            None => None,
        };
        // The id as it is stored: `1` may have been asked for, and `1.0` be there.
        Some(DocumentExpiry {
            id: row.document().get(id_field)?.to_value(),
            written_s: header.ts,
            class: header.class,
            expiry: reason.filter(|_| expires_at < Instant::MAX).map(|reason| (expires_at, reason)),
        })
    }
}
