//! The initial document of an upsert, from the equalities of the filter.

use document::{Document, MAX_STORED_DEPTH, Path, Value};
use evaluation::{Context, Error, Growth, Kind, STEP};

use super::{check, target};
use crate::filter::{Comparison, Filter, PathTest};

/// Returns the initial document of an upsert: the fields that the filter requires to equal a value.
/// Fails if two equalities concern the same path, or one path is inside the other.
pub(super) fn from_equalities(filter: &Filter, context: &Context) -> Result<Document, Error> {
    let mut equalities = Vec::new();
    gather_equalities(filter, &mut equalities);
    refuse_doubles(&equalities)?;
    // Sorted by path, so that the order within the filter does not matter.
    equalities.sort_by_key(|(path, _)| path.as_str());
    let mut root = Value::Document(Document::new());
    let mut growth = Growth::with_held(0, context);
    for (path, value) in equalities {
        // A filter's path may be of any length. Documents are processed, even dropped, by
        // recursion, so a path that is too long is refused before its document is built.
        if MAX_STORED_DEPTH < path.len() {
            return Err(check::too_deep());
        }
        context.budget.spend(STEP * path.len())?;
        let parts: Vec<String> = path.parts().map(str::to_owned).collect();
        target::create_path(&mut root, &parts, value.clone(), &mut growth)?;
    }
    match root {
        Value::Document(document) => Ok(id_first(document)),
        _ => Ok(Document::new()),
    }
}

/// Returns the `_id` that the filter requires, if any. An equality inside the `_id` is an error: an
/// `_id` must be given as a whole.
pub(super) fn id_of(filter: &Filter) -> Result<Option<Value>, Error> {
    let mut equalities = Vec::new();
    gather_equalities(filter, &mut equalities);
    equalities.retain(|(path, _)| path.first() == "_id");
    refuse_doubles(&equalities)?;
    if let Some((path, _)) = equalities.iter().find(|(path, _)| path.len() > 1) {
        let text =
            format!("field at '_id' must be exactly specified, field at sub-path '{path}'found");
        return Err(Error::new(Kind::Invalid, 111, text));
    }
    let id = equalities.into_iter().find(|(path, _)| path.as_str() == "_id");
    Ok(id.map(|(_, value)| value.clone()))
}

/// Moves the `_id` to the front, where stored documents have it.
pub(super) fn id_first(mut document: Document) -> Document {
    let first = document.fields().first().is_some_and(|(name, _)| name == "_id");
    if !first && let Some(id) = document.remove("_id") {
        document.insert_at(0, "_id", id);
    }
    document
}

/// Collects the equalities that every matching document must meet: those of the filter and its
/// conjunctions, of `$or` with one branch and of `$in` with one value.
fn gather_equalities<'a>(filter: &'a Filter, found: &mut Vec<(&'a Path, &'a Value)>) {
    match filter {
        Filter::And(all) => all.iter().for_each(|filter| gather_equalities(filter, found)),
        Filter::Or(any) => {
            if let [only] = any.as_slice() {
                gather_equalities(only, found);
            }
        }
        Filter::Path(path, PathTest::Compare(Comparison::Eq, value)) => found.push((path, value)),
        Filter::Path(path, PathTest::In(set)) if set.patterns().is_empty() => {
            if let [only] = set.values() {
                found.push((path, only));
            }
        }
        _ => {}
    }
}

/// Fails if two equalities concern the same path, or one path is inside the other.
fn refuse_doubles(equalities: &[(&Path, &Value)]) -> Result<(), Error> {
    let mut paths: Vec<&Path> = equalities.iter().map(|(path, _)| *path).collect();
    paths.sort_by(|a, b| a.parts().cmp(b.parts()));
    for pair in paths.windows(2) {
        // Sorted part by part, a path comes right before those inside it.
        let [outer, inner] = pair else { continue };
        let text = if outer == inner {
            format!("cannot infer query fields to set, path '{inner}' is matched twice")
        } else if outer.conflicts_with(inner) {
            format!(
                "cannot infer query fields to set, both paths '{inner}' and '{outer}' are matched"
            )
        } else {
            continue;
        };
        return Err(Error::new(Kind::Invalid, 54, text));
    }
    Ok(())
}
