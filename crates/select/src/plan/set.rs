//! The constants of an IN list as a hash set of keys, so that a long list costs no more than a
//! short one.

use std::collections::HashSet;

use document::Value;
use evaluation::Evaluated;

use crate::identity::identity_of;

/// The constants of an IN list.
#[derive(Clone, Debug)]
pub struct Set {
    /// The constants in the order of the query.
    values: Vec<Value>,
    /// The constants, encoded so that values which the query language treats as equal have equal
    /// bytes.
    keys: HashSet<Vec<u8>, foldhash::fast::RandomState>,
    /// Whether the list contained an undefined item.
    has_nothing: bool,
}

impl Set {
    /// Creates a set. `has_nothing` is true if the list contained an undefined item, which makes
    /// the result undefined for values that are not found.
    pub fn new(values: Vec<Value>, has_nothing: bool) -> Self {
        let keys =
            values.iter().map(|value| identity_of(&Evaluated::Ref(value.as_ref()))).collect();
        Self { values, keys, has_nothing }
    }

    /// Returns the constants of the list.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Returns whether the set contains a value. `None` (undefined) if the value is undefined, or
    /// if it is not found and the list contained an undefined item.
    pub(crate) fn contains(&self, value: &Evaluated<'_>) -> Option<bool> {
        value.value()?;
        let has = self.keys.contains(&identity_of(value));
        if has { Some(true) } else { (!self.has_nothing).then_some(false) }
    }
}
