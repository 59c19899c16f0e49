//! The fields of a command, read with MongoDB's coercions and errors. A command requests each
//! argument by name and type and gets a typed value or the error of mongod 6.0, so no second check
//! is needed.
//!
//! Booleans are read in three ways, as in mongod: a typed field of a command (`bool`), an older
//! strict field (`strict_bool`), and a field that accepts any number (`lax_bool`). Drivers' test
//! suites check which of these applies to an argument.
//!
//! ```text
//! missing, required          40414   BSON field 'find.filter' is missing but a required field
//! a wrong type                  14   BSON field 'find.skip' is the wrong type 'string', expected ..
//! not known to the document  40415   BSON field 'find.x' is an unknown field.
//! ```

use document::{ArrayRef, DocRef, Number, ValueRef};

use crate::errors::{BadValue, Error, FailedToParse, Result, TypeMismatch};

/// The argument of a command that one shard's server sends to another: the reply covers that shard
/// alone. A client may send it, too, and then gets the reply of one shard.
pub(crate) const OF_SHARD: &str = "$ebbShard";

/// Fields that every command accepts besides its own: sessions, concerns, the API's version, and
/// the fields of mongod's internal protocol. Drivers and proxies send these fields, so they are
/// never refused as unknown.
pub(crate) const GENERIC: &[&str] = &[
    "lsid",
    "$clusterTime",
    "txnNumber",
    "autocommit",
    "startTransaction",
    "readConcern",
    "writeConcern",
    "apiVersion",
    "apiStrict",
    "apiDeprecationErrors",
    "$readPreference",
    "comment",
    "maxTimeMS",
    "$db",
    "coordinator",
    "$audit",
    "$client",
    "$configServerState",
    "$oplogQueryData",
    "$queryOptions",
    "$replData",
    "$tenant",
    "clientOperationKey",
    "allowImplicitCollectionCreation",
    "mayBypassWriteBlocking",
    "databaseVersion",
    "shardVersion",
    "rawData",
    "stmtId",
    "stmtIds",
    "expectPrefix",
    "help",
    OF_SHARD,
];

/// A document of arguments and its name in error messages: the name of a command, or the path of an
/// embedded document such as `update.updates`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args<'a> {
    /// Name of the document that contains the arguments, for error messages.
    pub(crate) of: &'a str,
    /// The document. It is not copied: values borrow from the message.
    pub(crate) body: DocRef<'a>,
    /// Bloom filter over the field names, with one bit for each of 64 hash values; all bits are set
    /// if it was not built. Most arguments that a command supports are absent, and a clear bit
    /// proves that without a scan of the document.
    kinds: u64,
}

/// Returns the filter bit of a name, from its length and first letter. A collision costs time but
/// does not change the result.
fn name_bit(name: &[u8]) -> u64 {
    let first = name.first().copied().map_or(0, usize::from);
    1 << ((name.len() * 7 + first) % 64)
}

impl<'a> Args<'a> {
    /// Creates arguments without the filter that [`Self::with_noted_names`] builds.
    pub(crate) fn new(of: &'a str, body: DocRef<'a>) -> Self {
        Self { of, body, kinds: u64::MAX }
    }

    /// Builds the filter of names, for a command with many arguments: the document is scanned once,
    /// and most absent arguments are then not searched for.
    pub(crate) fn with_noted_names(self) -> Self {
        let kinds = self.body.names().fold(0, |kinds, name| kinds | name_bit(name));
        Self { kinds, ..self }
    }

    /// Fails with 40415 on a field that is not among `known`, as mongod does for documents with a
    /// fixed set of fields.
    pub(crate) fn allow_only(&self, known: &[&str]) -> Result<()> {
        for (name, _) in self.body.iter() {
            if !known.contains(&name) {
                let message = format!("BSON field '{}.{name}' is an unknown field.", self.of);
                return Err(Error::new(40415, message));
            }
        }
        Ok(())
    }

