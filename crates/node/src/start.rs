//! Opens and stops a node of a cluster.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use admin::{early_admin::EarlyAdmin, own_key};
use auth::{Key, Secret};
use clock::{ClockSource as _, Machine};
use cluster::{ClusterRecord, Ledger, Settings};
use memory::Plan;
use mongo::ForwardAccounts;
use portal::Login;
use server::{ServerContext, boot_id, clock_source, end_tasks, plan_memory, store_options};
use server_base::{
    addresses,
    config::{ClockMode, ClusterConfig, Config, REAP_DELAY},
    data_dir::{DataDir, Refused},
    entrance::Bound,
    failure::{Failure, failed},
    listen::{self, BoundSocket},
    machine, sleep,
};
use store::Store as _;
use store_shared::{
    ClockSources, NodeOptions, ShardClock, ShardClockOptions, ShardOptions, SharedNode,
};
use store_tree::TreeOptions;
use tokio::{
    sync::watch,
    task::{JoinHandle, JoinSet},
};
use tracing::Instrument as _;

use super::{
    about::{LOCATION_BYTES, NodeDescription, location_of},
    admin_routes, clock_guard,
    cluster_state::ClusterState,
    copy_guard, disk_guard,
    gateway::Gateway,
    identity::open_identity,
    ledger::read_cluster,
    link::{Dialer, LinkTls},
    nosql_routes, placement,
    route::Route,
    routes::Routes,
    shard_relay,
    terms::{CurrentTerm, Terms},
};

/// Maximum time that startup waits until the node can serve requests.
const READY: Duration = Duration::from_secs(20);

/// Name of the link address's setting.
const PEER: &str = "peer-addr";

/// Forwarded messages may use 1/`PASSED` of the memory for operations.
const PASSED: usize = 4;

pub(crate) struct Node {
    shared: Arc<SharedNode>,
    routes: Routes,
    /// Signals the terms of all shards to end.
    stop_terms: watch::Sender<bool>,
    /// The tasks that run the terms, one per shard.
    terms: Vec<JoinHandle<()>>,
    /// Lock of the data directory; dropped last.
    data_dir: DataDir,
}

/// An opened node with its shared state and tasks.
pub(crate) struct Opened {
    pub(crate) context: Arc<ServerContext>,
    pub(crate) node: Node,
    /// Tasks of the listeners; they end after `stopped`.
    pub(crate) tasks: Vec<JoinHandle<()>>,
}

/// Opens the node of this data directory in the cluster of a ledger. On return it accepts clients
/// and, unless that takes unusually long, is caught up or owns the data.
pub(crate) async fn open<L: Ledger>(
    config: &Config,
    cluster: &ClusterConfig,
    ledger: Arc<L>,
    stopped: &watch::Receiver<bool>,
) -> Result<Opened, Failure> {
    let tls = peer_tls(cluster).await?;
    let Some(path) = &config.data_dir else {
        return Err(Failure::Usage("a node of a cluster needs a --data-dir".to_owned()));
    };
    let data_dir = DataDir::open(path, false).map_err(Failure::Refused)?;
    let record = read_cluster(&*ledger).await?;
    let config = Config { cluster: Some(cluster.clone()), ..clocked(config, &record)? };
    let node = open_identity(&data_dir, record.id)?;
    let secret = Key::of(record.secret.bytes()).map_err(failed)?;
    own_key::keep_of_cluster(&config, &secret)?;
    let tokens = Some(Secret::from_bytes(secret.sign(&[b"nosql tokens"]).to_vec()));
    let (context, mut bound) =
        ServerContext::open(&config, Some(&data_dir), tokens, stopped).await?;
    let early = EarlyAdmin::listen(&mut bound, stopped)?;
    let link = addresses::bind_setting(PEER, &cluster.peer_addr, &config).await?;
    let about = Arc::new(about(cluster, &context, link.address));
    let location = location_of(&data_dir).map_err(failed)?;
    let mut settings = Settings::new(record.id, 0, node, about.encode(&location));
    settings.place_bytes = LOCATION_BYTES;
    let sources = clock_sources(&config);
    let clocks: Vec<_> =
        (0..record.shards).map(|_| shard_clock(&config, &settings, &sources)).collect();
    let shared = Arc::new(open_shared(&config, settings, &clocks, ledger, &data_dir)?);
    let dialer = Dialer {
        cluster: record.id,
        shard: 0,
        key: Key::of(&secret.sign(&[b"link between nodes"])).map_err(failed)?,
        tls: tls.clone(),
        open: context.login == Login::Open,
    };
    let limits = listen::ConnectionLimits::of_apis(context.config.limits.max_connections);
    let first = shared.shard(0).ok_or_else(|| failed("the cluster has no shard"))?;
    let cluster_state = ClusterState {
        number: 0,
        cluster: Arc::new(record),
        node,
        about,
        view: shared.view(),
        role: first.role(),
        shard: Arc::clone(first),
        counts: Arc::default(),
    };
    let (currents, routes) = routes_of(&shared, &cluster_state, &dialer, &limits);
    let context = Arc::new(context);
    let (stop_terms, terms_stopped) = watch::channel(false);
    let routes = Routes::of(routes.into_iter());
    let routes = routes.ok_or_else(|| failed("the cluster has no shard"))?;
    // Cannot be set already: this function created `context`.
    let _ = context.shard_relay.set(shard_relay::of(routes.clone(), context.memory.clone()));
    let terms = routes.all().zip(clocks).zip(currents).map(|((route, clock), current)| {
        let (context, route, routes) = (Arc::clone(&context), route.clone(), routes.clone());
        // At error level, so that the shard appears in log lines of every level.
        let span = tracing::error_span!("shard", number = route.cluster_state.number);
        let terms = Terms { context, route, routes, clock, current };
        tokio::spawn(terms.run(terms_stopped.clone()).instrument(span))
    });
    let terms = terms.collect();
    let gateway = Arc::new(gateway(&context, &routes, tls, stopped));
    let mut tasks = accept(bound, link, &gateway, stopped)?;
    tasks.extend(early.hand_to(&gateway));
    tasks.extend(start_guards(&routes, &sources, stopped));
    let node = Node { shared, routes, stop_terms, terms, data_dir };
    node.wait_until_ready().await;
    Ok(Opened { context, node, tasks })
}

