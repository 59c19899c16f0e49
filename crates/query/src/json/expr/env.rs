//! What expressions are evaluated in: the slots of names, and the account of work and memory.

use std::fmt::Debug;

use document::{DocRef, Value, ValueRef};

use super::DOCUMENT;
use crate::{
    Context, Error,
    expr::{Got, Size, check_built, check_held},
    json::work::{keying, touching, weight},
};

/// Work of one node or one row, beside the bytes it copies.
const STEP: usize = 32;
/// Work of a row that is kept, or that joins a group.
const KEEP: usize = 256;
/// Fields and elements that a step passes over for nothing.
const NEAR: usize = 16;
/// Work of passing over one more.
const FURTHER: usize = 16;

/// Slots and the account.
#[derive(Debug)]
pub struct Env<'a> {
    slots: Vec<Got<'a>>,
    context: &'a Context,
    held: usize,
    /// The document with what the system adds, while its slot holds it without.
    whole: Option<&'a dyn Whole>,
}

/// A stored document as it is with the properties that the system adds.
pub trait Whole: Debug {
    /// That document.
    fn whole(&self) -> DocRef<'_>;
}

impl<'a> Env<'a> {
    /// An environment of so many slots, all empty.
    pub fn new(slots: usize, context: &'a Context) -> Self {
        context.effort.begin();
        Self { slots: vec![Got::Missing; slots.max(DOCUMENT + 1)], context, held: 0, whole: None }
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

    /// Fills the slot of the stored document; `whole` takes its place where a row is complete.
    pub(in crate::json) fn set_document(
        &mut self,
        document: DocRef<'a>,
        whole: Option<&'a dyn Whole>,
    ) {
        self.set(DOCUMENT, Got::Ref(ValueRef::Document(document)));
        self.whole = whole;
    }

    /// Puts the whole document in its slot: from now on all of it may be read.
    pub(in crate::json) fn complete(&mut self) {
        if let Some(whole) = self.whole.take() {
            self.set(DOCUMENT, Got::Ref(ValueRef::Document(whole.whole())));
        }
    }

    /// What a slot holds.
    pub(in crate::json) fn slot(&mut self, slot: usize) -> Result<Got<'a>, Error> {
        self.path(slot, &[])
    }

    /// What stands at a path inside a slot; what was computed is copied.
    pub(super) fn path(&mut self, slot: usize, names: &[String]) -> Result<Got<'a>, Error> {
        match self.slots.get(slot) {
            Some(Got::Ref(value)) => Ok(self.inside(*value, names)?.into()),
            Some(Got::Own(value)) => {
                let Some(found) = self.inside(value.as_ref(), names)? else {
                    return Ok(Got::Missing);
                };
                self.context.effort.charge(Size::of(found).memory)?;
                Ok(Got::Own(found.to_value()))
            }
            _ => Ok(Got::Missing),
        }
    }

    fn inside<'v>(
        &self,
        value: ValueRef<'v>,
        names: &[String],
    ) -> Result<Option<ValueRef<'v>>, Error> {
        let mut value = value;
        for name in names {
            let Some(fields) = value.as_document() else { return Ok(None) };
            let (found, looked) = fields.search(name);
            self.passed_over(looked)?;
            let Some(found) = found else { return Ok(None) };
            value = found;
        }
        self.touch(value)?;
        Ok(Some(value))
    }

    /// Work of finding a field or an element behind so many others.
    pub(super) fn passed_over(&self, others: usize) -> Result<(), Error> {
        match others.checked_sub(NEAR) {
            None => Ok(()),
            Some(far) => self.context.effort.charge(far.saturating_mul(FURTHER)),
        }
    }

    /// The work of coming across a value.
    pub(in crate::json) fn touch(&self, value: ValueRef<'_>) -> Result<(), Error> {
        match touching(value) {
            0 => Ok(()),
            units => self.context.effort.charge(units),
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

    /// The work of making the key of a value.
    pub(in crate::json) fn key(&self, value: &Got<'_>) -> Result<(), Error> {
        self.context.effort.charge(value.value().map_or(0, keying))
    }

    /// The work of keeping a row, or of finding its group.
    pub(in crate::json) fn keep(&self) -> Result<(), Error> {
        self.context.effort.charge(KEEP)
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
