//! Generates `docs/compat/cosmos-nosql.md`: constant texts about rules and routes, and tables of
//! headers, errors and functions that are generated from the code. A test compares the file with
//! this output, so that no new header or function is missing from it.

use std::fmt::Write;

use select::functions;

use crate::{failure::Fault, headers::READ, transport::Transport};

/// Title of the page, and the rules for time to live (TTL).
const RULES: &str = r#"# Azure Cosmos DB for NoSQL compatibility

Printed from the tables of headers, errors and functions; a test keeps it true.

The API as the official SDKs use it: by REST in gateway mode (Python, JavaScript, Go, Rust, and Java and
.NET if their connection mode is set to gateway), and by frames in direct mode, the default of Java and
.NET. *Works* means as in the service; what differs says how; what is not there answers an error that
names it.

## Rules of time to live

* A container's `defaultTtl`: absent is off; -1; 1..2147483647. `null`, 0, other negatives, fractions,
  texts and booleans are 400. `5.0` counts as 5. Together with `indexingMode` `none` it is 400, when
  the container is made and when it is replaced. Replacing a container without it turns TTL off.
* An item's root-level `ttl` is checked where TTL is on (400 with the service's text, in create,
  upsert, replace, patch and batch) and kept as it came where TTL is off.
* An item is gone at `_ts + ttl`, in whole seconds, on every path: point reads, queries, counts,
  feeds, batches, conditions, unique keys. What has expired stays expired whatever is set later; in the
  service what was not purged yet comes back when TTL is turned off.
* In the feed of all versions an expiration is `"operationType":"delete"` with `"timeToLiveExpired":true`.
  A container whose policy says nothing of `retentionDuration` keeps versions for 7 days, from the first request
  for that feed on whose sender may write; before that, one from a sender who may only read is 400. A container
  whose policy says 0 keeps none, and such a request is 400. A policy that changes ends what began by itself.
  A container whose `changeFeedPolicy` has `"retainPreviousImages": true` (a property of this server)
  has the item as it was in `previous`, of expirations and of all other changes.

"#;

/// The table of the routes in the documentation.
const ROUTES: &str = r#"## Routes

| route | | |
|---|---|---|
| `GET /` | works | names the scheme, host and port of the request, or `--account-endpoint`; one region |
| `/dbs`, `/dbs/{db}` | works | POST (create, query), GET, DELETE |
| `/dbs/{db}/colls`, `…/{c}` | works | POST, GET, PUT, DELETE |
| `…/docs`, `…/docs/{id}` | works | create, upsert, read, replace, patch, delete, query, plan, batch, bulk, read feed, change feeds |
| `…/pkranges` | works | always one range |
| `…/operations/partitionkeydelete` | works | done when it is answered; a prefix of a hierarchical key is refused (1001) |
| `…/sprocs`, `…/triggers`, `…/udfs` | kept, not run | executing a procedure, and writes that name a trigger, are 501 |
| `…/conflicts` | works | there are none; a query names a partition key or crosses partitions |
| `/dbs/{db}/users`, `…/permissions` | works | tokens live 10 minutes to 24 hours |
| `/dbs/{db}/clientencryptionkeys` | works | POST (create, query), GET, PUT; kept and shown, clients encrypt; 20 in a database |
| `/offers` | works | kept and shown; they limit with `--enforce-throughput` alone |
| `/_explorer/emulator.pem` | works | the server's certificate; no signature |
| `/_explorer/`, `/config.json` | differs | with `--explorer-dir` the files of that directory and their settings, without a signature; else `/_explorer/` leads to the portal |
| `//addresses` | works | two replicas at the address of the request, `--account-endpoint` or `--cosmos-direct-advertise` (in a cluster that of the node that owns the database); with `--cosmos-direct=off` and without TLS 400 with the setting of the client to change |

Links hold names or resource ids; a slash at the end changes nothing.

In direct mode (rntbd over TLS at the port of the NoSQL API) these work: items (create, upsert, read, replace,
patch, delete, query, read feed, change feed, batch, bulk), and reads of databases, containers, users,
permissions and conflicts; the SDKs send the rest to the gateway. Names are not percent-encoded, so items whose
ids have `?`, `#`, `%` or a space at the end are addressed by their ids. Strong and bounded staleness reads of
items are refused as in the gateway. An error 501 is `InternalServerError` with the same text in .NET.
"#;

