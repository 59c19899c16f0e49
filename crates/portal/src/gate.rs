//! The middleware around all requests to the admin address: it checks the host and the origin, and,
//! unless the path is public, the sender. It adds the common headers to every response. This module
//! determines the requirements of a path; `access.rs` identifies the sender.

use std::{net::SocketAddr, sync::Arc};

use auth::Right;
use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    access::{AuthRequest, Login},
    apis::Apis,
    error::{Error, Result},
    host::{self, check_site, only_reads},
    portal::Portal,
    security,
    session::AuthMethod,
};

/// Paths for monitoring; they need no login and work even if the portal refuses everyone.
const HEALTH: [&str; 6] = ["/livez", "/alive", "/readyz", "/ready", "/status", "/metrics"];
/// Path of the login route.
pub(crate) const SESSION: &str = "/_portal/api/session";
/// Path prefix of requests that only the portal's web pages send.
pub(crate) const PAGES: &str = "/_portal/";
/// Path prefix of requests that the portal relays to the APIs.
const RELAYS: &str = "/_portal/api/";
/// The explorer, a third-party page that signs its requests itself.
const FOREIGN: [&str; 2] = ["/_explorer", "/_explorer/"];
/// Path of a backup. It is checked like a change although it is a GET. A backup contains
/// everything, including password verifiers and roles, so a read-only key does not suffice. Only
/// one can run at a time, and it delays reaping.
pub const BACKUP: &str = "/_ebb/backup";
/// Header sent by programs. Pages of other sites cannot make a browser send it: that would need a
/// CORS preflight, which this server never permits.
pub const CLIENT: &str = "x-ebb-client";
/// Path suffix of an expiry preview, which is a POST but changes nothing.
const PREVIEW: &str = "/expiry/preview";

/// The middleware around every route; refused requests do not reach the route.
pub(crate) async fn pass_gate<D: Apis>(
    State(portal): State<Arc<Portal<D>>>,
    mut request: Request,
    next: Next,
) -> Response {
    // Refusals get the common headers too.
    let mut response = match check_request(&portal, &mut request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    security::add_headers(response.headers_mut());
    response
}

/// Refuses a request that may not proceed, and stores the sender's rights in it for the route. The
/// host is checked first, for all paths: with another host name, a page of another site could read
/// even the responses of the health routes.
fn check_request<D: Apis>(portal: &Portal<D>, request: &mut Request) -> Result<()> {
    let headers = request.headers();
    let host = host::check_host(&portal.hosts, request.uri(), headers)?;
    let path = request.uri().path();
    let acts = !only_reads(request.method()) || path == BACKUP;
    if acts {
        check_site(host, headers)?;
    }
    if HEALTH.contains(&path) {
        return Ok(());
    }
    // After the health routes, which must work even if the portal refuses everyone.
    if portal.authenticator.login == Login::Refused {
        return Err(Error::key_is_known());
    }
    let [foreign, below] = FOREIGN;
    let is_foreign = path == foreign || path.starts_with(below);
    if path == SESSION || !path.starts_with("/_") || is_foreign {
        return Ok(());
    }
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let access = portal.authenticator.admit(&AuthRequest {
        method: request.method(),
        headers,
        peer: peer.map(|peer| peer.0.ip()),
        is_page: path.starts_with(PAGES),
        // A relayed request is not refused for its method: the API checks the right.
        only_asks: path.starts_with(RELAYS) || path.ends_with(PREVIEW),
    })?;
    if path == BACKUP {
        if access.right == Right::Read {
            return Err(Error::read_only());
        }
        // A page of another site could start a backup: browsers send cookies automatically, and an
        // open address requires no key. So a header is required that only programs send:
        // `x-ebb-client`, or one with a key.
        if !matches!(access.by, AuthMethod::Key(_)) && !headers.contains_key(CLIENT) {
            return Err(Error::not_a_program());
        }
    }
    // For routes that need the sender.
    request.extensions_mut().insert(access);
    Ok(())
}
