//! The measurement. Each connection sends its next request when the previous one is answered. A
//! measurement starts with a warm-up, whose requests are not counted, followed by the window, whose
//! requests are counted.
//!
//! ```text
//!                   start                            end of the window
//!   warm-up           │             counted            │
//!  ─[────]─[────]─[───│──]─[────]─[──────]─[────]─[────│──]
//!                        └ counts: it ends inside         └ does not: it ends after
//! ```
//!
//! A closed loop measures the service time of a server, not the time in a queue: a slow answer
//! delays only the next request of the same connection. Rates that were measured with different
//! numbers of connections cannot be compared.

use std::time::Duration;

use tokio::task::JoinSet;

use crate::{
    connection::Connection,
    error::{Error, Result},
    figures::Figures,
    histogram::Histogram,
    pause, process,
};

/// A server under load, to which connections can be opened. Each protocol implements it with its
/// own type.
pub(crate) trait LoadTarget {
    /// Type of an open connection.
    type Link: Send + 'static;

    /// Returns the name in reports.
    fn label(&self) -> &str;

    /// Returns the server's local process id; `None` disables measurement of CPU time and memory.
    fn pid(&self) -> Option<u32>;

    /// Opens a connection that is ready for requests.
    fn open_link(&self) -> impl Future<Output = Result<Self::Link>>;
}

/// The repeated work of one connection. There is one worker for each connection.
pub(crate) trait Worker<L = Connection>: Send + 'static {
    /// Executes one step, which consists of one or several requests; the duration of the step is
    /// recorded as one latency. A refusal counts as a failure; any other error ends the measurement
    /// because the connection is unusable.
    fn run_step(&mut self, link: &mut L) -> impl Future<Output = Result<()>> + Send;
}

/// Length and concurrency of a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Number of connections, which equals the number of concurrent requests.
    pub(crate) connections: usize,
    /// Time before the measurement, whose operations are not counted.
    pub(crate) warmup: Duration,
    /// Length of the measured window after the warm-up.
    pub(crate) duration: Duration,
}

/// The measured window, as readings of the monotonic clock.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: Duration,
    end: Duration,
}

/// The results of one connection.
#[derive(Debug, Default)]
struct Tally {
    /// Latencies of the successful steps inside the window.
    latencies: Histogram,
    /// Number of refusals, including those outside the measured window. None is expected.
    failures: u64,
    failure: Option<Error>,
}

/// Runs a worker for each connection and returns the figures of the window. `worker` creates the
/// worker with an index from 0. Fails if any worker fails, or if no step succeeds. All results are
/// then discarded, since figures of a server that closes connections under load are meaningless.
pub(crate) async fn run_workers<S: LoadTarget, W: Worker<S::Link>>(
    target: &S,
    plan: Plan,
    mut worker: impl FnMut(usize) -> W,
) -> Result<Figures> {
    // All connections are opened before the first request, so connecting is not measured.
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
    // This task reads the server's CPU time at both ends of the window.
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

/// Repeats the steps of one worker until the window has ended. A step in progress is completed, so
/// that its connection stays usable.
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
        // One clock reading ends a step and starts the next, so no time between them is lost.
        begin = end;
    }
    Ok(tally)
}

/// Resource usage at an instant.
#[derive(Clone, Copy, Debug)]
struct Usage {
    /// Time by the monotonic clock.
    at: Duration,
    /// CPU time of the server.
    server: Option<Duration>,
    /// CPU time of the load generator.
    client: Duration,
    /// Resident memory of the server in bytes.
    memory: Option<u64>,
}

impl Usage {
    /// Reads the usage of CPU time and memory now; without a process id the server's values are
    /// `None`.
    fn read_usage(pid: Option<u32>) -> Result<Self> {
        Ok(Self {
            at: clock::monotonic_time(),
            server: pid.map(process::cpu_time).transpose()?,
            client: process::own_cpu_time()?,
            memory: pid.map(process::resident_memory).transpose()?,
        })
    }
}

/// Returns the figures of a window. Rates refer to its planned length, CPU time to the time between
/// the two readings. If every operation failed, this is an error.
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
