//! What a person at a terminal sees at the start: where to connect and a line to paste. Programs read
//! the ready file instead; this text may change.

use crate::{
    admin::own_key,
    config::{ClockMode, Config},
    ready::{Ready, is_reached},
};

/// Prints where the portal is, or why it is not there. It decides as `admin/pages.rs` does: with the
/// public key it is for this machine only.
#[expect(clippy::print_stdout, reason = "the banner is for the person at the terminal")]
fn print_portal(config: &Config, admin: &str) {
    let everybody_has_the_key = config.key_file.is_none() && !config.mongo_auth;
    if is_reached(admin) && everybody_has_the_key {
        println!("  Portal        off: others can reach http://{admin}/, so give a --key-file");
    } else if ::portal::BUILT {
        println!("  Portal        http://{admin}/");
    } else {
        println!("  Portal        not in this build; http://{admin}/ says how to get it");
    }
}

/// Prints the banner to standard output; its last line is `ready`. The key is printed only if it is
/// the public one: what is on a terminal may end in a log. Addresses are the bound ones, so that each
/// line can be pasted as it is.
#[expect(clippy::print_stdout, reason = "the banner is for the person at the terminal")]
pub(crate) fn print_banner(config: &Config, ready: &Ready, is_paused: bool) {
    let key = match &config.key_file {
        None => cosmos::WELL_KNOWN_KEY,
        Some(_) => "(the first of --key-file)",
    };
    let data = config
        .data_dir
        .as_ref()
        .map_or_else(|| "in memory: nothing is kept".to_owned(), |path| path.display().to_string());
    println!("EbbDB {}", ready.version);
    if let Some(mongo) = &ready.mongo {
        println!("  MongoDB       mongodb://{mongo}/?directConnection=true");
        if config.mongo_auth {
            println!("                clients have to log in");
        } else {
            println!("                open: whoever reaches this address may do everything");
        }
    }
    if let Some(cosmos) = &ready.cosmos {
        println!("  NoSQL         AccountEndpoint=http://{cosmos}/;AccountKey={key}");
        println!(
            "                https://{cosmos}/ with the certificate at /_explorer/emulator.pem"
        );
    }
    if let Some(admin) = &ready.admin {
        print_portal(config, admin);
        if let Some(path) = own_key::path(config) {
            println!("                asks for the key in {}", path.display());
        }
        println!("  Admin         http://{admin}/status");
    }
    println!("  Data          {data}");
    if config.clock == ClockMode::Manual {
        println!("  Clock         manual: it stands still until it is told to move");
    }
    if is_paused {
        println!("  Reaping       paused: ebb admin ttl resume ends that");
    }
    if let Some(mongo) = &ready.mongo {
        println!();
        println!("  mongosh       mongosh mongodb://{mongo}/test");
        println!("  Python        pymongo.MongoClient('mongodb://{mongo}/')");
        println!("  Node          new MongoClient('mongodb://{mongo}/')");
    }
    if let (Some(cosmos), None) = (&ready.cosmos, &config.key_file) {
        println!("  NoSQL Python  azure.cosmos.CosmosClient('http://{cosmos}/', '{key}')");
        println!(
            "  NoSQL Node    new CosmosClient({{endpoint: 'http://{cosmos}/', key: '{key}'}})"
        );
    }
    println!();
    println!("ready");
}
