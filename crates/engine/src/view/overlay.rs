//! The writes of an open transaction, kept in memory over the snapshot that it reads. Reads of its
//! views see both, so that documents, index entries and counts of its own writes are found by the
//! same code as stored ones.
//!
//! ```text
//!  key       snapshot   overlay                         a view at write 2 sees
//!  a         v0         1: v1   3: deleted              v1
//!  b                    2: v2                           v2
//!  c         v0                                         v0
//! ```
//!
//! Writes are numbered from [`FIRST_OWN_STAMP`], far above all stamps of commits, and rows carry
//! these numbers as stamps until the transaction commits. A view sees the writes that precede it,
//! so a statement or a cursor is not affected by writes that follow.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashSet},
    iter::Peekable,
    ops::Bound,
    sync::Arc,
};

use bytes::Bytes;
use memory::{InsufficientMemory, Share};
use parking_lot::RwLock;
use store::{
    Commit, Condition, Direction, KeyRange, Limit, Mutation, Outcome, Page, Read, Refusal,
    Snapshot, Space, Stamp,
};

/// Stamp of the first write of every transaction. Commits never reach it.
pub(super) const FIRST_OWN_STAMP: u64 = 1 << 62;
/// Memory of a version of a key besides its bytes, including the key's intent.
const VERSION_BYTES: usize = 256;

/// Versions of a key by ascending stamp; `None` is a deletion.
type Versions = Vec<(u64, Option<Bytes>)>;

/// The writes of a transaction.
#[derive(Debug)]
pub(super) struct Overlay(RwLock<Writes>);

#[derive(Debug)]
struct Writes {
    spaces: BTreeMap<Space, BTreeMap<Bytes, Versions>>,
    /// Stamp of the newest write.
    newest: u64,
    /// Number of open views by the newest write that they see.
    readers: BTreeMap<u64, usize>,
    /// Collections that the transaction created after its snapshot, which does not have them.
    created: HashSet<u32>,
    /// Memory reserved for keys and values.
    held: Share,
}

/// Returns the collection of a space of rows or entries.
fn collection_of(space: Space) -> Option<u32> {
    match space {
        Space::Rows(id) | Space::Index(id) => Some(id),
        _ => None,
    }
}

/// Returns the value that a view at `stamp` sees; `None` if no write precedes it.
fn seen_at(versions: &Versions, stamp: u64) -> Option<&Option<Bytes>> {
    versions.iter().rev().find(|(written, _)| *written <= stamp).map(|(_, value)| value)
}

impl Writes {
    fn versions(&self, space: Space, key: &[u8]) -> Option<&Versions> {
        self.spaces.get(&space)?.get(key)
    }

    /// Returns why a commit has to be refused, as the store would.
    fn refusal(&self, commit: &Commit, previous: Option<&Outcome>) -> Option<Refusal> {
        commit.conditions.iter().find_map(|condition| match condition {
            Condition::NotNewer { space, key, seq } => {
                let newest = self.versions(*space, key).and_then(|versions| versions.last());
                newest.is_some_and(|(written, _)| seq < written).then_some(Refusal::Newer)
            }
            Condition::AfterPrevious => match previous {
                Some(Outcome::Refused(refusal)) => Some(*refusal),
                _ => None,
            },
            // Decided by the transaction, for all its writes together.
            Condition::Before(_) => None,
        })
    }

    /// Sets a version of a key, and removes versions that no view can read.
    fn write(
        &mut self,
        space: Space,
        key: Bytes,
        value: Option<Bytes>,
        stamp: u64,
    ) -> Result<(), InsufficientMemory> {
        let bytes = key.len() + value.as_ref().map_or(0, Bytes::len) + VERSION_BYTES;
        self.held.grow(bytes)?;
        let oldest = self.readers.keys().next().copied().unwrap_or(u64::MAX);
        let versions = self.spaces.entry(space).or_default().entry(key).or_default();
        versions.push((stamp, value));
        // The version before the first one that the oldest reader may need is not readable.
        let readable = versions.iter().rposition(|(written, _)| *written <= oldest).unwrap_or(0);
        let freed: usize = versions
            .drain(..readable)
            .map(|(_, value)| value.as_ref().map_or(0, Bytes::len) + VERSION_BYTES)
            .sum();
        self.held.shrink(freed);
        Ok(())
    }
}

impl Overlay {
    /// Creates an overlay without writes, whose memory is taken from `held`.
    pub(super) fn new(held: Share) -> Self {
        Self(RwLock::new(Writes {
            spaces: BTreeMap::new(),
            newest: FIRST_OWN_STAMP,
            readers: BTreeMap::new(),
            created: HashSet::new(),
            held,
        }))
    }

