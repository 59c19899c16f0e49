//! Queries that are refused because they are too long or too deep. All other errors are in the
//! table.

use cosmos_sql::{MAX_DIAGNOSTICS, SqlError, compile};

use crate::harness::{answer, value};

#[test]
fn a_refusal_tells_no_more_mistakes_than_a_limit() {
    let list = |item: &str| vec![item; 20_000].join(",");
    let inner = |item: &str| format!("(SELECT VALUE {item} FROM c GROUP BY c.a)");
    for (query, code) in [
        (format!("SELECT VALUE [{}] FROM c", list("x")), "SC2001"),
        (format!("SELECT VALUE [{}] FROM c", list("NO(1)")), "SC2005"),
        (format!("SELECT {} FROM c", list("c.a")), "SC2022"),
        (format!("SELECT VALUE {{{}}} FROM c", list("a:1")), "SC2022"),
        (format!("SELECT VALUE [{}] FROM c GROUP BY c.a", list("c.x")), "SC2102"),
        (format!("SELECT VALUE [{}]", vec![inner("c.x"); 1_000].join(",")), "SC"),
        (format!("SELECT VALUE [{}] FROM c", list("@p")), "SC2001"),
    ] {
        let Err(SqlError::Invalid(diagnostics)) = compile(&query, &[]) else {
            panic!("{}", &query[..60])
        };
        assert_eq!(diagnostics.len(), MAX_DIAGNOSTICS, "{}", &query[..60]);
        assert!(diagnostics.iter().all(|it| it.code.starts_with(code)), "{:?}", diagnostics[0]);
    }
}

#[test]
fn what_is_large_or_deep_is_refused_or_done() {
    let nested = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
    let deep = |text: String| value(&text).split(' ').next().unwrap_or_default().to_owned();
    assert_eq!(value(&nested(98)), "1");
    for levels in [200, 10_000, 30_000] {
        assert_eq!(deep(nested(levels)), "SC3054");
        assert_eq!(deep("[".repeat(levels)), "SC3054");
        assert_eq!(deep("{a:".repeat(levels)), "SC3054");
        assert_eq!(deep("-".repeat(levels - 1).replace('-', "- ") + "1"), "SC3054");
        assert_eq!(deep("NOT ".repeat(levels)), "SC3054");
        assert_eq!(deep("(SELECT VALUE ".repeat(levels)), "SC3054");
        assert_eq!(deep("true ? 1 : ".repeat(levels)), "SC3054");
        assert_eq!(deep("ABS(".repeat(levels)), "SC3054");
    }
    let levels = 70;
    let chains = format!("{}1{}", "1+2*(".repeat(levels), ")".repeat(levels));
    assert!(deep(chains).starts_with('2'));
    let levels = 18;
    let all = format!("{}1{}", "1=2 or 1=1 and 1=1<<1||1+1*(".repeat(levels), ")".repeat(levels));
    assert_eq!(deep(all), "undefined");
    let queries = format!("{}1{}", "(SELECT VALUE [".repeat(30), "])".repeat(30));
    assert!(deep(queries.clone()).starts_with("["), "{}", deep(queries));
    let chain = |term: &str, by: &str, count: usize| vec![term; count].join(by);
    assert_eq!(value(&chain("true", " AND ", 2_000)), "true");
    assert_eq!(value(&chain("false", " OR ", 2_001)), "false");
    assert_eq!(deep(chain("true", " AND ", 2_002)), "SC3053");
    assert_eq!(value(&format!("LENGTH({})", chain("'ab'", " || ", 20_000))), "40000");
    assert_eq!(value(&chain("1", " + ", 20_000)), "20000");
    assert_eq!(value(&chain("undefined", " ?? ", 20_000)), "undefined");
    assert_eq!(value(&chain("1", " = ", 5_000)), "false");
    assert_eq!(deep(format!("1{}", " IN (1)".repeat(5_000))), "SC1001");
    assert_eq!(value(&format!("15999 IN ({})", chain("1", ",", 15_999) + ",15999")), "true");
    assert_eq!(deep(format!("1 IN ({})", chain("1", ",", 16_001))), "SC3055");
    assert_eq!(deep(chain("1", " + ", 200_000)), "SC3051");
    // Any number of steps may follow any kind of base.
    for (base, step) in [
        ("undefined", ".a"),
        ("c", "[0]"),
        ("c.a", "['a']"),
        ("[[1]]", "[0].a"),
        ("ABS(1)", "[1]"),
        ("(SELECT VALUE [1])", ".a[0]"),
        ("{\"a\": 1}", ".a"),
    ] {
        let query = format!("SELECT VALUE {base}{} FROM c", step.repeat(20_000));
        assert_eq!(answer(r#"{"id": "1", "a": [1]}"#, &query, ""), "[]", "{base} {step}");
    }
    assert_eq!(value("[[1, [2, {\"a\": [3]}]]][0][1][1].a[0]"), "3");
}
