//! The table of queries: text files with documents, queries and their results.
//!
//! A line that starts with `{` is an item. The first item after another kind of line starts a new
//! data set, over which the following queries run. `QUERY :: PARAMETERS => RESULT` is a query, its
//! parameters (an object, usually absent) and its results (an array). In place of results there may
//! be `!CODE @start-end`, `!unsupported WHAT`, or `!failed` for a query that compiles and fails
//! when it runs. `= EXPRESSION => VALUE` is short for `SELECT VALUE EXPRESSION` without documents;
//! the value may be `undefined`. A line that starts with `#` is a comment.

use std::{collections::HashSet, fs, path::PathBuf, sync::Arc};

use document::{
    DocBuf, Value,
    json::{parse, parse_document, to_string},
};
use evaluation::Context;
use select::{
    plan::Select,
    statement::{Flow, Output, PageLimit, Resume, Run},
};

use crate::harness::{answer, rows};

/// A query of the table.
pub(crate) struct Case {
    pub(crate) place: String,
    pub(crate) documents: String,
    pub(crate) query: String,
    pub(crate) parameters: String,
    pub(crate) want: String,
}

/// Minimum number of cases in the table.
const LEAST: usize = 600;

#[test]
fn queries_answer_what_the_table_says() {
    let cases = cases();
    let mut seen = HashSet::new();
    let mut wrong = Vec::new();
    for case in &cases {
        let place = &case.place;
        let new = seen.insert((&case.documents, &case.query, &case.parameters));
        assert!(new, "{place}: this query stands there twice");
        // A failing query is reported with its position, and the remaining ones still run.
        let asked = || answer(&case.documents, &case.query, &case.parameters);
        let got = std::panic::catch_unwind(asked).unwrap_or_else(|_| "panic".to_owned());
        if got != case.want {
            wrong.push(format!("{place}: {}\n  want {}\n  got  {got}", case.query, case.want));
        } else if got.starts_with('[') {
            let few = filtered(case);
            if few != got {
                wrong.push(format!("{place}: {}\n  want {got}\n  from an index {few}", case.query));
            }
        }
    }
    println!("{} queries", cases.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(LEAST <= cases.len(), "{}", cases.len());
}

#[test]
fn every_function_and_aggregate_is_asked() {
    let asked: Vec<String> = cases().iter().map(|case| case.query.to_uppercase()).collect();
    let aggregates = ["COUNT", "COUNTIF", "SUM", "AVG", "MIN", "MAX", "MAKELIST", "MAKESET"];
    let functions = select::functions::all_functions().map(|function| function.name);
    for name in functions.chain(aggregates) {
        let begins = format!("{name}(");
        let begins_word = |query: &str, at: usize| {
            let before = query.get(..at).and_then(|before| before.chars().next_back());
            before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        };
        let asks =
            |query: &&String| query.match_indices(&begins).any(|(at, _)| begins_word(query, at));
        assert!(asked.iter().any(|query| asks(&query)), "{name}");
    }
}

/// Returns the results if only those rows are read that the condition for indexes admits.
fn filtered(case: &Case) -> String {
    let parameters = match case.parameters.as_str() {
        "" => Vec::new(),
        text => parse_document(text.as_bytes(), 99).unwrap().into_iter().collect(),
    };
    let plan = Arc::new(cosmos_sql::compile(&case.query, &parameters).unwrap());
    let mut rows = rows(&case.documents);
    rows.retain(|(_, document)| plan.sarg().admits_document(document.as_ref()));
    let all: Vec<String> = [1, 2, 7, usize::MAX].map(|items| results(&plan, &rows, items)).to_vec();
    assert!(all.iter().all(|results| *results == all[0]), "{}: pages differ", case.place);
    all[0].clone()
}

/// Returns all results, read in pages of `items` results.
fn results(plan: &Arc<Select>, rows: &[(Vec<u8>, DocBuf)], items: usize) -> String {
    let mut values: Vec<Value> = Vec::new();
    let mut resume: Option<Resume> = None;
    loop {
        let limit = PageLimit { items, bytes: 1 << 30 };
        let mut run = Run::new(Arc::clone(plan), Context::default(), resume, limit);
        run.set_sorted(plan.streams_rows());
        run.start_over();
        let start = run.start_after();
        let mut all = true;
        for (at, (key, document)) in rows.iter().enumerate() {
            if start.as_ref().is_some_and(|start| key <= start) {
                continue;
            }
            if run.feed_row(key, document.as_ref()).unwrap() == Flow::Enough {
                all = at + 1 == rows.len();
                break;
            }
        }
        let page = run.finish_page(all).unwrap();
        values.extend(page.values.into_iter().map(Output::into_value));
        resume = page.resume;
        if resume.is_none() {
            return to_string(Value::Array(values).as_ref());
        }
    }
}

/// Returns all cases of all files.
pub(crate) fn cases() -> Vec<Case> {
    let directory =
        PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("tests/all/table");
    let mut files: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let (mut documents, mut among_items) = (String::new(), false);
        for (at, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            let place = format!("{name}:{}", at + 1);
            if line.starts_with('{') {
                if !among_items {
                    documents.clear();
                }
                documents = documents + line + "\n";
            } else if !line.is_empty() && !line.starts_with('#') {
                cases.push(case(line, place, &documents));
            }
            among_items = line.starts_with('{');
        }
    }
    cases
}

/// Parses a line to a case.
fn case(line: &str, place: String, documents: &str) -> Case {
    let Some((asked, want)) = line.split_once(" => ") else { panic!("{place}: no result") };
    let value = |text: &str| match parse(text.trim().as_bytes(), 99) {
        Ok(value) => to_string(value.as_ref()),
        Err(error) => panic!("{place}: {text}: {error:?}"),
    };
    if let Some(expression) = asked.strip_prefix("= ") {
        let query = format!("SELECT VALUE {expression}");
        let want = match want {
            "undefined" => "[]".to_owned(),
            want => format!("[{}]", value(want)),
        };
        return Case { place, documents: String::new(), query, parameters: String::new(), want };
    }
    let (query, parameters) = match asked.split_once(" :: {") {
        Some((query, rest)) => (query, format!("{{{rest}")),
        None => (asked, String::new()),
    };
    let want = match want.strip_prefix('!') {
        Some(error) => error.replace(" @", " "),
        None => value(want),
    };
    Case { place, documents: documents.to_owned(), query: query.to_owned(), parameters, want }
}
