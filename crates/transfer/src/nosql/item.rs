//! Items as JSON, and their system properties.

use document::{DocBuf, DocBuilder, DocRef, ValueRef};

use crate::extended::{Style, write_document, write_value};

/// System properties that the server generates on each write.
const ADDED: [&str; 4] = ["_rid", "_self", "_etag", "_attachments"];
/// Timestamp of the last write in seconds; exports keep it for information.
const WRITTEN: &str = "_ts";

/// Returns the item as it is exported: with the requested properties, and without the system
/// properties that are useless to another server.
pub(super) fn exported(item: DocRef<'_>, fields: &[String]) -> DocBuf {
    let mut kept = DocBuilder::new();
    for (name, value) in item.iter() {
        let is_wanted = fields.is_empty() || name == "id" || fields.iter().any(|it| it == name);
        if is_wanted && !ADDED.contains(&name) {
            kept.append(name, value);
        }
    }
    kept.finish()
}

/// Returns the JSON text of an item as it is sent, without system properties.
pub(super) fn body(item: DocRef<'_>) -> Vec<u8> {
    let mut sent = DocBuilder::new();
    for (name, value) in item.iter() {
        if name != WRITTEN && !ADDED.contains(&name) {
            sent.append(name, value);
        }
    }
    let mut out = Vec::new();
    write_document(sent.finish().as_ref(), Style::Plain, &mut out);
    out
}

/// Returns the partition key header of an item, for the paths of the container.
pub(super) fn partition_key(item: DocRef<'_>, paths: &[Vec<String>]) -> String {
    let mut out = vec![b'['];
    for (at, path) in paths.iter().enumerate() {
        if 0 < at {
            out.push(b',');
        }
        match find(item, path) {
            // The item has no value at the path.
            None => out.extend_from_slice(b"{}"),
            Some(value) => write_value(value, Style::Plain, &mut out),
        }
    }
    out.push(b']');
    ascii(&String::from_utf8(out).unwrap_or_default())
}

fn find<'a>(item: DocRef<'a>, path: &[String]) -> Option<ValueRef<'a>> {
    let (last, inner) = path.split_last()?;
    let mut at = item;
    for name in inner {
        at = at.get(name)?.as_document()?;
    }
    at.get(last)
}

/// Returns JSON that is valid in a header: non-ASCII characters are escaped.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut units = [0; 2];
    for c in text.chars() {
        match c.is_ascii() {
            true => out.push(c),
            false => c
                .encode_utf16(&mut units)
                .iter()
                .for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    out
}

/// Splits a path such as `/a/"b c"`.
pub(super) fn path_of(text: &str) -> Vec<String> {
    text.split('/').skip(1).map(|part| part.trim_matches('"').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use document::{Value, doc};

    use super::*;

    #[test]
    fn items_go_without_what_the_service_adds() {
        let item = doc! {
            "id": "1", "_rid": "r", "_self": "s", "_etag": "e", "_attachments": "a", "_ts": 5,
            "a": 1.0, "ttl": 9,
        };
        let sent = String::from_utf8(body(DocRef::Tree(&item))).unwrap();
        assert_eq!(sent, r#"{"id":"1","a":1.0,"ttl":9}"#);
        let kept = exported(DocRef::Tree(&item), &[]);
        assert_eq!(format!("{kept:?}"), r#"{ id: "1", _ts: 5, a: 1.0, ttl: 9 }"#);
        let kept = exported(DocRef::Tree(&item), &["ttl".to_owned()]);
        assert_eq!(format!("{kept:?}"), r#"{ id: "1", ttl: 9 }"#);
    }

    #[test]
    fn partition_keys() {
        let item = doc! { "a": "é\"😀", "b": doc! { "c": 5, "d": Value::Null }, "e": 1.0 };
        for (paths, want) in [
            (&["/a"][..], r#"["\u00e9\"\ud83d\ude00"]"#),
            (&["/b/c", "/b/d", "/b/x", "/e"], "[5,null,{},1.0]"),
            (&["/\"a\""], r#"["\u00e9\"\ud83d\ude00"]"#),
            (&[], "[]"),
        ] {
            let paths: Vec<Vec<String>> = paths.iter().map(|path| path_of(path)).collect();
            assert_eq!(partition_key(DocRef::Tree(&item), &paths), want);
        }
    }
}
