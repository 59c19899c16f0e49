//! Routes a client's stream to the term (engine and APIs) of this node, or to the node that owns
//! the shard. Waits for a while if the shard has no owner.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{body::Body, extract::Request, response::Response};
use cluster::View;
use cosmos::Duplex;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use mongo::{ClientStream, ForwardAccounts, ServeEnd};
use server::ServingTerm;
use server_base::{listen::ConnectionLimits, sleep};
use store_shared::Role;
use tokio::sync::{OwnedSemaphorePermit, watch};
use uuid::Uuid;

use super::{
    cluster_state::{ClusterState, Owner},
    link::{CallReply, Dialer, ForwardedClient, Purpose, Unreached},
};

/// Client address in calls that no client has caused.
pub(super) const NO_CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Maximum time that a client waits until the shard has an owner.
const PATIENCE: Duration = Duration::from_secs(15);
/// Pause after a failed call.
const AGAIN: Duration = Duration::from_millis(100);
/// Time in which an owner must commit pending writes and give up the data.
const HAND_OVER: Duration = Duration::from_secs(2);
/// Time limit for notifying the node to which a shard is to move.
const MOVE_TIMEOUT: Duration = Duration::from_secs(2);
/// Time limit of a notification to other nodes.
const CONTROL_TIMEOUT: Duration = Duration::from_millis(500);
/// Time for which streams to the previous owner continue after a take-over.
const DRAIN_TIME: Duration = Duration::from_secs(1);
/// Additional grace period for a response in progress, such as that of a hand-over.
const RESPONSE_GRACE: Duration = Duration::from_secs(10);

/// Finds the node that serves a shard, and opens streams to it.
#[derive(Clone)]
pub(super) struct Route {
    pub(super) cluster_state: ClusterState,
    pub(super) terms: watch::Receiver<Option<Arc<ServingTerm>>>,
    /// Set to the epoch in which this node is to release the shard.
    pub(super) given_up: watch::Sender<Option<u64>>,
    /// Whether an operator has assigned the shard to this node, so that placement leaves it here.
    pub(super) kept: Arc<AtomicBool>,
    /// Held while the shard is moved: in two concurrent moves every node would leave the shard to
    /// the others.
    pub(super) moving: Arc<tokio::sync::Mutex<()>>,
    pub(super) dialer: Dialer,
    /// Limits of connections, since a stream to the owner needs another file descriptor.
    pub(super) connection_limits: ConnectionLimits,
}

/// The destination of a stream.
pub(super) enum Destination {
    Here(Arc<ServingTerm>),
    /// Another node, which is reached over this stream.
    There(OwnerStream),
}

/// A stream to the owner.
pub(super) struct OwnerStream {
    stream: Box<dyn Duplex>,
    owner: Owner,
    cluster_state: ClusterState,
    place: OwnedSemaphorePermit,
}

impl Route {
    pub(super) fn new(
        cluster_state: ClusterState,
        terms: watch::Receiver<Option<Arc<ServingTerm>>>,
        dialer: Dialer,
        connection_limits: ConnectionLimits,
    ) -> Self {
        let (given_up, kept, moving) = (watch::Sender::new(None), Arc::default(), Arc::default());
        Self { cluster_state, terms, given_up, kept, moving, dialer, connection_limits }
    }

    /// Returns the current term if this node owns the shard.
    pub(super) fn here(&self) -> Option<Arc<ServingTerm>> {
        self.terms.borrow().clone()
    }

    /// Returns whether a request would be served now, by this or another node.
    pub(super) fn would_serve(&self) -> bool {
        self.here().is_some() || self.cluster_state.why_unready().is_none()
    }

    /// Ends the term that serves here and then releases the shard ([`give_up`](Self::give_up)).
    /// Returns false if that takes too long: other nodes then take the shard over without a
    /// hand-over.
    pub(super) async fn hand_over(&self) -> bool {
        let Some(epoch) = self.cluster_state.serving() else { return true };
        self.given_up.send_replace(Some(epoch));
        self.wait_until_given_up().await
    }

    /// Releases the shard once everything is committed, and notifies the other nodes.
    pub(super) async fn give_up(&self) {
        self.kept.store(false, Ordering::SeqCst);
        self.cluster_state.shard.hand_over();
        self.wait_until_given_up().await;
        self.notify_others(|_| Purpose::Look).await;
    }

