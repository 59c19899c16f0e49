//! Arrays and objects under construction: what they hold is measured while they grow, part by part,
//! so that a literal that multiplies a value is refused before it is made.

use document::{Document, Value};
use evaluation::{
    Error, Evaluated, Size, check_part, limits::MAX_DOCUMENT_BYTES, too_large, without_spare_room,
};

use crate::{eval::Env, plan::Expr};

/// What an array or object holds so far.
#[derive(Debug, Default)]
pub(crate) struct Building(Size);

impl Building {
    /// Counts a value that joins the array or object, and returns it; a value that is nothing does
    /// not join.
    fn add_value(&mut self, got: Evaluated<'_>, env: &mut Env<'_>) -> Result<Option<Value>, Error> {
        let Some(value) = got.value() else { return Ok(None) };
        let size = check_part(value)?;
        self.add_size(size, env)?;
        Ok(got.into_value())
    }

    /// Counts the name of a property.
    fn add_name(&mut self, name: &str, env: &mut Env<'_>) -> Result<(), Error> {
        let bytes = name.len() + 1;
        self.add_size(Size { bytes, memory: size_of::<String>() + bytes }, env)
    }

    /// Makes the array or object larger; fails when it would be larger than a document may be, or
    /// the expression would hold more than it may.
    fn add_size(&mut self, size: Size, env: &mut Env<'_>) -> Result<(), Error> {
        self.0.bytes = self.0.bytes.saturating_add(size.bytes);
        self.0.memory = self.0.memory.saturating_add(size.memory);
        if MAX_DOCUMENT_BYTES < self.0.bytes {
            return Err(too_large(self.0.bytes));
        }
        env.hold_bytes(size.memory)
    }

    /// Hands over what was built: whoever takes it counts it from now on.
    fn finish<'a>(self, value: Value, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
        env.release_bytes(self.0.memory);
        env.spend_bytes(self.0.memory)?;
        Ok(without_spare_room(Evaluated::Own(value)))
    }
}

/// An array of computed elements; those that are nothing are left out, so that positions move up.
pub(crate) fn build_array<'a>(
    items: impl IntoIterator<Item = impl FnOnce(&mut Env<'a>) -> Result<Evaluated<'a>, Error>>,
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let mut building = Building::default();
    let mut values = Vec::new();
    for item in items {
        let got = item(env)?;
        values.extend(building.add_value(got, env)?);
    }
    building.finish(Value::Array(values), env)
}

/// An object of computed properties; those that are nothing are left out.
pub(crate) fn build_object<'a>(
    fields: &'a [(String, Expr)],
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let mut building = Building::default();
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
