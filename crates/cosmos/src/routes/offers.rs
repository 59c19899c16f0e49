//! Offers: the throughput of databases and containers, which these routes store, return and change;
//! the crate `throughput` enforces it.
//!
//! An offer is a separate resource that contains the resource id of its database or container.
//! Throughput is manual, in steps of 100 request units per second, or autoscale up to a maximum in
//! steps of 1,000; this server does not scale: the maximum is the limit.

use std::sync::Arc;

use document::{Document, Number, Value, doc, json};
use engine::{Expected, Resource};
use throughput::{Allowance, OutOfBounds, Throughput};

use super::{resources, shared};
use crate::{
    api::NoSqlApi,
    catalog::Container,
    etag,
    failure::{Failure, Result},
    headers::{NAMED_OFFERS, UNNAMED_OFFER},
    reply::Reply,
    representation,
    request::Request,
    rid::Rid,
};

/// First component of the catalog paths of offers.
const ROOT: &str = "offer";

/// Returns the offer's content as it is stored and as responses represent it.
fn content_of(throughput: Throughput) -> Document {
    match throughput {
        Throughput::Manual(units) => doc! {
            "offerThroughput": Value::Int64(units),
            "offerIsRUPerMinuteThroughputEnabled": false,
        },
        Throughput::Autoscale(most, increment) => {
            let mut settings = doc! { "maxThroughput": Value::Int64(most) };
            if let Some(increment) = increment {
                let policy = doc! { "incrementPercent": Value::Int64(increment) };
                settings.push("autoUpgradePolicy", doc! { "throughputPolicy": policy });
            }
            doc! {
                "offerThroughput": Value::Int64(most / 10),
                "offerAutopilotSettings": settings,
            }
        }
    }
}

/// Parses the content of an offer. Autoscale settings take precedence over a manual value,
/// because SDKs send back the value that they have read.
fn parse_content(content: Option<&Value>) -> Result<Throughput> {
    let Some(Value::Document(content)) = content else {
        return Err(Failure::bad_request("The offer has no object 'content'."));
    };
    let scale = match content.get("offerAutopilotSettings") {
        Some(Value::Document(settings)) => parse_autoscale(settings)?,
        None | Some(Value::Null) => None,
        Some(_) => {
            return Err(Failure::bad_request("The autoscale settings are not an object."));
        }
    };
    match (scale, content.get("offerThroughput").and_then(whole_number)) {
        (Some(scale), _) => check_bounds(scale),
        (None, Some(units)) => check_bounds(Throughput::Manual(units)),
        (None, None) => Err(Failure::bad_request("The offer has no throughput.")),
    }
}

/// Parses autoscale settings; returns `None` if they specify no throughput.
fn parse_autoscale(settings: &Document) -> Result<Option<Throughput>> {
    let most = match settings.get("maxThroughput") {
        None | Some(Value::Null) => return Ok(None),
        Some(most) => whole_number(most).ok_or_else(|| {
            Failure::bad_request("The autoscale throughput is not a whole number.")
        })?,
    };
    let inner = |document: Option<&Value>, name: &str| match document {
        Some(Value::Document(fields)) => fields.get(name).cloned(),
        _ => None,
    };
    let policy = inner(settings.get("autoUpgradePolicy"), "throughputPolicy");
    let increment = match inner(policy.as_ref(), "incrementPercent") {
        None | Some(Value::Null) => None,
        Some(increment) => {
            let increment = whole_number(&increment).filter(|percent| *percent >= 0);
            Some(increment.ok_or_else(|| {
                Failure::bad_request("The property 'incrementPercent' is not a whole number.")
            })?)
        }
    };
    Ok(Some(Throughput::Autoscale(most, increment)))
}

/// Refuses throughputs that are out of bounds or not a multiple of the increment.
fn check_bounds(throughput: Throughput) -> Result<Throughput> {
    throughput.check_bounds().map_err(|OutOfBounds { least, most, step }| {
        Failure::bad_request(format!(
            "The offer should have valid throughput values between {least} and {most} inclusive in \
             increments of {step}."
        ))
    })
}

/// Returns an integer in any JSON notation of integers, such as `400` or `400.0`.
fn whole_number(value: &Value) -> Option<i64> {
    Number::of(value.as_ref())?.to_i64_exact()
}

