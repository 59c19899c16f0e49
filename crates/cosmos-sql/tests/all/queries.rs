//! Queries and their results.

use crate::harness::{check, value};

const DOCS: &str = r#"
{"id":"1","a":1,"s":"abc","t":["x","y"],"o":{"p":1,"q":[1,2,3]}}
{"id":"2","a":2.5,"s":"ABD","t":["y"],"o":{"p":2}}
{"id":"3","a":"1","s":"b%c","t":[]}
{"id":"4","a":null,"t":"no","g":"u"}
{"id":"5","s":"abcd","t":["x",{"k":1}],"g":"u"}
{"id":"6","a":true,"g":"v"}
{"id":"7","a":1,"g":"v"}
"#;

#[test]
fn values() {
    for (expression, want) in [
        ("1", "1"),
        ("-1", "-1"),
        ("- -1", "1"),
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("5 / 2", "2.5"),
        ("4 / 2", "2"),
        ("1 / 0", "undefined"),
        ("7 % 4", "3"),
        ("0.5 + 0.5", "1"),
        ("9223372036854775807 + 1", "9.223372036854776e+18"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1 + '1'", "undefined"),
        ("1 + null", "undefined"),
        ("1 | 6", "7"),
        ("5 & 6", "4"),
        ("5 ^ 6", "3"),
        ("~5", "-6"),
        ("1 << 31", "-2147483648"),
        ("-8 >> 1", "-4"),
        ("-1 >>> 0", "4294967295"),
        ("'a' || 'b' || 'c'", "\"abc\""),
        ("'a' || 1", "undefined"),
        ("1 = 1.0", "true"),
        ("1 = '1'", "false"),
        ("1 != '1'", "true"),
        ("1 <> 1", "false"),
        ("1 = undefined", "undefined"),
        ("null = null", "true"),
        ("null = undefined", "undefined"),
        ("1 < 2", "true"),
        ("1 < '2'", "undefined"),
        ("'a' < 'b'", "true"),
        ("false < true", "true"),
        ("null <= null", "true"),
        ("[1] < [2]", "undefined"),
        ("[1, 2] = [1, 2.0]", "true"),
        ("{a: 1, 'b': 2} = {b: 2, a: 1}", "true"),
        ("NOT true", "false"),
        ("NOT undefined", "undefined"),
        ("NOT 1", "undefined"),
        ("NOT (1 = 2)", "true"),
        ("true AND undefined", "undefined"),
        ("false AND undefined", "false"),
        ("undefined AND false", "false"),
        ("true OR undefined", "true"),
        ("undefined OR true", "true"),
        ("false OR undefined", "undefined"),
        ("true AND 1", "undefined"),
        ("true OR false AND false", "true"),
        ("2 BETWEEN 1 AND 3", "true"),
        ("2 NOT BETWEEN 1 AND 3", "false"),
        ("'b' BETWEEN 'a' AND 'c'", "true"),
        ("2 BETWEEN 'a' AND 3", "undefined"),
        ("2 BETWEEN 3 AND 'a'", "false"),
        ("2 BETWEEN 1 AND 3 AND true", "true"),
        ("2 IN (1, 2)", "true"),
        ("2 NOT IN (1, 2)", "false"),
        ("2 IN ('2', 3)", "false"),
        ("2 IN (1, undefined)", "undefined"),
        ("2 IN (2, undefined)", "true"),
        ("undefined IN (1)", "undefined"),
        ("{a: 1} IN ({'a': 1.0})", "true"),
        ("2 IN (1 + 1)", "true"),
        ("'abc' LIKE 'a%'", "true"),
        ("'abc' NOT LIKE 'a%'", "false"),
        ("'abc' LIKE 'a' || '%'", "true"),
        ("'a%c' LIKE 'a!%c' ESCAPE '!'", "true"),
        ("'abc' LIKE 'a!%c' ESCAPE '!'", "false"),
        ("1 LIKE 'a%'", "undefined"),
        ("'a' LIKE 1", "undefined"),
        ("undefined ?? 1", "1"),
        ("null ?? 1", "null"),
        ("undefined ?? undefined ?? 2", "2"),
        ("true ? 1 : 2", "1"),
        ("undefined ? 1 : 2", "2"),
        ("1 ? 1 : 2", "2"),
        ("false ? 1 : true ? 2 : 3", "2"),
        ("[1, undefined, 2]", "[1,2]"),
        ("{a: undefined, b: 1}", "{\"b\":1}"),
        ("[1, 2][1]", "2"),
        ("[1, 2][2]", "undefined"),
        ("[1, 2]['0']", "undefined"),
        ("{a: {b: 1}}.a.b", "1"),
        ("{a: {b: 1}}['a']['b']", "1"),
        ("{a: 1}[0]", "undefined"),
        ("'abc'.length", "undefined"),
        ("abs(-1)", "1"),
        ("EXISTS(SELECT VALUE 1)", "true"),
        ("EXISTS(SELECT VALUE undefined)", "false"),
        ("ARRAY(SELECT VALUE x FROM x IN (SELECT VALUE [1, 2]))", "[1,2]"),
        ("(SELECT VALUE 1)", "1"),
        ("(SELECT 1 AS a)", "{\"a\":1}"),
        ("/* a */ 1 -- b", "1"),
    ] {
        assert_eq!(value(expression), want, "{expression}");
    }
}

#[test]
fn rows_are_selected() {
    check(&[
        (
            DOCS,
            "SELECT * FROM c WHERE c.id = '3'",
            "",
            "[{\"id\":\"3\",\"a\":\"1\",\"s\":\"b%c\",\"t\":[]}]",
        ),
        (
            DOCS,
            "SELECT c.id, c.a FROM c WHERE c.a > 0",
            "",
            "[{\"id\":\"1\",\"a\":1},{\"id\":\"2\",\"a\":2.5},{\"id\":\"7\",\"a\":1}]",
        ),
        (DOCS, "SELECT VALUE c.a FROM c", "", "[1,2.5,\"1\",null,true,1]"),
        (
            DOCS,
            "SELECT c.id, c.a AS x, c[\"s\"], 1+1 FROM c WHERE c.id IN ('4','5')",
            "",
            "[{\"id\":\"4\",\"x\":null,\"$1\":2},{\"id\":\"5\",\"s\":\"abcd\",\"$1\":2}]",
        ),
        (DOCS, "select value r.id from root r where r.a = @a", "{\"@a\":1}", "[\"1\",\"7\"]"),
        (DOCS, "SELECT VALUE c.id FROM c WHERE NOT (c.a = 1)", "", "[\"2\",\"3\",\"4\",\"6\"]"),
        (DOCS, "SELECT VALUE c.id FROM c WHERE c.a != 1", "", "[\"2\",\"3\",\"4\",\"6\"]"),
        (DOCS, "SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.a)", "", "[\"5\"]"),
        (DOCS, "SELECT VALUE c.id FROM c WHERE c.a", "", "[\"6\"]"),
        (DOCS, "SELECT VALUE c.id FROM c WHERE c.s LIKE 'ab%'", "", "[\"1\",\"5\"]"),
        (
            DOCS,
            "SELECT VALUE c.id FROM c WHERE STARTSWITH(c.s, 'AB', true)",
            "",
            "[\"1\",\"2\",\"5\"]",
        ),
        (DOCS, "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.t, 'x')", "", "[\"1\",\"5\"]"),
        (DOCS, "SELECT VALUE c.id FROM c WHERE c.o.q[1] = 2", "", "[\"1\"]"),
        (DOCS, "SELECT VALUE c[@n].p FROM c", "{\"@n\":\"o\"}", "[1,2]"),
        (DOCS, "SELECT TOP 2 VALUE c.id FROM c", "", "[\"1\",\"2\"]"),
        (DOCS, "SELECT TOP @n VALUE c.id FROM c", "{\"@n\":3}", "[\"1\",\"2\",\"3\"]"),
        (DOCS, "SELECT TOP 0 * FROM c", "", "[]"),
        (DOCS, "SELECT VALUE c.id FROM c OFFSET 2 LIMIT 3", "", "[\"3\",\"4\",\"5\"]"),
        (
            DOCS,
            "SELECT VALUE c.id FROM c OFFSET @o LIMIT @l",
            "{\"@o\":5,\"@l\":10}",
            "[\"6\",\"7\"]",
        ),
        (DOCS, "SELECT VALUE c.id FROM c OFFSET 9 LIMIT 9", "", "[]"),
        (DOCS, "SELECT VALUE p FROM c.o.p", "", "[1,2]"),
        (DOCS, "SELECT VALUE x FROM c.o x", "", "[{\"p\":1,\"q\":[1,2,3]},{\"p\":2}]"),
        (DOCS, "SELECT * FROM x IN c.t", "", "[\"x\",\"y\",\"y\",\"x\",{\"k\":1}]"),
        ("", "SELECT 1, 'a' AS b", "", "[{\"$1\":1,\"b\":\"a\"}]"),
        ("", "SELECT COUNT(1)", "", "[{\"$1\":1}]"),
    ]);
}

#[test]
fn arrays_are_joined() {
    check(&[
        (
            DOCS,
            "SELECT c.id, t FROM c JOIN t IN c.t",
            "",
            "[{\"id\":\"1\",\"t\":\"x\"},{\"id\":\"1\",\"t\":\"y\"},{\"id\":\"2\",\"t\":\"y\"},{\"id\":\"5\",\"t\":\"x\"},{\"id\":\"5\",\"t\":{\"k\":1}}]",
        ),
        (DOCS, "SELECT VALUE t FROM c JOIN t IN c.t WHERE t = 'y'", "", "[\"y\",\"y\"]"),
        (
            DOCS,
            "SELECT VALUE [a, b] FROM c JOIN a IN c.o.q JOIN b IN c.t WHERE a != 2",
            "",
            "[[1,\"x\"],[1,\"y\"],[3,\"x\"],[3,\"y\"]]",
        ),
        (
            DOCS,
            "SELECT VALUE [a, b] FROM c JOIN a IN c.o.q JOIN b IN c.t OFFSET 2 LIMIT 3",
            "",
            "[[2,\"x\"],[2,\"y\"],[3,\"x\"]]",
        ),
        (
            DOCS,
            "SELECT VALUE n FROM c JOIN (SELECT VALUE q FROM q IN c.o.q WHERE q > 1) n",
            "",
            "[2,3]",
        ),
        (DOCS, "SELECT VALUE s.p FROM (SELECT VALUE c.o FROM c WHERE c.o.p > 0) s", "", "[1,2]"),
        (
            DOCS,
            "SELECT VALUE c.id FROM c JOIN t IN c.t ORDER BY t DESC",
            "",
            "[\"5\",\"2\",\"1\",\"5\",\"1\"]",
        ),
    ]);
}

#[test]
fn results_are_ordered() {
    check(&[
        (
            DOCS,
            "SELECT VALUE c.id FROM c ORDER BY c.a",
            "",
            "[\"5\",\"4\",\"6\",\"1\",\"7\",\"2\",\"3\"]",
        ),
        (
            DOCS,
            "SELECT VALUE c.id FROM c ORDER BY c.a DESC",
            "",
            "[\"3\",\"2\",\"7\",\"1\",\"6\",\"4\",\"5\"]",
        ),
        (
            DOCS,
            "SELECT VALUE c.id FROM c ORDER BY c.g DESC, c.id ASC",
            "",
            "[\"6\",\"7\",\"4\",\"5\",\"1\",\"2\",\"3\"]",
        ),
        (DOCS, "SELECT VALUE c.id FROM c WHERE c.a = 1 ORDER BY c.g", "", "[\"1\",\"7\"]"),
        (
            DOCS,
            "SELECT VALUE c.id FROM c ORDER BY LENGTH(c.s) DESC, c.id",
            "",
            "[\"5\",\"1\",\"2\",\"3\",\"4\",\"6\",\"7\"]",
        ),
        (DOCS, "SELECT TOP 2 VALUE c.id FROM c ORDER BY c.a", "", "[\"5\",\"4\"]"),
        (DOCS, "SELECT VALUE c.id FROM c ORDER BY c.a OFFSET 1 LIMIT 3", "", "[\"4\",\"6\",\"1\"]"),
    ]);
}

#[test]
fn rows_are_aggregated() {
    check(&[
        (DOCS, "SELECT VALUE COUNT(1) FROM c", "", "[7]"),
        (DOCS, "SELECT VALUE COUNT(c.a) FROM c", "", "[6]"),
        (
            DOCS,
            "SELECT COUNT(1) AS n, MIN(c.id) AS least FROM c",
            "",
            "[{\"n\":7,\"least\":\"1\"}]",
        ),
        (
            DOCS,
            "SELECT COUNT(1), SUM(c.o.p), AVG(c.o.p) FROM c",
            "",
            "[{\"$1\":7,\"$2\":3,\"$3\":1.5}]",
        ),
        (DOCS, "SELECT SUM(c.nix) FROM c", "", "[{}]"),
        (DOCS, "SELECT VALUE SUM(c.nix) FROM c", "", "[]"),
        (DOCS, "SELECT VALUE SUM(c.a) FROM c", "", "[]"),
        (DOCS, "SELECT VALUE COUNT(1) FROM c WHERE false", "", "[0]"),
        (
            DOCS,
            "SELECT VALUE {n: COUNT(1), twice: COUNT(1) * 2} FROM c",
            "",
            "[{\"n\":7,\"twice\":14}]",
        ),
        (
            DOCS,
            "SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g",
            "",
            "[{\"n\":3},{\"g\":\"u\",\"n\":2},{\"g\":\"v\",\"n\":2}]",
        ),
        (DOCS, "SELECT VALUE c.g FROM c GROUP BY c.g", "", "[\"u\",\"v\"]"),
        (DOCS, "SELECT VALUE COUNT(1) FROM c GROUP BY c.g", "", "[3,2,2]"),
        (
            DOCS,
            "SELECT c.o.p, COUNT(1) AS n FROM c GROUP BY c.o",
            "",
            "[{\"n\":5},{\"p\":1,\"n\":1},{\"p\":2,\"n\":1}]",
        ),
        (
            DOCS,
            "SELECT c.g, IS_DEFINED(c.s) AS s, COUNT(1) AS n FROM c GROUP BY c.g, IS_DEFINED(c.s)",
            "",
            "[{\"s\":true,\"n\":3},{\"g\":\"u\",\"s\":false,\"n\":1},{\"g\":\"u\",\"s\":true,\"n\":1},{\"g\":\"v\",\"s\":false,\"n\":2}]",
        ),
        (
            DOCS,
            "SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g ORDER BY COUNT(1) DESC",
            "",
            "[{\"n\":3},{\"g\":\"v\",\"n\":2},{\"g\":\"u\",\"n\":2}]",
        ),
        (DOCS, "SELECT c.g FROM c GROUP BY c.g OFFSET 1 LIMIT 1", "", "[{\"g\":\"u\"}]"),
        (
            DOCS,
            "SELECT t, COUNT(1) AS n FROM c JOIN t IN c.t GROUP BY t",
            "",
            "[{\"t\":\"x\",\"n\":2},{\"t\":\"y\",\"n\":2},{\"t\":{\"k\":1},\"n\":1}]",
        ),
        (DOCS, "SELECT VALUE MAKESET(t) FROM c JOIN t IN c.t", "", "[[\"x\",\"y\",{\"k\":1}]]"),
        (DOCS, "SELECT DISTINCT VALUE c.g FROM c", "", "[\"u\",\"v\"]"),
        (DOCS, "SELECT DISTINCT c.g FROM c", "", "[{},{\"g\":\"u\"},{\"g\":\"v\"}]"),
        (DOCS, "SELECT DISTINCT VALUE c.a FROM c ORDER BY c.a DESC", "", "[\"1\",2.5,1,true,null]"),
        (DOCS, "SELECT DISTINCT VALUE c.g FROM c ORDER BY c.id DESC", "", "[\"v\",\"u\"]"),
        (DOCS, "SELECT DISTINCT TOP 1 VALUE c.g FROM c", "", "[\"u\"]"),
        (DOCS, "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.g FROM c)", "", "[2]"),
        (
            DOCS,
            "SELECT VALUE x FROM (SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id DESC) AS x",
            "",
            "[\"7\",\"6\"]",
        ),
        (
            DOCS,
            "SELECT VALUE x.n FROM (SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g) AS x WHERE x.n > 2",
            "",
            "[3]",
        ),
    ]);
}

#[test]
fn queries_stand_inside_queries() {
    check(&[
        (
            DOCS,
            "SELECT c.id, (SELECT VALUE COUNT(1) FROM t IN c.t) AS n FROM c WHERE c.id < '3'",
            "",
            "[{\"id\":\"1\",\"n\":2},{\"id\":\"2\",\"n\":1}]",
        ),
        (
            DOCS,
            "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.t WHERE t = 'x')",
            "",
            "[\"1\",\"5\"]",
        ),
        (
            DOCS,
            "SELECT VALUE c.id FROM c WHERE NOT EXISTS(SELECT VALUE t FROM t IN c.t)",
            "",
            "[\"3\",\"4\",\"6\",\"7\"]",
        ),
        (
            DOCS,
            "SELECT VALUE ARRAY(SELECT VALUE q * 2 FROM q IN c.o.q) FROM c WHERE c.o.p = 1",
            "",
            "[[2,4,6]]",
        ),
        (
            DOCS,
            "SELECT VALUE ARRAY(SELECT VALUE q FROM q IN c.o.q ORDER BY q DESC) FROM c WHERE c.id = '1'",
            "",
            "[[3,2,1]]",
        ),
        (
            DOCS,
            "SELECT VALUE ARRAY(SELECT DISTINCT VALUE q % 2 FROM q IN c.o.q OFFSET 1 LIMIT 1) FROM c WHERE c.id = '1'",
            "",
            "[[0]]",
        ),
        (DOCS, "SELECT VALUE (SELECT VALUE SUM(q) FROM q IN c.o.q) FROM c", "", "[6]"),
        (DOCS, "SELECT VALUE FIRST(SELECT VALUE q FROM q IN c.o.q WHERE q > 1) FROM c", "", "[2]"),
        (DOCS, "SELECT VALUE LAST(SELECT VALUE q FROM q IN c.o.q) FROM c", "", "[3]"),
        (
            DOCS,
            "SELECT VALUE ALL(SELECT VALUE q > 0 FROM q IN c.o.q) FROM c WHERE c.id = '1'",
            "",
            "[true]",
        ),
        (DOCS, "SELECT VALUE (SELECT VALUE COUNT(1) FROM c) FROM c WHERE c.id = '1'", "", "[1]"),
        (
            DOCS,
            "SELECT c.g, ARRAY(SELECT VALUE c.g) AS a FROM c GROUP BY c.g",
            "",
            "[{\"a\":[]},{\"g\":\"u\",\"a\":[\"u\"]},{\"g\":\"v\",\"a\":[\"v\"]}]",
        ),
    ]);
}
