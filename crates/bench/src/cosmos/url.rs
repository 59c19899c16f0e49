//! An `http://host:port` or `https://host:port?tlsCAFile=PATH` address without a path.

use std::{fmt, str::FromStr};

use crate::address::Address;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url(Address);

const DEFAULT_PORT: u16 = 80;
/// Default port of HTTP over TLS.
const DEFAULT_TLS_PORT: u16 = 443;

impl Url {
    /// Returns the address and connection parameters.
    pub(crate) fn address(&self) -> &Address {
        &self.0
    }

    /// Returns host and port, as used by sockets and the header `host`.
    pub(crate) fn host_and_port(&self) -> String {
        self.0.to_string()
    }
}

impl FromStr for Url {
    type Err = String;

    /// Parses an address. The error message contains the correct form.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('@') {
            return Err("credentials in the address are not supported: use --key".to_owned());
        }
        let (scheme, port) = match text.starts_with("https://") {
            true => ("https://", DEFAULT_TLS_PORT),
            false => ("http://", DEFAULT_PORT),
        };
        let (address, more) = Address::read_address(text, scheme, port)?;
        if address.tls.is_some() != (scheme == "https://") {
            return Err("https needs ?tlsCAFile=PATH, the server's certificate".to_owned());
        }
        match (address, more.split('?').next().unwrap_or_default()) {
            (address, "" | "/") => Ok(Self(address)),
            _ => Err(format!("{text:?} has a path: name the server alone")),
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http{}://{}", if self.0.tls.is_some() { "s" } else { "" }, self.0)
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
