//! Which route answers which request.

use bytes::Bytes;
use engine::Store;

use crate::{
    call::Call,
    charge, containers as known,
    door::Door,
    failure::{Failure, Fault, Result},
    link::Resource,
    measured::Measured,
    reply::{Owner, Reply},
    routes::{
        account, batches, changes, containers, databases, feeds, offers, partition, permissions,
        points, queries, ranges, users,
    },
};

/// Answers a request that its sender may make.
pub(crate) async fn run<S: Store>(
    door: &std::sync::Arc<Door<S>>,
    call: Call<'_>,
    body: Bytes,
) -> Result<Reply> {
    let metered = admit(door, &call)?;
    let began = clock::monotonic();
    let reply = route(door, &call, body).await;
    let took = clock::monotonic().saturating_sub(began);
    door.latencies.observe(Measured::of(&call) as usize, took);
    if let (Some(throttle), Some(about)) = (&door.throttle, metered) {
        let charge = reply.as_ref().map_or_else(|_| charge::of_failure(), |reply| reply.charge);
        throttle.spend(&about, charge);
    }
    let reply = reply?;
    Ok(Reply { owner: owner(door, &call), ..reply })
}

/// Refuses a request about items whose throughput is spent; else says from whose it is paid.
fn admit<S: Store>(door: &Door<S>, call: &Call<'_>) -> Result<Option<String>> {
    let Some(throttle) = &door.throttle else { return Ok(None) };
    if !matches!(call.link.kind, Resource::Documents | Resource::PartitionKey) {
        return Ok(None);
    }
    let [database, name] = &call.link.owners;
    let Ok(container) = known::find(&door.engine, &door.containers, database, name) else {
        return Ok(None);
    };
    let find = || offers::allowance(door, &container);
    let admitted = throttle.admit(clock::monotonic(), &container.rid, find);
    admitted.map_err(Failure::throttled)
}

/// What the resource of a request lies in.
fn owner<S: Store>(door: &Door<S>, call: &Call<'_>) -> Option<Owner> {
    let [database, name] = &call.link.owners;
    match call.link.kind {
        Resource::Containers | Resource::Users => {
            let found = known::database(&door.engine, database)?;
            Owner::new(&format!("dbs/{}", found.name), &found.rid().encode())
        }
        Resource::Documents
        | Resource::Ranges
        | Resource::PartitionKey
        | Resource::Conflicts
        | Resource::Procedures
        | Resource::Triggers
        | Resource::Udfs => {
            let found = known::find(&door.engine, &door.containers, database, name);
            found.ok()?.owner.clone()
        }
        _ => None,
    }
}

