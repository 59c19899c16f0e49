//! Rewritten queries can be run, and a client that follows the plan gets the results of the
//! original query.

use cosmos_sql::plan_document;
use document::{
    Document, Value,
    json::{parse_document, to_string},
};

use crate::harness::answer;

const FEATURES: &[&str] = &[
    "Aggregate",
    "Distinct",
    "GroupBy",
    "MultipleOrderBy",
    "NonValueAggregate",
    "OffsetAndLimit",
    "OrderBy",
    "Top",
];

const DOCS: &str = r#"
{"id":"1","_rid":"r1","a":3,"b":"x","t":[1,2]}
{"id":"2","_rid":"r2","a":1,"b":"y","t":[2]}
{"id":"3","_rid":"r3","a":2,"b":"x"}
{"id":"4","_rid":"r4","b":"y","t":[]}
{"id":"5","_rid":"r5","a":2,"b":"z"}
"#;

/// Returns a field of an object.
fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Document(fields) => fields.get(name),
        _ => None,
    }
}

fn rewritten(query: &str) -> (Document, Vec<Value>) {
    let plan = plan_document(query, &[], FEATURES).unwrap();
    let info = plan.get("queryInfo").and_then(|info| info.as_ref().as_document()).unwrap();
    let info = info.to_tree();
    let Some(Value::String(text)) = info.get("rewrittenQuery") else { panic!("{info:?}") };
    let text = text.replace("{documentdb-formattableorderbyquery-filter}", "true");
    let results = answer(DOCS, &text, "");
    assert!(results.starts_with('['), "{text}: {results}");
    let wrapped = parse_document(format!("{{\"v\":{results}}}").as_bytes(), 99).unwrap();
    let Some(Value::Array(results)) = wrapped.get("v") else { panic!("{text}") };
    (info, results.clone())
}

#[test]
fn sorted_results_come_with_their_keys() {
    for query in [
        "SELECT * FROM c ORDER BY c.a",
        "SELECT c.id, c.a FROM c WHERE c.b != 'z' ORDER BY c.b DESC, c.a",
        "SELECT VALUE c.b FROM c ORDER BY c.a DESC",
        "SELECT VALUE t FROM t IN c.t ORDER BY t DESC",
        "SELECT c.id, t FROM c JOIN t IN c.t ORDER BY c.id DESC",
        "SELECT TOP 2 * FROM c ORDER BY c.b",
        "SELECT VALUE x FROM (SELECT VALUE COUNT(1) FROM c) x ORDER BY x + 1",
    ] {
        let (info, results) = rewritten(query);
        let keys = info.get("orderBy").and_then(|keys| keys.as_ref().as_array()).unwrap();
        let mut payloads = Vec::new();
        for result in &results {
            assert!(matches!(field(result, "_rid"), Some(Value::String(_))), "{result:?}");
            let items = field(result, "orderByItems").and_then(|items| items.as_ref().as_array());
            assert_eq!(items.unwrap().len(), keys.len());
            payloads.extend(field(result, "payload").cloned());
        }
        let got = to_string(Value::Array(payloads).as_ref());
        assert_eq!(got, answer(DOCS, query, ""), "{query}");
    }
}

#[test]
fn aggregates_come_in_parts() {
    for (query, want) in [
        ("SELECT VALUE COUNT(1) FROM c", r#"[[{"item":5}]]"#),
        ("SELECT VALUE SUM(c.nix) FROM c", r#"[[{"item":0}]]"#),
        ("SELECT VALUE AVG(c.a) FROM c", r#"[[{"item":{"sum":8,"count":4}}]]"#),
        ("SELECT VALUE MIN(c.a) FROM c", r#"[[{"item":1,"item2":{"min":1,"count":4}}]]"#),
        ("SELECT MAX(c.nix) AS m FROM c", r#"[{"payload":{"m":{"item2":{"count":0}}}}]"#),
        (
            "SELECT c.b, COUNT(1) AS n FROM c WHERE c.a > 1 GROUP BY c.b",
            r#"[{"groupByItems":[{"item":"x"}],"payload":{"b":"x","n":{"item":2}}},{"groupByItems":[{"item":"z"}],"payload":{"b":"z","n":{"item":1}}}]"#,
        ),
    ] {
        let (_, results) = rewritten(query);
        assert_eq!(to_string(Value::Array(results).as_ref()), want, "{query}");
    }
}
