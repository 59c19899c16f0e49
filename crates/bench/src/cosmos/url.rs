//! An `http://host:port` address. No TLS, no path: what a benchmark needs and no more.

use std::{fmt, str::FromStr};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    authority: String,
}

const DEFAULT_PORT: u16 = 80;

impl Url {
    /// Host and port, as a socket and the header `host` take them.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }
}

impl FromStr for Url {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("https://") {
            return Err("https is not supported: measure the server over plain http".to_owned());
        }
        let rest = text
            .strip_prefix("http://")
            .ok_or_else(|| format!("{text:?} does not begin with http://"))?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '?', '#']) {
            return Err(format!("{text:?} has a path: name the server alone"));
        }
        if authority.contains('@') {
            return Err("credentials in the address are not supported: use --key".to_owned());
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| format!("{port:?} is not a port"))?)
            }
            _ => (authority, DEFAULT_PORT),
        };
        let plain = |byte: u8| byte.is_ascii_graphic();
        if host.is_empty() || !host.bytes().all(plain) {
            return Err(format!("{text:?} names no host"));
        }
        Ok(Self { authority: format!("{host}:{port}") })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_addresses() {
        for (text, want) in [
            ("http://127.0.0.1:8081", Ok("http://127.0.0.1:8081")),
            ("http://localhost:8081/", Ok("http://localhost:8081")),
            ("http://localhost", Ok("http://localhost:80")),
            ("http://[::1]:9", Ok("http://[::1]:9")),
            ("http://[::1]", Ok("http://[::1]:80")),
            ("https://localhost:8081", Err("https is not supported")),
            ("127.0.0.1:1", Err("does not begin with http://")),
            ("mongodb://127.0.0.1:1", Err("does not begin with http://")),
            ("http://a:b@c:1", Err("credentials")),
            ("http://a:70000", Err("not a port")),
            ("http://a:1/dbs", Err("has a path")),
            ("http://", Err("no host")),
            ("http://a b:1", Err("no host")),
            ("http://a\r\nx: y:1", Err("no host")),
        ] {
            match (text.parse::<Url>(), want) {
                (Ok(got), Ok(want)) => assert_eq!(got.to_string(), want, "{text}"),
                (Err(got), Err(want)) => assert!(got.contains(want), "{text}: {got}"),
                (got, want) => panic!("{text}: {got:?} instead of {want:?}"),
            }
        }
    }
}
