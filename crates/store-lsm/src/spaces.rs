//! Spaces as keyspaces of their own, found without a lock. A collection's spaces live in slots:
//! keyspaces that are used again, since each one made or deleted costs the tree memory and disk
//! for ever. Keys in a slot begin with the number of its use; what has another number is dropped
//! by compaction.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use fjall::{
    AbstractTree as _, Database, Keyspace, KeyspaceCreateOptions, PersistMode,
    config::BlockSizePolicy,
};
use store::{Error, Kind, Space};

use crate::{compactor, errors::from_fjall};

/// Memory of one keyspace before it is flushed, bytes.
const MEMTABLE_BYTES: u64 = 64 * 1024 * 1024;
/// Rows that are read together, bytes.
const BLOCK_BYTES: u32 = 16 * 1024;
/// Free slots that are kept for later use.
const FREE_SLOTS: usize = 64;
/// Memory of a free slot that is worth being written out and dropped, bytes.
const LEFTOVER_BYTES: u64 = 1024 * 1024;
const SLOT: &str = "slot-";
/// In front of the records of slots in the meta keyspace.
const RECORD: u8 = b's';

/// Where a space's keys are.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) keyspace: Keyspace,
    /// The slot and the number of its use.
    slot: Option<(u32, u32)>,
}

impl Place {
    /// The key as the tree has it.
    pub(crate) fn key(&self, key: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + key.len());
        if let Some((_, number)) = self.slot {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(key);
        out
    }

    /// The end of all keys of the space.
    pub(crate) fn end(&self) -> Option<Vec<u8>> {
        let (_, number) = self.slot?;
        Some(number.checked_add(1)?.to_be_bytes().to_vec())
    }

    /// The key as the space has it.
    pub(crate) fn bare(&self, key: Bytes) -> Bytes {
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
    fn lock(&self) -> MutexGuard<'_, HashMap<u32, (Space, u32)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The space in a slot, and the number of its use.
    pub(crate) fn user(&self, slot: u32) -> Option<(Space, u32)> {
        self.lock().get(&slot).copied()
    }
}

/// The slot in a keyspace's name.
pub(crate) fn slot_of(name: &str) -> Option<u32> {
    name.strip_prefix(SLOT)?.parse().ok()
}

/// All keyspaces of spaces.
pub(crate) struct Spaces {
    database: Database,
    meta: Keyspace,
    slots: Slots,
    places: ArcSwap<HashMap<Space, Place>>,
    free: Mutex<Vec<(u32, Keyspace)>>,
    next_slot: AtomicU32,
    next_number: AtomicU32,
}

impl Spaces {
    /// Opens every keyspace that exists.
    pub(crate) fn open(database: &Database, meta: &Keyspace, slots: &Slots) -> Result<Self, Error> {
        let spaces = Self {
            database: database.clone(),
            meta: meta.clone(),
            slots: slots.clone(),
            places: ArcSwap::default(),
            free: Mutex::default(),
            next_slot: AtomicU32::new(0),
            next_number: AtomicU32::new(1),
        };
        let mut places = HashMap::new();
        for name in database.list_keyspace_names() {
            if let Some(slot) = slot_of(&name) {
                spaces.next_slot.fetch_max(slot + 1, Ordering::SeqCst);
                let keyspace = keyspace(database, &name)?;
                let (space, number) = spaces.record(slot)?;
                spaces.next_number.fetch_max(number + 1, Ordering::SeqCst);
                match space {
                    None => spaces.free().push((slot, keyspace)),
                    Some(space) => {
                        slots.lock().insert(slot, (space, number));
                        places.insert(space, Place { keyspace, slot: Some((slot, number)) });
                    }
                }
            } else if let Some(space) = Space::parse(&name) {
                let keyspace = keyspace(database, &name)?;
                places.insert(space, Place { keyspace, slot: None });
            }
        }
        spaces.places.store(Arc::new(places));
        Ok(spaces)
    }

    fn free(&self) -> MutexGuard<'_, Vec<(u32, Keyspace)>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, space: Space) -> Option<Place> {
        self.places.load().get(&space).cloned()
    }

    pub(crate) fn with<T>(&self, space: Space, read: impl FnOnce(&Place) -> T) -> Option<T> {
        self.places.load().get(&space).map(read)
    }

