//! A document as an owned, ordered list of fields, on which edits, replies and expressions work.

use std::{collections::HashSet, fmt};

use super::{DocBuf, DocBuilder, Value, field_index::FieldPositions};

/// An ordered list of fields. Names are unique, unless the document was decoded from bytes that
/// repeat one. Fields are found by a linear search, because most documents have few; a wide
/// document that is changed often gets an index by name.
#[derive(Clone, Default)]
pub struct Document {
    fields: Vec<(String, Value)>,
    positions: FieldPositions,
}

impl Document {
    /// Creates a document without any fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the fields in order.
    pub fn fields(&self) -> &[(String, Value)] {
        &self.fields
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns whether the document has no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns the value of the first field with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let at = self.positions.find(&self.fields, name)?;
        self.fields.get(at).map(|(_, value)| value)
    }

    /// Returns the value of the first field with this name for changing it in place.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let at = self.positions.find_and_learn(&self.fields, name)?;
        self.fields.get_mut(at).map(|(_, value)| value)
    }

    /// Replaces the value of the field with this name, or appends the field.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        match self.get_mut(&name) {
            Some(held) => *held = value,
            None => self.push(name, value),
        }
    }

    /// Appends a field without checking whether the name already exists.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.fields.push((name.into(), value.into()));
        self.positions.note_last(&self.fields);
    }

    /// Removes the first field with this name and returns its value. The other fields keep their
    /// order, so all fields after it are moved.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.positions.find(&self.fields, name)?;
        self.positions.forget();
        Some(self.fields.remove(at).1)
    }

    /// Removes the first field of each of these names in a single pass.
    pub fn remove_all(&mut self, mut names: HashSet<&str>) {
        self.positions.forget();
        self.fields.retain(|(name, _)| !names.remove(name.as_str()));
    }

    /// Inserts a field at an index (clamped to the end) without checking whether the name already
    /// exists.
    pub fn insert_at(&mut self, at: usize, name: impl Into<String>, value: impl Into<Value>) {
        self.positions.forget();
        self.fields.insert(at.min(self.fields.len()), (name.into(), value.into()));
    }

    /// Iterates over the fields for changing their values in place.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Value)> {
        self.fields.iter_mut().map(|(name, value)| (name.as_str(), value))
    }

    /// Encodes the document as raw BSON.
    pub fn to_buf(&self) -> DocBuf {
        let mut builder = DocBuilder::new();
        for (name, value) in &self.fields {
            builder.append(name, value.as_ref());
        }
        builder.finish()
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.fields == other.fields
    }
}

impl Eq for Document {}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Document").field(&self.fields).finish()
    }
}

impl FromIterator<(String, Value)> for Document {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(fields: I) -> Self {
        Self { fields: fields.into_iter().collect(), positions: FieldPositions::default() }
    }
}

impl IntoIterator for Document {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.fields.into_iter()
    }
}

/// Builds a [`Document`]: `doc! { "a": 1, "b": array![2, "x"], "c": doc! {} }`.
#[macro_export]
macro_rules! doc {
    ($($name:literal : $value:expr),* $(,)?) => {{
        #[allow(unused_mut, reason = "an empty document is not changed")]
        let mut fields = $crate::Document::new();
        $(fields.push($name, $crate::Value::from($value));)*
        fields
    }};
}

/// Builds an array value: `array![1, "x"]`.
#[macro_export]
macro_rules! array {
    ($($value:expr),* $(,)?) => { $crate::Value::Array(vec![$($crate::Value::from($value)),*]) };
}
