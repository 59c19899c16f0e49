//! Sets computed fields in documents (`$addFields`): a tree of names with expressions as leaves.
//!
//! All expressions are evaluated over the original document before the new one is written:
//! `{$set: {a: "$b", b: "$a"}}` swaps the two. Existing fields keep their position; new ones are
//! appended.

use std::collections::HashMap;

use document::{ArrayRef, DocBuf, DocBuilder, DocRef, Document, Reader, Value, ValueRef};
use evaluation::{Context, Error, Evaluated, Growth, MAX_MADE_BYTES, owned_bytes, too_large};

use crate::expr::{Env, Expr};

/// Maximum number of fields for a linear search; comparing a few short names is faster than hashing
/// one.
const SEARCHED_IN_ORDER: usize = 8;

/// The fields to set, as a tree. `{"a.b": x, "a.c": y}` is one entry `a` with two fields below. It
/// is a list for the order of new fields, and a map for finding a name.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// Names and their entries, in the order of the specification.
    entries: Vec<(String, Entry)>,
    /// Index into `entries` by name.
    by_name: HashMap<String, usize>,
}

/// The value of a name, or the fields below it. A path cannot be both: `set_at` returns a conflict.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A computed value; a field whose value is missing is removed.
    Value(Expr),
    /// The fields of a subdocument with this name.
    Below(Fields),
}

/// Two paths of which one is a prefix of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict;

impl Fields {
    /// Creates a tree without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether no field is set.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sets an expression at a path; fails if another path ends there or passes through.
    pub fn set_at(&mut self, path: &[&str], expr: Expr) -> Result<(), Conflict> {
        let Some((name, rest)) = path.split_first() else { return Err(Conflict) };
        let at = self.by_name.get(*name).and_then(|at| self.entries.get_mut(*at));
        match (at.map(|(_, entry)| entry), rest) {
            (None, []) => self.push_entry(name, Entry::Value(expr)),
            (None, rest) => {
                let mut below = Self::new();
                below.set_at(rest, expr)?;
                self.push_entry(name, Entry::Below(below));
            }
            (Some(Entry::Below(below)), rest) if !rest.is_empty() => below.set_at(rest, expr)?,
            _ => return Err(Conflict),
        }
        Ok(())
    }

    fn push_entry(&mut self, name: &str, entry: Entry) {
        self.by_name.insert(name.to_owned(), self.entries.len());
        self.entries.push((name.to_owned(), entry));
    }

    /// Returns the document with the fields set. Fails if it exceeds the maximum size between
    /// stages.
    pub fn apply_to(&self, document: DocRef<'_>, context: &Context) -> Result<DocBuf, Error> {
        let env = Env::new(document, context);
        let mut growth = env.new_growth();
        let done = self.evaluate_entries(&env, &mut growth)?;
        // Estimated capacity, since most stages add few fields.
        let size = if let DocRef::Raw(bytes) = document { bytes.len() + 64 } else { 128 };
        let mut builder = DocBuilder::with_buffer(Vec::with_capacity(size));
        write_document(&mut builder, document, &done, &mut growth)?;
        Ok(builder.finish())
    }

    /// Evaluates all expressions and counts their memory together. Results are borrowed from the
    /// document where possible, so that copying a field costs no memory.
    fn evaluate_entries<'e>(
        &'e self,
        env: &Env<'e>,
        growth: &mut Growth<'_>,
    ) -> Result<Vec<EvaluatedField<'e>>, Error> {
        let one = |(name, entry): &'e (String, Entry)| {
            Ok(match entry {
                Entry::Value(expr) => {
                    let got = expr.evaluate_borrowed(&env.with_held(growth.memory_bytes())?)?;
                    // Borrowed values need no memory until they are written.
                    growth.hold_beside(owned_bytes(&got))?;
                    EvaluatedField { name, value: Some(got), below: Vec::new() }
                }
                Entry::Below(fields) => EvaluatedField {
                    name,
                    value: None,
                    below: fields.evaluate_entries(env, growth)?,
                },
            })
        };
        self.entries.iter().map(one).collect()
    }
}

