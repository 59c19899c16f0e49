//! Arguments of a call by position and type.

use document::{ArrayRef, DocRef, ValueRef};
use evaluation::{Error, Evaluated, Growth};

use super::Call;
use crate::number::{to_f64, to_i64};

impl<'c> Call<'c, '_> {
    /// The argument at this position; none if it is undefined or was not given.
    pub(super) fn value(&self, at: usize) -> Option<ValueRef<'c>> {
        self.args.get(at).and_then(Evaluated::value)
    }

    /// Whether an argument stands at this position, undefined or not.
    pub(super) fn is_given(&self, at: usize) -> bool {
        self.args.get(at).is_some_and(|got| !got.is_absent())
    }

    /// A string.
    pub(super) fn text(&self, at: usize) -> Option<&'c str> {
        self.value(at).and_then(ValueRef::as_str)
    }

    /// A number as a double.
    pub(super) fn number(&self, at: usize) -> Option<f64> {
        self.value(at).and_then(to_f64)
    }

    /// A whole number.
    pub(super) fn integer(&self, at: usize) -> Option<i64> {
        self.value(at).and_then(to_i64)
    }

    /// An array.
    pub(super) fn array(&self, at: usize) -> Option<ArrayRef<'c>> {
        self.value(at).and_then(ValueRef::as_array)
    }

    /// An object.
    pub(super) fn object(&self, at: usize) -> Option<DocRef<'c>> {
        self.value(at).and_then(ValueRef::as_document)
    }

    /// An optional boolean, false when it was not given.
    pub(super) fn flag(&self, at: usize) -> Option<bool> {
        if self.is_given(at) { self.value(at)?.as_bool() } else { Some(false) }
    }

    /// An optional whole number.
    pub(super) fn integer_or(&self, at: usize, default: i64) -> Option<i64> {
        if self.is_given(at) { self.integer(at) } else { Some(default) }
    }

    /// What it is building: nothing yet.
    pub(super) fn growth(&self) -> Growth<'c> {
        Growth::beside(self.held, self.context)
    }

    /// Work that the call does besides reading its arguments.
    pub(super) fn spend(&self, units: usize) -> Result<(), Error> {
        self.context.budget.spend_bounded(units)
    }
}
