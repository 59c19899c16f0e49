//! The methods of a plan that an engine calls.

use std::{cell::Cell, sync::Arc};

use cosmos_sql::compile;
use document::{DocBuf, DocRef, array, doc, json};
use evaluation::Context;
use select::{
    eval::CompleteDocument,
    functions::Surface,
    statement::{
        PageLimit, Run,
        SystemReads::{Everywhere, InResults, Nowhere},
    },
};

#[test]
fn plans_answer_drivers() {
    for (query, counts, system, streams, order) in [
        ("SELECT * FROM c", false, InResults, true, "none"),
        ("SELECT VALUE c FROM c", false, InResults, true, "none"),
        ("SELECT VALUE COUNT(1) FROM c", true, Nowhere, false, "none"),
        ("SELECT VALUE COUNT(c.a) FROM c", false, Nowhere, false, "none"),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.a = 1", false, Nowhere, false, "none"),
        ("SELECT COUNT(1) FROM c", false, Nowhere, false, "none"),
        ("SELECT VALUE COUNT(1) FROM c JOIN t IN c.t", false, Nowhere, false, "none"),
        ("SELECT TOP 1 VALUE COUNT(1) FROM c", false, Nowhere, false, "none"),
        ("SELECT c.a FROM c WHERE c.b.c = 1", false, Nowhere, true, "none"),
        ("SELECT c._etag FROM c", false, InResults, true, "none"),
        ("SELECT c.a FROM c WHERE c[\"_ts\"] > 1", false, Everywhere, true, "none"),
        ("SELECT c.a FROM c WHERE c[c.b] = 1", false, Everywhere, true, "SC2990"),
        (
            "SELECT VALUE t FROM t IN c.t WHERE EXISTS(SELECT VALUE c._rid)",
            false,
            Nowhere,
            true,
            "SC2001",
        ),
        (
            "SELECT VALUE t FROM c JOIN t IN c.t WHERE EXISTS(SELECT VALUE c._rid)",
            false,
            Everywhere,
            true,
            "none",
        ),
        ("SELECT DISTINCT c.a FROM c", false, Nowhere, false, "none"),
        ("SELECT c.a FROM c ORDER BY c.a.b, c[\"d\"] DESC", false, Nowhere, false, "a/b+ d-"),
        ("SELECT c.a FROM c ORDER BY c._ts", false, Everywhere, false, "_ts+"),
        ("SELECT c.a FROM c ORDER BY LENGTH(c.a)", false, Nowhere, false, "2206"),
        ("SELECT c.a FROM c JOIN t IN c.t ORDER BY t", false, Nowhere, false, "none"),
        ("SELECT VALUE x FROM (SELECT DISTINCT VALUE c.a FROM c) x", false, Nowhere, false, "none"),
    ] {
        let plan = match compile(query, &[]) {
            Ok(plan) => plan,
            Err(error) => {
                assert!(error.to_string().starts_with(order), "{query}: {error}");
                continue;
            }
        };
        let paths = plan.order_paths().map_or("none".to_owned(), |paths| {
            let path = |(names, descending): (Vec<String>, bool)| {
                format!("{}{}", names.join("/"), if descending { '-' } else { '+' })
            };
            paths.into_iter().map(path).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(plan.scalar_count_only(), counts, "{query}");
        assert_eq!(plan.system_reads(), system, "{query}");
        assert_eq!(plan.streams_rows(), streams, "{query}");
        assert_eq!(paths, order, "{query}");
    }
}

/// A document that counts how often its complete form is requested.
#[derive(Debug)]
struct Counted {
    whole: DocBuf,
    count: Cell<usize>,
}

impl CompleteDocument for Counted {
    fn whole(&self) -> DocRef<'_> {
        self.count.set(self.count.get() + 1);
        self.whole.as_ref()
    }
}

#[test]
fn documents_are_completed_where_they_make_results() {
    for (query, completed, want) in [
        ("SELECT TOP 1 c._etag, c.n FROM c ORDER BY c.n", 1, r#"[{"_etag":1,"n":1}]"#),
        ("SELECT VALUE c FROM c WHERE c.n = 3", 1, r#"[{"n":3,"l":[3],"_etag":3}]"#),
        ("SELECT VALUE c._etag FROM c JOIN x IN c.l WHERE x < 3", 2, "[1,2]"),
        ("SELECT VALUE c._etag FROM c WHERE c.n = 9", 0, "[]"),
        ("SELECT DISTINCT VALUE c._etag > 1 FROM c", 3, "[false,true]"),
    ] {
        let plan = Arc::new(compile(query, &[]).unwrap());
        assert_eq!(plan.system_reads(), InResults, "{query}");
        let limit = PageLimit { items: 9, bytes: 1 << 20 };
        let mut run = Run::new(plan, Context::default(), None, limit);
        let mut count = 0;
        for n in 1..=3 {
            let stored = doc! { "n": n, "l": array![n] }.to_buf();
            let whole = doc! { "n": n, "l": array![n], "_etag": n }.to_buf();
            let whole = Counted { whole, count: Cell::new(0) };
            run.feed_row_with(&[n as u8], stored.as_ref(), &whole).unwrap();
            count += whole.count.get();
        }
        let values = run.finish_page(true).unwrap().values;
        let texts: Vec<String> =
            values.iter().map(|value| json::to_string(value.as_ref())).collect();
        assert_eq!(
            (format!("[{}]", texts.join(",")).as_str(), count),
            (want, completed),
            "{query}"
        );
    }
}

#[test]
fn conditions_stand_without_select() {
    let document = document::json::parse_document(b"{\"n\":1,\"t\":[1,2]}", 9).unwrap().to_buf();
    for (condition, want) in [
        ("from c where c.n=1", Ok(true)),
        ("FROM c WHERE c.n = 2", Ok(false)),
        ("from c", Ok(true)),
        ("from c where c.nix", Ok(false)),
        ("SELECT * FROM x WHERE x.n = 1", Ok(true)),
        ("from c join t in c.t where t = 2", Ok(true)),
        ("SELECT c.n FROM c WHERE c.n = 2", Ok(false)),
        ("where c.n = 1", Err("SC1001")),
        ("", Err("SC1002")),
        ("from c order by c.n", Err("SC1001")),
        ("from c where c.n = 1 group by c.n", Err("SC1001")),
        ("from c where c.n = 1 order by c.n", Err("SC1001")),
        ("from c where c.n = 1 offset 1 limit 1", Err("SC1001")),
        ("SELECT TOP 1 * FROM c WHERE c.n = 1", Err("SC1001")),
        ("SELECT DISTINCT c.n FROM c", Err("SC1001")),
        ("from c where d.n = 1", Err("SC2001")),
        ("c.n = 1", Err("SC1001")),
    ] {
        let plan = cosmos_sql::compile_condition(Surface::Earth, condition);
        let got = plan
            .map(|plan| plan.keeps_document(document.as_ref(), &evaluation::Context::default()));
        match (got, want) {
            (Ok(got), Ok(want)) => assert_eq!(got.unwrap(), want, "{condition}"),
            (Err(error), Err(code)) => assert!(error.to_string().starts_with(code), "{error}"),
            (got, _) => panic!("{condition}: {got:?}"),
        }
    }
}

/// A time limit that stops every evaluation.
struct Over;

impl evaluation::Watch for Over {
    fn check_end(&self) -> Result<(), evaluation::Error> {
        Err(evaluation::Error::new(evaluation::Kind::Stopped, 50, "its time is over"))
    }
}

#[test]
fn long_work_is_stopped() {
    let numbers = (0..1_000).map(|at| at.to_string()).collect::<Vec<_>>().join(",");
    let text = format!("{{\"t\":[{numbers}],\"s\":\"{}\"}}", "a".repeat(100_000));
    let document = document::json::parse_document(text.as_bytes(), 9).unwrap().to_buf();
    for query in [
        "SELECT VALUE COUNT(1) FROM c JOIN a IN c.t JOIN b IN c.t JOIN d IN c.t",
        "SELECT VALUE 1 FROM c JOIN a IN c.t JOIN b IN c.t JOIN d IN c.t WHERE a + b + d = 1.5",
        "SELECT VALUE (SELECT VALUE SUM(a * b) FROM a IN c.t JOIN b IN c.t JOIN d IN c.t) FROM c",
        "SELECT DISTINCT VALUE c FROM c JOIN a IN c.t",
        "SELECT VALUE COUNT(1) FROM c JOIN a IN c.t GROUP BY c.s",
        "SELECT VALUE a FROM c JOIN a IN c.t ORDER BY c.s",
        "SELECT VALUE MAKESET([a, c.s]) FROM c JOIN a IN c.t",
        "SELECT VALUE ARRAY(SELECT VALUE c.s || 'b' FROM a IN c.t) FROM c",
        "SELECT VALUE a FROM c JOIN a IN c.t WHERE c.s LIKE '%a_a%b%c'",
        "SELECT VALUE a FROM c JOIN a IN c.t WHERE c.s IN ('a', 'b')",
        "SELECT VALUE COUNT(1) FROM c JOIN a IN c.t WHERE ARRAY_CONTAINS(c.t, -1)",
        "SELECT VALUE SUM(LENGTH(TOSTRING(c.t))) FROM c JOIN a IN c.t",
        "SELECT VALUE COUNT(1) FROM c JOIN a IN c.t WHERE LENGTH(c.s) = a",
        "SELECT VALUE COUNT(1) FROM c JOIN a IN c.t WHERE c.s < c.s",
        "SELECT VALUE COUNT(1) FROM c JOIN a IN c.t WHERE c.s BETWEEN c.s AND c.s",
        "SELECT VALUE COUNT(1) FROM c JOIN a IN c.t WHERE c.t = c.t",
        "SELECT VALUE COUNT(1) FROM c JOIN a IN c.t WHERE c.t[999] = a",
        "SELECT VALUE a FROM c JOIN a IN c.t JOIN b IN c.t ORDER BY b",
    ] {
        let budget = std::sync::Arc::new(evaluation::Budget::watched(Over));
        let context = evaluation::Context { budget, ..evaluation::Context::default() };
        let limit = select::statement::PageLimit { items: 10_000, bytes: 1 << 30 };
        let plan = std::sync::Arc::new(compile(query, &[]).unwrap());
        let mut run = select::statement::Run::new(plan, context, None, limit);
        let error = run.feed_row(b"1", document.as_ref()).unwrap_err();
        assert_eq!(error.kind, evaluation::Kind::Stopped, "{query}");
    }
}

#[test]
fn a_driver_may_stop_only_where_it_can_go_on() {
    let document = document::json::parse_document(b"{\"a\":1}", 9).unwrap().to_buf();
    for (query, stops) in [
        ("SELECT * FROM c", true),
        ("SELECT VALUE 1", true),
        ("SELECT VALUE t FROM c JOIN t IN c.t", true),
        ("SELECT * FROM c ORDER BY c.a", false),
        ("SELECT DISTINCT c.a FROM c", false),
        ("SELECT COUNT(1) FROM c", false),
        ("SELECT VALUE x FROM (SELECT DISTINCT VALUE c FROM c) x", false),
    ] {
        let limit = select::statement::PageLimit { items: 9, bytes: 1 << 20 };
        let plan = std::sync::Arc::new(compile(query, &[]).unwrap());
        let context = evaluation::Context::default();
        let mut run = select::statement::Run::new(plan, context, None, limit);
        run.feed_row(b"1", document.as_ref()).unwrap();
        assert_eq!(run.can_stop(), stops, "{query}");
        assert_eq!(run.finish_page(false).is_ok(), stops, "{query}");
    }
}
