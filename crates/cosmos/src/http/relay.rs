//! Executes requests that another component of the server, such as the portal, received and
//! authenticated: they need no signature, and are otherwise treated like requests from a socket.

use std::sync::Arc;

use auth::Right;
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response};

use super::{answer::answer_request, body::Body, service::Schedule};
use crate::{
    api::NoSqlApi,
    interrupt::{Client, StopOnDrop},
    sender::Sender,
};

impl NoSqlApi {
    /// Executes a request with this access right, and returns the response. If the future is
    /// dropped, a query is cancelled, but a change of resources is completed.
    pub async fn relay(
        self: &Arc<Self>,
        right: Right,
        request: Request<Bytes>,
    ) -> Response<Full<Bytes>> {
        let client = Arc::new(Client::default());
        let _presence = StopOnDrop(Arc::clone(&client));
        let request = request.map(Body::Whole);
        answer_request(self, client, (Sender::Known(right), Schedule::Now), "http", request).await
    }
}
