//! A memtable: a skip list of versions with one writer and any number of readers, without locks
//! for readers.
//!
//! Nodes lie in chunks that never move and are removed only with the whole list, so a link is the
//! number of a node. A node is complete before the first link to it is stored. Each node also links
//! back to its predecessor, which makes scans in descending order as cheap as in ascending order:
//! a reader that may see a version began after all links of it were stored.
//!
//! Keys are compared by their first eight bytes as an integer, then completely. In a sorted batch,
//! the search for a place starts at the place of the previous key.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::{
    codec::prefix_of,
    entry::{Entry, Slot, SlotRef},
    trash::Trash,
};

/// Maximum number of links of a node.
const HEIGHT_MAX: usize = 14;
/// Number of the link that leads nowhere.
const NONE: u32 = 0;
/// Nodes in the first chunk; each further chunk is twice as large.
const FIRST_CHUNK: usize = 64;
/// Number of chunks; more nodes than links can number.
const CHUNKS: usize = 26;

type Chunk = Box<[OnceLock<Node>]>;

#[derive(Debug)]
struct Node {
    /// The first bytes of the key as a big-endian integer.
    prefix: u64,
    number: u64,
    key: Bytes,
    value: Option<Bytes>,
    back: AtomicU32,
    next: AtomicU32,
    /// Links of the levels above the lowest.
    tower: Box<[AtomicU32]>,
}

/// Approximate memory of a node besides its key and value.
const NODE_BYTES: u64 = (size_of::<OnceLock<Node>>() + 16) as u64;

/// State that only the writer uses.
#[derive(Debug)]
struct Writer {
    /// Number of the last node.
    last: u32,
    /// The last node before the place of the previous insertion, by level.
    splice: [u32; HEIGHT_MAX],
    random: u64,
}

/// A memtable of one space.
#[derive(Debug)]
pub(crate) struct Memtable {
    chunks: [OnceLock<Chunk>; CHUNKS],
    head: [AtomicU32; HEIGHT_MAX],
    /// The greatest number of links of a node. A search may begin lower than at the top.
    height: AtomicUsize,
    /// The last node in order.
    tail: AtomicU32,
    writer: Mutex<Writer>,
    /// Number of the first and of the last batch.
    first: AtomicU64,
    last: AtomicU64,
    entries: AtomicU64,
    bytes: AtomicU64,
    trash: Arc<Trash>,
}

/// A position in the order of versions: keys ascend, numbers of a key descend.
#[derive(Clone, Copy)]
struct Target<'a> {
    prefix: u64,
    key: &'a [u8],
    number: u64,
}

impl<'a> Target<'a> {
    fn new(key: &'a [u8], number: u64) -> Self {
        Self { prefix: prefix_of(key), key, number }
    }

    /// Returns whether the position is behind the node.
    fn is_behind(&self, node: &Node) -> bool {
        let prefixes = node.prefix.cmp(&self.prefix);
        let keys = prefixes.then_with(|| node.key.as_ref().cmp(self.key));
        keys.then_with(|| self.number.cmp(&node.number)).is_lt()
    }
}

/// Returns the chunk of a node and its position there.
fn position_of(node: u32) -> (usize, usize) {
    let at = node as usize - 1 + FIRST_CHUNK;
    let chunk = (at.ilog2() - FIRST_CHUNK.ilog2()) as usize;
    (chunk, at - (FIRST_CHUNK << chunk))
}

impl Memtable {
    /// Creates an empty memtable. It allocates memory with its first entry.
    pub(crate) fn new(trash: &Arc<Trash>) -> Arc<Self> {
        Arc::new(Self {
            chunks: Default::default(),
            head: Default::default(),
            height: AtomicUsize::new(0),
            tail: AtomicU32::new(NONE),
            writer: Mutex::new(Writer {
                last: NONE,
                splice: [NONE; HEIGHT_MAX],
                random: 0x9E37_79B9_7F4A_7C15,
            }),
            first: AtomicU64::new(u64::MAX),
            last: AtomicU64::new(0),
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            trash: Arc::clone(trash),
        })
    }

