//! Spaces as keyspaces of their own, found without a lock. A collection's spaces live in slots:
//! keyspaces that are used again, since each one made or deleted costs the tree memory and disk for
//! good. Keys in a slot begin with the number of its use; what has another number is dropped by
//! compaction.
//!
//! ```text
//!  slot-3:   [use 7] keys of rows-12      dropped: the space is gone at once, the slot is free
//!            [use 9] keys of rows-40      made:    the same slot, another number
//! ```
//!
//! Who has a slot is a record in the meta keyspace. It is synced before the space is used, so that
//! after a crash no key belongs to a slot without an owner.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use fjall::{AbstractTree as _, Database, Keyspace, PersistMode};
use parking_lot::{Mutex, MutexGuard};
use store::{Error, Kind, Space};

use crate::{
    errors::from_fjall,
    keyspace::{SlotKind, open_keyspace, slot_of},
};

/// Free slots that are kept for later use.
const FREE_SLOTS: usize = 64;
/// Memory of a free slot that is worth being written out and dropped, bytes.
const LEFTOVER_BYTES: u64 = 1024 * 1024;
/// Behind the mark that compactions leave, in front of all keys of spaces.
const FIRST_USED_KEY: [u8; 4] = 1_u32.to_be_bytes();
/// In front of the records of slots in the meta keyspace.
const RECORD: u8 = b's';

/// Where a space's keys are.
#[derive(Clone)]
pub(crate) struct SpacePlace {
    /// The keyspace of its own, or the slot.
    pub(crate) keyspace: Keyspace,
    /// The slot and the number of its use.
    slot: Option<(u32, u32)>,
}

impl SpacePlace {
    /// The key as the tree has it.
    pub(crate) fn tree_key(&self, key: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + key.len());
        if let Some((_, number)) = self.slot {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(key);
        out
    }

    /// The end of all keys of the space.
    pub(crate) fn tree_end(&self) -> Option<Vec<u8>> {
        let (_, number) = self.slot?;
        Some(number.checked_add(1)?.to_be_bytes().to_vec())
    }

    /// The key as the space has it.
    pub(crate) fn space_key(&self, key: Bytes) -> Bytes {
        match self.slot {
            Some(_) => key.slice(key.len().min(4)..),
            None => key,
        }
    }
}

/// Which space has which slot, for the filters of compaction.
#[derive(Clone, Default)]
pub(crate) struct Slots(Arc<Mutex<HashMap<u32, (Space, u32)>>>);

impl Slots {
    /// By slot: the space and the number of the use.
    fn lock(&self) -> MutexGuard<'_, HashMap<u32, (Space, u32)>> {
        self.0.lock()
    }

    /// The space in a slot, and the number of its use.
    pub(crate) fn user_of(&self, slot: u32) -> Option<(Space, u32)> {
        self.lock().get(&slot).copied()
    }
}

/// All keyspaces of spaces.
pub(crate) struct Spaces {
    database: Database,
    meta: Keyspace,
    slots: Slots,
    places: ArcSwap<HashMap<Space, SpacePlace>>,
    /// What a space that is made can get. Whoever makes or removes a space holds this lock from
    /// its look at `places` until `places` has changed: two makers of one space get one slot.
    unused: Mutex<UnusedSlots>,
}

/// What a new space can get.
#[derive(Default)]
struct UnusedSlots {
    free: Vec<FreeSlot>,
    next_slot: u32,
    next_number: u32,
}

/// A slot that no space has.
struct FreeSlot {
    kind: SlotKind,
    slot: u32,
    keyspace: Keyspace,
}

impl UnusedSlots {
    /// Takes the free slot of this kind that was used last.
    fn take_last(&mut self, kind: SlotKind) -> Option<FreeSlot> {
        let at = self.free.iter().rposition(|free| free.kind == kind)?;
        Some(self.free.remove(at))
    }
}

