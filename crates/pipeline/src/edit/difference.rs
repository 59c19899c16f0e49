//! The difference between two versions of a document, in the form of an update description: fields
//! that have a new value, removed fields, and arrays that have become shorter.
//!
//! ```text
//!  {a: 1, b: {c: 1, d: 2}, e: [1, 2, 3]}
//!  {a: 2, b: {c: 1},       e: [1, 5]}
//!  => {updatedFields: {a: 2, "e.1": 5}, removedFields: ["b.d"],
//!      truncatedArrays: [{field: "e", newSize: 2}]}
//! ```
//!
//! Applied to the first version, the description yields the second one, except for the order of
//! fields. Documents without a common field, and arrays of which more than half has changed, are
//! reported as a whole.

use document::{ArrayRef, DocRef, Document, Value, ValueRef, doc};

use super::check;

/// A step of a path: the name of a field, or the index of an array element.
#[derive(Clone, Debug)]
enum Step {
    Field(String),
    Index(i32),
}

/// The differences found so far.
#[derive(Default)]
struct Found {
    updated: Vec<(Vec<Step>, Value)>,
    removed: Vec<Vec<Step>>,
    truncated: Vec<(Vec<Step>, usize)>,
}

/// Returns the update description of an edit. `disambiguatedPaths` has the parts of ambiguous
/// paths: a field name contains a dot, or a number follows the first part.
pub fn update_description(before: DocRef<'_>, after: DocRef<'_>) -> Document {
    let mut found = Found::default();
    found.compare_documents(before, after, &mut Vec::new());
    found.into_description()
}

impl Found {
    fn compare_documents(&mut self, before: DocRef<'_>, after: DocRef<'_>, path: &mut Vec<Step>) {
        for (name, _) in before.iter() {
            if after.get(name).is_none() {
                path.push(Step::Field(name.to_owned()));
                self.removed.push(path.clone());
                path.pop();
            }
        }
        for (name, new) in after.iter() {
            path.push(Step::Field(name.to_owned()));
            match before.get(name) {
                Some(old) => self.compare_values(old, new, path),
                None => self.updated.push((path.clone(), new.to_value())),
            }
            path.pop();
        }
    }

    fn compare_values(&mut self, old: ValueRef<'_>, new: ValueRef<'_>, path: &mut Vec<Step>) {
        match (old, new) {
            (ValueRef::Document(old), ValueRef::Document(new)) if share_a_field(old, new) => {
                self.compare_documents(old, new, path);
            }
            (ValueRef::Array(old), ValueRef::Array(new)) => self.compare_arrays(old, new, path),
            (old, new) if is_identical(old, new) => {}
            _ => self.updated.push((path.clone(), new.to_value())),
        }
    }

    /// Compares arrays element by element. Reports the whole array if more than half of its elements
    /// have changed, unless elements were only appended or removed at the end.
    fn compare_arrays(&mut self, old: ArrayRef<'_>, new: ArrayRef<'_>, path: &mut Vec<Step>) {
        let (mut inner, mut appended, mut changed) = (Self::default(), 0, 0);
        let mut elements = old.iter();
        for (index, value) in (0_i32..).zip(new.iter()) {
            path.push(Step::Index(index));
            match elements.next() {
                Some(held) => {
                    let before = inner.count();
                    inner.compare_values(held, value, path);
                    changed += usize::from(before < inner.count());
                }
                None => {
                    inner.updated.push((path.clone(), value.to_value()));
                    appended += 1;
                }
            }
            path.pop();
        }
        let (held, size) = (old.len(), new.len());
        if size < held {
            inner.truncated.push((path.clone(), size));
        }
        if 0 < changed && size < 2 * (changed + appended) {
            self.updated.push((path.clone(), Value::Array(new.to_values())));
        } else {
            self.updated.append(&mut inner.updated);
            self.removed.append(&mut inner.removed);
            self.truncated.append(&mut inner.truncated);
        }
    }

    fn count(&self) -> usize {
        self.updated.len() + self.removed.len() + self.truncated.len()
    }