    /// Inserts the values of a batch, in ascending order of distinct keys. The number of a batch is
    /// never smaller than that of the previous one. Returns by how many bytes the memtable grew.
    pub(crate) fn insert(
        &self,
        number: u64,
        items: impl IntoIterator<Item = (Bytes, Option<Bytes>)>,
    ) -> u64 {
        let mut writer = self.writer.lock();
        writer.splice = [NONE; HEIGHT_MAX];
        let (mut grown, mut count) = (0, 0);
        for (key, value) in items {
            grown += NODE_BYTES + (key.len() + value.as_ref().map_or(0, Bytes::len)) as u64;
            count += 1;
            self.insert_one(&mut writer, number, key, value);
        }
        if 0 < count {
            self.first.fetch_min(number, Ordering::Relaxed);
            self.last.fetch_max(number, Ordering::Relaxed);
            self.entries.fetch_add(count, Ordering::Relaxed);
            self.bytes.fetch_add(grown, Ordering::Relaxed);
            self.trash.memtable_bytes.fetch_add(grown, Ordering::Relaxed);
        }
        grown
    }

    fn insert_one(&self, writer: &mut Writer, number: u64, key: Bytes, value: Option<Bytes>) {
        let target = Target::new(&key, number);
        let prefix = target.prefix;
        self.move_splice(writer, &target);
        let height = random_height(&mut writer.random);
        writer.last += 1;
        let new = writer.last;
        let links = |level: usize| AtomicU32::new(self.next(writer.splice[level], level));
        let node = Node {
            prefix,
            number,
            key,
            value,
            back: AtomicU32::new(writer.splice[0]),
            next: links(0),
            tower: (1..height).map(links).collect(),
        };
        let after = node.next.load(Ordering::Relaxed);
        let (chunk, at) = position_of(new);
        let chunk = self.chunks[chunk]
            .get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| OnceLock::new()).collect());
        // The place is free, because the writer numbers the nodes.
        let _ = chunk[at].set(node);
        for level in 0..height {
            self.link(writer.splice[level], level).store(new, Ordering::Release);
            writer.splice[level] = new;
        }
        if self.height.load(Ordering::Relaxed) < height {
            self.height.store(height, Ordering::Relaxed);
        }
        match self.node(after) {
            Some(after) => after.back.store(new, Ordering::Release),
            None => self.tail.store(new, Ordering::Release),
        }
    }

    /// Moves the splice to the place of a key that is behind its current place.
    fn move_splice(&self, writer: &mut Writer, target: &Target<'_>) {
        // Above the first level whose next node is behind the target, all next nodes are.
        let is_before = |node: u32| self.node(node).is_some_and(|node| target.is_behind(node));
        let mut level = 0;
        while level < HEIGHT_MAX && is_before(self.next(writer.splice[level], level)) {
            level += 1;
        }
        let mut before = writer.splice.get(level).copied().unwrap_or(NONE);
        for level in (0..level).rev() {
            before = self.later(before, writer.splice[level]);
            loop {
                let next = self.next(before, level);
                if !is_before(next) {
                    break;
                }
                before = next;
            }
            writer.splice[level] = before;
        }
    }

    /// Returns the later of two nodes in order.
    fn later(&self, one: u32, other: u32) -> u32 {
        match (self.node(one), self.node(other)) {
            (None, _) => other,
            (_, None) => one,
            (Some(a), Some(b)) => {
                let target = Target { prefix: a.prefix, key: &a.key, number: a.number };
                if target.is_behind(b) { one } else { other }
            }
        }
    }

    fn node(&self, node: u32) -> Option<&Node> {
        if node == NONE {
            return None;
        }
        let (chunk, at) = position_of(node);
        self.chunks.get(chunk)?.get()?.get(at)?.get()
    }

    /// Returns the link from a node to its successor at a level. For [`NONE`] it returns the link
    /// of the list's head, which precedes all nodes.
    fn link(&self, node: u32, level: usize) -> &AtomicU32 {
        match self.node(node) {
            None => &self.head[level],
            Some(node) if level == 0 => &node.next,
            Some(node) => &node.tower[level - 1],
        }
    }

    fn next(&self, node: u32, level: usize) -> u32 {
        self.link(node, level).load(Ordering::Acquire)
    }

    /// Returns the last node before a position, or [`NONE`] if the position is before all nodes.
    fn last_before(&self, target: &Target<'_>) -> u32 {
        let mut before = NONE;
        for level in (0..self.height.load(Ordering::Relaxed).max(1)).rev() {
            loop {
                let next = self.next(before, level);
                match self.node(next) {
                    Some(node) if target.is_behind(node) => before = next,
                    _ => break,
                }
            }
        }
        before
    }

    /// Returns the first node at a position or behind it, or [`NONE`].
    fn first_from(&self, target: &Target<'_>) -> u32 {
        let mut at = self.next(self.last_before(target), 0);
        // The writer may have inserted nodes before the position since it was searched.
        while let Some(node) = self.node(at)
            && target.is_behind(node)
        {
            at = self.next(at, 0);
        }
        at
    }

    /// Returns the newest version of a key with at most this number.
    pub(crate) fn get(&self, key: &[u8], number: u64) -> Option<(u64, SlotRef<'_>)> {
        let node = self.node(self.first_from(&Target::new(key, number)))?;
        (node.key == key).then(|| (node.number, SlotRef::of_value(node.value.as_ref())))
    }

    /// Returns the number of the first batch; `None` if the memtable is empty.
    pub(crate) fn first_number(&self) -> Option<u64> {
        Some(self.first.load(Ordering::Relaxed)).filter(|first| *first != u64::MAX)
    }

    /// Returns the number of the last batch.
    pub(crate) fn last_number(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    pub(crate) fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Returns the bytes of memory that the memtable occupies, approximately.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Memtable {
    fn drop(&mut self) {
        self.trash.memtable_bytes.fetch_sub(self.bytes(), Ordering::Relaxed);
        let chunks = std::mem::take(&mut self.chunks);
        self.trash.push_memory(Box::new(chunks));
    }
}

/// Draws the number of links of a node: each further one with a probability of 1/4.
fn random_height(random: &mut u64) -> usize {
    // The xorshift generator of Marsaglia.
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    (1 + random.trailing_ones() as usize / 2).min(HEIGHT_MAX)
}

/// Reads the versions of a memtable in order.
#[derive(Debug)]
pub(crate) struct MemtableCursor {
    memtable: Arc<Memtable>,
    /// The node at which the cursor stands.
    at: u32,
    forward: bool,
}

impl MemtableCursor {
    /// Creates a cursor at the first version with at least this key.
    pub(crate) fn forward(memtable: Arc<Memtable>, from: &[u8]) -> Self {
        let at = memtable.first_from(&Target::new(from, u64::MAX));
        Self { memtable, at, forward: true }
    }

    /// Creates a cursor at the last version with a key below this one, or at the last of all.
    pub(crate) fn backward(memtable: Arc<Memtable>, below: Option<&[u8]>) -> Self {
        let at = match below {
            Some(below) => memtable.last_before(&Target::new(below, u64::MAX)),
            None => memtable.tail.load(Ordering::Acquire),
        };
        Self { memtable, at, forward: false }
    }

    fn node(&self) -> Option<&Node> {
        self.memtable.node(self.at)
    }

    /// Returns the key of the current version; `None` at the end.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.node().map(|node| node.key.as_ref())
    }

    /// Returns the number of the current version; 0 at the end.
    pub(crate) fn number(&self) -> u64 {
        self.node().map_or(0, |node| node.number)
    }

    /// Returns the value of the current version.
    pub(crate) fn slot(&self) -> SlotRef<'_> {
        SlotRef::of_value(self.node().and_then(|node| node.value.as_ref()))
    }

    /// Returns the current version; `None` at the end.
    pub(crate) fn entry(&self) -> Option<Entry> {
        let node = self.node()?;
        let slot = Slot::of_value(node.value.clone());
        Some(Entry { key: node.key.clone(), number: node.number, slot })
    }

    /// Moves to the next version in the direction of the cursor.
    pub(crate) fn advance(&mut self) {
        let forward = self.forward;
        let link = self.node().map(|node| if forward { &node.next } else { &node.back });
        self.at = link.map_or(NONE, |link| link.load(Ordering::Acquire));
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::atomic::AtomicBool};

    use super::*;

    fn bytes_of(n: u32) -> Bytes {
        Bytes::from(format!("{:0width$}", n, width = 1 + (n % 12) as usize))
    }

    fn next(cursor: &mut MemtableCursor) -> Option<Entry> {
        let entry = cursor.entry();
        cursor.advance();
        entry
    }

    #[test]
    fn versions_are_found_and_scanned_both_ways() {
        let memtable = Memtable::new(&Arc::default());
        let mut model: BTreeMap<(Bytes, std::cmp::Reverse<u64>), Option<Bytes>> = BTreeMap::new();
        let mut random = fastrand::Rng::with_seed(7);
        for number in 1..400 {
            let keys: std::collections::BTreeSet<Bytes> =
                (0..random.usize(..20)).map(|_| bytes_of(random.u32(..500))).collect();
            let batch: Vec<_> = keys
                .into_iter()
                .map(|key| (key, random.bool().then(|| bytes_of(random.u32(..)))))
                .collect();
            for (key, value) in &batch {
                model.insert((key.clone(), std::cmp::Reverse(number)), value.clone());
            }
            memtable.insert(number, batch);
        }
        assert_eq!(memtable.entries(), model.len() as u64);
        let want: Vec<Entry> = model
            .iter()
            .map(|((key, number), value)| Entry {
                key: key.clone(),
                number: number.0,
                slot: Slot::of_value(value.clone()),
            })
            .collect();
        let mut cursor = MemtableCursor::forward(Arc::clone(&memtable), b"");
        let all: Vec<Entry> = std::iter::from_fn(|| next(&mut cursor)).collect();
        assert_eq!(all, want);
        let mut cursor = MemtableCursor::backward(Arc::clone(&memtable), None);
        let mut back: Vec<Entry> = std::iter::from_fn(|| next(&mut cursor)).collect();
        back.reverse();
        assert_eq!(back, want);
        for _ in 0..2_000 {
            let (key, number) = (bytes_of(random.u32(..500)), random.u64(..410));
            let newest = want.iter().find(|entry| entry.key == key && entry.number <= number);
            let found = memtable.get(&key, number).map(|(number, slot)| (number, slot.to_slot()));
            assert_eq!(found, newest.map(|entry| (entry.number, entry.slot.clone())));
            let first = MemtableCursor::forward(Arc::clone(&memtable), &key).entry();
            assert_eq!(first.as_ref(), want.iter().find(|entry| key <= entry.key));
            let last = MemtableCursor::backward(Arc::clone(&memtable), Some(&key)).entry();
            assert_eq!(last.as_ref(), want.iter().rfind(|entry| entry.key < key));
        }
    }

    #[test]
    fn readers_beside_the_writer_see_whole_batches_in_order() {
        let memtable = Memtable::new(&Arc::default());
        let (published, done) = (AtomicU64::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for reader in 0..3_u32 {
                let (memtable, published, done) = (&memtable, &published, &done);
                scope.spawn(move || {
                    while !done.load(Ordering::SeqCst) {
                        let at = published.load(Ordering::Acquire);
                        let mut cursor = if reader == 0 {
                            MemtableCursor::backward(Arc::clone(memtable), None)
                        } else {
                            MemtableCursor::forward(Arc::clone(memtable), b"")
                        };
                        let mut seen = 0;
                        while let Some(entry) = next(&mut cursor) {
                            seen += u64::from(entry.number <= at);
                        }
                        assert_eq!(seen, at * 8);
                    }
                });
            }
            let mut random = fastrand::Rng::with_seed(3);
            for number in 1..=1_500 {
                let mut keys = std::collections::BTreeSet::new();
                while keys.len() < 8 {
                    keys.insert(bytes_of(random.u32(..)));
                }
                memtable.insert(number, keys.into_iter().map(|key| (key, None)));
                published.store(number, Ordering::Release);
            }
            done.store(true, Ordering::SeqCst);
        });
    }

    #[test]
    fn a_read_beside_the_writer_finds_nothing_newer_than_its_number() {
        let memtable = Memtable::new(&Arc::default());
        let published = AtomicU64::new(0);
        const LAST: u64 = 100_000;
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut at = 0;
                    while at < LAST {
                        at = published.load(Ordering::Acquire);
                        let found = memtable.get(b"key", at).map(|(number, _)| number);
                        assert_eq!(found, (0 < at).then_some(at));
                        let from = MemtableCursor::forward(Arc::clone(&memtable), b"key");
                        assert!(from.key().is_none_or(|key| key == b"key"));
                    }
                });
            }
            for number in 1..=LAST {
                let items = [Bytes::from_static(b"a"), Bytes::from_static(b"key")];
                memtable.insert(number, items.map(|key| (key, None)));
                published.store(number, Ordering::Release);
            }
        });
    }
}
