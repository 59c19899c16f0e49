//! The door of this process, for requests of connections that stay when it stops: those of a node of a
//! cluster, which stops to answer for a shard and goes on with its clients.

use std::{pin::pin, sync::Arc};

use bytes::Bytes;
use engine::Store;
use http_body_util::Full;
use hyper::{Request, Response};
use tokio::sync::watch;

use super::{answer::answer_request, answers::Pace, body::Body};
use crate::{
    door::Door,
    interrupt::{Client, StopOnDrop, StopReason},
    limits::STOP_TIME,
    sender::Sender,
};

/// A door, and what becomes true when it stops to answer.
#[derive(Debug)]
pub struct Here<S: Store> {
    pub(super) door: Arc<Door<S>>,
    pub(super) stopping: watch::Receiver<bool>,
}

impl<S: Store> Clone for Here<S> {
    fn clone(&self) -> Self {
        Self { door: Arc::clone(&self.door), stopping: self.stopping.clone() }
    }
}

impl<S: Store> Here<S> {
    /// A door until this becomes true.
    pub fn new(door: Arc<Door<S>>, stopping: watch::Receiver<bool>) -> Self {
        Self { door, stopping }
    }

    /// The response to a request. What is computed ends a while after the door has stopped.
    pub(super) async fn answer(
        self,
        (client, pace, scheme, sender): (Arc<Client>, Pace, &'static str, Sender),
        request: Request<Body>,
    ) -> Response<Full<Bytes>> {
        let Self { door, mut stopping } = self;
        // Its connection's other requests go on.
        let own = Arc::new(Client::from_peer(client.peer()));
        let _presence = StopOnDrop(Arc::clone(&own));
        let mut asked =
            pin!(answer_request(&door, Arc::clone(&own), (sender, pace), scheme, request));
        let stopped = async {
            // Without a sender it has stopped already.
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