    fn into_description(self) -> Document {
        let mut ambiguous = Document::new();
        let mut shown = |path: &[Step]| {
            let text = dotted(path);
            if is_ambiguous(path) && ambiguous.get(&text).is_none() {
                let parts = path.iter().map(|step| match step {
                    Step::Field(name) => Value::String(name.clone()),
                    Step::Index(index) => Value::Int32(*index),
                });
                ambiguous.push(text.clone(), Value::Array(parts.collect()));
            }
            text
        };
        let mut updated = Document::new();
        for (path, value) in self.updated {
            updated.push(shown(&path), value);
        }
        let removed: Vec<Value> =
            self.removed.iter().map(|path| Value::String(shown(path))).collect();
        let truncated: Vec<Value> = self
            .truncated
            .iter()
            .map(|(path, size)| {
                let size = i32::try_from(*size).unwrap_or(i32::MAX);
                Value::Document(doc! { "field": shown(path), "newSize": size })
            })
            .collect();
        doc! {
            "updatedFields": updated,
            "removedFields": Value::Array(removed),
            "truncatedArrays": Value::Array(truncated),
            "disambiguatedPaths": ambiguous,
        }
    }
}

/// Returns whether two documents have a field of the same name; an edit of such a document is
/// reported field by field.
fn share_a_field(a: DocRef<'_>, b: DocRef<'_>) -> bool {
    (a.is_empty() && b.is_empty()) || a.iter().any(|(name, _)| b.get(name).is_some())
}

/// Returns whether two values have the same type and bytes.
fn is_identical(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    a.kind() == b.kind() && check::is_identical(&a.to_value(), &b.to_value())
}

fn dotted(path: &[Step]) -> String {
    let parts = path.iter().map(|step| match step {
        Step::Field(name) => name.clone(),
        Step::Index(index) => index.to_string(),
    });
    parts.collect::<Vec<_>>().join(".")
}

/// Returns whether a path cannot be read back from its text: a field name contains a dot, or is a
/// number and so looks like an index.
fn is_ambiguous(path: &[Step]) -> bool {
    path.iter().enumerate().any(|(place, step)| match step {
        Step::Field(name) => {
            name.contains('.') || (0 < place && name.bytes().all(|byte| byte.is_ascii_digit()))
        }
        Step::Index(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use document::array;

    use super::*;

    fn described(before: &Document, after: &Document) -> Document {
        update_description(DocRef::Tree(before), DocRef::Tree(after))
    }

    #[test]
    fn fields_and_elements_are_reported_by_their_paths() {
        let before = doc! { "_id": 1, "a": 1, "b": doc! { "c": 1, "d": 2 }, "e": array![1, 2, 3] };
        let after = doc! { "_id": 1, "a": 2, "b": doc! { "c": 1 }, "e": array![1, 5], "f": "x" };
        let got = described(&before, &after);
        let want = doc! {
            "updatedFields": doc! { "a": 2, "e.1": 5, "f": "x" },
            "removedFields": array!["b.d"],
            "truncatedArrays": array![doc! { "field": "e", "newSize": 2 }],
            "disambiguatedPaths": doc! {},
        };
        assert_eq!(got, want);
    }

    #[test]
    fn values_of_other_types_and_unlike_documents_are_reported_as_a_whole() {
        let before = doc! { "a": 1, "b": doc! { "x": 1 }, "c": array![1, 2] };
        let after = doc! { "a": 1_i64, "b": doc! { "y": 1 }, "c": array![7, 8] };
        let got = described(&before, &after);
        let want = doc! { "a": 1_i64, "b": doc! { "y": 1 }, "c": array![7, 8] };
        assert_eq!(got.get("updatedFields"), Some(&Value::Document(want)));
        assert_eq!(got.get("removedFields"), Some(&array![]));
    }

    #[test]
    fn paths_that_cannot_be_read_back_are_told_in_parts() {
        let before = doc! { "a.b": 1, "c": doc! { "0": 1 }, "d": array![doc! { "x": 1 }, 2, 3] };
        let after = doc! { "a.b": 2, "c": doc! { "0": 2 }, "d": array![doc! { "x": 2 }, 2, 3] };
        let got = described(&before, &after);
        let paths = doc! { "a.b": array!["a.b"], "c.0": array!["c", "0"] };
        assert_eq!(got.get("disambiguatedPaths"), Some(&Value::Document(paths)));
        let updated = doc! { "a.b": 2, "c.0": 2, "d.0.x": 2 };
        assert_eq!(got.get("updatedFields"), Some(&Value::Document(updated)));
    }
}
