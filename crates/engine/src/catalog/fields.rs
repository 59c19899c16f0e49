//! Fields of a stored record, each taken once and of its type. It knows no record: which fields there
//! are, and what they mean, the codec says.

use document::{Document, Value, ValueRef};

use crate::error::Error;

/// The failure of a record without a field that it needs, or with a wrong value there.
pub(super) fn missing(name: &str) -> Error {
    Error::corrupt(format!("a catalog record lacks a proper '{name}'"))
}

/// Fields of a record, each taken once; what is left over is unknown.
pub(super) struct Fields {
    tree: Document,
}

impl Fields {
    pub(super) fn new(tree: Document) -> Self {
        Self { tree }
    }

    /// Those of a document in the field of this name.
    pub(super) fn of(value: Value, name: &str) -> Result<Self, Error> {
        match value {
            Value::Document(tree) => Ok(Self::new(tree)),
            _ => Err(missing(name)),
        }
    }

    pub(super) fn take(&mut self, name: &str) -> Result<Value, Error> {
        self.tree.remove(name).ok_or_else(|| missing(name))
    }

    /// One that records of earlier versions do not have.
    pub(super) fn optional(&mut self, name: &str) -> Option<Value> {
        self.tree.remove(name)
    }

    pub(super) fn optional_int(&mut self, name: &str) -> Result<Option<i64>, Error> {
        match self.take(name)?.as_ref() {
            ValueRef::Null => Ok(None),
            ValueRef::Int64(value) => Ok(Some(value)),
            _ => Err(missing(name)),
        }
    }

    pub(super) fn int(&mut self, name: &str) -> Result<i64, Error> {
        self.optional_int(name)?.ok_or_else(|| missing(name))
    }

    pub(super) fn id(&mut self, name: &str) -> Result<u32, Error> {
        u32::try_from(self.int(name)?).map_err(|_| missing(name))
    }

    pub(super) fn stamp(&mut self, name: &str) -> Result<u64, Error> {
        u64::try_from(self.int(name)?).map_err(|_| missing(name))
    }

    pub(super) fn bool(&mut self, name: &str) -> Result<bool, Error> {
        self.take(name)?.as_ref().as_bool().ok_or_else(|| missing(name))
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String, Error> {
        match self.take(name)? {
            Value::String(text) => Ok(text),
            _ => Err(missing(name)),
        }
    }

    pub(super) fn list(&mut self, name: &str) -> Result<Vec<Value>, Error> {
        match self.take(name)? {
            Value::Array(values) => Ok(values),
            _ => Err(missing(name)),
        }
    }

    pub(super) fn document(&mut self, name: &str) -> Result<Document, Error> {
        match self.take(name)? {
            Value::Document(tree) => Ok(tree),
            _ => Err(missing(name)),
        }
    }

    /// Fails when a field is left.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self.tree.fields().first() {
            None => Ok(()),
            Some((name, _)) => Err(Error::corrupt(format!(
                "a catalog record has a field '{name}' of a newer version"
            ))),
        }
    }
}
