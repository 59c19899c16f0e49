//! Query plans in the format that clients request: the steps that a client performs on the results
//! of several partitions, and the query that it sends to each. If the client lacks a feature or the
//! format cannot express the query, the plan contains no steps and the server does everything.
//!
//! A client merges the results of several partitions: it sorts by `orderByItems`, combines partial
//! aggregates, removes duplicates, and applies TOP, OFFSET and LIMIT. The rewritten query returns
//! what these steps need. Here all documents are on one server, so the results are correct with any
//! plan; only its format has to meet the expectations of clients.

mod aggregate;
mod order;

use document::{Document, Value, array, doc};

use crate::{
    ast::{Query, Selection},
    bind,
    error::Fault,
    printer,
};

/// The steps that a client performs. Empty lists and missing counts mean that a step is not needed.
#[derive(Debug, Default)]
struct ClientPlan {
    /// `None`, `Ordered` (duplicates are adjacent) or `Unordered`.
    distinct: &'static str,
    top: Option<u64>,
    offset: Option<u64>,
    limit: Option<u64>,
    /// `Ascending` or `Descending` for each item of ORDER BY.
    order_by: Vec<&'static str>,
    /// The items of ORDER BY, as text.
    order_by_expressions: Vec<String>,
    /// The keys of GROUP BY, as text.
    group_by_expressions: Vec<String>,
    /// The names of all selected items, if the query has groups.
    group_by_aliases: Vec<String>,
    /// The aggregate that a `SELECT VALUE` consists of; empty for other queries.
    aggregates: Vec<&'static str>,
    /// For each property name of a result, the aggregate that the client combines; `None` for a
    /// group key.
    aggregate_of_alias: Vec<(String, Option<&'static str>)>,
    /// For a count of DISTINCT results, the name of the property with the count; empty for `SELECT
    /// VALUE`.
    count_of_distinct: Option<String>,
    /// Whether the client has to collect all results before it can sort them.
    non_streaming: bool,
    /// The query to send to each partition; if empty, the client sends the original text.
    rewritten: String,
}

/// Returns the plan of a query for a client with these features. Fails with the same error as a run
/// of the query, if the query cannot be run.
pub(crate) fn document_for(
    query: &Query,
    parameters: &[(String, Value)],
    features: &[&str],
) -> Result<Document, Vec<Fault>> {
    bind::check_query(query, parameters)?;
    if aggregate::is_composed(query) {
        return Err(vec![Fault::Composition]);
    }
    let can_count = features.contains(&"DCount");
    let distinct_count = if can_count { aggregate::plan_distinct_count(query) } else { None };
    let needed = features_of(query);
    let can = needed.iter().all(|needed| features.contains(needed));
    let window = bind::window_counts(query, parameters);
    // An empty plan leaves all steps to the server.
    let plan = match distinct_count {
        None if can => client_plan(query, window),
        plan => plan,
    };
    let plan = plan.unwrap_or(ClientPlan { distinct: "None", ..ClientPlan::default() });
    Ok(plan.into_document(matches!(query.selection, Selection::Value(_))))
}

/// Returns the plan of a query; `None` if the plan format cannot express it. `window` has the
/// counts of TOP, OFFSET and LIMIT with parameters replaced by their values, since a plan contains
/// numbers.
fn client_plan(query: &Query, window: bind::Counts) -> Option<ClientPlan> {
    let (top, limits) = window;
    let (offset, limit) = limits.unzip();
    let mut plan = ClientPlan { distinct: "None", top, offset, limit, ..ClientPlan::default() };
    if query.distinct {
        plan.distinct = if order::decides_order(query) { "Ordered" } else { "Unordered" };
    }
    if bind::has_aggregate(query) || !query.group.is_empty() {
        return aggregate::plan_aggregate(query, plan);
    }
    if !query.order.is_empty() {
        return order::plan_order(query, plan);
    }
    if query.window.is_some() || (query.distinct && query.top.is_some()) {
        let mut whole = query.clone();
        whole.window = None;
        if query.distinct {
            // The client applies TOP, after it has removed duplicates across partitions.
            whole.top = None;
        }
        let window = if query.distinct { String::new() } else { plan.window() };
        plan.rewritten = format!("{}{window}", printer::print_query(&whole));
    }
    Some(plan)
}

/// Returns the names of the features that a client needs for this query. Clients list their
/// features in a header when they request a plan.
fn features_of(query: &Query) -> Vec<&'static str> {
    let mut needed = Vec::new();
    if !query.group.is_empty() {
        needed.push("GroupBy");
    }
    if bind::has_aggregate(query) {
        needed.push(match query.selection {
            Selection::Value(_) => "Aggregate",
            _ => "NonValueAggregate",
        });
    }
    if query.distinct {
        needed.push("Distinct");
    }
    match query.order.len() {
        0 => {}
        1 => needed.push("OrderBy"),
        _ => needed.push("MultipleOrderBy"),
    }
    if aggregate::orders_one_result(query) {
        needed.push("NonStreamingOrderBy");
    }
    if query.top.is_some() {
        needed.push("Top");
    }
    if query.window.is_some() {
        needed.push("OffsetAndLimit");
    }
    needed
}

