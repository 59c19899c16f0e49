//! All operators of one update: expanded to concrete paths of a document and applied in order.
//!
//! A path with positional steps (`$`, `$[]`, `$[x]`) means several concrete paths, which depend on
//! the document. All of them are found before anything is changed, as the changes would move
//! elements. They are then applied in the order of their paths, as MongoDB does; two that touch the
//! same place are an error.
//!
//! ```text
//! {$inc: {"a.$[].n": 1}}  over {a: [{n: 1}, {n: 2}]}   ->   a.0.n, a.1.n
//! ```

use std::collections::HashMap;

use document::{DocRef, Document, Value, shell};
use evaluation::{Context, Error, Growth, Kind};
use memory::Share;

use super::{
    Operator, check,
    operator::TargetSpot,
    path::{EditPath, EditStep, array_index, check_concrete, check_conflicts, compare_names},
    place::{self, PlaceFound},
};
use crate::{filter::Filter, limits::MAX_NAMED_BYTES};

/// One operator at one path.
#[derive(Clone, Debug)]
pub struct PathOperator {
    /// Where.
    pub path: EditPath,
    /// What.
    pub operator: Operator,
}

/// A filter of array elements that paths refer to by name.
#[derive(Clone, Debug)]
pub struct ElementFilter {
    /// Its name: the `x` of `$[x]`.
    pub name: String,
    /// A filter of documents that hold the element under the name.
    pub filter: Filter,
}

/// The operators of one update, checked against each other.
#[derive(Clone, Debug)]
pub struct Operators {
    leaves: Vec<PathOperator>,
    filters: Vec<ElementFilter>,
    /// Where each filter of elements stands, by its name.
    by_name: HashMap<String, usize>,
    /// Whether a path has a positional step.
    dynamic: bool,
}

/// A concrete path with its operator.
struct ConcreteTarget<'a> {
    path: Vec<String>,
    operator: &'a Operator,
}

impl Operators {
    /// Checks the operators of an update: refuses those that conflict, and names of filters that
    /// are missing.
    pub fn new(leaves: Vec<PathOperator>, filters: Vec<ElementFilter>) -> Result<Self, Error> {
        let by_name: HashMap<String, usize> =
            (0..).zip(&filters).map(|(at, filter)| (filter.name.clone(), at)).collect();
        let mut paths = Vec::new();
        for leaf in &leaves {
            paths.push(&leaf.path);
            if let Operator::RenameFrom(source) = &leaf.operator {
                paths.push(source);
            }
            for step in leaf.path.steps() {
                let EditStep::Filtered(name) = step else { continue };
                if !by_name.contains_key(name) {
                    let text = format!(
                        "No array filter found for identifier '{name}' in path '{}'",
                        leaf.path
                    );
                    return Err(Error::new(Kind::Invalid, 2, text));
                }
            }
        }
        // Two operators on one path, or on a path and what is inside it, have no order that the
        // request could mean.
        check_conflicts(&paths)?;
        drop(paths);
        let mut leaves = leaves;
        leaves.sort_by(|a, b| a.path.compare_paths(&b.path));
        let dynamic = leaves.iter().any(|leaf| leaf.path.is_dynamic());
        Ok(Self { leaves, filters, by_name, dynamic })
    }

    /// The operators in the order they are applied.
    pub fn leaf_operators(&self) -> &[PathOperator] {
        &self.leaves
    }

    /// The filters of array elements.
    pub fn element_filters(&self) -> &[ElementFilter] {
        &self.filters
    }

    /// Whether an operator changes the field of this name at the root, or something inside it.
    pub(super) fn touches_root(&self, name: &str) -> bool {
        self.leaves.iter().any(|leaf| {
            let from = match &leaf.operator {
                Operator::RenameFrom(source) => Some(source.root()),
                _ => None,
            };
            leaf.path.root() == name || from == Some(name)
        })
    }

