//! Which paths of a container's items have entries. A policy says which may have some; this is the
//! one place that says which do.
//!
//! ```text
//!  policy /*   ── allows ──▶  /a/?   /b/?   /c/[]/?   …          no entries for that alone
//!  kept        ── one index a path ──▶  /a/?  ready    /c/[]/?  being built
//! ```
//!
//! A path is known by the query that asks for it, whether or not an item has it yet, so a wildcard
//! is never expanded by looking at items. Each kept path is an index of its own, with an id of its
//! own: it is built, kept up and dropped as any other index is.

use select::sarg::PathStep;

use super::{IndexShape, IndexSpec, KeptPath, Policy, Record};
use crate::keys;

/// How a path stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PathState<'a> {
    /// The policy leaves it out.
    Excluded,
    /// It may be kept, and is not.
    Allowed,
    /// Writers keep it; what was there before is being added.
    Building,
    /// This index has every value at it.
    Ready(&'a IndexSpec),
}

impl Record {
    /// How a path stands.
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

    /// Whether the policy lets a path be indexed: what charges and metrics go by, so that they are
    /// the same whether it is kept or not.
    pub(crate) fn allows_path(&self, path: &[PathStep]) -> bool {
        self.path_state(path) != PathState::Excluded
    }

    /// Whether a path may be kept and is not.
    pub(crate) fn is_unkept(&self, path: &[PathStep]) -> bool {
        self.path_state(path) == PathState::Allowed
    }

    /// The index of one path, whether it is complete or not.
    pub(crate) fn index_of_path(&self, path: &[PathStep]) -> Option<&IndexSpec> {
        self.indexes.iter().find(|index| index.kept_path().is_some_and(|kept| kept.steps == path))
    }
}

impl Policy {
    /// The paths that a policy names, without a wildcard at their end: these are wanted for certain.
    pub(crate) fn named_paths(&self) -> impl Iterator<Item = &[PathStep]> {
        let named = self.0.iter().filter(|rule| rule.included && !rule.below);
        named.map(|rule| rule.steps.as_slice()).filter(|path| self.covers_path(path))
    }
}

impl IndexSpec {
    /// An index of one path. Its name is that of the path, as policies write it.
    pub(crate) fn over_path(kept: KeptPath) -> Self {
        let name = policy_path(&kept.steps);
        let key = vec![("*".to_owned(), false)];
        Self { shape: IndexShape::Path(kept), by_birth: true, ..Self::new(name, key) }
    }

    /// A policy whose paths are kept when queries ask for them, or when it names them.
    pub fn on_demand(name: impl Into<String>, policy: Policy) -> Self {
        let key = vec![("*".to_owned(), false)];
        Self { shape: IndexShape::Allowed(policy), ..Self::new(name, key) }
    }

    /// An index of every value that a policy includes, complete from the beginning.
    pub fn over_policy(name: impl Into<String>, policy: Policy) -> Self {
        let key = vec![("*".to_owned(), false)];
        Self { shape: IndexShape::Wild(policy), by_birth: true, ..Self::new(name, key) }
    }

    /// The one path that it holds.
    pub fn kept_path(&self) -> Option<&KeptPath> {
        match &self.shape {
            IndexShape::Path(kept) => Some(kept),
            _ => None,
        }
    }

    /// Its policy, whether or not all paths of it have entries.
    pub fn policy(&self) -> Option<&Policy> {
        match &self.shape {
            IndexShape::Wild(policy) | IndexShape::Allowed(policy) => Some(policy),
            _ => None,
        }
    }

    /// Whether it holds every value at a path.
    pub(crate) fn holds_path(&self, path: &[PathStep]) -> bool {
        match &self.shape {
            IndexShape::Wild(policy) => policy.covers_path(path),
            IndexShape::Path(kept) => kept.steps == path,
            IndexShape::Allowed(_)
            | IndexShape::Fields
            | IndexShape::Tuple { .. }
            | IndexShape::Timeline => false,
        }
    }

    /// The beginning of its entries of a path that it holds.
    pub(crate) fn path_prefix(&self, path: &[PathStep]) -> Vec<u8> {
        match self.shape {
            IndexShape::Wild(_) => keys::item_path(self.id, path),
            _ => keys::index_prefix(self.id),
        }
    }

    /// Whether its policy lets a path be kept.
    fn allows_path(&self, path: &[PathStep]) -> bool {
        self.policy().is_some_and(|policy| policy.covers_path(path))
    }
}

/// A path as policies write it; names with other characters than letters and digits are quoted.
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
                    // Escaped, so that no two paths are written alike.
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