    /// Adds the writes of commits that meet their conditions, as a store would commit them;
    /// returns one outcome per commit. Counters are left out: they are computed when the
    /// transaction commits.
    pub(super) fn apply(
        &self,
        commits: Vec<Commit>,
        at_ms: i64,
    ) -> Result<Vec<Outcome>, InsufficientMemory> {
        let mut writes = self.0.write();
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(commits.len());
        for commit in commits {
            if let Some(refusal) = writes.refusal(&commit, outcomes.last()) {
                outcomes.push(Outcome::Refused(refusal));
                continue;
            }
            writes.newest += 1;
            let stamp = Stamp { seq: writes.newest, at_ms };
            for mutation in (commit.write)(stamp) {
                let (space, key, value) = match mutation {
                    Mutation::Put { space, key, value } => (space, key, Some(value)),
                    Mutation::Delete { space, key } => (space, key, None),
                    Mutation::Add { .. } => continue,
                };
                if collection_of(space).is_some() {
                    writes.write(space, key, value, stamp.seq)?;
                }
            }
            outcomes.push(Outcome::Committed(stamp));
        }
        Ok(outcomes)
    }

    /// Registers a collection that the snapshot does not have.
    pub(super) fn add_created(&self, collection: u32) {
        self.0.write().created.insert(collection);
    }

    /// Returns whether the snapshot does not have the collection of this space.
    pub(super) fn is_created(&self, space: Space) -> bool {
        collection_of(space).is_some_and(|id| self.0.read().created.contains(&id))
    }

    /// Returns whether a key of a space was written.
    pub(super) fn has_any(&self, space: Space) -> bool {
        self.0.read().spaces.contains_key(&space)
    }

    /// Returns whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.0.read().spaces.is_empty()
    }

    /// Returns the memory of the writes in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.read().held.held_bytes()
    }

    /// Returns whether a key was written.
    pub(super) fn has(&self, space: Space, key: &[u8]) -> bool {
        self.0.read().versions(space, key).is_some()
    }

    /// Returns the final value of each row that was written, by collection; `None` for a deleted
    /// row.
    pub(super) fn final_rows(&self) -> Vec<(u32, Bytes, Option<Bytes>)> {
        let writes = self.0.read();
        let mut rows = Vec::new();
        for (space, keys) in &writes.spaces {
            let Space::Rows(collection) = space else { continue };
            rows.extend(keys.iter().filter_map(|(key, versions)| {
                let (_, value) = versions.last()?;
                Some((*collection, key.clone(), value.clone()))
            }));
        }
        rows
    }

    /// Reserves as much memory again as the writes hold, for the commit that is built from them.
    pub(super) fn reserve_for_commit(&self) -> Result<(), InsufficientMemory> {
        let held = &mut self.0.write().held;
        held.grow(held.held_bytes())
    }

    /// Releases all writes and their memory.
    pub(super) fn clear(&self) {
        let mut writes = self.0.write();
        writes.spaces.clear();
        writes.held.shrink(usize::MAX);
    }

    /// Opens a snapshot of the writes so far over the snapshot of the store.
    pub(super) fn snapshot(self: &Arc<Self>, base: Arc<dyn Snapshot>) -> (u64, Arc<dyn Snapshot>) {
        let mut writes = self.0.write();
        let newest = writes.newest;
        *writes.readers.entry(newest).or_default() += 1;
        (newest, Arc::new(OverlaySnapshot { base, overlay: Arc::clone(self), newest }))
    }

    /// Returns the value of a key at a write; `None` if it was not written before.
    fn version_at(&self, space: Space, key: &[u8], stamp: u64) -> Option<Option<Bytes>> {
        seen_at(self.0.read().versions(space, key)?, stamp).cloned()
    }

    /// Returns the first written keys of a range in this direction, as they were at a write, and
    /// whether more follow.
    fn page_at(
        &self,
        space: Space,
        range: &KeyRange,
        direction: Direction,
        limit: Limit,
        stamp: u64,
    ) -> (Vec<(Bytes, Option<Bytes>)>, bool) {
        let writes = self.0.read();
        let Some(keys) = writes.spaces.get(&space) else { return (Vec::new(), false) };
        let end = range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut found = Vec::new();
        let mut bytes = 0;
        let mut take = |(key, versions): (&Bytes, &Versions)| {
            let Some(value) = seen_at(versions, stamp) else { return true };
            if limit.rows <= found.len() || (0 < bytes && limit.bytes <= bytes) {
                return false;
            }
            bytes += key.len() + value.as_ref().map_or(0, Bytes::len);
            found.push((key.clone(), value.clone()));
            true
        };
        if range.is_empty() {
            return (Vec::new(), false);
        }
        let mut keys = keys.range::<[u8], _>((Bound::Included(&range.start[..]), end));
        let complete = match direction {
            Direction::Forward => keys.all(&mut take),
            Direction::Backward => keys.rev().all(&mut take),
        };
        (found, !complete)
    }
}

