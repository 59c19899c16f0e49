//! EbbDB through the Rust SDK. The tests share the server's manual clock, so they run one at a time.

mod account;
mod change_feed;
mod defaults;
mod items;
mod kit;
mod partition_keys;
mod queries;
mod real_clock;
mod ttl;
