//! Feeds of resources outside of databases: all databases and all offers. In a cluster each shard
//! has some of these resources, and any server returns the resources of all shards.

use document::{DocRef, Document, ValueRef, json};

use super::{databases, offers, resource_feed};
use crate::{
    api::NoSqlApi, failure::Result, other_shards::SharedFeed, reply::Reply, representation,
    request::Request,
};

/// Returns this shard's entries of a feed.
fn own(api: &NoSqlApi, feed: SharedFeed) -> Vec<Document> {
    match feed {
        SharedFeed::Databases => databases::represent_all(api),
        SharedFeed::Offers => offers::represent_all(api),
    }
}

impl NoSqlApi {
    /// Returns this shard's entries of a feed as a JSON array, for the servers of the other shards.
    pub fn own_feed(&self, feed: SharedFeed) -> Vec<u8> {
        let mut text = b"[".to_vec();
        for (at, resource) in own(self, feed).iter().enumerate() {
            if 0 < at {
                text.push(b',');
            }
            json::write(ValueRef::Document(DocRef::Tree(resource)), &mut text);
        }
        text.push(b']');
        text
    }
}

/// `GET /dbs` and `GET /offers`, or `POST` with a query. SDKs find the offer of a resource by
/// querying `offerResourceId`.
pub(crate) async fn list_all(
    api: &NoSqlApi,
    request: &Request,
    query_body: Option<&[u8]>,
    feed: SharedFeed,
) -> Result<Reply> {
    let name = match feed {
        SharedFeed::Databases => "Databases",
        SharedFeed::Offers => "Offers",
    };
    let mut all = own(api, feed);
    let mut held = None;
    if let Some(other_shards) = &api.settings.other_shards {
        let (others, share) = other_shards.ask(feed, &api.settings.memory).await?;
        held = Some(share);
        all.extend(others);
        all.sort_by(|one, other| {
            representation::resource_id(one).cmp(representation::resource_id(other))
        });
    }
    let reply = resource_feed::list_resources(api, request, query_body, "", name, all);
    drop(held);
    reply
}
