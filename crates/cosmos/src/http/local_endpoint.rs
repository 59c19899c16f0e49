//! The API of a shard in this process, for connections that may outlive it: when a shard moves from
//! a cluster node to another, its clients stay connected.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response};
use tokio::sync::watch;

use super::{answer::answer_request, body::Body, service::Schedule};
use crate::{
    api::NoSqlApi,
    direct::Executor,
    interrupt::{Client, StopOnDrop, answer_before_stop},
    sender::Sender,
};

/// An API endpoint in this process, and a signal that it stops.
#[derive(Clone, Debug)]
pub struct LocalEndpoint {
    pub(super) api: Arc<NoSqlApi>,
    pub(super) stopping: watch::Receiver<bool>,
}

impl LocalEndpoint {
    /// Creates a handle; the endpoint stops when `stopping` becomes true.
    pub fn new(api: Arc<NoSqlApi>, stopping: watch::Receiver<bool>) -> Self {
        Self { api, stopping }
    }

    /// Returns the executor of requests in direct mode; `None` if the endpoint has stopped.
    pub(super) fn into_executor(self) -> Option<Executor> {
        let Self { api, stopping } = self;
        let has_stopped = *stopping.borrow();
        (!has_stopped).then_some(Executor { api, stopping: Some(stopping) })
    }

    /// Returns the response to a request. Its computation is cancelled a while after the endpoint
    /// has stopped.
    pub(super) async fn answer(
        self,
        (client, schedule, scheme, sender): (Arc<Client>, Schedule, &'static str, Sender),
        request: Request<Body>,
    ) -> Response<Full<Bytes>> {
        let Self { api, stopping } = self;
        // The request gets a separate `Client`, so that other requests of the connection are not
        // cancelled with it.
        let own = Arc::new(Client::from_peer(client.peer()));
        let _presence = StopOnDrop(Arc::clone(&own));
        let asked = answer_request(&api, Arc::clone(&own), (sender, schedule), scheme, request);
        let response = answer_before_stop(&own, stopping, asked).await;
        if own.is_sending() {
            client.sends_on();
        }
        response
    }
}
