//! Gives memory that nobody holds any more back to the system, also while nobody asks for anything.
//! How much may be held stands in the crate `memory`; this is about what was held before.
//!
//! The allocator keeps such memory in two ways:
//!
//! 1. What was freed waits for ten milliseconds, in case it is wanted again, and then until some
//!    thread frees or takes a large piece: only then does the allocator look at what has waited. A
//!    server without requests would keep it.
//! 2. Each thread keeps pages that others have emptied, one of every size at least and up to 4 MB each,
//!    until it takes memory of that size again or ends. Long operations use many threads, one after the
//!    other, and what a connection used is given back by whichever thread it ends on.
//!
//! Workers of the runtime do not end, so they are told to look; the other threads end soon.

use std::time::Duration;

use tokio::sync::watch;

use crate::background::wait_for;

/// How long a thread that serves long operations stays without one. With the runtime's own ten
/// seconds thirty threads kept 190 MB after sixteen `$bucketAuto` (and hardly ever ended, because
/// housekeeping woke one after the other).
pub(crate) const IDLE_THREAD: Duration = Duration::from_secs(1);

/// How often the allocator is made to look at what has waited.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How many of these looks lie between two in which all workers look at their own pages.
const OWN_PAGES_EVERY: u64 = 10;
/// Tasks for each worker that look at its pages: which worker runs one is chance. A look takes some
/// microseconds where there is nothing to give back.
const LOOKS_A_WORKER: usize = 4;
/// A piece that is too large for a page that a thread keeps (512 KB). It is never touched, so that it
/// takes no memory.
const LARGE_PIECE: usize = 1024 * 1024;
/// More than there is room for in any address space.
const TOO_LARGE: usize = 1 << 62;

/// Makes the allocator look at what was freed until `stop`.
pub(crate) async fn return_free_memory(mut stop: watch::Receiver<bool>) {
    let workers = tokio::runtime::Handle::current().metrics().num_workers();
    for look in 0_u64.. {
        drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGE_PIECE)));
        if look.is_multiple_of(OWN_PAGES_EVERY) {
            for _ in 0..workers * LOOKS_A_WORKER {
                tokio::spawn(async { give_back_own_pages() });
            }
        }
        tokio::select! {
            () = wait_for(LOOK_EVERY) => {}
            _ = stop.changed() => return,
        }
    }
}

/// Gives back pages of this thread that are empty. The allocator does so before it refuses a request;
/// its own function for it is not safe to call in the sense of the language.
fn give_back_own_pages() {
    // The compiler must not leave out a request whose answer nobody uses.
    let _ = std::hint::black_box(Vec::<u8>::new().try_reserve_exact(TOO_LARGE));
}
