//! The pool of spare segments, and the thread that creates new ones: filling one with zeros takes
//! as long as many commits.
//!
//! A write load takes segments one by one and releases many at once, after memtables were flushed.
//! If the released ones were deleted, new ones would have to be filled with as many zeros:
//!
//! ```text
//!  taken     ▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏
//!  released          ████    ████          surplus: kept while segments are being taken
//!                                          and the device has ample space
//! ```

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::{disk::Disk, segment::Segment};

/// Time since the last segment was taken after which surplus segments are deleted.
const REST: Duration = Duration::from_secs(5);
/// Surplus segments are kept if the device has free space for this many further segments.
const PLENTY: u64 = 64;

/// The pool of unused segments, which are created ahead of their use.
#[derive(Debug)]
pub(crate) struct Pool {
    disk: Arc<dyn Disk>,
    /// Size of a segment in bytes.
    bytes: u64,
    /// Number of spare segments to keep.
    wanted: usize,
    state: Mutex<PoolState>,
    /// Signalled when there may be a segment to create, and on close.
    wake: Condvar,
    /// Held while a segment is created. A thread that needs a segment waits here and then finds the
    /// new one.
    making: Mutex<()>,
    closed: AtomicBool,
}

#[derive(Debug)]
struct PoolState {
    spare: Vec<Arc<Segment>>,
    /// A number larger than that of every file created so far.
    next_number: u64,
    /// Whether creating a file has failed. The thread then waits until a segment is taken.
    gave_up: bool,
}

impl Pool {
    /// Creates a pool of these segments. Existing files have numbers below `next_number`.
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        bytes: u64,
        wanted: usize,
        spare: Vec<Arc<Segment>>,
        next_number: u64,
    ) -> Self {
        Self {
            disk,
            bytes,
            wanted,
            state: Mutex::new(PoolState { spare, next_number, gave_up: false }),
            wake: Condvar::new(),
            making: Mutex::new(()),
            closed: AtomicBool::new(false),
        }
    }

    /// Takes a segment of at least this size; creates one if none is ready. Fails on a full disk.
    pub(crate) fn take(&self, bytes: u64) -> io::Result<Arc<Segment>> {
        if self.bytes < bytes {
            let _making = self.making.lock();
            return self.make(bytes);
        }
        if let Some(segment) = self.take_ready() {
            return Ok(segment);
        }
        let _making = self.making.lock();
        match self.take_ready() {
            Some(segment) => Ok(segment),
            None => self.make(self.bytes),
        }
    }

    /// Takes a segment that was created ahead, if any.
    fn take_ready(&self) -> Option<Arc<Segment>> {
        let mut state = self.state.lock();
        let segment = state.spare.pop();
        state.gave_up = false;
        self.wake.notify_one();
        segment
    }

    /// Creates a segment. The caller holds the lock `making`.
    fn make(&self, bytes: u64) -> io::Result<Arc<Segment>> {
        let number = {
            let mut state = self.state.lock();
            state.next_number += 1;
            state.next_number - 1
        };
        let goes_on = || !self.closed.load(Ordering::SeqCst);
        Segment::make(&*self.disk, number, bytes, &goes_on).map(Arc::new)
    }

    /// Takes back an unused segment. Surplus segments are deleted, immediately or after a time
    /// without use.
    pub(crate) fn release(&self, segment: Arc<Segment>) {
        let plenty = self.bytes.saturating_mul(PLENTY) <= self.disk.free_bytes();
        let mut state = self.state.lock();
        let kept = segment.bytes == self.bytes && (state.spare.len() < self.wanted || plenty);
        if kept {
            state.spare.push(segment);
        } else {
            // Deleting the segment may free enough space to create a new one.
            state.gave_up = false;
            drop(state);
            self.remove(&segment);
        }
        self.wake.notify_one();
    }

    /// Deletes an unused segment. On failure the next start adds it to the pool again.
    fn remove(&self, segment: &Segment) {
        let _ = self.disk.remove(&segment.name());
    }

    /// Deletes spare segments beyond the wanted number.
    fn remove_surplus(&self, state: &mut MutexGuard<'_, PoolState>) {
        let wanted = self.wanted.min(state.spare.len());
        let surplus = state.spare.split_off(wanted);
        state.gave_up = false;
        MutexGuard::unlocked(state, || surplus.iter().for_each(|segment| self.remove(segment)));
    }

    /// Returns the bytes of the pooled segments.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.state.lock().spare.iter().map(|segment| segment.bytes).sum()
    }

    /// Creates segments until the pool is closed.
    fn fill_until_closed(&self) {
        while self.wait_for_work() {
            let _making = self.making.lock();
            // In the meantime `take` may have created a segment, or a truncation released one.
            if self.wanted <= self.state.lock().spare.len() {
                continue;
            }
            let made = self.make(self.bytes);
            let mut state = self.state.lock();
            match made {
                Ok(segment) => state.spare.push(segment),
                // The next call of `take` tries again and returns the error.
                Err(_) => state.gave_up = true,
            }
        }
    }

    /// Waits until a segment has to be created, deleting surplus ones; returns false once closed.
    fn wait_for_work(&self) -> bool {
        let mut state = self.state.lock();
        loop {
            if self.closed.load(Ordering::SeqCst) {
                return false;
            }
            if state.spare.len() < self.wanted && !state.gave_up {
                return true;
            }
            if state.spare.len() <= self.wanted {
                self.wake.wait(&mut state);
            } else if self.wake.wait_for(&mut state, REST).timed_out() {
                self.remove_surplus(&mut state);
            }
        }
    }

    /// Stops the thread that creates segments.
    fn close(&self) {
        let state = self.state.lock();
        self.closed.store(true, Ordering::SeqCst);
        drop(state);
        self.wake.notify_all();
    }
}

/// The thread that creates segments; stops on drop.
#[derive(Debug)]
pub(crate) struct Preallocator {
    pool: Arc<Pool>,
    thread: Option<JoinHandle<()>>,
}

impl Preallocator {
    pub(crate) fn start(pool: &Arc<Pool>) -> io::Result<Self> {
        let filled = Arc::clone(pool);
        let thread = std::thread::Builder::new()
            .name("journal-filler".to_owned())
            .spawn(move || filled.fill_until_closed())?;
        Ok(Self { pool: Arc::clone(pool), thread: Some(thread) })
    }
}

impl Drop for Preallocator {
    fn drop(&mut self) {
        self.pool.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Folder;

    #[test]
    fn what_is_too_much_is_used_again_and_removed_at_rest() {
        const BYTES: u64 = 32 * 1024;
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::new(Folder::open(folder.path()).unwrap());
        let pool = Pool::new(Arc::<Folder>::clone(&disk), BYTES, 1, Vec::new(), 1);
        let segments = || {
            let mut names = disk.names().unwrap();
            names.retain(|name| name.ends_with(".journal"));
            names.sort();
            names
        };
        let taken: Vec<_> = (0..3).map(|_| pool.take(BYTES).unwrap()).collect();
        taken.into_iter().for_each(|segment| pool.release(segment));
        assert_eq!((pool.file_bytes(), segments().len()), (3 * BYTES, 3));
        let again: Vec<_> = (0..3).map(|_| pool.take(BYTES).unwrap()).collect();
        again.into_iter().for_each(|segment| pool.release(segment));
        assert_eq!(segments(), ["1.journal", "2.journal", "3.journal"]);
        pool.remove_surplus(&mut pool.state.lock());
        assert_eq!((pool.file_bytes(), segments().len()), (BYTES, 1));
    }
}
