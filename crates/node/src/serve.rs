//! Starts a server from its configuration: a node if the configuration names a cluster, a standalone
//! server otherwise.

use std::{pin::Pin, sync::Arc};

use cluster::Ledger;
use server::{Ending, Running, ServedData, ServerContext, check_settings, return_free_memory};
use server_base::{
    config::{ClusterConfig, Config},
    failure::Failure,
};
use tokio::sync::watch;

use super::{
    ledger::connect,
    start::{Node, Opened, open},
};

/// Starts a server; it accepts clients on return. On failure open listeners are closed and the data
/// directory is released. `Failure::Usage` and `Failure::Refused` tell the operator what to do; see
/// [`Failure`].
pub fn start(config: &Config) -> Pin<Box<dyn Future<Output = Result<Running, Failure>> + '_>> {
    match &config.cluster {
        None => Box::pin(server::start(config)),
        Some(cluster) => Box::pin(async move {
            check_settings(config).await?;
            let ledger = connect(cluster).await?;
            start_node(config, cluster, Arc::new(ledger)).await
        }),
    }
}

/// Starts a node of the cluster whose data are in `ledger`.
pub(crate) async fn start_node<L: Ledger>(
    config: &Config,
    cluster: &ClusterConfig,
    ledger: Arc<L>,
) -> Result<Running, Failure> {
    let began = clock::monotonic_time();
    let (stop, stopped) = watch::channel(false);
    let Opened { context, node, mut tasks } = open(config, cluster, ledger, &stopped).await?;
    tasks.push(tokio::spawn(return_free_memory(stopped)));
    Running::announce(context, stop, tasks, Box::new(node), began)
}

impl ServedData for Node {
    fn stop_serving<'a>(&'a self, stop_listeners: &'a watch::Sender<bool>) -> Ending<'a, ()> {
        Box::pin(async move {
            // Handing over the shards ends the node's periods as their owner, and with them the
            // connections of clients.
            self.hand_over().await;
            stop_listeners.send_replace(true);
        })
    }

    fn close(self: Box<Self>, context: Arc<ServerContext>) -> Ending<'static, Result<(), Failure>> {
        drop(context);
        Box::pin(self.stop())
    }
}
