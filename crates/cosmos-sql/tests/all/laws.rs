//! Indexes do not change results: a query returns the same whether it reads every document or only
//! the documents that its condition for indexes admits.

use std::sync::Arc;

use cosmos_sql::compile;
use document::{
    DocBuf, Value,
    key::{TypeOrder, encode},
};
use evaluation::Context;
use select::{
    plan::Select,
    sarg::Sarg,
    statement::{Flow, Output, PageLimit, Run},
};

use crate::maker::Maker;

/// Number of documents from which cases are made.
const DOCUMENTS: u64 = 2_000;
const QUERIES: u64 = 10_000;
/// Number of sets of documents over which each query runs.
const SETS: u64 = 10;

#[test]
fn a_hundred_thousand_cases_answer_the_same_from_an_index() {
    let maker = Maker::new(11);
    let mut documents: Vec<(Vec<u8>, DocBuf)> =
        (0..DOCUMENTS).map(|id| (key(id), maker.document(id).to_buf())).collect();
    documents.sort_by(|a, b| a.0.cmp(&b.0));
    let (mut found, mut left_out, mut narrow) = (0, 0, 0);
    for _ in 0..QUERIES {
        let query = asked(&maker);
        let plan =
            Arc::new(compile(&query, &[]).unwrap_or_else(|error| panic!("{query}: {error}")));
        narrow += usize::from(*plan.sarg() != Sarg::All);
        for _ in 0..SETS {
            let start = usize::try_from(maker.number(DOCUMENTS - 8)).unwrap();
            let rows = &documents[start..start + usize::try_from(maker.number(8)).unwrap()];
            let all = results(&plan, rows.iter());
            let admitted = rows.iter().filter(|(_, row)| plan.sarg().admits_document(row.as_ref()));
            left_out += rows.len() - admitted.clone().count();
            let few = results(&plan, admitted);
            assert_eq!(few, all, "{query}\n{rows:?}\n{:?}", plan.sarg());
            found += usize::from(!all.is_empty());
        }
    }
    // Enough cases are significant: they have results, and rows that an index leaves out.
    assert!(20_000 < found && 100_000 < left_out && 3_000 < narrow, "{found} {left_out} {narrow}");
}

/// Returns a query whose WHERE is about the document, a part of it, or elements of its arrays.
fn asked(maker: &Maker) -> String {
    let filter = maker.filter(2);
    match maker.number(8) {
        0 => maker.query(),
        1 => format!("SELECT VALUE c FROM c.o AS c WHERE {filter}"),
        2 => format!("SELECT VALUE c FROM c IN c.t WHERE {}", element(maker, "c")),
        3 => format!(
            "SELECT c.id, x FROM c JOIN x IN c.t WHERE {} AND {filter}",
            element(maker, "x")
        ),
        4 => {
            let inner = element(maker, "x");
            let of = maker.pick(&["c.t", "c.a", "c.o"]);
            let not = maker.pick(&["", "NOT "]);
            let by = maker.pick(&["AND", "OR"]);
            format!(
                "SELECT VALUE c.id FROM c \
                 WHERE {not}EXISTS(SELECT VALUE x FROM x IN {of} WHERE {inner}) {by} {filter}"
            )
        }
        5 => format!("SELECT VALUE COUNT(1) FROM c WHERE {filter}"),
        _ => format!("SELECT VALUE c.id FROM c WHERE {filter}"),
    }
}

/// Returns a condition on an element of an array.
fn element(maker: &Maker, name: &str) -> String {
    let of = maker.pick(&["", ".p"]);
    let test = maker.pick(&[
        " = 1",
        " != 'a'",
        " > 0",
        " <= 'a'",
        " IN (1, 'a', null)",
        " NOT IN (1, 'a')",
        " BETWEEN 0 AND 2",
        " LIKE 'a%'",
        " = c.a",
        " = true OR c.b = 1",
    ]);
    format!("({name}{of}{test})")
}

fn key(id: u64) -> Vec<u8> {
    let mut key = Vec::new();
    encode(Value::from(id.to_string()).as_ref(), TypeOrder::Json, false, &mut key);
    key
}

/// Returns all results as one page.
fn results<'r>(
    plan: &Arc<Select>,
    rows: impl Iterator<Item = &'r (Vec<u8>, DocBuf)>,
) -> Vec<Value> {
    let limit = PageLimit { items: usize::MAX, bytes: usize::MAX };
    let mut run = Run::new(Arc::clone(plan), Context::default(), None, limit);
    for (key, row) in rows {
        if run.feed_row(key, row.as_ref()).unwrap() == Flow::Enough {
            break;
        }
    }
    run.finish_page(true).unwrap().values.into_iter().map(Output::into_value).collect()
}
