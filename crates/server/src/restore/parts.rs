//! Reads and unpacks the parts of a backup on a separate thread. The total size of pending parts is
//! limited: a part that alone exceeds the limit is processed while no other part is pending.

use std::{
    io::Read,
    sync::{
        Condvar, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
};

use backup::{Part, Reader};
use server_base::failure::{Failure, failed};

/// Maximum number of unpacked parts that are pending.
const WAITING: usize = 4;
/// Maximum total size of parts, compressed and uncompressed, that are pending or in use.
const ROOM: u64 = 64 << 20;

/// Limits the total size of the unpacked parts that are in memory.
#[derive(Debug, Default)]
struct MemoryLimit {
    taken: Mutex<MemoryUse>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct MemoryUse {
    bytes: u64,
    /// Whether the consumer of the parts has stopped.
    is_closed: bool,
}

impl MemoryLimit {
    /// Waits until the part fits into the limit, or no other part is pending.
    fn take(&self, bytes: u64) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while !taken.is_closed && 0 < taken.bytes && ROOM < taken.bytes.saturating_add(bytes) {
            taken = self.freed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        taken.bytes = taken.bytes.saturating_add(bytes);
    }

    fn change(&self, change: impl FnOnce(&mut MemoryUse)) {
        change(&mut self.taken.lock().unwrap_or_else(PoisonError::into_inner));
        self.freed.notify_all();
    }
}

/// A part of a backup, and the number of bytes that it occupies.
type Sent = (Result<Part, Failure>, u64);

/// Iterator over the parts in order. Each part is considered used when the next is requested.
pub(super) struct Parts<'a> {
    parts: Receiver<Sent>,
    room: &'a MemoryLimit,
    /// Bytes occupied by the part that is being used.
    held: u64,
}

impl Iterator for Parts<'_> {
    type Item = Result<Part, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let held = std::mem::take(&mut self.held);
        self.room.change(|taken| taken.bytes = taken.bytes.saturating_sub(held));
        let (part, bytes) = self.parts.recv().ok()?;
        self.held = bytes;
        Some(part)
    }
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        self.room.change(|taken| taken.is_closed = true);
    }
}

/// Reads all parts on another thread while `work` consumes them.
pub(super) fn with_parts<T>(
    reader: Reader<impl Read + Send>,
    work: impl FnOnce(Parts<'_>) -> T,
) -> T {
    let room = MemoryLimit::default();
    std::thread::scope(|scope| {
        let (sender, parts) = sync_channel(WAITING);
        scope.spawn(|| read_parts(reader, sender, &room));
        work(Parts { parts, room: &room, held: 0 })
    })
}

fn read_parts(mut reader: Reader<impl Read>, parts: SyncSender<Sent>, room: &MemoryLimit) {
    loop {
        let mut bytes = 0;
        let part = reader.next_part_in(&mut |wanted| {
            room.take(wanted);
            bytes += wanted;
        });
        let Some(part) = part.map_err(failed).transpose() else { return };
        let is_last = part.is_err();
        // Sending fails if the consumer has stopped.
        if parts.send((part, bytes)).is_err() || is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_and_one_part_is_always_taken() {
        let room = MemoryLimit::default();
        room.take(ROOM * 3);
        let (sender, taken) = sync_channel(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                room.take(ROOM);
                sender.send(1).unwrap();
                room.take(1);
                sender.send(2).unwrap();
            });
            assert!(taken.try_recv().is_err());
            room.change(|taken| taken.bytes -= ROOM * 3);
            assert_eq!(taken.recv(), Ok(1));
            assert!(taken.try_recv().is_err());
            // Once the consumer has stopped, the reading thread no longer waits for memory.
            room.change(|taken| taken.is_closed = true);
            assert_eq!(taken.recv(), Ok(2));
        });
    }
}
