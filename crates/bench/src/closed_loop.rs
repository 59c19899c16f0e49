//! The measurement itself: connections that each send the next request when the last is answered,
//! for a warm-up that does not count and a window that does.

use std::time::Duration;

use tokio::task::JoinSet;

use crate::{
    connection::Connection,
    error::{Error, Result},
    figures::Figures,
    histogram::Histogram,
    pause, process,
};

/// What is loaded: a server that can be connected to.
pub(crate) trait Subject {
    /// A connection to it.
    type Link: Send + 'static;

    /// What reports call it.
    fn label(&self) -> &str;

    /// Its process, where its CPU time and memory are read.
    fn pid(&self) -> Option<u32>;

    /// Connects.
    fn open(&self) -> impl Future<Output = Result<Self::Link>>;
}

/// What one connection does, again and again.
pub(crate) trait Worker<L = Connection>: Send + 'static {
    /// Does it once. A refusal counts as a failure; any other error ends the measurement.
    fn step(&mut self, link: &mut L) -> impl Future<Output = Result<()>> + Send;
}

/// How long and how wide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Connections.
    pub(crate) connections: usize,
    /// Time before the window.
    pub(crate) warmup: Duration,
    /// The window.
    pub(crate) duration: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    start: Duration,
    end: Duration,
}

#[derive(Debug, Default)]
struct Tally {
    latencies: Histogram,
    failures: u64,
    failure: Option<Error>,
}

/// Lets a worker per connection do its work and says what came of it.
pub(crate) async fn run<S: Subject, W: Worker<S::Link>>(
    target: &S,
    plan: Plan,
    mut worker: impl FnMut(usize) -> W,
) -> Result<Figures> {
    let mut links = Vec::with_capacity(plan.connections);
    for _ in 0..plan.connections {
        links.push(target.open().await?);
    }
    let start = clock::monotonic_time() + plan.warmup;
    let window = Window { start, end: start + plan.duration };
    let mut tasks = JoinSet::new();
    for (index, link) in links.into_iter().enumerate() {
        tasks.spawn(drive(worker(index), link, window));
    }
    pause::until(window.start).await;
    let before = Usage::read(target.pid())?;
    pause::until(window.end).await;
    let after = Usage::read(target.pid())?;
    let mut all = Tally::default();
    while let Some(tally) = tasks.join_next().await {
        let tally = tally.map_err(|error| Error::Usage(error.to_string()))??;
        all.latencies.merge(&tally.latencies);
        all.failures += tally.failures;
        all.failure = all.failure.or(tally.failure);
    }
    figures(plan, all, before, after)
}

async fn drive<L, W: Worker<L>>(mut worker: W, mut link: L, window: Window) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut begin = clock::monotonic_time();
    while begin < window.end {
        let outcome = worker.step(&mut link).await;
        let end = clock::monotonic_time();
        let counts = window.start <= end && end < window.end;
        match outcome {
            Ok(()) if counts => tally.latencies.record(end.saturating_sub(begin)),
            Err(error) if error.is_refusal() => {
                tally.failures += 1;
                tally.failure.get_or_insert(error);
            }
            other => other?,
        }
        begin = end;
    }
    Ok(tally)
}

#[derive(Clone, Copy, Debug)]
struct Usage {
    at: Duration,
    server: Option<Duration>,
    client: Duration,
    memory: Option<u64>,
}

impl Usage {
    fn read(pid: Option<u32>) -> Result<Self> {
        Ok(Self {
            at: clock::monotonic_time(),
            server: pid.map(process::cpu_time).transpose()?,
            client: process::own_cpu_time()?,
            memory: pid.map(process::resident).transpose()?,
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn figures(plan: Plan, all: Tally, before: Usage, after: Usage) -> Result<Figures> {
    let operations = all.latencies.count() as f64;
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
