//! The paths whose values a wildcard index contains.
//!
//! ```text
//!  {"$**": 1}                                    all paths except those of `_id`
//!  {"a.$**": 1}                                  `a` and the paths below it
//!  {"$**": 1}, wildcardProjection {a: 1, b: 1}   `a`, `b` and the paths below them
//!  {"$**": 1}, wildcardProjection {a: 0}         all others, except those of `_id`
//!  {a: 1, "b.$**": 1}                            `b` and the paths below it, within each value of `a`
//! ```

/// The fields of the key of a wildcard index, in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WildcardKey<'k> {
    /// The fields before the wildcard, which have a single value in each document.
    pub(crate) before: &'k [(String, bool)],
    /// Whether the values at the paths of the wildcard are in descending order.
    pub(crate) descending: bool,
    /// The fields behind the wildcard.
    pub(crate) behind: &'k [(String, bool)],
}

impl<'k> WildcardKey<'k> {
    /// Divides the key of an index at its wildcard.
    pub(crate) fn of(key: &'k [(String, bool)]) -> Self {
        let is_wildcard = |path: &str| path == "$**" || path.ends_with(".$**");
        let at = key.iter().position(|(path, _)| is_wildcard(path)).unwrap_or(key.len());
        let (before, rest) = key.split_at(at);
        let (descending, behind) = match rest.split_first() {
            Some(((_, descending), behind)) => (*descending, behind),
            None => (false, rest),
        };
        Self { before, descending, behind }
    }

    /// Returns whether the key has other fields than the wildcard.
    pub(crate) fn is_compound(self) -> bool {
        !self.before.is_empty() || !self.behind.is_empty()
    }
}

/// The paths that a wildcard index includes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WildcardPaths {
    /// Whether `paths` lists the included paths, rather than the excluded ones.
    pub included: bool,
    /// Paths that are included or excluded, each with all paths below it.
    pub paths: Vec<String>,
    /// Whether `_id` and the paths below it are included.
    pub with_id: bool,
}

impl WildcardPaths {
    /// Returns whether values at this path are indexed.
    pub(crate) fn covers(&self, path: &str) -> bool {
        if is_at_or_below(path, "_id") {
            return self.with_id;
        }
        let listed = self.paths.iter().any(|listed| is_at_or_below(path, listed));
        listed == self.included
    }

    /// Returns whether values at this path or below it may be indexed.
    pub(crate) fn may_cover_below(&self, path: &str) -> bool {
        self.covers(path)
            || (self.included && self.paths.iter().any(|listed| is_at_or_below(listed, path)))
    }
}

/// Returns whether `path` equals `above` or continues it.
fn is_at_or_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_listed_with_all_below_them() {
        let listed = |included, with_id| WildcardPaths {
            included,
            paths: vec!["a.b".into(), "c".into()],
            with_id,
        };
        for (paths, covered, not_covered) in [
            (WildcardPaths::default(), ["x", "x.y"], ["_id", "_id.a"]),
            (listed(true, false), ["a.b.c", "c"], ["a", "a.bc"]),
            (listed(true, true), ["_id", "c.d"], ["d", "_ids"]),
            (listed(false, false), ["a", "a.bc"], ["a.b", "c.d"]),
        ] {
            for path in covered {
                assert!(paths.covers(path), "{path}");
            }
            for path in not_covered {
                assert!(!paths.covers(path), "{path}");
            }
        }
        assert!(listed(true, false).may_cover_below("a"));
        assert!(!listed(true, false).may_cover_below("b"));
    }
}