    async fn wait_until_given_up(&self) -> bool {
        let mut role = self.cluster_state.role.clone();
        let given_up = role.wait_for(|role| !matches!(role, Role::Serving { .. }));
        tokio::time::timeout(HAND_OVER, given_up).await.is_ok()
    }

    /// Moves the shard to a node. Sends `message`, which makes the node claim the shard when it
    /// becomes free, notifies the other nodes not to claim it, and releases the shard. Returns
    /// false, with nothing changed, if the target does not answer. Another node may still claim the
    /// shard first.
    pub(super) async fn move_to(&self, target: Uuid, message: Purpose) -> bool {
        let _moving = self.moving.lock().await;
        let Some(peer) = self.cluster_state.peer_of(target) else { return false };
        // Older versions do not support every control message.
        let known = [message, Purpose::GoFirst];
        let mut heard = false;
        for message in known {
            heard = heard || self.send_control(&peer, message, MOVE_TIMEOUT).await;
        }
        if !heard {
            return false;
        }
        self.kept.store(false, Ordering::SeqCst);
        self.notify_others(|node| if node == target { message } else { Purpose::HoldBack }).await;
        self.hand_over().await;
        // Sent again, since an earlier move may have told the target node not to claim the shard.
        let _ = self.send_control(&peer, message, CONTROL_TIMEOUT).await;
        true
    }

    /// Sends a control message to a node; returns false if it does not confirm in time.
    pub(super) async fn send_control(
        &self,
        peer: &str,
        message: Purpose,
        within: Duration,
    ) -> bool {
        let call = self.dialer.call(peer, message, None);
        tokio::time::timeout(within, call).await.is_ok_and(|called| called.is_ok())
    }

    /// Sends control messages to all other nodes. A node that misses its message detects the change
    /// later in the shard's record.
    pub(super) async fn notify_others(&self, message: impl Fn(Uuid) -> Purpose) {
        let mut calls = tokio::task::JoinSet::new();
        for (node, peer) in self.cluster_state.other_peers() {
            let (route, message) = (self.clone(), message(node));
            // Concurrent, so that a node that is down delays no other.
            calls.spawn(async move { route.send_control(&peer, message, CONTROL_TIMEOUT).await });
        }
        while calls.join_next().await.is_some() {}
    }

    /// Finds the server of the shard, waiting for a limited time. Returns `None` if the shard has
    /// no owner by then, or the owner refuses the stream.
    pub(super) async fn find(
        &self,
        purpose: Purpose,
        client: SocketAddr,
        secure: bool,
    ) -> Option<Destination> {
        self.find_for(purpose, &ForwardedClient { client, secure, guest: None }).await
    }

    /// Finds the server of the shard as [`find`](Self::find) does; `passed` describes the client,
    /// with its login, to the owner.
    pub(super) async fn find_for(
        &self,
        purpose: Purpose,
        passed: &ForwardedClient,
    ) -> Option<Destination> {
        let found = self.find_at_last(purpose, passed);
        tokio::time::timeout(PATIENCE, found).await.ok().flatten()
    }

    async fn find_at_last(
        &self,
        purpose: Purpose,
        passed: &ForwardedClient,
    ) -> Option<Destination> {
        let (mut terms, mut view) = (self.terms.clone(), self.cluster_state.view.clone());
        loop {
            if let Some(term) = terms.borrow_and_update().clone() {
                return Some(Destination::Here(term));
            }
            view.mark_unchanged();
            if let Some(owner) = self.cluster_state.other_owner() {
                let place = self.connection_limits.take_descriptor()?;
                match self.dialer.call(&owner.peer, purpose, Some(passed)).await {
                    Ok(stream) => {
                        self.cluster_state.counts.passed.fetch_add(1, Ordering::Relaxed);
                        return Some(Destination::There(OwnerStream {
                            stream,
                            owner,
                            cluster_state: self.cluster_state.clone(),
                            place,
                        }));
                    }
                    Err(Unreached::Refused(CallReply::NotOwner)) => {}
                    Err(Unreached::Refused(verdict)) => {
                        tracing::warn!(?verdict, peer = owner.peer, "the owner refused a client");
                        return None;
                    }
                    Err(Unreached::Silent(error)) => {
                        tracing::debug!(%error, peer = owner.peer, "cannot connect to the owner");
                    }
                }
            }
            // Neither the owner nor Cassandra is reachable: let drivers leave this node.
            if !self.cluster_state.reaches_ledger() {
                return None;
            }
            tokio::select! {
                changed = terms.changed() => changed.ok()?,
                changed = view.changed() => changed.ok()?,
                () = sleep::wait_for(AGAIN) => {}
            }
        }
    }
}

