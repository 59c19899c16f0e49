//! The process around a server: its signals, its limits, and an end that comes in time.

use std::time::Duration;

use tokio::{
    signal::unix::{self, Signal, SignalKind},
    sync::oneshot,
};

use crate::{
    background,
    config::Config,
    failure::{Failure, failed},
    serve::start,
};

/// How long an end may take.
const LONGEST_END: Duration = Duration::from_millis(9_500);

/// Runs a server until SIGTERM or SIGINT.
pub fn serve(config: &Config) -> Result<(), Failure> {
    serve_beside(config, Box::new(|_| Ok(())))
}

/// What runs beside a server, with its admin address. In a box: with a type of its own for each, the
/// compiler would make the whole server again in the crate that names one.
pub type Beside = Box<dyn FnOnce(Option<String>) -> Result<(), String> + Send>;

/// The same; once it accepts, `beside` runs on a thread of its own and gets the admin address. Its
/// failure ends the server, and the server's end does not wait for it.
pub fn serve_beside(config: &Config, beside: Beside) -> Result<(), Failure> {
    raise_descriptor_limit();
    // What the server keeps is its owner's alone.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // One more than cores, so that a long read does not hold up the short ones.
        .worker_threads(cores + 1)
        .thread_stack_size(4 * 1024 * 1024)
        .enable_all()
        .build()
        .map_err(failed)?;
    runtime.block_on(async {
        let mut signals = Signals::take_signals().map_err(failed)?;
        let running = start(config).await?;
        let admin = running.admin().map(str::to_owned);
        let (sender, failure) = oneshot::channel();
        std::thread::Builder::new()
            .name("beside".to_owned())
            .spawn(move || beside(admin).map_err(|why| sender.send(why)))
            .map_err(failed)?;
        let ended = tokio::select! {
            () = signals.wait_for_signal() => Ok(()),
            Ok(why) = failure => Err(Failure::Failed(why)),
        };
        tracing::info!("stopping");
        end_in_time().map_err(failed)?;
        running.stop().await.and(ended)
    })
}

/// Ends the process when its orderly end takes too long, whatever the disk or clients do: all that was
/// acknowledged is durable already.
fn end_in_time() -> std::io::Result<()> {
    let overdue = || {
        background::pause_thread(LONGEST_END);
        tracing::error!("the end took too long; what was acknowledged is durable");
        std::process::exit(1);
    };
    std::thread::Builder::new().name("end".to_owned()).spawn(overdue).map(|_| ())
}

/// The signals that end a server. They are taken before it says that it is ready: until then one
/// would kill the process.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// The terminal was closed.
    hangup: Signal,
}

impl Signals {
    fn take_signals() -> std::io::Result<Self> {
        let terminate = unix::signal(SignalKind::terminate())?;
        let interrupt = unix::signal(SignalKind::interrupt())?;
        Ok(Self { terminate, interrupt, hangup: unix::signal(SignalKind::hangup())? })
    }

    /// Waits for one of them.
    async fn wait_for_signal(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// Thousands of idle connections need as many descriptors.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "raise the limit of descriptors");
    }
}
