//! Tests with different documents, and which of them match.

use super::matches;
use crate::shell_text::document;

#[test]
fn documents_of_their_own() {
    for (filter, documents, expected) in ROWS {
        let found =
            documents.iter().enumerate().filter(|(_, text)| matches(filter, &document(text)));
        let found: Vec<String> = found.map(|(at, _)| at.to_string()).collect();
        assert_eq!(found.join(" "), *expected, "{filter}");
    }
}

const ROWS: &[(&str, &[&str], &str)] = &[
    (
        "{a: {$mod: [4, -1]}}",
        &[
            "{a: -1}",
            "{a: -5.5}",
            "{a: 3}",
            "{a: NumberDecimal('-5.9')}",
            "{a: Infinity}",
            "{a: 1e+300}",
        ],
        "0 1 3",
    ),
    (
        "{a: {$mod: [4.9, -1.9]}}",
        &[
            "{a: -1}",
            "{a: -5.5}",
            "{a: 3}",
            "{a: NumberDecimal('-5.9')}",
            "{a: Infinity}",
            "{a: 1e+300}",
        ],
        "0 1 3",
    ),
    (
        "{a: {$bitsAnySet: [0, 65]}}",
        &[
            "{a: -1}",
            "{a: 1.0}",
            "{a: 1.5}",
            "{a: NumberDecimal('1')}",
            "{a: BinData(0, '01')}",
            "{a: BinData(0, '')}",
            "{a: NumberLong(-2)}",
            "{a: 1e+300}",
        ],
        "0 1 3 4 6",
    ),
    (
        "{a: {$bitsAllClear: [0, 65]}}",
        &[
            "{a: -1}",
            "{a: 1.0}",
            "{a: 1.5}",
            "{a: NumberDecimal('1')}",
            "{a: BinData(0, '01')}",
            "{a: BinData(0, '')}",
            "{a: NumberLong(-2)}",
            "{a: 1e+300}",
        ],
        "5",
    ),
    (
        "{a: {$bitsAllSet: [70]}}",
        &[
            "{a: -1}",
            "{a: 1.0}",
            "{a: 1.5}",
            "{a: NumberDecimal('1')}",
            "{a: BinData(0, '01')}",
            "{a: BinData(0, '')}",
            "{a: NumberLong(-2)}",
            "{a: 1e+300}",
        ],
        "0 6",
    ),
    (
        "{a: {$bitsAllSet: BinData(0, '01')}}",
        &[
            "{a: -1}",
            "{a: 1.0}",
            "{a: 1.5}",
            "{a: NumberDecimal('1')}",
            "{a: BinData(0, '01')}",
            "{a: BinData(0, '')}",
            "{a: NumberLong(-2)}",
            "{a: 1e+300}",
        ],
        "0 1 3 4",
    ),
    (
        "{a: {$regex: 'a$'}}",
        &[r#"{a: 'a\n'}"#, "{a: 'a'}", r#"{a: 'b\na\nb'}"#, "{a: '٣'}", "{a: 'É'}"],
        "0 1",
    ),
    (
        "{a: {$regex: '^a$', $options: 'm'}}",
        &[r#"{a: 'a\n'}"#, "{a: 'a'}", r#"{a: 'b\na\nb'}"#, "{a: '٣'}", "{a: 'É'}"],
        "0 1 2",
    ),
    (
        r#"{a: {$regex: '\\d'}}"#,
        &[r#"{a: 'a\n'}"#, "{a: 'a'}", r#"{a: 'b\na\nb'}"#, "{a: '٣'}", "{a: 'É'}"],
        "",
    ),
    (
        r#"{a: {$regex: '\\w'}}"#,
        &[r#"{a: 'a\n'}"#, "{a: 'a'}", r#"{a: 'b\na\nb'}"#, "{a: '٣'}", "{a: 'É'}"],
        "0 1 2",
    ),
    (
        "{a: {$regex: 'é', $options: 'i'}}",
        &[r#"{a: 'a\n'}"#, "{a: 'a'}", r#"{a: 'b\na\nb'}"#, "{a: '٣'}", "{a: 'É'}"],
        "4",
    ),
    (
        "{a: {$regex: '^.a$'}}",
        &[r#"{a: 'a\n'}"#, "{a: 'a'}", r#"{a: 'b\na\nb'}"#, "{a: '٣'}", "{a: 'É'}"],
        "",
    ),
    ("{a: {$in: ['b', null]}}", &["{a: 'b'}", "{}"], "0 1"),
];