/// Returns the throughput that the headers of a create request specify.
pub(crate) fn requested_throughput(request: &Request) -> Result<Option<Throughput>> {
    if let Some(settings) = request.headers.autoscale() {
        let settings = json::parse_document(settings.as_bytes(), 5)?;
        let scaled = parse_autoscale(&settings)?.unwrap_or(Throughput::Autoscale(0, None));
        return check_bounds(scaled).map(Some);
    }
    let Some(text) = request.headers.throughput() else { return Ok(None) };
    let units = text.trim().parse().unwrap_or(0);
    check_bounds(Throughput::Manual(units)).map(Some)
}

/// Returns the name of a legacy performance level (S1, S2 or S3) that a create request specifies,
/// if any. The offer returns this name to clients, but only its numeric throughput is enforced.
pub(crate) fn requested_name(request: &Request) -> Option<&'static str> {
    let given = request.headers.offer_type()?.trim();
    NAMED_OFFERS.iter().copied().find(|known| known.eq_ignore_ascii_case(given))
}

/// Creates the offer of a resource with this link and resource id. The caller must hold the lock
/// `NoSqlApi::changing`.
pub(crate) async fn create_offer(
    api: &NoSqlApi,
    link: &str,
    rid: &str,
    throughput: Throughput,
    named: Option<&str>,
) -> Result<()> {
    let number = resources::next_number(api).await?;
    let mut body = doc! {
        "number": Value::Int64(i64::from(number)),
        "resource": link,
        "offerResourceId": rid,
        "content": content_of(throughput),
    };
    if let Some(named) = named {
        body.push("offerType", named);
    }
    let id = Rid::Database(number).encode();
    api.engine.put_resource(&[ROOT, &id], body, Expected::Absent).await?;
    Ok(())
}

/// Creates the offer of a new resource. If this fails, the resource exists without an offer, which
/// the failure's text states. At the next start a container without an offer gets the minimum
/// throughput.
pub(crate) async fn create_first_offer(
    api: &NoSqlApi,
    link: &str,
    rid: &str,
    throughput: Throughput,
    named: Option<&str>,
) -> Result<()> {
    create_offer(api, link, rid, throughput, named).await.map_err(|failure| {
        let text = format!("The resource was created, but not its throughput: {}", failure.text);
        Failure { text: text.into(), ..failure }
    })
}

/// Returns all offers in stored form.
pub(super) fn all_resources(api: &NoSqlApi) -> Vec<Arc<Resource>> {
    api.engine.resources_below(&[ROOT])
}

/// Returns the offer of the resource with this id. The search is linear: there are at most as many
/// offers as databases and containers, and few operations need one.
pub(crate) fn offer_of(api: &NoSqlApi, rid: &str) -> Option<Arc<Resource>> {
    let is_own = |offer: &Arc<Resource>| {
        offer.body.get("offerResourceId").and_then(|id| id.as_ref().as_str()) == Some(rid)
    };
    all_resources(api).into_iter().find(is_own)
}

/// Returns the throughput limit of a container, from the offer of the container or of its database;
/// `None` if neither has an offer.
pub(crate) fn find_allowance(api: &NoSqlApi, container: &Container) -> Option<Allowance> {
    let database = Rid::Database(container.database_number).encode();
    let (about, offer) = [container.rid.clone(), database].into_iter().find_map(|rid| {
        let offer = offer_of(api, &rid)?;
        Some((rid, offer))
    })?;
    let throughput = parse_content(offer.body.get("content")).ok()?;
    Some(Allowance { about, units: throughput.most_units() })
}

/// Removes the offer of a resource, if it has one.
pub(crate) async fn remove_offer(api: &NoSqlApi, rid: &str) -> Result<()> {
    let Some(offer) = offer_of(api, rid) else { return Ok(()) };
    Ok(api.engine.remove_resource(&resources::path_names(&offer), Expected::Present).await?)
}

