//! The addresses of the settings: which of them are refused, and what the operator is told of one
//! that cannot be bound.

use std::io;

use tokio::net::TcpListener;

use crate::{
    config::{Config, TlsMode},
    failure::{Failure, failed},
    listen::{self, Taken},
};

/// Refuses listeners that nobody can want: none at all, and a MongoDB API without logins, unless the
/// operator has said so, where other machines reach it or where keys guard the other addresses. The NoSQL
/// API and the admin address check their own, as they depend on the keys. Called before anything is opened.
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
        // Keys would keep nobody out: the same data are reached here without one.
        Some(address)
            if !config.mongo_auth && !config.mongo_no_auth && config.key_file.is_some() =>
        {
            Err(Failure::Usage(format!(
                "--key-file does not protect --mongo-addr {address}: anyone who reaches it can read and \
                 write. Add --mongo-auth to require logins, --mongo-addr off to close it, or \
                 --mongo-no-auth to leave it open"
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
    failed(match error.kind() {
        io::ErrorKind::AddrInUse => {
            let other = next_to(address);
            format!(
                "--{setting} {address} is in use: stop what listens there, or give --{setting} \
                 {other} (port 0 takes a free one)"
            )
        }
        io::ErrorKind::PermissionDenied => format!(
            "--{setting} {address} is not permitted: ports below 1024 are for root, give another one"
        ),
        io::ErrorKind::AddrNotAvailable => format!(
            "--{setting} {address} is not an address of this machine: give one that it has, or \
             0.0.0.0 for all of them"
        ),
        _ => format!("--{setting} {address}: {error}"),
    })
}

/// Returns an address that may be free: that of the next port.
fn next_to(address: &str) -> String {
    let Some((host, port)) = address.rsplit_once(':') else { return address.to_owned() };
    let next = port.parse::<u16>().ok().and_then(|port| port.checked_add(1)).unwrap_or(0);
    format!("{host}:{next}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_taken_has_a_way_out() {
        let said = |address: &str, kind: io::ErrorKind| {
            unusable("mongo-addr", address, &io::Error::from(kind)).to_string()
        };
        assert_eq!(
            said("127.0.0.1:27017", io::ErrorKind::AddrInUse),
            "--mongo-addr 127.0.0.1:27017 is in use: stop what listens there, or give --mongo-addr \
             127.0.0.1:27018 (port 0 takes a free one)"
        );
        for (address, other) in [("[::1]:1", " [::1]:2 "), ("a:65535", " a:0 ")] {
            let said = said(address, io::ErrorKind::AddrInUse);
            assert!(said.contains(other), "{said}");
        }
        let low = said("127.0.0.1:80", io::ErrorKind::PermissionDenied);
        assert!(low.contains("ports below 1024 are for root"), "{low}");
        let foreign = said("192.0.2.1:1", io::ErrorKind::AddrNotAvailable);
        assert!(foreign.contains("not an address of this machine"), "{foreign}");
    }

    #[tokio::test]
    async fn a_server_names_the_flag_of_the_address_that_is_taken() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap().to_string();
        let config = Config { mongo_addr: Some(address.clone()), ..Config::for_tests() };
        let refused = crate::serve::start(&config).await.map(drop).unwrap_err();
        assert!(matches!(refused, Failure::Failed(_)), "{refused:?}");
        let wanted = format!("--mongo-addr {address} is in use: stop what listens there");
        assert!(refused.to_string().starts_with(&wanted), "{refused}");
    }

    #[tokio::test]
    async fn keys_beside_a_mongodb_api_without_logins_are_refused() {
        let given = || Config { key_file: Some("/none".into()), ..Config::for_tests() };
        let refused = check_addresses(&given()).await.unwrap_err();
        assert!(matches!(refused, Failure::Usage(_)), "{refused:?}");
        for flag in ["--key-file", "--mongo-auth", "--mongo-addr off", "--mongo-no-auth"] {
            assert!(refused.to_string().contains(flag), "{refused}");
        }
        for config in [
            Config { mongo_auth: true, ..given() },
            Config { mongo_no_auth: true, ..given() },
            Config { mongo_addr: None, ..given() },
            Config { key_file: None, ..given() },
        ] {
            check_addresses(&config).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_server_with_nothing_to_listen_on_is_refused() {
        let off =
            Config { mongo_addr: None, cosmos_addr: None, admin_addr: None, ..Config::for_tests() };
        let refused = crate::serve::start(&off).await.map(drop).unwrap_err();
        assert!(matches!(refused, Failure::Usage(_)), "{refused:?}");
        assert!(refused.to_string().starts_with("every address is off: give one of"), "{refused}");
    }
}
