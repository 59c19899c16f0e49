//! All operators of one update, expanded to concrete paths of a document and applied in order.
//!
//! A path with positional steps (`$`, `$[]`, `$[x]`) expands to several concrete paths, which
//! depend on the document. All of them are found before anything is changed, as changes would move
//! elements. They are then applied in the order of their paths, as in MongoDB; conflicting paths
//! are an error.
//!
//! ```text
//! {$inc: {"a.$[].n": 1}}  over {a: [{n: 1}, {n: 2}]}   ->   a.0.n, a.1.n
//! ```

use std::{borrow::Cow, collections::HashMap, mem};

use document::{DocRef, Document, Value, shell};
use evaluation::{Context, Error, Growth, Kind, STEP};
use memory::Share;

use super::{
    Operator, check,
    expansion::{ElementFilter, Expansion},
    operator::TargetSpot,
    path::{EditPath, EditStep, array_index, check_concrete, check_conflicts, compare_names},
    target::{self, ResolvedPath},
};
use crate::filter::Filter;

/// Units of work charged per field for searching it, or for moving it when a preceding field is
/// removed.
const MOVED: usize = 16;

/// One operator at one path.
#[derive(Clone, Debug)]
pub struct PathOperator {
    /// The path that the operator changes.
    pub path: EditPath,
    /// The operator with its operand.
    pub operator: Operator,
}

/// The operators of one update, checked for conflicts.
#[derive(Clone, Debug)]
pub struct Operators {
    /// The operators in the order of application: sorted by path.
    leaves: Vec<PathOperator>,
    /// The filters of array elements in the order of the request.
    filters: Vec<ElementFilter>,
    /// Index into `filters` by identifier.
    by_name: HashMap<String, usize>,
    /// Whether a path has a positional step.
    dynamic: bool,
}

/// An operator with a path whose positional parts were replaced by array indexes.
struct ConcreteTarget<'a> {
    path: Vec<String>,
    operator: &'a Operator,
}

impl Operators {
    /// Checks the operators of an update: fails if paths conflict, or if a named filter is missing.
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
        // Operators on one path, or on a path and one inside it, have no defined order.
        check_conflicts(&paths)?;
        drop(paths);
        let mut leaves = leaves;
        leaves.sort_by(|a, b| a.path.compare_paths(&b.path));
        let dynamic = leaves.iter().any(|leaf| leaf.path.is_dynamic());
        Ok(Self { leaves, filters, by_name, dynamic })
    }

    /// Returns the operators in the order of application.
    pub fn leaf_operators(&self) -> &[PathOperator] {
        &self.leaves
    }

    /// Returns the filters of array elements.
    pub fn element_filters(&self) -> &[ElementFilter] {
        &self.filters
    }

    /// Returns whether an operator changes the root field with this name, or something inside it.
    pub(super) fn touches_root(&self, name: &str) -> bool {
        self.leaves.iter().any(|leaf| {
            let from = match &leaf.operator {
                Operator::RenameFrom(source) => Some(source.root()),
                _ => None,
            };
            leaf.path.root() == name || from == Some(name)
        })
    }

    /// Returns whether a path has the step `$`, which needs the index at which the filter matched.
    pub(super) fn is_positional(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.path.steps().contains(&EditStep::Matched))
    }

    /// Applies the operators to a document; returns it with whether any bit changed. `inserted` is
    /// true if an upsert creates the document.
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
        // Formatted before the edit, for error messages.
        let id = match document.get("_id") {
            Some(id) => format!("_id: {}", shell(id.as_ref())),
            None => "no id".to_owned(),
        };
        let mut root = Value::Document(document);
        let mut named = context.operation_memory.share();
        let targets = self.concrete_targets(&mut root, inserted, matched, context, &mut named)?;
        let mut changed = false;
        let mut growth = Growth::with_held(0, context);
        let mut vacated = Vec::new();
        for target in &targets {
            context.budget.spend(STEP * target.path.len())?;
            // The added memory is counted beforehand, since many operators could build a document
            // many times larger than one that can be stored.
            growth.hold_beside(target.operator.added_memory())?;
            let spot = TargetSpot { path: &target.path, id: &id, context };
            changed |= match target.operator {
                Operator::RenameFrom(source) => {
                    rename_field(&mut root, source, spot, &mut growth, &mut vacated)?
                }
                Operator::Unset => unset_field(&mut root, spot.path, &mut vacated),
                operator => apply_one(&mut root, operator, spot, &mut growth)?,
            };
        }
        remove_vacated(&mut root, vacated, context)?;
        match root {
            Value::Document(document) => Ok((document, changed)),
            _ => Ok((Document::new(), changed)),
        }
    }

    /// Returns the concrete paths of all operators in the order of application.
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
            // `$setOnInsert` with positional steps is expanded even if it is not applied, since the
            // steps have to fit the document.
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
            let expansion = Expansion {
                path: &leaf.path,
                filters: &self.filters,
                by_name: &self.by_name,
                matched,
                context,
            };
            let paths = expansion.concrete_paths(root, named)?;
            let target = |path| ConcreteTarget { path, operator: &leaf.operator };
            if !skipped {
                targets.extend(paths.into_iter().map(target));
            }
        }
        if self.dynamic {
            // Concrete paths may sort differently from those with positional steps.
            targets.sort_by(|a, b| compare_names(&a.path, &b.path));
            check_concrete(targets.iter().map(|target| &target.path))?;
        }
        Ok(targets)
    }
}

