//! Pipelines parsed and run over one small collection, which joins read, too.

mod choosing;
mod groups;
mod joins;
mod mixed;
mod reshaping;
mod spilled;

use std::sync::Arc;

use document::{DocBuf, Value};
use evaluation::Context;
use pipeline::exec::{Exec, Next, Request, Row, Source, Stage, edit_with};

use super::{parse, parse_update};
use crate::{expression::tests::text_of, shell_text};

const COLLECTION: &str = "[{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}, \
    {_id: 2, a: NumberLong(2), x: 'q', l: []}, {_id: 3, a: 2.5, x: 'p'}, \
    {_id: 4, a: 's', l: 5, x: null}, {_id: 5, l: null}]";

fn collection() -> Vec<DocBuf> {
    documents(COLLECTION)
}

fn documents(text: &str) -> Vec<DocBuf> {
    match shell_text::value(text) {
        Value::Array(values) => values
            .into_iter()
            .filter_map(|value| value.as_ref().as_document().map(|fields| fields.to_buf()))
            .collect(),
        other => panic!("not an array: {other:?}"),
    }
}

/// Runs a pipeline as the engine does, supplying rows only when they are requested.
fn run(
    stages: Arc<[Stage]>,
    context: Arc<Context>,
    input: Vec<DocBuf>,
    others: &[DocBuf],
) -> Result<Vec<DocBuf>, evaluation::Error> {
    let made =
        |documents: Vec<DocBuf>| documents.into_iter().map(Row::not_stored).collect::<Vec<_>>();
    let rows = run_rows(stages, context, made(input), &made(others.to_vec()))?;
    Ok(rows.into_iter().map(|row| row.document).collect())
}

/// Like `run`, but takes and returns rows: documents with the stored documents they come from.
fn run_rows(
    stages: Arc<[Stage]>,
    context: Arc<Context>,
    input: Vec<Row>,
    others: &[Row],
) -> Result<Vec<Row>, evaluation::Error> {
    let mut exec = Exec::new(stages, context);
    let mut input = input.into_iter();
    let mut rows = Vec::new();
    loop {
        match exec.next()? {
            Next::Row(row) => rows.push(row),
            Next::NeedInput => match input.next() {
                Some(row) => exec.offer_row(row)?,
                None => exec.finish_input(),
            },
            Next::Want(request) => exec.supply(serve(request, others)?)?,
            Next::Pause => {}
            Next::Done => return Ok(rows),
        }
    }
}

fn serve(request: Request, others: &[Row]) -> Result<Vec<Row>, evaluation::Error> {
    assert_eq!(request.collection, "t");
    let mut found = Vec::new();
    for row in others {
        if request.filter.matches(row.document.as_ref(), &request.context)? {
            found.push(row.clone());
        }
    }
    run_rows(request.stages, request.context, found, others)
}

fn parsed(text: &str) -> Result<Vec<Stage>, crate::Error> {
    parse(shell_text::value(text).as_ref().as_array().unwrap())
}

fn outcome(pipeline: &str, all: &[DocBuf]) -> String {
    let stages = match parsed(pipeline) {
        Ok(stages) => stages,
        Err(error) => return format!("error {}: {}", error.code, error.message),
    };
    match run(stages.into(), Arc::default(), all.to_vec(), all) {
        Ok(rows) => {
            let mut rows: Vec<String> = rows
                .iter()
                .map(|row| text_of(document::ValueRef::Document(row.as_ref())))
                .collect();
            if pipeline.contains("$group") || pipeline.contains("$sortByCount") {
                rows.sort();
            }
            rows.join("; ")
        }
        Err(error) => format!("error {}: {}", error.number, error.message),
    }
}

