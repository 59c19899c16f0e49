//! Fills a collection with batched inserts over several connections (`load.rs`).

use std::{ops::Range, time::Duration};

use document::DocBuf;
use fastrand::Rng;
use mongo_client::Sequence;

use crate::{
    closed_loop::LoadTarget,
    commands::{self, Concern, LOADING},
    connection::Connection,
    error::{Error, Result},
    figures::to_float,
    limits::LOAD_BATCH,
    load::{self, Loader},
    process,
};

/// A loader that inserts documents into a collection. `make` creates the document with a given
/// number.
#[derive(Clone)]
struct Inserts<F> {
    collection: String,
    concern: Concern,
    make: F,
}

impl<F> Loader<Connection> for Inserts<F>
where
    F: Fn(u64, &mut Rng) -> DocBuf + Clone + Send + Sync + 'static,
{
    const BATCH: u64 = LOAD_BATCH;

    async fn store_batch(&self, link: &mut Connection, numbers: Range<u64>) -> Result<()> {
        // Seeded with the batch's first number: a document is the same whichever connection stores
        // it.
        let mut rng = Rng::with_seed(numbers.start);
        let documents: Vec<DocBuf> = numbers.map(|number| (self.make)(number, &mut rng)).collect();
        let sequence = Sequence { name: "documents", documents: &documents };
        let command = commands::insert_command(&self.collection, self.concern);
        let inserted = link.call_with(command, Some(sequence)).await?.integer_field("n");
        if usize::try_from(inserted) == Ok(documents.len()) {
            return Ok(());
        }
        Err(Error::Answer(format!("{inserted} of {} documents inserted", documents.len())))
    }
}

/// Inserts `count` documents, created by `make` from their numbers. Writes do not wait for the
/// disk, because they only prepare a measurement.
pub(crate) async fn insert_documents(
    target: &impl LoadTarget<Link = Connection>,
    collection: &str,
    count: u64,
    make: impl Fn(u64, &mut Rng) -> DocBuf + Clone + Send + Sync + 'static,
) -> Result<()> {
    insert_with(target, collection, count, LOADING, make).await
}

/// Duration and rate of a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadFigures {
    pub(crate) rate: f64,
    /// The server's CPU time per document in microseconds; 0 if its process is not known.
    pub(crate) server_cpu: f64,
}

/// Inserts `count` documents, created by `make`, with this write concern, and measures the rate.
pub(crate) async fn measure_inserts(
    target: &impl LoadTarget<Link = Connection>,
    collection: &str,
    count: u64,
    concern: Concern,
    make: impl Fn(u64, &mut Rng) -> DocBuf + Clone + Send + Sync + 'static,
) -> Result<LoadFigures> {
    let spent = || target.pid().map_or(Ok(Duration::ZERO), process::cpu_time);
    let (begin, before) = (clock::monotonic_time(), spent()?);
    insert_with(target, collection, count, concern, make).await?;
    let took = clock::monotonic_time().saturating_sub(begin).as_secs_f64();
    let cpu = spent()?.saturating_sub(before).as_secs_f64();
    Ok(LoadFigures { rate: to_float(count) / took, server_cpu: cpu * 1e6 / to_float(count) })
}

/// Inserts `count` documents, created by `make`, with this write concern.
async fn insert_with(
    target: &impl LoadTarget<Link = Connection>,
    collection: &str,
    count: u64,
    concern: Concern,
    make: impl Fn(u64, &mut Rng) -> DocBuf + Clone + Send + Sync + 'static,
) -> Result<()> {
    let inserts = Inserts { collection: collection.to_owned(), concern, make };
    load::load_documents(target, collection, count, inserts).await
}
