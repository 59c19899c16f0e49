//! What is refused, with its code and its place.

use crate::harness::{check, value};

#[test]
fn texts_are_refused() {
    check(&[
        ("", "SELEC * FROM c", "", "SC1001 0-5"),
        ("", "SELECT", "", "SC1001 6-6"),
        ("", "SELECT * FROM c WHERE", "", "SC1001 21-21"),
        ("", "SELECT c.value FROM c", "", "SC1001 9-14"),
        ("", "SELECT * FROM c;", "", "SC1010 15-16"),
        ("", "SELECT * FROM c WHERE c.a = 'x", "", "SC1012 28-29"),
        ("", "SELECT * FROM c WHERE d.a = 1", "", "SC2001 22-23"),
        ("", "SELECT * FROM c WHERE 'é😀' = d", "", "SC2001 30-31"),
        ("", "SELECT d.a FROM c", "", "SC2001 7-8"),
        ("", "SELECT * FROM c JOIN d IN e.list", "", "SC2001 26-27"),
        ("", "SELECT c.a", "", "SC2001 7-8"),
        ("", "SELECT * FROM c WHERE FOO(1)", "", "SC2005 22-28"),
        ("", "SELECT * FROM c WHERE ABS(1, 2)", "", "SC2050 22-31"),
        ("", "SELECT * FROM c WHERE c.a = @p", "", "SC2001 28-30"),
        ("", "SELECT COUNT(1) FROM c HAVING COUNT(1) > 1", "", "SC1001 23-29"),
        ("", "SELECT * FROM c WHERE COUNT(1) > 1", "", "SC2102 22-30"),
        ("", "SELECT COUNT(SUM(c.a)) FROM c", "", "SC2102 13-21"),
        ("", "SELECT COUNT() FROM c", "", "SC2050 7-14"),
        ("", "SELECT c.a, c.b FROM c GROUP BY c.a", "", "SC2103 12-15"),
        ("", "SELECT COUNT(1), c.b FROM c", "", "SC2103 17-20"),
        ("", "SELECT * FROM c GROUP BY c.a", "", "SC2103 7-8"),
        ("", "SELECT *", "", "SC2048 7-8"),
        ("", "SELECT * FROM c JOIN t IN c.a", "", "SC2049 7-8"),
        ("", "SELECT TOP -1 * FROM c", "", "SC2060 11-13"),
        ("", "SELECT TOP 1.5 * FROM c", "", "SC2060 11-14"),
        ("", "SELECT TOP @n * FROM c", "{\"@n\":-1}", "SC2060 11-13"),
        ("", "SELECT * FROM c OFFSET 1.5 LIMIT 1", "", "SC1001 23-26"),
        ("", "SELECT TOP 1 * FROM c OFFSET 0 LIMIT 1", "", "SC2061 22-38"),
        ("", "SELECT * FROM c OFFSET 1", "", "SC1001 24-24"),
        ("", "SELECT c.a, c.b AS a FROM c", "", "SC2030 19-20"),
        ("", "SELECT * FROM c JOIN c IN c.a", "", "SC2030 21-29"),
        ("", "SELECT * FROM c WHERE c.a LIKE 'a' ESCAPE 'xy'", "", "SC2062 42-46"),
        ("", "SELECT udf.f(1)", "", "unsupported the user-defined function 'udf.f'"),
        ("", "SELECT ST_DISTANCE(c.a, c.b) FROM c", "", "unsupported the function 'ST_DISTANCE'"),
        (
            "",
            "SELECT * FROM c ORDER BY RANK FullTextScore(c.a, 'x')",
            "",
            "unsupported ORDER BY RANK",
        ),
    ]);
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
    assert_eq!(value(&format!("undefined{}", ".a".repeat(100))), "undefined");
}
