//! What expressions are evaluated in: the slots that names stand for, and the account of work and
//! memory.
//!
//! The binder gives every name of FROM, every group key and every aggregate a slot (a number), so
//! that evaluation looks nothing up by name. The account counts work through the operation's
//! budget, and bytes that are held by slots and by values under way, so that nested expressions
//! cannot hold many times what one may.

use std::fmt::Debug;

use document::{DocRef, ValueRef};
use evaluation::{Context, Error, Evaluated, Size, check_held, owned_bytes};

use crate::{
    identity::append_identity,
    plan::DOCUMENT,
    work::{weight_of, work_of_keying, work_of_touching},
};

/// Work of one node of an expression or of one row, beside the bytes it copies.
const STEP: usize = 32;
/// Work of a row that is kept, or that joins a group.
const KEEP: usize = 256;
/// Fields and elements that a step may pass over without further work being counted.
const NEAR: usize = 16;
/// Work of passing over one more field or element.
const FURTHER: usize = 16;

/// Slots and the account.
#[derive(Debug)]
pub struct Env<'a> {
    /// Values by slot, as the binder numbered them.
    slots: Vec<Slot<'a>>,
    /// The operation that all this is part of.
    context: &'a Context,
    /// Bytes that slots and values under way hold.
    held: usize,
    /// The document with the properties that the system adds, while its slot holds it without them.
    whole: Option<&'a dyn Whole>,
}

