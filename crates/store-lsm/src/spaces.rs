//! Spaces as keyspaces of their own, found without a lock.

use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwap;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, config::BlockSizePolicy};
use store::{Error, Space};

use crate::{compactor, errors::from_fjall};

/// Memory of one keyspace before it is flushed, bytes.
const MEMTABLE_BYTES: u64 = 64 * 1024 * 1024;
/// Rows that are read together, bytes.
const BLOCK_BYTES: u32 = 16 * 1024;

/// All keyspaces of spaces.
#[derive(Default)]
pub(crate) struct Spaces(ArcSwap<HashMap<Space, Keyspace>>);

impl Spaces {
    /// Opens every keyspace that exists.
    pub(crate) fn open(database: &Database) -> Result<Self, Error> {
        let mut all = HashMap::new();
        for name in database.list_keyspace_names() {
            if let Some(space) = Space::parse(&name) {
                all.insert(space, keyspace(database, &name)?);
            }
        }
        Ok(Self(ArcSwap::from_pointee(all)))
    }

    pub(crate) fn get(&self, space: Space) -> Option<Keyspace> {
        self.0.load().get(&space).cloned()
    }

    pub(crate) fn with<T>(&self, space: Space, read: impl FnOnce(&Keyspace) -> T) -> Option<T> {
        self.0.load().get(&space).map(read)
    }

    pub(crate) fn all(&self) -> Vec<(Space, Keyspace)> {
        self.0.load().iter().map(|(space, keyspace)| (*space, keyspace.clone())).collect()
    }

    pub(crate) fn create(&self, database: &Database, space: Space) -> Result<(), Error> {
        if self.0.load().contains_key(&space) {
            return Ok(());
        }
        let made = keyspace(database, &space.name())?;
        self.0.rcu(|all| {
            let mut all = HashMap::clone(all);
            all.insert(space, made.clone());
            Arc::new(all)
        });
        Ok(())
    }

    /// Takes a keyspace out; the caller deletes it.
    pub(crate) fn remove(&self, space: Space) -> Option<Keyspace> {
        let found = self.get(space);
        self.0.rcu(|all| {
            let mut all = HashMap::clone(all);
            all.remove(&space);
            Arc::new(all)
        });
        found
    }
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
