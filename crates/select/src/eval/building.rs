//! Builds arrays and objects while measuring their growing size, so that an array or object
//! expression that repeats a large value many times is refused before it is built.

use document::{Document, MAX_DOCUMENT_BYTES, Value};
use evaluation::{Error, Evaluated, Size, check_part, too_large, without_spare_room};

use crate::{eval::Env, plan::Expr};

/// The size of an array or object that is being built.
#[derive(Debug, Default)]
pub(crate) struct SizedBuilder(Size);

impl SizedBuilder {
    /// Counts a value to be added and returns it; `None` for undefined, which is not added.
    fn add_value(&mut self, got: Evaluated<'_>, env: &mut Env<'_>) -> Result<Option<Value>, Error> {
        let Some(value) = got.value() else { return Ok(None) };
        let size = check_part(value)?;
        self.add_size(size, env)?;
        Ok(got.into_value())
    }

    fn add_name(&mut self, name: &str, env: &mut Env<'_>) -> Result<(), Error> {
        let bytes = name.len() + 1;
        self.add_size(Size { bytes, memory: size_of::<String>() + bytes }, env)
    }

    /// Adds to the size of the array or object. Fails if it would exceed the maximum size of a
    /// document, or the expression its memory limit.
    fn add_size(&mut self, size: Size, env: &mut Env<'_>) -> Result<(), Error> {
        self.0.bytes = self.0.bytes.saturating_add(size.bytes);
        self.0.memory = self.0.memory.saturating_add(size.memory);
        if MAX_DOCUMENT_BYTES < self.0.bytes {
            return Err(too_large(self.0.bytes));
        }
        env.hold_bytes(size.memory)
    }

    /// Returns the finished value and releases its memory, which the caller has to count from here
    /// on.
    fn finish<'a>(self, value: Value, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
        env.release_bytes(self.0.memory);
        env.spend_bytes(self.0.memory)?;
        Ok(without_spare_room(Evaluated::Owned(value)))
    }
}

/// Builds an array of computed elements. Undefined ones are left out, so the later ones move up.
pub(crate) fn build_array<'a>(
    items: impl IntoIterator<Item = impl FnOnce(&mut Env<'a>) -> Result<Evaluated<'a>, Error>>,
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let mut building = SizedBuilder::default();
    let mut values = Vec::new();
    for item in items {
        let got = item(env)?;
        values.extend(building.add_value(got, env)?);
    }
    building.finish(Value::Array(values), env)
}

/// Builds an object of computed properties; undefined ones are left out.
pub(crate) fn build_object<'a>(
    fields: &'a [(String, Expr)],
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let mut building = SizedBuilder::default();
    let mut object = Document::new();
    for (name, expr) in fields {
        let got = expr.eval(env)?;
        if let Some(value) = building.add_value(got, env)? {
            building.add_name(name, env)?;
            object.push(name.clone(), value);
        }
    }
    building.finish(Value::Document(object), env)
}
