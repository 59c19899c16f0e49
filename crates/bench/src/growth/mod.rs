//! Measures a server with growing numbers of documents: loading, reading, restart and expiry. Each
//! number of documents has a server and directory of its own, so that the measurements do not
//! affect each other:
//!
//! ```text
//! start │ load │ rest │ read by key, by index │ kill -9, start │ change TTL │ half expires while read
//! ```
//!
//! The steps are repeated for each number of documents. Expiry of half of the documents is measured
//! if the server's clock can be moved.

mod documents;
mod readers;

use std::{path::Path, time::Duration};

use documents::{Documents, INDEXED};
use readers::{Finder, PointReader};

use crate::{
    args::Growth,
    closed_loop::{self, Plan, Worker},
    commands,
    error::{Error, Result},
    expiry_method::ExpiryMethod,
    figures::{Figures, megabytes, to_float},
    inserts,
    limits::REST,
    pause::{self, Goal},
    process,
    spawned::{OwnDirectory, Spawned},
    target::Target,
};

const COLLECTION: &str = "growth";

const READERS: usize = 8;
/// Share of the documents' size that the server has to release after half of the documents have
/// expired.
const SHARE_BACK: f64 = 0.4;
/// Number of times that the TTL is changed. The duration of the slowest change is reported.
const CHANGES: u32 = 5;
/// Name of the TTL index on a server with a manual clock.
const TTL_INDEX: &str = "_ts_1";
/// A TTL so long that no document expires.
const NEVER_SECONDS: i64 = 2_000_000_000;

/// Measures each number of documents in turn; `progress` receives status messages.
pub(crate) async fn run_growth(args: &Growth, progress: impl Fn(&str)) -> Result<Vec<Figures>> {
    let mut all = Vec::with_capacity(args.records.len());
    for count in &args.records {
        progress(&format!("growth: {count} documents"));
        all.push(measure_at(args, *count).await?);
    }
    Ok(all)
}

/// Measures a server with this many documents.
async fn measure_at(args: &Growth, count: u64) -> Result<Figures> {
    let folder = args.folder.clone().unwrap_or_else(std::env::temp_dir);
    let directory = OwnDirectory::make_in(&folder)?;
    let mut figures = Figures { work: "growth", connections: READERS, ..Figures::default() };
    figures.add_extra("documents", to_float(count));
    let server = Spawned::start(&args.spawn, directory.path()).await?;
    let target = target_of(&server, directory.path());
    let expiry_method = ExpiryMethod::prepare_collection(&target, COLLECTION).await?;
    let documents = Documents { count, text: args.text, expiry_method };
    load(&target, documents, &mut figures).await?;
    figures.add_extra("resident at most, MB", megabytes(process::peak_memory(server.pid)?));
    target.settle_server().await?;
    pause::pause_for(args.rest).await;
    let used = process::disk_usage(directory.path())?;
    figures.add_extra("directory, MB", megabytes(used));
    figures
        .add_extra("directory, times its documents", to_float(used) / to_float(documents.bytes()));
    let mut rng = fastrand::Rng::with_seed(args.seed);
    let plan = Plan { connections: READERS, warmup: args.warmup, duration: args.duration };
    let points = |_| PointReader { count, rng: rng.fork() };
    let quiet = read(&target, plan, points).await?;
    figures.add_extra("point reads per second", quiet.rate);
    figures.add_extra("point read, CPU us", quiet.server_cpu.unwrap_or(f64::NAN));
    figures.add_extra("point read, p99 us", quiet.p99);
    let values = documents.values();
    let found = read(&target, plan, |_| Finder { values, rng: rng.fork() }).await?;
    figures.add_extra("indexed finds of 20 per second", found.rate);
    figures.add_extra("indexed find of 20, CPU us", found.server_cpu.unwrap_or(f64::NAN));
    figures.add_extra("indexed find of 20, p99 us", found.p99);

    server.kill().await?;
    let server = Spawned::start(&args.spawn, directory.path()).await?;
    figures.add_extra("ready after a kill, ms", server.ready.as_secs_f64() * 1e3);
    pause::pause_for(REST).await;
    figures.add_extra("resident after that, MB", megabytes(process::resident_memory(server.pid)?));
    let target = target_of(&server, directory.path());
    if let ExpiryMethod::Moved { .. } = expiry_method {
        figures.add_extra("TTL change, ms", change_ttl(&target).await?.as_secs_f64() * 1e3);
        let points = |_| PointReader { count, rng: rng.fork() };
        let during = expire_half(args, &target, documents, points, &mut figures).await?;
        figures.add_extra("p99 while half expires, us", during.p99);
    }
    server.stop().await?;
    Ok(figures)
}

