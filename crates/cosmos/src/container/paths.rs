//! Parses the paths of indexing policies: `/a/[]/"b c"/?`, `/*`. The engine decides which values a
//! path includes.

use select::sarg::PathStep;

use crate::limits::MAX_PATH_PARTS;

/// The suffix of an indexing path, which determines whether it denotes one value or all values
/// below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Value,
    /// `/*`: all values below the path.
    Below,
    /// The path ends with neither `/?` nor `/*`.
    Open,
}

/// Parses a path to its steps and its end; returns `None` if it does not start with a slash, has an
/// empty part, a wildcard in the middle, or too many parts. A quoted part may contain anything but
/// a quote.
pub(super) fn parse_path(text: &str) -> Option<(Vec<PathStep>, End)> {
    if text.is_empty() {
        return None;
    }
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        rest = rest.strip_prefix('/')?;
        if rest.is_empty() && steps.is_empty() {
            break;
        }
        match rest {
            "?" => return Some((steps, End::Value)),
            "*" => return Some((steps, End::Below)),
            _ => {}
        }
        let (part, behind) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (part, behind) = quoted.split_once('"')?;
                (PathStep::Property(part.to_owned()), behind)
            }
            None => {
                let end = rest.find('/').unwrap_or(rest.len());
                let (part, behind) = rest.split_at_checked(end)?;
                let step = match part {
                    "[]" => PathStep::Elements,
                    "" => return None,
                    part if part.contains(['"', '*', '?', '[', ']', '{', '}']) => return None,
                    part => PathStep::Property(part.to_owned()),
                };
                (step, behind)
            }
        };
        if steps.len() == MAX_PATH_PARTS {
            return None;
        }
        steps.push(part);
        rest = behind;
    }
    Some((steps, End::Open))
}

/// Returns whether the text after `/[]/{` ends the path and is a list of property paths:
/// `a, b/c}/?`.
pub(super) fn is_tuple(text: &str) -> bool {
    let Some(names) = text.strip_suffix("}/?") else { return false };
    names.split(',').all(|name| {
        let parsed = parse_path(&format!("/{}", name.trim()));
        parsed.is_some_and(|(steps, end)| {
            let properties = steps.iter().all(|step| matches!(step, PathStep::Property(_)));
            end == End::Open && !steps.is_empty() && properties
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let property = |name: &str| PathStep::Property(name.to_owned());
        for (text, want) in [
            ("/*", Some((vec![], End::Below))),
            ("/", Some((vec![], End::Open))),
            ("/a/?", Some((vec![property("a")], End::Value))),
            ("/a/b/*", Some((vec![property("a"), property("b")], End::Below))),
            (
                "/a/[]/b/?",
                Some((vec![property("a"), PathStep::Elements, property("b")], End::Value)),
            ),
            ("/\"_etag\"/?", Some((vec![property("_etag")], End::Value))),
            ("/\"a/b\"", Some((vec![property("a/b")], End::Open))),
            ("a", None),
            ("/a//b", None),
            ("/a*", None),
            ("/*/a", None),
            ("/?/a", None),
            ("/\"a", None),
            ("/[]/{a, b}/?", None),
        ] {
            assert_eq!(parse_path(text), want, "{text}");
        }
        assert_eq!(parse_path(&"/a".repeat(1000)), None);
        assert_eq!(parse_path(""), None);
        for (text, good) in [
            ("a, b/c}/?", true),
            ("a}/?", true),
            ("a, b", false),
            ("a, b/*}/?", false),
            ("}/?", false),
            ("/a, /b}/?", false),
            ("a, []}/?", false),
        ] {
            assert_eq!(is_tuple(text), good, "{text}");
        }
    }
}
