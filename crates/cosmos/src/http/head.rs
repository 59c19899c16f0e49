//! Checks request heads for ambiguities, where two parsers might find different hosts or different
//! ends of the body.
//!
//! If a proxy in front of this server parses a head differently, a client can smuggle a request
//! past the proxy's checks. Ambiguous heads are therefore refused, and the connection is closed.
//! HTTP/2 heads cannot be ambiguous.

use auth::Hosts;
use http::{HeaderMap, HeaderValue, Version, header, request::Parts};

use crate::{
    api::Settings,
    failure::{Failure, Fault, Result},
};

/// Refuses an ambiguous head. The connection must be closed afterwards.
pub(super) fn check_head(parts: &Parts) -> Result<()> {
    if parts.version != Version::HTTP_11 {
        return Ok(());
    }
    if parts.headers.get_all(header::HOST).iter().count() != 1 {
        return Err(Failure::bad_request("A request must have exactly one host header."));
    }
    check_encoding(&parts.headers)
}

/// Refuses a request with a scheme or host that the server does not accept.
pub(super) fn check_arrival(parts: &Parts, scheme: &str, settings: &Settings) -> Result<()> {
    if settings.needs_tls && scheme != "https" {
        return Err(Failure::bad_request("This address accepts https only."));
    }
    check_host(parts, settings.hosts.as_ref())
}

/// Refuses a request for a host that is not in `hosts`. If the emulators' public key is in use, a
/// web page could make a browser send requests to this server under a host name of the page's site
/// (DNS rebinding). The host name reveals such requests.
fn check_host(parts: &Parts, hosts: Option<&Hosts>) -> Result<()> {
    let Some(hosts) = hosts else { return Ok(()) };
    let named = parts.headers.get_all(header::HOST).iter().map(HeaderValue::to_str);
    let held = named.into_iter().all(|host| host.is_ok_and(|host| hosts.holds(host)));
    let asked = parts.uri.authority().is_none_or(|authority| hosts.holds(authority.as_str()));
    match held && asked {
        true => Ok(()),
        false => {
            Err(Failure::new(Fault::Misdirected, "Unknown host name: allow it with --cosmos-host."))
        }
    }
}

/// Refuses all transfer encodings except a single `chunked`, and a content length together with
/// `chunked`.
fn check_encoding(headers: &HeaderMap) -> Result<()> {
    let mut encodings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let Some(encoding) = encodings.next() else { return Ok(()) };
    if encodings.next().is_some() || !encoding.as_bytes().eq_ignore_ascii_case(b"chunked") {
        return Err(Failure::bad_request(
            "The only supported transfer-encoding is a single 'chunked'.",
        ));
    }
    if headers.contains_key(header::CONTENT_LENGTH) {
        return Err(Failure::bad_request(
            "A request must not have both content-length and transfer-encoding.",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use http::{Request, header::HeaderName};

    use super::*;

    #[test]
    fn heads_that_can_be_read_in_two_ways_are_refused() {
        let (te, host) = ("transfer-encoding", ("host", "x"));
        for (version, lines, good) in [
            (Version::HTTP_11, vec![host], true),
            (Version::HTTP_11, vec![], false),
            (Version::HTTP_11, vec![host, host], false),
            (Version::HTTP_11, vec![host, ("host", "y")], false),
            (Version::HTTP_10, vec![], true),
            (Version::HTTP_2, vec![], true),
            (Version::HTTP_11, vec![host, (te, "chunked")], true),
            (Version::HTTP_11, vec![host, (te, "Chunked")], true),
            (Version::HTTP_11, vec![host, (te, "identity, chunked")], false),
            (Version::HTTP_11, vec![host, (te, "chunked, chunked")], false),
            (Version::HTTP_11, vec![host, (te, "gzip, chunked")], false),
            (Version::HTTP_11, vec![host, (te, "identity")], false),
            (Version::HTTP_11, vec![host, (te, "")], false),
            (Version::HTTP_11, vec![host, (te, "identity"), (te, "chunked")], false),
            (Version::HTTP_11, vec![host, (te, "chunked"), (te, "chunked")], false),
            (Version::HTTP_11, vec![host, (te, "chunked"), ("content-length", "5")], false),
        ] {
            let mut parts = Request::builder().version(version).body(()).unwrap().into_parts().0;
            for (name, value) in &lines {
                let name = HeaderName::from_static(name);
                parts.headers.append(name, HeaderValue::from_static(value));
            }
            assert_eq!(check_head(&parts).is_ok(), good, "{version:?} {lines:?}");
        }
    }
}
