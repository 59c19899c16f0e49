//! Checks the configured addresses, and explains to the operator why one cannot be bound.

use std::{io, net::ToSocketAddrs};

use tokio::net::{TcpListener, TcpSocket};

use crate::{
    config::{Config, TlsMode},
    failure::{Failure, failed},
    listen::{self, BoundSocket},
};

/// Refuses configurations without any listener, and, unless the operator has allowed it, a MongoDB
/// API without logins that other machines can reach or that would bypass the key file. The NoSQL
/// API and the admin address have checks of their own, which depend on the keys. Runs before
/// anything is opened.
pub async fn check_addresses(config: &Config) -> Result<(), Failure> {
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
            "other machines can reach --mongo-addr without TLS: documents are sent in clear text; \
             set --mongo-tls require once all clients use TLS"
        );
    }
    match &config.mongo_addr {
        Some(address)
            if !config.mongo_auth
                && !config.mongo_no_auth
                && !listen::is_loopback(address).await =>
        {
            Err(Failure::Usage(format!(
                "--mongo-addr {address} can be reached by other machines, and the MongoDB API \
                 requires no authentication: set --mongo-auth to require logins, listen on \
                 127.0.0.1, or set --mongo-no-auth to allow unauthenticated full access"
            )))
        }
        // The keys would protect nothing: the MongoDB API gives access to the same data without a
        // key.
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

/// Binds the address of the setting `--<setting>`; the error names the setting and a remedy.
pub async fn bind_setting(
    setting: &str,
    address: &str,
    config: &Config,
) -> Result<BoundSocket, Failure> {
    let taken = listen::bind_address(address).await;
    taken.map_err(|error| unusable(setting, address, &error, &ports_of(config)))
}

/// Listens on a bound address. If two servers bind the same address concurrently, the second one
/// fails here.
pub fn listen_on(setting: &str, taken: BoundSocket) -> Result<TcpListener, Failure> {
    let address = taken.address.to_string();
    // All configured addresses are bound by now, so no alternative port is proposed.
    taken.listen().map_err(|error| unusable(setting, &address, &error, &[]))
}

fn ports_of(config: &Config) -> Vec<u16> {
    let peer = config.cluster.as_ref().map(|cluster| &cluster.peer_addr);
    [&config.mongo_addr, &config.cosmos_addr, &config.admin_addr]
        .into_iter()
        .filter_map(Option::as_ref)
        .chain(peer)
        .filter_map(|address| address.rsplit_once(':')?.1.parse().ok())
        .collect()
}

/// Builds the error for an address that cannot be bound; it proposes a port not in `claimed`.
fn unusable(setting: &str, address: &str, error: &io::Error, claimed: &[u16]) -> Failure {
    failed(match error.kind() {
        io::ErrorKind::AddrInUse => {
            let other = free_after(address, claimed);
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

/// Returns the address with the next free port that is not in `claimed`, or with port 0 if none of
/// the next 100 qualifies.
fn free_after(address: &str, claimed: &[u16]) -> String {
    let Some((host, port)) = address.rsplit_once(':') else { return address.to_owned() };
    let port = port.parse::<u16>().unwrap_or(u16::MAX);
    let mut others = (port..=u16::MAX).skip(1).take(100).filter(|port| !claimed.contains(port));
    let free = others.find(|port| is_free(&format!("{host}:{port}")));
    format!("{host}:{}", free.unwrap_or(0))
}

/// Returns whether an address can be bound.
fn is_free(address: &str) -> bool {
    let Ok(mut found) = address.to_socket_addrs() else { return true };
    found.all(|address| {
        // Without `SO_REUSEADDR`, so that a port bound but not yet listened on is noticed too.
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
        let taken = socket.and_then(|socket| socket.bind(address));
        !matches!(taken, Err(error) if error.kind() == io::ErrorKind::AddrInUse)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_taken_has_a_way_out() {
        let said = |address: &str, kind: io::ErrorKind| {
            unusable("mongo-addr", address, &io::Error::from(kind), &[]).to_string()
        };
        assert_eq!(
            said("127.0.0.1:65535", io::ErrorKind::AddrInUse),
            "--mongo-addr 127.0.0.1:65535 is in use: stop what listens there, or give --mongo-addr \
             127.0.0.1:0 (port 0 takes a free one)"
        );
        for (address, other) in [("[::1]:x", " [::1]:0 "), ("a:65535", " a:0 ")] {
            let said = said(address, io::ErrorKind::AddrInUse);
            assert!(said.contains(other), "{said}");
        }
        let low = said("127.0.0.1:80", io::ErrorKind::PermissionDenied);
        assert!(low.contains("ports below 1024 are for root"), "{low}");
        let foreign = said("192.0.2.1:1", io::ErrorKind::AddrNotAvailable);
        assert!(foreign.contains("not an address of this machine"), "{foreign}");
    }

    #[test]
    fn a_port_that_is_proposed_is_free_and_no_other_settings() {
        // Two consecutive ports, of which the second is bound but not listened on.
        let (first, _second) = loop {
            let first = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = first.local_addr().unwrap().port();
            let second = TcpSocket::new_v4().unwrap();
            second.set_reuseaddr(true).unwrap();
            let Some(next) = port.checked_add(1).filter(|next| *next < u16::MAX - 200) else {
                continue;
            };
            if second.bind(([127, 0, 0, 1], next).into()).is_ok() {
                break (port, second);
            }
        };
        let config =
            Config { cosmos_addr: Some(format!("127.0.0.1:{}", first + 2)), ..Config::for_tests() };
        let other = free_after(&format!("127.0.0.1:{first}"), &ports_of(&config));
        let port: u16 = other.strip_prefix("127.0.0.1:").unwrap().parse().unwrap();
        assert!(port > first + 2, "{first}: {other}");
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
}
