//! Responses of the explorer that are generated: settings, redirects, texts; and the security
//! headers of all of its responses.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header, request::Parts};
use serde_json::json;

use super::{Ports, ReceivedAt, host};

/// The addresses as seen by a browser, derived from its `Host` header: links have to use the host
/// name with which the browser has reached the server, such as that of a container or a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BrowserAddresses {
    /// The address that received the request.
    at: ReceivedAt,
    /// Ports of the other listeners.
    ports: Ports,
    /// Host name used by the browser, without the port.
    name: String,
    /// URL of the NoSQL API for the browser; `None` if it is off.
    endpoint: Option<String>,
}

impl BrowserAddresses {
    /// Returns the addresses for a request, or an error text for an invalid host.
    pub(super) fn of(at: ReceivedAt, ports: Ports, request: &Parts) -> Result<Self, &'static str> {
        let host = host(request).filter(|host| is_host(host)).ok_or("invalid host")?;
        let name = match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => name,
            _ => host,
        };
        let endpoint = match at {
            ReceivedAt::Nosql => Some(format!("https://{host}")),
            ReceivedAt::Admin => ports.nosql.map(|port| format!("https://{name}:{port}")),
        };
        Ok(Self { at, ports, name: name.to_owned(), endpoint })
    }

    /// Returns a redirect to the portal, which only the admin address serves.
    pub(super) fn to_portal(&self) -> Response<Bytes> {
        match (self.at, self.ports.admin) {
            (ReceivedAt::Admin, _) => redirect_to("/"),
            (ReceivedAt::Nosql, Some(port)) => {
                redirect_to(&format!("http://{}:{port}/", self.name))
            }
            (ReceivedAt::Nosql, None) => plain_text(
                StatusCode::NOT_FOUND,
                "the portal is on the admin address, which is off: start the server with \
                 --admin-addr 127.0.0.1:8080",
            ),
        }
    }

    /// Returns `config.json`, from which the explorer reads the address of the data. The field
    /// names are the explorer's.
    pub(super) fn config_script(&self) -> Response<Bytes> {
        let Some(endpoint) = &self.endpoint else {
            return plain_text(StatusCode::NOT_FOUND, "the NoSQL API is off");
        };
        let config = json!({
            "BACKEND_ENDPOINT": endpoint,
            "MONGO_BACKEND_ENDPOINT": endpoint,
            "PROXY_PATH": "/",
            "EMULATOR_ENDPOINT": endpoint,
        });
        let mut response = Response::new(Bytes::from(config.to_string()));
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }

    /// Returns the content security policy for the explorer's pages: own files, inline scripts and
    /// styles, and calls to the NoSQL API; nothing from other origins.
    pub(super) fn content_policy(&self) -> String {
        let endpoint = self.endpoint.as_deref().unwrap_or_default();
        format!(
            "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; \
             connect-src 'self' {endpoint}; base-uri 'self'; form-action 'self'; \
             frame-ancestors 'none'; object-src 'none'"
        )
    }
}

/// Returns whether a text is a host with optional port, made of characters that are safe in the
/// headers and URLs that it is inserted into.
fn is_host(host: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    !host.is_empty() && host.bytes().all(plain) && host.parse::<http::uri::Authority>().is_ok()
}

/// Returns a redirect (302), without a location if the target is not a valid header value.
pub(super) fn redirect_to(to: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::FOUND;
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response
}

/// Returns a response of plain text with this status.
pub(super) fn plain_text(status: StatusCode, text: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(format!("{text}\n")));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Returns 404 for a missing page.
pub(super) fn no_page() -> Response<Bytes> {
    plain_text(StatusCode::NOT_FOUND, "page not found")
}

/// Adds the security headers. `policy` is for pages of the explorer; without it nothing may be
/// loaded. Removes the body for HEAD requests.
pub(super) fn add_guards(
    mut response: Response<Bytes>,
    policy: Option<&str>,
    is_head: bool,
) -> Response<Bytes> {
    let headers = response.headers_mut();
    for (name, text) in [
        ("content-security-policy", policy.unwrap_or("default-src 'none'; frame-ancestors 'none'")),
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-cache"),
    ] {
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    if is_head {
        *response.body_mut() = Bytes::new();
    }
    response
}