/// Applies an operator at a concrete path; creates a missing field if the operator does that.
fn apply_one(
    root: &mut Value,
    operator: &Operator,
    spot: TargetSpot<'_>,
    growth: &mut Growth<'_>,
) -> Result<bool, Error> {
    match target::resolve_path(root, spot.path) {
        ResolvedPath::Value(value) => operator.modify_value(value, spot),
        ResolvedPath::Blocked(blocked) if operator.creates_field() => Err(blocked.cannot_create()),
        ResolvedPath::Blocked(blocked) => Err(blocked.cannot_use(&spot.path.join("."))),
        ResolvedPath::Missing => match operator.new_value(spot) {
            Some(value) => target::create_path(root, spot.path, value, growth).map(|()| true),
            None => Ok(false),
        },
    }
}

/// Removes a field. An element of an array is set to null, so that the others keep their positions.
/// A field of a document is recorded in `vacated` and removed after all operators were applied; as
/// paths do not conflict, no operator reads the field before.
fn unset_field<'p>(
    root: &mut Value,
    path: &'p [String],
    vacated: &mut Vec<Cow<'p, [String]>>,
) -> bool {
    let Some((last, before)) = path.split_last() else { return false };
    match target::resolve_path(root, before) {
        ResolvedPath::Value(Value::Document(fields)) => {
            let there = fields.get_mut(last).is_some();
            vacated.extend(there.then_some(Cow::Borrowed(path)));
            there
        }
        ResolvedPath::Value(Value::Array(values)) => {
            let held = array_index(last).and_then(|at| values.get_mut(at));
            held.is_some_and(|held| !matches!(mem::replace(held, Value::Null), Value::Null))
        }
        _ => false,
    }
}

/// Removes the recorded fields, those of one document together: individual removals would move the
/// fields after them each time.
fn remove_vacated(
    root: &mut Value,
    mut vacated: Vec<Cow<'_, [String]>>,
    context: &Context,
) -> Result<(), Error> {
    // Sorted, so that those of one document are adjacent.
    vacated.sort_unstable();
    let before = |path: &[String]| path.len().saturating_sub(1);
    for beside in vacated.chunk_by(|a, b| a.get(..before(a)) == b.get(..before(b))) {
        let Some(path) = beside.first().and_then(|path| path.get(..before(path))) else { continue };
        if let ResolvedPath::Value(Value::Document(fields)) = target::resolve_path(root, path) {
            context.budget.spend(fields.len() * MOVED + beside.len() * STEP)?;
            let names = beside.iter().filter_map(|path| path.last());
            fields.remove_all(names.map(String::as_str).collect());
        }
    }
    Ok(())
}

/// Moves a field, recording its old path in `vacated`. Neither path may be in an array.
fn rename_field(
    root: &mut Value,
    source: &EditPath,
    spot: TargetSpot<'_>,
    growth: &mut Growth<'_>,
    vacated: &mut Vec<Cow<'_, [String]>>,
) -> Result<bool, Error> {
    let from = source.field_names();
    match target::resolve_path(root, &from) {
        ResolvedPath::Missing => return Ok(false),
        ResolvedPath::Blocked(blocked) => {
            let text = format!(
                "cannot use the part ({} of {source}) to traverse the element ({})",
                blocked.before, blocked.element
            );
            return Err(Error::new(Kind::Invalid, 28, text));
        }
        ResolvedPath::Value(_) => {}
    }
    if spot.path.first().is_some_and(|part| part == "_id") {
        return Err(check::id_would_change());
    }
    refuse_array(root, &from, "source", spot)?;
    refuse_array(root, spot.path, "destination", spot)?;
    if let ResolvedPath::Blocked(blocked) = target::resolve_path(root, spot.path) {
        return Err(blocked.cannot_create());
    }
    let ResolvedPath::Value(held) = target::resolve_path(root, &from) else { return Ok(false) };
    let value = mem::replace(held, Value::Null);
    vacated.push(Cow::Owned(from));
    match target::resolve_path(root, spot.path) {
        ResolvedPath::Value(held) => *held = value,
        _ => target::create_path(root, spot.path, value, growth)?,
    }
    Ok(true)
}

/// Fails if a value on a path of `$rename` is an array.
fn refuse_array(
    root: &mut Value,
    path: &[String],
    which: &str,
    spot: TargetSpot<'_>,
) -> Result<(), Error> {
    for (at, part) in path.iter().enumerate().skip(1) {
        let before = path.get(..at).unwrap_or_default();
        let inside =
            matches!(target::resolve_path(root, before), ResolvedPath::Value(Value::Array(_)));
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