/// The evaluated value of a name, or of the fields below it.
#[derive(Debug)]
struct EvaluatedField<'e> {
    name: &'e str,
    /// The computed value; `None` if the name only has fields below it.
    value: Option<Evaluated<'e>>,
    below: Vec<EvaluatedField<'e>>,
}

/// Writes a document with its entries: existing fields, replaced or extended, then new ones. If the
/// document repeats a name, each of its fields is replaced.
fn write_document(
    builder: &mut DocBuilder,
    document: DocRef<'_>,
    done: &[EvaluatedField<'_>],
    growth: &mut Growth<'_>,
) -> Result<(), Error> {
    let mut seen = vec![false; done.len()];
    // A map pays off for many entries only.
    let many = SEARCHED_IN_ORDER < done.len();
    let places = (0..).zip(done).filter(|_| many).map(|(at, entry)| (entry.name, at));
    let places: HashMap<&str, usize> = places.collect();
    let mut entry_of = |name: &str| {
        let at = match many {
            true => *places.get(name)?,
            false => done.iter().position(|entry| entry.name == name)?,
        };
        if let Some(seen) = seen.get_mut(at) {
            *seen = true;
        }
        done.get(at)
    };
    match document {
        DocRef::Raw(bytes) => {
            for element in Reader::new(bytes) {
                match entry_of(element.name_str()) {
                    Some(entry) => write_entry(builder, entry, element.decode(), growth)?,
                    None => builder.append_raw(element.name, element.kind, element.value),
                }
            }
        }
        DocRef::Tree(_) => {
            for (name, value) in document.iter() {
                match entry_of(name) {
                    Some(entry) => write_entry(builder, entry, Some(value), growth)?,
                    None => builder.append(name, value),
                }
            }
        }
    }
    for (entry, seen) in done.iter().zip(seen) {
        if !seen {
            write_entry(builder, entry, None, growth)?;
        }
    }
    Ok(())
}

/// Writes an entry in place of the existing value. Fields below are set in the existing document,
/// in each element of an array, or in a new document. A missing value omits the field.
fn write_entry(
    builder: &mut DocBuilder,
    entry: &EvaluatedField<'_>,
    held: Option<ValueRef<'_>>,
    growth: &mut Growth<'_>,
) -> Result<(), Error> {
    let mut written = Ok(());
    let before = builder.len();
    match (&entry.value, held) {
        (Some(value), _) => {
            if let Some(value) = value.value() {
                builder.append(entry.name, value);
            }
        }
        (None, Some(ValueRef::Document(fields))) => {
            builder.document(entry.name, |builder| {
                written = write_document(builder, fields, &entry.below, growth);
            });
        }
        (None, Some(ValueRef::Array(values))) => {
            let values = in_array(values, &entry.below, growth)?;
            builder.append(entry.name, ValueRef::Array(ArrayRef::Tree(&values)));
        }
        (None, _) => {
            let nothing = Document::new();
            let nothing = DocRef::Tree(&nothing);
            builder.document(entry.name, |builder| {
                written = write_document(builder, nothing, &entry.below, growth);
            });
        }
    }
    // Checked per field, so that a document that grows too large is refused early.
    if MAX_MADE_BYTES < builder.len() {
        return Err(too_large(builder.len()));
    }
    // Fields below are counted when they are written.
    if entry.below.is_empty() {
        growth.count_written(builder.len().saturating_sub(before))?;
    }
    written
}

/// Sets the fields in every element of an array, at any depth of nested arrays. Elements that are
/// not documents are replaced by documents. The values are computed already, so every element gets
/// the same.
fn in_array(
    values: ArrayRef<'_>,
    below: &[EvaluatedField<'_>],
    growth: &mut Growth<'_>,
) -> Result<Vec<Value>, Error> {
    let mut one = |value: ValueRef<'_>| match value {
        ValueRef::Array(values) => Ok(Value::Array(in_array(values, below, growth)?)),
        other => {
            let nothing = Document::new();
            let fields = other.as_document().unwrap_or(DocRef::Tree(&nothing));
            let mut builder = DocBuilder::new();
            write_document(&mut builder, fields, below, growth)?;
            growth.copy_value(ValueRef::Document(builder.finish().as_ref()))
        }
    };
    values.iter().map(&mut one).collect()
}
