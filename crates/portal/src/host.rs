//! Which names this server answers to, and whether a request comes from a page of its own. A name
//! that somebody else pointed here is refused, so that no other site's page can read answers.

use std::net::IpAddr;

use axum::http::{HeaderMap, Method, Uri, header};

use crate::error::{Error, Result};

/// Names of this server.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    pub(crate) fn new(names: &[String]) -> Self {
        let names = names.iter().map(|name| plain(name).to_ascii_lowercase());
        Self(names.filter(|name| !name.is_empty()).collect())
    }

    /// Refuses a request for another host; answers the header host.
    pub(crate) fn check<'a>(&self, uri: &Uri, headers: &'a HeaderMap) -> Result<&'a str> {
        let mut given = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (given.next(), given.next()) else {
            return Err(Error::host_not_allowed());
        };
        let host = host.to_str().map_err(|_| Error::host_not_allowed())?;
        let also = uri.authority().is_none_or(|authority| self.holds(authority.as_str()));
        match also && self.holds(host) {
            true => Ok(host),
            false => Err(Error::host_not_allowed()),
        }
    }

    fn holds(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        if let Some(inner) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return inner.parse::<std::net::Ipv6Addr>().is_ok();
        }
        let name = plain(name).to_ascii_lowercase();
        name.parse::<IpAddr>().is_ok()
            || name == "localhost"
            || name.strip_suffix(".localhost").is_some_and(|sub| !sub.is_empty())
            || self.0.contains(&name)
    }
}

/// A name without the dot that may end it.
fn plain(name: &str) -> &str {
    let name = name.trim();
    name.strip_suffix('.').unwrap_or(name)
}

/// The host of `host:port`; `None`: this is neither.
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

/// Whether a request only reads, by its method.
pub(crate) fn only_reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Refuses a change that a page of another site asks for. Clients that are no browsers say nothing
/// of where they come from.
pub(crate) fn check_site(method: &Method, host: &str, headers: &HeaderMap) -> Result<()> {
    if only_reads(method) {
        return Ok(());
    }
    let crosses = headers.get_all("sec-fetch-site").iter().any(|site| site == "cross-site");
    let own = |origin: &axum::http::HeaderValue| {
        let origin = origin.to_str().unwrap_or_default();
        let host_of = origin.split_once("://").filter(|(scheme, _)| {
            scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
        });
        host_of.is_some_and(|(_, of)| of.eq_ignore_ascii_case(host))
    };
    match !crosses && headers.get_all(header::ORIGIN).iter().all(own) {
        true => Ok(()),
        false => Err(Error::cross_site()),
    }
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

    #[test]
    fn changes_from_other_sites() {
        for (method, lines, good) in [
            (&Method::GET, &[("origin", "http://evil.example")][..], true),
            (&Method::HEAD, &[("sec-fetch-site", "cross-site")], true),
            (&Method::POST, &[], true),
            (&Method::POST, &[("origin", "http://db:8080")], true),
            (&Method::POST, &[("origin", "https://DB:8080")], true),
            (&Method::POST, &[("origin", "http://db:8081")], false),
            (&Method::POST, &[("origin", "http://db")], false),
            (&Method::POST, &[("origin", "ftp://db:8080")], false),
            (&Method::POST, &[("origin", "null")], false),
            (&Method::POST, &[("origin", "")], false),
            (&Method::PUT, &[("sec-fetch-site", "cross-site")], false),
            (&Method::PUT, &[("sec-fetch-site", "same-origin")], true),
            (&Method::DELETE, &[("sec-fetch-site", "none")], true),
            (&Method::OPTIONS, &[("origin", "http://evil.example")], false),
            (
                &Method::PATCH,
                &[("origin", "http://db:8080"), ("origin", "http://evil.example")],
                false,
            ),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                let name = axum::http::HeaderName::from_static(name);
                headers.append(name, axum::http::HeaderValue::from_static(value));
            }
            let checked = check_site(method, "db:8080", &headers);
            assert_eq!(checked.is_ok(), good, "{method} {lines:?}");
        }
    }
}
