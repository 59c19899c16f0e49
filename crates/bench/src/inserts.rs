//! Fills a collection by inserts, in batches over several connections (`load.rs`).

use std::ops::Range;

use document::DocBuf;
use fastrand::Rng;

use crate::{
    closed_loop::Subject,
    commands::{self, LOADING},
    connection::Connection,
    error::{Error, Result},
    limits::LOAD_BATCH,
    load::{self, Loader},
    wire::Sequence,
};

/// What inserts documents into a collection; `make` makes the document of a number.
#[derive(Clone)]
struct Inserts<F> {
    collection: String,
    make: F,
}

impl<F> Loader<Connection> for Inserts<F>
where
    F: Fn(u64, &mut Rng) -> DocBuf + Clone + Send + Sync + 'static,
{
    const BATCH: u64 = LOAD_BATCH;

    async fn store_batch(&self, link: &mut Connection, numbers: Range<u64>) -> Result<()> {
        // Of the batch's first number: a document is the same whichever connection stores it.
        let mut rng = Rng::with_seed(numbers.start);
        let documents: Vec<DocBuf> = numbers.map(|number| (self.make)(number, &mut rng)).collect();
        let sequence = Sequence { name: "documents", documents: &documents };
        let command = commands::insert_command(&self.collection, LOADING);
        let inserted = link.call_with(command, Some(sequence)).await?.integer_field("n");
        if usize::try_from(inserted) == Ok(documents.len()) {
            return Ok(());
        }
        Err(Error::Answer(format!("{inserted} of {} documents inserted", documents.len())))
    }
}

/// Inserts the documents 0.. to `count` that `make` makes of their numbers. Writes do not wait for the
/// disk; what counts is measured later.
pub(crate) async fn insert_documents(
    target: &impl Subject<Link = Connection>,
    collection: &str,
    count: u64,
    make: impl Fn(u64, &mut Rng) -> DocBuf + Clone + Send + Sync + 'static,
) -> Result<()> {
    let inserts = Inserts { collection: collection.to_owned(), make };
    load::load_documents(target, collection, count, inserts).await
}
