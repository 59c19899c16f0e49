//! Interfaces of the source of an export and the sink of an import, independent of the API.

use std::{sync::Arc, time::Duration};

use document::{DocBuf, DocBuilder, ObjectId, ValueRef};

/// Maximum number of documents per page.
pub(crate) const PAGE_DOCUMENTS: i32 = 1000;

/// Connects a run with its caller: interruption, progress and delays.
pub trait RunMonitor: std::fmt::Debug + Send + Sync {
    /// Returns whether the run may continue; if not, the run ends and can be resumed later.
    fn should_continue(&self) -> bool;
    /// Reports the number of processed bytes of the file.
    fn report_progress(&self, bytes: u64);
    /// Sleeps for the time that a server has requested.
    fn pause(&self, time: Duration);
}

pub(crate) type SharedMonitor = Arc<dyn RunMonitor>;

/// A page of documents in export order.
#[derive(Debug)]
pub struct Page {
    /// The documents of the page, in order.
    pub documents: Vec<DocBuf>,
    /// Resume position: where the next page starts; `None` on the last page; empty if unknown.
    pub resume_position: Option<String>,
}

/// A collection from which documents are exported.
pub trait Source {
    /// Returns the server-side id of the collection, which changes when it is recreated; `None` if
    /// the server does not return one.
    fn collection_id(&self) -> Option<&str>;

    /// Returns the next page; the first one starts at the resume position with which the source was
    /// opened.
    fn next_page(&mut self) -> Result<Page, String>;
}

/// Behavior of an import if a document's id exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Refuses a document whose id exists.
    Insert,
    /// Replaces the existing document with the given one.
    Upsert,
    /// Sets the given fields in the existing document.
    Merge,
}

/// Outcome of writing one document to the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The document was created under its id.
    Created,
    /// The document has replaced an existing one or changed it.
    Replaced,
    /// The server refused the document, for this reason.
    Refused(String),
    /// The server refused the document because its id exists, with this message.
    Existing(String),
    /// The document was not sent because an earlier one was refused.
    Unsent,
}

/// Prepends a field with this id to a document without a field of that name.
pub(crate) fn with_field(document: DocBuf, name: &str, id: ValueRef<'_>) -> DocBuf {
    if document.get(name).is_some() {
        return document;
    }
    let mut named = DocBuilder::new();
    named.append(name, id);
    document.as_ref().iter().for_each(|(name, value)| named.append(name, value));
    named.finish()
}

/// A collection into which documents are imported.
pub trait Sink {
    /// Returns the document as it is sent, with `id` if it has none; fails if it cannot be sent.
    fn with_id(&self, document: DocBuf, id: ObjectId) -> Result<DocBuf, String>;

    /// Writes documents and returns one outcome for each. `again` says that they may have been
    /// written before without an acknowledgement: a document whose id exists then counts as
    /// created.
    fn write(&mut self, batch: &[DocBuf], again: bool) -> Result<Vec<Outcome>, String>;

    /// Returns the number of documents; `None` if the server does not report it.
    fn count(&mut self) -> Result<Option<u64>, String>;
}

/// A monitor for tests that never interrupts.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct NeverInterrupts;

#[cfg(test)]
impl RunMonitor for NeverInterrupts {
    fn should_continue(&self) -> bool {
        true
    }

    fn report_progress(&self, _: u64) {}

    fn pause(&self, _: Duration) {}
}
