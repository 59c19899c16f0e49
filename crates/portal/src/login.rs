//! The session routes: read the session, log in, log out.

use std::{net::SocketAddr, sync::Arc};

use auth::Right;
use axum::{
    Json,
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::{
    access::{Access, Login},
    apis::Apis,
    body,
    error::{Error, Result},
    portal::Portal,
    session::{AuthMethod, Session, no_cookie, session_cookie},
};

/// Largest body of a login in bytes; it contains one key.
const MAX_LOGIN_BYTES: usize = 4 * 1024;

/// Handles `GET /_portal/api/session`: returns whether a login is needed, the sender's right, and
/// the CSRF token for changes.
pub(crate) async fn get_login<D: Apis>(
    State(portal): State<Arc<Portal<D>>>,
    request: Request,
) -> Result<Response> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let access = portal.authenticator.known_access(request.headers(), peer)?;
    Ok(login_response(&portal, access.as_ref()))
}

/// Handles `POST /_portal/api/session` with `{"key": "..."}`: starts a session and sets its cookie.
/// 401 for a wrong key, 429 after too many of them from one address.
pub(crate) async fn sign_in<D: Apis>(
    State(portal): State<Arc<Portal<D>>>,
    request: Request,
) -> Result<Response> {
    let (parts, body) = request.into_parts();
    // Checked before the body is read: another site must not be able to try keys.
    check_token(&portal, &parts.headers)?;
    let body = body::read_body(&parts, body, MAX_LOGIN_BYTES).await?;
    let body: Value = serde_json::from_slice(&body)
        .map_err(|error| Error::bad_request(format!("the body is not JSON: {error}")))?;
    let key = body.get("key").and_then(Value::as_str);
    let key = key.ok_or_else(|| Error::bad_request("key is missing"))?;
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let (key_index, _) = portal.authenticator.check_key(key, peer)?;
    let now_s = clock::wall_ms().div_euclid(1000);
    let begun = portal
        .authenticator
        .sessions
        .begin_session(key_index, now_s)
        .ok_or_else(Error::wrong_key)?;
    // The scheme that the browser uses matters, since a proxy may have added TLS.
    let origin = parts.headers.get(header::ORIGIN);
    let over_tls = origin.is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let set = session_cookie(&begun, over_tls);
    let access = Access { right: begun.right, by: AuthMethod::Session(begun) };
    Ok(with_cookie(login_response(&portal, Some(&access)), &set))
}

/// Handles `DELETE /_portal/api/session`: ends the session of the cookie, if there is one, and
/// removes the cookie. If the end of the session cannot be stored, the response is an error: the
/// session is then ended only until the next restart.
pub(crate) async fn sign_out<D: Apis>(
    State(portal): State<Arc<Portal<D>>>,
    headers: HeaderMap,
) -> Result<Response> {
    check_token(&portal, &headers)?;
    if let Some(session) = portal.authenticator.find_session(&headers) {
        let now_s = clock::wall_ms().div_euclid(1000);
        let portal = Arc::clone(&portal);
        // Runs on a blocking thread, since it writes to disk.
        let ended =
            spawn_blocking(move || portal.authenticator.sessions.end_session(&session, now_s))
                .await;
        let ended = ended.map_err(|error| Error::not_kept(error.to_string()))?;
        ended.map_err(|error| Error::not_kept(error.to_string()))?;
    }
    Ok(with_cookie(StatusCode::NO_CONTENT.into_response(), &no_cookie()))
}

/// Refuses a change without a token. The token of pages without a session is also accepted, because
/// a user who logs in has no session yet.
fn check_token<D: Apis>(portal: &Portal<D>, headers: &HeaderMap) -> Result<()> {
    let session = portal.authenticator.find_session(headers);
    let checked = portal.authenticator.check_token(headers, session.as_ref());
    checked.or_else(|_| portal.authenticator.check_token(headers, None))
}

/// Adds a `Set-Cookie` header to the response.
fn with_cookie(mut response: Response, set: &str) -> Response {
    if let Ok(value) = HeaderValue::try_from(set) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// Returns the response about the session. It contains the key if the sender may write, so that the
/// page can show how to connect.
fn login_response<D: Apis>(portal: &Portal<D>, access: Option<&Access>) -> Response {
    let session: Option<&Session> = match access.map(|access| &access.by) {
        Some(AuthMethod::Session(session)) => Some(session),
        _ => None,
    };
    let right = access.map(|access| access.right);
    let account = portal.account.load();
    let primary = account.primary();
    let addresses = &portal.addresses;
    let body = json!({
        "login": if portal.authenticator.login == Login::Open { "open" } else { "required" },
        "right": right.map(|right| match right {
            Right::Write => "write",
            Right::Read => "read",
        }),
        "csrf": portal.authenticator.sessions.csrf_token(session),
        "version": env!("CARGO_PKG_VERSION"),
        "doors": { "mongo": addresses.mongo, "cosmos": addresses.cosmos },
        "needsTls": { "mongo": addresses.mongo_needs_tls, "cosmos": addresses.cosmos_needs_tls },
        // APIs that anyone who can reach them may use without authentication.
        "openToAll": {
            "mongo": !addresses.mongo_needs_login,
            "cosmos": account.are_well_known(),
        },
        "key": (right == Some(Right::Write)).then_some(primary),
    });
    let mut response = Json(body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