impl Spaces {
    /// Opens every keyspace that exists. Slots that contradict each other are mended where it is
    /// certain what is right, and refused by name elsewhere, unless a loss is accepted.
    pub(crate) fn open(
        database: &Database,
        meta: &Keyspace,
        slots: &Slots,
        accept_loss: bool,
    ) -> Result<Self, Error> {
        let spaces = Self {
            database: database.clone(),
            meta: meta.clone(),
            slots: slots.clone(),
            places: ArcSwap::default(),
            unused: Mutex::default(),
        };
        let mut places = HashMap::new();
        let mut claims: BTreeMap<Space, Vec<SlotClaim>> = BTreeMap::new();
        let mut damage = Vec::new();
        let mut unused = UnusedSlots { next_number: 1, ..UnusedSlots::default() };
        for name in database.list_keyspace_names() {
            if let Some((kind, slot)) = slot_of(&name) {
                // The keyspace that is made next, when no slot is free.
                unused.next_slot = unused.next_slot.max(slot + 1);
                let keyspace = open_keyspace(database, &name)?;
                let record = spaces.slot_record(slot)?;
                let number = record.map_or(0, |(_, number)| number);
                // Above all that were given: what is left over in a slot has a smaller number.
                unused.next_number = unused.next_number.max(number + 1);
                match record {
                    Some((Some(space), number)) => {
                        let slot = FreeSlot { kind, slot, keyspace };
                        claims.entry(space).or_default().push(SlotClaim { number, slot });
                    }
                    Some((None, _)) => unused.free.push(FreeSlot { kind, slot, keyspace }),
                    // Made, and the server ended before it was given to a space.
                    None if accept_loss || !has_keys(&keyspace, None)? => {
                        unused.free.push(FreeSlot { kind, slot, keyspace });
                    }
                    None => damage.push(format!("slot {slot} has rows but belongs to no space")),
                }
            } else if let Some(space) = Space::parse(&name) {
                let keyspace = open_keyspace(database, &name)?;
                places.insert(space, SpacePlace { keyspace, slot: None });
            }
        }
        for (space, mut claims) in claims {
            // The newest last.
            claims.sort_by_key(|claim| claim.number);
            let Some(claim) =
                spaces.choose_claim(space, claims, accept_loss, &mut unused, &mut damage)?
            else {
                continue;
            };
            let SlotClaim { number, slot: FreeSlot { slot, keyspace, .. } } = claim;
            slots.lock().insert(slot, (space, number));
            places.insert(space, SpacePlace { keyspace, slot: Some((slot, number)) });
        }
        if !damage.is_empty() {
            return Err(Error::new(Kind::Corrupt, damage.join("; ")));
        }
        spaces.places.store(Arc::new(places));
        *spaces.lock_unused() = unused;
        Ok(spaces)
    }

    /// The one slot of a space, of those whose records name it: where at most one of them has
    /// keys the others were never used and are free. The newest is kept when a loss is accepted.
    fn choose_claim(
        &self,
        space: Space,
        mut claims: Vec<SlotClaim>,
        accept_loss: bool,
        unused: &mut UnusedSlots,
        damage: &mut Vec<String>,
    ) -> Result<Option<SlotClaim>, Error> {
        if claims.len() < 2 {
            return Ok(claims.pop());
        }
        let used = claims.iter().map(|claim| has_keys(&claim.slot.keyspace, Some(claim.number)));
        let used: Vec<bool> = used.collect::<Result<_, _>>()?;
        // Two slots with rows of one space: nobody knows which of them is right.
        if 1 < used.iter().filter(|used| **used).count() && !accept_loss {
            let slots: Vec<String> =
                claims.iter().map(|claim| claim.slot.slot.to_string()).collect();
            let (name, slots) = (space.name(), slots.join(", "));
            damage.push(format!("space {name} has rows in more than one slot ({slots})"));
            return Ok(None);
        }
        let kept = used.iter().rposition(|used| *used).unwrap_or(claims.len() - 1);
        let claim = claims.remove(kept);
        for SlotClaim { number, slot } in claims {
            self.note_slot(slot.slot, number, None, PersistMode::SyncAll)?;
            unused.free.push(slot);
        }
        Ok(Some(claim))
    }