    pub(crate) fn all(&self) -> Vec<(Space, Keyspace)> {
        let places = self.places.load();
        places.iter().map(|(space, place)| (*space, place.keyspace.clone())).collect()
    }

    pub(crate) fn create(&self, space: Space) -> Result<(), Error> {
        if self.places.load().contains_key(&space) {
            return Ok(());
        }
        let place = match space {
            Space::Catalog | Space::Counts => {
                Place { keyspace: keyspace(&self.database, &space.name())?, slot: None }
            }
            Space::Rows(_) | Space::Index(_) => self.take_slot(space)?,
        };
        self.places.rcu(|places| {
            let mut places = HashMap::clone(places);
            places.insert(space, place.clone());
            Arc::new(places)
        });
        Ok(())
    }

    /// Gives a slot to a space; durable when this answers.
    fn take_slot(&self, space: Space) -> Result<Place, Error> {
        let taken = self.free().pop();
        let (slot, keyspace) = match taken {
            Some(taken) => taken,
            None => {
                let slot = self.next_slot.fetch_add(1, Ordering::SeqCst);
                (slot, keyspace(&self.database, &format!("{SLOT}{slot}"))?)
            }
        };
        let number = self.next_number.fetch_add(1, Ordering::SeqCst);
        self.note(slot, number, Some(space), PersistMode::SyncAll)?;
        self.slots.lock().insert(slot, (space, number));
        Ok(Place { keyspace, slot: Some((slot, number)) })
    }

    /// Writes down who has a slot.
    fn note(
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

    /// Who has a slot, and the number of its last use.
    fn record(&self, slot: u32) -> Result<(Option<Space>, u32), Error> {
        let found = self.meta.get(record_key(slot));
        let Some(record) = found.map_err(|error| from_fjall("read a slot", &error))? else {
            return Ok((None, 0));
        };
        let parsed = record.split_first_chunk().and_then(|(number, name)| {
            let space = match str::from_utf8(name).ok()? {
                "" => None,
                name => Some(Space::parse(name)?),
            };
            Some((space, u32::from_be_bytes(*number)))
        });
        let damaged = || Error::new(Kind::Corrupt, format!("the record of slot {slot} is damaged"));
        parsed.ok_or_else(damaged)
    }

    /// Takes a space out; answers its keyspace when compaction has to free what is left in it.
    pub(crate) fn remove(&self, space: Space) -> Result<Option<Keyspace>, Error> {
        let Some(place) = self.get(space) else { return Ok(None) };
        self.places.rcu(|places| {
            let mut places = HashMap::clone(places);
            places.remove(&space);
            Arc::new(places)
        });
        let Place { keyspace, slot: Some((slot, number)) } = place else { return Ok(None) };
        self.slots.lock().remove(&slot);
        // When this is lost with the machine, the space has no record in the catalog.
        self.note(slot, number, None, PersistMode::Buffer)?;
        let mut free = self.free();
        if FREE_SLOTS <= free.len() {
            drop(free);
            return self.delete(slot, keyspace).map(|()| None);
        }
        free.push((slot, keyspace.clone()));
        let memory = keyspace.tree.active_memtable().size();
        let leftover = 0 < keyspace.tree.table_count() || LEFTOVER_BYTES < memory;
        Ok(leftover.then_some(keyspace))
    }

    fn delete(&self, slot: u32, keyspace: Keyspace) -> Result<(), Error> {
        let context = |error: fjall::Error| from_fjall("delete a keyspace", &error);
        self.meta.remove(record_key(slot)).map_err(context)?;
        self.database.delete_keyspace(keyspace).map_err(context)
    }
}

fn record_key(slot: u32) -> Vec<u8> {
    let mut key = vec![RECORD];
    key.extend_from_slice(&slot.to_be_bytes());
    key
}

/// Makes or opens a keyspace.
pub(crate) fn keyspace(database: &Database, name: &str) -> Result<Keyspace, Error> {
    let options = || {
        KeyspaceCreateOptions::default()
            .max_memtable_size(MEMTABLE_BYTES)
            .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
            .compaction_strategy(compactor::idle())
    };
    database.keyspace(name, options).map_err(|error| from_fjall("open a keyspace", &error))
}
