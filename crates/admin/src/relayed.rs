//! Calls the portal makes to the APIs, without a connection if the data are in this process. The
//! portal has authenticated its users. When the server stops, calls have a second to complete.

use std::{
    pin::Pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use auth::Right;
use axum::{
    body::Body,
    http::{Request, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use mongo::NoReply;
use portal::{Refused, Sender};
use server_base::sleep;
use tokio::sync::watch;

/// Time that calls in progress may continue after the server has begun to stop. The portal's
/// connection then has one more second to send the reply (`serve_stream.rs`).
const STOP_TIME: Duration = Duration::from_secs(1);

/// The APIs of this process. An API is `None` if it is off, or its data are on another node.
#[derive(Clone, Debug, Default)]
pub struct Apis {
    /// The MongoDB API, if it is open in this process.
    pub mongo: Option<Arc<mongo::MongoApi>>,
    /// The NoSQL API, if it is open in this process.
    pub cosmos: Option<Arc<cosmos::NoSqlApi>>,
}

/// Future result of a request that may be executed on another node.
pub type Elsewhere<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Calls to the APIs where a process serves only some shards; forwards each to the owner.
pub trait Relay: Send + Sync {
    /// Sends a request to the NoSQL API; `None` if it is off.
    fn nosql(&self, right: Right, request: Request<Bytes>) -> Elsewhere<'_, Option<Response>>;

    /// Routes an authorized admin request to the owner of the data it concerns; `here` has the
    /// routes of this process.
    fn admin(&self, request: Request<Body>, here: Next) -> Elsewhere<'_, Response>;

    /// Runs a command on the MongoDB API; `None` if it is off.
    fn mongo(
        &self,
        sender: mongo::Sender,
        database: String,
        command: Bytes,
    ) -> Elsewhere<'_, Option<Result<Bytes, NoReply>>>;

    /// Returns problems with the cluster's nodes, for the self-check.
    fn problems(&self) -> Vec<String>;
}

/// The access to other nodes. While it is not set, all data is in this process.
pub type RelayOnce = Arc<OnceLock<Arc<dyn Relay>>>;

/// Executes the portal's requests and commands on the APIs of this process or, in a cluster, on
/// the node that owns the data. A call that is still running a second after the server has begun to
/// stop is cancelled.
#[derive(Clone)]
pub struct Relayed {
    pub(crate) apis: watch::Receiver<Apis>,
    pub(crate) shard_relay: RelayOnce,
    pub(crate) stop: watch::Receiver<bool>,
}

impl std::fmt::Debug for Relayed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relayed").finish_non_exhaustive()
    }
}

impl Relayed {
    /// Returns the result of a call; `None` if the server stops and [`STOP_TIME`] passes first. The
    /// call is then dropped, which ends it at its next await.
    async fn until_stop<T>(&self, asked: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stop.clone();
        let stopped = async {
            // A dropped sender also means that the server has stopped.
            let _ = stop.wait_for(|stop| *stop).await;
            sleep::wait_for(STOP_TIME).await;
        };
        tokio::select! {
            answer = asked => Some(answer),
            () = stopped => None,
        }
    }
}

impl portal::Apis for Relayed {
    /// Sends a request to the NoSQL API; `None` if it is off, 503 while the server stops.
    async fn nosql(&self, right: Right, request: Request<Bytes>) -> Option<Response> {
        let answer = match self.shard_relay.get() {
            Some(relay) => self.until_stop(relay.nosql(right, request)).await,
            None => {
                let api = self.apis.borrow().cosmos.clone()?;
                let answer = self.until_stop(api.relay(right, request)).await;
                answer.map(|answer| Some(answer.map(Body::new)))
            }
        };
        answer.unwrap_or_else(|| Some(StatusCode::SERVICE_UNAVAILABLE.into_response()))
    }

    /// Runs a command, one BSON document, on the MongoDB API and returns its reply. The reply may
    /// report that the command failed. An error means that the command could not run.
    async fn mongo(
        &self,
        sender: Sender,
        database: String,
        command: Bytes,
    ) -> Result<Bytes, Refused> {
        let right = match sender.right {
            Right::Write => mongo::Right::Write,
            Right::Read => mongo::Right::Read,
        };
        let portal = || "portal".to_owned();
        let peer = sender.peer.map_or_else(portal, |peer| format!("portal of {peer}"));
        let sender = mongo::Sender { right, peer, session: sender.session };
        let ran = match self.shard_relay.get() {
            Some(relay) => self.until_stop(relay.mongo(sender, database, command)).await,
            None => {
                let api = self.apis.borrow().mongo.clone().ok_or(Refused::ApiDisabled)?;
                self.until_stop(api.relay(sender, &database, &command)).await.map(Some)
            }
        };
        let ran = ran.ok_or_else(|| Refused::Ended("the server is stopping".to_owned()))?;
        ran.ok_or(Refused::ApiDisabled)?.map_err(|none| match none {
            NoReply::Malformed(why) => Refused::Malformed(why),
            NoReply::TooLarge => Refused::TooLarge(none.to_string()),
            NoReply::Closed => Refused::Ended(none.to_string()),
        })
    }
}