impl ClientPlan {
    /// Returns OFFSET and LIMIT of the rewritten query, preceded by a line break. The client skips
    /// results itself, and all of them may be on one partition, so each partition returns OFFSET +
    /// LIMIT results.
    fn window(&self) -> String {
        match (self.offset, self.limit) {
            (Some(offset), Some(limit)) => {
                format!("\nOFFSET 0 LIMIT {}", offset.saturating_add(limit))
            }
            _ => String::new(),
        }
    }

    /// Converts the plan to the document that clients parse. Unused fields are included, because
    /// clients expect them. The document's only key range covers all partition keys.
    fn into_document(self, has_select_value: bool) -> Document {
        let texts = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::from).collect());
        let words =
            |words: Vec<&'static str>| Value::Array(words.into_iter().map(Value::from).collect());
        let number = |number: Option<u64>| match number {
            Some(number) => Value::Int64(i64::try_from(number).unwrap_or(i64::MAX)),
            None => Value::Null,
        };
        let of_alias = self
            .aggregate_of_alias
            .into_iter()
            .map(|(alias, kind)| (alias, kind.map_or(Value::Null, Value::from)));
        let info = doc! {
            "distinctType": self.distinct,
            "top": number(self.top),
            "offset": number(self.offset),
            "limit": number(self.limit),
            "orderBy": words(self.order_by),
            "orderByExpressions": texts(self.order_by_expressions),
            "groupByExpressions": texts(self.group_by_expressions),
            "groupByAliases": texts(self.group_by_aliases),
            "aggregates": words(self.aggregates),
            "groupByAliasToAggregateType": of_alias.collect::<Document>(),
            "rewrittenQuery": self.rewritten,
            "hasSelectValue": has_select_value,
            "dCountInfo": match self.count_of_distinct {
                Some(alias) => Value::Document(doc! { "dCountAlias": alias }),
                None => Value::Null,
            },
            "hasNonStreamingOrderBy": self.non_streaming,
        };
        doc! {
            "partitionedQueryExecutionInfoVersion": 2_i64,
            "queryInfo": info,
            "queryRanges": array![doc! {
                "min": "",
                "max": "FF",
                "isMinInclusive": true,
                "isMaxInclusive": false,
            }],
        }
    }
}

#[cfg(test)]
mod tests {
    use document::json::{parse_document, to_string};

    use super::*;
    use crate::plan_document;

    const FEATURES: &[&str] = &[
        "NonValueAggregate",
        "Aggregate",
        "Distinct",
        "MultipleOrderBy",
        "OffsetAndLimit",
        "OrderBy",
        "Top",
        "CompositeAggregate",
        "GroupBy",
        "MultipleAggregates",
    ];

