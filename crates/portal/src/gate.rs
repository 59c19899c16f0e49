//! What every request to the admin address passes: its host, its site, and for what is not open to
//! everybody, its sender. Every answer leaves with the same headers.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    access::{Asked, Login},
    doors::Doors,
    error::{Error, Result},
    host::{self, check_site},
    portal::Portal,
    security,
};

/// Whoever watches a server asks for these; nobody logs in for them.
const HEALTH: [&str; 6] = ["/livez", "/alive", "/readyz", "/ready", "/status", "/metrics"];
/// The route that logs in.
pub(crate) const SESSION: &str = "/_portal/api/session";
/// What the pages ask for.
pub(crate) const PAGES: &str = "/_portal/";
/// What the doors are asked through.
const RELAYS: &str = "/_portal/api/";
/// A page of others, which signs what it asks for.
const FOREIGN: [&str; 2] = ["/_explorer", "/_explorer/"];
/// Changes nothing although it is a POST.
const PREVIEW: &str = "/expiry/preview";

/// Runs around every route.
pub(crate) async fn pass_gate<D: Doors>(
    State(portal): State<Arc<Portal<D>>>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut response = match check_request(&portal, &mut request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    security::add_headers(response.headers_mut());
    response
}

fn check_request<D: Doors>(portal: &Portal<D>, request: &mut Request) -> Result<()> {
    let headers = request.headers();
    let host = host::check_host(&portal.hosts, request.uri(), headers)?;
    check_site(request.method(), host, headers)?;
    let path = request.uri().path();
    if HEALTH.contains(&path) {
        return Ok(());
    }
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
        only_asks: path.starts_with(RELAYS) || path.ends_with(PREVIEW),
    })?;
    request.extensions_mut().insert(access);
    Ok(())
}