/// Returns an offer as responses represent it. Its type is "Invalid" and its version "V2", as in
/// Azure Cosmos DB, unless it was created with a legacy performance level.
fn represent(offer: &Resource) -> Document {
    let id = offer.path.last().map_or("", String::as_str);
    let kept = |name: &str| offer.body.get(name).cloned().unwrap_or(Value::Null);
    let (kind, version) = match offer.body.get("offerType") {
        Some(named) => (named.clone(), "V1"),
        None => (Value::from(UNNAMED_OFFER), "V2"),
    };
    doc! {
        "resource": kept("resource"),
        "offerType": kind,
        "offerResourceId": kept("offerResourceId"),
        "offerVersion": version,
        "content": kept("content"),
        "id": id,
        "_rid": id,
        "_self": format!("offers/{id}/"),
        "_etag": etag::quoted_etag(offer.stamp),
        "_ts": Value::Int64(offer.ts),
    }
}

/// Returns all offers of this shard as responses represent them, ordered by id.
pub(super) fn represent_all(api: &NoSqlApi) -> Vec<Document> {
    let mut all: Vec<Document> = all_resources(api).iter().map(|offer| represent(offer)).collect();
    let id = |offer: &Document| offer.get("id").map(|id| json::to_string(id.as_ref()));
    all.sort_by_key(id);
    all
}

/// Finds the offer that a link names by its resource id; offers have no names.
fn find_named(api: &NoSqlApi, request: &Request) -> Result<Arc<Resource>> {
    let id = request.name();
    if Rid::parse(id).is_none() {
        return Err(Failure::bad_request(format!("'{id}' is not the id of an offer.")));
    }
    api.engine.resource_at(&[ROOT, id]).ok_or_else(Failure::no_resource)
}

/// `GET /offers/{rid}`. A header contains the minimum throughput for SDKs.
pub(crate) fn read_offer(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    Ok(representation::resource_reply(200, &represent(&*find_named(api, request)?))
        .with_header("x-ms-cosmos-min-throughput", "400"))
}

/// `PUT /offers/{rid}`. 200; the new limit is enforced within a second.
pub(crate) async fn replace_offer(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let held = find_named(api, request)?;
    let body = shared::parse_document(body)?;
    let id = held.path.last().map_or("", String::as_str);
    for name in ["id", "_rid"] {
        if body.get(name).is_some_and(|given| given.as_ref().as_str() != Some(id)) {
            let text = format!("The property '{name}' does not match the offer '{id}'.");
            return Err(Failure::bad_request(text));
        }
    }
    let throughput = parse_content(body.get("content"))?;
    let mut changed = held.body.clone();
    changed.insert("content", content_of(throughput));
    // An offer with a throughput has no legacy performance level (`S1` to `S3`).
    changed.remove("offerType");
    let made = resources::replace_resource(api, request, &held, changed).await?;
    Ok(representation::resource_reply(200, &represent(&made)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughputs() {
        for (text, want) in [
            (r#"{"offerThroughput":400}"#, Some(Throughput::Manual(400))),
            (r#"{"offerThroughput":500.0}"#, Some(Throughput::Manual(500))),
            (
                r#"{"offerThroughput":-1,"offerAutopilotSettings":{"maxThroughput":4000}}"#,
                Some(Throughput::Autoscale(4000, None)),
            ),
            (
                r#"{"offerAutopilotSettings":{"maxThroughput":4000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":5}}}}"#,
                Some(Throughput::Autoscale(4000, Some(5))),
            ),
            (
                r#"{"offerAutopilotSettings":{"maxThroughput":4000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":-5}}}}"#,
                None,
            ),
            (r#"{"offerThroughput":399}"#, None),
            (r#"{"offerThroughput":450}"#, None),
            (r#"{"offerThroughput":"400"}"#, None),
            (r#"{"offerAutopilotSettings":{"maxThroughput":100}}"#, None),
            (r#"{"offerThroughput":400,"offerAutopilotSettings":{"maxThroughput":"x"}}"#, None),
            (r#"{"offerThroughput":400,"offerAutopilotSettings":[]}"#, None),
            ("{}", None),
        ] {
            let content = json::parse_document(text.as_bytes(), 5).unwrap();
            let found = parse_content(Some(&Value::Document(content))).ok();
            assert_eq!(found, want, "{text}");
            // The stored form must parse to the same throughput.
            let again = found.map(|found| parse_content(Some(&Value::Document(content_of(found)))));
            assert!(again.is_none_or(|again| again.ok() == want), "{text}");
        }
    }
}
