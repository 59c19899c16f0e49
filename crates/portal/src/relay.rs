//! Relays requests of the web pages to the APIs, with the right of the sender. The contents of the
//! requests are not interpreted.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Extension,
    extract::{ConnectInfo, Path, Request, State},
    http::{HeaderName, HeaderValue, StatusCode, Uri, header, uri::PathAndQuery},
    response::{IntoResponse, Response},
};

use crate::{
    access::Access,
    activity::{self, ACTIVITY},
    apis::{Apis, Refused, Sender},
    body,
    error::{Error, Result},
    portal::{NOSQL, Portal},
};

/// Largest body in bytes that is relayed to an API: the size of the largest command of the MongoDB
/// API. An API may have a lower limit.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024 + 16 * 1024;
/// Headers for the portal itself, which are removed before relaying.
const OWN: [HeaderName; 2] = [header::COOKIE, header::AUTHORIZATION];

/// Handles requests under `/_portal/api/nosql`: returns the response of the NoSQL API, or 404 if it
/// is disabled.
pub(crate) async fn relay_nosql<D: Apis>(
    State(portal): State<Arc<Portal<D>>>,
    Extension(access): Extension<Access>,
    request: Request,
) -> Result<Response> {
    let (mut parts, body) = request.into_parts();
    let body = body::read_body(&parts, body, MAX_BODY_BYTES).await?;
    for name in OWN {
        parts.headers.remove(name);
    }
    parts.uri = inner_uri(&parts.uri)?;
    let request = axum::http::Request::from_parts(parts, body);
    portal.apis.nosql(access.right, request).await.ok_or_else(Error::api_disabled)
}

/// Returns the path after the relay's prefix, with its query, still percent-encoded, since ids may
/// contain slashes.
fn inner_uri(uri: &Uri) -> Result<Uri> {
    let text = uri.path_and_query().map_or("", PathAndQuery::as_str);
    let rest = text.strip_prefix(NOSQL).unwrap_or_default();
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    let link = PathAndQuery::try_from(rest);
    Ok(Uri::from(link.map_err(|_| Error::bad_request("the link is invalid"))?))
}

/// Handles `POST /_portal/api/mongo/{database}`: the body is a command and the response its reply,
/// both BSON. The status is 200 even if the reply says that the command failed.
pub(crate) async fn relay_mongo<D: Apis>(
    State(portal): State<Arc<Portal<D>>>,
    Extension(access): Extension<Access>,
    Path(database): Path<String>,
    request: Request,
) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let command = body::read_body(&parts, body, MAX_BODY_BYTES).await?;
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let session = portal.authenticator.sessions.identity(&access.by);
    let sender = Sender { right: access.right, peer, session };
    let ran = portal.apis.mongo(sender, database, command).await;
    let reply = ran.map_err(|refused| match refused {
        Refused::ApiDisabled => Error::api_disabled(),
        Refused::Malformed(why) => Error::bad_request(why),
        Refused::TooLarge(why) => Error::new(StatusCode::PAYLOAD_TOO_LARGE, "TooLarge", why),
        Refused::Ended(why) => Error::new(StatusCode::SERVICE_UNAVAILABLE, "Ended", why),
    })?;
    let mut response = reply.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/bson"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(HeaderName::from_static(ACTIVITY), activity::activity_id(&parts.headers));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_handed_on_as_they_came() {
        for (from, to) in [
            ("/_portal/api/nosql", "/"),
            ("/_portal/api/nosql/", "/"),
            ("/_portal/api/nosql?a=b", "/?a=b"),
            ("/_portal/api/nosql/dbs/d%2Fe/colls?x=%20", "/dbs/d%2Fe/colls?x=%20"),
            ("/_portal/api/nosql//dbs", "//dbs"),
        ] {
            let uri = inner_uri(&from.parse().unwrap()).unwrap();
            assert_eq!(uri.to_string(), to);
        }
    }
}
