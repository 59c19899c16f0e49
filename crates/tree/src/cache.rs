//! A cache of verified blocks and frames, bounded by bytes, in which readers find an item without a
//! lock.
//!
//! Each item has one of the few places of its set, which a hash of file and offset determines. A
//! hit reads the tags of the set and the pointer of the place. If the cache is full, a hand passes
//! all places and removes items that were not used since it last passed.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};

use arc_swap::{ArcSwapOption, Guard};
use bytes::Bytes;

use crate::{block::Block, frame::Place};

/// Number of places in a set.
const PLACES: usize = 8;
/// Bytes of the cache for one place: half the usual size of an item. The places are therefore twice
/// as many as the usual items, and few sets are full before the cache itself.
const BYTES_PER_PLACE: u64 = 8 << 10;
/// Memory of an item besides its contents, approximately.
const ITEM_BYTES: u64 = 160;
/// The largest item that is cached has this fraction (1/n) of the cache's bytes.
const LARGEST_PART: u64 = 8;

/// The decoded contents of a frame of a file.
#[derive(Debug)]
pub(crate) enum Contents {
    Entries(Block),
    /// The raw contents of a frame of bodies.
    Bodies(Bytes),
}

/// A frame of a file, verified and in memory.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) place: Place,
    contents: Contents,
}

impl Item {
    pub(crate) fn new(place: Place, contents: Contents) -> Arc<Self> {
        Arc::new(Self { place, contents })
    }

    /// Returns the block; `None` in an item with bodies.
    pub(crate) fn block(&self) -> Option<&Block> {
        match &self.contents {
            Contents::Entries(block) => Some(block),
            Contents::Bodies(_) => None,
        }
    }

    /// Returns the raw contents of the frame of bodies; `None` in an item with a block.
    pub(crate) fn bodies(&self) -> Option<&Bytes> {
        match &self.contents {
            Contents::Entries(_) => None,
            Contents::Bodies(raw) => Some(raw),
        }
    }

    /// Returns the bytes that the item counts in the cache.
    pub(crate) fn bytes(&self) -> u64 {
        let contents = match &self.contents {
            Contents::Entries(block) => block.bytes(),
            Contents::Bodies(raw) => raw.len(),
        };
        contents as u64 + ITEM_BYTES
    }
}

/// An item in use for a short time.
#[derive(Debug)]
pub(crate) struct Held(Guard<Option<Arc<Item>>>);

impl Held {
    pub(crate) fn new(item: Arc<Item>) -> Self {
        Self(Guard::from_inner(Some(item)))
    }

    /// Returns the item for a longer use.
    pub(crate) fn into_item(self) -> Option<Arc<Item>> {
        Guard::into_inner(self.0)
    }

    /// Returns the block; `None` for bodies.
    pub(crate) fn block(&self) -> Option<&Block> {
        self.0.as_ref()?.block()
    }

    /// Returns the raw contents of the frame of bodies; `None` if the item holds a block or was
    /// removed.
    pub(crate) fn bodies(&self) -> Option<&Bytes> {
        self.0.as_ref()?.bodies()
    }
}

/// The places for the items with some hashes, in two adjacent cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Set {
    /// Parts of the hashes of the items. A wrong tag makes an item unreachable, not wrong.
    tags: [AtomicU32; PLACES],
    /// Whether an item was used since the hand last passed.
    used: [AtomicBool; PLACES],
    items: [ArcSwapOption<Item>; PLACES],
}

/// The cache of all files of a tree, see the module.
#[derive(Debug)]
pub(crate) struct Cache {
    sets: Box<[Set]>,
    /// Maximum of `bytes`, which concurrent insertions may exceed briefly.
    limit: u64,
    bytes: AtomicU64,
    /// Number of sets that the hand has passed.
    hand: AtomicUsize,
}

impl Cache {
    pub(crate) fn new(limit: u64) -> Self {
        let sets = (limit / (BYTES_PER_PLACE * PLACES as u64)).clamp(4, 1 << 31);
        Self {
            sets: (0..sets).map(|_| Set::default()).collect(),
            limit,
            bytes: AtomicU64::new(0),
            hand: AtomicUsize::new(0),
        }
    }

