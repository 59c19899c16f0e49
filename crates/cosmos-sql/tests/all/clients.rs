//! Runs the queries of the table through a client that follows their plans: it sends the rewritten
//! query and combines the results itself. The combined results must be those in the table.

use std::collections::HashSet;

use cosmos_sql::plan_document;
use document::{
    Document, Value,
    json::{parse, parse_document, to_string},
};
use select::{number_or_nothing, to_f64};

use crate::{harness::answer, table::cases};

const FEATURES: &[&str] = &[
    "Aggregate",
    "CountIf",
    "Distinct",
    "GroupBy",
    "ListAndSetAggregate",
    "MultipleAggregates",
    "MultipleOrderBy",
    "NonValueAggregate",
    "OffsetAndLimit",
    "OrderBy",
    "Top",
];

const FILTER: &str = "{documentdb-formattableorderbyquery-filter}";

#[test]
fn clients_come_to_what_the_table_says() {
    let (mut rewritten, mut composed, mut wrong) = (0, 0, Vec::new());
    // `forms.txt` is left out: of equal values in different representations the server may return
    // any.
    for case in cases().into_iter().filter(|case| !case.place.starts_with("forms.txt")) {
        let parameters: Vec<(String, Value)> = match case.parameters.as_str() {
            "" => Vec::new(),
            text => parse_document(text.as_bytes(), 99).unwrap().into_iter().collect(),
        };
        let Ok(plan) = plan_document(&case.query, &parameters, FEATURES) else {
            // The plan is refused, since clients cannot merge partial results of aggregates inside
            // expressions.
            composed += usize::from(case.want.starts_with('['));
            continue;
        };
        let documents = with_resource_ids(&case.documents);
        let direct = answer(&documents, &case.query, &case.parameters);
        let Some(Value::Document(info)) = plan.get("queryInfo") else { panic!("{plan:?}") };
        let Some(Value::String(sent)) = info.get("rewrittenQuery") else { panic!("{plan:?}") };
        if sent.is_empty() || !direct.starts_with('[') {
            continue;
        }
        rewritten += 1;
        let results = answer(&documents, &sent.replace(FILTER, "true"), &case.parameters);
        let got = match parse(results.as_bytes(), 99) {
            Ok(Value::Array(results)) => to_string(Value::Array(together(info, results)).as_ref()),
            _ => results,
        };
        // Groups that DISTINCT keeps come in no order.
        let unordered = case.query.contains("DISTINCT") && case.query.contains("GROUP BY");
        let (got, direct) = if unordered { (sorted(&got), sorted(&direct)) } else { (got, direct) };
        if got != direct {
            let place = &case.place;
            wrong.push(format!(
                "{place}: {}\n  sent {sent}\n  want {direct}\n  got  {got}",
                case.query
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {rewritten}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(150 < rewritten && composed < 100, "{rewritten} {composed}");
}

/// Returns results in the order of their texts.
fn sorted(results: &str) -> String {
    let Ok(Value::Array(results)) = parse(results.as_bytes(), 99) else { panic!("{results}") };
    let mut texts: Vec<String> = results.iter().map(|value| to_string(value.as_ref())).collect();
    texts.sort();
    texts.join(",")
}

/// Returns the items with a `_rid`, as an engine stores them.
fn with_resource_ids(documents: &str) -> String {
    let stored = documents.lines().enumerate().map(|(at, line)| {
        let item = line.strip_suffix('}').unwrap();
        format!("{item},\"_rid\":\"r{at}\"}}\n")
    });
    stored.collect()
}

fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Document(fields) => fields.get(name),
        _ => None,
    }
}

fn list<'v>(info: &'v Document, name: &str) -> &'v [Value] {
    match info.get(name) {
        Some(Value::Array(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

/// Combines the results of a rewritten query as a client does.
fn together(info: &Document, results: Vec<Value>) -> Vec<Value> {
    let (groups, ordered) =
        (!list(info, "groupByExpressions").is_empty(), !list(info, "orderBy").is_empty());
    let payload = |result: &Value| {
        let payload = field(result, "payload").cloned();
        // Groups in a requested order are wrapped in one more object.
        match groups && ordered {
            true => payload.and_then(|inner| field(&inner, "payload").cloned()),
            false => payload,
        }
    };
    let value_of = |kind: &Value, result: &Value| {
        let items = if groups { payload(result)? } else { result.clone() };
        match items {
            Value::Array(items) => aggregated(kind, items.first()?),
            _ => None,
        }
    };
    let mut values: Vec<Value> = match list(info, "aggregates") {
        [kind] => results.iter().filter_map(|result| value_of(kind, result)).collect(),
        _ if !list(info, "groupByAliases").is_empty() => {
            results.iter().filter_map(payload).map(|payload| grouped(info, &payload)).collect()
        }
        _ if groups || ordered => results.iter().filter_map(payload).collect(),
        _ => results,
    };
    if info.get("distinctType") != Some(&Value::from("None")) {
        let mut seen = HashSet::new();
        values.retain(|value| seen.insert(to_string(value.as_ref())));
    }
    let count = |name: &str| match info.get(name) {
        Some(Value::Int64(count)) => usize::try_from(*count).unwrap(),
        _ => usize::MAX,
    };
    let skip = if count("offset") == usize::MAX { 0 } else { count("offset") };
    values.into_iter().skip(skip).take(count("limit").min(count("top"))).collect()
}

/// Returns one group: its aggregates combined from their parts, and all other values unchanged.
fn grouped(info: &Document, payload: &Value) -> Value {
    let kinds = info.get("groupByAliasToAggregateType").unwrap();
    let mut group = Document::new();
    for alias in list(info, "groupByAliases") {
        let Value::String(alias) = alias else { panic!("{alias:?}") };
        let part = field(payload, alias);
        let value = match field(kinds, alias) {
            None | Some(Value::Null) => part.cloned(),
            Some(kind) => part.and_then(|part| aggregated(kind, part)),
        };
        if let Some(value) = value {
            group.push(alias.as_str(), value);
        }
    }
    Value::Document(group)
}

/// Returns the result of an aggregate from its parts.
fn aggregated(kind: &Value, part: &Value) -> Option<Value> {
    let Value::String(kind) = kind else { panic!("{kind:?}") };
    match kind.as_str() {
        "Average" => {
            let item = field(part, "item")?;
            let (sum, count) = (field(item, "sum")?, field(item, "count")?);
            number_or_nothing(to_f64(sum.as_ref())? / to_f64(count.as_ref())?).into_value()
        }
        "Min" | "Max" => {
            let item = field(part, "item2")?;
            let empty = field(item, "count") == Some(&Value::Int64(0));
            field(item, &kind.to_lowercase()).filter(|_| !empty).cloned()
        }
        _ => field(part, "item").cloned(),
    }
}
