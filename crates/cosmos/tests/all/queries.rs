//! Queries through the API: their results, their part of a container, and their pages.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::client::{Answer, Client, PARTITION};

const QUERY: (&str, &str) = ("content-type", "application/query+json");
const CROSS: (&str, &str) = ("x-ms-documentdb-query-enablecrosspartition", "True");
const DOCS: &str = "/dbs/d/colls/c/docs";

/// Creates items 0 to 9: `n` is the number of the item, and `g` is `n` modulo 3. The items
/// alternate between the partitions a and b.
async fn filled(more: &str) -> Client {
    let mut client = Client::with_container(more).await;
    for n in 0..10 {
        let key = if n % 2 == 0 { "a" } else { "b" };
        let header = format!("[\"{key}\"]");
        let headers = [("x-ms-documentdb-partitionkey", header.as_str())];
        let body = format!(r#"{{"id":"{n}","pk":"{key}","n":{n},"g":{}}}"#, n % 3);
        assert_eq!(client.ask("POST", DOCS, &headers, &body).await.status, 201);
    }
    client
}

async fn ask(client: &mut Client, headers: &[(&str, &str)], text: &str) -> Answer {
    client.ask("POST", DOCS, headers, &format!(r#"{{"query":"{text}"}}"#)).await
}

fn results(answer: &Answer) -> String {
    let start = answer.body.find("\"Documents\":").unwrap_or_else(|| panic!("{answer:?}"));
    let end = answer.body.rfind(",\"_count\"").unwrap();
    answer.body[start + 12..end].to_owned()
}

#[tokio::test]
async fn queries_see_what_the_server_sets() {
    let mut client = filled("").await;
    let ts = (test_kit::START_MS + client.kit.now_ms()) / 1000;
    for (text, want) in [
        (format!("SELECT VALUE c.n FROM c WHERE c._ts = {ts} AND c.n < 2"), "[0,1]"),
        (format!("SELECT VALUE c.n FROM c WHERE c._ts > {ts}"), "[]"),
        ("SELECT VALUE COUNT(1) FROM c WHERE IS_DEFINED(c._etag)".to_owned(), "[10]"),
        ("SELECT VALUE COUNT(1) FROM c WHERE c._ts = 0 OR c.n = 3".to_owned(), "[1]"),
        ("SELECT VALUE c.n FROM c WHERE c.n < 3 ORDER BY c._ts".to_owned(), "[0,2,1]"),
        ("SELECT TOP 1 VALUE STARTSWITH(c._self, 'dbs/') FROM c".to_owned(), "[true]"),
    ] {
        let answer = ask(&mut client, &[QUERY, CROSS], &text).await;
        let mut found: Vec<String> =
            results(&answer).trim_matches(['[', ']']).split(',').map(str::to_owned).collect();
        let mut want: Vec<String> =
            want.trim_matches(['[', ']']).split(',').map(str::to_owned).collect();
        found.sort();
        want.sort();
        assert_eq!(found, want, "{text}");
    }
    let all = ask(&mut client, &[QUERY, CROSS], "SELECT * FROM c WHERE c.n = 3").await;
    for name in ["_rid", "_self", "_etag", "_attachments", "_ts"] {
        assert!(all.body.contains(&format!("\"{name}\":")), "{name}: {}", all.body);
    }
}

#[tokio::test]
async fn an_order_by_what_the_server_sets_takes_no_index() {
    let composite = r#","indexingPolicy":{"compositeIndexes":[[{"path":"/_ts"},{"path":"/n"}]]}"#;
    let mut client = filled(composite).await;
    client.advance(5);
    client.upsert(r#"{"id":"0","pk":"a","n":0}"#).await;
    let text = "SELECT VALUE c.n FROM c WHERE c.n < 3 ORDER BY c._ts, c.n";
    let answer = ask(&mut client, &[QUERY, CROSS], text).await;
    assert_eq!(results(&answer), "[1,2,0]");
}

#[tokio::test]
async fn headers_and_conditions_say_which_part() {
    let mut client = filled("").await;
    let count = "SELECT VALUE COUNT(1) FROM c";
    let range = ("x-ms-documentdb-partitionkeyrangeid", "0");
    let (start, end) = (
        ("x-ms-start-epk", "3A5381E1114EB8D3FCC90795045B49B7"),
        ("x-ms-end-epk", "3A5381E1114EB8D3FCC90795045B49B8"),
    );
    for (headers, text, want) in [
        (&[QUERY, CROSS][..], count, "[10]"),
        (&[QUERY, PARTITION], count, "[5]"),
        (&[QUERY, PARTITION, CROSS], count, "[5]"),
        (&[QUERY, range], count, "[10]"),
        (&[QUERY, range, start, end], count, "[5]"),
        (&[QUERY], "SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'a'", "[5]"),
        (&[QUERY], "SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'b' AND c.n < 3", "[1]"),
        (&[QUERY, PARTITION], "SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'b'", "[0]"),
    ] {
        let answer = ask(&mut client, headers, text).await;
        assert_eq!(answer.status, 200, "{headers:?} {text}: {answer:?}");
        assert_eq!(results(&answer), want, "{headers:?} {text}");
    }
    for text in [count, "SELECT * FROM c WHERE c.pk = 'a' OR c.n = 1"] {
        let answer = ask(&mut client, &[QUERY], text).await;
        assert!(answer.body.contains("Cross partition query is required but disabled"), "{text}");
    }
}

#[tokio::test]
async fn pages_go_on_where_they_ended() {
    let mut client = filled("").await;
    for text in [
        "SELECT VALUE c.n FROM c",
        "SELECT VALUE c.n FROM c ORDER BY c.n DESC",
        "SELECT VALUE c.n FROM c WHERE c.n < 9 ORDER BY c.g",
        "SELECT DISTINCT VALUE c.g FROM c",
        "SELECT c.g, COUNT(1) AS k FROM c GROUP BY c.g",
        "SELECT VALUE c.n FROM c OFFSET 2 LIMIT 5",
    ] {
        let whole = results(&ask(&mut client, &[QUERY, CROSS], text).await);
        let (mut parts, mut token) = (Vec::new(), None::<String>);
        loop {
            let mut headers = vec![QUERY, CROSS, ("x-ms-max-item-count", "2")];
            headers.extend(token.as_deref().map(|token| ("x-ms-continuation", token)));
            let answer = ask(&mut client, &headers, text).await;
            let part = results(&answer);
            let part = part.strip_prefix('[').and_then(|part| part.strip_suffix(']')).unwrap();
            parts.extend((!part.is_empty()).then(|| part.to_owned()));
            token = answer.header("x-ms-continuation").map(str::to_owned);
            let Some(token) = &token else { break };
            // The token is refused for another query.
            let other = [QUERY, CROSS, ("x-ms-continuation", token.as_str())];
            let other = ask(&mut client, &other, "SELECT VALUE c.id FROM c").await;
            assert_eq!(other.status, 400, "{text}");
        }
        assert_eq!(format!("[{}]", parts.join(",")), whole, "{text}");
    }
}

#[tokio::test]
async fn a_plan_leaves_little_to_do() {
    let mut client = filled("").await;
    let plan = [QUERY, ("x-ms-cosmos-is-query-plan-request", "True")];
    let answer = ask(&mut client, &plan, "SELECT * FROM c ORDER BY c.n").await;
    assert_eq!(answer.status, 200);
    for part in ["queryInfo", "queryRanges", "\"max\":\"FF\""] {
        assert!(answer.body.contains(part), "{part}: {}", answer.body);
    }
    assert_eq!(ask(&mut client, &plan, "SELECT FROM").await.status, 400);
}

#[tokio::test]
async fn nothing_follows_the_last_full_page() {
    let mut client = filled("").await;
    let index = r#","indexingPolicy":{"indexingMode":"none"}"#;
    let mut plain = filled(index).await;
    for client in [&mut client, &mut plain] {
        for (text, count) in [
            ("SELECT * FROM c", 10),
            ("SELECT * FROM c WHERE c.g = 1", 3),
            ("SELECT * FROM c WHERE c.n < 5", 5),
            ("SELECT VALUE c.n FROM c ORDER BY c.n", 10),
            ("SELECT DISTINCT VALUE c.g FROM c", 3),
            ("SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g", 3),
            ("SELECT TOP 4 * FROM c", 4),
            ("SELECT * FROM c OFFSET 2 LIMIT 5", 5),
        ] {
            for most in [count, count - 1] {
                let items = most.to_string();
                let headers = [QUERY, CROSS, ("x-ms-max-item-count", items.as_str())];
                let page = ask(client, &headers, text).await;
                assert_eq!(
                    page.header("x-ms-item-count"),
                    Some(items.as_str()),
                    "{text}: {page:?}"
                );
                let more = page.header("x-ms-continuation").is_some();
                assert_eq!(more, most < count, "{text} {most}: {page:?}");
            }
        }
        for (most, want) in [("10", false), ("9", true), ("11", false)] {
            let page = client.ask("GET", DOCS, &[("x-ms-max-item-count", most)], "").await;
            assert_eq!(page.header("x-ms-continuation").is_some(), want, "{most}: {page:?}");
        }
    }
}

/// The lists of single and composite indexes in version 2 of the index metrics header.
fn index_lists(single: &str, composite: &str) -> String {
    format!(r#"{{"SingleIndexes":[{single}],"CompositeIndexes":[{composite}]}}"#)
}

#[tokio::test]
async fn indexes_of_a_query_are_named_in_the_form_that_was_asked_for() {
    let policy = r#","indexingPolicy":{"includedPaths":[{"path":"/*"}],
        "excludedPaths":[{"path":"/out/*"}],
        "compositeIndexes":[[{"path":"/g"},{"path":"/n","order":"descending"}]]}"#;
    let mut client = filled(policy).await;
    let single = |paths: &[&str]| {
        let specs: Vec<String> =
            paths.iter().map(|path| format!(r#"{{"IndexSpec":"{path}/?"}}"#)).collect();
        specs.join(",")
    };
    let composite = |paths: &str| match paths {
        "" => String::new(),
        paths => {
            let specs: Vec<String> = paths.split(", ").map(|path| format!("\"{path}\"")).collect();
            format!(r#"{{"IndexSpecs":[{}]}}"#, specs.join(","))
        }
    };
    for (text, used, used_composite, potential, potential_composite) in [
        ("SELECT * FROM c WHERE c.n = 1", &["/n"][..], "", &[][..], ""),
        ("SELECT * FROM c ORDER BY c.n DESC", &["/n"], "", &[], ""),
        ("SELECT * FROM c ORDER BY c.g DESC, c.n", &[], "/g ASC, /n DESC", &[], ""),
        ("SELECT * FROM c", &[], "", &[], ""),
        ("SELECT VALUE COUNT(1) FROM c", &[], "", &[], ""),
        ("SELECT * FROM c WHERE c.s > 5 AND c.t = 'x'", &["/s", "/t"], "", &[], "/t ASC, /s ASC"),
        ("SELECT * FROM c WHERE c.s = 5 AND c.t = 'x'", &["/s", "/t"], "", &[], "/s ASC, /t ASC"),
        ("SELECT * FROM c WHERE c.s > 5 AND c.t < 'x'", &["/s", "/t"], "", &[], ""),
        ("SELECT * FROM c WHERE c.n > 5 AND c.g = 1", &["/n", "/g"], "/g ASC, /n DESC", &[], ""),
        ("SELECT * FROM c WHERE c.t = 1 ORDER BY c.s DESC", &["/t"], "", &[], "/t ASC, /s DESC"),
        ("SELECT * FROM c WHERE c.g = 1 ORDER BY c.n DESC", &["/g"], "", &[], ""),
        ("SELECT * FROM c WHERE c.out = 1 AND c.n > 2", &["/n"], "", &["/out"], "/out ASC, /n ASC"),
        ("SELECT * FROM c WHERE c.out = 1 OR c.n = 2", &[], "", &["/out"], ""),
        ("SELECT * FROM c WHERE c.s = 1 OR c.n = 2", &["/s", "/n"], "", &[], ""),
        ("SELECT * FROM c WHERE ARRAY_CONTAINS(c.l, 1) AND c.n = 2", &["/l/[]", "/n"], "", &[], ""),
    ] {
        let header = ("x-ms-cosmos-populateindexmetrics-V2", "true");
        let answer = ask(&mut client, &[QUERY, CROSS, header], text).await;
        let found = answer.header("x-ms-cosmos-index-utilization").unwrap();
        let found = percent_encoding::percent_decode_str(found).decode_utf8().unwrap();
        let want = format!(
            r#"{{"UtilizedIndexes":{},"PotentialIndexes":{}}}"#,
            index_lists(&single(used), &composite(used_composite)),
            index_lists(&single(potential), &composite(potential_composite)),
        );
        assert_eq!(found, want, "{text}");
        let header = ("x-ms-cosmos-populateindexmetrics", "true");
        let answer = ask(&mut client, &[QUERY, CROSS, header], text).await;
        let found = STANDARD.decode(answer.header("x-ms-cosmos-index-utilization").unwrap());
        let found = String::from_utf8(found.unwrap()).unwrap();
        let head = r#"{"UtilizedSingleIndexes":["#;
        assert!(found.starts_with(head), "{found}");
        let composites = [used_composite, potential_composite].map(&composite);
        let named = used.iter().chain(potential).map(|path| single(&[path]));
        for spec in named.chain(composites).map(|spec| spec.trim_matches(['{', '}']).to_owned()) {
            assert!(found.contains(&spec), "{text}: {found}");
        }
        let all = used.len() + potential.len();
        let composites = [used_composite, potential_composite];
        let all = all + composites.iter().filter(|paths| !paths.is_empty()).count();
        assert_eq!(found.matches("High").count(), all, "{found}");
    }
}

/// Returns the ids of the items in a range of effective partition keys, by query, feed and change
/// feed.
async fn within(client: &mut Client, start: &str, end: &str) -> Vec<String> {
    let range = [("x-ms-start-epk", start), ("x-ms-end-epk", end)];
    let [start, end] = range;
    let ids = |answer: Answer| {
        let mut ids: Vec<String> = answer
            .body
            .split("\"id\":\"")
            .skip(1)
            .map(|part| part.split('"').next().unwrap().to_owned())
            .collect();
        ids.sort();
        ids
    };
    let found = ids(ask(client, &[QUERY, CROSS, start, end], "SELECT c.id FROM c").await);
    let feed = client.ask("GET", DOCS, &[start, end, ("x-ms-max-item-count", "100")], "").await;
    assert_eq!(ids(feed), found, "{start:?} {end:?}");
    let changes = [start, end, ("a-im", "Incremental Feed")];
    assert_eq!(ids(client.ask("GET", DOCS, &changes, "").await), found, "{start:?} {end:?}");
    let counted = ask(client, &[QUERY, CROSS, start, end], "SELECT VALUE COUNT(1) FROM c").await;
    assert!(counted.body.contains(&format!("[{}]", found.len())), "{counted:?}");
    found
}

#[tokio::test]
async fn bounds_that_are_longer_than_what_rows_begin_with_are_compared_whole() {
    // The effective partition key of partition key `a`.
    let own = "3A5381E1114EB8D3FCC90795045B49B7";
    let mut client = filled("").await;
    let even = ["0", "2", "4", "6", "8"];
    let next = "3A5381E1114EB8D3FCC90795045B49B8";
    for (start, end, has) in [
        (own.to_owned(), next.to_owned(), true),
        (own.to_owned(), format!("{own}00"), true),
        (format!("{own}00"), next.to_owned(), false),
        (format!("{own}00"), format!("{next}00"), false),
        (String::new(), own.to_owned(), false),
    ] {
        let found = within(&mut client, &start, &end).await;
        assert_eq!(found.iter().any(|id| even.contains(&id.as_str())), has, "{start} {end}");
    }
    // Effective partition keys of version 1 are longer than the prefix of them that row keys
    // contain.
    let mut client = Client::new().await;
    client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await;
    let body = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
    assert_eq!(client.ask("POST", "/dbs/d/colls", &[], body).await.status, 201);
    for (id, key) in [("1", "abcdefghi"), ("2", "a"), ("3", "abcdefghijklmn")] {
        let header = format!("[\"{key}\"]");
        let headers = [("x-ms-documentdb-partitionkey", header.as_str())];
        let body = format!(r#"{{"id":"{id}","pk":"{key}"}}"#);
        assert_eq!(client.ask("POST", DOCS, &headers, &body).await.status, 201);
    }
    assert_eq!(within(&mut client, "", "FF").await, ["1", "2", "3"]);
    for (id, own) in [("1", "05C1EDD31907F00862636465666768696A00"), ("2", "05C1D78593652C086200")]
    {
        let behind = format!("{own}00");
        for (start, end, has) in [
            (own, behind.as_str(), true),
            (own, "FF", true),
            (&behind, "FF", false),
            ("", own, false),
            ("", &behind, true),
        ] {
            let found = within(&mut client, start, end).await;
            assert_eq!(found.iter().any(|found| found == id), has, "{id}: {start} {end}");
        }
    }
}

#[tokio::test]
async fn few_items_come_in_the_order_in_which_they_were_made() {
    let mut client = filled("").await;
    // A replaced item keeps its position in creation order; a deleted and recreated one is last.
    let odd = [("x-ms-documentdb-partitionkey", "[\"b\"]")];
    let body = r#"{"id":"3","pk":"b","n":3,"g":0,"again":true}"#;
    assert_eq!(client.ask("PUT", &format!("{DOCS}/3"), &odd, body).await.status, 200);
    assert_eq!(client.item("DELETE", "0", "").await.status, 204);
    client.item("POST", "", r#"{"id":"0","pk":"a","n":0,"g":0}"#).await;
    let ids = |answer: &Answer| -> Vec<String> {
        let parts = answer.body.split("\"id\":\"").skip(1);
        parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
    };
    let want = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"];
    for size in [1, 3, 100] {
        let items = size.to_string();
        for text in ["SELECT * FROM c", "SELECT c.id FROM c WHERE c.g < 9", ""] {
            let (mut found, mut token) = (Vec::new(), String::new());
            loop {
                let mut headers = vec![CROSS, ("x-ms-max-item-count", items.as_str())];
                if !token.is_empty() {
                    headers.push(("x-ms-continuation", token.as_str()));
                }
                let page = match text {
                    "" => client.ask("GET", DOCS, &headers, "").await,
                    text => {
                        headers.push(QUERY);
                        ask(&mut client, &headers, text).await
                    }
                };
                assert_eq!(page.status, 200, "{page:?}");
                found.extend(ids(&page));
                match page.header("x-ms-continuation") {
                    Some(next) => token = next.to_owned(),
                    None => break,
                }
            }
            assert_eq!(found, want, "{text} {size}");
        }
    }
    let own = ask(&mut client, &[QUERY, PARTITION], "SELECT VALUE c.id FROM c").await;
    assert!(own.body.contains(r#"["2","4","6","8","0"]"#), "{own:?}");
}
