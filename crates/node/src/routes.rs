//! The routes to the shards of a cluster.

use std::sync::Arc;

use admin::routes::{error::Error, health::why_unready};
use cluster::home_shard;
use cosmos::Home;

use super::{
    cluster_state::{ClusterState, MONGODB, NOSQL},
    route::Route,
};

/// Returns the response to a request that names a shard that the cluster does not have.
pub(super) fn no_shard(shard: u32) -> Error {
    Error::bad_request(format!("there is no shard {shard}"))
}

/// The routes to all shards; at least one.
#[derive(Clone)]
pub(super) struct Routes {
    first: Route,
    more: Arc<[Route]>,
}

impl Routes {
    /// Creates the routes to these shards, ordered by number; `None` if there are none.
    pub(super) fn of(mut routes: impl Iterator<Item = Route>) -> Option<Self> {
        Some(Self { first: routes.next()?, more: routes.collect() })
    }

    /// Returns the route to a shard; `None` if there is no such shard.
    pub(super) fn shard(&self, shard: u32) -> Option<&Route> {
        match usize::try_from(shard).ok()?.checked_sub(1) {
            None => Some(&self.first),
            Some(behind) => self.more.get(behind),
        }
    }

    /// Returns the route to the first shard, which also has everything that belongs to no database.
    pub(super) fn first(&self) -> &Route {
        &self.first
    }

    /// Returns the home shard of a database of the MongoDB API.
    pub(super) fn home(&self, database: &str) -> u32 {
        home_shard(MONGODB, database, self.cluster_state().cluster.shards)
    }

    /// Returns the home shard of a database of the NoSQL API.
    pub(super) fn nosql_home(&self, database: &str) -> u32 {
        self.home_of(&Home::Named(database.to_owned()))
    }

    /// Returns the shard that handles a request of the NoSQL API.
    pub(super) fn home_of(&self, home: &Home) -> u32 {
        let shards = self.cluster_state().cluster.shards;
        match home {
            Home::Any => self.any_shard(),
            Home::Named(database) => home_shard(NOSQL, database, shards),
            Home::Numbered(number) => cosmos::Shard::of_number(*number, shards),
        }
    }

    /// Returns a shard served by this node, else the first, for clients that have not sent a
    /// request yet.
    pub(super) fn any_shard(&self) -> u32 {
        self.all()
            .find(|route| route.here().is_some())
            .map_or(0, |route| route.cluster_state.number)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Route> {
        std::iter::once(&self.first).chain(&*self.more)
    }

    /// Returns the node's view of the cluster. It belongs to the route of the first shard, but
    /// callers use only the parts that are the same for all shards.
    pub(super) fn cluster_state(&self) -> &ClusterState {
        &self.first.cluster_state
    }

    /// Returns why the node is not ready to follow the shards that it does not serve; `None` if it
    /// is caught up with all.
    pub(super) fn why_unready(&self) -> Option<String> {
        self.all()
            .filter(|route| route.here().is_none())
            .find_map(|route| route.cluster_state.why_unready())
    }

    /// Returns why the node is not ready to serve the shards that it owns or to follow the others;
    /// `None` if it is ready.
    pub(super) fn why_unserved(&self) -> Option<String> {
        let served = self.all().filter_map(Route::here);
        let why = served.map(|term| why_unready(&term.shared)).find(Option::is_some).flatten();
        why.or_else(|| self.why_waiting()).or_else(|| self.why_unready())
    }

    /// Returns the reason why writes to a shard of this node wait too long; `None` if none do.
    pub(super) fn why_waiting(&self) -> Option<String> {
        self.all().find_map(|route| route.cluster_state.why_waiting())
    }
}
