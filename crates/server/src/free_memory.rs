//! Returns freed memory to the system even while the server is idle. The crate `memory` decides how
//! much may be used; this is about memory already freed.
//!
//! The allocator retains such memory in two ways:
//!
//! 1. Freed memory waits ten milliseconds for reuse, and then until some thread frees or allocates
//!    a large piece: only then does the allocator purge. An idle server would keep it.
//! 2. Each thread keeps pages that other threads have emptied, at least one of every size and up to
//!    4 MB each, until it allocates that size again or ends. Long operations use many threads in
//!    turn, and a connection's memory is freed by whichever thread it ends on.
//!
//! Workers of the runtime do not end, so they are made to purge; the other threads end soon.

use std::time::Duration;

use server_base::sleep::wait_for;
use tokio::sync::watch;

/// Time for which a thread for long operations stays idle before it ends. With the runtime's
/// default of ten seconds thirty threads kept 190 MB after sixteen `$bucketAuto` (and hardly ever
/// ended, because housekeeping kept waking them in turn).
pub(crate) const IDLE_THREAD: Duration = Duration::from_secs(1);

/// Interval at which the allocator is made to purge.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Number of intervals ([`LOOK_EVERY`]) after which all workers purge their own pages.
const OWN_PAGES_EVERY: u64 = 10;
/// Purge tasks per worker, since the scheduler decides which worker runs one. A purge takes some
/// microseconds if there is nothing to release.
const LOOKS_A_WORKER: usize = 4;
/// Size of an allocation that is too large for the pages kept by a thread (512 KB), so that freeing
/// it makes the allocator purge. It is never written to, so it takes no memory.
const LARGE_PIECE: usize = 1024 * 1024;
/// A size that no allocation can have, to make the allocator fail.
const TOO_LARGE: usize = 1 << 62;

/// Makes the allocator purge freed memory periodically until `stop`.
pub async fn return_free_memory(mut stop: watch::Receiver<bool>) {
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

/// Releases the empty pages that the allocator keeps for this thread, by requesting more memory
/// than an allocation can have: the allocator releases these pages before it fails a request. (The
/// allocator's own function for this is `unsafe`.)
fn give_back_own_pages() {
    // Keeps the compiler from removing a request whose result is unused.
    let _ = std::hint::black_box(Vec::<u8>::new().try_reserve_exact(TOO_LARGE));
}
