//! Stores documents over several connections, with a progress bar. The caller defines how a batch
//! is stored.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::JoinSet;

use crate::{
    closed_loop::LoadTarget,
    error::{Error, Result},
    limits::LOADERS,
};

/// Stores documents by their numbers; each connection has a clone of the loader.
pub(crate) trait Loader<L>: Clone + Send + 'static {
    /// Number of documents per batch.
    const BATCH: u64;

    /// Stores the documents with these numbers, which are at most one batch.
    fn store_batch(
        &self,
        link: &mut L,
        numbers: Range<u64>,
    ) -> impl Future<Output = Result<()>> + Send;
}

/// Stores `count` documents over [`LOADERS`] connections; `place` is the name in the progress bar.
/// A connection takes the next batch when it has stored its previous one, so that no connection
/// waits for a slower one. The first failure ends the load.
pub(crate) async fn load_documents<S: LoadTarget, W: Loader<S::Link>>(
    target: &S,
    place: &str,
    count: u64,
    loader: W,
) -> Result<()> {
    let next = Arc::new(AtomicU64::new(0));
    let bar = progress_bar(&format!("{}: {place}", target.label()), count);
    let mut tasks: JoinSet<Result<()>> = JoinSet::new();
    for _ in 0..LOADERS {
        let mut link = target.open_link().await?;
        let (next, bar, loader) = (Arc::clone(&next), bar.clone(), loader.clone());
        tasks.spawn(async move {
            loop {
                let from = next.fetch_add(W::BATCH, Ordering::Relaxed);
                if count <= from {
                    return Ok(());
                }
                let until = count.min(from + W::BATCH);
                loader.store_batch(&mut link, from..until).await?;
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

/// Returns a progress bar on standard error, which is hidden if that is not a terminal.
pub(crate) fn progress_bar(what: &str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:30} {bar:40} {pos}/{len}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_message(what.to_owned())
}
