//! Routing of NoSQL API requests to the shards of their databases.

use std::{net::SocketAddr, sync::Arc};

use cosmos::{Entrance, Finding, Here, Home, Settings, Ways};

use super::{link::Purpose, route::Way, routes::Routes};
use crate::any_store::AnyStore;

/// Creates the part of a node that accepts connections of the NoSQL API.
pub(super) fn entrance(settings: Settings, routes: Routes) -> Arc<Entrance<AnyStore>> {
    Arc::new(Entrance::new(settings, NosqlWays(routes)))
}

struct NosqlWays(Routes);

impl Ways<AnyStore> for NosqlWays {
    fn shard_of(&self, home: &Home) -> u32 {
        self.0.home_of(home)
    }

    fn here(&self, shard: u32) -> Option<Here<AnyStore>> {
        self.0.shard(shard)?.here()?.nosql_door()
    }

    fn find(&self, shard: u32, client: SocketAddr, secure: bool) -> Finding<'_, AnyStore> {
        Box::pin(async move {
            match self.0.shard(shard)?.find(Purpose::Nosql, client, secure).await? {
                Way::Here(term) => Some(cosmos::Way::Here(term.nosql_door()?)),
                Way::There(passage) => Some(cosmos::Way::There(passage.into_nosql())),
            }
        })
    }
}
