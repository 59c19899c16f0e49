//! Checks the host names of the server and the origin of requests. A foreign name that resolves to
//! this server is refused, so that pages of other sites cannot read responses (DNS rebinding).

use auth::Hosts;
use axum::http::{HeaderMap, Method, Uri, header};

use crate::error::{Error, Result};

/// Refuses a request for a host that is not the server's; returns its `Host` header. There must be
/// exactly one such header, and a host in the URI must be the server's, too.
pub(crate) fn check_host<'a>(hosts: &Hosts, uri: &Uri, headers: &'a HeaderMap) -> Result<&'a str> {
    let mut given = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (given.next(), given.next()) else {
        return Err(Error::host_not_allowed());
    };
    let host = host.to_str().map_err(|_| Error::host_not_allowed())?;
    let also = uri.authority().is_none_or(|authority| hosts.holds(authority.as_str()));
    match also && hosts.holds(host) {
        true => Ok(host),
        false => Err(Error::host_not_allowed()),
    }
}

/// Returns whether the method is read-only.
pub(crate) fn only_reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Refuses a request from a page of another site, by the headers `origin` and `sec-fetch-site`,
/// which browsers set and pages cannot change. Clients that are not browsers send neither and pass
/// this check. Read-only requests need no check, since a page of another site cannot read the
/// response.
pub(crate) fn check_site(host: &str, headers: &HeaderMap) -> Result<()> {
    let crosses = headers.get_all("sec-fetch-site").iter().any(|site| site == "cross-site");
    // The scheme is ignored: a proxy may have added TLS.
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
    fn changes_from_other_sites() {
        for (lines, good) in [
            (&[][..], true),
            (&[("origin", "http://db:8080")], true),
            (&[("origin", "https://DB:8080")], true),
            (&[("origin", "http://db:8081")], false),
            (&[("origin", "http://db")], false),
            (&[("origin", "ftp://db:8080")], false),
            (&[("origin", "null")], false),
            (&[("origin", "")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("origin", "http://evil.example")], false),
            (&[("origin", "http://db:8080"), ("origin", "http://evil.example")], false),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                let name = axum::http::HeaderName::from_static(name);
                headers.append(name, axum::http::HeaderValue::from_static(value));
            }
            assert_eq!(check_site("db:8080", &headers).is_ok(), good, "{lines:?}");
        }
    }

    #[test]
    fn methods_that_only_read() {
        let all = [Method::GET, Method::HEAD, Method::POST, Method::OPTIONS, Method::DELETE];
        assert_eq!(all.map(|method| only_reads(&method)), [true, true, false, false, false]);
    }
}
