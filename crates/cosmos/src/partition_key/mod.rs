//! Partition keys: how a container defines them, what stands in a header, what an item holds.
//! Where a key lies among all others is `epk`'s business.

mod component;
mod definition;
mod path;

pub(crate) use component::Component;
pub(crate) use definition::{HashKind, KeyScope, PartitionKeyDefinition, check_len};
pub(crate) use path::KeyPath;
