//! The APIs as the portal calls them, without a connection where the data are in this process: for senders that the
//! portal has authenticated, until the server stops. What they reply is their own business.

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
use tokio::sync::watch;

use crate::{any_store::AnyStore, background};

/// How long requests under way may go on after the server was told to stop. The portal's connection
/// then still has a second to send the answer (`admin/serve.rs`).
const STOP_TIME: Duration = Duration::from_secs(1);

/// The APIs that are on; `None`: it is off, or its data are not here.
#[derive(Clone, Default)]
pub(crate) struct Doors {
    pub(crate) mongo: Option<Arc<mongo::Door<AnyStore>>>,
    pub(crate) cosmos: Option<Arc<cosmos::Door<AnyStore>>>,
}

/// What comes of something that is done elsewhere.
pub(crate) type Elsewhere<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The APIs of a process that has some of the data only: whoever has them answers.
pub(crate) trait Relay: Send + Sync {
    /// Sends a request to the NoSQL API; `None`: it is off.
    fn nosql(&self, right: Right, request: Request<Bytes>) -> Elsewhere<'_, Option<Response>>;

    /// Has a request to the admin address answered that was let in; `here`: the routes of this process.
    fn admin(&self, request: Request<Body>, here: Next) -> Elsewhere<'_, Response>;

    /// Runs a command at the MongoDB API; `None`: it is off.
    fn mongo(
        &self,
        sender: mongo::Sender,
        database: String,
        command: Bytes,
    ) -> Elsewhere<'_, Option<Result<Bytes, NoReply>>>;

    /// Returns what is wrong with the nodes of the cluster, for the self-check.
    fn problems(&self) -> Vec<String>;
}

/// The way to whoever has the data, once it is known; without one they are here.
pub(crate) type RelayOnce = Arc<OnceLock<Arc<dyn Relay>>>;

/// The APIs as they are on now, and the signal by which calls are given up.
#[derive(Clone)]
pub(crate) struct Relayed {
    pub(crate) doors: watch::Receiver<Doors>,
    pub(crate) elsewhere: RelayOnce,
    pub(crate) stop: watch::Receiver<bool>,
}

impl Relayed {
    /// Returns what comes of a request; `None` if the server stops and [`STOP_TIME`] passes before. The
    /// request is dropped then, which ends it at its next wait.
    async fn until_stop<T>(&self, asked: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stop.clone();
        let stopped = async {
            // Without a sender the server has gone already.
            let _ = stop.wait_for(|stop| *stop).await;
            background::wait_for(STOP_TIME).await;
        };
        tokio::select! {
            answer = asked => Some(answer),
            () = stopped => None,
        }
    }
}

impl portal::Doors for Relayed {
    /// Sends a request to the NoSQL API; `None`: it is off. While the server stops: 503.
    async fn nosql(&self, right: Right, request: Request<Bytes>) -> Option<Response> {
        let answer = match self.elsewhere.get() {
            Some(relay) => self.until_stop(relay.nosql(right, request)).await,
            None => {
                let door = self.doors.borrow().cosmos.clone()?;
                let answer = self.until_stop(door.relay(right, request)).await;
                answer.map(|answer| Some(answer.map(Body::new)))
            }
        };
        answer.unwrap_or_else(|| Some(StatusCode::SERVICE_UNAVAILABLE.into_response()))
    }

    /// Runs a command, one BSON document, at the MongoDB API and returns its reply. A command that fails
    /// is a reply too; an error is only what kept it from running.
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
        let ran = match self.elsewhere.get() {
            Some(relay) => self.until_stop(relay.mongo(sender, database, command)).await,
            None => {
                let door = self.doors.borrow().mongo.clone().ok_or(Refused::DoorClosed)?;
                self.until_stop(door.relay(sender, &database, &command)).await.map(Some)
            }
        };
        let ran = ran.ok_or_else(|| Refused::Ended("the server is stopping".to_owned()))?;
        ran.ok_or(Refused::DoorClosed)?.map_err(|none| match none {
            NoReply::Malformed(why) => Refused::Malformed(why),
            NoReply::TooLarge => Refused::TooLarge(none.to_string()),
            NoReply::Closed => Refused::Ended(none.to_string()),
        })
    }
}