/// Starts the tasks that check clocks, disks and data directory, and the placement of shards.
fn start_guards(
    routes: &Routes,
    sources: &ClockSources,
    stopped: &watch::Receiver<bool>,
) -> Vec<JoinHandle<()>> {
    let guards = routes.all().flat_map(|route| {
        let span = tracing::error_span!("shard", number = route.cluster_state.number);
        span.in_scope(|| {
            [clock_guard::start(route, sources, stopped), disk_guard::start(route, stopped)]
        })
    });
    let of_node = placement::start(routes, stopped).into_iter();
    guards.chain(of_node).chain([copy_guard::start(routes, stopped)]).collect()
}

fn gateway(
    context: &ServerContext,
    routes: &Routes,
    tls: Option<LinkTls>,
    stopped: &watch::Receiver<bool>,
) -> Gateway {
    Gateway {
        admin: context.pages.clone().map(|pages| admin_routes::routes(routes.clone(), pages)),
        routes: routes.clone(),
        nosql: context.nosql.clone().map(|nosql| nosql_routes::entrance(nosql, routes.clone())),
        tls,
        asks_for_login: context.config.mongo_auth,
        forward_accounts: forward_accounts(context),
        stopped: stopped.clone(),
    }
}

/// Returns the memory accounts of forwarded messages.
fn forward_accounts(context: &ServerContext) -> ForwardAccounts {
    let messages = context.memory.split_off(context.memory.limit() / PASSED);
    ForwardAccounts { messages, unknown_clients: context.strangers.clone() }
}

