//! The condition for indexes that is derived from a WHERE, which every document that WHERE keeps
//! must meet.

use cosmos_sql::compile;
use document::{Value, json::to_string};
use evaluation::Context;
use select::{
    sarg::{PathStep, Sarg, ValueTest},
    statement::{PageLimit, Run},
};

use crate::maker::Maker;

fn shown(sarg: &Sarg) -> String {
    let list = |parts: &[Sarg]| parts.iter().map(shown).collect::<Vec<_>>().join(", ");
    let text = |value: &Value| to_string(value.as_ref());
    match sarg {
        Sarg::All => "all".to_owned(),
        Sarg::Never => "never".to_owned(),
        Sarg::And(parts) => format!("and({})", list(parts)),
        Sarg::Or(parts) => format!("or({})", list(parts)),
        Sarg::Test(steps, test) => {
            let steps: Vec<&str> = steps
                .iter()
                .map(|step| match step {
                    PathStep::Property(name) => name.as_str(),
                    PathStep::Elements => "[]",
                })
                .collect();
            let bound = |bound: &Option<(Value, bool)>| match bound {
                Some((value, true)) => format!("[{}]", text(value)),
                Some((value, false)) => format!("({})", text(value)),
                None => String::new(),
            };
            let test = match test {
                ValueTest::Equal(value) => format!("= {}", text(value)),
                ValueTest::In(values) => format!("in {}", text(&Value::Array(values.clone()))),
                ValueTest::Range { lower, upper } => format!("{}..{}", bound(lower), bound(upper)),
                ValueTest::Prefix(prefix) => format!("{prefix}%"),
                ValueTest::Defined => "defined".to_owned(),
                ValueTest::Text => "text".to_owned(),
            };
            format!("{} {test}", steps.join("/"))
        }
    }
}

