//! Dotted field paths, split once. What a numeric part means is decided by whoever walks.

use std::fmt;

/// A dotted path such as `a.b.0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    /// All of it, with its dots.
    text: String,
    /// Where each part ends in the text.
    /// Parts are slices of the text, so a path is two allocations however many parts it has.
    ends: Vec<usize>,
}

impl Path {
    /// Splits at dots. Empty parts are kept; whether they are allowed is the caller's rule.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut ends: Vec<usize> = text.match_indices('.').map(|(at, _)| at).collect();
        ends.push(text.len());
        Self { text, ends }
    }

    /// The dotted text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Number of parts, at least one.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the path is the empty text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The part at this position; empty text past the end.
    pub fn part(&self, index: usize) -> &str {
        let Some(end) = self.ends.get(index) else { return "" };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        &self.text[start..*end]
    }

    /// All parts in order.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.text.split('.')
    }

    /// The first part.
    pub fn first(&self) -> &str {
        self.part(0)
    }

    /// Whether one path is the other or lies below it.
    /// `a.b` conflicts with `a` and `a.b.c`, not with `a.bc`. Edits and projections refuse such
    /// pairs, since the result would depend on which comes first.
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
