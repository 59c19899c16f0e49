//! The shards of a node: for each the ways to whoever serves it.

use std::sync::Arc;

use cluster::home_shard;
use cosmos::Home;

use super::{
    facts::{Facts, MONGODB, NOSQL},
    route::Route,
};
use crate::admin::health::why_unready;

/// The routes of all shards. There is one shard at least.
#[derive(Clone)]
pub(super) struct Routes {
    first: Route,
    more: Arc<[Route]>,
}

impl Routes {
    /// Of these shards, by number; `None` where there are none.
    pub(super) fn of(mut routes: impl Iterator<Item = Route>) -> Option<Self> {
        Some(Self { first: routes.next()?, more: routes.collect() })
    }

    /// The route to a shard; `None`: there is no such shard.
    pub(super) fn shard(&self, shard: u32) -> Option<&Route> {
        match usize::try_from(shard).ok()?.checked_sub(1) {
            None => Some(&self.first),
            Some(behind) => self.more.get(behind),
        }
    }

    /// The route to the first shard, which has what is of no database.
    pub(super) fn first(&self) -> &Route {
        &self.first
    }

    /// The shard in which a database of the MongoDB API lives.
    pub(super) fn home(&self, database: &str) -> u32 {
        home_shard(MONGODB, database, self.facts().cluster.shards)
    }

    /// The shard in which a database of the NoSQL API lives.
    pub(super) fn nosql_home(&self, database: &str) -> u32 {
        self.home_of(&Home::Named(database.to_owned()))
    }

    /// The shard that answers a request of the NoSQL API.
    pub(super) fn home_of(&self, home: &Home) -> u32 {
        let shards = self.facts().cluster.shards;
        match home {
            Home::Any => self.any_shard(),
            Home::Named(database) => home_shard(NOSQL, database, shards),
            Home::Numbered(number) => cosmos::Shard::of_number(*number, shards),
        }
    }

    /// A shard that this node serves, or else the first: for whoever has not said yet what it wants.
    pub(super) fn any_shard(&self) -> u32 {
        self.all().find(|route| route.here().is_some()).map_or(0, |route| route.facts.number)
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Route> {
        std::iter::once(&self.first).chain(&*self.more)
    }

    /// What the node knows, whichever shard it has to do with.
    pub(super) fn facts(&self) -> &Facts {
        &self.first.facts
    }

    /// Why the node is not ready to follow a shard that it does not serve, as a phrase; `None`: it is
    /// caught up with all.
    pub(super) fn why_unready(&self) -> Option<String> {
        self.all()
            .filter(|route| route.here().is_none())
            .find_map(|route| route.facts.why_unready())
    }

    /// Why the node is not ready, as a phrase: to serve what it owns, or to follow the rest.
    pub(super) fn why_unserved(&self) -> Option<String> {
        let served = self.all().filter_map(Route::here);
        let why = served.map(|term| why_unready(&term.shared)).find(Option::is_some).flatten();
        why.or_else(|| self.why_waiting()).or_else(|| self.why_unready())
    }

    /// Why writes to a shard that this node owns do not end, as a phrase.
    pub(super) fn why_waiting(&self) -> Option<String> {
        self.all().find_map(|route| route.facts.why_waiting())
    }
}
