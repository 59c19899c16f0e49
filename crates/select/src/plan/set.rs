//! Constants to be found among: a set of keys, so that long lists cost no more than short ones.

use std::collections::HashSet;

use document::Value;
use evaluation::Evaluated;

use crate::identity::identity_of;

/// A set of constants.
#[derive(Clone, Debug)]
pub struct Set {
    /// The constants as written.
    values: Vec<Value>,
    /// What identifies each of them: what is looked up.
    keys: HashSet<Vec<u8>, foldhash::fast::RandomState>,
    /// Whether the list had an item that is undefined.
    has_nothing: bool,
}

impl Set {
    /// A set of these constants. `has_nothing` says that the list had an undefined item, which
    /// leaves the result open for values that are not found.
    pub fn new(values: Vec<Value>, has_nothing: bool) -> Self {
        let keys =
            values.iter().map(|value| identity_of(&Evaluated::Ref(value.as_ref()))).collect();
        Self { values, keys, has_nothing }
    }

    /// The constants.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Whether a value is among the constants; nothing when the value is nothing, or when it is not
    /// found and an item was nothing.
    pub(crate) fn contains(&self, value: &Evaluated<'_>) -> Option<bool> {
        value.value()?;
        let has = self.keys.contains(&identity_of(value));
        if has { Some(true) } else { (!self.has_nothing).then_some(false) }
    }
}