    /// Formats the non-default fields of a plan.
    fn said(text: &str, parameters: &str, features: &[&str]) -> String {
        let parameters: Vec<(String, Value)> =
            parse_document(parameters.as_bytes(), 9).unwrap().into_iter().collect();
        let plan = plan_document(text, &parameters, features).unwrap();
        assert_eq!(plan.get("partitionedQueryExecutionInfoVersion"), Some(&Value::Int64(2)));
        let Some(Value::Document(info)) = plan.get("queryInfo") else { panic!("{plan:?}") };
        assert_eq!(info.len(), 14);
        let empty = |value: &Value| match value {
            Value::Null | Value::Bool(false) => true,
            Value::Array(values) => values.is_empty(),
            Value::Document(fields) => fields.is_empty(),
            Value::String(text) => text.is_empty() || text == "None",
            _ => false,
        };
        let said = info.fields().iter().filter(|(_, value)| !empty(value));
        let said = said.map(|(name, value)| match value {
            Value::String(text) => format!("{name}: {text}"),
            value => format!("{name}: {}", to_string(value.as_ref())),
        });
        said.collect::<Vec<_>>().join("; ").replace('\n', " ")
    }

    #[test]
    fn plans_say_what_is_to_do() {
        for (text, want) in [
            ("SELECT * FROM c", ""),
            ("SELECT VALUE c.a FROM c WHERE c.b = 1", "hasSelectValue: true"),
            ("SELECT TOP 5 * FROM c", "top: 5"),
            (
                "SELECT * FROM c OFFSET 1 LIMIT @n",
                "offset: 1; limit: 2; rewrittenQuery: SELECT * FROM c OFFSET 0 LIMIT 3",
            ),
            (
                "SELECT * FROM c ORDER BY c.n",
                "orderBy: [\"Ascending\"]; orderByExpressions: [\"c.n\"]; rewrittenQuery: SELECT c._rid, [{\"item\": c.n}] AS orderByItems, c AS payload FROM c WHERE ({documentdb-formattableorderbyquery-filter}) ORDER BY c.n",
            ),
            (
                "SELECT TOP 3 c.a, c.b AS x FROM c WHERE c.a > 1 ORDER BY c.a DESC, c.b",
                "top: 3; orderBy: [\"Descending\",\"Ascending\"]; orderByExpressions: [\"c.a\",\"c.b\"]; rewrittenQuery: SELECT TOP 3 c._rid, [{\"item\": c.a}, {\"item\": c.b}] AS orderByItems, {\"a\": c.a, \"x\": c.b} AS payload FROM c WHERE ((c.a > 1) AND ({documentdb-formattableorderbyquery-filter})) ORDER BY c.a DESC, c.b",
            ),
            (
                "SELECT VALUE c.a FROM c ORDER BY c.a OFFSET 2 LIMIT 4",
                "offset: 2; limit: 4; orderBy: [\"Ascending\"]; orderByExpressions: [\"c.a\"]; rewrittenQuery: SELECT c._rid, [{\"item\": c.a}] AS orderByItems, c.a AS payload FROM c WHERE (({documentdb-formattableorderbyquery-filter}) AND IS_DEFINED(c.a)) ORDER BY c.a OFFSET 0 LIMIT 6; hasSelectValue: true",
            ),
            (
                "SELECT VALUE t FROM t IN c.t ORDER BY t.k",
                "orderBy: [\"Ascending\"]; orderByExpressions: [\"t.k\"]; rewrittenQuery: SELECT c._rid, [{\"item\": t.k}] AS orderByItems, t AS payload FROM c JOIN t IN c.t WHERE (({documentdb-formattableorderbyquery-filter}) AND IS_DEFINED(t)) ORDER BY t.k; hasSelectValue: true",
            ),
            ("SELECT DISTINCT VALUE c.id FROM c", "distinctType: Unordered; hasSelectValue: true"),
            (
                "SELECT DISTINCT VALUE c.a FROM c ORDER BY c.a",
                "distinctType: Ordered; orderBy: [\"Ascending\"]; orderByExpressions: [\"c.a\"]; rewrittenQuery: SELECT c._rid, [{\"item\": c.a}] AS orderByItems, c.a AS payload FROM c WHERE (({documentdb-formattableorderbyquery-filter}) AND IS_DEFINED(c.a)) ORDER BY c.a; hasSelectValue: true",
            ),
            (
                "SELECT DISTINCT c.a FROM c ORDER BY c.b",
                "distinctType: Unordered; orderBy: [\"Ascending\"]; orderByExpressions: [\"c.b\"]; rewrittenQuery: SELECT c._rid, [{\"item\": c.b}] AS orderByItems, {\"a\": c.a} AS payload FROM c WHERE ({documentdb-formattableorderbyquery-filter}) ORDER BY c.b",
            ),
        ] {
            assert_eq!(said(text, "{\"@n\":2}", FEATURES), want, "{text}");
        }
    }

