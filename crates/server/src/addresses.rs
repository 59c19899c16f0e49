//! The addresses of the settings: which of them are refused, and what the operator is told of one
//! that cannot be bound.

use std::io;

use tokio::net::TcpListener;

use crate::{
    config::{Config, TlsMode},
    failure::{Failure, failed},
    listen::{self, Taken},
};

/// Refuses listeners that nobody can want: none at all, and a MongoDB API that lets other machines
/// in without the operator having said so. The NoSQL API and the admin address check their own, as
/// they depend on the keys. Called before anything is opened.
pub(crate) async fn check_addresses(config: &Config) -> Result<(), Failure> {
    if config.mongo_addr.is_none() && config.cosmos_addr.is_none() && config.admin_addr.is_none() {
        let text = "every address is off: give one of --mongo-addr, --cosmos-addr, --admin-addr";
        return Err(Failure::Usage(text.to_owned()));
    }
    if let Some(address) = &config.mongo_addr
        && config.mongo_auth
        && config.mongo_tls != TlsMode::Require
        && !listen::is_loopback(address).await
    {
        tracing::warn!(
            address,
            "other machines can reach --mongo-addr without TLS: documents can be read on the way; say \
             --mongo-tls require once all clients speak it"
        );
    }
    match &config.mongo_addr {
        Some(address)
            if !config.mongo_auth
                && !config.mongo_no_auth
                && !listen::is_loopback(address).await =>
        {
            Err(Failure::Usage(format!(
                "--mongo-addr {address} can be reached by other machines, and the MongoDB API asks \
                 nobody who they are: say --mongo-auth and have clients log in, listen on \
                 127.0.0.1, or say --mongo-no-auth if whoever reaches it may do everything"
            )))
        }
        _ => Ok(()),
    }
}

/// Takes the address of the setting `--<setting>`; a failure names the setting and what to do.
pub(crate) async fn take_setting(setting: &str, address: &str) -> Result<Taken, Failure> {
    listen::take_address(address).await.map_err(|error| unusable(setting, address, &error))
}

/// Listens on the address of a setting that was taken. Of two servers
/// that take the same one at the same time, the second one fails here.
pub(crate) fn listen_on(setting: &str, taken: Taken) -> Result<TcpListener, Failure> {
    let address = taken.address.to_string();
    taken.listen().map_err(|error| unusable(setting, &address, &error))
}

fn unusable(setting: &str, address: &str, error: &io::Error) -> Failure {
    let way_out = match error.kind() {
        io::ErrorKind::AddrInUse => ": another program listens there, give another port",
        io::ErrorKind::PermissionDenied => ": ports below 1024 are for root, give another",
        _ => "",
    };
    failed(format!("--{setting} {address}: {error}{way_out} (or 'off')"))
}
