//! The data of a memory store: the versions of keys that are current or visible to an open
//! snapshot, and their size.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use crate::space::Space;

/// Approximate overhead of a key in bytes.
const KEY: usize = 128;
/// Approximate overhead of a version in bytes.
const VERSION: usize = 64;

/// Versions by ascending `seq`; `None` is a deletion.
pub(super) type Versions = Vec<(u64, Option<Bytes>)>;

#[derive(Debug, Default)]
pub(super) struct MemoryData {
    /// Versions by space and key.
    pub(super) spaces: BTreeMap<Space, BTreeMap<Bytes, Versions>>,
    /// Number of open snapshots for each `seq`.
    pub(super) open: BTreeMap<u64, usize>,
    /// For each space, the `seq` that [`Store::filtered_through`](crate::Store::filtered_through)
    /// returns.
    pub(super) filtered: BTreeMap<Space, u64>,
    /// Keys with replaced versions that open snapshots may read, ordered by the `seq` of the
    /// replacing version.
    outdated: VecDeque<(u64, Space, Bytes)>,
    /// Approximate size of all data in bytes.
    pub(super) bytes: usize,
}

impl MemoryData {
    /// Adds a version of a key, and removes versions that no snapshot can read.
    pub(super) fn put_version(&mut self, space: Space, key: Bytes, value: Option<Bytes>, seq: u64) {
        let keys = self.spaces.entry(space).or_default();
        let versions = keys.entry(key.clone()).or_default();
        self.bytes = self.bytes.saturating_sub(weight_of_key(&key, versions));
        versions.push((seq, value));
        forget_unread(versions, &self.open);
        if recount_key(keys, &key, &mut self.bytes) {
            self.outdated.push_back((seq, space, key));
        }
    }

    /// Returns the value that a snapshot at `seq` sees.
    pub(super) fn visible_at(&self, space: Space, key: &[u8], seq: u64) -> Option<Bytes> {
        visible_version(self.spaces.get(&space)?.get(key)?, seq)
    }

    /// Removes the versions that no open snapshot can read.
    pub(super) fn forget_unseen(&mut self) {
        let oldest = self.open.keys().next().copied().unwrap_or(u64::MAX);
        while let Some((_, space, key)) = self.outdated.pop_front_if(|(seq, ..)| *seq <= oldest) {
            let Some(keys) = self.spaces.get_mut(&space) else { continue };
            let Some(versions) = keys.get_mut(&key) else { continue };
            self.bytes = self.bytes.saturating_sub(weight_of_key(&key, versions));
            forget_unread(versions, &self.open);
            recount_key(keys, &key, &mut self.bytes);
        }
    }

    /// Removes the values that the filter drops.
    pub(super) fn drop_filtered(&mut self, space: Space, drops: &dyn Fn(&[u8], &[u8]) -> bool) {
        let Some(keys) = self.spaces.get_mut(&space) else { return };
        let bytes = &mut self.bytes;
        keys.retain(|key, versions| {
            *bytes = bytes.saturating_sub(weight_of_key(key, versions));
            for (_, value) in versions.iter_mut() {
                value.take_if(|value| drops(key, value));
            }
            let kept = versions.iter().any(|(_, value)| value.is_some());
            *bytes += if kept { weight_of_key(key, versions) } else { 0 };
            kept
        });
    }

    pub(super) fn drop_space(&mut self, space: Space) {
        self.filtered.remove(&space);
        for (key, versions) in self.spaces.remove(&space).into_iter().flatten() {
            self.bytes = self.bytes.saturating_sub(weight_of_key(&key, &versions));
        }
    }

    /// Returns the size of the newest versions of a space.
    pub(super) fn newest_bytes(&self, space: Space) -> u64 {
        let newest = |versions: &Versions| {
            versions.last().and_then(|(_, value)| value.as_ref()).map_or(0, Bytes::len)
        };
        let keys = self.spaces.get(&space).into_iter().flatten();
        keys.map(|(key, versions)| (key.len() + newest(versions)) as u64).sum()
    }
}

