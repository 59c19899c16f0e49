//! JSON pointers into an item (RFC 6901), and their resolution. `~1` escapes a slash in a name and
//! `~0` a tilde; `-` denotes the position after the last element of an array.

use document::{Document, Value};

use crate::limits::MAX_POINTER_PARTS;

/// Property names and array positions from the root. There is at least one, because a patch cannot
/// refer to the whole item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    parts: Vec<String>,
}

/// A pointer's target: the object or array that directly contains it, and its name or position
/// there. The target itself may be missing.
#[derive(Debug)]
pub(crate) enum Target<'a> {
    /// The property of this object with this name.
    Property(&'a mut Document, &'a str),
    /// This position of this array.
    Element(&'a mut Vec<Value>, usize),
}

impl Pointer {
    /// Parses `/a/b~1c/0`; returns `None` if it is not a pointer to a part of an item.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix('/')?;
        let mut parts = Vec::new();
        for part in inner.split('/') {
            if part.is_empty() || parts.len() == MAX_POINTER_PARTS {
                return None;
            }
            parts.push(if part.contains('~') { unescape_part(part)? } else { part.to_owned() });
        }
        Some(Self { parts })
    }

    /// Returns the name of the root property.
    pub(crate) fn first_name(&self) -> &str {
        self.parts.first().map_or("", String::as_str)
    }

    /// Returns whether the pointer consists of a single name: a property at the root of the item.
    pub(crate) fn is_one(&self) -> bool {
        self.parts.len() == 1
    }

    /// Returns whether this pointer equals `other` or refers to something inside the value at
    /// `other`.
    pub(crate) fn begins_with(&self, other: &Self) -> bool {
        self.parts.starts_with(&other.parts)
    }

    pub(crate) fn text(&self) -> String {
        let escaped = self.parts.iter().map(|part| part.replace('~', "~0").replace('/', "~1"));
        escaped.fold(String::new(), |text, part| text + "/" + &part)
    }

    /// Returns the first name or position in the pointer that does not exist, or the last one if
    /// all before it exist.
    pub(crate) fn first_missing(&self, root: &Document) -> &str {
        let mut place: Option<&Value> = None;
        for part in &self.parts {
            let next = match place {
                None => root.get(part),
                Some(Value::Document(fields)) => fields.get(part),
                Some(Value::Array(values)) => {
                    array_position(part).and_then(|position| values.get(position))
                }
                Some(_) => None,
            };
            match next {
                Some(value) => place = Some(value),
                None => return part,
            }
        }
        self.parts.last().map_or("", String::as_str)
    }

    /// Resolves the parent of the target. `-` resolves to the array's length. Returns `None` if an
    /// object or array on the path is missing.
    pub(crate) fn find_target<'a>(&'a self, root: &'a mut Document) -> Option<Target<'a>> {
        let (last, before) = self.parts.split_last()?;
        let mut parts = before.iter();
        let Some(first) = parts.next() else { return Some(Target::Property(root, last)) };
        let mut place = root.get_mut(first)?;
        for part in parts {
            place = match place {
                Value::Document(fields) => fields.get_mut(part)?,
                Value::Array(values) => values.get_mut(array_position(part)?)?,
                _ => return None,
            };
        }
        match place {
            Value::Document(fields) => Some(Target::Property(fields, last)),
            Value::Array(values) => {
                let at = if last == "-" { values.len() } else { array_position(last)? };
                Some(Target::Element(values, at))
            }
            _ => None,
        }
    }
}

/// Unescapes a part; returns `None` if a tilde is not followed by 0 or 1.
fn unescape_part(part: &str) -> Option<String> {
    let mut out = String::with_capacity(part.len());
    let mut chars = part.chars();
    while let Some(char) = chars.next() {
        out.push(match char {
            '~' => match chars.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

/// Parses an array position. A sign and leading zeros are not permitted.
fn array_position(part: &str) -> Option<usize> {
    let plain = part == "0" || !part.starts_with(['0', '+']);
    part.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers() {
        for (text, want) in [
            ("/a", Some(vec!["a"])),
            ("/a/0/-", Some(vec!["a", "0", "-"])),
            ("/a~1b~0c", Some(vec!["a/b~c"])),
            ("/a b", Some(vec!["a b"])),
            ("", None),
            ("/", None),
            ("a", None),
            ("/a/", None),
            ("/a//b", None),
            ("/a~2", None),
            ("/a~", None),
        ] {
            let found = Pointer::parse(text);
            assert_eq!(
                found.as_ref().map(|found| found.parts.iter().map(String::as_str).collect()),
                want,
                "{text}"
            );
            if let Some(found) = found {
                assert_eq!(found.text(), text);
            }
        }
        assert_eq!(Pointer::parse(&"/a".repeat(200)), None);
        let positions =
            ["0", "10", "01", "+1", "-1", "1.0", "99999999999999999999"].map(array_position);
        assert_eq!(positions, [Some(0), Some(10), None, None, None, None, None]);
    }
}
