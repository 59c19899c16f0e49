//! Where a client's stream goes: to the term that serves here, or to the node that owns the data. A
//! client that comes while nobody owns them waits for a while.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    pin::pin,
    sync::{Arc, atomic::Ordering},
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
/// How long another node may take to hear something.
const WORD: Duration = Duration::from_millis(500);
/// How long the owner before may go on with a stream, once there is another.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Ways to whoever serves.
#[derive(Clone)]
pub(super) struct Route {
    pub(super) facts: Facts,
    pub(super) terms: watch::Receiver<Option<Arc<Term>>>,
    /// The epoch that is to be given up.
    pub(super) given_up: watch::Sender<Option<u64>>,
    pub(super) dialer: Dialer,
    /// Of all connections: a stream to the owner takes one beside its client's.
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
        Self { facts, terms, given_up: watch::Sender::new(None), dialer, places }
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
        self.facts.shard.hand_over();
        self.wait_until_given_up().await;
        self.tell_others(|_| Purpose::Look).await;
    }

    async fn wait_until_given_up(&self) -> bool {
        let mut role = self.facts.role.clone();
        let given_up = role.wait_for(|role| !matches!(role, Role::Serving { .. }));
        tokio::time::timeout(HAND_OVER, given_up).await.is_ok()
    }

    /// Asks a node to own the data as soon as they are free, and the others to let it. One that does not hear
    /// of it may be faster.
    pub(super) async fn ask_to_own(&self, target: Uuid) {
        let go_first = |node| if node == target { Purpose::GoFirst } else { Purpose::HoldBack };
        self.tell_others(go_first).await;
    }

    /// Says something to other nodes, all at once. One that does not hear it finds out by itself, later.
    pub(super) async fn tell_others(&self, word: impl Fn(Uuid) -> Purpose) {
        let mut calls = tokio::task::JoinSet::new();
        for (node, peer) in self.facts.other_peers() {
            let (dialer, word) = (self.dialer.clone(), word(node));
            calls.spawn(async move {
                // A node that is gone is not waited for.
                let call = dialer.call(&peer, word, None);
                let _ = tokio::time::timeout(WORD, call).await;
            });
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
                let place = self.places.take()?;
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
        let (stream, place) = self.into_stream();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        // It ends with the answer's body, or when nobody wants it any more.
        tokio::spawn(async move {
            let _ = connection.await;
            drop(place);
        });
        Some(sender.send_request(request).await.ok()?.map(Body::new))
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
