//! Runs a query over documents as an engine does, and in all other permitted ways.

use std::sync::Arc;

use cosmos_sql::{Diagnostic, SqlError, compile};
use document::{
    DocBuf, Value, ValueRef,
    json::{parse, parse_document, to_string},
    key::{TypeOrder, encode},
};
use evaluation::{Context, Error};
use select::{
    plan::Select,
    statement::{Flow, PageLimit, Resume, Run},
};

/// Returns the results of a query as an array, or its errors as `CODE start-end`, `unsupported
/// WHAT` or `failed`. `parameters` is an object. Asserts that all ways to run the query have the
/// same results.
pub(crate) fn answer(documents: &str, query: &str, parameters: &str) -> String {
    let parameters = match parameters {
        "" => Vec::new(),
        text => parse_document(text.as_bytes(), 300).unwrap().into_iter().collect(),
    };
    let plan = match compile(query, &parameters) {
        Ok(plan) => Arc::new(plan),
        Err(SqlError::Invalid(diagnostics)) => {
            let shown = diagnostics
                .iter()
                .map(|Diagnostic { code, start, end, .. }| format!("{code} {start}-{end}"));
            return shown.collect::<Vec<_>>().join(", ");
        }
        Err(SqlError::Unsupported { what }) => return format!("unsupported {what}"),
    };
    let rows = rows(documents);
    let whole = match pages(&plan, &rows, usize::MAX, Way::Plain) {
        Ok(values) => values,
        Err(_) => return "failed".to_owned(),
    };
    let shown = |values: &[Value]| to_string(Value::Array(values.to_vec()).as_ref());
    let want = shown(&whole);
    for size in [1, 2, 7, usize::MAX] {
        for way in [Way::Plain, Way::Shuffled, Way::Sorted, Way::Stopping, Way::Ahead] {
            let got = shown(&pages(&plan, &rows, size, way).unwrap());
            assert_eq!(got, want, "{query} in pages of {size}, {way:?}");
        }
    }
    admitted(&plan, query, &rows);
    want
}

/// Asserts that the condition for indexes admits every document that WHERE keeps.
fn admitted(plan: &Arc<Select>, query: &str, rows: &[(Vec<u8>, DocBuf)]) {
    let clauses = plan.clauses();
    let plain = clauses.group.is_none()
        && clauses.window.take.is_none()
        && clauses.window.skip == 0
        && plan.scans_documents();
    if !plain {
        return;
    }
    for row in rows {
        let kept = pages(plan, std::slice::from_ref(row), usize::MAX, Way::Plain).unwrap();
        assert!(
            kept.is_empty() || plan.sarg().admits_document(row.1.as_ref()),
            "{query} {row:?} {:?}",
            plan.sarg()
        );
    }
}

/// Returns documents with their keys, which are their ids or else their line numbers.
pub(crate) fn rows(documents: &str) -> Vec<(Vec<u8>, DocBuf)> {
    let lines = documents.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut rows: Vec<(Vec<u8>, DocBuf)> = lines
        .enumerate()
        .map(|(at, line)| {
            let document = parse_document(line.as_bytes(), 300).unwrap();
            let mut key = Vec::new();
            let number = Value::Int64(i64::try_from(at).unwrap());
            let id = document.get("id").unwrap_or(&number);
            encode(id.as_ref(), TypeOrder::Json, false, &mut key);
            (key, document.to_buf())
        })
        .collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

/// The order and the way in which rows are supplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Plain,
    Shuffled,
    /// In the order of the results, if the query has one.
    Sorted,
    /// By row key or in the order of the results, stopping after every few rows.
    Stopping,
    /// By row key. Some results are kept for the following pages.
    Ahead,
}

fn pages(
    plan: &Arc<Select>,
    rows: &[(Vec<u8>, DocBuf)],
    items: usize,
    way: Way,
) -> Result<Vec<Value>, Error> {
    let mut rows: Vec<&(Vec<u8>, DocBuf)> = rows.iter().collect();
    let mut sorted = plan.streams_rows();
    match (way, plan.order_paths()) {
        (Way::Shuffled, _) => {
            rows.reverse();
            let half = rows.len() / 2;
            rows.rotate_left(half);
            sorted = false;
        }
        (Way::Sorted | Way::Stopping, Some(paths)) => {
            rows.sort_by_cached_key(|(key, document)| place(&paths, key, document));
            sorted = true;
        }
        _ => {}
    }
    let mut values = Vec::new();
    let mut resume: Option<Resume> = None;
    for page in 0..10_000 {
        // Pages of seven results are limited by bytes, too.
        let bytes = if items == 7 { 100 } else { 1 << 30 };
        let limit = PageLimit { items, bytes };
        let token = resume.as_ref().map(Resume::to_bytes);
        assert!(token.as_ref().is_none_or(|token| token.len() < 700));
        let read = token.map(|token| Resume::from_bytes(&token).unwrap());
        assert_eq!(read, resume);
        let mut run = Run::new(Arc::clone(plan), Context::default(), resume, limit);
        run.set_sorted(sorted);
        if way == Way::Ahead {
            // Sometimes fewer results are kept than the next page needs.
            run.keep_ahead(PageLimit { items: 1 + page % 5, bytes: 1 << 20 });
        }
        let mut all = true;
        // The results of the first pass are discarded: a run can be started over.
        for _ in 0..2 {
            run.start_over();
            let start = run.start_after();
            let mut fed = 0;
            all = true;
            for (key, document) in &rows {
                if start.as_ref().is_some_and(|start| key <= start) {
                    continue;
                }
                if run.feed_row(key, document.as_ref())? == Flow::Enough {
                    all = rows.last().is_some_and(|(last, _)| last == key);
                    break;
                }
                fed += 1;
                if way == Way::Stopping && run.can_stop() && fed == 3 + 2 * page {
                    all = false;
                    break;
                }
            }
        }
        let mut found = run.finish_page(all)?;
        loop {
            assert!(found.values.len() <= items);
            assert!(way == Way::Ahead || found.rest.is_none());
            values.extend(found.values.into_iter().map(select::statement::Output::into_value));
            resume = found.resume;
            match found.rest.filter(|rest| rest.has_page(limit)) {
                Some(rest) => found = rest.next_page(limit, memory::Share::default())?,
                None => break,
            }
        }
        if resume.is_none() {
            return Ok(values);
        }
    }
    panic!("the pages do not end");
}

/// Returns the position of a document in an order by these paths.
fn place(paths: &[(Vec<String>, bool)], key: &[u8], document: &DocBuf) -> (Vec<u8>, Vec<u8>) {
    let mut place = Vec::new();
    for (names, descending) in paths {
        let root = ValueRef::Document(document.as_ref());
        let value = names.iter().try_fold(root, |value, name| value.as_document()?.get(name));
        let value = value.unwrap_or(ValueRef::Undefined);
        encode(value, TypeOrder::Json, *descending, &mut place);
    }
    let mut key = key.to_vec();
    if paths.first().is_some_and(|(_, descending)| *descending) {
        key.iter_mut().for_each(|byte| *byte = !*byte);
    }
    (place, key)
}

/// Returns the value of an expression as text; the query reads no documents.
pub(crate) fn value(expression: &str) -> String {
    let got = answer("", &format!("SELECT VALUE {expression}"), "");
    match parse(got.as_bytes(), 300) {
        Ok(Value::Array(values)) => match values.as_slice() {
            [value] => to_string(value.as_ref()),
            _ => "undefined".to_owned(),
        },
        _ => got,
    }
}
