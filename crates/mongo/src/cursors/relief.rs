//! Closes idle cursors when operations need their memory.

use std::{collections::HashMap, time::Duration};

use memory::Relief;

use super::{Cursors, OpenCursor};
use crate::limits::LIGHT_CURSOR_BYTES;

/// The idle cursors of one connection that hold memory.
#[derive(Default)]
struct IdleCursors {
    /// Total memory of the idle cursors in bytes.
    memory: usize,
    /// For each cursor, the time of its last use, its id and the bytes that it holds.
    cursors: Vec<(Duration, i64, usize)>,
}

impl Relief for Cursors {
    fn relieve(&self, bytes: usize) {
        // The closed cursors are dropped at the end of this function, outside the lock.
        let closed = self.take_victims(bytes);
        if !closed.is_empty() {
            tracing::debug!(cursors = closed.len(), "idle cursors were closed to free memory");
        }
    }
}

impl Cursors {
    /// Removes idle cursors from the table to free `bytes`. The next to be removed is always the
    /// oldest cursor of the connection whose cursors hold the most memory, so that a client that
    /// opens many large cursors loses its own cursors first. Small cursors are spared: closing many
    /// of them would free little.
    fn take_victims(&self, bytes: usize) -> Vec<OpenCursor> {
        let mut all = self.lock_all();
        let mut owners: HashMap<i32, IdleCursors> = HashMap::new();
        let idle = all.iter().filter(|(_, open)| open.cursor.is_some());
        let held = idle.map(|(id, open)| (id, open, open.held_bytes()));
        for (id, open, memory) in held.filter(|(_, _, memory)| LIGHT_CURSOR_BYTES <= *memory) {
            let owner = owners.entry(open.connection).or_default();
            owner.memory += memory;
            owner.cursors.push((open.used, *id, memory));
        }
        // Sorted so that `pop` returns the oldest cursor.
        owners.values_mut().for_each(|owner| owner.cursors.sort_unstable_by(|a, b| b.cmp(a)));
        let (mut given, mut closed) = (0, Vec::new());
        while given < bytes {
            let Some(owner) = owners.values_mut().max_by_key(|owner| owner.memory) else { break };
            let Some((_, id, memory)) = owner.cursors.pop() else { break };
            owner.memory -= memory;
            given += memory;
            closed.extend(all.remove(&id));
        }
        closed
    }
}
