//! Fills a collection over several connections, with a bar on a terminal.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use document::DocBuf;
use fastrand::Rng;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::JoinSet;

use crate::{
    commands,
    connection::Connection,
    error::{Error, Result},
    limits::{LOAD_BATCH, LOADERS},
    target::{LOADING, Target},
    wire::Sequence,
};

/// Inserts the documents 0.. to `count` that `make` makes of their numbers.
pub(crate) async fn load(
    target: &Target,
    collection: &str,
    count: u64,
    make: impl Fn(u64, &mut Rng) -> DocBuf + Clone + Send + Sync + 'static,
) -> Result<()> {
    let next = Arc::new(AtomicU64::new(0));
    let bar = bar(&format!("{}: {collection}", target.label), count);
    let mut tasks: JoinSet<Result<()>> = JoinSet::new();
    for _ in 0..LOADERS {
        let mut link = target.connect().await?;
        let (next, bar, make) = (Arc::clone(&next), bar.clone(), make.clone());
        let collection = collection.to_owned();
        tasks.spawn(async move {
            loop {
                let from = next.fetch_add(LOAD_BATCH, Ordering::Relaxed);
                if count <= from {
                    return Ok(());
                }
                let until = count.min(from + LOAD_BATCH);
                let mut rng = Rng::with_seed(from);
                let documents: Vec<DocBuf> = (from..until).map(|n| make(n, &mut rng)).collect();
                insert(&mut link, &collection, &documents).await?;
                bar.inc(until - from);
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(|error| Error::Usage(error.to_string()))??;
    }
    bar.finish_and_clear();
    Ok(())
}

async fn insert(link: &mut Connection, collection: &str, documents: &[DocBuf]) -> Result<()> {
    let sequence = Sequence { name: "documents", documents };
    let reply = link.call_with(commands::insert(collection, LOADING), Some(sequence)).await?;
    let inserted = reply.integer("n");
    if usize::try_from(inserted) == Ok(documents.len()) {
        Ok(())
    } else {
        Err(Error::Answer(format!("{inserted} of {} documents inserted", documents.len())))
    }
}

/// A bar on standard error; nothing where that is no terminal.
pub(crate) fn bar(what: &str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:30} {bar:40} {pos}/{len}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_message(what.to_owned())
}