    #[test]
    fn plans_say_what_is_to_do_with_groups() {
        for (text, want) in [
            (
                "SELECT VALUE COUNT(1) FROM c",
                "aggregates: [\"Count\"]; rewrittenQuery: SELECT VALUE [{\"item\": COUNT(1)}] FROM c; hasSelectValue: true",
            ),
            (
                "SELECT VALUE AVG(c.a) FROM c WHERE c.b = 1",
                "aggregates: [\"Average\"]; rewrittenQuery: SELECT VALUE [{\"item\": {\"sum\": SUM(c.a), \"count\": COUNT(c.a)}}] FROM c WHERE (c.b = 1); hasSelectValue: true",
            ),
            (
                "SELECT VALUE MAX(c.a) FROM c",
                "aggregates: [\"Max\"]; rewrittenQuery: SELECT VALUE [{\"item\": MAX(c.a), \"item2\": {\"max\": MAX(c.a), \"count\": COUNT(c.a)}}] FROM c; hasSelectValue: true",
            ),
            (
                "SELECT COUNTIF(c.v) FROM c",
                "groupByAliases: [\"$1\"]; groupByAliasToAggregateType: {\"$1\":\"CountIf\"}; rewrittenQuery: SELECT {\"$1\": {\"item\": COUNTIF(c.v)}} AS payload FROM c",
            ),
            (
                "SELECT c.id FROM c GROUP BY c.id",
                "groupByExpressions: [\"c.id\"]; groupByAliases: [\"id\"]; groupByAliasToAggregateType: {\"id\":null}; rewrittenQuery: SELECT [{\"item\": c.id}] AS groupByItems, {\"id\": c.id} AS payload FROM c GROUP BY c.id",
            ),
            (
                "SELECT c.z, COUNTIF(c.v) AS n FROM c GROUP BY c.z",
                "groupByExpressions: [\"c.z\"]; groupByAliases: [\"z\",\"n\"]; groupByAliasToAggregateType: {\"z\":null,\"n\":\"CountIf\"}; rewrittenQuery: SELECT [{\"item\": c.z}] AS groupByItems, {\"z\": c.z, \"n\": {\"item\": COUNTIF(c.v)}} AS payload FROM c GROUP BY c.z",
            ),
            (
                "SELECT VALUE MAX(c.b) FROM c GROUP BY c.a",
                "groupByExpressions: [\"c.a\"]; aggregates: [\"Max\"]; rewrittenQuery: SELECT [{\"item\": c.a}] AS groupByItems, [{\"item\": MAX(c.b), \"item2\": {\"max\": MAX(c.b), \"count\": COUNT(c.b)}}] AS payload FROM c GROUP BY c.a; hasSelectValue: true",
            ),
            (
                "SELECT DISTINCT TOP 2 c.a FROM c GROUP BY c.a ORDER BY c.a DESC",
                "distinctType: Unordered; top: 2; orderBy: [\"Descending\"]; orderByExpressions: [\"c.a\"]; groupByExpressions: [\"c.a\"]; groupByAliases: [\"a\"]; groupByAliasToAggregateType: {\"a\":null}; rewrittenQuery: SELECT c._rid, [{\"item\": c.a}] AS orderByItems, {\"groupByItems\": [{\"item\": c.a}], \"payload\": {\"a\": c.a}} AS payload FROM c WHERE ({documentdb-formattableorderbyquery-filter}) GROUP BY c.a ORDER BY c.a DESC",
            ),
            (
                "SELECT TOP @n COUNT(1) AS n FROM c ORDER BY MAX(c.a)",
                "top: 2; groupByAliases: [\"n\"]; groupByAliasToAggregateType: {\"n\":\"Count\"}; rewrittenQuery: SELECT TOP @n {\"n\": {\"item\": COUNT(1)}} AS payload FROM c ORDER BY MAX(c.a); hasNonStreamingOrderBy: true",
            ),
            // The client does not know this plan, so the server does everything.
            ("SELECT VALUE 1 FROM c ORDER BY COUNT(1)", "hasSelectValue: true"),
            (
                "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.a FROM c)",
                "aggregates: [\"Count\"]; rewrittenQuery: SELECT VALUE [{\"item\": COUNT(1)}] FROM (SELECT DISTINCT VALUE c.a FROM c); hasSelectValue: true",
            ),
        ] {
            assert_eq!(said(text, "{\"@n\":2}", FEATURES), want, "{text}");
        }
    }

