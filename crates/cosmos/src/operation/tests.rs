//! Tests of the whole table: every combination of method, kind of resource and headers has one
//! operation, every operation is reachable, and its row agrees with what the request may do.

use std::collections::{BTreeMap, HashSet};

use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::{
    row::{Access, Metering, Order, Parent, Requirement, Row, Task},
    table::Operation,
};
use crate::{
    headers::Headers,
    link::{Link, Resource},
};

/// Paths of each kind of resource: of the feed and, if the kind has one, of a single resource.
const PATHS: [(Resource, &str, Option<&str>); 16] = [
    (Resource::Account, "/", None),
    (Resource::Certificate, "/_explorer/emulator.pem", None),
    (Resource::Addresses, "//addresses", None),
    (Resource::Databases, "/dbs", Some("/dbs/d")),
    (Resource::Containers, "/dbs/d/colls", Some("/dbs/d/colls/c")),
    (Resource::Documents, "/dbs/d/colls/c/docs", Some("/dbs/d/colls/c/docs/1")),
    (Resource::Ranges, "/dbs/d/colls/c/pkranges", Some("/dbs/d/colls/c/pkranges/0")),
    (Resource::Procedures, "/dbs/d/colls/c/sprocs", Some("/dbs/d/colls/c/sprocs/s")),
    (Resource::Triggers, "/dbs/d/colls/c/triggers", Some("/dbs/d/colls/c/triggers/t")),
    (Resource::Udfs, "/dbs/d/colls/c/udfs", Some("/dbs/d/colls/c/udfs/f")),
    (Resource::Conflicts, "/dbs/d/colls/c/conflicts", Some("/dbs/d/colls/c/conflicts/x")),
    (Resource::PartitionKey, "/dbs/d/colls/c/operations/partitionkeydelete", None),
    (Resource::Users, "/dbs/d/users", Some("/dbs/d/users/u")),
    (Resource::Permissions, "/dbs/d/users/u/permissions", Some("/dbs/d/users/u/permissions/p")),
    (Resource::ClientKeys, "/dbs/d/clientencryptionkeys", Some("/dbs/d/clientencryptionkeys/k")),
    (Resource::Offers, "/offers", Some("/offers/AbCd")),
];

/// Headers on which the operation of a request depends.
const HEADERS: [(&str, &str); 6] = [
    ("x-ms-documentdb-isquery", "true"),
    ("content-type", "application/query+json"),
    ("x-ms-cosmos-is-query-plan-request", "True"),
    ("x-ms-cosmos-is-batch-request", "True"),
    ("x-ms-documentdb-is-upsert", "True"),
    ("a-im", "Incremental Feed"),
];

fn methods() -> Vec<Method> {
    let other = Method::from_bytes(b"PURGE").unwrap();
    vec![
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
        Method::TRACE,
        other,
    ]
}

/// Returns every request with its operation.
fn all_requests() -> Vec<(Method, &'static str, usize, Operation)> {
    let mut found = Vec::new();
    for (kind, feed, one) in PATHS {
        for path in [Some(feed), one].into_iter().flatten() {
            let link = Link::parse(path).unwrap();
            assert_eq!(link.kind, kind, "{path}");
            for method in methods() {
                for combination in 0..1 << HEADERS.len() {
                    let operation = Operation::decide(&method, &link, &headers(combination));
                    found.push((method.clone(), path, combination, operation));
                }
            }
        }
    }
    found
}

fn headers(combination: usize) -> Headers {
    let held = HEADERS.iter().enumerate().filter(|(at, _)| combination >> at & 1 == 1);
    let map: HeaderMap = held
        .map(|(_, (name, text))| (HeaderName::from_static(name), HeaderValue::from_static(text)))
        .collect();
    Headers::read(map).unwrap()
}

#[test]
fn every_operation_is_reached() {
    let reached: Vec<Operation> = all_requests().into_iter().map(|(.., found)| found).collect();
    for operation in Operation::ALL {
        assert!(reached.contains(operation), "{operation:?}");
    }
}

#[test]
fn headers_count_where_a_post_or_a_feed_of_items_can_mean_several_things() {
    let mut meanings: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    for (method, path, _, operation) in all_requests() {
        let request = format!("{method} {path}");
        meanings.entry(request).or_default().insert(format!("{operation:?}"));
    }
    let several = |path: &str| format!("POST {path}");
    let mut want: Vec<String> = [
        "/dbs",
        "/dbs/d/colls",
        "/dbs/d/colls/c/docs",
        "/dbs/d/colls/c/sprocs",
        "/dbs/d/colls/c/triggers",
        "/dbs/d/colls/c/udfs",
        "/dbs/d/users",
        "/dbs/d/users/u/permissions",
        "/dbs/d/clientencryptionkeys",
        "/offers",
    ]
    .map(several)
    .to_vec();
    want.push("GET /dbs/d/colls/c/docs".to_owned());
    want.sort();
    let found: Vec<String> =
        meanings.iter().filter(|(_, held)| 1 < held.len()).map(|(name, _)| name.clone()).collect();
    assert_eq!(found, want);
    assert_eq!(meanings["POST /dbs/d/colls/c/docs"].len(), 5);
}

#[test]
fn the_first_of_several_headers_counts() {
    let link = Link::parse("/dbs/d/colls/c/docs").unwrap();
    let (query, json, plan, batch, upsert) = (1, 2, 4, 8, 16);
    for (combination, want) in [
        (0, Operation::CreateItem),
        (upsert, Operation::UpsertItem),
        (query, Operation::QueryItems),
        (json, Operation::QueryItems),
        (query | json | upsert, Operation::QueryItems),
        (batch | query | upsert, Operation::Batch),
        (plan | batch | query | json | upsert, Operation::QueryPlan),
    ] {
        let found = Operation::decide(&Method::POST, &link, &headers(combination));
        assert_eq!(found, want, "{combination}");
    }
}

#[test]
fn what_reads_is_sent_by_get_or_is_a_query() {
    for (method, path, combination, operation) in all_requests() {
        let row = operation.row();
        let got = matches!(method, Method::GET | Method::HEAD);
        let reads = row.access == Access::Reads;
        let queries = row.task == Task::ForQuery;
        assert_eq!(reads, got || queries, "{method} {path} {combination}: {operation:?}");
    }
}

#[test]
fn rows_agree_with_themselves() {
    for (.., operation) in all_requests() {
        let Row { metering, access, task, order, parent, requirement, .. } = operation.row();
        let of_items = requirement == Requirement::Partition;
        assert_eq!(metering == Metering::Metered, of_items, "{operation:?}: items are metered");
        assert!(!of_items || parent == Parent::Container, "{operation:?}: it has the throughput");
        let changes = order == Order::OneByOne || task == Task::ForChange;
        assert!(!changes || access == Access::Writes, "{operation:?}");
        let steps = order == Order::AtOnce || task == Task::ForChange;
        assert!(steps, "{operation:?}: a change of several steps has a task of its own");
    }
}

#[test]
fn a_kind_of_resource_is_authorized_and_metered_alike_whatever_the_method_is() {
    for (kind, ..) in PATHS {
        let of_kind = |(_, path, _, operation): &(Method, &str, usize, Operation)| {
            (Link::parse(path).unwrap().kind == kind).then(|| operation.row())
        };
        let rows: Vec<Row> = all_requests().iter().filter_map(of_kind).collect();
        let first = rows[0];
        for row in rows {
            let found = (row.metering, row.requirement);
            assert_eq!(found, (first.metering, first.requirement), "{kind:?}");
        }
    }
}
