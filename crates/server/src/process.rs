//! The process around a server: its runtime, its signals, its limits, and an end that comes in
//! time. What is started and stopped, and in which order, stands in `serve.rs`.

use std::{
    io::IsTerminal,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    signal::unix::{self, Signal, SignalKind},
    sync::oneshot,
};

use crate::{
    background,
    config::Config,
    failure::{Failure, failed},
    free_memory::IDLE_THREAD,
    logging,
    serve::{Running, start},
    supervised,
};

/// How long an end may take, from the signal until the process is gone. Supervisors such as
/// `docker stop` kill after ten seconds; the process ends itself just before that, so that the log
/// says what happened. The connections' own limits (8 s in `listen.rs`, 9 s in `serve.rs`) are
/// shorter, and an orderly end fits in.
const LONGEST_END: Duration = Duration::from_millis(9_500);

/// Runs a server until SIGTERM or SIGINT, or until its terminal is closed. Returns `Ok` after an orderly end, and why
/// otherwise. At SIGHUP `reread` says what the settings are now.
pub fn serve(config: &Config, reread: &Reread<'_>) -> Result<(), Failure> {
    serve_beside(config, reread, Box::new(|_| Ok(())))
}

/// Gathers the settings again; an error is the text for the log.
pub type Reread<'a> = dyn Fn() -> Result<Config, String> + 'a;

/// What runs beside a server, with its admin address. In a box: with a type of its own for each, the
/// compiler would make the whole server again in the crate that names one.
pub type Beside = Box<dyn FnOnce(Option<String>) -> Result<(), String> + Send>;

/// Runs a server until a signal, with something beside it. Once the server accepts, `beside` runs
/// on a thread of its own and gets the admin address (`None` where that listener is off). When
/// `beside` fails, the server stops and its text becomes the failure; when it succeeds, the server
/// goes on. The server's end does not wait for `beside`.
pub fn serve_beside(config: &Config, reread: &Reread<'_>, beside: Beside) -> Result<(), Failure> {
    // First: places for connections and temporary files are counted by it.
    raise_descriptor_limit();
    // What the server keeps is its owner's alone.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // One more than cores, so that a long read does not hold up the short ones.
        .worker_threads(cores + 1)
        // Twice the runtime's own: some readers go down a level of the stack for each level of a
        // value, such as `cosmos/src/binary/reader.rs`.
        .thread_stack_size(4 * 1024 * 1024)
        .thread_keep_alive(IDLE_THREAD)
        .enable_all()
        .build()
        .map_err(failed)?;
    runtime.block_on(async {
        // Before `start`, which writes the ready file: whoever reads it may send a signal at once.
        let mut signals = Signals::take_signals().map_err(failed)?;
        let early_end = tokio::spawn(end_while_starting(Signals::take_signals().map_err(failed)?));
        let running = start(config).await;
        early_end.abort();
        let running = running?;
        supervised::tell_ready();
        supervised::start_watchdog();
        let admin = running.admin().map(str::to_owned);
        let (sender, failure) = oneshot::channel();
        std::thread::Builder::new()
            .name("beside".to_owned())
            .spawn(move || beside(admin).map_err(|why| sender.send(why)))
            .map_err(failed)?;
        let ended = tokio::select! {
            () = signals.wait_for_end(|| reload(&running, reread)) => Ok(()),
            Ok(why) = failure => Err(Failure::Failed(why)),
        };
        tracing::info!("stopping");
        supervised::tell_stopping();
        // The limit starts before the orderly end does, and needs no worker of the runtime.
        end_in_time(running.only_closes()).map_err(failed)?;
        running.stop().await.and(ended)
    })
}

/// Ends the process when a signal asks for it while the server starts, which a long journal makes long.
/// Nothing was acknowledged yet, and what is on the disk is what a crash at this point would leave. It is a
/// task of its own, as the start keeps its thread to itself.
async fn end_while_starting(mut signals: Signals) {
    signals.wait_for_end(|| ()).await;
    tracing::info!("stopped before the start was complete");
    std::process::exit(0);
}

/// Has a server read its files again.
fn reload(running: &Running, reread: &Reread<'_>) {
    supervised::tell_reloading();
    match reread() {
        // The level of the log is the one setting that a running server takes.
        Ok(config) => logging::change_level(&config),
        Err(error) => tracing::error!(%error, "the level of the log stays as it was"),
    }
    running.reload();
    supervised::tell_ready();
}

/// Starts a thread that ends the process when its orderly end takes longer than [`LONGEST_END`], whatever the
/// disk or clients do. Nothing acknowledged is lost by it: what was acknowledged is durable already. The exit
/// code is 0 where clients have got all their answers and a slow disk alone is waited for, else 1.
fn end_in_time(only_closes: Arc<AtomicBool>) -> std::io::Result<()> {
    let overdue = move || {
        background::pause_thread(LONGEST_END);
        if only_closes.load(Ordering::SeqCst) {
            tracing::warn!(
                "the disk is too slow to write all into tables in time: the next start reads the journal"
            );
            std::process::exit(0);
        }
        tracing::error!("the end took too long; what was acknowledged is durable");
        std::process::exit(1);
    };
    std::thread::Builder::new().name("end".to_owned()).spawn(overdue).map(|_| ())
}

/// The signals that a server acts on. They are taken before the server says that it is ready: until
/// they are taken, one would kill the process without an orderly end.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Files are to be read again, or the terminal was closed.
    hangup: Signal,
    /// Whether the process began on a terminal.
    on_terminal: bool,
}

impl Signals {
    /// Replaces the system's reaction to the three signals for the whole process. Needs a runtime.
    fn take_signals() -> std::io::Result<Self> {
        let terminate = unix::signal(SignalKind::terminate())?;
        let interrupt = unix::signal(SignalKind::interrupt())?;
        let hangup = unix::signal(SignalKind::hangup())?;
        Ok(Self { terminate, interrupt, hangup, on_terminal: std::io::stdout().is_terminal() })
    }

    /// Waits for one that ends the server, and calls `reload` for each that asks to read files again. A
    /// second signal while the server stops is ignored: the end is bounded.
    async fn wait_for_end(&mut self, reload: impl Fn()) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {
                    // A terminal that was closed is none any more, and whoever sat there is gone.
                    if self.on_terminal && !std::io::stdout().is_terminal() {
                        return;
                    }
                    reload();
                }
            }
        }
    }
}

/// Raises the soft limit of descriptors to the hard one: thousands of idle connections need a
/// descriptor each, and the usual soft limit is 1024. A server starts without it too;
/// `listen.rs` counts connections by the limit that is in force.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "raise the limit of descriptors");
    }
}
