//! An `http://host:port` or `https://host:port?tlsCAFile=PATH` address without a path. With the
//! scheme `rntbd` instead of `https`, requests about items are sent in direct mode.

use std::{fmt, str::FromStr};

use crate::address::Address;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    address: Address,
    is_direct: bool,
}

const DEFAULT_PORT: u16 = 80;
/// Default port of HTTP over TLS.
const DEFAULT_TLS_PORT: u16 = 443;

impl Url {
    /// Returns the address and connection parameters.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Returns whether requests about items are sent in direct mode.
    pub(crate) fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Returns host and port, as used by sockets and the header `host`.
    pub(crate) fn host_and_port(&self) -> String {
        self.address.to_string()
    }
}

impl FromStr for Url {
    type Err = String;

    /// Parses an address. The error message contains the correct form.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('@') {
            return Err("credentials in the address are not supported: use --key".to_owned());
        }
        let schemes = [("https://", DEFAULT_TLS_PORT), ("rntbd://", DEFAULT_TLS_PORT)];
        let found = schemes.into_iter().find(|(scheme, _)| text.starts_with(scheme));
        let (scheme, port) = found.unwrap_or(("http://", DEFAULT_PORT));
        let (address, more) = Address::read_address(text, scheme, port)?;
        if address.tls.is_some() != found.is_some() {
            let why = "https and rntbd need ?tlsCAFile=PATH, the server's certificate";
            return Err(why.to_owned());
        }
        let is_direct = scheme == "rntbd://";
        match (address, more.split('?').next().unwrap_or_default()) {
            (address, "" | "/") => Ok(Self { address, is_direct }),
            _ => Err(format!("{text:?} has a path: name the server alone")),
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match (self.is_direct, &self.address.tls) {
            (true, _) => "rntbd",
            (false, Some(_)) => "https",
            (false, None) => "http",
        };
        write!(f, "{scheme}://{}", self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::tests::check;

    #[test]
    fn reads_addresses() {
        check::<Url>(&[
            ("http://127.0.0.1:8081", Ok("http://127.0.0.1:8081")),
            ("http://localhost:8081/", Ok("http://localhost:8081")),
            ("http://localhost", Ok("http://localhost:80")),
            ("http://[::1]:9", Ok("http://[::1]:9")),
            ("http://[::1]", Ok("http://[::1]:80")),
            ("https://localhost:8081", Err("tlsCAFile")),
            ("https://localhost:8081/?tlsCAFile=x", Ok("https://localhost:8081")),
            ("rntbd://localhost:8081", Err("tlsCAFile")),
            ("rntbd://localhost:8081?tlsCAFile=x", Ok("rntbd://localhost:8081")),
            ("127.0.0.1:1", Err("does not begin with http://")),
            ("mongodb://127.0.0.1:1", Err("does not begin with http://")),
            ("http://a:b@c:1", Err("use --key")),
            ("http://a:70000", Err("not a port")),
            ("http://a:1/dbs", Err("has a path")),
            ("http://", Err("no host")),
            ("http://a b:1", Err("no host")),
            ("http://a\r\nx: y:1", Err("no host")),
        ]);
    }
}