    /// Held by whoever makes or removes a space.
    fn lock_unused(&self) -> MutexGuard<'_, UnusedSlots> {
        self.unused.lock()
    }

    /// Where a space's keys are; `None` when it does not exist.
    pub(crate) fn place_of(&self, space: Space) -> Option<SpacePlace> {
        self.places.load().get(&space).cloned()
    }

    /// The same without a clone of the place.
    pub(crate) fn with_place<T>(
        &self,
        space: Space,
        read: impl FnOnce(&SpacePlace) -> T,
    ) -> Option<T> {
        self.places.load().get(&space).map(read)
    }

    /// All spaces and their keyspaces.
    pub(crate) fn all_keyspaces(&self) -> Vec<(Space, Keyspace)> {
        let places = self.places.load();
        places.iter().map(|(space, place)| (*space, place.keyspace.clone())).collect()
    }

    /// Makes a space; one that exists stays as it is.
    pub(crate) fn create_space(&self, space: Space) -> Result<(), Error> {
        let mut unused = self.lock_unused();
        if self.places.load().contains_key(&space) {
            return Ok(());
        }
        let place = match SlotKind::of_space(space) {
            None => {
                SpacePlace { keyspace: open_keyspace(&self.database, &space.name())?, slot: None }
            }
            Some(kind) => self.take_slot(space, kind, &mut unused)?,
        };
        self.change_places(|places| {
            places.insert(space, place.clone());
        });
        Ok(())
    }

    /// Replaces the map that readers see.
    fn change_places(&self, change: impl Fn(&mut HashMap<Space, SpacePlace>)) {
        self.places.rcu(|places| {
            let mut places = HashMap::clone(places);
            change(&mut places);
            Arc::new(places)
        });
    }

    /// Gives a slot to a space; durable when this returns. A slot that cannot be given stays free.
    fn take_slot(
        &self,
        space: Space,
        kind: SlotKind,
        unused: &mut UnusedSlots,
    ) -> Result<SpacePlace, Error> {
        let free = match unused.take_last(kind) {
            Some(free) => free,
            None => {
                let slot = unused.next_slot;
                let keyspace = open_keyspace(&self.database, &kind.name_of(slot))?;
                unused.next_slot += 1;
                FreeSlot { kind, slot, keyspace }
            }
        };
        let number = unused.next_number;
        unused.next_number += 1;
        // Synced before the space is known to anybody: its first commit may be acknowledged at
        // once.
        if let Err(error) = self.note_slot(free.slot, number, Some(space), PersistMode::SyncAll) {
            unused.free.push(free);
            return Err(error);
        }
        let FreeSlot { slot, keyspace, .. } = free;
        self.slots.lock().insert(slot, (space, number));
        Ok(SpacePlace { keyspace, slot: Some((slot, number)) })
    }

    /// Writes down who has a slot.
    fn note_slot(
        &self,
        slot: u32,
        number: u32,
        space: Option<Space>,
        persist: PersistMode,
    ) -> Result<(), Error> {
        let mut record = number.to_be_bytes().to_vec();
        record.extend_from_slice(space.map(Space::name).unwrap_or_default().as_bytes());
        let mut batch = self.database.batch().durability(Some(persist));
        batch.insert(&self.meta, record_key(slot), record);
        batch.commit().map_err(|error| from_fjall("note a slot", &error))
    }

    /// Who has a slot, and the number of its last use; `None` where nothing was written down.
    fn slot_record(&self, slot: u32) -> Result<Option<(Option<Space>, u32)>, Error> {
        let found = self.meta.get(record_key(slot));
        let Some(record) = found.map_err(|error| from_fjall("read a slot", &error))? else {
            return Ok(None);
        };
        let parsed = record.split_first_chunk().and_then(|(number, name)| {
            let space = match str::from_utf8(name).ok()? {
                "" => None,
                name => Some(Space::parse(name)?),
            };
            Some((space, u32::from_be_bytes(*number)))
        });
        let damaged = || Error::new(Kind::Corrupt, format!("the record of slot {slot} is damaged"));
        parsed.map(Some).ok_or_else(damaged)
    }

    /// Takes a space out; returns its keyspace when compaction has to free what is left in it.
    pub(crate) fn remove_space(&self, space: Space) -> Result<Option<Keyspace>, Error> {
        let mut unused = self.lock_unused();
        let Some(place) = self.place_of(space) else { return Ok(None) };
        self.change_places(|places| {
            places.remove(&space);
        });
        let SpacePlace { keyspace, slot: Some((slot, number)) } = place else { return Ok(None) };
        // From here on compaction drops all keys of the slot.
        self.slots.lock().remove(&slot);
        // When this is lost with the machine, the catalog has no record of the space.
        self.note_slot(slot, number, None, PersistMode::Buffer)?;
        if FREE_SLOTS <= unused.free.len() {
            return self.delete_slot(slot, keyspace).map(|()| None);
        }
        // One of an earlier version may have had rows in a slot for entries: it stays what it is.
        let kind = slot_of(keyspace.name()).map_or(SlotKind::Entries, |(kind, _)| kind);
        unused.free.push(FreeSlot { kind, slot, keyspace: keyspace.clone() });
        // Little in memory is left alone: it goes with the next flush of the slot.
        let memory = keyspace.tree.active_memtable().size();
        let leftover = 0 < keyspace.tree.table_count() || LEFTOVER_BYTES < memory;
        Ok(leftover.then_some(keyspace))
    }

    /// The keyspace goes before its record: a slot with keys always has one.
    fn delete_slot(&self, slot: u32, keyspace: Keyspace) -> Result<(), Error> {
        let context = |error: fjall::Error| from_fjall("delete a keyspace", &error);
        self.database.delete_keyspace(keyspace).map_err(context)?;
        self.meta.remove(record_key(slot)).map_err(context)
    }
}

