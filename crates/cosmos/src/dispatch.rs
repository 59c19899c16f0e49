//! From an authorized request to its response: metering, measurement, and the route of its operation.
//!
//! The steps are in this order for a reason. Operations that change resources wait for each other
//! before the container is looked up, so that none of them works on a container that the one before
//! it has removed. Throughput is asked before the route runs, and paid when its response is there,
//! because nobody knows the cost before: a response may cost more than there was, and the next
//! requests wait until that is made up for. The owner is named in a response that went well only.

use std::sync::Arc;

use bytes::Bytes;
use engine::Store;

use crate::{
    catalog,
    door::Door,
    failure::{Failure, Fault, Result},
    link::Resource,
    operation::{Metering, Operation, Order, Parent},
    reply::{ParentHeaders, Reply},
    request::Request,
    request_units,
    routes::{
        account, batches, change_feed, containers, databases, items, offers, partition_delete,
        permissions, queries, ranges, read_feed, scripts, users,
    },
};

/// Runs a request whose sender may make it.
pub(crate) async fn run<S: Store>(
    door: &Arc<Door<S>>,
    mut request: Request,
    body: Bytes,
) -> Result<Reply> {
    let row = request.operation.row();
    let began = clock::monotonic();
    let _turn = match row.order {
        Order::OneByOne => Some(door.changing.lock().await),
        Order::AtOnce => None,
    };
    if row.parent == Parent::Container {
        let [database, name] = &request.link.owners;
        let found = catalog::find(&door.engine, &door.containers, database, name);
        request.keep_container(found);
    }
    let offer = admit(door, &request)?;
    let parent = find_parent(door, &request);
    let reply = route(door, &request, body).await;
    let took = clock::monotonic().saturating_sub(began);
    door.latencies.observe(row.metric as usize, took);
    if let (Some(throttle), Some(offer)) = (&door.throttle, offer) {
        // A failed operation has cost something too.
        let units =
            reply.as_ref().map_or_else(|_| request_units::of_failure(), |it| it.request_units);
        throttle.spend(&offer, units);
    }
    Ok(Reply { parent: parent, ..reply? })
}

/// Refuses a request whose throughput is spent; else returns the offer that it is paid from, if any.
/// What a container that is not there would cost is not asked: its route refuses the request.
fn admit<S: Store>(door: &Door<S>, request: &Request) -> Result<Option<String>> {
    let (Some(throttle), Metering::Metered) = (&door.throttle, request.operation.row().metering)
    else {
        return Ok(None);
    };
    let Some(container) = request.found_container() else { return Ok(None) };
    let find = || offers::find_allowance(door, container);
    let admitted = throttle.admit(clock::monotonic(), &container.rid, find);
    admitted.map_err(Failure::throttled)
}

/// What the resource of a request lies in, as its response names it; `None` where responses do not.
fn find_parent<S: Store>(door: &Door<S>, request: &Request) -> Option<ParentHeaders> {
    match request.operation.row().parent {
        Parent::Account => None,
        Parent::Database => {
            let [database, _] = &request.link.owners;
            let found = catalog::database(&door.engine, database)?;
            ParentHeaders::new(&format!("dbs/{}", found.name), &found.rid().encode())
        }
        Parent::Container => request.found_container()?.parent.clone(),
    }
}

/// The one place that knows which route serves which operation.
async fn route<S: Store>(door: &Door<S>, request: &Request, body: Bytes) -> Result<Reply> {
    use Operation as Op;
    let body = &*body;
    match request.operation {
        Op::ReadAccount => account::read(door, request),
        Op::ReadCertificate => account::certificate(door),

        Op::CreateDatabase => databases::create(door, request, body).await,
        Op::QueryDatabases => databases::list(door, request, Some(body)),
        Op::ListDatabases => databases::list(door, request, None),
        Op::ReadDatabase => databases::read(door, request),
        Op::DeleteDatabase => databases::delete(door, request).await,

        Op::CreateContainer => containers::create(door, request, body).await,
        Op::QueryContainers => containers::list(door, request, Some(body)),
        Op::ListContainers => containers::list(door, request, None),
        Op::ReadContainer => containers::read(door, request).await,
        Op::ReplaceContainer => containers::replace(door, request, body).await,
        Op::DeleteContainer => containers::delete(door, request).await,

        Op::CreateItem | Op::UpsertItem => items::create(door, request, body).await,
        Op::ReadItem => items::read(door, request).await,
        Op::ReplaceItem => items::replace(door, request, body).await,
        Op::PatchItem => items::patch(door, request, body).await,
        Op::DeleteItem => items::delete(door, request).await,
        Op::QueryItems => queries::run(door, request, body).await,
        Op::QueryPlan => queries::plan(request, body),
        Op::Batch => batches::run(door, request, body).await,
        Op::ListItems => read_feed::read(door, request).await,
        Op::ChangeFeed => change_feed::read(door, request).await,
        Op::DeletePartition => partition_delete::delete(door, request).await,
        Op::ListRanges => ranges::list(door, request),

        Op::QueryConflicts | Op::ListConflicts => ranges::conflicts(door, request),
        Op::ReadConflict | Op::DeleteConflict => Err(Failure::no_entity()),

        Op::CreateScript => scripts::create(door, request, body).await,
        Op::QueryScripts => scripts::list(door, request, Some(body)),
        Op::ListScripts => scripts::list(door, request, None),
        Op::ReadScript => scripts::read(door, request),
        Op::ReplaceScript => scripts::replace(door, request, body).await,
        Op::DeleteScript => scripts::delete(door, request).await,
        Op::ExecuteProcedure => Err(Failure::unsupported("The execution of stored procedures")),

        Op::CreateUser => users::create(door, request, body).await,
        Op::QueryUsers => users::list(door, request, Some(body)),
        Op::ListUsers => users::list(door, request, None),
        Op::ReadUser => users::read(door, request),
        Op::ReplaceUser => users::replace(door, request, body).await,
        Op::DeleteUser => users::delete(door, request).await,

        Op::CreatePermission => permissions::create(door, request, body).await,
        Op::QueryPermissions => permissions::list(door, request, Some(body)),
        Op::ListPermissions => permissions::list(door, request, None),
        Op::ReadPermission => permissions::read(door, request),
        Op::ReplacePermission => permissions::replace(door, request, body).await,
        Op::DeletePermission => permissions::delete(door, request).await,

        Op::QueryOffers => offers::list(door, request, Some(body)),
        Op::ListOffers => offers::list(door, request, None),
        Op::ReadOffer => offers::read(door, request),
        Op::ReplaceOffer => offers::replace(door, request, body).await,

        Op::NotAllowed(kind, _) => Err(refuse_method(kind, request)),
    }
}

/// Clients in direct mode ask for addresses of replicas; the text names the setting of each SDK that
/// has the mode, because "not allowed" would not tell anybody what to do.
fn refuse_method(kind: Resource, request: &Request) -> Failure {
    match kind {
        Resource::Addresses => Failure::bad(
            "This server is reached through its gateway only: set the connection mode Gateway in \
             the client's options (.NET: ConnectionMode.Gateway, Java: gatewayMode()).",
        ),
        _ => {
            let text = format!("There is no {} of this resource.", request.method);
            Failure::new(Fault::MethodNotAllowed, text)
        }
    }
}
