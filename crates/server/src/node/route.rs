//! Where a client's stream goes: to the term that serves here, or to the node that owns the data. A
//! client that comes while nobody owns them waits for a while.

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
use cosmos::Duplex;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use mongo::{ClientStream, Ended, Rooms};
use store_shared::Role;
use tokio::sync::{OwnedSemaphorePermit, watch};
use uuid::Uuid;

use super::{
    facts::{Facts, Owner},
    link::{Dialer, Passed, Purpose, Unreached, Verdict},
};
use crate::{background, listen::Places, term::Term};

/// For whom a call is made that is no client's.
pub(super) const NOBODY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// How long a client waits for somebody who serves it.
const PATIENCE: Duration = Duration::from_secs(15);
/// The pause after a call that led nowhere.
const AGAIN: Duration = Duration::from_millis(100);
/// How long an owner may take to commit what is under way and to give the data up.
const HAND_OVER: Duration = Duration::from_secs(2);
/// How long the node that is to own a shard may take to hear it.
const ASKED: Duration = Duration::from_secs(2);
/// How long another node may take to hear something.
const WORD: Duration = Duration::from_millis(500);
/// How long the owner before may go on with a stream, once there is another.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How much longer it may take to answer a request that it has begun, such as one that hands the data over.
const LAST_ANSWER: Duration = Duration::from_secs(10);

/// Ways to whoever serves.
#[derive(Clone)]
pub(super) struct Route {
    pub(super) facts: Facts,
    pub(super) terms: watch::Receiver<Option<Arc<Term>>>,
    /// The epoch that is to be given up.
    pub(super) given_up: watch::Sender<Option<u64>>,
    /// Whether an operator has this node own the shard, so that placement leaves it here.
    pub(super) kept: Arc<AtomicBool>,
    /// Held while the shard is moved: two moves at once would have every node let another go first.
    pub(super) moving: Arc<tokio::sync::Mutex<()>>,
    pub(super) dialer: Dialer,
    /// Of all connections: a stream to the owner takes a descriptor beside its client's place.
    pub(super) places: Places,
}

/// Who serves a stream.
pub(super) enum Way {
    /// This node.
    Here(Arc<Term>),
    /// Another: a stream to it.
    There(Passage),
}

/// A stream to the owner.
pub(super) struct Passage {
    stream: Box<dyn Duplex>,
    owner: Owner,
    facts: Facts,
    place: OwnedSemaphorePermit,
}

impl Route {
    pub(super) fn new(
        facts: Facts,
        terms: watch::Receiver<Option<Arc<Term>>>,
        dialer: Dialer,
        places: Places,
    ) -> Self {
        let (given_up, kept, moving) = (watch::Sender::new(None), Arc::default(), Arc::default());
        Self { facts, terms, given_up, kept, moving, dialer, places }
    }

    /// The term that serves here.
    pub(super) fn here(&self) -> Option<Arc<Term>> {
        self.terms.borrow().clone()
    }

    /// Whether requests would be served, here or elsewhere.
    pub(super) fn would_serve(&self) -> bool {
        self.here().is_some() || self.facts.why_unready().is_none()
    }

    /// Has the term that serves here end, and then the data given up ([`give_up`](Self::give_up)). False
    /// where that takes too long: others take over by themselves then.
    pub(super) async fn hand_over(&self) -> bool {
        let Some(epoch) = self.facts.serving() else { return true };
        self.given_up.send_replace(Some(epoch));
        self.wait_until_given_up().await
    }

    /// Gives the data up once all is committed, and has the other nodes look.
    pub(super) async fn give_up(&self) {
        self.kept.store(false, Ordering::SeqCst);
        self.facts.shard.hand_over();
        self.wait_until_given_up().await;
        self.tell_others(|_| Purpose::Look).await;
    }

    async fn wait_until_given_up(&self) -> bool {
        let mut role = self.facts.role.clone();
        let given_up = role.wait_for(|role| !matches!(role, Role::Serving { .. }));
        tokio::time::timeout(HAND_OVER, given_up).await.is_ok()
    }

    /// Moves the shard to a node: asks it to claim the shard as soon as it is free, by `word`, and the others to
    /// let it, and gives the shard up. False where the node does not hear it; then nothing has changed. Another
    /// node may still be faster.
    pub(super) async fn move_to(&self, target: Uuid, word: Purpose) -> bool {
        let _moving = self.moving.lock().await;
        let Some(peer) = self.facts.peer_of(target) else { return false };
        // A node of a version before does not know every word.
        let known = [word, Purpose::GoFirst];
        let mut heard = false;
        for word in known {
            heard = heard || self.tell(&peer, word, ASKED).await;
        }
        if !heard {
            return false;
        }
        self.kept.store(false, Ordering::SeqCst);
        self.tell_others(|node| if node == target { word } else { Purpose::HoldBack }).await;
        self.hand_over().await;
        // It may have been told by a move before this one to let others go first.
        let _ = self.tell(&peer, word, WORD).await;
        true
    }