/// Text after the tables: charges, limits, choices, and missing features.
const REST: &str = r#"## Request charges

A charge depends on the operation, the data and the indexing policy alone, so that it is the same every
time, whichever [paths are indexed](#indexing-policies) at that moment. In request units, with KB the kilobytes of the item or of the answer, at least 1:

| operation | charge |
|---|---|
| point read, resources that are no items | 0.5 + 0.5 KB |
| write | 4 + 1 KB; a delete 5 |
| query, feed | 2.25 + 0.03 for each item that counts + 0.05 KB |

A query is charged for the items that match its WHERE on indexed paths, and with an ORDER BY that an index
of the policy has only for the items on the page. A feed is charged for all items. The number of retrieved
documents in the metrics of a query is the same.

Deaths cost nothing. Nobody is slowed down unless the server runs with `--enforce-throughput`: then
each container has the request units of its offer (the manual figure, or the upper end of autoscale)
anew every second of the machine's clock, containers without an offer share their database's, and
answers about items are paid from them. An answer may cost more than there is; until that is made up
for, requests about items are 429 with sub-status 3200, `Request rate is large` and
`x-ms-retry-after-ms`. A changed offer counts from the next second on. A 429 costs nothing.

## How much memory a request may take

The values of one expression hold 100 MB at most, what a page keeps 256 MB, an answer 32 MB as text:
400, or 413 with sub-status 3402. All requests together hold half of `--memory`; one that needs more
than is left is 503 with `x-ms-retry-after-ms`, which SDKs follow. A head has 128 KB at
most, and an answer of which nothing is read for a minute ends it.

## Indexing policies

A policy says what may be indexed, and every answer, page, token, charge and index metric goes by that. An
index that is not there only makes a query take longer:

* Composite indexes, unique keys and paths that `includedPaths` writes out (`/name/?`) are indexed from
  the beginning. What a wildcard includes (`/*`, `/name/*`) is indexed path by path: when a query looks at
  more than 1,000 items that the path would have spared it, the path is built beside it, and kept up from
  then on. An item that is written costs an entry for each path that is indexed, not for each property.
* `x-ms-documentdb-collection-index-transformation-progress` shows such a build as it shows that of a new
  policy. No writer and no query waits for it, and it survives a restart.
* Queries bring up to 64 paths to a container, beside those that are named.
* A new policy keeps what is indexed and still included.
* Metrics name the indexes that the policy has for a query, whether or not they are built: of each path that
  the condition is about, of an order that an index has, and composite ones. Potential indexes are those of
  paths that the policy leaves out, and composite ones of paths with equality before one path with a range,
  or before the order.
* Which paths are indexed, since when and why shows the portal, and `GET /_ebb/…/indexes`.
* Spatial indexes are checked, completed with all types and shown, and have no effect: a spatial function is
  evaluated on each item that the other conditions leave, and no metric names a spatial index.

## Geometries

Spatial functions take a GeoJSON `Point`, `LineString`, `Polygon` or `MultiPolygon`; its `crs` and `bbox` have no
effect. Any other argument makes the result undefined; `ST_ISVALIDDETAILED` returns the reason, and of an
undefined argument validity is undefined too.

* With the `geospatialConfig` `Geography` positions are longitudes and latitudes on the WGS 84 ellipsoid. Distances
  are metres of the shortest line between the nearest points, areas square metres. Edges are ellipses around
  the centre of the Earth. The inside of a polygon is to the left of its outer ring: a clockwise ring encloses
  everything else. The orientation of holes has no effect.
* With `Geometry` they are points of a plane, without bounds; the orientation of rings has no effect.
* A ring is closed and does not cross itself or another ring, holes lie in the outer ring, parts of a MultiPolygon
  meet in points only, and a polygon has 4,096 points at most.
* A point or line on the edge of a polygon intersects it and is not within it; a polygon is within an equal one.
  Points are equal up to 6 millimetres, in a plane up to a billionth of the extent of both geometries.

## How long a query may take

The evaluation of a page may have a processor for 5 seconds and do a certain amount of work, and so
may that of one item, which is about two seconds: beyond that it is 400 (work) or 408 (time). A page
of a query that could end anywhere (no ORDER BY without an index for it, no aggregates, no DISTINCT)
ends there instead, with what it has and a continuation. Of a container of more than about a million
items, a query may so have shorter pages, or be refused for its ORDER BY, until its path is built. A page that has waited or read for a minute
is 408. A query ends when its client closes the connection, and is 503 when the server stops and it
is not done within a second.

## Chosen where no system decides

* Keys are checked with the machine's clock (15 minutes), data live by the database clock.
* `If-Match` on an upsert of an item that is not there, or has expired, creates it.
* A patch may not change the id, the partition key, or a property that the server sets.
* A token ends with its permission: when that is replaced or removed, its tokens are 403. Links of
  names and of resource ids mean the same to it. A token for one partition key is for items, and for
  reading the definition of their container. Reading permissions needs a key that may do everything.
* The items in the answer to a batch have 4 MB together. A transactional batch that reads more is 413
  (3402) and changes nothing; in a bulk the reads beyond are; a write beyond is done and answered
  without its item.
* A batch or bulk is JSON, or HybridRow as the SDK for .NET sends it: RecordIO with the schemas `BatchOperation`
  (2145473648) and `BatchResult` (2145473649), row version 0x81, at most 2,202,010 bytes. The answer has the encoding
  of the request. `effectivePartitionKey`, `binaryId` and `timeToLiveInSeconds` of an operation are 501 for that
  operation; types that nest are 400. A whole bulk in HybridRow that is refused for good, other than for a missing or
  wrong signature, is 207 with the refusal in each row, because the SDK shows the text of rows only.
* A patch's condition has FROM and WHERE; a clause that filters nothing is 400.
* A head with two hosts or none, or with another transfer encoding than one `chunked`, is 400.
* Version 1 partition keys longer than 100 characters are kept apart by their whole value, though
  their hash sees only the beginning.
* Names of a database and its containers have 254 bytes together; they may not end with a space or
  hold `/`, `\`, `?` or `#`. New items may have any id of up to 1,023 bytes without `\`. As in the service's
  routing gateway, an item can be addressed by its id if that has `?`, but not if it has `/` or `#`, or ends
  in a space: that is 401 (in direct mode it can). Queries, batches and the link in `_self` reach such an item. Ids with a tab, an
  end of line or `%20` at their end can be addressed here, in the service's gateway they cannot.
* What has no ORDER BY comes in the order in which items were made, in containers of up to 2,000 items
  (those that have expired and are still stored counted); in larger ones by the hash of the partition key,
  then by key and id. A query's later pages go on in the order of its first one. An order of creation
  for any size would need an index of its own, which every write would pay for.
* Rows of an ORDER BY with equal values come in the order of `_rid`, in the reverse where the first item
  descends: clients that continue a query by value and `_rid` rely on it.
* A page that is not the last one has a continuation. Behind a full page without ORDER BY 100
  items that count are looked at: if none of them is a result and there are more, a page is promised that
  may be empty.
* With the key that everybody knows the server answers only to its own names (421): addresses,
  `localhost`, the machine's name, those of `--cosmos-addr` and `--account-endpoint`, and those given
  with `--cosmos-host`.
* With other keys, more than ten wrong signatures a minute from one address are 429 without a
  sub-status until the minute is over; right ones are always answered.
* A request that is refused is read to its end (64 MB, half a second without a byte) before it is
  answered, unless it has `Expect: 100-continue`.
* A permission for an item by its name has a `resourcePartitionKey`, unless its container has no
  partition key. Nothing may be named like a resource id of this server.
* An aggregate without GROUP BY ignores ORDER BY over rows. Groups are ordered by properties among their
  keys.
* Answers about one item name in `x-ms-resource-usage` what their container takes on disk, at most a second
  old; `documentsCount` is -1, since counting would cost each of them. Reading the container with
  `x-ms-documentdb-populatequotainfo` counts. A client sees one replica: `x-ms-current-write-quorum` and
  `x-ms-current-replica-set-size` of writes are 1.
* Times in the metrics of a query are those of the machine. What took place took at least 0.01 ms; one row in
  16 is measured, and stands for the others.
* A change feed with a query is 501.
* A container that is made without `partitionKey` has the key `/_partitionKey` with `"systemKey":true`, which
  clients of versions before 2018-12-31 do not see. Requests about it need not name a key: without one, or with
  `[]`, they are about the items without that property, and a query is about the whole container.
* A `clientEncryptionPolicy` names keys of its database, properties at the root of items and the algorithm
  `AEAD_AES_256_CBC_HMAC_SHA256`; the id and the partition key only in version 2, deterministically. It cannot
  be changed.
* Log sequence numbers (`lsn`), session tokens and positions of the change feed count the changes of one
  container: a feed that is read to its end stays where it is while other containers are written. They grow
  with each change, in steps that may be larger than 1. Tokens and positions of earlier versions, which
  counted the whole server, stay good. Answers about the account, databases, users, permissions and offers,
  which belong to no container, name the newest commit of the whole server. A request about items that is
  refused before its container is looked up is answered with the number in its session token.
* Queries are read by the grammar of the service, and refused with its codes, places and texts: BETWEEN
  stands in parentheses beside AND and OR, brackets hold constants, comments are `--`, a name of FROM is not
  given again in an inner query, and a single value is not the result of a query that may have several. All
  mistakes of meaning are told at once, 100 at the most. A plan for several partitions is refused where an aggregate stands
  inside an expression; the query runs without a plan.
* A page of a query with DISTINCT, GROUP BY or an ORDER BY without an index is cut from results that are kept
  with the page before, where memory allows and nothing has been written or has expired since; else the query
  is evaluated again. Answers and charges are the same.
* The SDK for Java (4.81) itself loses its place if each page is read by a new iterator from the token of the page
  before: with OFFSET LIMIT its last token begins the query again where there are fewer rows than LIMIT, and with
  DISTINCT a value may come twice. One iterator over all pages is not affected.
* A query of several partitions without permission to be one is 400 unless its WHERE names the
  partition key.
* Plans never ask a client to do more than it says it can; with one range the raw query always works.
* A partition key whose value is an object or array counts as missing.
* A JSON object with one name twice is 400.
* Numbers are 64-bit integers where they are written without point and exponent and fit, else doubles. They are
  shown in the shortest form that reads back: `0.0` as `0`, `1e2` as `100`.

## Not there

Execution of scripts, computed properties, `ttlPropertyPath`, analytical storage,
vector and full-text search (policies and indexes for them are checked, kept and shown; queries that would use
them are errors that name the function), several regions,
and whatever of Entra needs a network: keys of an issuer come from a file.
"#;

/// Text about request headers that are validated, but have little or no other effect.
const CHECKED: &str = "\
`x-ms-version`, `x-ms-indexing-directive` and `x-ms-documentdb-content-serialization-format` change nothing; a
value that the service does not know is 400: a version that was never published, a directive other than
`Default`, `Include` and `Exclude`, a format other than `JsonText`, `CosmosBinary` and `HybridRow`. So is a
`x-ms-documentdb-responsecontinuationtokenlimitinkb` below 1. `x-ms-offer-type` `S1`, `S2` or `S3` is shown as
the type of the offer; another one is 400. With `x-ms-exclude-system-properties` answers to reads and writes of
one item have neither `_self` nor `_attachments`. `x-ebb-cut` is a header of this server's portal: with `true`,
pages of queries and of the change feed have items above 16 KB cut to the start of each field, and list their
positions in `_cut`; a value other than `true` and `false` is 400. From all other clients it is ignored, and
they get whole items.";

/// Request headers that are accepted and ignored, with the reason.
const IGNORED: &[(&str, &str)] = &[
    ("cache-control, accept, user-agent, x-ms-useragent", "answers are the same"),
    ("x-ms-client-id, x-ms-cosmos-correlated-activityid", "the values serve the client's own logs"),
    ("x-ms-cosmos-sdk-supportedcapabilities", "no response depends on it"),
    ("x-ms-cosmos-allow-tentative-writes", "one region"),
    ("x-ms-read-key-type", "the EPK headers determine how they are read"),
    ("x-ms-cosmos-query-version", "query plans always have version 2"),
    ("x-ms-documentdb-query-enable-scan", "a query never requires an index"),
    (
        "x-ms-cosmos-query-optimisticdirectexecute, x-ms-documentdb-query-parallelizecrosspartitionquery",
        "there is one partition key range, so each query is executed as a whole",
    ),
    ("x-ms-documentdb-query-enable-low-precision-order-by", "sorting is always exact"),
    ("x-ms-cosmos-populatequeryadvice", "no advice is given"),
    (
        "x-ms-documentdb-query-iscontinuationexpected",
        "each page but the last has a continuation token",
    ),
    ("x-ms-cosmos-batch-ordered", "operations are always executed in order"),
    ("x-ms-documentdb-populatepartitionstatistics", "one partition"),
    ("x-ms-documentdb-script-enable-logging", "scripts are not run"),
    (
        "x-ms-thinclient-\\*, x-ms-cosmos-use-thinclient, x-ms-noretry-449",
        "they are for other gateways",
    ),
    ("x-ms-cosmos-supported-serialization-formats", "answers are text"),
    (
        "x-ms-dedicatedgateway-max-age, x-ms-cosmos-priority-level, x-ms-cosmos-throughput-bucket",
        "they are for services around the database",
    ),
];

/// Names of the aggregate functions of the query language.
const AGGREGATES: [&str; 8] =
    ["AVG", "COUNT", "COUNTIF", "MAKELIST", "MAKESET", "MAX", "MIN", "SUM"];

/// Returns the page as Markdown.
pub fn compat() -> String {
    let mut out = RULES.to_owned();
    out.push_str(ROUTES);
    out.push_str("\n## Headers of requests\n\nRead: ");
    out.push_str(&quoted_list(READ.iter().copied()));
    out.push_str(".\n\n");
    out.push_str(CHECKED);
    out.push_str("\n\nKnown, and without effect:\n\n| header | because |\n|---|---|\n");
    for (names, why) in IGNORED {
        push_line(&mut out, format_args!("| {names} | {why} |"));
    }
    out.push_str("\n## Errors\n\n| status | sub-status | code |\n|--:|--:|---|\n");
    for fault in Fault::ALL {
        let (status, sub_status, code) = fault.on(Transport::Http);
        push_line(&mut out, format_args!("| {status} | {sub_status} | {code} |"));
    }
    out.push_str("\nIn direct mode:\n\n| status | sub-status | instead of |\n|--:|--:|---|\n");
    for fault in Fault::ALL {
        let (status, sub_status, _) = fault.on(Transport::Direct);
        let (of_http, sub, _) = fault.on(Transport::Http);
        if (status, sub_status) != (of_http, sub) {
            push_line(&mut out, format_args!("| {status} | {sub_status} | {of_http}/{sub} |"));
        }
    }
    out.push_str("\n## Functions of the query language\n\nWork: ");
    let mut names: Vec<&str> = functions::all_functions().map(|function| function.name).collect();
    names.sort_unstable();
    out.push_str(&quoted_list(names.into_iter()));
    out.push_str(".\n\nAggregates that work: ");
    out.push_str(&quoted_list(AGGREGATES.into_iter()));
    out.push_str(".\n\nNot yet (an error names them): ");
    out.push_str(&quoted_list(functions::LATER.iter().copied()));
    out.push_str(", ORDER BY RANK, user-defined functions.\n\n");
    out.push_str(REST);
    out
}

/// Formats names in backticks, separated by commas.
fn quoted_list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn push_line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a `String` does not fail.
    let written = writeln!(out, "{text}");
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests {
    use select::aggregate::AggregateKind;

    use super::*;

    #[test]
    fn what_is_listed_is_there() {
        assert!(AGGREGATES.iter().all(|name| AggregateKind::find_by_name(name).is_some()));
        assert!(functions::LATER.iter().all(|name| functions::find_function(name).is_none()));
        let read = |names: &str| names.split(", ").any(|name| READ.contains(&name));
        assert!(!IGNORED.iter().any(|(names, _)| read(names)));
    }
}
