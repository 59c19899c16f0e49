//! Addresses of replicas, which clients in direct mode request before they send frames.

use document::{Value, doc};
use throughput::request_units::Work;

use crate::{
    api::NoSqlApi,
    catalog,
    failure::{Failure, Fault, Result},
    reply::Reply,
    representation,
    request::Request,
    session,
};

/// Number of replicas in a list of addresses. They are one server, but clients send strong reads to
/// secondaries first, and read the list again before each such read if there are none.
const REPLICAS: u32 = 2;

/// Part of the path of an address that is the owner's, given by `--cosmos-direct-advertise`. Clients
/// repeat the path in each frame, so a node that is no longer the owner can tell them.
pub(crate) const OWNER_SERVICE: &str = "/services/owner/";
/// The same part if clients reach the address through any node.
const ANY_SERVICE: &str = "/services/nosql/";

/// `GET //addresses/`. The list for databases and other resources of the account has no range;
/// that for items has the requested ranges of their container. Without direct mode the failure names
/// the setting of each SDK that selects gateway mode.
pub(crate) fn read_addresses(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let Some(direct) = &api.settings.direct else {
        return Err(Failure::bad_request(
            "This server is reached through its gateway only: set the connection mode Gateway in \
             the client's options (.NET: ConnectionMode.Gateway, Java: gatewayMode()), or start \
             the server with --cosmos-direct and TLS.",
        ));
    };
    let [database, container] = &request.link.owners;
    let (rid, ranges) = match database.is_empty() {
        true => (String::new(), vec!["M"]),
        false => {
            let found = catalog::find_container(&api.engine, &api.containers, database, container)?;
            (found.rid.clone(), known_ranges(request.name())?)
        }
    };
    let address = match (&direct.advertise, &api.settings.endpoint, request.host()) {
        (Some(address), ..) => address.clone(),
        (None, Some(endpoint), _) => address_of_endpoint(endpoint),
        (None, None, Some(host)) => with_port(host, request.scheme),
        (None, None, None) => return Err(Failure::bad_request("There is no header 'host'.")),
    };
    let service = if direct.advertise.is_some() { OWNER_SERVICE } else { ANY_SERVICE };
    let base = format!("rntbd://{address}/apps/ebb{service}");
    let mut addresses = Vec::new();
    for range in &ranges {
        for replica in 1..=REPLICAS {
            addresses.push(Value::Document(describe_replica(&rid, range, replica, &base)));
        }
    }
    let count = Value::Int64(i64::try_from(addresses.len()).unwrap_or(i64::MAX));
    // `Addresss` and `physcialUri` are spelled as clients expect them.
    let feed = doc! { "_rid": rid, "Addresss": Value::Array(addresses), "_count": count };
    let body = representation::resource_text(&feed);
    Ok(Reply::json(200, body).with_units(Work::PointRead, 0))
}

/// Returns the ranges of a list, which must exist. A client that requests none gets all.
fn known_ranges(list: &str) -> Result<Vec<&str>> {
    for id in list.split(',').map(str::trim).filter(|id| !id.is_empty()) {
        if id != session::RANGE {
            let text = format!("There is no partition key range '{id}'.");
            return Err(Failure::new(Fault::Gone, text));
        }
    }
    Ok(vec![session::RANGE])
}

/// Returns the description of a replica; the first one is the primary. `base` is the start of its URI.
fn describe_replica(rid: &str, range: &str, replica: u32, base: &str) -> document::Document {
    let is_primary = replica == 1;
    let role = if is_primary { 'p' } else { 's' };
    doc! {
        "isPrimary": is_primary,
        "protocol": "rntbd",
        "logicalUri": "urn:ebb",
        "physcialUri": format!("{base}partitions/{range}/replicas/{replica}{role}/"),
        "partitionIndex": format!("{range}@{rid}"),
        "partitionKeyRangeId": range,
    }
}

/// Returns host and port of an endpoint URL.
fn address_of_endpoint(endpoint: &str) -> String {
    let (scheme, rest) = endpoint.split_once("://").unwrap_or(("https", endpoint));
    with_port(rest.split('/').next().unwrap_or(rest), scheme)
}

/// Returns a host with a port: that of the scheme if the host has none.
fn with_port(host: &str, scheme: &str) -> String {
    let behind = host.rsplit_once(']').map_or(host, |(_, behind)| behind);
    match (behind.contains(':'), scheme) {
        (true, _) => host.to_owned(),
        (false, "http") => format!("{host}:80"),
        (false, _) => format!("{host}:443"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_ports() {
        for (endpoint, want) in [
            ("http://a:8081/", "a:8081"),
            ("http://a/", "a:80"),
            ("https://a.example/", "a.example:443"),
            ("https://[::1]:8081/", "[::1]:8081"),
            ("https://[::1]/", "[::1]:443"),
        ] {
            assert_eq!(address_of_endpoint(endpoint), want, "{endpoint}");
        }
    }

    #[test]
    fn only_known_ranges_have_addresses() {
        assert_eq!(known_ranges("0"), Ok(vec!["0"]));
        assert_eq!(known_ranges(""), Ok(vec!["0"]));
        assert_eq!(known_ranges("0,7").unwrap_err().fault, Fault::Gone);
    }
}