    /// Returns the bytes of all items.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn set_of(&self, (file, offset): Place) -> (&Set, u32) {
        let mixed = (file.rotate_left(40) ^ offset).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let set = ((hash >> 32) * self.sets.len() as u64) >> 32;
        (&self.sets[set as usize], hash as u32)
    }

    /// Returns the item with this place.
    pub(crate) fn get(&self, place: Place) -> Option<Held> {
        let (set, tag) = self.set_of(place);
        for at in 0..PLACES {
            if set.tags[at].load(Ordering::Relaxed) != tag {
                continue;
            }
            let item = set.items[at].load();
            if item.as_ref().is_some_and(|item| item.place == place) {
                if !set.used[at].load(Ordering::Relaxed) {
                    set.used[at].store(true, Ordering::Relaxed);
                }
                return Some(Held(item));
            }
        }
        None
    }

    /// Adds an item. It replaces an item of its set if that is full, and others of the cache if that
    /// is. Two threads that read the same frame at once may both add it.
    pub(crate) fn insert(&self, item: &Arc<Item>) {
        let bytes = item.bytes();
        if self.limit / LARGEST_PART < bytes {
            return;
        }
        let (set, tag) = self.set_of(item.place);
        let at = set.place_for_new(tag);
        // Counted first, because another thread may remove it at once.
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        set.used[at].store(false, Ordering::Relaxed);
        set.tags[at].store(tag, Ordering::Relaxed);
        self.record_removed(set.items[at].swap(Some(Arc::clone(item))));
        // Two rounds remove all items that nothing uses.
        for _ in 0..2 * self.sets.len() {
            if self.bytes() <= self.limit {
                break;
            }
            self.shrink();
        }
    }

    /// Removes the unused items of the next set.
    fn shrink(&self) {
        let hand = self.hand.fetch_add(1, Ordering::Relaxed) % self.sets.len();
        let set = &self.sets[hand];
        for (used, item) in set.used.iter().zip(&set.items) {
            if !used.swap(false, Ordering::Relaxed) && item.load().is_some() {
                self.record_removed(item.swap(None));
            }
        }
    }

    fn record_removed(&self, item: Option<Arc<Item>>) {
        if let Some(item) = item {
            self.bytes.fetch_sub(item.bytes(), Ordering::Relaxed);
        }
    }
}

impl Set {
    /// Returns an empty place, one whose item was not used for long, or any.
    fn place_for_new(&self, tag: u32) -> usize {
        if let Some(empty) = self.items.iter().position(|item| item.load().is_none()) {
            return empty;
        }
        let first = tag as usize % PLACES;
        for at in (0..PLACES).map(|step| (first + step) % PLACES) {
            if !self.used[at].swap(false, Ordering::Relaxed) {
                return at;
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(file: u64, offset: u64, bytes: usize) -> Arc<Item> {
        Item::new((file, offset), Contents::Bodies(Bytes::from(vec![file as u8; bytes])))
    }

    #[test]
    fn items_are_found_until_the_cache_is_full_and_used_ones_stay() {
        let cache = Cache::new(1 << 20);
        let often = bodies(1, 0, 4_000);
        cache.insert(&often);
        for n in 0..10_000 {
            assert!(cache.get((1, 0)).is_some(), "{n}");
            cache.insert(&bodies(2, n * 4_096, 4_000));
            assert!(cache.bytes() <= 1 << 20);
        }
        let found: Vec<_> = (0..10_000).filter_map(|n| cache.get((2, n * 4_096))).collect();
        assert!(found.iter().all(|held| held.bodies().unwrap()[..] == [2; 4_000]));
        let kept = found.len();
        assert!((64..=256).contains(&kept), "{kept}");
        let counted: u64 = cache.sets.iter().flat_map(|set| &set.items).map(bytes_of).sum();
        assert_eq!(counted, cache.bytes());
    }

    fn bytes_of(item: &ArcSwapOption<Item>) -> u64 {
        item.load().as_ref().map_or(0, |item| item.bytes())
    }

    #[test]
    fn items_too_large_for_the_cache_are_left_out() {
        let cache = Cache::new(1 << 20);
        cache.insert(&bodies(1, 0, 200_000));
        assert_eq!((cache.get((1, 0)).is_some(), cache.bytes()), (false, 0));
        Cache::new(0).insert(&bodies(1, 0, 1));
    }

    #[test]
    fn threads_find_their_own_items_or_none() {
        let cache = Cache::new(256 << 10);
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let cache = &cache;
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed);
                    for _ in 0..20_000 {
                        let (file, offset) = (random.u64(..4), random.u64(..100) * 512);
                        match cache.get((file, offset)) {
                            Some(held) => assert_eq!(held.bodies().unwrap()[0], file as u8),
                            None => cache.insert(&bodies(file, offset, 4_000)),
                        }
                    }
                });
            }
        });
        let counted: u64 = cache.sets.iter().flat_map(|set| &set.items).map(bytes_of).sum();
        assert_eq!(counted, cache.bytes());
    }
}
