//! Routing of NoSQL API requests to the shards of their databases.

use std::{net::SocketAddr, sync::Arc};

use cosmos::{Home, LocalEndpoint, OwnerLookup, RoutingEndpoint, Settings, ShardRouter};

use super::{link::Purpose, route::Destination, routes::Routes};

/// Creates the part of a node that accepts connections of the NoSQL API.
pub(super) fn entrance(settings: Settings, routes: Routes) -> Arc<RoutingEndpoint> {
    Arc::new(RoutingEndpoint::new(settings, NosqlRoutes(routes)))
}

struct NosqlRoutes(Routes);

impl ShardRouter for NosqlRoutes {
    fn shard_of(&self, home: &Home) -> u32 {
        self.0.home_of(home)
    }

    fn local_endpoint(&self, shard: u32) -> Option<LocalEndpoint> {
        self.0.shard(shard)?.here()?.nosql_endpoint()
    }

    fn find_owner(&self, shard: u32, client: SocketAddr, secure: bool) -> OwnerLookup<'_> {
        Box::pin(async move {
            match self.0.shard(shard)?.find(Purpose::Nosql, client, secure).await? {
                Destination::Here(term) => Some(cosmos::ShardOwner::Local(term.nosql_endpoint()?)),
                Destination::There(passage) => {
                    Some(cosmos::ShardOwner::Remote(passage.into_nosql()))
                }
            }
        })
    }
}
