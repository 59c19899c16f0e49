//! Settings of the topology that drivers of the MongoDB API see.

use clap::Args;
use server::MongoTopology;

use super::values::{Optional, optional, parse_reached_address, parse_set_name, parse_topology};

/// The settings of the topology, typed. A doc comment is the help of its flag.
#[derive(Clone, Debug, Args)]
pub(super) struct TopologyValues {
    /// How the MongoDB API presents itself to drivers: only a router gets numbered writes and transactions
    #[arg(long, env = "EBB_MONGO_TOPOLOGY", value_name = "router|standalone", default_value = "router", value_parser = parse_topology)]
    mongo_topology: MongoTopology,
    /// Make the server the only member of a replica set of this name; drivers connect to the address of --advertise [none]
    #[arg(long, env = "EBB_REPL_SET", value_name = "NAME", default_value = "", value_parser = optional(parse_set_name))]
    pub(super) repl_set: Optional<String>,
    /// Address under which all clients reach the member of --repl-set [the one of replSetInitiate, or of --mongo-addr]
    #[arg(long, env = "EBB_ADVERTISE", value_name = "HOST:PORT", default_value = "", value_parser = optional(parse_reached_address))]
    pub(super) advertise: Optional<String>,
}

impl TopologyValues {
    /// Returns the topology; `--repl-set` decides over `--mongo-topology`.
    pub(super) fn into_topology(self) -> MongoTopology {
        match self.repl_set.0 {
            Some(name) => MongoTopology::ReplicaSet { name, advertise: self.advertise.0 },
            None => self.mongo_topology,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advertised_address_names_one_host_that_clients_reach() {
        for (text, good) in [
            ("db.example:27017", true),
            ("[::1]:5", true),
            ("db.example", false),
            ("db.example:0", false),
            (":27017", false),
            ("0.0.0.0:27017", false),
            ("[::]:27017", false),
            ("a:1,b:2", false),
            ("mongodb://a:1", false),
        ] {
            assert_eq!(parse_reached_address(text).is_ok(), good, "{text}");
        }
        for (text, good) in [("rs0", true), ("my-set_1.a", true), ("a/b", false), ("a b", false)] {
            assert_eq!(parse_set_name(text).is_ok(), good, "{text}");
        }
    }
}
