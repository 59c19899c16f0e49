//! Executes an authorized request: throttling, measurement, and the route of its operation.
//!
//! The order of the steps matters. Operations that change resources are serialized before the
//! container is looked up, so that no operation works on a container that the previous operation
//! has deleted. Throughput is checked before the route runs and charged when its response exists,
//! because the cost is not known earlier. A response may cost more than the remaining units, and
//! later requests are throttled until the deficit is made up. Only successful responses have the
//! headers that name the parent resource.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use throughput::request_units;

use crate::{
    api::NoSqlApi,
    catalog::{self, Container},
    failure::{Failure, Fault, Result},
    link::Resource,
    operation::{Metering, Operation as Op, Order, Parent},
    other_shards::SharedFeed,
    reply::{ParentHeaders, Reply, StoredHeaders},
    request::Request,
    routes::{
        account, addresses, batches, change_feed, client_keys, containers, databases, items,
        offers, partition_delete,
        permissions::{self, replace_permission},
        queries, ranges, read_feed, scripts,
        shared_feed::list_all,
        users,
    },
};

pub(crate) async fn run_request(
    api: &Arc<NoSqlApi>,
    mut request: Request,
    body: Bytes,
) -> Result<Reply> {
    let row = request.operation.row();
    let began = clock::monotonic_time();
    // Held until the response exists: an operation that reads resources and then changes them must
    // not interleave with another such operation.
    let _turn = match row.order {
        Order::OneByOne => Some(api.changing.lock().await),
        Order::AtOnce => None,
    };
    // The request's container is looked up only here. If it is not found, the failure is stored and
    // not returned, since the route may have to report other errors of the request first.
    if row.parent == Parent::Container {
        let [database, name] = &request.link.owners;
        let found = catalog::find_container(&api.engine, &api.containers, database, name);
        request.keep_container(found);
    }
    // A throttled request is not measured: it would distort the latency of the operation.
    let offer = match admit_request(api, &request) {
        Ok(offer) => offer,
        Err(failure) => return number_reply(api, &request, Err(failure)).await,
    };
    let parent = find_parent(api, &request);
    let reply = route(api, &request, &body).await;
    let reply = number_reply(api, &request, reply).await;
    let took = clock::monotonic_time().saturating_sub(began);
    api.latencies.observe(row.metric as usize, took);
    if let (Some(throttle), Some(offer)) = (&api.throttle, offer) {
        // A failed operation is charged too.
        let units =
            reply.as_ref().map_or_else(|_| request_units::of_failure(), |it| it.request_units);
        throttle.spend_units(&offer, units);
    }
    let stored = find_stored(api, &request, began);
    Ok(Reply { parent, stored, ..reply? })
}

/// Returns the response headers about the container, for a response to a read or write of one item.
fn find_stored(api: &NoSqlApi, request: &Request, now: Duration) -> Option<StoredHeaders> {
    let of_write = match request.operation {
        Op::ReadItem => false,
        Op::CreateItem | Op::UpsertItem | Op::ReplaceItem | Op::PatchItem | Op::DeleteItem => true,
        _ => return None,
    };
    let usage = request.found_container()?.usage(&api.engine, now);
    Some(StoredHeaders { usage, of_write })
}

/// Sets the sequence number of a reply to that of the container's last change, if the request's
/// path names a container. Failures have the number, too, because SDKs take a session token from
/// any response.
async fn number_reply(api: &NoSqlApi, request: &Request, reply: Result<Reply>) -> Result<Reply> {
    let Some(container) = named_container(api, request) else { return reply };
    // If the last change cannot be read, the reply has no number of its own; see `Answer::seq`.
    let Ok(last) = api.engine.last_change(&container.collection).await else { return reply };
    match reply {
        Ok(reply) => {
            let seq = if reply.seq == 0 { last } else { last.min(reply.seq) };
            Ok(Reply { seq, ..reply })
        }
        Err(failure) => Err(Failure { seq: last, ..failure }),
    }
}

/// Returns the container that the request's path names, or that contains the resource named by the
/// path.
fn named_container(api: &NoSqlApi, request: &Request) -> Option<Arc<Container>> {
    match (request.link.kind, &request.link.name) {
        (Resource::Containers, Some(name)) => {
            let [database, _] = &request.link.owners;
            catalog::find_container(&api.engine, &api.containers, database, name).ok()
        }
        _ => request.found_container().cloned(),
    }
}

/// Checks whether the provisioned throughput permits a request. Returns the resource whose
/// throughput is charged, if any, or a 429 failure. A request for a missing container is not
/// checked: its route refuses it.
fn admit_request(api: &NoSqlApi, request: &Request) -> Result<Option<String>> {
    let (Some(throttle), Metering::Metered) = (&api.throttle, request.operation.row().metering)
    else {
        return Ok(None);
    };
    let Some(container) = request.found_container() else { return Ok(None) };
    let find = || offers::find_allowance(api, container);
    let admitted = throttle.admit_request(clock::monotonic_time(), &container.rid, find);
    admitted.map_err(Failure::throttled)
}

/// Returns the parent resource for the response headers, or `None` if the response does not name
/// it. It is looked up before the route runs, since it could not be found after a deletion.
fn find_parent(api: &NoSqlApi, request: &Request) -> Option<ParentHeaders> {
    match request.operation.row().parent {
        Parent::Account => None,
        Parent::Database => {
            let [database, _] = &request.link.owners;
            let found = catalog::find_database(&api.engine, database)?;
            ParentHeaders::new(&format!("dbs/{}", found.name), &found.rid().encode())
        }
        Parent::Container => request.found_container()?.parent.clone(),
    }
}

