//! When documents expire and by which rule, by their ids: what their headers say, and nothing else
//! of them. For people who ask why a document is going to expire, or why it is not.

use std::sync::Arc;

use clock::Instant;
use document::{Value, ValueRef};
use evaluation::Context;
use expiry::{Class, DefaultTtl, ExpiryRule};
use store::Store;

use crate::{
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    keys,
    limits::CANDIDATE_WORK,
    retry::read_in_view,
    view::LiveView,
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

impl<S: Store> Engine<S> {
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
            let Some(header) = row.header() else { continue };
            let (expires_at, rule) = record.settings.expiry_and_rule(&header);
            // An index that was dropped has no name any more; documents that it made expire are not
            // live.
            let name = |id| record.indexes.iter().find(|index| index.id == id);
            let ends = match rule {
                Some(ExpiryRule::Default) => Some(ExpiryReason::Default),
                Some(ExpiryRule::Own) => Some(ExpiryReason::Own),
                Some(ExpiryRule::Date(id)) => {
                    name(id).map(|index| ExpiryReason::Index(index.name.clone()))
                }
                None => None,
            };
            // The id as it is stored: `1` may have been asked for, and `1.0` be there.
            documents.push(DocumentExpiry {
                id: row.document().get("_id").unwrap_or(*id).to_value(),
                written_s: header.ts,
                class: header.class,
                expiry: ends.filter(|_| expires_at < Instant::MAX).map(|ends| (expires_at, ends)),
            });
        }
        Ok(DocumentExpiries { default: record.settings.default, documents })
    }
}
