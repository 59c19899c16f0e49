//! Determines which paths of a container's items have index entries. The indexing policy defines
//! the candidates; this module alone selects from them.
//!
//! ```text
//!  policy /*      -- allows -->  /a/?   /b/?   /c/[]/?   ...   itself has no entries
//!  indexed paths  -- one index each -->  /a/?  ready    /c/[]/?  being built
//! ```
//!
//! A path comes from the query that requests it, whether or not any item has it, so a wildcard is
//! never expanded by examining items. Each indexed path is an index with its own id, which is
//! built, maintained and dropped like any other index.

use select::sarg::PathStep;

use super::{IndexShape, IndexSpec, IndexedPath, Policy, Record};
use crate::keys;

/// Whether a container's policy allows an index of a path, and the state of that index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PathState<'a> {
    /// The policy excludes the path.
    Excluded,
    /// The policy allows an index of the path, but no such index exists.
    Allowed,
    /// Writers maintain the index; items written before are being added.
    Building,
    /// The index is complete: it contains every value at the path.
    Ready(&'a IndexSpec),
}

impl Record {
    /// Returns the state of a path.
    pub(crate) fn path_state(&self, path: &[PathStep]) -> PathState<'_> {
        let mut state = PathState::Excluded;
        for index in &self.indexes {
            if index.holds_path(path) {
                if index.ready {
                    return PathState::Ready(index);
                }
                state = PathState::Building;
            } else if state == PathState::Excluded && index.allows_path(path) {
                state = PathState::Allowed;
            }
        }
        state
    }

    /// Returns whether the policy allows indexing a path. Request charges and metrics use this, so
    /// that they do not depend on whether the path is currently indexed.
    pub(crate) fn allows_path(&self, path: &[PathStep]) -> bool {
        self.path_state(path) != PathState::Excluded
    }

    /// Returns whether the policy allows an index for the path and none exists.
    pub(crate) fn is_unindexed(&self, path: &[PathStep]) -> bool {
        self.path_state(path) == PathState::Allowed
    }

    /// Returns the index that contains this path only, whether complete or not.
    pub(crate) fn index_of_path(&self, path: &[PathStep]) -> Option<&IndexSpec> {
        self.indexes
            .iter()
            .find(|index| index.indexed_path().is_some_and(|kept| kept.steps == path))
    }
}

impl Policy {
    /// Returns the paths that a policy names without a trailing wildcard; these are always indexed.
    pub(crate) fn named_paths(&self) -> impl Iterator<Item = &[PathStep]> {
        let named = self.0.iter().filter(|rule| rule.included && !rule.below);
        named.map(|rule| rule.steps.as_slice()).filter(|path| self.covers_path(path))
    }
}

impl IndexSpec {
    /// Creates an index of one path, named after the path as policies write it.
    pub(crate) fn over_path(kept: IndexedPath) -> Self {
        let name = policy_path(&kept.steps);
        let key = vec![("*".to_owned(), false)];
        Self { shape: IndexShape::Path(kept), by_creation: true, ..Self::new(name, key) }
    }

    /// Creates an index of a policy whose paths are indexed when queries request them or the policy
    /// names them.
    pub fn on_demand(name: impl Into<String>, policy: Policy) -> Self {
        let key = vec![("*".to_owned(), false)];
        Self { shape: IndexShape::Allowed(policy), ..Self::new(name, key) }
    }

    /// Creates an index of every value that a policy includes, complete from the start.
    pub fn over_policy(name: impl Into<String>, policy: Policy) -> Self {
        let key = vec![("*".to_owned(), false)];
        Self { shape: IndexShape::Wild(policy), by_creation: true, ..Self::new(name, key) }
    }

    /// Returns the path of an index of a single path; `None` for other indexes.
    pub fn indexed_path(&self) -> Option<&IndexedPath> {
        match &self.shape {
            IndexShape::Path(kept) => Some(kept),
            _ => None,
        }
    }

    /// Returns the policy of an index that is defined by one, whether or not the index itself has
    /// entries; `None` for other indexes.
    pub fn policy(&self) -> Option<&Policy> {
        match &self.shape {
            IndexShape::Wild(policy) | IndexShape::Allowed(policy) => Some(policy),
            _ => None,
        }
    }

    /// Returns whether the index contains every value at a path.
    pub(crate) fn holds_path(&self, path: &[PathStep]) -> bool {
        match &self.shape {
            IndexShape::Wild(policy) => policy.covers_path(path),
            IndexShape::Path(kept) => kept.steps == path,
            IndexShape::Allowed(_)
            | IndexShape::Fields
            | IndexShape::Hashed(_)
            | IndexShape::Wildcard(_)
            | IndexShape::Text(_)
            | IndexShape::Geo(_)
            | IndexShape::Tuple { .. }
            | IndexShape::Timeline
            | IndexShape::InsertionOrder => false,
        }
    }

    /// Returns the key prefix of the index's entries for a path that it contains.
    pub(crate) fn path_prefix(&self, path: &[PathStep]) -> Vec<u8> {
        match self.shape {
            IndexShape::Wild(_) => keys::item_path(self.id, path),
            _ => keys::index_prefix(self.id),
        }
    }

    /// Returns whether the container's policy allows a path to be indexed.
    fn allows_path(&self, path: &[PathStep]) -> bool {
        self.policy().is_some_and(|policy| policy.covers_path(path))
    }
}

/// Formats a path as policies write it; names with characters other than letters, digits and
/// underscores are quoted.
pub fn policy_path(steps: &[PathStep]) -> String {
    let mut text = String::new();
    for step in steps {
        text.push('/');
        match step {
            PathStep::Elements => text.push_str("[]"),
            PathStep::Property(name) => {
                let plain = !name.is_empty()
                    && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
                if plain {
                    text.push_str(name);
                } else {
                    // Escaped, so that different paths have different texts.
                    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                    text.push_str(&format!("\"{name}\""));
                }
            }
        }
    }
    text + "/?"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::PolicyRule;

    fn property(name: &str) -> PathStep {
        PathStep::Property(name.to_owned())
    }

    #[test]
    fn paths_are_written_as_in_policies() {
        for (steps, want) in [
            (vec![property("n")], "/n/?"),
            (vec![property("a"), PathStep::Elements, property("b c")], "/a/[]/\"b c\"/?"),
            (vec![property("[]")], "/\"[]\"/?"),
            (vec![property("a b\"/\"c d")], "/\"a b\\\"/\\\"c d\"/?"),
        ] {
            assert_eq!(policy_path(&steps), want);
        }
    }

    #[test]
    fn paths_without_a_wildcard_are_named() {
        let rule = |steps: &[&str], below, included| PolicyRule {
            steps: steps.iter().map(|name| property(name)).collect(),
            below,
            included,
        };
        let policy = Policy(vec![
            rule(&[], true, true),
            rule(&["a"], false, true),
            rule(&["b"], true, true),
            rule(&["c"], false, false),
            rule(&["d", "e"], false, true),
        ]);
        let named: Vec<String> = policy.named_paths().map(policy_path).collect();
        assert_eq!(named, ["/a/?", "/d/e/?"]);
    }
}
