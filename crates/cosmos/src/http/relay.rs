//! Requests that somebody else received and whose sender is known there: no signature is asked for,
//! everything else is as for a request from a socket. The portal sends its pages' requests so.

use std::sync::Arc;

use auth::Right;
use bytes::Bytes;
use engine::Store;
use http_body_util::Full;
use hyper::{Request, Response};

use super::{answer::answer_request, answers::Pace, body::Body};
use crate::{
    door::Door,
    interrupt::{Client, StopOnDrop},
    sender::Sender,
};

impl<S: Store> Door<S> {
    /// Runs a request for a caller that holds a key with this right, and returns the response. A
    /// query ends when the future is dropped; what changes resources is finished.
    pub async fn relay(
        self: &Arc<Self>,
        right: Right,
        request: Request<Bytes>,
    ) -> Response<Full<Bytes>> {
        let client = Arc::new(Client::default());
        let _presence = StopOnDrop(Arc::clone(&client));
        let request = request.map(Body::Whole);
        answer_request(self, client, (Sender::Known(right), Pace::Free), "http", request).await
    }
}