    /// Returns a field that is present and not null. For most arguments null means "not given".
    pub(crate) fn get(&self, name: &str) -> Option<ValueRef<'a>> {
        self.get_or_null(name).filter(|value| !value.is_nullish())
    }

    /// Returns a field that is present, null or not, for arguments where null is a wrong type.
    pub(crate) fn get_or_null(&self, name: &str) -> Option<ValueRef<'a>> {
        if self.kinds & name_bit(name.as_bytes()) == 0 { None } else { self.body.get(name) }
    }

    /// Returns the error (14) of a field of a wrong type. `expected` follows the word "type" and
    /// starts with a space or with the plural "s".
    pub(crate) fn wrong_type(&self, name: &str, got: ValueRef<'_>, expected: &str) -> Error {
        let message = format!(
            "BSON field '{}.{name}' is the wrong type '{}', expected type{expected}",
            self.of,
            got.kind().name(),
        );
        Error::new(TypeMismatch, message)
    }

    /// Returns the error (40414) of a missing required field.
    pub(crate) fn missing_field(&self, name: &str) -> Error {
        let message = format!("BSON field '{}.{name}' is missing but a required field", self.of);
        Error::new(40414, message)
    }

    /// Returns a value of type bool; null counts as not given.
    pub(crate) fn bool(&self, name: &str) -> Result<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some(ValueRef::Bool(value)) => Ok(Some(value)),
            Some(value) => Err(self.wrong_type(name, value, " 'bool'")),
        }
    }

    /// Returns a value of type bool. Null is an error. The error text differs from that of
    /// [`Self::bool`].
    pub(crate) fn strict_bool(&self, name: &str) -> Result<Option<bool>> {
        match self.get_or_null(name) {
            None => Ok(None),
            Some(ValueRef::Bool(value)) => Ok(Some(value)),
            Some(value) => {
                let kind = value.kind().name();
                let message =
                    format!("Field '{name}' should be a boolean value, but found: {kind}");
                Err(Error::new(TypeMismatch, message))
            }
        }
    }

    /// Returns a bool, or a number as one: 0 is false, every other number true.
    pub(crate) fn lax_bool(&self, name: &str) -> Result<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some(ValueRef::Bool(value)) => Ok(Some(value)),
            Some(value) if value.is_number() => Ok(Some(value.is_truthy())),
            Some(value) => {
                Err(self.wrong_type(name, value, "s '[bool, long, int, decimal, double]'"))
            }
        }
    }

    /// Returns an integer. Fractions are truncated, NaN is 0 and values beyond 64 bits saturate, as
    /// mongod coerces numbers of a command.
    pub(crate) fn int(&self, name: &str) -> Result<Option<i64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match Number::of(value) {
            Some(Number::Int(value)) => Ok(Some(value)),
            Some(Number::Double(value)) if value.is_nan() => Ok(Some(0)),
            Some(Number::Double(value)) => Ok(Some(value as i64)),
            Some(Number::Decimal(value)) if value.is_nan() => Ok(Some(0)),
            Some(Number::Decimal(value)) => {
                let most = if value.is_negative() { i64::MIN } else { i64::MAX };
                Ok(Some(value.to_i64(document::Rounding::HalfEven).unwrap_or(most)))
            }
            None => Err(self.wrong_type(name, value, "s '[long, int, decimal, double]'")),
        }
    }

    /// Returns an integer that is not negative; otherwise fails with 51024.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>> {
        let Some(value) = self.int(name)? else { return Ok(None) };
        u64::try_from(value).map(Some).map_err(|_| {
            let message = format!("BSON field '{name}' value must be >= 0, actual value '{value}'");
            Error::new(51024, message)
        })
    }

    pub(crate) fn str(&self, name: &str) -> Result<Option<&'a str>> {
        match self.get(name) {
            None => Ok(None),
            Some(ValueRef::String(value)) => Ok(Some(value)),
            Some(value) => Err(self.wrong_type(name, value, " 'string'")),
        }
    }

    pub(crate) fn need_str(&self, name: &str) -> Result<&'a str> {
        self.str(name)?.ok_or_else(|| self.missing_field(name))
    }

    pub(crate) fn document(&self, name: &str) -> Result<Option<DocRef<'a>>> {
        match self.get(name) {
            None => Ok(None),
            Some(ValueRef::Document(value)) => Ok(Some(value)),
            Some(value) => Err(self.wrong_type(name, value, " 'object'")),
        }
    }

    /// Returns a required embedded document.
    pub(crate) fn need_document(&self, name: &str) -> Result<DocRef<'a>> {
        self.document(name)?.ok_or_else(|| self.missing_field(name))
    }

    pub(crate) fn array(&self, name: &str) -> Result<Option<ArrayRef<'a>>> {
        match self.get(name) {
            None => Ok(None),
            Some(ValueRef::Array(value)) => Ok(Some(value)),
            Some(value) => Err(self.wrong_type(name, value, " 'array'")),
        }
    }

    pub(crate) fn need_array(&self, name: &str) -> Result<ArrayRef<'a>> {
        self.array(name)?.ok_or_else(|| self.missing_field(name))
    }

    /// Returns a required array of documents. An error names the element by its position, as in
    /// `update.updates.3`.
    pub(crate) fn documents(&self, name: &str) -> Result<Vec<DocRef<'a>>> {
        let array = self.need_array(name)?;
        array
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let wrong = || self.wrong_type(&format!("{name}.{at}"), value, " 'object'");
                value.as_document().ok_or_else(wrong)
            })
            .collect()
    }

    /// Checks `collation` of a command that accepts only the simple one.
    pub(crate) fn simple_collation(&self) -> Result<()> {
        let Some(collation) = self.document("collation")? else { return Ok(()) };
        match collation.get("locale") {
            None if collation.is_empty() => Ok(()),
            Some(ValueRef::String("simple")) => Ok(()),
            Some(ValueRef::String(locale)) => Err(Error::new(
                crate::errors::CommandNotSupported,
                format!("collation with locale '{locale}' is not supported"),
            )),
            _ => Err(Error::new(BadValue, "Field 'locale' is missing in: collation")),
        }
    }
}

