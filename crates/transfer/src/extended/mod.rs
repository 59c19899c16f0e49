//! Documents as JSON text: MongoDB's Extended JSON v2 in canonical and relaxed form, and plain
//! JSON. One text is one document; module `texts` splits files into texts.
//!
//! This file parses text directly into BSON, so that a text never takes more memory than its
//! document. Nesting and size are limited while parsing.

mod wrapped;
mod write;

pub(crate) use wrapped::date;
pub(crate) use write::{Style, write_document, write_value};

use std::fmt;

use document::{ArrayBuilder, DocBuf, DocBuilder, MAX_DOCUMENT_BYTES, ValueRef};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use wrapped::{is_wrapper, read_wrapped};

#[cfg(test)]
mod tests;

/// Maximum nesting depth of an input document.
pub(crate) const MAX_DEPTH: usize = document::MAX_STORED_DEPTH;

/// Interpretation of an object whose first name starts with `$`, such as `{"$oid": "65…"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A value of the type that the name denotes, such as an ObjectId.
    Extended,
    /// An ordinary object without a type wrapper.
    Plain,
}

/// Parses a text with one object; an error contains the reason and the position.
pub(crate) fn parse_document(text: &[u8], reading: Reading) -> Result<DocBuf, String> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    // The deserializer's limit is fixed; `ParseContext` limits the depth and protects the stack.
    deserializer.disable_recursion_limit();
    let room = ParseContext { depth: MAX_DEPTH, reading };
    let built = DocumentSeed(room).deserialize(&mut deserializer).and_then(|built| {
        deserializer.end()?;
        Ok(built)
    });
    built.map_err(|error| error.to_string())
}

/// Remaining nesting depth, and the interpretation of type wrappers.
#[derive(Clone, Copy)]
struct ParseContext {
    depth: usize,
    reading: Reading,
}

impl ParseContext {
    fn inner<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Self { depth, ..self }),
            None => Err(E::custom(format!("it is nested deeper than {MAX_DEPTH} levels"))),
        }
    }
}

/// Deserializes a document into a buffer of its own.
struct DocumentSeed(ParseContext);

impl<'de> DeserializeSeed<'de> for DocumentSeed {
    type Value = DocBuf;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<DocBuf, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DocumentSeed {
    type Value = DocBuf;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<DocBuf, A::Error> {
        let mut builder = DocBuilder::new();
        let first = access.next_key()?;
        fill(&mut builder, first, access, self.0.inner()?)?;
        Ok(builder.finish())
    }
}

/// Reads the fields of an object whose first name was read already.
fn fill<'de, A: MapAccess<'de>>(
    builder: &mut DocBuilder,
    first: Option<String>,
    mut access: A,
    room: ParseContext,
) -> Result<(), A::Error> {
    let mut next = first;
    while let Some(name) = next {
        if name.contains('\0') {
            return Err(A::Error::custom("a name contains the character U+0000"));
        }
        access.next_value_seed(ValueSeed { put: Named { builder, name: &name }, room })?;
        if MAX_DOCUMENT_BYTES < builder.len() {
            return Err(A::Error::custom("the document is larger than 16 MiB"));
        }
        next = access.next_key()?;
    }
    Ok(())
}

/// Destination of a value: a field of a document, or the next element of an array.
trait ValueTarget {
    fn value(&mut self, value: ValueRef<'_>);
    fn document(&mut self, fill: impl FnOnce(&mut DocBuilder));
    fn array(&mut self, fill: impl FnOnce(&mut ArrayBuilder<'_>));
}

struct Named<'a> {
    builder: &'a mut DocBuilder,
    name: &'a str,
}

impl ValueTarget for Named<'_> {
    fn value(&mut self, value: ValueRef<'_>) {
        self.builder.append(self.name, value);
    }

    fn document(&mut self, fill: impl FnOnce(&mut DocBuilder)) {
        self.builder.document(self.name, fill);
    }

    fn array(&mut self, fill: impl FnOnce(&mut ArrayBuilder<'_>)) {
        self.builder.array(self.name, fill);
    }
}

struct Element<'a, 'b>(&'a mut ArrayBuilder<'b>);

impl ValueTarget for Element<'_, '_> {
    fn value(&mut self, value: ValueRef<'_>) {
        self.0.push(value);
    }

    fn document(&mut self, fill: impl FnOnce(&mut DocBuilder)) {
        self.0.document(fill);
    }

    fn array(&mut self, fill: impl FnOnce(&mut ArrayBuilder<'_>)) {
        self.0.array(fill);
    }
}

/// Deserializes a value into its destination.
struct ValueSeed<P> {
    put: P,
    room: ParseContext,
}

impl<'de, P: ValueTarget> DeserializeSeed<'de> for ValueSeed<P> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, P: ValueTarget> Visitor<'de> for ValueSeed<P> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(mut self) -> Result<(), E> {
        self.put.value(ValueRef::Null);
        Ok(())
    }

    fn visit_bool<E>(mut self, value: bool) -> Result<(), E> {
        self.put.value(ValueRef::Bool(value));
        Ok(())
    }

    fn visit_i64<E>(mut self, value: i64) -> Result<(), E> {
        self.put.value(i32::try_from(value).map_or(ValueRef::Int64(value), ValueRef::Int32));
        Ok(())
    }

    fn visit_u64<E: serde::de::Error>(mut self, value: u64) -> Result<(), E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => {
                self.put.value(ValueRef::Double(value as f64));
                Ok(())
            }
        }
    }

    fn visit_f64<E>(mut self, value: f64) -> Result<(), E> {
        self.put.value(ValueRef::Double(value));
        Ok(())
    }

    fn visit_str<E>(mut self, value: &str) -> Result<(), E> {
        self.put.value(ValueRef::String(value));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<(), A::Error> {
        let room = self.room.inner()?;
        let mut read = Ok(());
        self.put.array(|array| {
            read = loop {
                match access.next_element_seed(ValueSeed { put: Element(array), room }) {
                    Ok(Some(())) if MAX_DOCUMENT_BYTES < array.len() => {
                        break Err(A::Error::custom("the document is larger than 16 MiB"));
                    }
                    Ok(Some(())) => {}
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
        });
        read
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<(), A::Error> {
        let room = self.room.inner()?;
        let first: Option<String> = access.next_key()?;
        if let Some(name) = &first
            && room.reading == Reading::Extended
            && is_wrapper(name)
        {
            let value = read_wrapped(name, access, room)?;
            self.put.value(value.as_ref());
            return Ok(());
        }
        let mut read = Ok(());
        self.put.document(|builder| read = fill(builder, first, access, room));
        read
    }
}
