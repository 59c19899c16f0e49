//! Parses a server address, `scheme://host:port`. Only one host is supported. A path or options may
//! follow; each protocol interprets them.

use std::{fmt, path::PathBuf, str::FromStr};

/// User name and password of the benchmark's user.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Login {
    /// A user of the database `admin`.
    pub(crate) user: String,
    pub(crate) password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Address of a server, and how to connect to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Host name or IP address, IPv6 with brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Credentials for connections; `None` without authentication.
    pub(crate) login: Option<Login>,
    /// PEM file with the trusted certificate or authority; `None` disables TLS.
    pub(crate) tls: Option<PathBuf>,
}

const DEFAULT_PORT: u16 = 27017;

impl Address {
    /// Returns a loopback address without login and TLS.
    pub(crate) fn local(port: u16) -> Self {
        Self { host: "127.0.0.1".to_owned(), port, login: None, tls: None }
    }

    /// Parses the text after a scheme up to a path or options, and returns the address and the
    /// rest. Errors are messages for the command line.
    pub(crate) fn read_address<'a>(
        text: &'a str,
        scheme: &str,
        default_port: u16,
    ) -> Result<(Self, &'a str), String> {
        let rest = text
            .strip_prefix(scheme)
            .ok_or_else(|| format!("{text:?} does not begin with {scheme}"))?;
        let (authority, more) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (login, authority) = match authority.rsplit_once('@') {
            Some((login, authority)) => (Some(read_login(login)?), authority),
            None => (None, authority),
        };
        if authority.contains(',') {
            return Err("several hosts in the address are not supported".to_owned());
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| format!("{port:?} is not a port"))?)
            }
            _ => (authority, default_port),
        };
        if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("{text:?} names no host"));
        }
        let tls = read_authority_file(more)?;
        Ok((Self { host: host.to_owned(), port, login, tls }, more))
    }
}

fn read_login(text: &str) -> Result<Login, String> {
    match text.split_once(':') {
        Some((user, password)) if !user.is_empty() && !text.contains('%') => {
            Ok(Login { user: user.to_owned(), password: password.to_owned() })
        }
        _ => Err("a login is USER:PASSWORD, without percent signs".to_owned()),
    }
}

/// Parses `tlsCAFile` in the options of an address, which enables TLS.
fn read_authority_file(more: &str) -> Result<Option<PathBuf>, String> {
    let (_, options) = more.split_once('?').unwrap_or_default();
    let options: Vec<(&str, &str)> =
        options.split('&').filter_map(|option| option.split_once('=')).collect();
    let given = |name: &str| options.iter().find(|(given, _)| *given == name).map(|it| it.1);
    match (given("tlsCAFile"), given("tls")) {
        (Some(file), _) => Ok(Some(PathBuf::from(file))),
        (None, None | Some("false")) => Ok(None),
        (None, Some(_)) => Err("tls needs tlsCAFile, the server's certificate".to_owned()),
    }
}

impl FromStr for Address {
    type Err = String;

    /// Parses a `mongodb://` address; path and options are ignored.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::read_address(text, "mongodb://", DEFAULT_PORT).map(|(address, _)| address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Checks that each text parses to the expected output, or fails with an error that contains
    /// the expected text.
    pub(crate) fn check<T>(cases: &[(&str, Result<&str, &str>)])
    where
        T: FromStr<Err = String> + fmt::Display,
    {
        for (text, want) in cases {
            match (text.parse::<T>().map(|got| got.to_string()), want) {
                (Ok(got), Ok(want)) => assert_eq!(got, *want, "{text}"),
                (Err(got), Err(want)) => assert!(got.contains(want), "{text}: {got}"),
                (got, want) => panic!("{text}: {got:?} instead of {want:?}"),
            }
        }
    }

    #[test]
    fn reads_addresses() {
        check::<Address>(&[
            ("mongodb://127.0.0.1:27018", Ok("127.0.0.1:27018")),
            ("mongodb://localhost", Ok("localhost:27017")),
            ("mongodb://localhost:1/db?x=1", Ok("localhost:1")),
            ("mongodb://[::1]:9", Ok("[::1]:9")),
            ("mongodb://[::1]", Ok("[::1]:27017")),
            ("127.0.0.1:1", Err("begin with")),
            ("mongodb://a:b@c:1", Ok("c:1")),
            ("mongodb://a@c:1", Err("USER:PASSWORD")),
            ("mongodb://c:1/?tls=true&tlsCAFile=/x.pem", Ok("c:1")),
            ("mongodb://c:1/?tls=true", Err("tlsCAFile")),
            ("mongodb://a:1,b:2", Err("several hosts")),
            ("mongodb://a:70000", Err("not a port")),
            ("mongodb:///db", Err("no host")),
        ]);
    }
}
