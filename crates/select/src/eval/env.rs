//! What expressions are evaluated in: the slots of names, and the account of work and memory.

use std::fmt::Debug;

use document::{DocRef, ValueRef};
use evaluation::{Context, Error, Evaluated, Size, check_held, owned};

use crate::{
    identity::identity,
    plan::DOCUMENT,
    work::{keying, touching, weight},
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
    slots: Vec<Slot<'a>>,
    context: &'a Context,
    held: usize,
    /// The document with what the system adds, while its slot holds it without.
    whole: Option<&'a dyn Whole>,
}

/// What a name stands for.
#[derive(Clone, Debug)]
struct Slot<'a> {
    value: Evaluated<'a>,
    /// Bytes that the account of this environment has for it.
    held: usize,
}

/// A stored document as it is with the properties that the system adds.
pub trait Whole: Debug {
    /// That document.
    fn whole(&self) -> DocRef<'_>;
}

impl<'a> Env<'a> {
    /// An environment of so many slots, all empty.
    pub fn new(slots: usize, context: &'a Context) -> Self {
        context.begin();
        let slots = vec![Slot { value: Evaluated::Missing, held: 0 }; slots.max(DOCUMENT + 1)];
        Self { slots, context, held: 0, whole: None }
    }

    /// The operation.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// Fills a slot with what somebody else counts.
    pub fn set(&mut self, slot: usize, value: Evaluated<'a>) {
        if let Some(place) = self.slots.get_mut(slot) {
            self.held = self.held.saturating_sub(place.held);
            *place = Slot { value, held: 0 };
        }
    }

    /// Fills a slot; what is in it is held until it is filled again.
    pub(crate) fn fill(&mut self, slot: usize, value: Evaluated<'a>) -> Result<(), Error> {
        let held = owned(&value);
        self.set(slot, value);
        self.hold(held)?;
        if let Some(place) = self.slots.get_mut(slot) {
            place.held = held;
        }
        Ok(())
    }

    /// Fills the slot of the stored document; `whole` takes its place where a row is complete.
    pub(crate) fn set_document(&mut self, document: DocRef<'a>, whole: Option<&'a dyn Whole>) {
        self.set(DOCUMENT, Evaluated::Ref(ValueRef::Document(document)));
        self.whole = whole;
    }

    /// Puts the whole document in its slot: from now on all of it may be read.
    pub(crate) fn complete(&mut self) {
        if let Some(whole) = self.whole.take() {
            self.set(DOCUMENT, Evaluated::Ref(ValueRef::Document(whole.whole())));
        }
    }

    /// What a slot holds.
    pub(crate) fn slot(&mut self, slot: usize) -> Result<Evaluated<'a>, Error> {
        self.path(slot, &[])
    }

    /// What stands at a path inside a slot; what was computed is copied.
    pub(super) fn path(&mut self, slot: usize, names: &[String]) -> Result<Evaluated<'a>, Error> {
        match self.slots.get(slot).map(|slot| &slot.value) {
            Some(Evaluated::Ref(value)) => Ok(self.inside(*value, names)?.into()),
            Some(Evaluated::Own(value)) => {
                let Some(found) = self.inside(value.as_ref(), names)? else {
                    return Ok(Evaluated::Missing);
                };
                let memory = Size::of(found).memory;
                self.context.budget.spend_bounded(memory)?;
                self.room(memory)?;
                Ok(Evaluated::Own(found.to_value()))
            }
            _ => Ok(Evaluated::Missing),
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
            Some(far) => self.context.budget.spend_bounded(far.saturating_mul(FURTHER)),
        }
    }

    /// The work of coming across a value.
    pub(crate) fn touch(&self, value: ValueRef<'_>) -> Result<(), Error> {
        match touching(value) {
            0 => Ok(()),
            units => self.context.budget.spend_bounded(units),
        }
    }

    /// One step of work.
    pub(crate) fn step(&self) -> Result<(), Error> {
        self.context.budget.spend_bounded(STEP)
    }

    /// Work of so many bytes.
    pub(crate) fn spend(&self, bytes: usize) -> Result<(), Error> {
        self.context.budget.spend_bounded(bytes)
    }

    /// The work of reading a value as a whole.
    pub(crate) fn read(&self, value: &Evaluated<'_>) -> Result<(), Error> {
        self.context.budget.spend_bounded(value.value().map_or(0, weight))
    }

    /// The work of making the key of a value.
    pub(crate) fn key(&self, value: &Evaluated<'_>) -> Result<(), Error> {
        self.context.budget.spend_bounded(value.value().map_or(0, keying))
    }

    /// The work of keeping a row, or of finding its group.
    pub(crate) fn keep(&self) -> Result<(), Error> {
        self.context.budget.spend_bounded(KEEP)
    }

    /// Appends the key of a value to others, which have to have room together.
    pub(crate) fn identity(&self, value: &Evaluated<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.key(value)?;
        if let Some(value @ (ValueRef::Array(_) | ValueRef::Document(_))) = value.value() {
            // It may be copied so that its properties have an order.
            self.room(out.len().saturating_add(Size::of(value).memory))?;
        }
        identity(value.value(), out);
        self.room(out.len())
    }

    /// What a value holds is held while something else is done.
    pub(crate) fn beside<T>(
        &mut self,
        value: &Evaluated<'_>,
        then: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let held = owned(value);
        self.hold(held)?;
        let done = then(self)?;
        self.release(held);
        Ok(done)
    }

    /// Fails when so many bytes beside those that are held would be too many.
    pub(crate) fn room(&self, bytes: usize) -> Result<(), Error> {
        check_held(self.held.saturating_add(bytes), &self.context.holding)
    }

    /// Bytes that are held.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// So much more is held; `release` gives it back.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), Error> {
        self.held = self.held.saturating_add(bytes);
        check_held(self.held, &self.context.holding)
    }

    /// So much is held no longer.
    pub(crate) fn release(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }
}