/// Returns the name of the collection that a command operates on: the value of its first field.
pub(crate) fn collection_argument<'a>(body: DocRef<'a>, command: &str) -> Result<&'a str> {
    match body.get(command) {
        Some(ValueRef::String(name)) => Ok(name),
        Some(value) => Err(Error::new(
            crate::errors::InvalidNamespace,
            format!("collection name has invalid type {}", value.kind().name()),
        )),
        None => Err(Error::new(FailedToParse, format!("missing '{command}'"))),
    }
}

#[cfg(test)]
mod tests {
    use document::{DocBuf, Value, doc};

    use super::*;

    /// A filter collision must neither hide a field nor invent one.
    #[test]
    fn names_of_one_kind_are_told_apart() {
        let names: Vec<String> = (0..200).map(|number| format!("n{number}")).collect();
        assert!(
            names.iter().any(|name| name != "n0" && name_bit(name.as_bytes()) == name_bit(b"n0"))
        );
        for there in &names {
            let mut body = doc! { "find": "c" };
            body.push(there, 7);
            let raw: DocBuf = body.to_buf();
            let args = Args::new("find", raw.as_ref()).with_noted_names();
            for name in &names {
                let found = args.int(name).unwrap();
                assert_eq!(found, (name == there).then_some(7), "{name} of {there}");
            }
        }
        let null = doc! { "hint": Value::Null }.to_buf();
        let args = Args::new("find", null.as_ref()).with_noted_names();
        assert!(args.get("hint").is_none() && args.get_or_null("hint").is_some());
    }
}