impl OwnerStream {
    /// Returns the stream and its descriptor permit, which has to be held as long as the stream.
    pub(super) fn into_stream(self) -> (Box<dyn Duplex>, OwnedSemaphorePermit) {
        (self.stream, self.place)
    }

    /// Sends the only request over the stream; `None` if the outcome is unknown.
    pub(super) async fn exchange(self, request: Request<Body>) -> Option<Response> {
        let (cluster_state, owner) = (self.cluster_state.clone(), self.owner.clone());
        let over = async {
            is_over(cluster_state, owner).await;
            sleep::wait_for(RESPONSE_GRACE).await;
        };
        let (stream, place) = self.into_stream();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        // The connection ends with the body of the response, or when the body is no longer read.
        tokio::spawn(async move {
            let _ = connection.await;
            drop(place);
        });
        // Stops waiting once another node owns the shard, since the previous owner may hang and
        // never answer.
        tokio::select! {
            answer = sender.send_request(request) => Some(answer.ok()?.map(Body::new)),
            () = over => None,
        }
    }

    /// Returns the stream for requests of the NoSQL API, valid until another node owns the data.
    pub(super) fn into_nosql(self) -> cosmos::ForwardConnection {
        let over = Box::pin(is_over(self.cluster_state, self.owner));
        cosmos::ForwardConnection { stream: self.stream, over, permit: self.place }
    }

    /// Forwards messages of the MongoDB API. The result says whether another node must continue
    /// with the client, because the owner's term has ended or a message is for another shard.
    pub(super) async fn pass_messages(
        self,
        client: &mut ClientStream<impl Duplex>,
        forward_accounts: &ForwardAccounts,
    ) -> ServeEnd {
        let is_home = self.cluster_state.is_home();
        let over = pin!(is_over(self.cluster_state, self.owner));
        client.pass_on(self.stream, over, forward_accounts, is_home.as_ref()).await
    }
}

/// Waits until another node owns the data, and for the grace period after that.
async fn is_over(cluster_state: ClusterState, owner: Owner) {
    wait_for_successor(cluster_state.view, cluster_state.number, &owner).await;
    sleep::wait_for(DRAIN_TIME).await;
}

/// Waits until a shard is owned by another node or in another epoch, or until this node stops.
/// While the shard has no owner in this node's view, the previous one may still reply: a claim
/// fails if Cassandra was slow and the owner is alive.
async fn wait_for_successor(mut view: watch::Receiver<View>, shard: u32, owner: &Owner) {
    let owner = (owner.node, owner.epoch);
    // A dropped sender means that the node has stopped.
    let _ = view.wait_for(|view| view.owner(shard).is_some_and(|seen| seen != owner)).await;
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use cluster::ShardView;

    use super::*;

    #[test]
    fn streams_to_an_owner_outlive_a_claim_that_fails() {
        let owner = Owner { node: Uuid::from_u128(1), epoch: 7, peer: String::new() };
        let known = Some((owner.node, owner.epoch));
        let seen = |owner| View {
            shards: vec![ShardView { owner, ..ShardView::default() }],
            ..View::default()
        };
        for (next, is_over) in [
            (known, false),
            (None, false),
            (Some((Uuid::from_u128(2), 8)), true),
            (Some((owner.node, 8)), true),
        ] {
            let (sender, receiver) = watch::channel(seen(known));
            let mut over = pin!(wait_for_successor(receiver, 0, &owner));
            let mut context = Context::from_waker(Waker::noop());
            assert_eq!(over.as_mut().poll(&mut context), Poll::Pending);
            sender.send_replace(seen(next));
            assert_eq!(over.as_mut().poll(&mut context).is_ready(), is_over, "{next:?}");
        }
    }
}
