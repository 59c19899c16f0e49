//! A term: an engine and everything that serves it, which are the APIs, the routes of the admin
//! address, and background work. A standalone server has a single term; a cluster node has a term
//! for each period in which it owns the shard. Sockets are handled by `listen`.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use admin::{
    relayed::Apis,
    routes::{Shared, doctor::CheckContext, mounted, server_routes},
    serve_stream::serve_stream,
};
use axum::Router;
use engine::Engine;
use mongo::{FirstShard, IsHome, MongoApi, OtherShards, ReplicaSetSettings, Topology};
use parking_lot::Mutex;
use server_base::{
    config::MongoTopology,
    entrance::Entrance,
    failure::{Failure, failed},
    features::Features,
    machine,
    tls::{Opened, Socket},
};
use store_tree::{Images, TreeMetrics};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::{Semaphore, watch},
    task::JoinHandle,
};

use crate::{
    background,
    give_way::{give_way, run_apart},
    host, nosql, recent_lines,
    server_context::ServerContext,
};

/// The shard that an engine serves, and access to the other shards.
#[derive(Default)]
pub struct Shards {
    /// Determines which databases of the MongoDB API belong to this shard; `None` if all do.
    pub is_home: Option<IsHome>,
    /// Sends requests to the other shards; `None` if there are none.
    pub siblings: Option<OtherShards>,
    /// Access to the server of the first shard, which stores the users of the MongoDB API; `None`
    /// if this server is the first shard's.
    pub first: Option<FirstShard>,
    /// The shard's number and the number of shards, for the NoSQL API.
    pub nosql: cosmos::Shard,
    /// Sends requests of the NoSQL API to the other shards.
    pub nosql_siblings: Option<cosmos::OtherShards>,
}

impl std::fmt::Debug for Shards {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shards").field("nosql", &self.nosql).finish_non_exhaustive()
    }
}

/// An engine with the APIs and background work that serve it.
pub struct ServingTerm {
    /// State of the admin routes, including the engine and the APIs.
    pub shared: Shared,
    /// Routes of the admin address, inside the portal's access control.
    routes: Option<Router>,
    /// The routes of the admin address for requests that are already authorized.
    known_routes: Router,
    /// Signals the term's connections and tasks to end.
    stop: watch::Sender<bool>,
    /// Background tasks, which end after `stop`.
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for ServingTerm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServingTerm").finish_non_exhaustive()
    }
}

impl ServingTerm {
    /// Creates the APIs and starts the background work. Changes that an earlier process left
    /// incomplete are finished on return, so that no request sees them.
    pub async fn begin(
        context: &ServerContext,
        engine: Engine,
        (measured, images): (Option<Arc<TreeMetrics>>, Option<Images>),
        features: Arc<Features>,
        shards: Shards,
    ) -> Result<Arc<Self>, Failure> {
        let (stop, stopped) = watch::channel(false);
        let mongo = context.ready.mongo.as_ref().map(|bound| {
            let settings = mongo_settings(context, bound.clone(), &features);
            let (is_home, siblings) = (shards.is_home.clone(), shards.siblings.clone());
            let first_shard = shards.first.clone();
            let settings =
                mongo::Settings { is_home, other_shards: siblings, first_shard, ..settings };
            MongoApi::new(engine.clone(), settings)
        });
        if let Some(api) = &mongo {
            let root = context.config.root_user.as_ref();
            let root = root.map(|root| (root.name.as_str(), &root.password));
            api.prepare_access(root).await.map_err(failed)?;
            api.prepare_replica_set().await;
            // Clients of a replica set expect that a stream can start at any earlier time.
            let is_set = matches!(context.config.mongo_topology, MongoTopology::ReplicaSet { .. });
            let keeps = context.config.change_retention.is_some() || is_set;
            if keeps && context.config.cluster.is_none() {
                api.keep_changes().await.map_err(failed)?;
            }
        }
        let cosmos = match &context.nosql {
            Some(settings) => {
                let settings = cosmos::Settings {
                    shard: shards.nosql,
                    other_shards: shards.nosql_siblings.clone(),
                    ..settings.clone()
                };
                Some(nosql::open_api(engine.clone(), settings).await?)
            }
            None => None,
        };
        let apis = Apis { mongo: mongo.clone(), cosmos };
        let shared = Shared {
            engine: engine.clone(),
            measured,
            images,
            backups: Arc::new(Semaphore::new(1)),
            plan: context.plan,
            memory: context.memory.clone(),
            temporary: context.files.clone(),
            apis: apis.clone(),
            shard_relay: context.shard_relay.clone(),
            audit: context.audit.clone(),
            subject: CheckContext {
                config: Arc::new(context.config.clone()),
                ready: Arc::new(context.ready.clone()),
            },
            features,
            figures: Arc::clone(&context.figures),
            slow: context.slow.clone(),
            reaping: Arc::clone(&context.reaping),
            explorer: Arc::clone(&context.explorer),
            index_unused_days: context.config.index_unused_days,
            stopping: stopped.clone(),
        };
        context.reaping.apply(&engine);
        let known_routes = server_routes(shared.clone());
        let routes = context.pages.clone().map(|pages| mounted(pages, shared.clone()));
        context.apis.send_replace(apis);
        let follows = shards.first.is_some() && context.config.mongo_auth;
        let follows = mongo.clone().filter(|_| follows);
        let follows = follows.map(|api| background::follow_users(api, stopped.clone()));
        let tasks = background::start(&engine, mongo, context.config.index_unused_days, &stopped);
        let tasks = tasks.into_iter().chain(follows.map(tokio::spawn)).collect();
        Ok(Arc::new(Self { shared, routes, known_routes, stop, tasks: Mutex::new(tasks) }))
    }

