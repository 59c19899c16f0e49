//! The routes: one file for each kind of resource or operation, each a function of the door, the
//! request and its body.

pub(crate) mod account;
pub(crate) mod batches;
pub(crate) mod changes;
pub(crate) mod common;
mod condition;
pub(crate) mod containers;
pub(crate) mod databases;
pub(crate) mod feeds;
mod indexes_used;
mod locate;
pub(crate) mod mend;
pub(crate) mod offers;
mod order;
pub(crate) mod partition;
pub(crate) mod permissions;
pub(crate) mod points;
pub(crate) mod queries;
pub(crate) mod ranges;
mod records;
mod scope;
pub(crate) mod scripts;
mod stored;
pub(crate) mod users;
mod versions;
