//! What a driver asks a plan.

use cosmos_sql::compile;

#[test]
fn plans_answer_drivers() {
    for (query, counts, system, streams, order) in [
        ("SELECT * FROM c", false, true, true, "none"),
        ("SELECT VALUE c FROM c", false, true, true, "none"),
        ("SELECT VALUE COUNT(1) FROM c", true, false, false, "none"),
        ("SELECT VALUE COUNT(c.a) FROM c", false, false, false, "none"),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.a = 1", false, false, false, "none"),
        ("SELECT COUNT(1) FROM c", false, false, false, "none"),
        ("SELECT VALUE COUNT(1) FROM c JOIN t IN c.t", false, false, false, "none"),
        ("SELECT TOP 1 VALUE COUNT(1) FROM c", false, false, false, "none"),
        ("SELECT c.a FROM c WHERE c.b.c = 1", false, false, true, "none"),
        ("SELECT c._etag FROM c", false, true, true, "none"),
        ("SELECT c.a FROM c WHERE c[\"_ts\"] > 1", false, true, true, "none"),
        ("SELECT c.a FROM c WHERE c[c.b] = 1", false, true, true, "none"),
        (
            "SELECT VALUE t FROM t IN c.t WHERE EXISTS(SELECT VALUE c._rid)",
            false,
            false,
            true,
            "SC2001",
        ),
        (
            "SELECT VALUE t FROM c JOIN t IN c.t WHERE EXISTS(SELECT VALUE c._rid)",
            false,
            true,
            true,
            "none",
        ),
        ("SELECT DISTINCT c.a FROM c", false, false, false, "none"),
        ("SELECT c.a FROM c ORDER BY c.a.b, c[\"d\"] DESC", false, false, false, "a/b+ d-"),
        ("SELECT c.a FROM c ORDER BY c._ts", false, true, false, "_ts+"),
        ("SELECT c.a FROM c ORDER BY LENGTH(c.a)", false, false, false, "none"),
        ("SELECT c.a FROM c JOIN t IN c.t ORDER BY t", false, false, false, "none"),
        ("SELECT VALUE x FROM (SELECT TOP 1 VALUE c.a FROM c) x", false, false, false, "none"),
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
        assert_eq!(plan.needs_system(), system, "{query}");
        assert_eq!(plan.streams(), streams, "{query}");
        assert_eq!(paths, order, "{query}");
    }
}
