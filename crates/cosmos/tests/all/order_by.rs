//! ORDER BY with equal values: rows are returned in the order of `_rid`, and a client that
//! continues a query by value and `_rid`, as SDKs do, gets each row once.

use std::{cmp::Ordering, collections::BTreeMap};

use document::{Document, Value, array, doc, json};

use crate::client::{Answer, Client};

/// A client, and the path of its container's items.
struct ContainerClient {
    client: Client,
    docs: String,
}

/// A result row of a query that a client has rewritten as the query plan requires: sort keys, the
/// number in the `_rid`, and the selected value.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    items: Vec<Option<Value>>,
    number: u64,
    payload: Value,
}

/// The position at which a client stopped: the token of the current page, the last row that it
/// used, and how many rows of this page, up to and including that row, have the document and the
/// sort keys of that row.
#[derive(Clone, Debug, Default)]
struct Stopped {
    page: Option<String>,
    last: Option<Row>,
    skip: usize,
}

/// Returns the last eight bytes of a `_rid` as a little-endian number.
fn number_of(rid: &str) -> u64 {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let bytes = STANDARD.decode(rid.replace('-', "/")).unwrap();
    u64::from_le_bytes(*bytes.last_chunk().unwrap())
}

fn row_of(value: &Value) -> Row {
    let Value::Document(row) = value else { panic!("{value:?}") };
    let Some(Value::Array(items)) = row.get("orderByItems") else { panic!("{row:?}") };
    let item = |item: &Value| match item {
        Value::Document(item) => item.get("item").cloned(),
        other => panic!("{other:?}"),
    };
    let Some(Value::String(rid)) = row.get("_rid") else { panic!("{row:?}") };
    Row {
        items: items.iter().map(item).collect(),
        number: number_of(rid),
        payload: row.get("payload").cloned().unwrap_or(Value::Null),
    }
}

/// Compares rows with these directions (`true`: descending) as the .NET SDK does.
fn compare(one: &Row, other: &Row, directions: &[bool]) -> Ordering {
    let turned = |order: Ordering, descending| if descending { order.reverse() } else { order };
    for ((one, other), descending) in one.items.iter().zip(&other.items).zip(directions) {
        let order = match (one, other) {
            (Some(one), Some(other)) => select::compare_values(one.as_ref(), other.as_ref()),
            // Undefined sorts before null.
            (one, other) => one.is_some().cmp(&other.is_some()),
        };
        if order.is_ne() {
            return turned(order, *descending);
        }
    }
    turned(one.number.cmp(&other.number), directions[0])
}

impl ContainerClient {
    async fn new(mut client: Client, name: &str, more: &str) -> Self {
        let body = format!(
            r#"{{"id":"{name}","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}},"defaultTtl":-1{more}}}"#
        );
        let made = client.ask("POST", "/dbs/d/colls", &[], &body).await;
        assert_eq!(made.status, 201, "{made:?}");
        Self { client, docs: format!("/dbs/d/colls/{name}/docs") }
    }

    async fn put(&mut self, pk: &str, document: Document) {
        let mut document = document;
        document.push("pk", pk);
        let text = json::to_string(Value::Document(document).as_ref());
        let key = format!("[\"{pk}\"]");
        let headers =
            [("x-ms-documentdb-partitionkey", key.as_str()), ("x-ms-documentdb-is-upsert", "True")];
        let put = self.client.ask("POST", &self.docs, &headers, &text).await;
        assert!(matches!(put.status, 200 | 201), "{put:?}");
    }

    async fn delete(&mut self, pk: &str, id: &str) {
        let key = format!("[\"{pk}\"]");
        let path = format!("{}/{id}", self.docs);
        let gone =
            self.client.ask("DELETE", &path, &[("x-ms-documentdb-partitionkey", &key)], "").await;
        assert!(matches!(gone.status, 204 | 404), "{gone:?}");
    }

    async fn page(
        &mut self,
        text: &str,
        pk: Option<&str>,
        items: usize,
        token: Option<&str>,
    ) -> (Vec<Value>, Option<String>) {
        let (items, key) = (items.to_string(), pk.map(|pk| format!("[\"{pk}\"]")));
        let mut headers = vec![
            ("content-type", "application/query+json"),
            ("x-ms-documentdb-isquery", "True"),
            ("x-ms-documentdb-query-enablecrosspartition", "True"),
            ("x-ms-max-item-count", items.as_str()),
        ];
        headers.extend(token.map(|token| ("x-ms-continuation", token)));
        headers.extend(key.as_deref().map(|key| ("x-ms-documentdb-partitionkey", key)));
        let body = json::to_string(Value::Document(doc! { "query": text }).as_ref());
        let answer: Answer = self.client.ask("POST", &self.docs, &headers, &body).await;
        assert_eq!(answer.status, 200, "{text}: {answer:?}");
        let next = answer.header("x-ms-continuation").map(str::to_owned);
        match answer.document().get("Documents") {
            Some(Value::Array(rows)) => (rows.clone(), next),
            other => panic!("{other:?}"),
        }
    }