    /// Says something to the node at this address; false where it does not hear it in time.
    pub(super) async fn tell(&self, peer: &str, word: Purpose, within: Duration) -> bool {
        let call = self.dialer.call(peer, word, None);
        tokio::time::timeout(within, call).await.is_ok_and(|called| called.is_ok())
    }

    /// Says something to other nodes, all at once. One that does not hear it finds out by itself, later.
    pub(super) async fn tell_others(&self, word: impl Fn(Uuid) -> Purpose) {
        let mut calls = tokio::task::JoinSet::new();
        for (node, peer) in self.facts.other_peers() {
            let (route, word) = (self.clone(), word(node));
            // A node that is gone is not waited for.
            calls.spawn(async move { route.tell(&peer, word, WORD).await });
        }
        while calls.join_next().await.is_some() {}
    }

    /// Finds who serves; waits for one for a while. `None`: nobody does, or the owner would not have the
    /// stream.
    pub(super) async fn find(
        &self,
        purpose: Purpose,
        client: SocketAddr,
        secure: bool,
    ) -> Option<Way> {
        self.find_for(purpose, &Passed { client, secure, guest: None }).await
    }

    /// The same for a client of whom more is known.
    pub(super) async fn find_for(&self, purpose: Purpose, passed: &Passed) -> Option<Way> {
        let found = self.find_at_last(purpose, passed);
        tokio::time::timeout(PATIENCE, found).await.ok().flatten()
    }

    async fn find_at_last(&self, purpose: Purpose, passed: &Passed) -> Option<Way> {
        let (mut terms, mut view) = (self.terms.clone(), self.facts.view.clone());
        loop {
            if let Some(term) = terms.borrow_and_update().clone() {
                return Some(Way::Here(term));
            }
            view.mark_unchanged();
            if let Some(owner) = self.facts.other_owner() {
                let place = self.places.take_descriptor()?;
                match self.dialer.call(&owner.peer, purpose, Some(passed)).await {
                    Ok(stream) => {
                        self.facts.counts.passed.fetch_add(1, Ordering::Relaxed);
                        return Some(Way::There(Passage {
                            stream,
                            owner,
                            facts: self.facts.clone(),
                            place,
                        }));
                    }
                    Err(Unreached::Refused(Verdict::NotOwner)) => {}
                    Err(Unreached::Refused(verdict)) => {
                        tracing::warn!(?verdict, peer = owner.peer, "the owner refuses a client");
                        return None;
                    }
                    Err(Unreached::Silent(error)) => {
                        tracing::debug!(%error, peer = owner.peer, "call the owner");
                    }
                }
            }
            // Neither an owner nor Cassandra is reached: drivers are to leave this node.
            if !self.facts.hears() {
                return None;
            }
            tokio::select! {
                changed = terms.changed() => changed.ok()?,
                changed = view.changed() => changed.ok()?,
                () = background::wait_for(AGAIN) => {}
            }
        }
    }
}

impl Passage {
    /// The stream, for whoever speaks on it, and its place, which goes with it.
    pub(super) fn into_stream(self) -> (Box<dyn Duplex>, OwnedSemaphorePermit) {
        (self.stream, self.place)
    }

    /// Sends the one request for which the stream is; `None`: it is not known what became of it.
    pub(super) async fn exchange(self, request: Request<Body>) -> Option<Response> {
        let (facts, owner) = (self.facts.clone(), self.owner.clone());
        let over = async {
            is_over(facts, owner).await;
            background::wait_for(LAST_ANSWER).await;
        };
        let (stream, place) = self.into_stream();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        // It ends with the answer's body, or when nobody wants it any more.
        tokio::spawn(async move {
            let _ = connection.await;
            drop(place);
        });
        // An owner that hangs does not answer any more once there is another.
        tokio::select! {
            answer = sender.send_request(request) => Some(answer.ok()?.map(Body::new)),
            () = over => None,
        }
    }

    /// The stream for requests of the NoSQL API, until another node owns the data.
    pub(super) fn into_nosql(self) -> cosmos::Passage {
        let over = Box::pin(is_over(self.facts, self.owner));
        cosmos::Passage { stream: self.stream, over, place: self.place }
    }

    /// Passes messages of the MongoDB API on. Another node may go on with the client where this one has
    /// ended, or where a message is for another shard.
    pub(super) async fn pass_messages(
        self,
        client: &mut ClientStream<impl Duplex>,
        rooms: &Rooms,
    ) -> Ended {
        let is_home = self.facts.is_home();
        let over = pin!(is_over(self.facts, self.owner));
        client.pass_on(self.stream, over, rooms, is_home.as_ref()).await
    }
}

/// Waits until another node owns the data, and a while for the last words of this one.
async fn is_over(facts: Facts, owner: Owner) {
    let (mut view, shard, owner) = (facts.view, facts.number, Some((owner.node, owner.epoch)));
    // Without a sender the node has stopped.
    let _ = view.wait_for(|view| view.owner(shard) != owner).await;
    background::wait_for(LAST_WORDS).await;
}
