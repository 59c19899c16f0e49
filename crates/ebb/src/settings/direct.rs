//! Settings of the NoSQL API's direct mode.

use clap::{ArgAction, Args};

use super::values::{Optional, optional, parse_bool, parse_reached_address};

/// The settings of direct mode, typed. A doc comment is the help of its flag.
#[derive(Clone, Debug, Args)]
pub(super) struct DirectValues {
    /// Accept clients of the NoSQL API in direct mode, which is the default of the SDKs for .NET and Java; it needs TLS
    #[arg(long, env = "EBB_COSMOS_DIRECT", value_name = "BOOL", default_value = "true", value_parser = parse_bool, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    pub(super) cosmos_direct: bool,
    /// Address that clients in direct mode connect to [the endpoint's]
    #[arg(long, env = "EBB_COSMOS_DIRECT_ADVERTISE", value_name = "HOST:PORT", default_value = "", value_parser = optional(parse_reached_address))]
    pub(super) cosmos_direct_advertise: Optional<String>,
}