    /// Returns all rows, using the server's tokens.
    async fn all(&mut self, text: &str, pk: Option<&str>, items: usize) -> Vec<Value> {
        let (mut all, mut token) = (Vec::new(), None);
        loop {
            let (rows, next) = self.page(text, pk, items, token.as_deref()).await;
            all.extend(rows);
            match next {
                None => return all,
                next => token = next,
            }
        }
    }

    /// Returns up to `wanted` rows after a client's position, read from pages of `items` rows, and
    /// the client's new position, or `None` at the end.
    async fn continued(
        &mut self,
        (text, directions): (&str, &[bool]),
        stopped: Stopped,
        wanted: usize,
        items: usize,
    ) -> (Vec<Row>, Option<Stopped>) {
        let (mut used, mut skip) = (Vec::new(), stopped.skip);
        let mut at = Stopped { skip: 0, ..stopped.clone() };
        loop {
            let (rows, next) = self.page(text, None, items, at.page.as_deref()).await;
            for row in rows.iter().map(row_of) {
                // The client used rows up to and including its position before.
                let order = stopped
                    .last
                    .as_ref()
                    .map_or(Ordering::Greater, |l| compare(&row, l, directions));
                match order {
                    Ordering::Less => continue,
                    Ordering::Equal if 0 < skip => {
                        skip -= 1;
                        at.skip += 1;
                        continue;
                    }
                    _ => {}
                }
                let same =
                    at.last.as_ref().is_some_and(|last| compare(&row, last, directions).is_eq());
                at.skip = if same { at.skip + 1 } else { 1 };
                at.last = Some(row.clone());
                used.push(row);
                if used.len() == wanted {
                    return (used, Some(at));
                }
            }
            match next {
                None => return (used, None),
                // The next page may start with further rows of the same document.
                next => at = Stopped { page: next, skip: 0, ..at },
            }
        }
    }

    /// Returns all rows for a client that stops after every few rows.
    async fn in_steps(&mut self, query: (&str, &[bool]), random: &mut fastrand::Rng) -> Vec<Row> {
        let (mut all, mut stopped) = (Vec::new(), Some(Stopped::default()));
        while let Some(at) = stopped {
            let (wanted, items) = (random.usize(1..9), random.usize(1..9));
            let (rows, next) = self.continued(query, at, wanted, items).await;
            all.extend(rows);
            stopped = next;
        }
        all
    }
}

/// Returns one of a few values of all types, including undefined, so that ties are frequent.
fn value(random: &mut fastrand::Rng) -> Option<Value> {
    Some(match random.u8(..11) {
        0 => return None,
        1 => Value::Null,
        2 => Value::Bool(true),
        3 | 4 => Value::Int64(random.i64(0..2)),
        5 => Value::Double(0.5),
        6 => Value::String("a".into()),
        // Longer than the prefix of a string that index keys contain.
        7 => Value::String("long ".repeat(20) + random.choice(["a", "b"]).unwrap()),
        8 => array![random.i64(0..2)],
        9 => Value::Document(doc! { "a": random.i64(0..2) }),
        _ => Value::Int64(7),
    })
}

fn document(random: &mut fastrand::Rng, id: &str) -> Document {
    let mut document = doc! { "id": id };
    for name in ["v", "w"] {
        if let Some(value) = value(random) {
            document.push(name, value);
        }
    }
    let tags = (0..random.usize(..4)).map(|_| Value::Int64(random.i64(..2)));
    document.push("tags", Value::Array(tags.collect()));
    document
}

const NAMED: &str = r#","indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/v/?"}],
    "compositeIndexes":[[{"path":"/v"},{"path":"/w"}],[{"path":"/v"},{"path":"/w","order":"descending"}]]}"#;
const UNNAMED: &str = r#","indexingPolicy":{"includedPaths":[{"path":"/*"}],
    "compositeIndexes":[[{"path":"/v"},{"path":"/w"}],[{"path":"/v"},{"path":"/w","order":"descending"}]]}"#;