async fn route<S: Store>(door: &Door<S>, call: &Call<'_>, body: Bytes) -> Result<Reply> {
    let named = call.link.name.is_some();
    let asks = call.asks();
    match (call.link.kind, call.verb.as_str(), named) {
        (Resource::Account, "GET" | "HEAD", _) => account::read(door, call),
        (Resource::Certificate, "GET", _) => account::certificate(door),
        (Resource::Databases, "POST", false) if asks => databases::list(door, call, Some(&body)),
        (Resource::Databases, "POST", false) => databases::create(door, call, &body).await,
        (Resource::Databases, "GET", false) => databases::list(door, call, None),
        (Resource::Databases, "GET" | "HEAD", true) => databases::read(door, call),
        (Resource::Databases, "DELETE", true) => databases::delete(door, call).await,
        (Resource::Containers, "POST", false) if asks => containers::list(door, call, Some(&body)),
        (Resource::Containers, "POST", false) => containers::create(door, call, &body).await,
        (Resource::Containers, "GET", false) => containers::list(door, call, None),
        (Resource::Containers, "GET" | "HEAD", true) => containers::read(door, call).await,
        (Resource::Containers, "PUT", true) => containers::replace(door, call, &body).await,
        (Resource::Containers, "DELETE", true) => containers::delete(door, call).await,
        (Resource::Documents, ..) => items(door, call, body).await,
        (Resource::Ranges, "GET", false) => ranges::list(door, call),
        (Resource::PartitionKey, "POST", _) => partition::delete(door, call).await,
        (Resource::Offers, "POST", false) if asks => offers::list(door, call, Some(&body)),
        (Resource::Offers, "GET", false) => offers::list(door, call, None),
        (Resource::Offers, "GET", true) => offers::read(door, call),
        (Resource::Offers, "PUT", true) => offers::replace(door, call, &body).await,
        (Resource::Users, "POST", false) if asks => users::list(door, call, Some(&body)),
        (Resource::Users, "POST", false) => users::create(door, call, &body).await,
        (Resource::Users, "GET", false) => users::list(door, call, None),
        (Resource::Users, "GET", true) => users::read(door, call),
        (Resource::Users, "PUT", true) => users::replace(door, call, &body).await,
        (Resource::Users, "DELETE", true) => users::delete(door, call).await,
        (Resource::Permissions, "POST", false) if asks => {
            permissions::list(door, call, Some(&body))
        }
        (Resource::Permissions, "POST", false) | (Resource::Permissions, "PUT", true) => {
            permissions::write(door, call, &body).await
        }
        (Resource::Permissions, "GET", false) => permissions::list(door, call, None),
        (Resource::Permissions, "GET", true) => permissions::read(door, call),
        (Resource::Permissions, "DELETE", true) => permissions::delete(door, call).await,
        (Resource::Procedures | Resource::Triggers | Resource::Udfs, ..) => {
            scripts(door, call, &body).await
        }
        (Resource::Conflicts, "GET" | "POST", false) => ranges::conflicts(door, call),
        (Resource::Conflicts, "GET" | "DELETE", true) => Err(Failure::no_entity()),
        (Resource::Addresses, ..) => Err(Failure::bad(
            "This server is reached through its gateway only: set the connection mode Gateway in \
             the client's options (.NET: ConnectionMode.Gateway, Java: gatewayMode()).",
        )),
        _ => Err(not_allowed(call)),
    }
}

fn not_allowed(call: &Call<'_>) -> Failure {
    let text = format!("There is no {} of this resource.", call.verb);
    Failure::new(Fault::MethodNotAllowed, text)
}

/// Items: what a POST means is in its headers.
async fn items<S: Store>(door: &Door<S>, call: &Call<'_>, body: Bytes) -> Result<Reply> {
    let headers = &call.headers;
    match (call.verb.as_str(), call.link.name.is_some()) {
        ("POST", false) if headers.is_plan => queries::plan(door, call, &body),
        ("POST", false) if headers.is_batch => batches::run(door, call, &body).await,
        ("POST", false) if call.asks() => queries::run(door, call, &body).await,
        ("POST", false) => points::create(door, call, &body).await,
        ("GET", false) if headers.a_im.is_some() => changes::read(door, call).await,
        ("GET", false) => feeds::read(door, call).await,
        ("GET" | "HEAD", true) => points::read(door, call).await,
        ("PUT", true) => points::replace(door, call, &body).await,
        ("PATCH", true) => points::patch(door, call, &body).await,
        ("DELETE", true) => points::delete(door, call).await,
        _ => Err(not_allowed(call)),
    }
}

async fn scripts<S: Store>(door: &Door<S>, call: &Call<'_>, body: &Bytes) -> Result<Reply> {
    match (call.verb.as_str(), call.link.name.is_some()) {
        ("POST", false) if call.asks() => crate::routes::scripts::list(door, call, Some(body)),
        ("POST", false) | ("PUT", true) => crate::routes::scripts::write(door, call, body).await,
        ("GET", false) => crate::routes::scripts::list(door, call, None),
        ("GET", true) => crate::routes::scripts::read(door, call),
        ("DELETE", true) => crate::routes::scripts::delete(door, call).await,
        ("POST", true) if call.link.kind == Resource::Procedures => {
            Err(Failure::unsupported("The execution of stored procedures"))
        }
        _ => Err(not_allowed(call)),
    }
}
