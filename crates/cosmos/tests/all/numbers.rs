//! Numbers are returned in the shortest form that parses to the same number, not in the form that a
//! client sent.

use document::{Value, json};

use crate::client::{Client, PARTITION, QUERY};

/// A number as it is written and as it is returned.
const FORMS: [(&str, &str); 14] = [
    ("0.0", "0"),
    ("1e2", "100"),
    ("1.50", "1.5"),
    ("-3.0", "-3"),
    ("1E3", "1000"),
    ("0.1", "0.1"),
    ("100", "100"),
    ("-0.0", "-0"),
    ("9007199254740992.0", "9007199254740992"),
    ("9007199254740993", "9007199254740993"),
    ("123456789012345680.0", "1.2345678901234568e+17"),
    ("1e300", "1e+300"),
    ("5e-324", "5e-324"),
    ("1.0e-5", "0.00001"),
];

fn double(text: &str) -> f64 {
    text.parse().unwrap()
}

#[tokio::test]
async fn numbers_come_back_in_their_shortest_form() {
    let mut client = Client::with_container("").await;
    for (at, (written, shown)) in FORMS.iter().enumerate() {
        assert_eq!(double(written).to_bits(), double(shown).to_bits(), "{written}");
        let item = format!(r#"{{"id":"{at}","pk":"a","n":{written},"deep":[{{"n":{written}}}]}}"#);
        let made = client.item("POST", "", &item).await;
        let read = client.item("GET", &at.to_string(), "").await;
        let all = client.ask("GET", "/dbs/d/colls/c/docs", &[PARTITION], "").await;
        let want = format!(r#""n":{shown},"deep":[{{"n":{shown}}}]"#);
        for answer in [&made, &read, &all] {
            assert!(answer.body.contains(&want), "{written}: {answer:?}");
        }
        let again = client.item("PUT", &at.to_string(), &made.body).await;
        assert!(again.body.contains(&want), "{written}: {again:?}");
        let query = format!(
            r#"{{"query":"SELECT VALUE [c.n, ToString(c.n), @n] FROM c WHERE c.id = '{at}' AND c.n = {written}","parameters":[{{"name":"@n","value":{written}}}]}}"#
        );
        let found = client.ask("POST", "/dbs/d/colls/c/docs", &QUERY, &query).await;
        let want = format!(r#"[{shown},"{shown}",{shown}]"#);
        assert!(found.body.contains(&want), "{written}: {found:?}");
    }
}

#[test]
fn the_form_reads_back_to_the_same_number() {
    let mut random = 7_u64;
    for _ in 0..20_000 {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let one = f64::from_bits(random);
        // Half of the numbers are multiples of 0.5, which random bits rarely yield.
        let whole = (random >> 40) as f64 / 2.0;
        for value in [one, whole].into_iter().filter(|value| value.is_finite()) {
            let text = json::to_string(Value::Double(value).as_ref());
            assert_eq!(double(&text).to_bits(), value.to_bits(), "{text}");
            assert!(!text.ends_with(".0"), "{text}");
        }
    }
}