fn target_of(server: &Spawned, directory: &Path) -> Target {
    Target::new("growth", server.address.clone(), Some(server.pid), Some(directory.to_owned()))
}

/// Creates an index and loads all documents.
async fn load(target: &Target, documents: Documents, figures: &mut Figures) -> Result<()> {
    let mut link = target.connect_link().await?;
    link.call_command(commands::create_index(COLLECTION, &[(INDEXED, 1)], None)).await?;
    let make = move |number, rng: &mut fastrand::Rng| documents.make(number, rng);
    let load =
        inserts::measure_inserts(target, COLLECTION, documents.count, commands::LOADING, make)
            .await?;
    figures.add_extra("loaded documents per second", load.rate);
    figures.add_extra("loading, CPU us a document", load.server_cpu);
    Ok(())
}

/// Reads during a measured window; a refused read is an error.
async fn read<W: Worker>(
    target: &Target,
    plan: Plan,
    worker: impl FnMut(usize) -> W,
) -> Result<Figures> {
    let figures = closed_loop::run_workers(target, plan, worker).await?;
    match figures.failure {
        Some(failure) => Err(Error::Answer(failure)),
        None => Ok(figures),
    }
}

/// Changes the TTL of all documents back and forth, and returns the duration of the slowest change.
async fn change_ttl(target: &Target) -> Result<Duration> {
    let mut link = target.connect_link().await?;
    let mut slowest = Duration::ZERO;
    for change in 0..CHANGES {
        // The last change sets -1, the initial value: each document expires by its own lifetime.
        let seconds = if (CHANGES - change).is_multiple_of(2) { NEVER_SECONDS } else { -1 };
        let begin = clock::monotonic_time();
        link.call_command(commands::change_ttl(COLLECTION, TTL_INDEX, seconds)).await?;
        slowest = slowest.max(clock::monotonic_time().saturating_sub(begin));
    }
    Ok(slowest)
}

/// Lets half of the documents expire while the others are read. Then waits until the space of the
/// expired ones is released.
async fn expire_half(
    args: &Growth,
    target: &Target,
    documents: Documents,
    points: impl FnMut(usize) -> PointReader,
    figures: &mut Figures,
) -> Result<Figures> {
    let directory = target.data_dir.clone().unwrap_or_default();
    let before = to_float(process::disk_usage(&directory)?);
    let below = before - to_float(documents.bytes()) * SHARE_BACK;
    let goal = Goal { below, patience: args.patience };
    let expiry_method = documents.expiry_method;
    let at = clock::monotonic_time() + args.warmup;
    let mut link = target.connect_link().await?;
    let striker = tokio::spawn(async move {
        let bounds = expiry_method.wait_for_expiry(&mut link, at).await?;
        pause::wait_until_below(&directory, goal, bounds.expired_from, |_| {}).await
    });
    let plan = Plan { connections: READERS, warmup: args.warmup, duration: args.duration };
    let during = read(target, plan, points).await?;
    let joined = |error: tokio::task::JoinError| Error::Usage(error.to_string());
    let shrunk = striker.await.map_err(joined)??;
    figures.add_extra("directory after that, MB", megabytes(shrunk.size));
    figures.add_extra("space is back after, s", shrunk.seconds.unwrap_or(f64::INFINITY));
    Ok(during)
}
