//! Parsing of server addresses and credentials, and the timeout of a connection attempt.

use std::{path::PathBuf, time::Duration};

use auth::{Key, Secret, scram::prepare_password};
use percent_encoding::percent_decode_str;

/// Timeout of a connection attempt.
pub(crate) const CONNECTS: Duration = Duration::from_secs(10);
/// Default port of the MongoDB API.
const DEFAULT_PORT: u16 = 27017;
/// Prefix of a NoSQL API address that uses TLS.
pub(crate) const HTTPS: &str = "https://";
const ADMIN: &str = "admin";
/// Options of a MongoDB address that are accepted for compatibility with drivers and ignored.
const WITHOUT_EFFECT: [&str; 8] = [
    "appname",
    "directconnection",
    "journal",
    "readpreference",
    "replicaset",
    "retryreads",
    "retrywrites",
    "w",
];

/// User name and password of a user.
#[derive(Clone, Debug)]
pub struct Login {
    pub(crate) user: String,
    /// The password; `None` if the address has none.
    password: Option<Secret>,
    pub(crate) database: String,
}

impl Login {
    /// Returns the password as prepared for hashing (SASLprep).
    pub(crate) fn password(&self) -> Result<Secret, String> {
        let given = self.password.as_ref().and_then(Secret::text).unwrap_or_default();
        prepare_password(given).map_err(|refused| refused.to_string())
    }
}

/// A server of the MongoDB API, from a `mongodb://` address.
#[derive(Clone, Debug)]
pub struct MongoAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) login: Option<Login>,
    pub(crate) tls: bool,
    /// File with the trusted certificate authority; `None` trusts those of the system.
    pub(crate) authority: Option<PathBuf>,
}

impl MongoAddress {
    /// Parses `mongodb://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?OPTIONS]`. Errors never contain
    /// the password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rest = text
            .strip_prefix("mongodb://")
            .ok_or("--uri must start with mongodb:// (mongodb+srv is not supported)")?;
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => (Some(login), host),
            None => (None, authority),
        };
        if host.contains(',') {
            return Err("--uri names several hosts: name only one".to_owned());
        }
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| format!("--uri: {port:?} is not a port"))?)
            }
            _ => (host, DEFAULT_PORT),
        };
        if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("--uri names no host".to_owned());
        }
        let login = login.map(read_login).transpose()?;
        let mut address = Self { host: host.to_owned(), port, login, tls: false, authority: None };
        if let (Some(login), false) = (&mut address.login, database.is_empty()) {
            login.database = decoded(database)?;
        }
        options.split('&').filter(|it| !it.is_empty()).try_for_each(|it| address.apply(it))?;
        Ok(address)
    }

    fn apply(&mut self, option: &str) -> Result<(), String> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = decoded(value)?;
        match (name.to_ascii_lowercase().as_str(), value.as_str()) {
            ("tls" | "ssl", "true") => self.tls = true,
            ("tls" | "ssl", "false") => self.tls = false,
            ("tlscafile", file) => self.with_authority(PathBuf::from(file)),
            ("authsource", database) => {
                if let Some(login) = &mut self.login {
                    login.database = database.to_owned();
                }
            }
            ("authmechanism", "SCRAM-SHA-256") => {}
            (name, _) if WITHOUT_EFFECT.contains(&name) => {}
            (name, _) => {
                return Err(format!("--uri: the option {name} is not supported with this value"));
            }
        }
        Ok(())
    }

    /// Enables TLS and trusts the certificates of this file.
    pub fn with_authority(&mut self, file: PathBuf) {
        self.tls = true;
        self.authority = Some(file);
    }

    /// Enables TLS, whether or not the address requests it.
    pub fn with_tls(&mut self) {
        self.tls = true;
    }

    /// Returns whether a user is named without a password.
    pub fn wants_password(&self) -> bool {
        self.login.as_ref().is_some_and(|login| login.password.is_none())
    }

    /// Sets the password of the address's user, if it names one.
    pub fn set_password(&mut self, password: Secret) {
        if let Some(login) = &mut self.login {
            login.password = Some(password);
        }
    }

    /// Returns host and port as text, for messages and the state files.
    pub fn shown(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

fn read_login(text: &str) -> Result<Login, String> {
    let (user, password) = match text.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (text, None),
    };
    let password = password.map(decoded).transpose()?.map(Secret::from_text);
    Ok(Login { user: decoded(user)?, password, database: ADMIN.to_owned() })
}

