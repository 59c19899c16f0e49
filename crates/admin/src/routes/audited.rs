//! Audit log of the admin address: logins, changes, backups and refusals. Calls of pages to the
//! APIs are left out, since the APIs log them themselves.

use std::{net::SocketAddr, sync::Arc};

use audit::{Api, AuditLog, Event, is_refusal, outcome_of};
use axum::{
    extract::{ConnectInfo, Request},
    http::Method,
    middleware::Next,
    response::Response,
};
use portal::BACKUP;

/// Path prefix of requests that the portal forwards to the APIs.
const RELAYED: &str = "/_portal/api/";

/// Handles a request, and writes it to the audit log if it changes something or was refused.
pub(super) async fn audit_request(audit: Arc<AuditLog>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    if path.starts_with(RELAYED) {
        return next.run(request).await;
    }
    let action = request.method().to_string();
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.to_string());
    let answer = next.run(request).await;
    let status = answer.status().as_u16();
    // A backup exports all data, although it only reads.
    if reads && path != BACKUP && !is_refusal(status) {
        return answer;
    }
    let outcome = outcome_of(status);
    let peer = peer.unwrap_or_default();
    let (api, object) = (Api::Admin, path.as_str());
    audit.note(&Event { api, action: &action, peer: &peer, user: None, object, outcome });
    answer
}
