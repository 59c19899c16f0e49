//! Tests of the API from outside, in one program, so that it is linked once.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod arguments;
mod bulk_write;
mod client;
mod columns;
mod compat;
mod databases;
mod dumps;
mod examined;
mod explain;
mod exporters;
mod fail_points;
mod fates;
mod forwarded;
mod grouped_statements;
mod hints;
mod index_stats;
mod indexes;
mod list_sessions;
mod memory;
mod messages;
mod numbered_histories;
mod numbered_on_disk;
mod numbered_writes;
mod operations;
mod options;
mod parameters;
mod refused_commands_change_nothing;
mod relay;
mod removed_together;
mod routers;
mod sessions;
mod stable_api;
mod stored_documents;
mod versions;
mod x509;
