//! What an export reads from and an import writes to, whichever API it speaks.

use std::{sync::Arc, time::Duration};

use document::{DocBuf, DocBuilder, ObjectId, ValueRef};

/// What a run is told from outside, and what it tells.
pub trait Watch: std::fmt::Debug + Send + Sync {
    /// Whether it may go on; where not, it ends with what has been done.
    fn goes_on(&self) -> bool;
    /// How many bytes of the file are done.
    fn so_far(&self, bytes: u64);
    /// Lets some time pass, as a server has asked for.
    fn pause(&self, time: Duration);
}

/// A watch that several hold.
pub(crate) type Watcher = Arc<dyn Watch>;

/// Some documents in the order in which they are exported.
#[derive(Debug)]
pub struct Page {
    /// The documents.
    pub documents: Vec<DocBuf>,
    /// Where the page behind begins, for a later run; `None`: nothing is behind it.
    pub mark: Option<String>,
}

/// Where documents are read.
pub trait Source {
    /// The id of the collection, which another one of the same name does not have; `None`: the server does
    /// not say.
    fn collection_id(&self) -> Option<&str>;

    /// The next page; the first begins behind the mark that the source was opened with.
    fn next_page(&mut self) -> Result<Page, String>;
}

/// What an import does with a document whose id is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is refused.
    Insert,
    /// It takes the place of the one that is there.
    Upsert,
    /// Its fields are set in the one that is there.
    Merge,
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was not there before.
    Created,
    /// It has changed the one that was there.
    Replaced,
    /// The server does not take it.
    Refused(String),
    /// The server does not take it, as its id exists.
    Existing(String),
    /// It was not sent, as one before it was refused.
    Unsent,
}

/// A document with this id as its first field, where it has none.
pub(crate) fn with_field(document: DocBuf, name: &str, id: ValueRef<'_>) -> DocBuf {
    if document.get(name).is_some() {
        return document;
    }
    let mut named = DocBuilder::new();
    named.append(name, id);
    document.as_ref().iter().for_each(|(name, value)| named.append(name, value));
    named.finish()
}

/// Where documents are written.
pub trait Sink {
    /// Returns a document as it can be sent: with this id where it has none of its own.
    fn with_id(&self, document: DocBuf, id: ObjectId) -> Result<DocBuf, String>;

    /// Writes documents, of which nobody knows whether they are there already if this is done `again`: what
    /// is refused since its id is there counts as created then. One outcome each.
    fn write(&mut self, batch: &[DocBuf], again: bool) -> Result<Vec<Outcome>, String>;

    /// How many documents there are; `None`: the server does not say.
    fn count(&mut self) -> Result<Option<u64>, String>;
}

/// What tests are watched by: nobody interrupts them.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Calm;

#[cfg(test)]
impl Watch for Calm {
    fn goes_on(&self) -> bool {
        true
    }

    fn so_far(&self, _: u64) {}

    fn pause(&self, _: Duration) {}
}
