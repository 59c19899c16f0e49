//! Paths in container definitions that lead to a property of an item: `/a/b`. A name with special
//! characters is quoted: `/"b c"`.

use document::{DocRef, ValueRef};

use crate::limits::MAX_PATH_PARTS;

/// A path to a single property: the names of the nested properties from the root, without array
/// elements and wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyPath {
    parts: Vec<String>,
}

impl KeyPath {
    /// Parses `/a/"b c"/d`; returns `None` if it is not a path to one property.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = rest.strip_prefix('/')?;
            let (part, behind) = match rest.strip_prefix('"') {
                Some(quoted) => quoted_part(quoted)?,
                None => {
                    let end = rest.find('/').unwrap_or(rest.len());
                    let (part, behind) = rest.split_at_checked(end)?;
                    let plain = !part.contains(['"', '*', '?', '[', ']', '{', '}', '\0']);
                    (plain.then(|| part.to_owned())?, behind)
                }
            };
            if part.is_empty() || parts.len() == MAX_PATH_PARTS {
                return None;
            }
            parts.push(part);
            rest = behind;
        }
        (!parts.is_empty()).then_some(Self { parts })
    }

    /// Returns the property names from the root.
    pub(crate) fn parts(&self) -> &[String] {
        &self.parts
    }

    /// Returns the value at the path; `None` if the item has no such property, or if a value on the
    /// path is not an object.
    pub(crate) fn find_value<'a>(&self, document: DocRef<'a>) -> Option<ValueRef<'a>> {
        let (first, rest) = self.parts.split_first()?;
        let mut found = document.get(first)?;
        for part in rest {
            found = found.as_document()?.get(part)?;
        }
        Some(found)
    }
}

/// Parses a quoted name up to its closing quote; returns the name and the text after the quote.
fn quoted_part(text: &str) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((part, text.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                escaped @ ('"' | '\\' | '/') => part.push(escaped),
                _ => return None,
            },
            '\0' => return None,
            other => part.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    #[test]
    fn paths() {
        for (text, want) in [
            ("/a", Some(vec!["a"])),
            ("/a/b_c/d-e", Some(vec!["a", "b_c", "d-e"])),
            ("/\"a b\"/c", Some(vec!["a b", "c"])),
            ("/\"a\\\"/\"", Some(vec!["a\"/"])),
            ("/日本", Some(vec!["日本"])),
            ("", None),
            ("/", None),
            ("a", None),
            ("/a/", None),
            ("//a", None),
            ("/a/*", None),
            ("/a/?", None),
            ("/a/[]", None),
            ("/\"a", None),
            ("/\"a\"b", None),
            ("/\"\"", None),
        ] {
            let found = KeyPath::parse(text);
            let found =
                found.as_ref().map(|path| path.parts().iter().map(String::as_str).collect());
            assert_eq!(found, want, "{text}");
        }
        assert!(KeyPath::parse(&"/a".repeat(1000)).is_none());
    }

    #[test]
    fn only_objects_are_walked() {
        let item = doc! { "a": doc! { "b": 1, "c": vec![doc! { "b": 2 }] }, "d": 3 };
        for (path, want) in [("/a/b", true), ("/d", true), ("/a/c/b", false), ("/d/b", false)] {
            let found = KeyPath::parse(path).unwrap().find_value(DocRef::Tree(&item)).is_some();
            assert_eq!(found, want, "{path}");
        }
    }
}