/// Returns the value of the last version up to `seq`.
pub(super) fn visible_version(versions: &Versions, seq: u64) -> Option<Bytes> {
    versions.iter().rev().find(|(version, _)| *version <= seq).and_then(|(_, value)| value.clone())
}

/// Returns the approximate size of a key with its versions.
fn weight_of_key(key: &Bytes, versions: &Versions) -> usize {
    let values = versions.iter().map(|(_, value)| VERSION + value.as_ref().map_or(0, Bytes::len));
    if versions.is_empty() { 0 } else { KEY + key.len() + values.sum::<usize>() }
}

/// Keeps the newest version and the versions that open snapshots read. Versions between two
/// snapshots are removed, so that a frequently written key does not grow while a snapshot is open.
fn forget_unread(versions: &mut Versions, open: &BTreeMap<u64, usize>) {
    let mut at = 0;
    while let Some([(seq, _), (next, _)]) = versions.get(at..at + 2) {
        if open.range(seq..next).next().is_some() {
            at += 1;
        } else {
            versions.remove(at);
        }
    }
}

/// Recomputes a key's size, or removes the key if only a deletion is left. Returns whether the key
/// keeps old versions for open snapshots.
fn recount_key(keys: &mut BTreeMap<Bytes, Versions>, key: &Bytes, bytes: &mut usize) -> bool {
    let Some(versions) = keys.get(key) else { return false };
    if let [(_, None)] = versions.as_slice() {
        keys.remove(key);
        return false;
    }
    *bytes += weight_of_key(key, versions);
    1 < versions.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Space = Space::Catalog;

    fn put(data: &mut MemoryData, key: &'static str, value: Option<&'static str>, seq: u64) {
        data.put_version(SPACE, key.into(), value.map(Into::into), seq);
    }

    #[test]
    fn what_is_deleted_takes_nothing() {
        let mut data = MemoryData::default();
        for seq in 1..100 {
            put(&mut data, "a", Some("value"), seq);
        }
        assert_eq!(data.bytes, KEY + VERSION + 6);
        put(&mut data, "b", Some("v"), 100);
        put(&mut data, "a", None, 101);
        put(&mut data, "never", None, 102);
        assert_eq!(data.bytes, KEY + VERSION + 2);
        assert_eq!(data.spaces[&SPACE].len(), 1);
        data.drop_filtered(SPACE, &|_, _| true);
        assert_eq!((data.bytes, data.spaces[&SPACE].len()), (0, 0));
    }

    #[test]
    fn what_a_snapshot_sees_stays_until_it_has_gone() {
        let mut data = MemoryData::default();
        put(&mut data, "a", Some("old"), 1);
        put(&mut data, "b", Some("old"), 2);
        data.open.insert(2, 1);
        put(&mut data, "a", Some("new"), 3);
        put(&mut data, "b", None, 4);
        data.forget_unseen();
        for (key, seq, value) in
            [("a", 2, Some("old")), ("a", 3, Some("new")), ("b", 3, Some("old")), ("b", 4, None)]
        {
            assert_eq!(
                data.visible_at(SPACE, key.as_bytes(), seq).as_deref(),
                value.map(str::as_bytes)
            );
        }
        data.open.clear();
        data.open.insert(4, 1);
        data.forget_unseen();
        assert_eq!(data.visible_at(SPACE, b"a", 4).as_deref(), Some(&b"new"[..]));
        assert_eq!(data.bytes, KEY + VERSION + 4);
        assert!(data.outdated.is_empty());
        data.drop_space(SPACE);
        assert_eq!(data.bytes, 0);
    }

    #[test]
    fn versions_between_two_snapshots_are_kept_for_neither() {
        let mut data = MemoryData::default();
        put(&mut data, "a", Some("first"), 1);
        data.open.insert(1, 1);
        for seq in 2..1_000 {
            if seq == 500 {
                data.open.insert(499, 1);
            }
            put(&mut data, "a", Some("later"), seq);
        }
        let kept: Vec<u64> = data.spaces[&SPACE][&b"a"[..]].iter().map(|(seq, _)| *seq).collect();
        assert_eq!(kept, [1, 499, 999]);
        assert_eq!(data.bytes, KEY + 1 + 3 * (VERSION + 5));
    }
}
