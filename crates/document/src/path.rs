//! Dotted field paths, split once. Whether a numeric part is a name or an array index is decided by
//! the code that walks a document.

use std::fmt;

/// A dotted path such as `a.b.0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    text: String,
    /// The end of each part in `text`. Parts are slices of the text, so a path takes two
    /// allocations regardless of its length.
    ends: Vec<usize>,
}

impl Path {
    /// Splits a text at its dots. Empty parts are kept; whether they are allowed is up to the
    /// caller.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut ends: Vec<usize> = text.match_indices('.').map(|(at, _)| at).collect();
        ends.push(text.len());
        Self { text, ends }
    }

    /// Returns the path in dotted notation.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the number of parts, which is at least one.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the path is the empty text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the part at this index, or an empty text if the path is shorter.
    pub fn part(&self, index: usize) -> &str {
        let Some(end) = self.ends.get(index) else { return "" };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        &self.text[start..*end]
    }

    /// Iterates over the parts in order.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.text.split('.')
    }

    /// Returns the first part of the path.
    pub fn first(&self) -> &str {
        self.part(0)
    }

    /// Returns whether one path equals the other or is an ancestor of it: `a.b` conflicts with `a`
    /// and `a.b.c`, not with `a.bc`. Edits and projections refuse such pairs, since the result
    /// would depend on their order.
    pub fn conflicts_with(&self, other: &Path) -> bool {
        let below = |longer: &str, shorter: &str| {
            longer
                .strip_prefix(shorter)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        below(&self.text, &other.text) || below(&other.text, &self.text)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&str> for Path {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_conflicts() {
        let path = Path::new("a.bb.0");
        assert_eq!(path.parts().collect::<Vec<_>>(), ["a", "bb", "0"]);
        assert_eq!((path.len(), path.part(1), path.part(3)), (3, "bb", ""));
        assert!(path.conflicts_with(&Path::new("a.bb")));
        assert!(Path::new("a").conflicts_with(&path));
        assert!(!Path::new("a.b").conflicts_with(&path));
    }
}
