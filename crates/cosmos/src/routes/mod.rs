//! The routes: one file per kind of resource or operation, with functions of the API state, the
//! request and its body. `dispatch` maps operations to routes.
//!
//! | file | resources |
//! |---|---|
//! | `account` | the account document and the certificate |
//! | `databases`, `containers`, `users`, `permissions` | one kind of resource each |
//! | `client_keys`, `scripts`, `offers` | one kind of resource each |
//! | `items` | one item: create, upsert, read, replace, patch, delete |
//! | `batches` | several operations on items in one request |
//! | `queries`, `read_feed`, `change_feed`, `all_versions` | many items, page by page |
//! | `partition_delete` | all items under a partition key |
//! | `ranges` | partition key ranges, and conflicts |
//!
//! The other files contain shared parts: `resources` stores resources other than items and
//! containers, `resource_feed` lists them, `container_part` determines the items that a request
//! covers, `page_order` their order, `pushdown` the parts of a query that indexes can evaluate,
//! `query_metrics` the metrics of a query for clients.

pub(crate) mod account;
pub(crate) mod addresses;
mod all_versions;
pub(crate) mod batches;
pub(crate) mod change_feed;
pub(crate) mod client_keys;
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
mod parsed_query;
pub(crate) mod partition_delete;
pub(crate) mod permissions;
mod pushdown;
pub(crate) mod queries;
mod query_metrics;
pub(crate) mod ranges;
pub(crate) mod read_feed;
mod resource_feed;
mod resources;
pub(crate) mod scripts;
mod shared;
pub(crate) mod shared_feed;
pub(crate) mod users;
