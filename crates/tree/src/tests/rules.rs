//! Hooks for tests: values that end at a second of a manual clock.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
};

use bytes::Bytes;

use crate::{
    error::Error,
    hooks::{DropFilter, End, Hooks, Placement},
};

/// Length of the header of a value: a kind and the second of its end.
pub(super) const HEADER: usize = 9;
const NEVER: u8 = 0;

#[derive(Debug, Default)]
struct Clock {
    now: AtomicI64,
    /// Number up to which the log was synced.
    synced: AtomicU64,
    /// Whether syncing the log fails.
    fails: AtomicBool,
}

/// The rules of a test. Clones share the clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules(Arc<Clock>);

/// Creates a value of a kind that ends at a second, with a body; kind 0 never ends.
pub(super) fn value(kind: u8, end: i64, body: &[u8]) -> Bytes {
    let mut value = vec![kind];
    value.extend_from_slice(&end.to_be_bytes());
    value.extend_from_slice(body);
    Bytes::from(value)
}

fn end_of(value: &[u8]) -> Option<End> {
    let header = value.get(..HEADER)?;
    let at = i64::from_be_bytes(header[1..].try_into().ok()?);
    (header[0] != NEVER).then(|| End { kind: u32::from(header[0]), at })
}

impl Rules {
    pub(super) fn now(&self) -> i64 {
        self.0.now.load(Ordering::SeqCst)
    }

    pub(super) fn set_now(&self, now: i64) {
        self.0.now.store(now, Ordering::SeqCst);
    }

    pub(super) fn synced(&self) -> u64 {
        self.0.synced.load(Ordering::SeqCst)
    }

    pub(super) fn fail_syncs(&self, fails: bool) {
        self.0.fails.store(fails, Ordering::SeqCst);
    }

    pub(super) fn is_dead(&self, value: &[u8]) -> bool {
        end_of(value).is_some_and(|end| end.at <= self.now())
    }
}

impl Hooks for Rules {
    fn place(&self, _: u64, _: &[u8], value: &[u8]) -> Placement {
        let end = end_of(value);
        let group = end.map_or(0, |end| (end.at / 10).max(0) as u64);
        Placement { inline: HEADER.min(value.len()), end, group }
    }

    fn filter(&self, _: u64) -> Option<DropFilter> {
        // The instant is fixed when the flush or compaction begins.
        let now = self.now();
        Some(Box::new(move |_, value| end_of(value).is_some_and(|end| end.at <= now)))
    }

    fn has_ended(&self, _: u64, end: End) -> bool {
        end.at <= self.now()
    }

    fn sync_log(&self, number: u64) -> Result<(), Error> {
        if self.0.fails.load(Ordering::SeqCst) {
            return Err(Error::Refused("the log cannot be synced".to_owned()));
        }
        self.0.synced.fetch_max(number, Ordering::SeqCst);
        Ok(())
    }
}