/// A slot whose record names a space.
struct SlotClaim {
    /// The number of the use.
    number: u32,
    slot: FreeSlot,
}

/// Whether a keyspace has any key, or one of this use of its slot.
fn has_keys(keyspace: &Keyspace, number: Option<u32>) -> Result<bool, Error> {
    let first = match number {
        Some(number) => keyspace.prefix(number.to_be_bytes()).next(),
        None => keyspace.range(FIRST_USED_KEY..).next(),
    };
    let key = first.map(|row| row.key().map_err(|error| from_fjall("read a slot", &error)));
    Ok(key.transpose()?.is_some())
}

/// The key of a slot's record in the meta keyspace.
fn record_key(slot: u32) -> Vec<u8> {
    let mut key = vec![RECORD];
    key.extend_from_slice(&slot.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Space = Space::Rows(7);

    struct Tree {
        database: Database,
        meta: Keyspace,
        _directory: tempfile::TempDir,
    }

    impl Tree {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let database = Database::builder(directory.path()).open().unwrap();
            let meta = open_keyspace(&database, "meta").unwrap();
            Self { database, meta, _directory: directory }
        }

        fn open(&self, accept_loss: bool) -> Result<Spaces, Error> {
            Spaces::open(&self.database, &self.meta, &Slots::default(), accept_loss)
        }

        /// A slot with this record and, if so, a key of the use in it.
        fn slot(&self, slot: u32, record: Option<(u32, &str)>, used: Option<u32>) {
            let keyspace = open_keyspace(&self.database, &SlotKind::Rows.name_of(slot)).unwrap();
            if let Some((number, space)) = record {
                let record = [&number.to_be_bytes()[..], space.as_bytes()].concat();
                self.meta.insert(record_key(slot), record).unwrap();
            }
            if let Some(number) = used {
                keyspace.insert([&number.to_be_bytes()[..], b"key"].concat(), b"row").unwrap();
            }
        }
    }

    fn row(spaces: &Spaces) -> bool {
        let place = spaces.place_of(ROWS).unwrap();
        place.keyspace.get(place.tree_key(b"key")).unwrap().is_some()
    }

    #[test]
    fn of_several_slots_of_a_space_the_one_with_rows_is_right() {
        for used in [1, 2, 3] {
            let tree = Tree::new();
            for slot in 1..=3 {
                let own = (slot == used).then_some(slot);
                tree.slot(slot, Some((slot, "rows-7")), own);
            }
            assert!(row(&tree.open(false).unwrap()), "{used}");
            // What was mended stays so, and the others are free.
            let spaces = tree.open(false).unwrap();
            assert!(row(&spaces), "{used}");
            assert_eq!(spaces.lock_unused().free.len(), 2);
        }
    }

    #[test]
    fn rows_in_several_slots_of_a_space_are_refused_by_name() {
        let tree = Tree::new();
        tree.slot(1, Some((1, "rows-7")), Some(1));
        tree.slot(2, Some((2, "rows-7")), Some(2));
        tree.slot(3, Some((3, "index-7")), None);
        let refused = tree.open(false).err().unwrap();
        assert_eq!(refused.kind, Kind::Corrupt);
        assert_eq!(refused.message, "space rows-7 has rows in more than one slot (1, 2)");
        let spaces = tree.open(true).unwrap();
        assert_eq!(spaces.place_of(ROWS).unwrap().slot, Some((2, 2)));
    }

    #[test]
    fn a_slot_without_a_record_is_free_when_it_is_empty_and_refused_when_it_is_not() {
        let tree = Tree::new();
        tree.slot(1, None, None);
        assert_eq!(tree.open(false).unwrap().lock_unused().free.len(), 1);
        tree.slot(1, None, Some(4));
        let refused = tree.open(false).err().unwrap();
        assert_eq!(refused.message, "slot 1 has rows but belongs to no space");
        assert_eq!(tree.open(true).unwrap().lock_unused().free.len(), 1);
    }

    #[test]
    fn a_slot_that_was_given_and_taken_back_is_free_with_what_is_left_in_it() {
        let tree = Tree::new();
        tree.slot(1, Some((9, "")), Some(9));
        let spaces = tree.open(false).unwrap();
        spaces.create_space(ROWS).unwrap();
        assert_eq!(spaces.place_of(ROWS).unwrap().slot, Some((1, 10)));
        assert!(!row(&spaces));
    }
}
