//! The portal's settings: who may log in given the listen address, accepted host names, and storage
//! of ended sessions. Logins and sessions themselves are in the crate `portal`.

use std::{io, net::SocketAddr, path::Path, sync::Arc};

use auth::CurrentKeys;
use portal::{Addresses, Login, Portal, SessionStore};
use server_base::{
    checksummed,
    config::{Config, TlsMode},
    data_dir::Refused,
    failure::Failure,
    machine, random,
    ready::Ready,
};
use tokio::sync::watch;

use crate::{
    own_key,
    relayed::{Apis, RelayOnce, Relayed},
};

/// The portal of a server, which calls the APIs through [`Relayed`].
pub type Pages = Portal<Relayed>;

/// File of prematurely ended sessions in the data directory: cookies are signed, not stored, so
/// ended ones have to be remembered.
const ENDED: &str = "sessions";

/// Returns the stored ended sessions and a function that stores new ones; without a data directory
/// nothing is stored. A damaged file is an error: ended sessions would become valid again.
fn open_ended_sessions(data_dir: Option<&Path>) -> io::Result<SessionStore> {
    let Some(folder) = data_dir.map(Path::to_owned) else { return Ok(SessionStore::nowhere()) };
    let text = match checksummed::read_text(&folder.join(ENDED)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let keep = Box::new(move |text: &str| checksummed::write_text(&folder, ENDED, text.as_bytes()));
    Ok(SessionStore { text, keep })
}

/// Creates the portal for the bound address, serving until `stop`. `ready` has the APIs' addresses.
/// Also returns the login rule, which follows from the address and the keys, see `portal::Login`.
pub fn build_portal(
    config: &Config,
    account: &CurrentKeys,
    bound: SocketAddr,
    ready: &Ready,
    (apis, shard_relay): (watch::Receiver<Apis>, RelayOnce),
    stop: watch::Receiver<bool>,
) -> Result<(Arc<Pages>, Login), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Failed(format!("the portal: {error}"));
    let keys = own_key::portal_keys(config, account)?;
    // An IPv4 loopback address may be mapped to IPv6.
    let only_here = bound.ip().to_canonical().is_loopback();
    let listens = config.admin_addr.as_deref().and_then(|address| address.rsplit_once(':'));
    let mut hosts = config.admin_hosts.clone();
    // Accepted host names besides the configured ones; any other name may be DNS rebinding by a
    // foreign page.
    hosts.push(machine::node_name());
    hosts.extend(listens.map(|(host, _)| host.to_owned()));
    let login = Login::of(only_here, &keys.load(), ready.cosmos.is_some() || config.mongo_auth);
    if login == Login::Refused {
        tracing::warn!(
            "other machines can reach --admin-addr, and the key is the public one: it serves \
             health and metrics only; give a --key-file"
        );
    }
    let settings = portal::Settings {
        login,
        keys,
        account: account.clone(),
        hosts,
        addresses: Addresses {
            mongo: ready.mongo.clone(),
            cosmos: ready.cosmos.clone(),
            mongo_needs_tls: config.mongo_tls == TlsMode::Require,
            cosmos_needs_tls: config.cosmos_tls == TlsMode::Require,
            mongo_needs_login: config.mongo_auth,
        },
        // New at each start: nothing it signs has to outlive the process.
        secret: random::random_secret().map_err(|error| failed(&error))?,
        ended: open_ended_sessions(config.data_dir.as_deref()).map_err(|error| {
            match error.kind() {
                io::ErrorKind::InvalidData => Failure::Refused(Refused::Unusable(format!(
                    "{error}; remove it, and replace the account's keys to end all sessions"
                ))),
                _ => failed(&error),
            }
        })?,
    };
    let portal = Portal::new(settings, Relayed { apis, shard_relay, stop });
    Ok((portal.map_err(|error| failed(&error))?, login))
}
