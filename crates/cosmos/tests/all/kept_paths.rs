//! Building indexes on paths that queries need is not observable: pages, charges and index metrics
//! are the same before, during and after, and tokens stay valid.

use engine::{Model, Namespace, PathProgress, PathStatus};

use crate::client::{Answer, Client};

const ITEMS: usize = 2_400;
const DOCS: &str = "/dbs/d/colls/c/docs";
const QUERY: (&str, &str) = ("content-type", "application/query+json");
const CROSS: (&str, &str) = ("x-ms-documentdb-query-enablecrosspartition", "True");
const METRICS: (&str, &str) = ("x-ms-documentdb-populatequerymetrics", "True");
const INDEXES: (&str, &str) = ("x-ms-cosmos-populateindexmetrics-V2", "true");

/// A policy with an excluded and an explicitly included path, and a composite index.
const POLICY: &str = r#","indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/named/?"}],
    "excludedPaths":[{"path":"/out/*"}],
    "compositeIndexes":[[{"path":"/g"},{"path":"/n","order":"descending"}]]}"#;

/// Returns a client with more items than queries return in creation order.
async fn filled() -> Client {
    let mut client = Client::with_container(POLICY).await;
    for first in (0..ITEMS).step_by(100) {
        let operation = |n: usize| {
            let pk = if n.is_multiple_of(3) { "a" } else { "b" };
            let (g, long) = (n * 7 % 60, "l".repeat(n % 80));
            let more = if n.is_multiple_of(5) { "" } else { r#","some":1"# };
            format!(
                r#"{{"operationType":"Create","partitionKey":"[\"{pk}\"]","resourceBody":
                {{"id":"{n}","pk":"{pk}","n":{n},"g":{g},"out":{g},"named":{n},"last":{n},"long":"{long}",
                "tags":["t{g}",{n}],"sub":{{"n":{n}}}{more}}}}}"#
            )
        };
        let body: Vec<String> = (first..first + 100).map(operation).collect();
        let bulk = [
            ("x-ms-cosmos-is-batch-request", "True"),
            ("x-ms-documentdb-partitionkeyrangeid", "0"),
            ("x-ms-cosmos-batch-continue-on-error", "True"),
        ];
        let done = client.ask("POST", DOCS, &bulk, &format!("[{}]", body.join(","))).await;
        assert_eq!((done.status, done.body.matches("\"statusCode\":201").count()), (200, 100));
    }
    client
}

const QUERIES: &[(&str, &str)] = &[
    ("SELECT * FROM c WHERE c.n = 7", "10"),
    ("SELECT VALUE c.n FROM c WHERE c.g = 7", "9"),
    ("SELECT VALUE c.n FROM c WHERE c.g = 7 AND c.n > 1000 AND c.out < 30", "9"),
    ("SELECT VALUE c.n FROM c WHERE c.g = 7 OR c.sub.n < 5", "9"),
    ("SELECT VALUE c.n FROM c WHERE c.g = 7 OR c.out < 2", "50"),
    ("SELECT VALUE c.n FROM c WHERE c.out = 3", "50"),
    ("SELECT VALUE c.n FROM c WHERE c.named = 3", "50"),
    ("SELECT VALUE c.n FROM c WHERE ARRAY_CONTAINS(c.tags, 't14')", "50"),
    (
        "SELECT VALUE COUNT(1) FROM c WHERE STARTSWITH(c.long, 'llllllllllllllllllllllllllllllllllllllllllllllllllll')",
        "50",
    ),
    ("SELECT TOP 30 VALUE c.n FROM c WHERE c.n > 500 ORDER BY c.n", "12"),
    ("SELECT VALUE c.n FROM c WHERE c.n > 2000 AND CONTAINS(c.long, 'lllll') ORDER BY c.n", "70"),
    ("SELECT VALUE c.n FROM c WHERE c.sub.n >= 2250 ORDER BY c.sub.n DESC", "50"),
    ("SELECT VALUE c.n FROM c WHERE CONTAINS(c.id, '77') ORDER BY c.n DESC", "10"),
    // The results are few and far apart: the page must still tell whether another page follows.
    ("SELECT VALUE c.n FROM c WHERE c.last >= 0 AND c.last % 1000 = 777 ORDER BY c.last", "2"),
    ("SELECT VALUE c.n FROM c WHERE c.n < 60 ORDER BY c.g DESC, c.n", "9"),
    ("SELECT DISTINCT VALUE c.g FROM c WHERE c.n < 100", "20"),
    ("SELECT VALUE c.n FROM c WHERE NOT IS_DEFINED(c.some) AND c.n < 99", "20"),
    ("SELECT VALUE c.n FROM c WHERE c.pk = 'a' AND c.n < 99", "20"),
];

