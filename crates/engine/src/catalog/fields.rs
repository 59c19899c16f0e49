//! Typed access to the fields of a stored record; each field is read once. The codec defines the
//! fields and their meaning.

use document::{Document, Value, ValueRef};

use crate::error::Error;

/// Returns the error for a required field that is missing or has a wrong value.
pub(super) fn missing_field(name: &str) -> Error {
    Error::corrupt(format!("a catalog record has a missing or invalid '{name}'"))
}

/// The fields of a record that are not decoded yet. Fields that remain at the end are unknown to
/// this version.
pub(super) struct RecordFields {
    tree: Document,
}

impl RecordFields {
    pub(super) fn new(tree: Document) -> Self {
        Self { tree }
    }

    /// Starts reading the fields of a nested document.
    pub(super) fn of_document(value: Value, name: &str) -> Result<Self, Error> {
        match value {
            Value::Document(tree) => Ok(Self::new(tree)),
            _ => Err(missing_field(name)),
        }
    }

    /// Takes a required field of any type.
    pub(super) fn take_value(&mut self, name: &str) -> Result<Value, Error> {
        self.tree.remove(name).ok_or_else(|| missing_field(name))
    }

    /// Takes a field that records written by earlier versions lack.
    pub(super) fn take_optional(&mut self, name: &str) -> Option<Value> {
        self.tree.remove(name)
    }

    /// Takes a 64-bit integer or null.
    pub(super) fn take_optional_int(&mut self, name: &str) -> Result<Option<i64>, Error> {
        match self.take_value(name)?.as_ref() {
            ValueRef::Null => Ok(None),
            ValueRef::Int64(value) => Ok(Some(value)),
            _ => Err(missing_field(name)),
        }
    }

    pub(super) fn take_int(&mut self, name: &str) -> Result<i64, Error> {
        self.take_optional_int(name)?.ok_or_else(|| missing_field(name))
    }

    /// Takes a required field with the id of a collection or an index.
    pub(super) fn take_id(&mut self, name: &str) -> Result<u32, Error> {
        u32::try_from(self.take_int(name)?).map_err(|_| missing_field(name))
    }

    pub(super) fn take_stamp(&mut self, name: &str) -> Result<u64, Error> {
        u64::try_from(self.take_int(name)?).map_err(|_| missing_field(name))
    }

    pub(super) fn take_bool(&mut self, name: &str) -> Result<bool, Error> {
        self.take_value(name)?.as_ref().as_bool().ok_or_else(|| missing_field(name))
    }

    pub(super) fn take_text(&mut self, name: &str) -> Result<String, Error> {
        match self.take_value(name)? {
            Value::String(text) => Ok(text),
            _ => Err(missing_field(name)),
        }
    }

    pub(super) fn take_list(&mut self, name: &str) -> Result<Vec<Value>, Error> {
        match self.take_value(name)? {
            Value::Array(values) => Ok(values),
            _ => Err(missing_field(name)),
        }
    }

    pub(super) fn take_document(&mut self, name: &str) -> Result<Document, Error> {
        match self.take_value(name)? {
            Value::Document(tree) => Ok(tree),
            _ => Err(missing_field(name)),
        }
    }

    /// Fails if the record has fields that were not taken, since this version does not know them.
    pub(super) fn check_none_left(self) -> Result<(), Error> {
        match self.tree.fields().first() {
            None => Ok(()),
            Some((name, _)) => Err(Error::corrupt(format!(
                "a catalog record has the field '{name}' of a newer version"
            ))),
        }
    }
}