    #[test]
    fn what_a_client_cannot_do_is_left_to_the_server() {
        for text in [
            "SELECT * FROM c ORDER BY c.a",
            "SELECT c.a FROM c GROUP BY c.a",
            "SELECT COUNT(1) FROM c",
            "SELECT * FROM c OFFSET 1 LIMIT 1",
            "SELECT TOP 1 * FROM c",
            "SELECT DISTINCT c.a FROM c",
        ] {
            assert_eq!(said(text, "{}", &[]), "", "{text}");
        }
    }

    #[test]
    fn results_of_distinct_are_counted_by_clients_that_can() {
        for (text, want) in [
            (
                "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.a FROM c)",
                "distinctType: Unordered; rewrittenQuery: SELECT DISTINCT c.a FROM c; hasSelectValue: true; dCountInfo: {\"dCountAlias\":\"\"}",
            ),
            (
                "SELECT COUNT(1) AS n FROM (SELECT DISTINCT VALUE c.a FROM c) x",
                "distinctType: Unordered; rewrittenQuery: SELECT DISTINCT VALUE c.a FROM c; dCountInfo: {\"dCountAlias\":\"n\"}",
            ),
            (
                "SELECT COUNT(x) AS n FROM (SELECT DISTINCT VALUE c.a FROM c) x",
                "groupByAliases: [\"n\"]; groupByAliasToAggregateType: {\"n\":\"Count\"}; rewrittenQuery: SELECT {\"n\": {\"item\": COUNT(x)}} AS payload FROM (SELECT DISTINCT VALUE c.a FROM c) AS x",
            ),
        ] {
            assert_eq!(said(text, "{}", &[FEATURES, &["DCount"]].concat()), want, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_has_no_plan() {
        for text in [
            "SELECT",
            "SELECT d.a FROM c",
            "SELECT * FROM c OFFSET @n LIMIT 1",
            "SELECT VALUE COUNT(1) + 1 FROM c",
            "SELECT c.a, {n: COUNT(1)} AS n FROM c GROUP BY c.a",
            "SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a ORDER BY COUNT(1)",
        ] {
            assert!(plan_document(text, &[], FEATURES).is_err(), "{text}");
        }
    }
}