/// Returns the description that other nodes read from this node's record.
fn about(cluster: &ClusterConfig, context: &ServerContext, peer: SocketAddr) -> NodeDescription {
    NodeDescription {
        name: cluster.node_name.clone().unwrap_or_else(machine::node_name),
        peer: cluster.peer_advertise.clone().unwrap_or_else(|| peer.to_string()),
        mongo: context.ready.mongo.clone(),
        cosmos: context.ready.cosmos.clone(),
        admin: context.ready.admin.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Creates two things for each shard: a channel with the term that this node serves, and the route
/// by which requests reach the shard's owner.
fn routes_of(
    shared: &SharedNode,
    cluster_state: &ClusterState,
    dialer: &Dialer,
    limits: &listen::ConnectionLimits,
) -> (Vec<CurrentTerm>, Vec<Route>) {
    let shards = (0..).zip(shared.shards());
    shards
        .map(|(number, shard)| {
            let (current, terms) = watch::channel(None);
            let cluster_state = cluster_state.of_shard(number, Arc::clone(shard));
            let dialer = Dialer { shard: number, ..dialer.clone() };
            (current, Route::new(cluster_state, terms, dialer, limits.clone()))
        })
        .unzip()
}

/// Opens the link's certificates, which are required if other machines can reach it.
async fn peer_tls(cluster: &ClusterConfig) -> Result<Option<LinkTls>, Failure> {
    match &cluster.peer_tls {
        Some(files) => LinkTls::open(&files.authority, &files.certificate, &files.key).map(Some),
        None if listen::is_loopback(&cluster.peer_addr).await => Ok(None),
        None => Err(Failure::Usage(format!(
            "--peer-addr {} can be reached by other machines: give --peer-ca, --peer-cert and \
             --peer-key, or listen on 127.0.0.1",
            cluster.peer_addr
        ))),
    }
}

/// Returns the settings, with the clock mode that the cluster's record specifies.
fn clocked(config: &Config, record: &ClusterRecord) -> Result<Config, Failure> {
    let mut config = config.clone();
    match (record.clock.as_str(), config.clock) {
        ("system", ClockMode::System) | ("manual", ClockMode::Manual) => {}
        // The cluster's clock applies without repeating the flag on each node.
        ("manual", ClockMode::System) => {
            config.clock = ClockMode::Manual;
            if config.reap_delay == REAP_DELAY {
                config.reap_delay = Duration::ZERO;
            }
        }
        ("system", ClockMode::Manual) => return Err(Failure::Refused(Refused::OtherClock)),
        (other, _) => {
            return Err(Failure::Refused(Refused::Unusable(format!(
                "the cluster's clock mode is {other}, which this version does not support"
            ))));
        }
    }
    Ok(config)
}

/// Returns the machine's clocks, or simulated ones.
fn clock_sources(config: &Config) -> ClockSources {
    let config = config.clone();
    Arc::new(move || clock_source(&config))
}

fn shard_clock(config: &Config, settings: &Settings, sources: &ClockSources) -> Arc<ShardClock> {
    ShardClock::new(ShardClockOptions {
        mode: match config.clock {
            ClockMode::System => clock::ClockMode::System,
            ClockMode::Manual => clock::ClockMode::Manual,
        },
        sources: Arc::clone(sources),
        boot_id: boot_id(),
        lease_ms: i64::try_from(settings.lease / 1_000_000).unwrap_or(i64::MAX),
    })
}

/// Returns the directory of a shard's store. The first shard's is named as on a standalone server.
pub(super) fn store_folder(data: &Path, shard: u32) -> PathBuf {
    match shard {
        0 => data.join("store"),
        other => data.join(format!("store-{other}")),
    }
}

fn open_shared<L: Ledger>(
    config: &Config,
    settings: Settings,
    clocks: &[Arc<ShardClock>],
    ledger: Arc<L>,
    data_dir: &DataDir,
) -> Result<SharedNode, Failure> {
    let shares = Plan { process: plan_memory(config).process / clocks.len().max(1) };
    let shards = (0..).zip(clocks).map(|(number, clock)| ShardOptions {
        tree: TreeOptions {
            path: store_folder(&data_dir.path, number),
            ..store_options(config, shares, &data_dir.path)
        },
        clock: Arc::clone(clock) as Arc<_>,
        time: Arc::clone(clock) as Arc<_>,
    });
    let options = NodeOptions {
        settings,
        boot_clock: Arc::new(|| u64::try_from(Machine.boot_ns()).unwrap_or(0)),
        shards: shards.collect(),
    };
    SharedNode::open(options, ledger).map_err(|error| match error.kind {
        store::Kind::Refused | store::Kind::Corrupt => {
            Failure::Refused(Refused::Unusable(format!(
                "the node's copy of the data is damaged: {error}; remove the directory {} to load \
                 it again",
                data_dir.path.join("store").display()
            )))
        }
        _ => failed(error),
    })
}

fn accept(
    bound: Bound,
    link: BoundSocket,
    gateway: &Arc<Gateway>,
    stopped: &watch::Receiver<bool>,
) -> Result<Vec<JoinHandle<()>>, Failure> {
    let limits = gateway.routes.first().connection_limits.clone();
    let listener = addresses::listen_on(PEER, link)?;
    let mut tasks = bound.accept(gateway, stopped, &limits)?;
    let gateway = Arc::clone(gateway);
    tasks.push(tokio::spawn(listen::accept_connections(
        listener,
        stopped.clone(),
        limits.of_link(),
        move |stream, peer, _| Arc::clone(&gateway).called(stream, peer),
    )));
    Ok(tasks)
}

impl Node {
    /// Waits, with a time limit, until this or another node would serve requests.
    async fn wait_until_ready(&self) {
        let ready = async {
            let mut view = self.shared.view();
            for route in self.routes.all() {
                let mut terms = route.terms.clone();
                while !route.cluster_state.has_read_nodes() || !route.would_serve() {
                    tokio::select! {
                        _ = view.changed() => {}
                        _ = terms.changed() => {}
                        () = sleep::wait_for(Duration::from_millis(100)) => {}
                    }
                }
            }
        };
        if tokio::time::timeout(READY, ready).await.is_err() {
            let why = self.routes.why_unready().unwrap_or_default();
            tracing::warn!(why, "the node is not ready yet");
        }
    }

    /// Hands over all shards; the end of each term ends its connections.
    pub(crate) async fn hand_over(&self) {
        let mut given_up = JoinSet::new();
        for route in self.routes.all().filter(|route| route.here().is_some()) {
            let route = route.clone();
            given_up.spawn(async move { (route.cluster_state.number, route.hand_over().await) });
        }
        while let Some(given_up) = given_up.join_next().await {
            if let Ok((shard, false)) = given_up {
                tracing::warn!(shard, "not handed over in time; another node takes over");
            }
        }
    }

    /// Ends the terms and closes the stores.
    pub(crate) async fn stop(self) -> Result<(), Failure> {
        let Self { shared, routes, stop_terms, terms, data_dir } = self;
        stop_terms.send_replace(true);
        end_tasks(terms).await;
        drop(routes);
        let stopping = Arc::clone(&shared);
        // On a blocking thread, because threads are joined.
        tokio::task::spawn_blocking(move || stopping.stop()).await.map_err(failed)?;
        let mut closed = Ok(());
        for shard in shared.shards() {
            closed = closed.and(shard.tree().close().await);
        }
        drop(shared);
        drop(data_dir);
        closed.map_err(failed)
    }
}