/// A snapshot of a store with some writes of a transaction.
#[derive(Debug)]
struct OverlaySnapshot {
    base: Arc<dyn Snapshot>,
    overlay: Arc<Overlay>,
    /// Stamp of the newest write that the snapshot contains.
    newest: u64,
}

impl Drop for OverlaySnapshot {
    fn drop(&mut self) {
        let readers = &mut self.overlay.0.write().readers;
        if let Some(count) = readers.get_mut(&self.newest) {
            *count -= 1;
            if *count == 0 {
                readers.remove(&self.newest);
            }
        }
    }
}

impl Snapshot for OverlaySnapshot {
    fn get<'a>(&'a self, space: Space, key: &'a [u8]) -> Read<'a, Option<Bytes>> {
        match self.overlay.version_at(space, key, self.newest) {
            Some(value) => Read::ready(Ok(value)),
            None if self.overlay.is_created(space) => Read::ready(Ok(None)),
            None => self.base.get(space, key),
        }
    }

    fn scan<'a>(
        &'a self,
        space: Space,
        range: &'a KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Read<'a, Page> {
        Read::waiting(self.merged_page(space, range, direction, limit))
    }
}

impl OverlaySnapshot {
    /// Reads a page with the transaction's writes merged in. It holds a row if any follows, as
    /// callers expect, even where the transaction has deleted a page of rows.
    async fn merged_page(
        &self,
        space: Space,
        range: &KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, store::Error> {
        let mut range = range.clone();
        loop {
            let mut base = match self.overlay.is_created(space) {
                true => Page::default(),
                false => self.base.scan(space, &range, direction, limit).await?,
            };
            let last = base.rows.last().filter(|_| base.more).map(|(key, _)| key.clone());
            let covered = last
                .as_ref()
                .map_or_else(|| range.clone(), |last| part_through(&range, last, direction));
            let (own, cut) = self.overlay.page_at(space, &covered, direction, limit, self.newest);
            let more = base.more || cut;
            let end = if cut { own.last().map(|(key, _)| key.clone()) } else { last };
            if cut && let Some(end) = &end {
                base.rows.retain(|(key, _)| order(key, end, direction).is_le());
            }
            let rows = merge(base.rows, own, direction);
            match end {
                Some(end) if rows.is_empty() && more => {
                    range = range.remaining_after(&end, direction);
                }
                _ => return Ok(Page { rows, more }),
            }
        }
    }
}

/// Returns the part of a range up to a key in the direction of a scan, inclusive.
fn part_through(range: &KeyRange, last: &[u8], direction: Direction) -> KeyRange {
    match direction {
        Direction::Forward => {
            let mut end = last.to_vec();
            end.push(0);
            KeyRange { start: range.start.clone(), end: Some(end) }
        }
        Direction::Backward => KeyRange { start: last.to_vec(), end: range.end.clone() },
    }
}

/// Compares keys by their order in a scan.
fn order(one: &[u8], other: &[u8], direction: Direction) -> Ordering {
    match direction {
        Direction::Forward => one.cmp(other),
        Direction::Backward => other.cmp(one),
    }
}

/// Merges stored rows with a transaction's writes, which replace or delete rows of the same key.
fn merge(
    base: Vec<(Bytes, Bytes)>,
    own: Vec<(Bytes, Option<Bytes>)>,
    direction: Direction,
) -> Vec<(Bytes, Bytes)> {
    if own.is_empty() {
        return base;
    }
    let mut rows = Vec::with_capacity(base.len() + own.len());
    let mut base: Peekable<_> = base.into_iter().peekable();
    for (key, value) in own {
        while let Some(row) = base.next_if(|(held, _)| order(held, &key, direction).is_lt()) {
            rows.push(row);
        }
        base.next_if(|(held, _)| *held == key);
        rows.extend(value.map(|value| (key, value)));
    }
    rows.extend(base);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snapshot of keys in memory.
    #[derive(Debug)]
    struct Stored(BTreeMap<Bytes, Bytes>);

    impl Snapshot for Stored {
        fn get<'a>(&'a self, _: Space, key: &'a [u8]) -> Read<'a, Option<Bytes>> {
            Read::ready(Ok(self.0.get(key).cloned()))
        }

        fn scan<'a>(
            &'a self,
            _: Space,
            range: &'a KeyRange,
            direction: Direction,
            limit: Limit,
        ) -> Read<'a, Page> {
            let within = |key: &Bytes| {
                range.start[..] <= key[..] && range.end.as_ref().is_none_or(|end| key[..] < end[..])
            };
            let mut rows: Vec<_> =
                self.0.clone().into_iter().filter(|(key, _)| within(key)).collect();
            if direction == Direction::Backward {
                rows.reverse();
            }
            Read::ready(Page::within(rows.into_iter(), limit, Ok::<_, store::Error>))
        }
    }

    fn key(number: u8) -> Bytes {
        Bytes::copy_from_slice(&[number])
    }

    const SPACE: Space = Space::Rows(1);

    fn put(number: u8, value: Option<&'static [u8]>) -> Commit {
        Commit::new(Vec::new(), move |_| {
            vec![match value {
                Some(value) => Mutation::Put {
                    space: SPACE,
                    key: key(number),
                    value: Bytes::from_static(value),
                },
                None => Mutation::Delete { space: SPACE, key: key(number) },
            }]
        })
    }

    /// Returns all rows of a scan by pages of `rows` rows.
    fn scan(snapshot: &dyn Snapshot, direction: Direction, rows: usize) -> Vec<(u8, Bytes)> {
        let (mut range, mut found) = (KeyRange::all(), Vec::new());
        let mut task = std::task::Context::from_waker(std::task::Waker::noop());
        loop {
            let limit = Limit { rows, bytes: 1 << 20 };
            let page = {
                let mut read = pin(snapshot.scan(SPACE, &range, direction, limit));
                match read.as_mut().poll(&mut task) {
                    std::task::Poll::Ready(page) => page.unwrap(),
                    std::task::Poll::Pending => panic!("it waits"),
                }
            };
            found.extend(page.rows.iter().map(|(key, value)| (key[0], value.clone())));
            let Some((last, _)) = page.rows.last().filter(|_| page.more) else { return found };
            range = range.remaining_after(last, direction);
        }
    }

    fn pin<T>(value: T) -> std::pin::Pin<Box<T>> {
        Box::pin(value)
    }

    #[test]
    fn scans_agree_with_a_model_at_every_write() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..200 {
            let mut model: BTreeMap<Bytes, Bytes> = (0..30)
                .filter(|_| random.bool())
                .map(|number| (key(number), Bytes::from_static(b"stored")))
                .collect();
            let base: Arc<dyn Snapshot> = Arc::new(Stored(model.clone()));
            let overlay = Arc::new(Overlay::new(Share::default()));
            let mut seen = Vec::new();
            for _ in 0..20 {
                let (_, snapshot) = overlay.snapshot(Arc::clone(&base));
                seen.push((model.clone(), snapshot));
                let number = random.u8(0..30);
                let value: Option<&'static [u8]> = random.bool().then_some(b"own");
                overlay.apply(vec![put(number, value)], 0).unwrap();
                match value {
                    Some(value) => drop(model.insert(key(number), Bytes::from_static(value))),
                    None => drop(model.remove(&key(number))),
                }
            }
            for (model, snapshot) in seen {
                for rows in [1, 2, 7, 100] {
                    let mut wanted: Vec<_> =
                        model.iter().map(|(key, value)| (key[0], value.clone())).collect();
                    assert_eq!(scan(&*snapshot, Direction::Forward, rows), wanted);
                    wanted.reverse();
                    assert_eq!(scan(&*snapshot, Direction::Backward, rows), wanted);
                }
            }
        }
    }

    #[test]
    fn conditions_see_own_writes_and_memory_is_returned() {
        let account = memory::Account::new(1 << 20);
        let overlay = Arc::new(Overlay::new(account.share()));
        let base: Arc<dyn Snapshot> = Arc::new(Stored(BTreeMap::new()));
        let (seq, _held) = overlay.snapshot(Arc::clone(&base));
        let condition = Condition::NotNewer { space: SPACE, key: key(1), seq };
        let again = Commit { conditions: vec![condition], ..put(1, Some(b"again")) };
        let after = Commit { conditions: vec![Condition::AfterPrevious], ..put(2, Some(b"b")) };
        let outcomes = overlay.apply(vec![put(1, Some(b"a")), again, after], 0).unwrap();
        assert!(matches!(outcomes[0], Outcome::Committed(_)), "{outcomes:?}");
        assert!(matches!(outcomes[1..], [Outcome::Refused(_), Outcome::Refused(_)]));
        assert!(overlay.has(SPACE, &key(1)) && !overlay.has(SPACE, &key(2)));
        let large = Bytes::from(vec![0; 1 << 20]);
        let too_large = Commit::new(Vec::new(), move |_| {
            vec![Mutation::Put { space: SPACE, key: key(3), value: large }]
        });
        overlay.apply(vec![too_large], 0).unwrap_err();
        overlay.clear();
        assert_eq!((overlay.bytes(), account.used_bytes()), (0, 0));
    }
}
