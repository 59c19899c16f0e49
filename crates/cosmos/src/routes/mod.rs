//! The routes: one file for each kind of resource or operation, each a function of the door, the
//! request and its body. Which route serves an operation stands in `dispatch`.

pub(crate) mod account;
mod all_versions;
pub(crate) mod batches;
pub(crate) mod change_feed;
mod condition;
mod container_part;
pub(crate) mod containers;
pub(crate) mod databases;
mod indexes_used;
mod item_lookup;
pub(crate) mod items;
mod mend;
pub(crate) mod offers;
mod page_order;
pub(crate) mod partition_delete;
pub(crate) mod permissions;
mod pushdown;
pub(crate) mod queries;
pub(crate) mod ranges;
pub(crate) mod read_feed;
mod resources;
pub(crate) mod scripts;
mod shared;
pub(crate) mod users;
