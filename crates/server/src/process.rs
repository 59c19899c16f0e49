//! The process of a server: runtime, signals, limits, and a shutdown in bounded time. The order of
//! start and stop is in `serve.rs`.

use std::{
    io::IsTerminal,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use server_base::{
    config::Config,
    failure::{Failure, failed},
    sleep,
};
use tokio::{
    signal::unix::{self, Signal, SignalKind},
    sync::oneshot,
};

use crate::{free_memory::IDLE_THREAD, logging, serve::Running, supervised};

/// Maximum time from the stop signal to the end of the process. Supervisors such as `docker stop`
/// kill after ten seconds; the process exits just before that, so that the log records why. The
/// connections' own limits (8 s in `server-base/src/listen.rs`, 9 s in `term.rs`) are shorter, so that
/// an orderly shutdown fits in.
const LONGEST_END: Duration = Duration::from_millis(9_500);

/// A function that starts the server of a configuration, such as `node::start`.
pub type StartServer =
    for<'a> fn(&'a Config) -> Pin<Box<dyn Future<Output = Result<Running, Failure>> + 'a>>;

/// Runs the server that `start` starts until SIGTERM, SIGINT, or its terminal is closed. Returns
/// `Ok` after an orderly shutdown. SIGHUP calls `reread` for the current settings.
pub fn serve(
    config: &Config,
    start: StartServer,
    reread: &ReloadSettings<'_>,
) -> Result<(), Failure> {
    serve_with_companion(config, start, reread, Box::new(|_| Ok(())))
}

/// Reads the settings again; the error is a text for the log.
pub type ReloadSettings<'a> = dyn Fn() -> Result<Config, String> + 'a;

/// A function that runs alongside a server and receives its admin address. Boxed: with a generic
/// type the compiler would instantiate the whole server again in the calling crate.
pub type Companion = Box<dyn FnOnce(Option<String>) -> Result<(), String> + Send>;

/// Runs a server until a signal, with a companion function. Once the server accepts, `beside` runs
/// on its own thread with the admin address (`None` if that listener is off). If `beside` fails,
/// the server stops and returns its text as the failure; if it succeeds, the server continues. The
/// shutdown does not wait for `beside`.
pub fn serve_with_companion(
    config: &Config,
    start: StartServer,
    reread: &ReloadSettings<'_>,
    beside: Companion,
) -> Result<(), Failure> {
    // First: connection limits and temporary files depend on the descriptor limit.
    raise_descriptor_limit();
    // Files of the server are accessible to its owner only.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // One thread more than cores, so that a long read does not delay short ones.
        .worker_threads(cores + 1)
        // Twice the default: some readers recurse once per nesting level of a value, such as
        // `cosmos/src/binary/reader.rs`.
        .thread_stack_size(4 * 1024 * 1024)
        .thread_keep_alive(IDLE_THREAD)
        .enable_all()
        .build()
        .map_err(failed)?;
    runtime.block_on(async {
        // Before `start`, which writes the ready file: its reader may send a signal at once.
        let mut signals = Signals::register_signals().map_err(failed)?;
        let early_end =
            tokio::spawn(end_while_starting(Signals::register_signals().map_err(failed)?));
        let running = start(config).await;
        early_end.abort();
        let running = running?;
        supervised::notify_ready();
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
        supervised::notify_stopping();
        // The time limit starts before the orderly shutdown and needs no worker of the runtime.
        end_in_time(running.only_closes()).map_err(failed)?;
        running.stop().await.and(ended)
    })
}

/// Exits the process when a signal arrives during the start, which takes long if the journal is
/// long. Nothing was acknowledged yet, and the disk is as a crash at this point would leave it. A
/// task of its own, because the start may keep its thread busy.
async fn end_while_starting(mut signals: Signals) {
    signals.wait_for_end(|| ()).await;
    tracing::info!("stopped before startup was complete");
    std::process::exit(0);
}

/// Adopts the log level of the current settings, and makes the server reload certificates, keys and
/// token roles and reopen the audit log.
fn reload(running: &Running, reread: &ReloadSettings<'_>) {
    supervised::notify_reloading();
    match reread() {
        // The log level is the only setting that a running server adopts.
        Ok(config) => logging::change_level(&config),
        Err(error) => tracing::error!(%error, "the log level was not changed"),
    }
    running.reload();
    supervised::notify_ready();
}

/// Starts a thread that exits the process if the orderly shutdown takes longer than
/// [`LONGEST_END`]. Acknowledged writes are durable already. The exit code is 0 if all clients have
/// been answered and only the store still has to be closed, otherwise 1.
fn end_in_time(only_closes: Arc<AtomicBool>) -> std::io::Result<()> {
    let overdue = move || {
        sleep::pause_thread(LONGEST_END);
        if only_closes.load(Ordering::SeqCst) {
            tracing::warn!(
                "the disk is too slow to flush all data in time: the next start replays the journal"
            );
            std::process::exit(0);
        }
        tracing::error!("shutdown timed out; all acknowledged writes are durable");
        std::process::exit(1);
    };
    std::thread::Builder::new().name("end".to_owned()).spawn(overdue).map(|_| ())
}

/// The signals that a server handles. Registered before the server reports that it is ready: until
/// then a signal would kill the process without an orderly shutdown.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Signal that requests a reload, or reports that the terminal was closed.
    hangup: Signal,
    /// Whether the process was started on a terminal.
    on_terminal: bool,
}

impl Signals {
    /// Replaces the default handling of the three signals for the whole process. Needs a runtime.
    fn register_signals() -> std::io::Result<Self> {
        let terminate = unix::signal(SignalKind::terminate())?;
        let interrupt = unix::signal(SignalKind::interrupt())?;
        let hangup = unix::signal(SignalKind::hangup())?;
        Ok(Self { terminate, interrupt, hangup, on_terminal: std::io::stdout().is_terminal() })
    }

    /// Waits for a signal that stops the server; calls `reload` on each reload request. Further
    /// signals during the shutdown are ignored, since it is bounded.
    async fn wait_for_end(&mut self, reload: impl Fn()) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {
                    // The terminal was closed, so the user's session has ended.
                    if self.on_terminal && !std::io::stdout().is_terminal() {
                        return;
                    }
                    reload();
                }
            }
        }
    }
}

/// Raises the soft limit of descriptors to the hard limit: the usual soft limit is 1024, and each
/// idle connection needs a descriptor. Failure is not fatal; `server_base::listen` derives
/// connection limits from the limit in effect.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "cannot raise the descriptor limit");
    }
}
