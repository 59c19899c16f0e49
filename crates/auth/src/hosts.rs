//! Host names that a server answers to. A request with another name, as after DNS rebinding, is
//! refused, so that a foreign web page cannot read replies. IP addresses are always allowed, since
//! they cannot be redirected.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A server's names in lower case, besides IP addresses and `localhost`.
#[derive(Clone, Debug)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// Creates the set of these names; empty names are left out.
    pub fn new(names: &[String]) -> Self {
        let names = names.iter().map(|name| without_dot(name).to_ascii_lowercase());
        Self(names.filter(|name| !name.is_empty()).collect())
    }

    /// Returns whether `host` or `host:port` is the server's: an IP address, `localhost` or a name
    /// below it, or one of the configured names. Case and a trailing dot are ignored.
    pub fn holds(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        if let Some(inner) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return inner.parse::<Ipv6Addr>().is_ok();
        }
        let name = without_dot(name);
        // Ordered by frequency: most requests match one of the first two.
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<Ipv4Addr>().is_ok()
            || is_below_localhost(name)
            || self.0.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// Returns whether a name is below `localhost`, which always resolves to the local machine.
fn is_below_localhost(name: &str) -> bool {
    let suffix = b".localhost";
    name.len() > suffix.len()
        && name.as_bytes()[name.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
}

fn without_dot(name: &str) -> &str {
    let name = name.trim();
    name.strip_suffix('.').unwrap_or(name)
}

/// Returns the host of `host` or `host:port`; `None` if it is malformed. An IPv6 address must be in
/// brackets.
fn without_port(host: &str) -> Option<&str> {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port),
        _ => (host, ""),
    };
    let good = port.bytes().all(|byte| byte.is_ascii_digit())
        && !name.is_empty()
        && (name.starts_with('[') || !name.contains(':'));
    good.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_server() {
        let hosts = Hosts::new(&["Node7.example.".to_owned(), "db".to_owned(), String::new()]);
        for (host, held) in [
            ("127.0.0.1", true),
            ("127.0.0.1:8080", true),
            ("192.0.2.1:80", true),
            ("[::1]:8080", true),
            ("[::1]", true),
            ("localhost", true),
            ("LOCALHOST:1", true),
            ("localhost.:1", true),
            ("a.b.localhost:8080", true),
            (".localhost", false),
            ("node7.example", true),
            ("NODE7.example.:80", true),
            ("db:8080", true),
            ("db.evil.example", false),
            ("xdb", false),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("evil.example:80:80", false),
            ("db:80x", false),
            ("[evil]", false),
            ("[::1]evil", false),
            ("::1", false),
            (":80", false),
            ("", false),
            ("db@evil.example", false),
        ] {
            assert_eq!(hosts.holds(host), held, "{host}");
        }
    }
}
