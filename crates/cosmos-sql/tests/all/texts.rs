//! Damaged texts: queries of the table with parts removed, inserted or changed. Each either runs or
//! is refused with a position within the text.

use cosmos_sql::{Diagnostic, SqlError, compile};

use crate::{harness::answer, maker::Maker, table::cases};

/// Number of changed texts made of each query.
const CHANGES: u64 = 12;
/// Of the texts that compile, one in `RUN` is also run in all ways.
const RUN: u64 = 12;

#[test]
fn changed_queries_are_refused_or_run() {
    let maker = Maker::new(5);
    let (mut refused, mut run) = (0, 0);
    for case in cases() {
        for _ in 0..CHANGES {
            let text = changed(&maker, &case.query);
            match compile(&text, &[]) {
                Ok(_) if maker.number(RUN) == 0 => {
                    run += 1;
                    answer(&case.documents, &text, "");
                }
                Ok(_) => {}
                Err(SqlError::Invalid(diagnostics)) => {
                    refused += 1;
                    assert!(!diagnostics.is_empty(), "{text}");
                    for Diagnostic { code, message, start, end } in diagnostics {
                        let units = text.encode_utf16().count();
                        assert!(start <= end && end <= units, "{text}: {code} {start}-{end}");
                        assert!(
                            (code.starts_with("SC") || code == "2206") && !message.is_empty(),
                            "{text}"
                        );
                    }
                }
                Err(SqlError::Unsupported { what }) => assert!(!what.is_empty(), "{text}"),
            }
        }
    }
    assert!(5_000 < refused && 200 < run, "{refused} {run}");
}

/// Returns a text with one or two changes.
fn changed(maker: &Maker, text: &str) -> String {
    let mut parts = parts(text);
    for _ in 0..=maker.number(2) {
        let at = usize::try_from(maker.number(parts.len() as u64)).unwrap();
        let other = usize::try_from(maker.number(parts.len() as u64)).unwrap();
        match maker.number(6) {
            0 => {
                parts.remove(at);
            }
            1 => parts.insert(at, parts[other].clone()),
            2 => parts.swap(at, other),
            3 => parts[at] = parts[other].clone(),
            4 => parts.truncate(at + 1),
            _ => {
                let put = maker.pick(&[
                    "(",
                    ")",
                    "[",
                    "]",
                    "{",
                    "}",
                    ",",
                    ".",
                    "c",
                    "c.a",
                    "1",
                    "'x'",
                    "\"",
                    "NOT ",
                    "-",
                    "??",
                    "?",
                    ":",
                    " AND ",
                    " OR ",
                    "SELECT ",
                    " FROM c ",
                    " JOIN ",
                    " IN ",
                    "@p",
                    "*",
                    "undefined",
                    "null",
                    "COUNT(1)",
                    " GROUP BY c.a",
                    " ORDER BY c.a",
                    " DESC",
                    "DISTINCT ",
                    "TOP 1 ",
                    " OFFSET 0 LIMIT 1",
                    "EXISTS",
                    "ARRAY",
                    "\\",
                    "é😀",
                    "0x",
                    "1e",
                    "--",
                    "/*",
                    "\u{0}",
                    " LIKE ",
                    " BETWEEN ",
                    " ESCAPE '!'",
                ]);
                parts.insert(at, put.to_owned());
            }
        }
        if parts.is_empty() {
            parts.push(String::new());
        }
    }
    parts.concat()
}

/// Splits a text into words and the characters between them.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for c in text.chars() {
        match parts.last_mut() {
            Some(word) if c.is_alphanumeric() && word.chars().all(char::is_alphanumeric) => {
                word.push(c);
            }
            _ => parts.push(c.to_string()),
        }
    }
    parts
}
