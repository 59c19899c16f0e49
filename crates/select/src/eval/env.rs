//! The environment of evaluation: the slots that hold the values of names, and the accounts of work
//! and memory.
//!
//! The binder assigns a slot number to every FROM alias, group key and aggregate, so evaluation
//! looks up nothing by name. Work is counted in the operation's budget. The bytes held by slots and
//! intermediate values are counted too, so that nested expressions cannot hold many times the
//! limit.

use std::fmt::Debug;

use document::{DocRef, ValueRef};
use evaluation::{Context, Error, Evaluated, Size, check_held, owned_bytes};

use crate::{
    identity::append_identity,
    plan::DOCUMENT,
    work::{weight_of, work_of_keying, work_of_touching},
};

/// Units of work charged for one node of an expression or for one row, besides the bytes it copies.
const STEP: usize = 32;
/// Units of work charged for keeping a row or adding it to a group.
const KEEP: usize = 256;
/// Number of fields and elements that one lookup may pass over without counting extra work.
const NEAR: usize = 16;
/// Units of work charged for passing over each further field or element.
const FURTHER: usize = 16;

/// The values of a query's slots, with their memory, and the units of work spent.
#[derive(Debug)]
pub struct Env<'a> {
    slots: Vec<Slot<'a>>,
    context: &'a Context,
    /// Bytes held by the values of slots and intermediate values.
    held: usize,
    /// Source of the document with system properties, while slot [`DOCUMENT`] holds the document
    /// without them.
    whole: Option<&'a dyn CompleteDocument>,
}

/// The current value of a name of the query.
#[derive(Clone, Debug)]
struct Slot<'a> {
    value: Evaluated<'a>,
    /// Bytes counted for the value in `Env::held`.
    held: usize,
}

/// Provides a stored document with its system properties.
pub trait CompleteDocument: Debug {
    /// Returns the document with its system properties.
    fn whole(&self) -> DocRef<'_>;
}

impl<'a> Env<'a> {
    /// Creates an environment with this number of empty slots.
    pub fn new(slots: usize, context: &'a Context) -> Self {
        context.begin_evaluation();
        let slots = vec![Slot { value: Evaluated::Missing, held: 0 }; slots.max(DOCUMENT + 1)];
        Self { slots, context, held: 0, whole: None }
    }

    /// Returns the context of the operation.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// Sets a slot to a value whose memory the caller counts, such as a part of the stored
    /// document.
    pub fn set_slot(&mut self, slot: usize, value: Evaluated<'a>) {
        if let Some(place) = self.slots.get_mut(slot) {
            self.held = self.held.saturating_sub(place.held);
            *place = Slot { value, held: 0 };
        }
    }

    /// Sets a slot to a computed value, whose memory is counted until the slot is set again.
    pub(crate) fn fill_slot(&mut self, slot: usize, value: Evaluated<'a>) -> Result<(), Error> {
        let held = owned_bytes(&value);
        self.set_slot(slot, value);
        self.hold_bytes(held)?;
        if let Some(place) = self.slots.get_mut(slot) {
            place.held = held;
        }
        Ok(())
    }

    /// Sets the slot of the stored document. If `whole` is given, `complete_document` replaces the
    /// document by it.
    pub(crate) fn set_document(
        &mut self,
        document: DocRef<'a>,
        whole: Option<&'a dyn CompleteDocument>,
    ) {
        self.set_slot(DOCUMENT, Evaluated::Ref(ValueRef::Document(document)));
        self.whole = whole;
    }

    /// Replaces the document in its slot by the one with system properties. Called when a row makes
    /// a result, so that rows that a condition rejects do not pay for these properties.
    pub(crate) fn complete_document(&mut self) {
        if let Some(whole) = self.whole.take() {
            self.set_slot(DOCUMENT, Evaluated::Ref(ValueRef::Document(whole.whole())));
        }
    }

    pub(crate) fn slot_value(&mut self, slot: usize) -> Result<Evaluated<'a>, Error> {
        self.value_at(slot, &[])
    }

    /// Returns the value at a path inside a slot. A part of the stored document is borrowed; a part
    /// of a computed value is copied, because the slot may be set again before the value is used.
    pub(super) fn value_at(
        &mut self,
        slot: usize,
        names: &[String],
    ) -> Result<Evaluated<'a>, Error> {
        match self.slots.get(slot).map(|slot| &slot.value) {
            Some(Evaluated::Ref(value)) => Ok(self.descend(*value, names)?.into()),
            Some(Evaluated::Owned(value)) => {
                let Some(found) = self.descend(value.as_ref(), names)? else {
                    return Ok(Evaluated::Missing);
                };
                let memory = Size::of_value(found).memory;
                self.context.budget.spend_bounded(memory)?;
                self.check_room(memory)?;
                Ok(Evaluated::Owned(found.to_value()))
            }
            _ => Ok(Evaluated::Missing),
        }
    }

    /// Follows the property names of a path inward from a value; `None` if one is missing or a
    /// value on the way is not an object. Fields passed over by the search are counted as work,
    /// since an object may have very many.
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

    /// Counts the work of visiting a value.
    pub(crate) fn spend_touching(&self, value: ValueRef<'_>) -> Result<(), Error> {
        match work_of_touching(value) {
            0 => Ok(()),
            units => self.context.budget.spend_bounded(units),
        }
    }

    pub(crate) fn spend_step(&self) -> Result<(), Error> {
        self.context.budget.spend_bounded(STEP)
    }

    /// Counts the work of processing this number of bytes.
    pub(crate) fn spend_bytes(&self, bytes: usize) -> Result<(), Error> {
        self.context.budget.spend_bounded(bytes)
    }

    /// Counts the work of reading a whole value.
    pub(crate) fn spend_reading(&self, value: &Evaluated<'_>) -> Result<(), Error> {
        self.context.budget.spend_bounded(value.value().map_or(0, weight_of))
    }

    pub(crate) fn spend_keying(&self, value: &Evaluated<'_>) -> Result<(), Error> {
        self.context.budget.spend_bounded(value.value().map_or(0, work_of_keying))
    }

    /// Counts the work of storing a row, or of finding the group that it belongs to.
    pub(crate) fn spend_keeping(&self) -> Result<(), Error> {
        self.context.budget.spend_bounded(KEEP)
    }

    /// Appends the identity key of a value to `out`. Counts the work, and checks the memory that
    /// making the key needs, because a value that contains objects is copied.
    pub(crate) fn append_identity(
        &self,
        value: &Evaluated<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.spend_keying(value)?;
        if let Some(value @ (ValueRef::Array(_) | ValueRef::Document(_))) = value.value() {
            // A copy may be made to sort the properties.
            self.check_room(out.len().saturating_add(Size::of_value(value).memory))?;
        }
        append_identity(value.value(), out);
        self.check_room(out.len())
    }

    /// Runs `then` while a value is counted as held, such as the left operand while the right one
    /// is evaluated.
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

    /// Fails if holding `bytes` more would exceed the memory that one expression may hold. The
    /// number of bytes held does not change.
    pub(crate) fn check_room(&self, bytes: usize) -> Result<(), Error> {
        check_held(self.held.saturating_add(bytes), &self.context.operation_memory)
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.held
    }

    /// Counts `bytes` as held until `release_bytes`.
    pub(crate) fn hold_bytes(&mut self, bytes: usize) -> Result<(), Error> {
        self.held = self.held.saturating_add(bytes);
        check_held(self.held, &self.context.operation_memory)
    }

    /// Subtracts `bytes` from those counted as held.
    pub(crate) fn release_bytes(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }
}
