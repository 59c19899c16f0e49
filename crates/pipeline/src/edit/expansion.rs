//! From a path with positional steps to the concrete paths that it means in one document.
//!
//! ```text
//! a.$[].n   over {a: [{n: 1}, {n: 2}]}   ->   a.0.n, a.1.n
//! ```

use std::collections::HashMap;

use document::{DocRef, Document, Value, shell};
use evaluation::{Context, Error, Kind, limits::STEP, memory_of};
use memory::Share;

use super::{
    path::{EditPath, EditStep},
    place::{self, PlaceFound},
};
use crate::{filter::Filter, limits::MAX_NAMED_BYTES};

/// A filter of array elements that paths refer to by name.
#[derive(Clone, Debug)]
pub struct ElementFilter {
    /// Its name: the `x` of `$[x]`.
    pub name: String,
    /// A filter of documents that hold the element under the name.
    pub filter: Filter,
}

/// About what a name of a concrete path takes beside its bytes, and a path beside its names.
const PLACE: usize = 32;

/// What turning a path into concrete ones needs.
pub(super) struct Expansion<'a> {
    pub(super) path: &'a EditPath,
    pub(super) filters: &'a [ElementFilter],
    /// Where each filter of elements stands, by its name.
    pub(super) by_name: &'a HashMap<String, usize>,
    /// The index that the filter matched at, for `$`.
    pub(super) matched: Option<usize>,
    pub(super) context: &'a Context,
}

impl Expansion<'_> {
    /// The concrete paths. `named` is what the paths of all operators hold.
    /// Fails where a positional step does not fit the document.
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
            let names: usize = before.iter().map(|name| PLACE + name.len()).sum();
            self.context.budget.spend_bounded(names)?;
            found.named.grow(PLACE + names)?;
            if MAX_NAMED_BYTES < found.named.held_bytes() {
                let text = "the positional operators of an update name more places than allowed";
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

    /// The indexes of the elements that a named filter takes.
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

/// Concrete paths that were found, and what those of all operators hold.
struct Found<'a> {
    named: &'a mut Share,
    paths: Vec<Vec<String>>,
}

/// The array at a concrete path, for a positional step; an error when there is none.
fn array_at<'a>(root: &'a mut Value, path: &[String]) -> Result<&'a [Value], Error> {
    match place::find_place(root, path) {
        PlaceFound::Value(Value::Array(values)) => Ok(values),
        PlaceFound::Value(other) => {
            let text = format!(
                "Cannot apply array updates to non-array element {}: {}",
                path.last().map_or("", String::as_str),
                shell(other.as_ref())
            );
            Err(Error::new(Kind::Invalid, 2, text))
        }
        PlaceFound::Missing | PlaceFound::Blocked(_) => {
            let text = format!(
                "The path '{}' must exist in the document in order to apply array updates.",
                path.join(".")
            );
            Err(Error::new(Kind::Invalid, 2, text))
        }
    }
}