/// What a name stands for.
#[derive(Clone, Debug)]
struct Slot<'a> {
    /// What the slot holds at the moment.
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
        context.begin_evaluation();
        let slots = vec![Slot { value: Evaluated::Missing, held: 0 }; slots.max(DOCUMENT + 1)];
        Self { slots, context, held: 0, whole: None }
    }

    /// The operation.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// Fills a slot with a value that somebody else counts, such as a part of the stored document.
    pub fn set_slot(&mut self, slot: usize, value: Evaluated<'a>) {
        if let Some(place) = self.slots.get_mut(slot) {
            self.held = self.held.saturating_sub(place.held);
            *place = Slot { value, held: 0 };
        }
    }

    /// Fills a slot with a computed value, which is counted as held until the slot is filled again.
    pub(crate) fn fill_slot(&mut self, slot: usize, value: Evaluated<'a>) -> Result<(), Error> {
        let held = owned_bytes(&value);
        self.set_slot(slot, value);
        self.hold_bytes(held)?;
        if let Some(place) = self.slots.get_mut(slot) {
            place.held = held;
        }
        Ok(())
    }

    /// Fills the slot of the stored document; `whole` takes its place where a row is complete.
    pub(crate) fn set_document(&mut self, document: DocRef<'a>, whole: Option<&'a dyn Whole>) {
        self.set_slot(DOCUMENT, Evaluated::Ref(ValueRef::Document(document)));
        self.whole = whole;
    }

    /// Puts the whole document into its slot. It is called where a row makes a result: a condition
    /// that rejects the row need not pay for the properties that the system adds.
    pub(crate) fn complete_document(&mut self) {
        if let Some(whole) = self.whole.take() {
            self.set_slot(DOCUMENT, Evaluated::Ref(ValueRef::Document(whole.whole())));
        }
    }

    /// What a slot holds.
    pub(crate) fn slot_value(&mut self, slot: usize) -> Result<Evaluated<'a>, Error> {
        self.value_at(slot, &[])
    }

    /// The value at a path inside a slot. A part of the stored document is borrowed; a part of a
    /// computed value is copied, because the slot may be filled again before the value is used.
    pub(super) fn value_at(
        &mut self,
        slot: usize,
        names: &[String],
    ) -> Result<Evaluated<'a>, Error> {
        match self.slots.get(slot).map(|slot| &slot.value) {
            Some(Evaluated::Ref(value)) => Ok(self.descend(*value, names)?.into()),
            Some(Evaluated::Own(value)) => {
                let Some(found) = self.descend(value.as_ref(), names)? else {
                    return Ok(Evaluated::Missing);
                };
                let memory = Size::of_value(found).memory;
                self.context.budget.spend_bounded(memory)?;
                self.check_room(memory)?;
                Ok(Evaluated::Own(found.to_value()))
            }
            _ => Ok(Evaluated::Missing),
        }
    }

    /// Follows property names inward; nothing where one is missing or the value is not an object.
    /// Fields that a search passes over are counted as work: an object may have very many.
    fn descend<'v>(
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
        self.spend_touching(value)?;
        Ok(Some(value))
    }

    /// Counts the work of finding a field or an element after passing over `others` of them.
    pub(super) fn passed_over(&self, others: usize) -> Result<(), Error> {
        match others.checked_sub(NEAR) {
            None => Ok(()),
            Some(far) => self.context.budget.spend_bounded(far.saturating_mul(FURTHER)),
        }
    }

    /// Counts the work of coming across a value.
    pub(crate) fn spend_touching(&self, value: ValueRef<'_>) -> Result<(), Error> {
        match work_of_touching(value) {
            0 => Ok(()),
            units => self.context.budget.spend_bounded(units),
        }
    }

    /// Counts one step of work.
    pub(crate) fn spend_step(&self) -> Result<(), Error> {
        self.context.budget.spend_bounded(STEP)
    }

    /// Counts the work of handling so many bytes.
    pub(crate) fn spend_bytes(&self, bytes: usize) -> Result<(), Error> {
        self.context.budget.spend_bounded(bytes)
    }

    /// Counts the work of reading a value as a whole.
    pub(crate) fn spend_reading(&self, value: &Evaluated<'_>) -> Result<(), Error> {
        self.context.budget.spend_bounded(value.value().map_or(0, weight_of))
    }

    /// Counts the work of making the key of a value.
    pub(crate) fn spend_keying(&self, value: &Evaluated<'_>) -> Result<(), Error> {
        self.context.budget.spend_bounded(value.value().map_or(0, work_of_keying))
    }

    /// Counts the work of keeping a row, or of finding its group.
    pub(crate) fn spend_keeping(&self) -> Result<(), Error> {
        self.context.budget.spend_bounded(KEEP)
    }

    /// Appends the key of a value to `out`, and counts the work and room that takes: a value with
    /// objects inside is copied for it.
    pub(crate) fn append_identity(
        &self,
        value: &Evaluated<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.spend_keying(value)?;
        if let Some(value @ (ValueRef::Array(_) | ValueRef::Document(_))) = value.value() {
            // It may be copied so that its properties have an order.
            self.check_room(out.len().saturating_add(Size::of_value(value).memory))?;
        }
        append_identity(value.value(), out);
        self.check_room(out.len())
    }

    /// Evaluates something else while a value is held, such as the right operand while the left one
    /// is there.
    pub(crate) fn while_holding<T>(
        &mut self,
        value: &Evaluated<'_>,
        then: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let held = owned_bytes(value);
        self.hold_bytes(held)?;
        let done = then(self)?;
        self.release_bytes(held);
        Ok(done)
    }

    /// Fails when `bytes` beside those that are held would be too many.
    pub(crate) fn check_room(&self, bytes: usize) -> Result<(), Error> {
        check_held(self.held.saturating_add(bytes), &self.context.holding)
    }

    /// Bytes that are held.
    pub(crate) fn held_bytes(&self) -> usize {
        self.held
    }

    /// Counts `bytes` as held until `release_bytes` gives them back.
    pub(crate) fn hold_bytes(&mut self, bytes: usize) -> Result<(), Error> {
        self.held = self.held.saturating_add(bytes);
        check_held(self.held, &self.context.holding)
    }

    /// So much is held no longer.
    pub(crate) fn release_bytes(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }
}