#[test]
fn conditions_are_derived() {
    for (filter, want) in [
        ("c.a = 1", "a = 1"),
        ("1 = c.a", "a = 1"),
        ("c.a.b = 'x' AND c.d > 2", "and(a/b = \"x\", d (2)..)"),
        ("c.a = 1 OR c.a = 2", "or(a = 1, a = 2)"),
        ("c.a = 1 OR RAND() > 0.5", "all"),
        ("c.a = 1 AND RAND() > 0.5", "a = 1"),
        ("2 < c.a", "a (2).."),
        ("c.a <= 2", "a ..[2]"),
        ("c.a BETWEEN 1 AND 5", "a [1]..[5]"),
        ("c.a < 5 AND c.b = 1 AND c.a >= 1", "and(a [1]..(5), b = 1)"),
        ("c.a > 1 AND c.a > 2 AND c.a < 'x'", "and(a (1).., a (2).., a ..(\"x\"))"),
        (
            "EXISTS(SELECT VALUE x FROM x IN c.t WHERE x > 1 AND x < 3)",
            "and(t/[] defined, t/[] (1).., t/[] ..(3))",
        ),
        ("NOT (c.a BETWEEN 1 AND 5)", "or(a ..(1), a (5)..)"),
        ("c.a IN (1, 'x')", "a in [1,\"x\"]"),
        ("c.a IN (1, [2])", "a defined"),
        ("NOT (c.a = 1)", "a defined"),
        ("NOT (c.a != 1)", "a = 1"),
        ("NOT (c.a < 1)", "a [1].."),
        ("c.a != 1", "a defined"),
        ("c.a = c.b", "and(a defined, b defined)"),
        ("c.a < c.b", "and(a defined, b defined)"),
        ("c.a + c.b", "all"),
        ("c.a = [1]", "a defined"),
        ("c.a < [1]", "never"),
        ("c.a = undefined", "and(a defined, never)"),
        ("c.a LIKE 'ab%'", "a ab%"),
        ("c.a LIKE 'ab%c'", "a ab%"),
        ("c.a LIKE 'ab'", "a = \"ab\""),
        ("c.a LIKE '%b'", "a text"),
        ("NOT (c.a LIKE 'ab%')", "a text"),
        ("STARTSWITH(c.a, 'x')", "a x%"),
        ("STARTSWITH(c.a, 'x', true)", "a text"),
        ("CONTAINS(c.a, 'x')", "a text"),
        ("IS_DEFINED(c.a)", "a defined"),
        ("NOT IS_DEFINED(c.a)", "all"),
        ("ARRAY_CONTAINS(c.t, 1)", "t/[] = 1"),
        ("ARRAY_CONTAINS(c.t, {a: 1}, true)", "t/[] defined"),
        ("ARRAY_CONTAINS([1, 'x'], c.a.b)", "a/b in [1,\"x\"]"),
        ("ARRAY_CONTAINS([1, 'x'], c.a, false)", "a in [1,\"x\"]"),
        ("ARRAY_CONTAINS([1, {a: 1}], c.a)", "a defined"),
        ("ARRAY_CONTAINS([1, {a: 1}], c.a, true)", "all"),
        ("NOT ARRAY_CONTAINS([1], c.a)", "a defined"),
        ("ARRAY_CONTAINS_ANY([1, 2], c.a, c.b)", "or(a in [1,2], b in [1,2])"),
        ("ARRAY_CONTAINS_ALL([1, 2], c.a, c.b)", "and(a in [1,2], b in [1,2])"),
        ("ARRAY_CONTAINS_ANY(c.t, 1, 2)", "t/[] in [1,2]"),
        ("ARRAY_CONTAINS_ALL(c.t, 1, 2)", "and(t/[] = 1, t/[] = 2)"),
        ("CONTAINS_ANY_CI(c.a, 'x', 'y')", "a text"),
        ("EXISTS(SELECT VALUE x FROM x IN c.t WHERE x.k = 1)", "and(t/[] defined, t/[]/k = 1)"),
        ("EXISTS(SELECT VALUE COUNT(1) FROM x IN c.t WHERE x = 1)", "all"),
        ("c.a[0] = 1", "all"),
        ("c.a", "a = true"),
        ("NOT c.a", "a = false"),
        ("true", "all"),
        ("1", "never"),
        ("(c.a ?? c.b) = 1", "all"),
    ] {
        let plan = compile(&format!("SELECT * FROM c WHERE {filter}"), &[]).unwrap();
        let want = want.replace("and(a defined, never)", "never");
        assert_eq!(shown(plan.sarg()), want, "{filter}");
    }
    for (query, want) in [
        ("SELECT * FROM c", "all"),
        ("SELECT VALUE t FROM c JOIN t IN c.t WHERE t.k = 1 AND c.a = 2", "and(t/[]/k = 1, a = 2)"),
        ("SELECT VALUE t FROM t IN c.t WHERE t = 1", "t/[] = 1"),
        ("SELECT VALUE x FROM c.o x WHERE x.p = 1", "o/p = 1"),
        ("SELECT VALUE x FROM (SELECT VALUE c.o FROM c) x WHERE x.p = 1", "all"),
    ] {
        assert_eq!(shown(compile(query, &[]).unwrap().sarg()), want, "{query}");
    }
}

#[test]
fn what_where_keeps_is_admitted() {
    let maker = Maker::new(7);
    let (mut kept, mut refused) = (0, 0);
    for _ in 0..2_000 {
        let filter = maker.filter(3);
        let plan = compile(&format!("SELECT VALUE 1 FROM c WHERE {filter}"), &[]);
        let plan = std::sync::Arc::new(plan.unwrap());
        for _ in 0..12 {
            let document = maker.document(1);
            let limit = PageLimit { items: 1, bytes: 1 };
            let mut run = Run::new(plan.clone(), Context::default(), None, limit);
            run.feed_row(b"1", document.to_buf().as_ref()).unwrap();
            let keeps = !run.finish_page(true).unwrap().values.is_empty();
            let admits = plan.sarg().admits_document(document.to_buf().as_ref());
            assert!(!keeps || admits, "{filter} keeps {document:?}: {}", shown(plan.sarg()));
            kept += usize::from(keeps);
            refused += usize::from(!admits);
        }
    }
    assert!(1_000 < kept && 1_000 < refused, "{kept} {refused}");
}