/// Queries as clients rewrite them by the query plan, with the sort directions (`true`:
/// descending).
fn queries() -> Vec<(String, Vec<bool>)> {
    let mut out = Vec::new();
    for (order, directions) in [
        ("c.v", vec![false]),
        ("c.v DESC", vec![true]),
        ("c.v, c.w", vec![false, false]),
        ("c.v DESC, c.w DESC", vec![true, true]),
        ("c.v ASC, c.w DESC", vec![false, true]),
        ("c.v DESC, c.w ASC", vec![true, false]),
        ("c._ts", vec![false]),
        ("c._ts DESC", vec![true]),
    ] {
        for filter in ["", "WHERE c.v >= 0", "WHERE IS_DEFINED(c.v)", "WHERE c.w > 0 OR c.v = 7"] {
            let items: Vec<String> = order
                .split(", ")
                .map(|item| format!("{{\"item\": {}}}", item.split(' ').next().unwrap()))
                .collect();
            let items = items.join(", ");
            let rest = format!("{filter} ORDER BY {order}");
            out.push((
                format!("SELECT c._rid, [{items}] AS orderByItems, c.id AS payload FROM c {rest}"),
                directions.clone(),
            ));
            out.push((
                format!(
                    "SELECT TOP 17 c._rid, [{items}] AS orderByItems, c.id AS payload FROM c {rest}"
                ),
                directions.clone(),
            ));
            out.push((
                format!(
                    "SELECT c._rid, [{items}] AS orderByItems, [c.id, t] AS payload FROM c \
                     JOIN t IN c.tags {rest} OFFSET 0 LIMIT 60"
                ),
                directions.clone(),
            ));
        }
    }
    out
}

async fn filled(
    random: &mut fastrand::Rng,
    more: &str,
) -> (ContainerClient, Vec<(String, String)>) {
    let mut client = Client::new().await;
    assert_eq!(client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await.status, 201);
    let mut held = ContainerClient::new(client, "c", more).await;
    let mut ids = Vec::new();
    for at in 0..random.usize(1..50) {
        // Neither ids nor partition keys are in creation order.
        let (pk, id) = (format!("p{}", random.u8(..7)), format!("{:03}-{at}", random.u16(..999)));
        let document = document(random, &id);
        held.put(&pk, document).await;
        ids.push((pk, id));
    }
    (held, ids)
}

#[tokio::test]
async fn a_client_that_continues_by_value_and_rid_meets_each_row_once() {
    let mut random = fastrand::Rng::with_seed(41);
    for round in 0..5 {
        let more = if round % 2 == 0 { NAMED } else { UNNAMED };
        let (mut held, ids) = filled(&mut random, more).await;
        // Some items are replaced; the number in their `_rid` does not change.
        for (pk, id) in ids.iter().filter(|_| random.u8(..4) == 0).cloned().collect::<Vec<_>>() {
            let document = document(&mut random, &id);
            held.put(&pk, document).await;
        }
        for (text, directions) in queries() {
            if random.u8(..4) != 0 {
                continue;
            }
            let whole: Vec<Row> = held.all(&text, None, 1000).await.iter().map(row_of).collect();
            let sorted = whole.is_sorted_by(|one, other| compare(one, other, &directions).is_le());
            assert!(sorted, "{text}: {whole:?}");
            // The rows are compared between pages of the server's tokens and continuations by value
            // and `_rid`.
            let items = random.usize(1..9);
            let pages: Vec<Row> = held.all(&text, None, items).await.iter().map(row_of).collect();
            assert_eq!(pages, whole, "{text}");
            assert_eq!(held.in_steps((&text, &directions), &mut random).await, whole, "{text}");
            // Queries within one partition key.
            let (pk, _) = random.choice(&ids).unwrap();
            let whole = held.all(&text, Some(pk), 1000).await;
            assert_eq!(held.all(&text, Some(pk), items).await, whole, "{text}");
            let rows: Vec<Row> = whole.iter().map(row_of).collect();
            assert!(rows.is_sorted_by(|one, other| compare(one, other, &directions).is_le()));
        }
    }
}

/// Clients that do not rewrite queries send the unmodified query with the server's tokens.
#[tokio::test]
async fn pages_of_whole_queries_fit_together() {
    let mut random = fastrand::Rng::with_seed(42);
    for more in [NAMED, UNNAMED] {
        let (mut held, _) = filled(&mut random, more).await;
        for text in [
            "SELECT VALUE c.id FROM c ORDER BY c.v",
            "SELECT VALUE c.id FROM c ORDER BY c.v DESC OFFSET 3 LIMIT 20",
            "SELECT DISTINCT VALUE c.v FROM c ORDER BY c.v",
            "SELECT DISTINCT VALUE c.w FROM c ORDER BY c.v DESC",
            "SELECT DISTINCT c.w FROM c ORDER BY c.v, c.w",
            "SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags ORDER BY c.v DESC",
            "SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags ORDER BY c.v, c.w DESC OFFSET 2 LIMIT 30",
            "SELECT VALUE t FROM c JOIN t IN c.tags ORDER BY t DESC",
        ] {
            let whole = held.all(text, None, 1000).await;
            for items in 1..6 {
                assert_eq!(held.all(text, None, items).await, whole, "{text}");
            }
        }
    }
}

