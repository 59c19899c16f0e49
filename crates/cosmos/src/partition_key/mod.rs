//! Partition keys: their definition in a container, their paths in items, and their components in
//! headers. `epk` computes effective partition keys.

mod component;
mod definition;
mod path;

pub(crate) use component::Component;
pub(crate) use definition::{HashKind, KeyScope, PartitionKeyDefinition, check_len};
pub(crate) use path::KeyPath;