/// Returns everything that a client can observe of a page, and its continuation token.
fn shown(answer: &Answer) -> (String, Option<String>) {
    assert_eq!(answer.status, 200, "{answer:?}");
    let headers = ["x-ms-request-charge", "x-ms-cosmos-index-utilization", "x-ms-item-count"];
    let headers = headers.map(|name| answer.header(name).unwrap_or("none").to_owned());
    let token = answer.header("x-ms-continuation").map(str::to_owned);
    (format!("{} {} {}", headers.join(" "), answer.counts_of_metrics(), answer.body), token)
}

async fn page(client: &mut Client, text: &str, items: &str, token: Option<&str>) -> Answer {
    let mut headers = vec![QUERY, CROSS, METRICS, INDEXES, ("x-ms-max-item-count", items)];
    headers.extend(token.map(|token| ("x-ms-continuation", token)));
    client.ask("POST", DOCS, &headers, &format!(r#"{{"query":"{text}"}}"#)).await
}

/// Returns the pages of a query, from the one of this token on. Each page has the token with which
/// it was requested.
async fn pages(
    client: &mut Client,
    (text, items): (&str, &str),
    mut token: Option<String>,
) -> Vec<(Option<String>, String)> {
    let mut out = Vec::new();
    loop {
        let (page, next) = shown(&page(client, text, items, token.as_deref()).await);
        out.push((token, page));
        match next {
            None => return out,
            next => token = next,
        }
    }
}

fn bare(pages: &[(Option<String>, String)]) -> Vec<&str> {
    pages.iter().map(|(_, page)| page.as_str()).collect()
}

fn statuses(client: &Client) -> Vec<PathStatus> {
    let engine = &client.kit.engine;
    let container = engine.expect_collection(Model::Items, &Namespace::new("d", "c")).unwrap();
    engine.path_statuses(&container)
}

/// Waits until all started builds are complete.
async fn until_built(client: &Client) {
    let ready = |status: &PathStatus| status.progress == PathProgress::Ready;
    while !statuses(client).iter().all(ready) {
        tokio::task::yield_now().await;
    }
}

fn kept(client: &Client, why: &str) -> Vec<String> {
    let of = statuses(client).into_iter().filter(|status| status.why == why);
    let mut paths: Vec<String> = of.flat_map(|status| status.paths).collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn nothing_shows_whether_a_path_is_kept() {
    let mut client = filled().await;
    assert_eq!(kept(&client, "query"), [""; 0]);
    assert_eq!(kept(&client, "named"), ["/named/?"]);
    assert_eq!(kept(&client, "composite"), ["/g ASC", "/n DESC"]);
    let mut before = Vec::new();
    for query in QUERIES {
        before.push(pages(&mut client, *query, None).await);
    }
    until_built(&client).await;
    let want = ["/g/?", "/last/?", "/long/?", "/n/?", "/sub/n/?", "/tags/[]/?"];
    assert_eq!(kept(&client, "query"), want);
    for (query, before) in QUERIES.iter().zip(&before) {
        let after = pages(&mut client, *query, None).await;
        assert_eq!(bare(&after), bare(before), "{query:?}");
        // A token issued before the build continues at the same position after the build.
        let middle = before.len() / 2;
        let rest = pages(&mut client, *query, before[middle].0.clone()).await;
        assert_eq!(bare(&rest), bare(&before[middle..]), "{query:?}");
    }
    assert!(
        statuses(&client)
            .iter()
            .all(|status| { status.why == "composite" || 0 < status.uses.count })
    );
}

#[tokio::test]
async fn what_is_built_stays_as_far_as_a_new_policy_allows() {
    let mut client = filled().await;
    for text in ["SELECT * FROM c WHERE c.n = 7", "SELECT * FROM c WHERE c.g = -1"] {
        page(&mut client, text, "10", None).await;
        until_built(&client).await;
    }
    assert_eq!(kept(&client, "query"), ["/g/?", "/n/?"]);
    for (policy, query, named) in [
        (
            r#"{"excludedPaths":[{"path":"/g/?"},{"path":"/sub/*"}]}"#,
            &["/n/?", "/named/?"][..],
            &[][..],
        ),
        (
            r#"{"includedPaths":[{"path":"/n/?"},{"path":"/long/?"}],"excludedPaths":[{"path":"/*"}]}"#,
            &[],
            &["/long/?", "/n/?"],
        ),
        (r#"{}"#, &["/long/?", "/n/?"], &[]),
        (r#"{"indexingMode":"none"}"#, &[], &[]),
    ] {
        let policy = policy.replacen(
            '{',
            r#"{"includedPaths":[{"path":"/*"}],"#,
            usize::from(policy.contains("/g/")),
        );
        let body = format!(
            r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}},"indexingPolicy":{policy}}}"#
        );
        let done = client.ask("PUT", "/dbs/d/colls/c", &[], &body).await;
        assert_eq!(done.status, 200, "{done:?}");
        until_built(&client).await;
        assert_eq!(kept(&client, "query"), query, "{policy}");
        assert_eq!(kept(&client, "named"), named, "{policy}");
        let (found, _) =
            shown(&page(&mut client, "SELECT VALUE c.n FROM c WHERE c.n = 7", "9", None).await);
        assert!(found.contains("[7]"), "{found}");
    }
}
