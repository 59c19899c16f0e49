//! Rules for which paths of an item may be indexed; the most precise matching rule decides.
//!
//! ```text
//!  /*  included     /a/*  excluded     /a/b/?  included
//!    /x  in      /a/c  not in      /a/b  in      /a/b/c  not in
//! ```

use document::{Document, Value, doc};
use select::sarg::PathStep;

/// A rule for one path, or for that path and everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRule {
    /// Steps of the path from the root of an item.
    pub steps: Vec<PathStep>,
    /// Whether the rule also applies to all paths below its path.
    pub below: bool,
    /// Whether the paths are included or excluded.
    pub included: bool,
}

/// The rules of an index; paths that no rule matches are excluded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy(pub Vec<PolicyRule>);

impl Policy {
    /// Returns whether the index includes a path. A longer rule is more precise, and a rule for the
    /// exact path is more precise than one for everything below.
    pub fn covers_path<P>(&self, path: &[P]) -> bool
    where
        PathStep: PartialEq<P>,
    {
        let fitting = self.0.iter().filter(|rule| rule.fits_path(path));
        let best = fitting.max_by_key(|rule| (rule.steps.len(), !rule.below));
        best.is_some_and(|rule| rule.included)
    }

    /// Returns whether anything at or below a path may be included, by a rule for this path or for
    /// a deeper one.
    pub(crate) fn may_cover_below<P>(&self, path: &[P]) -> bool
    where
        PathStep: PartialEq<P>,
    {
        let further = |rule: &PolicyRule| {
            rule.included
                && paths_agree(&rule.steps, path)
                && (rule.below || path.len() <= rule.steps.len())
        };
        self.0.iter().any(further)
    }

    /// Encodes the policy as stored.
    pub(crate) fn to_array(&self) -> Value {
        let rule = |rule: &PolicyRule| {
            Value::Document(doc! {
                "steps": steps_to_array(&rule.steps),
                "below": rule.below,
                "included": rule.included,
            })
        };
        Value::Array(self.0.iter().map(rule).collect())
    }

    /// Decodes a policy; `None` if damaged.
    pub(crate) fn from_array(value: Value) -> Option<Self> {
        let Value::Array(rules) = value else { return None };
        rules.into_iter().map(rule_from).collect::<Option<_>>().map(Self)
    }
}

/// Encodes the steps of a path as stored.
pub(super) fn steps_to_array(steps: &[PathStep]) -> Value {
    let step = |step: &PathStep| match step {
        PathStep::Property(name) => Value::String(name.clone()),
        PathStep::Elements => Value::Null,
    };
    Value::Array(steps.iter().map(step).collect())
}

/// Decodes the steps of a path; returns `None` if they are damaged.
pub(super) fn steps_of(value: Value) -> Option<Vec<PathStep>> {
    let Value::Array(steps) = value else { return None };
    let step = |value| match value {
        Value::String(name) => Some(PathStep::Property(name)),
        Value::Null => Some(PathStep::Elements),
        _ => None,
    };
    steps.into_iter().map(step).collect()
}

/// Decodes a rule; `None` if damaged.
fn rule_from(value: Value) -> Option<PolicyRule> {
    let Value::Document(mut fields) = value else { return None };
    let steps = steps_of(fields.remove("steps")?)?;
    let flag = |fields: &mut Document, name| match fields.remove(name) {
        Some(Value::Bool(flag)) => Some(flag),
        _ => None,
    };
    let (below, included) = (flag(&mut fields, "below")?, flag(&mut fields, "included")?);
    fields.is_empty().then_some(PolicyRule { steps, below, included })
}

impl PolicyRule {
    /// Returns whether the rule applies to this path: the rule's own path or, if `below` is set,
    /// any path below it.
    fn fits_path<P>(&self, path: &[P]) -> bool
    where
        PathStep: PartialEq<P>,
    {
        let long_enough = if self.below {
            self.steps.len() <= path.len()
        } else {
            self.steps.len() == path.len()
        };
        long_enough && paths_agree(&self.steps, path)
    }
}

/// Returns whether one of two paths is a prefix of the other.
fn paths_agree<P>(steps: &[PathStep], path: &[P]) -> bool
where
    PathStep: PartialEq<P>,
{
    steps.iter().zip(path).all(|(step, other)| step == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<PathStep> {
        let step = |part| match part {
            "[]" => PathStep::Elements,
            name => PathStep::Property(String::from(name)),
        };
        text.split('/').filter(|part| !part.is_empty()).map(step).collect()
    }

    fn policy(rules: &[(&str, bool, bool)]) -> Policy {
        let rule = |(text, below, included): &(&str, bool, bool)| PolicyRule {
            steps: path(text),
            below: *below,
            included: *included,
        };
        Policy(rules.iter().map(rule).collect())
    }

    #[test]
    fn the_most_precise_rule_decides() {
        let rules = policy(&[
            ("/", true, true),
            ("/a", true, false),
            ("/a/b", true, true),
            ("/a/b", false, false),
            ("/c/[]/d", false, false),
        ]);
        for (text, covered, below) in [
            ("/x", true, true),
            ("/x/[]/y", true, true),
            ("/a", false, true),
            ("/a/x", false, true),
            ("/a/b", false, true),
            ("/a/b/c", true, true),
            ("/c/[]/d", false, true),
            ("/c/[]/e", true, true),
        ] {
            assert_eq!(rules.covers_path(&path(text)), covered, "{text}");
            assert_eq!(rules.may_cover_below(&path(text)), below, "{text}");
        }
        let narrow = policy(&[("/", true, false), ("/a/b", false, true)]);
        for (text, covered, below) in [
            ("/a", false, true),
            ("/a/b", true, true),
            ("/a/b/c", false, false),
            ("/b", false, false),
        ] {
            assert_eq!(narrow.covers_path(&path(text)), covered, "{text}");
            assert_eq!(narrow.may_cover_below(&path(text)), below, "{text}");
        }
        assert!(!Policy::default().covers_path(&path("/a")));
    }

    #[test]
    fn policies_round_trip_and_damaged_ones_are_refused() {
        let rules = policy(&[("/", true, true), ("/a/[]/b", false, false)]);
        assert_eq!(Policy::from_array(rules.to_array()), Some(rules));
        for damaged in [
            Value::Null,
            document::array![1],
            document::array![
                doc! { "steps": document::array![1], "below": true, "included": true }
            ],
            document::array![doc! { "steps": document::array![], "below": 1, "included": true }],
        ] {
            assert_eq!(Policy::from_array(damaged.clone()), None, "{damaged:?}");
        }
    }
}