    /// Signals connections and background work to end.
    pub(crate) fn signal_end(&self) {
        self.stop.send_replace(true);
    }

    /// Ends the background work, within about nine seconds; connections end by themselves. Nothing
    /// of the term writes after this returns.
    pub async fn end(&self, context: &ServerContext) {
        self.signal_end();
        context.apis.send_replace(Apis::default());
        let tasks = std::mem::take(&mut *self.tasks.lock());
        end_tasks(tasks).await;
    }

    /// Serves a client of the MongoDB API with the given identity. When the term ends, another node
    /// may continue to serve the client.
    pub async fn serve_movable(
        &self,
        client: &mut mongo::ClientStream<impl AsyncRead + AsyncWrite + Unpin + Send>,
        peer: mongo::Peer,
    ) -> mongo::ServeEnd {
        let Some(api) = self.shared.apis.mongo.clone() else { return mongo::ServeEnd::Closed };
        mongo::serve_movable(api, client, peer, self.stop.subscribe()).await
    }

    /// Returns the NoSQL API, with its stop signal, for requests that arrive at this node; `None`
    /// if it is off.
    pub fn nosql_endpoint(&self) -> Option<cosmos::LocalEndpoint> {
        Some(cosmos::LocalEndpoint::new(self.shared.apis.cosmos.clone()?, self.stop.subscribe()))
    }

    /// Returns the admin routes for requests that are already authorized.
    pub fn known_routes(&self) -> Router {
        self.known_routes.clone()
    }

    /// Returns the routes of the admin address; `None` if it is off.
    pub fn routes(&self) -> Option<Router> {
        self.routes.clone()
    }
}

impl Entrance for ServingTerm {
    fn count_silent(&self) -> impl Send + 'static {
        self.shared.apis.mongo.as_ref().map(|api| api.count_silent())
    }

    async fn mongo(self: Arc<Self>, client: Opened, peer: SocketAddr) {
        let Some(api) = self.shared.apis.mongo.clone() else { return };
        let peer = client.peer(peer);
        mongo::serve(api, client.socket, peer, self.stop.subscribe()).await;
    }

    async fn nosql(self: Arc<Self>, stream: TcpStream, _: SocketAddr) {
        let Some(api) = self.shared.apis.cosmos.clone() else { return };
        cosmos::serve(api, stream, self.stop.subscribe()).await;
    }

    async fn admin(self: Arc<Self>, stream: Socket, peer: SocketAddr, stop: watch::Receiver<bool>) {
        let Some(routes) = self.routes() else { return };
        serve_stream(routes, stream, peer, stop).await;
    }
}

/// Waits for tasks that were signalled to end, and aborts the remaining ones.
pub async fn end_tasks(tasks: Vec<JoinHandle<()>>) {
    for mut task in tasks {
        // A listener ends within `listen::DRAIN` without being aborted; waits one second longer.
        if tokio::time::timeout(Duration::from_secs(9), &mut task).await.is_err() {
            task.abort();
            let _ = task.await;
        }
    }
}

/// Returns the settings of the MongoDB API. `host` is the address reported to drivers.
fn mongo_settings(context: &ServerContext, host: String, features: &Features) -> mongo::Settings {
    let usual = mongo::Settings::default();
    mongo::Settings {
        per_document_ttl: features.per_document_ttl(),
        carry_timestamps: features.carry_timestamps(),
        host,
        unknown_clients: context.strangers.clone(),
        memory: context.memory.clone(),
        temporary: context.files.clone(),
        give_way,
        block_in_place: run_apart,
        asks_for_login: context.config.mongo_auth,
        account: context
            .config
            .account_name
            .clone()
            .map(|name| mongo::Account::new(name, context.account.clone())),
        change_retention_s: match context.config.change_retention {
            None => usual.change_retention_s,
            Some(kept) => i64::try_from(kept.as_secs()).ok().filter(|seconds| 0 < *seconds),
        },
        enforce_throughput: context.config.enforce_throughput,
        audit: context.audit.clone(),
        topology: match (&context.config.cluster, &context.config.mongo_topology) {
            (Some(_), _) | (None, MongoTopology::Router) => Topology::Router,
            (None, MongoTopology::Standalone) => Topology::Standalone,
            (None, MongoTopology::ReplicaSet { name, advertise }) => {
                let (name, advertise) = (name.clone(), advertise.clone());
                Topology::ReplicaSet(ReplicaSetSettings { name, advertise })
            }
        },
        in_cluster: context.config.cluster.is_some(),
        tracer: context.traces.tracer(),
        slow: context.slow.clone(),
        max_time: context.config.limits.max_time,
        max_cursors: context.config.limits.max_cursors.unwrap_or(usual.max_cursors),
        max_message_bytes: context
            .config
            .limits
            .max_message_bytes
            .unwrap_or(usual.max_message_bytes),
        usage: machine::process_usage,
        machine: host::machine,
        machine_figures: host::figures,
        recent_log: recent_lines::recent_log,
        ..usual
    }
}