    /// Whether a path has the step `$`, for which the filter's matching element is needed.
    pub(super) fn is_positional(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.path.steps().contains(&EditStep::Matched))
    }

    /// Applies them to a document; returns it with whether any bit of it changed. `inserted` says
    /// that an upsert makes the document.
    pub(super) fn apply_to(
        &self,
        document: Document,
        inserted: bool,
        filter: Option<&Filter>,
        original: Option<DocRef<'_>>,
        context: &Context,
    ) -> Result<(Document, bool), Error> {
        let matched = if self.is_positional() {
            let index =
                filter.zip(original).map(|(filter, old)| filter.matched_index(old, context));
            index.transpose()?.flatten()
        } else {
            None
        };
        // Messages say which document it was.
        let id = match document.get("_id") {
            Some(id) => format!("_id: {}", shell(id.as_ref())),
            None => "no id".to_owned(),
        };
        let mut root = Value::Document(document);
        let mut named = context.holding.share();
        let targets = self.concrete_targets(&mut root, inserted, matched, context, &mut named)?;
        let mut changed = false;
        let mut growth = Growth::with_held(0, context);
        for target in &targets {
            // Before it is put there: many operators could build a document many times too large.
            growth.hold_beside(target.operator.added_memory())?;
            let spot = TargetSpot { path: &target.path, id: &id, context };
            changed |= match target.operator {
                Operator::RenameFrom(source) => rename_field(&mut root, source, spot, &mut growth)?,
                operator => apply_one(&mut root, operator, spot, &mut growth)?,
            };
        }
        match root {
            Value::Document(document) => Ok((document, changed)),
            _ => Ok((Document::new(), changed)),
        }
    }

    /// The concrete paths of all operators in the order in which they are applied.
    fn concrete_targets(
        &self,
        root: &mut Value,
        inserted: bool,
        matched: Option<usize>,
        context: &Context,
        named: &mut Share,
    ) -> Result<Vec<ConcreteTarget<'_>>, Error> {
        let mut targets = Vec::with_capacity(self.leaves.len());
        for leaf in &self.leaves {
            // It is checked all the same: its positional steps have to fit the document.
            let skipped = matches!(leaf.operator, Operator::SetOnInsert(_)) && !inserted;
            if skipped && !leaf.path.is_dynamic() {
                continue;
            }
            if !leaf.path.is_dynamic() {
                targets.push(ConcreteTarget {
                    path: leaf.path.field_names(),
                    operator: &leaf.operator,
                });
                continue;
            }
            let mut expansion = Expansion {
                path: &leaf.path,
                operators: self,
                matched,
                context,
                named,
                out: vec![],
            };
            expansion.expand_from(root, &mut Vec::new())?;
            let target = |path| ConcreteTarget { path, operator: &leaf.operator };
            if !skipped {
                targets.extend(expansion.out.into_iter().map(target));
            }
        }
        if self.dynamic {
            // Concrete paths may be in another order than those they came from.
            targets.sort_by(|a, b| compare_names(&a.path, &b.path));
            check_concrete(targets.iter().map(|target| &target.path))?;
        }
        Ok(targets)
    }
}

/// About what a name of a concrete path takes beside its bytes, and a path beside its names.
const PLACE: usize = 32;

/// What turning a path into concrete ones needs.
struct Expansion<'a> {
    path: &'a EditPath,
    operators: &'a Operators,
    /// The index that the filter matched at, for `$`.
    matched: Option<usize>,
    context: &'a Context,
    /// What the paths of all operators hold.
    named: &'a mut Share,
    out: Vec<Vec<String>>,
}

impl Expansion<'_> {
    /// Expands the steps after the concrete path `before`. The number of paths multiplies with
    /// every positional step, so their memory is counted.
    fn expand_from(&mut self, root: &mut Value, before: &mut Vec<String>) -> Result<(), Error> {
        let Some(step) = self.path.steps().get(before.len()) else {
            let names: usize = before.iter().map(|name| PLACE + name.len()).sum();
            self.context.budget.spend_bounded(names)?;
            self.named.grow(PLACE + names)?;
            if MAX_NAMED_BYTES < self.named.held_bytes() {
                let text = "the positional operators of an update name more places than allowed";
                return Err(Error::new(Kind::TooLarge, 146, text));
            }
            self.out.push(before.clone());
            return Ok(());
        };
        let indexes = match step {
            EditStep::Name(name) => {
                before.push(name.clone());
                self.expand_from(root, before)?;
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
            self.expand_from(root, before)?;
            before.pop();
        }
        Ok(())
    }

    /// The indexes of the elements that a named filter takes.
    fn matching_indexes(&self, name: &str, values: &[Value]) -> Result<Vec<usize>, Error> {
        let Operators { filters, by_name, .. } = self.operators;
        let Some(filter) = by_name.get(name).and_then(|at| filters.get(*at)) else {
            return Ok(Vec::new());
        };
        let mut indexes = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let mut wrapped = Document::new();
            wrapped.push(name, value.clone());
            if filter.filter.matches(DocRef::Tree(&wrapped), self.context)? {
                indexes.push(at);
            }
        }
        Ok(indexes)
    }
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

