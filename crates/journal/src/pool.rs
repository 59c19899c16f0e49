//! Segments that are ready to be used, and the thread that makes new ones: filling one with zeros
//! takes as long as many commits.
//!
//! A load takes segments one by one and gives them back many at a time, when memory has gone to
//! tables. If those were removed, each of its bytes would be written once more, as a zero:
//!
//! ```text
//!  taken     ▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏
//!  given back        ████    ████          more than are wanted: kept while some are taken,
//!                                          and while the device has plenty of room
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

/// How long nobody takes one before those that are too many are removed.
const REST: Duration = Duration::from_secs(5);
/// A device has plenty of room when so many segments more would fit.
const PLENTY: u64 = 64;

/// Spare segments.
#[derive(Debug)]
pub(crate) struct Pool {
    disk: Arc<dyn Disk>,
    /// Of a segment.
    bytes: u64,
    /// How many are kept.
    wanted: usize,
    state: Mutex<PoolState>,
    /// Told when there is something to make, or the end has come.
    wake: Condvar,
    /// Held while one is made: who waits for it finds that one.
    making: Mutex<()>,
    closed: AtomicBool,
}

#[derive(Debug)]
struct PoolState {
    spare: Vec<Arc<Segment>>,
    /// No file has had this number or a larger one.
    next_number: u64,
    /// Making one failed: the thread waits until one is asked for again.
    gave_up: bool,
}

impl Pool {
    /// A pool of these; files with this number or a larger one are not there.
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

    /// A segment to be used, with this many bytes or more. Where there is none it is made now; a full
    /// disk fails here.
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

    /// A segment that is there.
    fn take_ready(&self) -> Option<Arc<Segment>> {
        let mut state = self.state.lock();
        let segment = state.spare.pop();
        state.gave_up = false;
        self.wake.notify_one();
        segment
    }

    /// Makes one. The caller holds `making`.
    fn make(&self, bytes: u64) -> io::Result<Arc<Segment>> {
        let number = {
            let mut state = self.state.lock();
            state.next_number += 1;
            state.next_number - 1
        };
        let goes_on = || !self.closed.load(Ordering::SeqCst);
        Segment::make(&*self.disk, number, bytes, &goes_on).map(Arc::new)
    }

    /// Takes back a segment that is used no more. Beyond those wanted its space is given back, at
    /// once or when there was no use for it for a while.
    pub(crate) fn give(&self, segment: Arc<Segment>) {
        let plenty = self.bytes.saturating_mul(PLENTY) <= self.disk.free_bytes();
        let mut state = self.state.lock();
        let kept = segment.bytes == self.bytes && (state.spare.len() < self.wanted || plenty);
        if kept {
            state.spare.push(segment);
        } else {
            // There may be room now.
            state.gave_up = false;
            drop(state);
            self.remove(&segment);
        }
        self.wake.notify_one();
    }

    /// Removes a segment that nobody has. One that stays is found by the next start, and is given
    /// here again.
    fn remove(&self, segment: &Segment) {
        let _ = self.disk.remove(&segment.name());
    }

    /// Removes those that are too many.
    fn remove_surplus(&self, state: &mut MutexGuard<'_, PoolState>) {
        let wanted = self.wanted.min(state.spare.len());
        let surplus = state.spare.split_off(wanted);
        state.gave_up = false;
        MutexGuard::unlocked(state, || surplus.iter().for_each(|segment| self.remove(segment)));
    }

    /// Bytes of the segments in it.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.state.lock().spare.iter().map(|segment| segment.bytes).sum()
    }

    /// Makes segments until the pool is closed.
    fn fill_until_closed(&self) {
        while self.wait_for_work() {
            let _making = self.making.lock();
            // Somebody may have made one, or given one back.
            if self.wanted <= self.state.lock().spare.len() {
                continue;
            }
            let made = self.make(self.bytes);
            let mut state = self.state.lock();
            match made {
                Ok(segment) => state.spare.push(segment),
                // Whoever needs one will try, and be told why.
                Err(_) => state.gave_up = true,
            }
        }
    }

    /// Waits until there is something to make, and removes what is too many; `false` at the end.
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

    /// Ends the thread that makes segments.
    fn close(&self) {
        let state = self.state.lock();
        self.closed.store(true, Ordering::SeqCst);
        drop(state);
        self.wake.notify_all();
    }
}

/// The thread that makes segments; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Filler {
    pool: Arc<Pool>,
    thread: Option<JoinHandle<()>>,
}

impl Filler {
    /// Starts the thread.
    pub(crate) fn start(pool: &Arc<Pool>) -> io::Result<Self> {
        let filled = Arc::clone(pool);
        let thread = std::thread::Builder::new()
            .name("journal-filler".to_owned())
            .spawn(move || filled.fill_until_closed())?;
        Ok(Self { pool: Arc::clone(pool), thread: Some(thread) })
    }
}

impl Drop for Filler {
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
    use crate::folder::Folder;

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
        taken.into_iter().for_each(|segment| pool.give(segment));
        assert_eq!((pool.file_bytes(), segments().len()), (3 * BYTES, 3));
        let again: Vec<_> = (0..3).map(|_| pool.take(BYTES).unwrap()).collect();
        again.into_iter().for_each(|segment| pool.give(segment));
        assert_eq!(segments(), ["1.journal", "2.journal", "3.journal"]);
        pool.remove_surplus(&mut pool.state.lock());
        assert_eq!((pool.file_bytes(), segments().len()), (BYTES, 1));
    }
}
