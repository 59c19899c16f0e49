//! Expands a path with positional steps to the concrete paths in one document.
//!
//! ```text
//! a.$[].n   over {a: [{n: 1}, {n: 2}]}   ->   a.0.n, a.1.n
//! ```

use std::collections::HashMap;

use document::{DocRef, Document, Value, shell};
use evaluation::{Context, Error, Kind, STEP, memory_of};
use memory::Share;

use super::{
    path::{EditPath, EditStep},
    target::{self, ResolvedPath},
};
use crate::filter::Filter;

/// Maximum memory in bytes of the concrete paths of one update's positional operators. The paths of
/// any document that can be stored take less.
const MAX_NAMED_BYTES: usize = 256 * 1024 * 1024;

/// A filter of array elements that paths refer to by name (`arrayFilters`).
#[derive(Clone, Debug)]
pub struct ElementFilter {
    /// The identifier of the filter: the `x` of `$[x]`.
    pub name: String,
    /// The filter, applied to a document whose only field has the name `name` and the element as
    /// its value.
    pub filter: Filter,
}

/// Approximate memory of one name of a path in addition to its bytes, and of a path in addition to
/// its names.
const NAME_OVERHEAD: usize = 32;

/// The input for the expansion of one path: the path, and the array elements that it may select.
pub(super) struct Expansion<'a> {
    pub(super) path: &'a EditPath,
    pub(super) filters: &'a [ElementFilter],
    /// Index into `filters` by identifier.
    pub(super) by_name: &'a HashMap<String, usize>,
    /// The array index at which the query matched, for `$`.
    pub(super) matched: Option<usize>,
    pub(super) context: &'a Context,
}

impl Expansion<'_> {
    /// Returns the concrete paths. `named` is the memory of the paths of all operators. Fails if a
    /// positional step does not fit the document.
    pub(super) fn concrete_paths(
        &self,
        root: &mut Value,
        named: &mut Share,
    ) -> Result<Vec<Vec<String>>, Error> {
        let mut found = Found { named, paths: Vec::new() };
        self.expand_from(root, &mut Vec::new(), &mut found)?;
        Ok(found.paths)
    }

    /// Expands the steps after the concrete path `before`. The number of paths multiplies with
    /// every positional step, so their memory is counted.
    fn expand_from(
        &self,
        root: &mut Value,
        before: &mut Vec<String>,
        found: &mut Found<'_>,
    ) -> Result<(), Error> {
        let Some(step) = self.path.steps().get(before.len()) else {
            let names: usize = before.iter().map(|name| NAME_OVERHEAD + name.len()).sum();
            self.context.budget.spend_bounded(names)?;
            found.named.grow(NAME_OVERHEAD + names)?;
            if MAX_NAMED_BYTES < found.named.held_bytes() {
                let text = "the positional operators of an update select too many paths";
                return Err(Error::new(Kind::TooLarge, 146, text));
            }
            found.paths.push(before.clone());
            return Ok(());
        };
        let indexes = match step {
            EditStep::Name(name) => {
                before.push(name.clone());
                self.expand_from(root, before, found)?;
                before.pop();
                return Ok(());
            }
            EditStep::Matched => vec![self.matched.ok_or_else(|| {
                let text = "The positional operator did not find the match needed from the query.";
                Error::new(Kind::Invalid, 2, text)
            })?],
            EditStep::Every => (0..array_at(root, before)?.len()).collect(),
            EditStep::Filtered(name) => self.matching_indexes(name, array_at(root, before)?)?,
        };
        for index in indexes {
            before.push(index.to_string());
            self.expand_from(root, before, found)?;
            before.pop();
        }
        Ok(())
    }

    /// Returns the indexes of the array elements that match the filter with this identifier.
    fn matching_indexes(&self, name: &str, values: &[Value]) -> Result<Vec<usize>, Error> {
        let Some(filter) = self.by_name.get(name).and_then(|at| self.filters.get(*at)) else {
            return Ok(Vec::new());
        };
        let mut indexes = Vec::new();
        for (at, value) in values.iter().enumerate() {
            self.context.budget.spend(STEP + memory_of(value.as_ref()))?;
            let mut wrapped = Document::new();
            wrapped.push(name, value.clone());
            if filter.filter.matches(DocRef::Tree(&wrapped), self.context)? {
                indexes.push(at);
            }
        }
        Ok(indexes)
    }
}

/// The concrete paths of one operator found so far, and the memory of the paths of all operators.
struct Found<'a> {
    named: &'a mut Share,
    paths: Vec<Vec<String>>,
}

/// Returns the array at a concrete path, for a positional step; fails if the path leads to no
/// array.
fn array_at<'a>(root: &'a mut Value, path: &[String]) -> Result<&'a [Value], Error> {
    match target::resolve_path(root, path) {
        ResolvedPath::Value(Value::Array(values)) => Ok(values),
        ResolvedPath::Value(other) => {
            let text = format!(
                "Cannot apply array updates to non-array element {}: {}",
                path.last().map_or("", String::as_str),
                shell(other.as_ref())
            );
            Err(Error::new(Kind::Invalid, 2, text))
        }
        ResolvedPath::Missing | ResolvedPath::Blocked(_) => {
            let text = format!(
                "The path '{}' must exist in the document in order to apply array updates.",
                path.join(".")
            );
            Err(Error::new(Kind::Invalid, 2, text))
        }
    }
}