fn decoded(text: &str) -> Result<String, String> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(|text| text.into_owned()).map_err(|_| "--uri: a part of it is not UTF-8".to_owned())
}

/// A server of the NoSQL API.
#[derive(Clone, Debug)]
pub struct NoSqlAddress {
    /// `http://host:port` or `https://host:port`, without a trailing slash.
    pub(crate) base: String,
    pub(crate) key: Key,
    /// File with the certificate authority trusted for TLS; `None` trusts those of the system.
    pub(crate) authority: Option<PathBuf>,
}

impl NoSqlAddress {
    /// Parses an address and a base64 key.
    pub fn parse(text: &str, key: &str, authority: Option<PathBuf>) -> Result<Self, String> {
        let rest = text.strip_prefix(HTTPS).or_else(|| text.strip_prefix("http://"));
        let rest = rest.ok_or("--nosql must start with http:// or https://")?;
        let (base, rest) = (text.trim_end_matches('/'), rest.trim_end_matches('/'));
        if rest.is_empty() || rest.contains(['/', '?', '#', '@']) {
            return Err("--nosql must be a scheme, a host and a port only".to_owned());
        }
        let key = Key::parse(key).map_err(|error| format!("the key: {error}"))?;
        Ok(Self { base: base.to_owned(), key, authority })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_mongodb_api() {
        for (text, want) in [
            ("mongodb://localhost", Ok(("localhost:27017", None, false))),
            ("mongodb://[::1]:9/?directConnection=true&w=1", Ok(("[::1]:9", None, false))),
            ("mongodb://[::1]", Ok(("[::1]:27017", None, false))),
            ("mongodb://ann@h:1/shop", Ok(("h:1", Some(("ann", "shop")), false))),
            ("mongodb://a%40b:p%3Aw@h:1", Ok(("h:1", Some(("a@b", "admin")), false))),
            (
                "mongodb://a:planted@h/x?authSource=y&tlsCAFile=%2Fca.pem",
                Ok(("h:27017", Some(("a", "y")), true)),
            ),
            ("mongodb://h/?tls=true", Ok(("h:27017", None, true))),
            ("mongodb+srv://h", Err("mongodb+srv")),
            ("localhost", Err("must start")),
            ("mongodb://a:planted@h,i", Err("several hosts")),
            ("mongodb://a:planted@h:x", Err("not a port")),
            ("mongodb://a:planted@", Err("no host")),
            ("mongodb://h/?tlsAllowInvalidCertificates=true", Err("not supported")),
            ("mongodb://a:planted@h/?authMechanism=PLAIN", Err("authmechanism")),
            ("mongodb://a:planted%ff@h", Err("UTF-8")),
        ] {
            let got = MongoAddress::parse(text);
            let text_of = format!("{got:?}");
            assert!(!text_of.contains("planted"), "{text_of}");
            match (got, want) {
                (Ok(got), Ok((place, login, tls))) => {
                    let of = |it: &Login| (it.user.clone(), it.database.clone());
                    let want = login.map(|(user, of): (&str, &str)| (user.into(), of.into()));
                    assert_eq!(
                        (got.shown().as_str(), got.login.as_ref().map(of), got.tls),
                        (place, want, tls),
                        "{text}"
                    );
                }
                (Err(got), Err(want)) => assert!(got.contains(want), "{text}: {got}"),
                (got, want) => panic!("{text}: {got:?} instead of {want:?}"),
            }
        }
        let mut address = MongoAddress::parse("mongodb://ann@h").unwrap();
        assert!(address.wants_password());
        address.set_password(Secret::from_text("planted".to_owned()));
        assert!(!address.wants_password() && !format!("{address:?}").contains("planted"));
    }

    #[test]
    fn addresses_of_the_nosql_api() {
        let key = auth::WELL_KNOWN_KEY;
        let authority = Some(PathBuf::from("ca.pem"));
        for (text, authority, want) in [
            ("http://h:8081/", None, None),
            ("https://h:8081", authority, None),
            ("https://h:8081", None, None),
            ("h:8081", None, Some("must start")),
            ("http://", None, Some("port only")),
            ("http://h/dbs", None, Some("port only")),
        ] {
            let got = NoSqlAddress::parse(text, key, authority);
            assert_eq!(got.as_ref().err().is_some(), want.is_some(), "{text}");
            if let (Err(got), Some(want)) = (got, want) {
                assert!(got.contains(want), "{text}: {got}");
            }
        }
        assert!(NoSqlAddress::parse("http://h", "short", None).unwrap_err().contains("the key"));
    }
}
