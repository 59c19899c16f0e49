//! What expressions are evaluated in: the slots of names, and the account of work and memory.

use document::{ArrayRef, DocRef, Value, ValueRef};

use super::DOCUMENT;
use crate::{
    Context, Error,
    expr::{Got, Size, check_built, check_held},
};

/// Work of one node or one row, beside the bytes it copies.
const STEP: usize = 16;

/// Slots and the account.
#[derive(Debug)]
pub struct Env<'a> {
    slots: Vec<Got<'a>>,
    context: &'a Context,
    held: usize,
}

impl<'a> Env<'a> {
    /// An environment of so many slots, all empty.
    pub fn new(slots: usize, context: &'a Context) -> Self {
        context.effort.begin();
        Self { slots: vec![Got::Missing; slots.max(DOCUMENT + 1)], context, held: 0 }
    }

    /// The operation.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// Fills a slot.
    pub fn set(&mut self, slot: usize, value: Got<'a>) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = value;
        }
    }

    /// What a slot holds.
    pub(in crate::json) fn slot(&mut self, slot: usize) -> Result<Got<'a>, Error> {
        self.path(slot, &[])
    }

    /// What stands at a path inside a slot; what was computed is copied.
    pub(super) fn path(&mut self, slot: usize, names: &[String]) -> Result<Got<'a>, Error> {
        match self.slots.get(slot) {
            Some(Got::Ref(value)) => Ok(inside(*value, names).into()),
            Some(Got::Own(value)) => {
                let Some(found) = inside(value.as_ref(), names) else { return Ok(Got::Missing) };
                self.context.effort.charge(Size::of(found).memory)?;
                Ok(Got::Own(found.to_value()))
            }
            _ => Ok(Got::Missing),
        }
    }

    /// One step of work.
    pub(in crate::json) fn step(&self) -> Result<(), Error> {
        self.context.effort.charge(STEP)
    }

    /// Work of so many bytes.
    pub(in crate::json) fn charge(&self, bytes: usize) -> Result<(), Error> {
        self.context.effort.charge(bytes)
    }

    /// The work of reading a value as a whole.
    pub(in crate::json) fn read(&self, value: &Got<'_>) -> Result<(), Error> {
        self.context.effort.charge(value.value().map_or(0, weight))
    }

    /// A value that was built: neither too large nor too deep.
    pub(in crate::json) fn built(&self, value: Value) -> Result<Got<'a>, Error> {
        let size = check_built(value.as_ref())?;
        self.context.effort.charge(size.memory)?;
        Ok(Got::Own(value))
    }

    /// So much more is held; `release` gives it back.
    pub(in crate::json) fn hold(&mut self, bytes: usize) -> Result<(), Error> {
        self.held = self.held.saturating_add(bytes);
        check_held(self.held)
    }

    /// So much is held no longer.
    pub(in crate::json) fn release(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }
}

/// How many bytes there are to read in a value.
pub(super) fn weight(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Document(DocRef::Raw(raw)) | ValueRef::Array(ArrayRef::Raw(raw)) => raw.len(),
        ValueRef::String(text) => text.len(),
        other => Size::of(other).bytes,
    }
}

fn inside<'v>(value: ValueRef<'v>, names: &[String]) -> Option<ValueRef<'v>> {
    names.iter().try_fold(value, |value, name| value.as_document()?.get(name))
}
