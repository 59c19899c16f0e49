//! Computed fields set in documents (`$addFields`): a tree of names with expressions at its ends.
//!
//! All expressions are evaluated over the document as it was, and only then is the new document
//! written: `{$set: {a: "$b", b: "$a"}}` exchanges the two. Fields keep their places; new ones come
//! last.

use std::collections::HashMap;

use document::{ArrayRef, DocBuf, DocBuilder, DocRef, Document, Reader, Value, ValueRef};
use evaluation::{
    Context, Error, Evaluated, Growth, limits::MAX_MADE_BYTES, owned_bytes, too_large,
};

use crate::expr::{Env, Expr};

/// Entries that are looked through in their order; more are found by name.
/// Comparing a few short names is faster than hashing one.
const SEARCHED_IN_ORDER: usize = 8;

/// Fields to set, with those below them.
/// `{"a.b": x, "a.c": y}` is one entry `a` with two fields below. Two lists, as the order matters
/// for new fields and the names for finding them.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// Names in the order in which they were given.
    entries: Vec<(String, Entry)>,
    /// Where each name stands among the entries.
    by_name: HashMap<String, usize>,
}

/// What is set under a name: a value, or fields below it.
/// A path cannot be both: that is a conflict, found when it is set.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A computed value; nothing removes the field.
    Value(Expr),
    /// Fields below.
    Below(Fields),
}

/// Two paths of which one lies below the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict;

impl Fields {
    /// No fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sets an expression at a path; fails when another path ends there or passes through.
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

    /// Adds an entry under a new name.
    fn push_entry(&mut self, name: &str, entry: Entry) {
        self.by_name.insert(name.to_owned(), self.entries.len());
        self.entries.push((name.to_owned(), entry));
    }

    /// The document with the fields set.
    /// It fails when the result grows beyond what a document may have on its way.
    pub fn apply_to(&self, document: DocRef<'_>, context: &Context) -> Result<DocBuf, Error> {
        let env = Env::new(document, context);
        let mut growth = env.new_growth();
        // Everything is evaluated before anything is written.
        let done = self.evaluate_entries(&env, &mut growth)?;
        // Room for the document and a little more: most stages add few fields.
        let size = if let DocRef::Raw(bytes) = document { bytes.len() + 64 } else { 128 };
        let mut builder = DocBuilder::with_buffer(Vec::with_capacity(size));
        write_document(&mut builder, document, &done, &mut growth)?;
        Ok(builder.finish())
    }

    /// Evaluates all expressions; what they hold is counted together.
    /// Results borrow from the document where they can, so that copying a field costs no memory.
    fn evaluate_entries<'e>(
        &'e self,
        env: &Env<'e>,
        growth: &mut Growth<'_>,
    ) -> Result<Vec<Done<'e>>, Error> {
        let one = |(name, entry): &'e (String, Entry)| {
            Ok(match entry {
                Entry::Value(expr) => {
                    let got = expr.evaluate_borrowed(&env.with_held(growth.memory_bytes())?)?;
                    // What is borrowed is written and no more.
                    growth.hold_beside(owned_bytes(&got))?;
                    Done { name, value: Some(got), below: Vec::new() }
                }
                Entry::Below(fields) => {
                    Done { name, value: None, below: fields.evaluate_entries(env, growth)? }
                }
            })
        };
        self.entries.iter().map(one).collect()
    }
}

/// An evaluated entry.
/// It has the form of its entry, so that writing needs no expressions.
#[derive(Debug)]
struct Done<'e> {
    /// The name of the field.
    name: &'e str,
    /// Its value, when it is computed; none where only fields below it are.
    value: Option<Evaluated<'e>>,
    /// Fields inside it.
    below: Vec<Done<'e>>,
}

/// Writes a document with its entries: each field in its place, or what is set instead of it, then
/// entries that the document has no field for.
/// A document that repeats a name has each of its fields replaced.
fn write_document(
    builder: &mut DocBuilder,
    document: DocRef<'_>,
    done: &[Done<'_>],
    growth: &mut Growth<'_>,
) -> Result<(), Error> {
    let mut seen = vec![false; done.len()];
    // Few entries are looked through for each field; a map pays off for many.
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

/// Writes an entry in place of what the document held. Fields below are set in the document that is
/// there, in each element of an array, or in a new document.
/// A computed value that is missing leaves the field out.
fn write_entry(
    builder: &mut DocBuilder,
    entry: &Done<'_>,
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
        // A path goes through every element of an array.
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
    // A document that is too large is refused before it is many times as large.
    if MAX_MADE_BYTES < builder.len() {
        return Err(too_large(builder.len()));
    }
    // Fields below count when they are written themselves.
    if entry.below.is_empty() {
        growth.count_written(builder.len().saturating_sub(before))?;
    }
    written
}

/// Sets the fields in every element; elements that are not documents become some.
/// Arrays inside are entered at any depth. The values are computed already, so that every element
/// gets the same.
fn in_array(
    values: ArrayRef<'_>,
    below: &[Done<'_>],
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