/// Runs the route of the request's operation. No other function maps operations to routes.
///
/// All asynchronous routes but the most frequent one are boxed: a future is as large as its largest
/// variant, and every request would otherwise move memory for a query.
async fn route(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    match request.operation {
        Op::ReadAccount => account::read_account(api, request),
        Op::ReadCertificate => account::read_certificate(&api.settings),
        Op::ReadAddresses => addresses::read_addresses(api, request),

        Op::CreateDatabase => Box::pin(databases::create_database(api, request, body)).await,
        Op::QueryDatabases => shared_feed(api, request, Some(body), SharedFeed::Databases).await,
        Op::ListDatabases => shared_feed(api, request, None, SharedFeed::Databases).await,
        Op::ReadDatabase => databases::read_database(api, request),
        Op::DeleteDatabase => Box::pin(databases::delete_database(api, request)).await,

        Op::CreateContainer => Box::pin(containers::create_container(api, request, body)).await,
        Op::QueryContainers => containers::list_containers(api, request, Some(body)),
        Op::ListContainers => containers::list_containers(api, request, None),
        Op::ReadContainer => Box::pin(containers::read_container(api, request)).await,
        Op::ReplaceContainer => Box::pin(containers::replace_container(api, request, body)).await,
        Op::DeleteContainer => Box::pin(containers::delete_container(api, request)).await,

        Op::CreateItem | Op::UpsertItem => Box::pin(items::create_item(api, request, body)).await,
        Op::ReadItem => items::read_item(api, request).await,
        Op::ReplaceItem => Box::pin(items::replace_item(api, request, body)).await,
        Op::PatchItem => Box::pin(items::patch_item(api, request, body)).await,
        Op::DeleteItem => Box::pin(items::delete_item(api, request)).await,
        Op::QueryItems => Box::pin(queries::query_items(api, request, body)).await,
        Op::QueryPlan => queries::plan_query(request, body),
        Op::Batch => Box::pin(batches::run_batch(api, request, body)).await,
        Op::ListItems => Box::pin(read_feed::read_items(api, request)).await,
        Op::ChangeFeed => Box::pin(change_feed::read_changes(api, request)).await,
        Op::DeletePartition => Box::pin(partition_delete::delete_partition(api, request)).await,
        Op::ListRanges => ranges::list_ranges(api, request),

        Op::QueryConflicts | Op::ListConflicts => ranges::list_conflicts(api, request),
        Op::ReadConflict | Op::DeleteConflict => Err(Failure::no_entity()),

        Op::CreateScript => Box::pin(scripts::create_script(api, request, body)).await,
        Op::QueryScripts => scripts::list_scripts(api, request, Some(body)),
        Op::ListScripts => scripts::list_scripts(api, request, None),
        Op::ReadScript => scripts::read_script(api, request),
        Op::ReplaceScript => Box::pin(scripts::replace_script(api, request, body)).await,
        Op::DeleteScript => Box::pin(scripts::delete_script(api, request)).await,
        Op::ExecuteProcedure => Err(Failure::unsupported("The execution of stored procedures")),

        Op::CreateUser => Box::pin(users::create_user(api, request, body)).await,
        Op::QueryUsers => users::list_users(api, request, Some(body)),
        Op::ListUsers => users::list_users(api, request, None),
        Op::ReadUser => users::read_user(api, request),
        Op::ReplaceUser => Box::pin(users::replace_user(api, request, body)).await,
        Op::DeleteUser => Box::pin(users::delete_user(api, request)).await,

        Op::CreatePermission => Box::pin(permissions::create_permission(api, request, body)).await,
        Op::QueryPermissions => permissions::list_permissions(api, request, Some(body)),
        Op::ListPermissions => permissions::list_permissions(api, request, None),
        Op::ReadPermission => permissions::read_permission(api, request),
        Op::ReplacePermission => Box::pin(replace_permission(api, request, body)).await,
        Op::DeletePermission => Box::pin(permissions::delete_permission(api, request)).await,

        Op::CreateClientKey
        | Op::QueryClientKeys
        | Op::ListClientKeys
        | Op::ReadClientKey
        | Op::ReplaceClientKey => Box::pin(route_client_key(api, request, body)).await,

        Op::QueryOffers => shared_feed(api, request, Some(body), SharedFeed::Offers).await,
        Op::ListOffers => shared_feed(api, request, None, SharedFeed::Offers).await,
        Op::ReadOffer => offers::read_offer(api, request),
        Op::ReplaceOffer => Box::pin(offers::replace_offer(api, request, body)).await,

        Op::NotAllowed(..) => Err(refuse_method(request)),
    }
}

/// Routes the operations on client encryption keys.
async fn route_client_key(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    match request.operation {
        Op::CreateClientKey => client_keys::create_key(api, request, body).await,
        Op::ReplaceClientKey => client_keys::replace_key(api, request, body).await,
        Op::QueryClientKeys => client_keys::list_keys(api, request, Some(body)),
        Op::ListClientKeys => client_keys::list_keys(api, request, None),
        _ => client_keys::read_key(api, request),
    }
}

/// Answers a request for the databases or offers of all shards. The route is boxed, so that its
/// future does not enlarge that of every request.
async fn shared_feed(
    api: &NoSqlApi,
    request: &Request,
    query_body: Option<&[u8]>,
    feed: SharedFeed,
) -> Result<Reply> {
    Box::pin(list_all(api, request, query_body, feed)).await
}

/// Returns the failure for a method that a resource does not have.
fn refuse_method(request: &Request) -> Failure {
    let text = format!("The method {} is not allowed for this resource.", request.method);
    Failure::new(Fault::MethodNotAllowed, text)
}
