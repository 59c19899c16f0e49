//! All documents expire on an idle server. Measures the time until the data directory has shrunk to
//! less than a fifth of its size.

use std::time::Duration;

use super::Settings;
use crate::{
    error::{Error, Result},
    expiry_method::ExpiryMethod,
    figures::{Figures, megabytes, to_float},
    inserts,
    limits::DISK_POLL,
    load,
    pause::{self, Goal},
    process,
    target::Target,
};

/// Name of the collection whose documents are inserted and then expire.
const COLLECTION: &str = "expiring";
/// Time allowed for building a TTL index before documents expire.
const MARGIN: Duration = Duration::from_secs(10);
/// Fraction of its initial size to which the directory has to shrink.
const GOAL: f64 = 0.2;

/// Loads the documents, lets them expire and polls the size of the directory. If it has not shrunk
/// to the goal before the timeout, the time is reported as infinite; this is not an error.
pub(super) async fn run_disk(target: &mut Target, settings: &Settings) -> Result<Figures> {
    let directory = target.data_dir.clone().ok_or_else(|| {
        Error::Usage("this workload reads the data directory: specify its path".to_owned())
    })?;
    // The directory must contain only the expiring documents.
    target.remove_data().await?;
    let expiry_method = ExpiryMethod::prepare_collection(target, COLLECTION).await?;
    let make =
        move |number, rng: &mut fastrand::Rng| expiry_method.make_document(number, true, rng);
    let begin = clock::monotonic_time();
    inserts::insert_documents(target, COLLECTION, settings.sizes.disk_records, make).await?;
    // Pending writes of the load are part of the initial size.
    target.settle_server().await?;
    let loaded = clock::monotonic_time().saturating_sub(begin).as_secs_f64();
    let at =
        expiry_method.fix_instant(target, COLLECTION, clock::monotonic_time() + MARGIN).await?;
    let mut link = target.connect_link().await?;
    pause::pause_until(at.saturating_sub(DISK_POLL)).await;
    // Read at the last moment, because the server may compact after the load.
    let before = process::disk_usage(&directory)?;
    let bounds = expiry_method.wait_for_expiry(&mut link, at).await?;

    let bar = load::progress_bar(&format!("{}: waiting for the disk", target.label), 100);
    let show = |size: u64| bar.set_position(size * 100 / before.max(1));
    let goal = Goal { below: to_float(before) * GOAL, patience: settings.sizes.patience };
    let watch = pause::wait_until_below(&directory, goal, bounds.expired_from, show).await?;
    bar.finish_and_clear();
    let mut figures = Figures { connections: 1, ..Figures::default() };
    figures.add_extra("before, MB", megabytes(before));
    figures.add_extra("after, MB", megabytes(watch.size));
    figures.add_extra("share left", to_float(watch.size) / to_float(before.max(1)));
    figures.add_extra("seconds until under a fifth", watch.seconds.unwrap_or(f64::INFINITY));
    figures.add_extra("load, documents per second", to_float(settings.sizes.disk_records) / loaded);
    if let Some(pid) = target.pid {
        figures.add_extra("resident, MB", megabytes(process::resident_memory(pid)?));
    }
    target.drop_collection(COLLECTION).await?;
    Ok(figures)
}
