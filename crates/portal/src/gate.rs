//! What every request to the admin address passes: its host, its site, and for what is not open to
//! everybody, its sender. Every answer leaves with the same headers. What a route asks of its sender
//! is known here, by its path; who the sender is, `access.rs` decides.

use std::{net::SocketAddr, sync::Arc};

use auth::Right;
use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    access::{Asked, Login},
    doors::Doors,
    error::{Error, Result},
    host::{self, check_site, only_reads},
    portal::Portal,
    security,
    session::By,
};

/// Paths for whoever watches a server; nobody logs in for them, and they answer even where the portal
/// lets nobody in.
const HEALTH: [&str; 6] = ["/livez", "/alive", "/readyz", "/ready", "/status", "/metrics"];
/// The route that logs in.
pub(crate) const SESSION: &str = "/_portal/api/session";
/// Prefix of what only the web pages ask for.
pub(crate) const PAGES: &str = "/_portal/";
/// Prefix of requests to the APIs.
const RELAYS: &str = "/_portal/api/";
/// The explorer: another project's page, which signs its requests itself.
const FOREIGN: [&str; 2] = ["/_explorer", "/_explorer/"];
/// A read of everything, users' verifiers and roles among it: a read-only key is not enough. There is one
/// place for it at a time and it holds back reaping, so it is checked like a change although it is a GET.
pub const BACKUP: &str = "/_ebb/backup";
/// Header of programs. A browser sends it for no page of another site: it would have to ask whether it may,
/// and no answer of this server permits that.
pub const CLIENT: &str = "x-ebb-client";
/// End of the path of a forecast, which changes nothing although it is a POST.
const PREVIEW: &str = "/expiry/preview";

/// Runs around every route; a refused request does not reach it.
pub(crate) async fn pass_gate<D: Doors>(
    State(portal): State<Arc<Portal<D>>>,
    mut request: Request,
    next: Next,
) -> Response {
    // Refusals get the headers too.
    let mut response = match check_request(&portal, &mut request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    security::add_headers(response.headers_mut());
    response
}

/// Refuses a request that may not go on, and notes the sender's rights in it for the route. The checks
/// are ordered so that the host is known before anything else is answered: with another name a page
/// of another site could read even the health.
fn check_request<D: Doors>(portal: &Portal<D>, request: &mut Request) -> Result<()> {
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
    // After the health: a server is watched also where its portal lets nobody in.
    if portal.doorman.login == Login::Refused {
        return Err(Error::key_is_known());
    }
    let [foreign, below] = FOREIGN;
    let is_foreign = path == foreign || path.starts_with(below);
    if path == SESSION || !path.starts_with("/_") || is_foreign {
        return Ok(());
    }
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let access = portal.doorman.admit(&Asked {
        method: request.method(),
        headers,
        peer: peer.map(|peer| peer.0.ip()),
        is_page: path.starts_with(PAGES),
        // A relayed request is not refused for its method: the API decides by what it asks.
        only_asks: path.starts_with(RELAYS) || path.ends_with(PREVIEW),
    })?;
    if path == BACKUP {
        if access.right == Right::Read {
            return Err(Error::read_only());
        }
        // Browsers add cookies by themselves, and an open address asks for nothing. A key in a header is as
        // good as the header of programs.
        if !matches!(access.by, By::Key(_)) && !headers.contains_key(CLIENT) {
            return Err(Error::not_a_program());
        }
    }
    // Routes that ask who the sender is find him there.
    request.extensions_mut().insert(access);
    Ok(())
}