fn check(rows: &[(&str, &str)], all: &[DocBuf]) {
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(pipeline, expected)| {
            let outcome = outcome(pipeline, all);
            let told = format!("{pipeline}\n   is      {outcome}\n   and not {expected}");
            (outcome != *expected).then_some(told)
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

macro_rules! tables {
    ($($table:ident),*) => {$(
        #[test]
        fn $table() {
            check($table::ROWS, &collection());
        }
    )*};
}

mod table {
    use super::*;

    tables!(choosing, groups, joins, reshaping);
}

#[test]
fn mixed_types_meet_in_pipelines() {
    check(mixed::ROWS, &documents(mixed::COLLECTION));
}

#[test]
fn a_satisfied_limit_ends_the_input() {
    let stages = parsed("[{$match: {a: {$exists: true}}}, {$limit: 1}]").unwrap();
    let mut exec = Exec::new(stages, Arc::default());
    let document = collection().swap_remove(0);
    let origin = Some(Box::from([7_u8].as_slice()));
    let source = Source::stored_at(origin.clone());
    exec.offer_row(Row { document, source }).unwrap();
    match exec.next().unwrap() {
        Next::Row(row) => assert_eq!(row.source.origin, origin),
        other => panic!("{other:?}"),
    }
    assert!(matches!(exec.next().unwrap(), Next::Done));
}

#[test]
fn neighbouring_filters_become_one_and_long_pipelines_are_refused() {
    let stages = parsed("[{$match: {a: 1}}, {$match: {b: 1}}, {$match: {c: 1}}]").unwrap();
    assert_eq!(stages.len(), 1);
    let stages = parsed("[{$match: {a: 1}}, {$sort: {a: 1}}, {$match: {b: 1}}]").unwrap();
    assert!(matches!(stages[..], [Stage::Match(_), Stage::Sort { .. }]));
    let many = format!("[{}]", "{$limit: 1},".repeat(1001));
    assert_eq!(parsed(&many).unwrap_err().code, 9);
    let mut nested = "[]".to_owned();
    for _ in 0..22 {
        nested = format!("[{{$lookup: {{from: 't', as: 'j', pipeline: {nested}}}}}]");
    }
    assert_eq!(parsed(&nested).unwrap_err().code, 5_107_300);
}

#[test]
fn updates_take_some_stages() {
    let edit = |text: &str| {
        let stages = parse_update(shell_text::value(text).as_ref().as_array().unwrap())?;
        let document = collection().swap_remove(0);
        let edited = edit_with(&stages, document.as_ref(), &Context::default()).unwrap();
        Ok::<_, crate::Error>(text_of(document::ValueRef::Document(edited.as_ref())))
    };
    assert_eq!(
        edit("[{$set: {n: {$size: '$l'}}}, {$unset: ['o', 'x']}, {$project: {l: 0}}]").unwrap(),
        "{_id: 1, a: 1, n: 2}"
    );
    assert_eq!(edit("[{$replaceWith: '$o'}]").unwrap(), "{e: 2}");
    assert_eq!(edit("[{$match: {}}]").unwrap_err().code, 72);
    assert_eq!(edit("[{$foo: {}}]").unwrap_err().code, 40324);
}

/// Returns rows that exceed the memory of a stage.
fn large_rows() -> Vec<DocBuf> {
    let big = "x".repeat(1 << 20);
    let row = |at: i32| {
        let mut fields = document::Document::new();
        fields.push("_id", at);
        fields.push("text", big.as_str());
        fields.to_buf()
    };
    (0..120).map(row).collect()
}

#[test]
fn memory_is_counted() {
    let rows = large_rows();
    for (pipeline, number) in [
        ("[{$sort: {_id: 1}}, {$count: 'n'}]", Some(292)),
        ("[{$sort: {_id: 1}}, {$limit: 5}, {$count: 'n'}]", None),
        ("[{$group: {_id: '$_id', t: {$push: '$text'}}}, {$count: 'n'}]", Some(292)),
        ("[{$group: {_id: null, t: {$push: '$text'}}}, {$count: 'n'}]", Some(292)),
        ("[{$bucketAuto: {groupBy: '$_id', buckets: 3}}]", Some(292)),
        ("[{$facet: {a: []}}]", Some(292)),
        // The result of `$facet` is larger than a returned document may be, but not larger than a
        // document between two stages may be.
        ("[{$limit: 20}, {$facet: {a: []}}, {$project: {n: {$size: '$a'}}}]", None),
        ("[{$limit: 20}, {$group: {_id: null, t: {$push: '$text'}}}, {$unwind: '$t'}]", None),
        ("[{$limit: 80}, {$facet: {a: []}}]", Some(10334)),
    ] {
        let stages = parsed(pipeline).unwrap();
        let result = run(stages.into(), Arc::default(), rows.clone(), &[]);
        assert_eq!(result.err().map(|error| error.number), number, "{pipeline}");
    }
}
