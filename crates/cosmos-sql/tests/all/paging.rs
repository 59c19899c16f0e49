//! Neither the size of pages nor the order of rows changes the results of a query.

use document::json::to_string;

use crate::{harness::answer, maker::Maker};

#[test]
fn pages_add_up() {
    let maker = Maker::new(3);
    let mut full = 0;
    for round in 0..300 {
        let rows: Vec<String> = (0..maker.number(25))
            .map(|id| {
                let document = maker.document(id);
                to_string(document::ValueRef::Document(document.to_buf().as_ref()))
            })
            .collect();
        let query = maker.query();
        let got = answer(&rows.join("\n"), &query, "");
        assert!(got.starts_with('['), "round {round}: {query}: {got}");
        full += usize::from(got.len() > 20);
    }
    assert!(30 < full, "{full}");
}

#[test]
fn long_keys_are_passed_one_by_one() {
    let rows = |count: usize, unlike: usize| {
        let row = |at: usize| {
            let (id, value) = ("i".repeat(600), "v".repeat(unlike));
            format!("{{\"id\":\"{id}{at:03}\",\"a\":\"{value}{}\",\"t\":[1,2]}}", at / 3)
        };
        (0..count).map(row).collect::<Vec<_>>().join("\n")
    };
    for unlike in [1, 600, 1_200] {
        let documents = rows(9, unlike);
        for query in [
            "SELECT VALUE RIGHT(c.id, 3) FROM c",
            "SELECT VALUE RIGHT(c.id, 3) FROM c JOIN t IN c.t",
            "SELECT VALUE RIGHT(c.id, 3) FROM c ORDER BY c.a",
            "SELECT VALUE RIGHT(c.id, 3) FROM c ORDER BY c.a DESC, c.t",
            "SELECT VALUE RIGHT(c.id, 3) FROM c JOIN t IN c.t ORDER BY c.a OFFSET 5 LIMIT 10",
            "SELECT DISTINCT VALUE c.a FROM c",
            "SELECT DISTINCT c.a, c.t FROM c ORDER BY c.a DESC",
            "SELECT COUNT(1) AS n, c.a FROM c GROUP BY c.a",
            "SELECT VALUE COUNT(1) FROM c JOIN t IN c.t GROUP BY c.a, t",
        ] {
            assert!(answer(&documents, query, "").len() > 6, "{query}");
        }
    }
}
