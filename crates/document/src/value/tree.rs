//! A document as an owned, ordered list of fields: what edits, replies and expressions work on.

use super::{DocBuf, DocBuilder, Value};

/// Fields in order. A name occurs once, unless the document came from bytes that repeat it. Fields
/// are found by looking through them: most documents have few, and order has to be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document(Vec<(String, Value)>);

impl Document {
    /// No fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// The fields in order.
    pub fn fields(&self) -> &[(String, Value)] {
        &self.0
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of the first field of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// The value of the first field of this name, to change in place.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// Sets a field where it stands, or appends it.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        match self.get_mut(&name) {
            Some(held) => *held = value,
            None => self.0.push((name, value)),
        }
    }

    /// Appends a field without looking for its name.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.push((name.into(), value.into()));
    }

    /// Takes a field out.
    /// The others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.0.iter().position(|(field, _)| field == name)?;
        Some(self.0.remove(at).1)
    }

    /// Inserts a field at a position (clamped to the end), without looking for its name.
    pub fn insert_at(&mut self, at: usize, name: impl Into<String>, value: impl Into<Value>) {
        self.0.insert(at.min(self.0.len()), (name.into(), value.into()));
    }

    /// The fields, to change in place.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Value)> {
        self.0.iter_mut().map(|(name, value)| (name.as_str(), value))
    }

    /// The raw form.
    pub fn to_buf(&self) -> DocBuf {
        let mut builder = DocBuilder::new();
        for (name, value) in &self.0 {
            builder.append(name, value.as_ref());
        }
        builder.finish()
    }
}

impl FromIterator<(String, Value)> for Document {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(fields: I) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl IntoIterator for Document {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
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
