//! Starts a term (the engine and APIs of a shard, in a period of ownership) when this node has
//! become the owner, and ends the term when the node may no longer serve.

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use engine::{CopyReaper, Engine};
use server::{ServerContext, ServingTerm, Shards, engine_options};
use server_base::{
    failure::{Failure, failed},
    features::Features,
    sleep,
};
use store_shared::{Role, ShardClock};
use tokio::sync::{oneshot, watch};

use super::{
    copy, link::Purpose, ownership::InLease, route::Route, routes::Routes, siblings::siblings_of,
    users::first_shard_of,
};

/// Pause before another attempt to start a term.
const AGAIN: Duration = Duration::from_secs(1);
/// Time limit for requests in progress during a hand-over. Longer ones fail with the error that
/// another node owns the data.
const LAST_REQUESTS: Duration = Duration::from_millis(250);
/// Interval between log lines while the engine of an ended term is still in use.
const LONG: Duration = Duration::from_secs(10);

/// Channel that publishes the current term if this node owns the shard.
pub(super) type CurrentTerm = watch::Sender<Option<Arc<ServingTerm>>>;

/// The settings, routes and clock of a shard's terms.
pub(super) struct Terms {
    pub(super) context: Arc<ServerContext>,
    pub(super) route: Route,
    pub(super) routes: Routes,
    pub(super) clock: Arc<ShardClock>,
    /// The current term, if this node owns the shard.
    pub(super) current: CurrentTerm,
}

impl Terms {
    /// Runs the terms of a shard until `stop`, then ends the current term.
    pub(super) async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut role = self.route.cluster_state.role.clone();
        let mut given_up = self.route.given_up.subscribe();
        let mut reaper = CopyReaper::default();
        loop {
            let epoch = tokio::select! {
                epoch = until_serving(&mut role) => epoch,
                never = copy::tend(&mut reaper, &self.route.cluster_state.shard) => match never {},
                _ = stop.wait_for(|stop| *stop) => return,
            };
            // `None`: the node has stopped.
            let Some(epoch) = epoch else { return };
            // Completes when the term's engine has been dropped. The store outlives the engine.
            let (engine_gone, mut gone) = oneshot::channel();
            let begun = tokio::select! {
                begun = self.begin(engine_gone) => Some(begun),
                () = until_over(role.clone(), epoch) => None,
            };
            match begun {
                Some(Ok(term)) => {
                    tracing::info!(epoch, "this node now owns the shard and serves it");
                    self.route.cluster_state.counts.terms.fetch_add(1, Ordering::Relaxed);
                    self.current.send_replace(Some(term));
                    let others = self.route.clone();
                    // Clients on other nodes are waiting for an owner; notifying them must not
                    // delay serving.
                    tokio::spawn(async move { others.notify_others(|_| Purpose::Look).await });
                    let hands_over = tokio::select! {
                        () = until_over(role.clone(), epoch) => false,
                        _ = stop.wait_for(|stop| *stop) => false,
                        _ = given_up.wait_for(|given_up| *given_up == Some(epoch)) => true,
                    };
                    if hands_over {
                        self.hand_over(&mut gone).await;
                    } else {
                        self.end().await;
                    }
                    tracing::info!(epoch, "this node no longer owns the shard");
                }
                Some(Err(failure)) => {
                    tracing::error!(%failure, epoch, "cannot serve the shard on this node");
                    // Another node may be able to serve the shard. Otherwise this node claims it
                    // again.
                    self.route.give_up().await;
                    sleep::wait_for(AGAIN).await;
                }
                None => {}
            }
            wait_until_gone(&mut gone).await;
            if *stop.borrow() {
                return;
            }
        }
    }

    async fn begin(&self, engine_gone: oneshot::Sender<()>) -> Result<Arc<ServingTerm>, Failure> {
        let clock = self.clock.current();
        let clock = clock.ok_or_else(|| Failure::Failed("the term has ended".to_owned()))?;
        let persist = Arc::new(InLease(Arc::clone(&self.clock)));
        let mut options = engine_options(&self.context.config, self.context.plan, clock, persist);
        options.gone = Some(engine_gone);
        let tree = Arc::clone(self.route.cluster_state.shard.tree());
        let measured = Some(tree.metrics());
        let engine = Engine::open(tree, options).await.map_err(failed)?;
        let features = Features::of_cluster(&engine, self.context.config.per_document_ttl);
        let cluster_state = &self.route.cluster_state;
        let (siblings, nosql_siblings) = siblings_of(&self.routes, cluster_state.number);
        let shards = Shards {
            is_home: cluster_state.is_home(),
            siblings,
            first: first_shard_of(&self.routes, cluster_state.number),
            nosql: cluster_state.nosql_shard(),
            nosql_siblings,
        };
        ServingTerm::begin(&self.context, engine, (measured, None), features, shards).await
    }

    /// Ends the term, and gives the data up once the engine is no longer used. For clients the
    /// change happens between two messages; the next owner answers the later ones.
    async fn hand_over(&self, gone: &mut oneshot::Receiver<()>) {
        let mut ended = pin!(async {
            self.end().await;
            wait_until_gone(gone).await;
        });
        let in_time = tokio::time::timeout(LAST_REQUESTS, &mut ended).await.is_ok();
        self.route.give_up().await;
        if !in_time {
            ended.await;
        }
    }

    async fn end(&self) {
        if let Some(term) = self.current.send_replace(None) {
            term.end(&self.context).await;
        }
    }
}

/// Waits until the node may serve, and returns the epoch in which it may; `None` if the node has
/// stopped.
async fn until_serving(role: &mut watch::Receiver<Role>) -> Option<u64> {
    let serving = role.wait_for(|role| matches!(role, Role::Serving { .. })).await.ok()?;
    if let Role::Serving { epoch } = &*serving { Some(*epoch) } else { None }
}

/// Waits until the node may no longer serve in this epoch.
async fn until_over(mut role: watch::Receiver<Role>, epoch: u64) {
    // A dropped sender means that the node has stopped.
    let _ = role.wait_for(|role| *role != Role::Serving { epoch }).await;
}

/// Waits until the engine is no longer used. The next engine must not be opened earlier: commits in
/// progress of the previous engine would be mixed with its commits.
async fn wait_until_gone(gone: &mut oneshot::Receiver<()>) {
    while !gone.is_terminated() && tokio::time::timeout(LONG, &mut *gone).await.is_err() {
        tracing::warn!("requests of an ended term are still running");
    }
}
