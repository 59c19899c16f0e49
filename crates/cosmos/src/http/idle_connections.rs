//! The idle connections of one client to other servers, kept for its next requests.

use std::collections::VecDeque;

use parking_lot::Mutex;

/// Largest number of idle connections kept for one client.
const KEPT: usize = 8;

/// Idle connections with their shards, most recently used last.
pub(super) struct IdleConnections<C>(Mutex<VecDeque<(u32, C)>>);

impl<C> Default for IdleConnections<C> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C> IdleConnections<C> {
    /// Takes a connection to the owner of a shard; `None` if no usable one is kept. Connections that
    /// are not usable are dropped.
    pub(super) fn take(&self, shard: u32, is_usable: impl Fn(&mut C) -> bool) -> Option<C> {
        let mut kept = self.0.lock();
        while let Some(at) = kept.iter().rposition(|(of, _)| *of == shard) {
            let (_, mut connection) = kept.remove(at)?;
            if is_usable(&mut connection) {
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection. If there are too many, the least recently used one is closed.
    pub(super) fn keep(&self, shard: u32, connection: C) {
        let mut kept = self.0.lock();
        kept.push_back((shard, connection));
        if KEPT < kept.len() {
            kept.pop_front();
        }
    }
}
