//! Resources other than containers and items, each stored in the engine's catalog under a path:
//! lookup, creation, replacement and removal. The routes define the contents of the resources and
//! their form in responses.
//!
//! A path is a list of names. Users are below their database, permissions below their user, scripts
//! below their container's number; removing a resource also removes the resources below it.

use std::sync::Arc;

use document::{Document, Value, doc};
use engine::{Expected, Kind, Resource, ResourceChange};
use throughput::request_units::Work;

use super::shared;
use crate::{
    api::NoSqlApi,
    catalog,
    failure::{Failure, Fault, Result},
    limits::MAX_TRIES,
    reply::Reply,
    request::Request,
    rid::Rid,
};

/// Path of the stored counter from which resource numbers are assigned.
const COUNTER: &[&str] = &["counter"];

/// Returns all resources with the same parent as this path.
pub(super) fn siblings_of(api: &NoSqlApi, path: &[&str]) -> Vec<Arc<Resource>> {
    let parent = path.split_last().map_or(path, |(_, parent)| parent);
    api.engine.resources_below(parent)
}

/// Finds the resource at this path, whose last name may be a resource id instead.
pub(super) fn find_resource(
    api: &NoSqlApi,
    path: &[&str],
    rid: impl Fn(&Resource) -> Rid,
) -> Option<Arc<Resource>> {
    let name = path.last().copied().unwrap_or_default();
    let by_id = || siblings_of(api, path).into_iter().find(|held| rid(held).encode() == name);
    api.engine.resource_at(path).or_else(by_id)
}

/// Returns the stored properties of a resource, preceded by its id.
pub(super) fn kept_body(held: &Resource) -> Document {
    let mut body = doc! { "id": held.path.last().map_or("", String::as_str) };
    for (name, value) in held.body.fields() {
        body.push(name.clone(), value.clone());
    }
    body
}

/// Returns a number that has never been used by a resource. The caller must hold the lock
/// `NoSqlApi::changing`.
pub(super) async fn next_number(api: &NoSqlApi) -> Result<u32> {
    for _ in 0..MAX_TRIES {
        let held = api.engine.resource_at(COUNTER);
        let (before, expect) = match &held {
            None => (0, Expected::Absent),
            Some(held) => {
                let number = catalog::resource_number(&held.body).unwrap_or(0);
                (number, Expected::Version(held.stamp))
            }
        };
        let number = api.settings.shard.next_number(before);
        let number = number.filter(|number| Rid::Database(*number).may_be_given());
        let number = number.ok_or_else(|| {
            Failure::new(Fault::Forbidden, "The account's resource ids are exhausted.")
        })?;
        let body = doc! { "number": Value::Int64(i64::from(number)) };
        match api.engine.put_resource(COUNTER, body, expect).await {
            Ok(_) => return Ok(number),
            Err(error) if matches!(error.kind, Kind::Precondition | Kind::Exists(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::new(Fault::RetryWith, "Too many resources are being created at once."))
}

/// Creates a resource that contains only the number of its resource id. Returns the number and the
/// resource. The caller must hold the lock `NoSqlApi::changing`.
pub(super) async fn create_numbered(api: &NoSqlApi, path: &[&str]) -> Result<(u32, Arc<Resource>)> {
    create_instead(api, path, None).await
}

/// Creates a resource that contains only the number of its resource id and, in the same commit,
/// removes the resource `of`, if any, with the resources below it. Returns the number and the
/// created resource. The caller must hold the lock `NoSqlApi::changing`.
pub(super) async fn create_instead(
    api: &NoSqlApi,
    path: &[&str],
    of: Option<&Resource>,
) -> Result<(u32, Arc<Resource>)> {
    let number = next_number(api).await?;
    let body = doc! { "number": Value::Int64(i64::from(number)) };
    let mut changes = vec![ResourceChange::put(path, body, Expected::Absent)];
    if let Some(of) = of {
        changes.push(ResourceChange::remove(&path_names(of), Expected::Version(of.stamp)));
    }
    let made = api.engine.change_resources(changes).await?.pop();
    Ok((number, made.ok_or_else(Failure::no_resource)?))
}

/// Creates a resource, or replaces an existing one if the request is an upsert. Also returns the
/// status of the response. The caller must hold the lock `NoSqlApi::changing`.
pub(super) async fn create_resource(
    api: &NoSqlApi,
    request: &Request,
    path: &[&str],
    kept: Document,
) -> Result<(u16, Arc<Resource>)> {
    let (status, expect) = match api.engine.resource_at(path) {
        Some(_) if request.headers.is_upsert() => (200, Expected::Present),
        _ => (201, Expected::Absent),
    };
    Ok((status, api.engine.put_resource(path, kept, expect).await?))
}

/// Replaces a resource if the request's version condition is met. If the last name of `path` is not
/// that of the resource, the resource is removed and a new one is created in the same commit; 409
/// if the name is in use. The caller must hold the lock `NoSqlApi::changing`.
pub(super) async fn replace_named(
    api: &NoSqlApi,
    request: &Request,
    held: &Resource,
    path: &[&str],
    kept: Document,
) -> Result<Arc<Resource>> {
    if path_names(held) == path {
        return replace_resource(api, request, held, kept).await;
    }
    let changes = vec![
        ResourceChange::put(path, kept, Expected::Absent),
        ResourceChange::remove(&path_names(held), shared::expected_version(request)),
    ];
    let made = api.engine.change_resources(changes).await?.pop();
    made.ok_or_else(Failure::no_resource)
}

/// Replaces a resource if the request's version condition is met.
pub(super) async fn replace_resource(
    api: &NoSqlApi,
    request: &Request,
    held: &Resource,
    kept: Document,
) -> Result<Arc<Resource>> {
    Ok(api.engine.put_resource(&path_names(held), kept, shared::expected_version(request)).await?)
}

/// Removes a resource if the request's version condition is met.
pub(super) async fn delete_resource(
    api: &NoSqlApi,
    request: &Request,
    held: &Resource,
) -> Result<Reply> {
    api.engine.remove_resource(&path_names(held), shared::expected_version(request)).await?;
    Ok(removed_reply())
}

/// Returns the response after a removal.
pub(super) fn removed_reply() -> Reply {
    Reply::empty(204).with_units(Work::Write, 0)
}

/// Returns the path of a resource as string slices.
pub(super) fn path_names(held: &Resource) -> Vec<&str> {
    held.path.iter().map(String::as_str).collect()
}

/// Refuses a request whose version condition does not hold for the version `stamp`. Used before
/// changes in several steps, whose steps do not check the version.
pub(super) fn check_version(request: &Request, stamp: u64) -> Result<()> {
    match shared::expected_version(request) {
        Expected::Version(wanted) if wanted != stamp => Err(Failure::precondition_failed()),
        _ => Ok(()),
    }
}