/// Items that exist from the first page to the last appear exactly once, even if others are written
/// or expire between two pages; expired items do not appear.
#[tokio::test]
async fn writes_and_expiry_between_pages_lose_no_other_row() {
    let mut random = fastrand::Rng::with_seed(43);
    for round in 0..12 {
        let more = if round % 2 == 0 { NAMED } else { UNNAMED };
        let (mut held, ids) = filled(&mut random, more).await;
        let mut expires = BTreeMap::new();
        for at in 0..20_i64 {
            let mut document = document(&mut random, &format!("e{at}"));
            document.push("ttl", at + 1);
            expires.insert(format!("e{at}"), at + 1);
            held.put("p1", document).await;
        }
        let mut queries = queries();
        queries.retain(|(text, _)| !text.contains("TOP") && !text.contains("c._ts"));
        let (text, directions) = random.choice(&queries).unwrap().clone();
        let text = text.replace("OFFSET 0 LIMIT 60", "");
        let before: Vec<Row> = held.all(&text, None, 1000).await.iter().map(row_of).collect();
        let (mut met, mut stopped, mut seconds) = (Vec::new(), Some(Stopped::default()), 0);
        let mut touched = Vec::new();
        while let Some(at) = stopped {
            let (rows, next) = held
                .continued((&text, &directions), at, random.usize(1..9), random.usize(1..9))
                .await;
            for row in &rows {
                let shown = json::to_string(row.payload.as_ref());
                let gone = expires
                    .iter()
                    .find(|(id, at)| **at <= seconds && shown.contains(&format!("\"{id}\"")));
                assert_eq!(gone, None, "{text} at {seconds}");
            }
            met.extend(rows);
            stopped = next;
            held.client.advance(1);
            seconds += 1;
            let (pk, id) = random.choice(&ids).unwrap().clone();
            if random.bool() {
                let document = document(&mut random, &id);
                held.put(&pk, document).await;
            } else {
                held.delete(&pk, &id).await;
            }
            touched.push(id);
            let new = document(&mut random, &format!("new{seconds}"));
            held.put("p2", new).await;
        }
        let untouched = |row: &&Row| {
            let shown = json::to_string(row.payload.as_ref());
            let of = |id: &String| shown.contains(&format!("\"{id}\""));
            !touched.iter().any(of) && !expires.keys().any(of) && !shown.contains("\"new")
        };
        let met: Vec<&Row> = met.iter().filter(untouched).collect();
        assert_eq!(met, before.iter().filter(untouched).collect::<Vec<_>>(), "{text}");
    }
}

/// In a query plan, an undefined selected value counts neither as a result nor for TOP and OFFSET,
/// because clients execute the plan's rewritten query.
#[tokio::test]
async fn the_query_of_a_plan_counts_no_row_without_a_value() {
    let mut client = Client::with_container("").await;
    for n in 0..6 {
        let m = if n % 2 == 0 { format!(r#","m":{}"#, n * 10) } else { String::new() };
        let item = format!(r#"{{"id":"{n}","pk":"a","n":{n}{m}}}"#);
        assert_eq!(client.item("POST", "", &item).await.status, 201);
    }
    for (text, want) in [
        ("SELECT TOP 2 VALUE c.m FROM c ORDER BY c.n", vec![0, 20]),
        ("SELECT VALUE c.m FROM c ORDER BY c.n OFFSET 1 LIMIT 2", vec![0, 20, 40]),
        ("SELECT VALUE c.m FROM c WHERE c.n > 1 ORDER BY c.n DESC OFFSET 0 LIMIT 1", vec![40]),
    ] {
        let headers = [
            ("content-type", "application/query+json"),
            ("x-ms-cosmos-is-query-plan-request", "True"),
            ("x-ms-cosmos-supported-query-features", "OrderBy, Top, OffsetAndLimit"),
        ];
        let body = format!(r#"{{"query":"{text}"}}"#);
        let plan = client.ask("POST", "/dbs/d/colls/c/docs", &headers, &body).await.document();
        let Some(Value::Document(info)) = plan.get("queryInfo") else { panic!("{plan:?}") };
        let Some(Value::String(rewritten)) = info.get("rewrittenQuery") else { panic!("{info:?}") };
        let rewritten = rewritten.replace("{documentdb-formattableorderbyquery-filter}", "true");
        let rewritten = rewritten.replace('"', "'").replace('\n', " ");
        let answer = client.query(&rewritten).await.document();
        let Some(Value::Array(rows)) = answer.get("Documents") else { panic!("{answer:?}") };
        let payloads: Vec<Value> = rows.iter().map(|row| row_of(row).payload).collect();
        let want: Vec<Value> = want.into_iter().map(Value::Int64).collect();
        let equal = payloads.len() == want.len()
            && payloads.iter().zip(&want).all(|(a, b)| select::is_equal(a.as_ref(), b.as_ref()));
        assert!(equal, "{text}: {payloads:?}");
    }
}
