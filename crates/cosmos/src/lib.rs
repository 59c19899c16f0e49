//! The NoSQL API: the protocols of Azure Cosmos DB, REST and the frames of direct mode, over the
//! engine. No other crate knows these protocols.
//!
//! A request takes three steps. First, `http` or `direct` reads its head, and `request` determines
//! its operation (`operation`). Second, `exchange` has `authorize` identify the sender and check its
//! rights. Third, the body is read and `dispatch` runs the operation's route (`routes`). `http` or
//! `direct` encodes the answer.
//!
//! The remaining modules implement the concepts of the protocol: links, headers, resource ids,
//! etags, session and continuation tokens, partition keys and their hashes, container definitions,
//! batches, patches. They do no I/O and do not depend on the modules above.
//!
//! `docs/compat/cosmos-nosql.md` documents the supported behaviour; it is generated from the tables
//! in this crate ([`compat()`]).

mod account;
mod api;
mod authorize;
mod batch;
mod binary;
mod catalog;
mod compat;
mod container;
mod continuation;
mod direct;
mod dispatch;
mod epk;
mod etag;
mod exchange;
mod failure;
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod homes;
mod http;
mod interrupt;
mod item;
mod limits;
mod link;
mod names;
mod operation;
mod other_shards;
mod pages;
mod pages_ahead;
mod partition_key;
mod patch;
mod permission;
mod reply;
mod representation;
mod request;
mod resource_path;
mod rid;
mod roles;
mod routes;
mod sender;
mod session;
mod slow;
mod tls;
mod transport;

pub use api::{DirectMode, NoSqlApi, Settings, Shard};
pub use auth::{Hosts, Keys, Right, WELL_KNOWN_KEY};
pub use compat::compat;
pub use homes::Home;
pub use http::{
    Duplex, ForwardConnection, Forwarded, LocalEndpoint, OwnerLookup, RoutingEndpoint, ShardOwner,
    ShardRouter, Stream, serve, serve_forwarded,
};
pub use limits::BODY_BYTES;
pub use other_shards::{FeedsOfShards, OtherShards, OtherShardsTransport, SharedFeed};
pub use pages::{PageAnswer, Pages};
pub use roles::{CurrentTokenRules, Roles, TokenRules};
pub use tls::{Certificate, CurrentCertificate, NoCertificate};
