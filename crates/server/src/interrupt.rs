//! Signal handling of commands that run for long: a signal requests them to end, and the process
//! cleans up if they do not. Servers have their own (`process.rs`).

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use server_base::sleep::wait_for;
use tokio::signal::unix::{SignalKind, signal};

/// Time in which an interrupted command has to end before the process exits.
const GRACE: Duration = Duration::from_secs(3);
/// Exit code of an interrupted process.
const INTERRUPTED: i32 = 130;

/// A flag that a signal to the process sets. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for SIGINT, SIGTERM and SIGHUP. Runs `clean` and exits the process if the command
    /// has not ended [`GRACE`] after the first signal, or when a second signal arrives.
    pub fn watch(clean: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let interrupt = Self::default();
        let told = interrupt.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let guard = runtime.enter();
        let [mut first, mut second, mut third] =
            [signal(kinds[0])?, signal(kinds[1])?, signal(kinds[2])?];
        drop(guard);
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! { _ = first.recv() => {} _ = second.recv() => {} _ = third.recv() => {} }
                told.0.store(true, Ordering::SeqCst);
                tokio::select! {
                    () = wait_for(GRACE) => {}
                    _ = first.recv() => {}
                    _ = second.recv() => {}
                }
            });
            clean();
            std::process::exit(INTERRUPTED);
        })?;
        Ok(interrupt)
    }

    /// Returns whether a signal was received.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
