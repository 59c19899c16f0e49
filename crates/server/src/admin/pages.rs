//! The portal as this server has it: whom it lets in by where it listens, and what it calls itself.

use std::{net::SocketAddr, sync::Arc};

use portal::{Addresses, Login, Portal};
use tokio::sync::watch;

use super::{Doors, doors::Relayed};
use crate::{Config, Failure, nosql, ready::Ready};

/// The portal of a server.
pub(crate) type Pages = Portal<Relayed>;

/// The portal at this address, until `stop`; `ready` knows where the doors listen.
pub(crate) fn portal(
    config: &Config,
    bound: SocketAddr,
    ready: &Ready,
    doors: Doors,
    stop: watch::Receiver<bool>,
) -> Result<Arc<Pages>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Failed(format!("the portal: {error}"));
    let keys = nosql::keys(config.key_file.as_deref())?;
    let only_here = bound.ip().to_canonical().is_loopback();
    let listens = config.admin_addr.as_deref().and_then(|address| address.rsplit_once(':'));
    let mut hosts = config.admin_hosts.clone();
    hosts.push(nosql::node_name());
    hosts.extend(listens.map(|(host, _)| host.to_owned()));
    let login = Login::of(only_here, &keys, ready.cosmos.is_some());
    if login == Login::Refused {
        tracing::warn!(
            "others can reach --admin-addr, and everybody knows the key: it serves health and \
             metrics only; give a --key-file"
        );
    }
    let settings = portal::Settings {
        login,
        keys,
        hosts,
        addresses: Addresses { mongo: ready.mongo.clone(), cosmos: ready.cosmos.clone() },
        secret: nosql::random().map_err(|error| failed(&error))?,
    };
    Portal::new(settings, Relayed { doors, stop }).map_err(|error| failed(&error))
}
