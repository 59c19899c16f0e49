//! Arrays and objects under construction: what they hold is measured while they grow, part by part,
//! so that a literal that multiplies a value is refused before it is made.

use document::{Document, Value};
use evaluation::{
    Error, Evaluated, Size, check_part, fitted, limits::MAX_DOCUMENT_BYTES, too_large,
};

use crate::{eval::Env, plan::Expr};

/// What an array or object holds so far.
#[derive(Debug, Default)]
pub(crate) struct Building(Size);

impl Building {
    /// A value that joins it, if it is something.
    fn value(&mut self, got: Evaluated<'_>, env: &mut Env<'_>) -> Result<Option<Value>, Error> {
        let Some(value) = got.value() else { return Ok(None) };
        let size = check_part(value)?;
        self.grow(size, env)?;
        Ok(got.into_value())
    }

    /// The name of a property that joins it.
    fn name(&mut self, name: &str, env: &mut Env<'_>) -> Result<(), Error> {
        let bytes = name.len() + 1;
        self.grow(Size { bytes, memory: size_of::<String>() + bytes }, env)
    }

    fn grow(&mut self, size: Size, env: &mut Env<'_>) -> Result<(), Error> {
        self.0.bytes = self.0.bytes.saturating_add(size.bytes);
        self.0.memory = self.0.memory.saturating_add(size.memory);
        if MAX_DOCUMENT_BYTES < self.0.bytes {
            return Err(too_large(self.0.bytes));
        }
        env.hold(size.memory)
    }

    /// It is whole: whoever takes it counts it from now on.
    fn finish<'a>(self, value: Value, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
        env.release(self.0.memory);
        env.spend(self.0.memory)?;
        Ok(fitted(Evaluated::Own(value)))
    }
}

/// An array of these, without those that are nothing.
pub(crate) fn array<'a>(
    items: impl IntoIterator<Item = impl FnOnce(&mut Env<'a>) -> Result<Evaluated<'a>, Error>>,
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let mut building = Building::default();
    let mut values = Vec::new();
    for item in items {
        let got = item(env)?;
        values.extend(building.value(got, env)?);
    }
    building.finish(Value::Array(values), env)
}

/// An object of these, without those that are nothing.
pub(crate) fn object<'a>(
    fields: &'a [(String, Expr)],
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let mut building = Building::default();
    let mut object = Document::new();
    for (name, expr) in fields {
        let got = expr.eval(env)?;
        if let Some(value) = building.value(got, env)? {
            building.name(name, env)?;
            object.push(name.clone(), value);
        }
    }
    building.finish(Value::Document(object), env)
}