/// Applies an operator at a concrete path; a field that is missing is made by those that do.
fn apply_one(
    root: &mut Value,
    operator: &Operator,
    spot: TargetSpot<'_>,
    growth: &mut Growth<'_>,
) -> Result<bool, Error> {
    if matches!(operator, Operator::Unset) {
        return Ok(unset_field(root, spot.path));
    }
    match place::find_place(root, spot.path) {
        PlaceFound::Value(value) => operator.modify_value(value, spot),
        PlaceFound::Blocked(blocked) if operator.creates_field() => Err(blocked.cannot_create()),
        PlaceFound::Blocked(blocked) => Err(blocked.cannot_use(&spot.path.join("."))),
        PlaceFound::Missing => match operator.new_value(spot) {
            Some(value) => place::create_place(root, spot.path, value, growth).map(|()| true),
            None => Ok(false),
        },
    }
}

/// Takes a field out; an element of an array becomes null, so that the others keep their places.
fn unset_field(root: &mut Value, path: &[String]) -> bool {
    let in_array = match path.split_last() {
        Some((_, before)) => {
            matches!(place::find_place(root, before), PlaceFound::Value(Value::Array(_)))
        }
        None => false,
    };
    match place::remove_place(root, path) {
        Some(old) => !(in_array && matches!(old, Value::Null)),
        None => false,
    }
}

/// Moves a field. Neither end may lie in an array.
fn rename_field(
    root: &mut Value,
    source: &EditPath,
    spot: TargetSpot<'_>,
    growth: &mut Growth<'_>,
) -> Result<bool, Error> {
    let from = source.field_names();
    match place::find_place(root, &from) {
        PlaceFound::Missing => return Ok(false),
        PlaceFound::Blocked(blocked) => {
            let text = format!(
                "cannot use the part ({} of {source}) to traverse the element ({})",
                blocked.before, blocked.element
            );
            return Err(Error::new(Kind::Invalid, 28, text));
        }
        PlaceFound::Value(_) => {}
    }
    if spot.path.first().is_some_and(|part| part == "_id") {
        return Err(check::id_would_change());
    }
    refuse_array(root, &from, "source", spot)?;
    refuse_array(root, spot.path, "destination", spot)?;
    if let PlaceFound::Blocked(blocked) = place::find_place(root, spot.path) {
        return Err(blocked.cannot_create());
    }
    let Some(value) = place::remove_place(root, &from) else { return Ok(false) };
    match place::find_place(root, spot.path) {
        PlaceFound::Value(held) => *held = value,
        _ => place::create_place(root, spot.path, value, growth)?,
    }
    Ok(true)
}

/// Neither end of a renaming may lie in an array.
fn refuse_array(
    root: &mut Value,
    path: &[String],
    which: &str,
    spot: TargetSpot<'_>,
) -> Result<(), Error> {
    for (at, part) in path.iter().enumerate().skip(1) {
        let before = path.get(..at).unwrap_or_default();
        let inside = matches!(place::find_place(root, before), PlaceFound::Value(Value::Array(_)));
        if inside && array_index(part).is_some() {
            let text = format!(
                "The {which} field cannot be an array element, '{}' in doc with {} has an array \
                 field called '{}'",
                path.join("."),
                spot.id,
                before.last().map_or("", String::as_str)
            );
            return Err(Error::new(Kind::Invalid, 2, text));
        }
    }
    Ok(())
}
