//! The values of a document that an operator of a field considered.

use document::{DocRef, Document, Kind, Path, Value, ValueRef};

use crate::{
    filter::schema::{Cut, Details},
    path::{PathEnd, any_value},
};

/// Maximum number of values that a description shows.
const MAX_SHOWN: usize = 10;

/// The values at a path.
pub(super) struct Considered<'a> {
    /// The first values, including one more than are shown.
    values: Vec<ValueRef<'a>>,
    /// The types of all values.
    kinds: Vec<Kind>,
    /// Whether the path has a value, even if it is an empty array.
    pub(super) exists: bool,
}

impl<'a> Considered<'a> {
    /// Collects the values at a path. The elements of an array at its end count as values unless
    /// the operator considers arrays as a whole.
    pub(super) fn at(document: DocRef<'a>, path: &Path, end: PathEnd) -> Self {
        let (mut values, mut kinds, mut exists) = (Vec::new(), Vec::new(), false);
        let whole = end == PathEnd::Whole;
        let found = any_value(document, path, end, &mut |seen| {
            if let Some(value) = seen.value {
                exists = true;
                // An array at the end is visited after its elements.
                if whole || !matches!(value, ValueRef::Array(_)) {
                    if values.len() <= MAX_SHOWN {
                        values.push(value);
                    }
                    if !kinds.contains(&value.kind()) {
                        kinds.push(value.kind());
                    }
                }
            }
            Ok::<_, std::convert::Infallible>(false)
        });
        debug_assert!(found.is_ok());
        Self { values, kinds, exists }
    }

    /// Returns whether there are values and none has one of these types.
    pub(super) fn lacks_types(&self, types: &[Kind]) -> bool {
        !self.kinds.is_empty() && !self.kinds.iter().any(|kind| types.contains(kind))
    }

    /// Adds the values to a description.
    pub(super) fn push_values(
        &self,
        details: &mut Details<'_>,
        detail: &mut Document,
    ) -> Result<(), Cut> {
        if let [value] = self.values.as_slice() {
            return details.push(detail, "consideredValue", *value);
        }
        if !details.whole {
            return Ok(());
        }
        let mut shown = Vec::new();
        for value in self.values.iter().take(MAX_SHOWN) {
            shown.push(details.copy(*value)?);
        }
        detail.push("consideredValues", Value::Array(shown));
        if MAX_SHOWN < self.values.len() {
            detail.push("consideredValuesTruncated", true);
        }
        Ok(())
    }

    /// Adds the types of the values to a description.
    pub(super) fn push_types(&self, detail: &mut Document) {
        let mut types: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        types.sort_unstable();
        match types.as_slice() {
            [] => {}
            [one] => detail.push("consideredType", *one),
            several => {
                let several = several.iter().map(|name| Value::from(*name)).collect();
                detail.push("consideredTypes", Value::Array(several));
            }
        }
    }
}
