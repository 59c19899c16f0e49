//! Settings that limit operations and clients, and the threshold of the slow log.

use std::time::Duration;

use clap::Args;

use super::values::{
    Optional, optional, parse_body, parse_count, parse_message, parse_ms, parse_slow,
};

/// Limits, typed. A doc comment is the help of its flag.
#[derive(Clone, Debug, Args)]
pub(super) struct LimitValues {
    /// Log operations that take at least this many milliseconds at info; 0: all, off: none
    #[arg(long, env = "EBB_SLOW_MS", value_name = "MS|off", default_value = "100", value_parser = parse_slow)]
    slow_ms: Optional<u64>,
    /// Time limit in milliseconds of reads that set none; NoSQL requests time out after a minute in any case [no limit]
    #[arg(long, env = "EBB_MAX_TIME_MS", value_name = "MS", default_value = "", value_parser = optional(parse_ms))]
    max_time_ms: Optional<Duration>,
    /// Maximum number of connections of both APIs together; further ones are closed [as descriptors allow]
    #[arg(long, env = "EBB_MAX_CONNECTIONS", value_name = "COUNT", default_value = "", value_parser = optional(parse_count))]
    max_connections: Optional<usize>,
    /// Maximum number of open cursors of the MongoDB API [100000]
    #[arg(long, env = "EBB_MAX_CURSORS", value_name = "COUNT", default_value = "", value_parser = optional(parse_count))]
    max_cursors: Optional<usize>,
    /// Maximum message size of the MongoDB API, from 64k; announced to drivers with the matching document size [48000000]
    #[arg(long, env = "EBB_MAX_MESSAGE", value_name = "BYTES", default_value = "", value_parser = optional(parse_message))]
    max_message: Optional<usize>,
    /// Maximum request body of the NoSQL API, from 64k; larger ones get 413 [2176k]
    #[arg(long, env = "EBB_MAX_BODY", value_name = "BYTES", default_value = "", value_parser = optional(parse_body))]
    max_body: Optional<usize>,
}

impl LimitValues {
    /// Returns the limits for a server.
    pub(super) fn limits(&self) -> server::Limits {
        server::Limits {
            slow_ms: self.slow_ms.0,
            max_time: self.max_time_ms.0,
            max_connections: self.max_connections.0,
            max_cursors: self.max_cursors.0,
            max_message_bytes: self.max_message.0,
            max_body_bytes: self.max_body.0,
        }
    }
}
