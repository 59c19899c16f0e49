//! Fuzz targets of texts: JSON, queries of the NoSQL API, regular expressions.

use std::sync::Arc;

use document::{
    DocBuf, Value, doc,
    json::{parse, to_string},
};
use evaluation::Pattern;
use select::{
    functions::Surface,
    statement::{Flow, PageLimit, Resume, Run},
};

use crate::context;

/// Maximum nesting depth, below serde_json's limit.
const DEPTH: usize = 100;

/// Checks that JSON is parsed as by serde_json, except for duplicate names and for unescaped tabs
/// and line breaks in strings, and that it survives a round trip.
pub(crate) fn json(bytes: &[u8]) {
    let other = serde_json::from_slice::<serde_json::Value>(bytes);
    let Ok(value) = parse(bytes, DEPTH) else { return };
    let has_controls = bytes.iter().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r'));
    assert!(other.is_ok() || has_controls, "another parser refuses the text: {other:?}");
    let text = to_string(value.as_ref());
    let again = parse(text.as_bytes(), DEPTH).expect("written JSON can be parsed");
    assert_eq!(to_string(again.as_ref()), text);
}

/// Checks that a query that compiles has the same results in one page as in pages of one item.
pub(crate) fn sql(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let parameters = [("@p".to_owned(), Value::Int64(2)), ("@s".to_owned(), Value::from("a"))];
    let _ = cosmos_sql::plan_document(text, &parameters, &["Aggregate", "OrderBy", "Distinct"]);
    let _ = cosmos_sql::compile_condition(Surface::Earth, text);
    let Ok(plan) = cosmos_sql::compile(text, &parameters) else { return };
    let plan = Arc::new(plan);
    let (Some(whole), Some(parts)) = (pages(&plan, usize::MAX), pages(&plan, 1)) else { return };
    if !is_nondeterministic(text) {
        assert_eq!(whole, parts, "{text}");
    }
}

/// Returns whether a query names a non-deterministic function.
fn is_nondeterministic(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    ["RAND", "GETCURRENT"].iter().any(|name| text.contains(name))
}

/// Returns the results of all pages as JSON; `None` if a page fails.
fn pages(plan: &Arc<select::plan::Select>, items: usize) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut resume: Option<Resume> = None;
    for _ in 0..100 {
        let limit = PageLimit { items, bytes: 1 << 20 };
        let mut run = Run::new(Arc::clone(plan), context(), resume, limit);
        run.set_sorted(plan.streams_rows());
        let start = run.start_after();
        let mut all = true;
        for (key, row) in (0_u8..).zip(rows()) {
            if start.as_ref().is_some_and(|start| [key].as_slice() <= start.as_slice()) {
                continue;
            }
            if run.feed_row(&[key], row.as_ref()).ok()? == Flow::Enough {
                all = key == 3;
                break;
            }
        }
        let page = run.finish_page(all).ok()?;
        found.extend(page.values.iter().map(|value| to_string(value.as_ref())));
        let Some(next) = page.resume else { return Some(found) };
        let bytes = next.to_bytes();
        resume =
            Some(Resume::from_bytes(&bytes).expect("an encoded resume position can be decoded"));
    }
    None
}

fn rows() -> Vec<DocBuf> {
    let list = || Value::Array(vec![Value::Int64(1), Value::from("b"), Value::Null]);
    vec![
        doc! { "id": "1", "pk": "a", "n": 1, "s": "one", "a": list() }.to_buf(),
        doc! { "id": "2", "pk": "a", "n": 2.5, "s": "two", "o": doc! { "p": list() } }.to_buf(),
        doc! { "id": "3", "pk": Value::Null, "n": Value::Null, "b": true }.to_buf(),
        doc! { "id": "4", "n": "text", "s": "été" }.to_buf(),
    ]
}

/// Checks that a pattern that compiles has consistent matches at valid positions.
pub(crate) fn patterns(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut parts = text.splitn(3, '\n');
    let (Some(options), Some(source), Some(subject)) = (parts.next(), parts.next(), parts.next())
    else {
        return;
    };
    for made in [Pattern::new(source, options), Pattern::perl(source, options)] {
        let Ok(pattern) = made else { continue };
        let _ = pattern.required_prefix();
        let budget = context().budget;
        let count = |units| budget.spend(units);
        let Ok(matches) = pattern.is_match(subject, &count) else { continue };
        let Ok(finder) = pattern.find_matches(subject, &count) else { continue };
        let Ok(found) = finder.find_at(0, &count) else { continue };
        assert_eq!(matches, found.is_some(), "{source:?} with {options:?} in {subject:?}");
        for (from, to) in found.iter().flatten().flatten() {
            assert!(subject.get(*from..*to).is_some(), "{source:?} in {subject:?}");
        }
    }
}
