//! The measurement itself: connections that each send the next request when the last is answered,
//! for a warm-up that does not count and a window that does.
//!
//! ```text
//!                   start                            end of the window
//!   warm-up           │             counted            │
//!  ─[────]─[────]─[───│──]─[────]─[──────]─[────]─[────│──]
//!                        └ counts: it ends inside         └ does not: it ends after
//! ```
//!
//! A closed loop measures how long a server takes, not how long a queue gets: a slow answer delays
//! only the next request of its connection. Rates of different numbers of connections cannot be
//! compared.

use std::time::Duration;

use tokio::task::JoinSet;

use crate::{
    connection::Connection,
    error::{Error, Result},
    figures::Figures,
    histogram::Histogram,
    pause, process,
};

/// What is loaded: a server that can be connected to. Each protocol has its own.
pub(crate) trait Subject {
    /// A connection to it.
    type Link: Send + 'static;

    /// What reports call it.
    fn label(&self) -> &str;

    /// Its process on this machine; `None`: CPU time and memory are not measured.
    fn pid(&self) -> Option<u32>;

    /// Opens a connection that is ready for requests.
    fn open_link(&self) -> impl Future<Output = Result<Self::Link>>;
}

/// What one connection does, again and again. There is one worker for each connection.
pub(crate) trait Worker<L = Connection>: Send + 'static {
    /// Does it once, be it one request or several; its time is one latency. A refusal counts as a failure;
    /// any other error ends the measurement, as the connection cannot be used any more.
    fn run_step(&mut self, link: &mut L) -> impl Future<Output = Result<()>> + Send;
}

/// How long and how wide a measurement is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Connections, and so requests under way at once.
    pub(crate) connections: usize,
    /// Time before the window.
    pub(crate) warmup: Duration,
    /// The window.
    pub(crate) duration: Duration,
}

/// The measured window, by the monotonic clock.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: Duration,
    end: Duration,
}

/// What one connection has counted.
#[derive(Debug, Default)]
struct Tally {
    /// Of the successes inside the window.
    latencies: Histogram,
    /// Refusals, also those before and after the window: none is expected.
    failures: u64,
    /// The first of them.
    failure: Option<Error>,
}

/// Lets a worker for each connection do its work and returns the figures of the window. `worker` makes
/// the worker of a number, from 0 on. It fails if any worker does, or if none ever succeeds; what the
/// others counted is lost then, since a server that closes connections under load has no figure worth
/// keeping.
pub(crate) async fn run_workers<S: Subject, W: Worker<S::Link>>(
    target: &S,
    plan: Plan,
    mut worker: impl FnMut(usize) -> W,
) -> Result<Figures> {
    // All connections are open before the first request: connecting is not measured.
    let mut links = Vec::with_capacity(plan.connections);
    for _ in 0..plan.connections {
        links.push(target.open_link().await?);
    }
    let start = clock::monotonic_time() + plan.warmup;
    let window = Window { start, end: start + plan.duration };
    let mut tasks = JoinSet::new();
    for (index, link) in links.into_iter().enumerate() {
        tasks.spawn(drive_worker(worker(index), link, window));
    }
    pause::pause_until(window.start).await;
    // The server's CPU time is read at both ends of the window, by this task, beside the workers.
    let before = Usage::read_usage(target.pid())?;
    pause::pause_until(window.end).await;
    let after = Usage::read_usage(target.pid())?;
    let mut all = Tally::default();
    while let Some(tally) = tasks.join_next().await {
        let tally = tally.map_err(|error| Error::Usage(error.to_string()))??;
        all.latencies.add_counts(&tally.latencies);
        all.failures += tally.failures;
        all.failure = all.failure.or(tally.failure);
    }
    window_figures(plan, all, before, after)
}

/// Repeats the steps of one worker until the window has ended. A step that is under way then is
/// finished, so that its connection is left in order.
async fn drive_worker<L, W: Worker<L>>(
    mut worker: W,
    mut link: L,
    window: Window,
) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut begin = clock::monotonic_time();
    while begin < window.end {
        let outcome = worker.run_step(&mut link).await;
        let end = clock::monotonic_time();
        let counts = window.start <= end && end < window.end;
        match outcome {
            Ok(()) if counts => tally.latencies.record_duration(end.saturating_sub(begin)),
            Err(error) if error.is_refusal() => {
                tally.failures += 1;
                tally.failure.get_or_insert(error);
            }
            other => other?,
        }
        // One reading of the clock ends a step and begins the next: no time is lost between them.
        begin = end;
    }
    Ok(tally)
}

/// What processes have used up to an instant.
#[derive(Clone, Copy, Debug)]
struct Usage {
    /// When, by the monotonic clock.
    at: Duration,
    /// CPU time of the server.
    server: Option<Duration>,
    /// CPU time of the load generator.
    client: Duration,
    /// Resident bytes of the server.
    memory: Option<u64>,
}

impl Usage {
    /// Reads them now; without a process those of the server are `None`.
    fn read_usage(pid: Option<u32>) -> Result<Self> {
        Ok(Self {
            at: clock::monotonic_time(),
            server: pid.map(process::cpu_time).transpose()?,
            client: process::own_cpu_time()?,
            memory: pid.map(process::resident_memory).transpose()?,
        })
    }
}

/// Returns the figures of a window: rates are for its planned length, CPU time for the time between
/// the two readings. A run in which everything failed is an error, since no figure would mean
/// anything.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn window_figures(plan: Plan, all: Tally, before: Usage, after: Usage) -> Result<Figures> {
    let operations = all.latencies.count_durations() as f64;
    if let (0.0, Some(failure)) = (operations, all.failure.as_ref()) {
        return Err(Error::Answer(format!("no operation succeeded: {failure}")));
    }
    let seconds = after.at.saturating_sub(before.at).as_secs_f64();
    let server = after.server.zip(before.server).map(|(after, before)| after - before);
    let client = after.client.saturating_sub(before.client);
    let mut figures = Figures {
        connections: plan.connections,
        operations,
        failures: all.failures as f64,
        failure: all.failure.map(|failure| failure.to_string()),
        rate: operations / plan.duration.as_secs_f64(),
        server_cpu: server.map(|time| time.as_secs_f64() * 1e6 / operations.max(1.0)),
        server_memory: after.memory.map(|bytes| bytes as f64),
        client_busy: client.as_secs_f64() / seconds,
        ..Figures::default()
    };
    figures.set_latencies(&all.latencies);
    Ok(figures)
}
