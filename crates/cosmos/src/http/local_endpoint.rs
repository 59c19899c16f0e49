//! The API of a shard in this process, for connections that may outlive it: when a shard moves from
//! a cluster node to another, its clients stay connected.

use std::{pin::pin, sync::Arc};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response};
use tokio::sync::watch;

use super::{answer::answer_request, body::Body, service::Schedule};
use crate::{
    api::NoSqlApi,
    interrupt::{Client, StopOnDrop, StopReason},
    limits::STOP_TIME,
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

    /// Returns the response to a request. Its computation is cancelled a while after the endpoint
    /// has stopped.
    pub(super) async fn answer(
        self,
        (client, schedule, scheme, sender): (Arc<Client>, Schedule, &'static str, Sender),
        request: Request<Body>,
    ) -> Response<Full<Bytes>> {
        let Self { api, mut stopping } = self;
        // The request gets a separate `Client`, so that other requests of the connection are not
        // cancelled with it.
        let own = Arc::new(Client::from_peer(client.peer()));
        let _presence = StopOnDrop(Arc::clone(&own));
        let mut asked =
            pin!(answer_request(&api, Arc::clone(&own), (sender, schedule), scheme, request));
        let stopped = async {
            // An error means that the channel is closed: the endpoint has stopped already.
            let _ = stopping.wait_for(|stopping| *stopping).await;
            let _ = tokio::time::timeout(STOP_TIME, std::future::pending::<()>()).await;
        };
        let response = tokio::select! {
            response = &mut asked => response,
            () = stopped => {
                own.stop_requests(StopReason::Stopping);
                asked.await
            }
        };
        if own.is_sending() {
            client.sends_on();
        }
        response
    }
}
