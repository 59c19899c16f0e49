//! Signals for a command that works for a while: it is asked to end, and what it has begun is taken away
//! where it does not end by itself. Servers have their own (`process.rs`).

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::signal::unix::{SignalKind, signal};

use crate::background::wait_for;

/// How long a command may take to end by itself.
const GRACE: Duration = Duration::from_secs(3);
/// Exit code of a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Whether the command was asked to end. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for SIGINT, SIGTERM and SIGHUP. A command that has not ended [`GRACE`] after the first, or
    /// when a second one comes, is ended: `clean` takes away what it has begun.
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

    /// Whether it was asked to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
