//! Arguments of a call by position and type. Each accessor returns `None` if the argument is
//! undefined, missing or of another type, so that a function reads all of its arguments in one
//! `let ... else`.

use document::{ArrayRef, DocRef, ValueRef};
use evaluation::{Budget, Error, Evaluated, Growth};

use super::Call;
use crate::number::{to_f64, to_i64};

impl<'c> Call<'c, '_> {
    /// Returns the argument at this position; `None` if it is undefined or was not given.
    pub(super) fn argument(&self, at: usize) -> Option<ValueRef<'c>> {
        self.args.get(at).and_then(Evaluated::value)
    }

    /// Returns whether the call has an argument at this position, even an undefined one.
    pub(super) fn is_given(&self, at: usize) -> bool {
        self.args.get(at).is_some_and(|got| !got.is_absent())
    }

    /// Returns an argument if it is a string.
    pub(super) fn text_at(&self, at: usize) -> Option<&'c str> {
        self.argument(at).and_then(ValueRef::as_str)
    }

    /// Returns an argument as a double if it is a number.
    pub(super) fn number_at(&self, at: usize) -> Option<f64> {
        self.argument(at).and_then(to_f64)
    }

    /// Returns an argument if it is a number without a fraction.
    pub(super) fn integer_at(&self, at: usize) -> Option<i64> {
        self.argument(at).and_then(to_i64)
    }

    /// Returns an argument if it is an array.
    pub(super) fn array_at(&self, at: usize) -> Option<ArrayRef<'c>> {
        self.argument(at).and_then(ValueRef::as_array)
    }

    /// Returns an argument if it is an object.
    pub(super) fn object_at(&self, at: usize) -> Option<DocRef<'c>> {
        self.argument(at).and_then(ValueRef::as_document)
    }

    /// Returns an optional boolean: false if it was not given, `None` if it is not a boolean.
    pub(super) fn flag_at(&self, at: usize) -> Option<bool> {
        if self.is_given(at) { self.argument(at)?.as_bool() } else { Some(false) }
    }

    /// Returns an optional integer: `default` if it was not given, `None` if it is not an integer.
    pub(super) fn integer_or(&self, at: usize, default: i64) -> Option<i64> {
        if self.is_given(at) { self.integer_at(at) } else { Some(default) }
    }

    /// Starts the accounting of the value that the call builds.
    pub(super) fn new_growth(&self) -> Growth<'c> {
        Growth::with_held(self.held, self.context)
    }

    pub(super) fn budget(&self) -> &'c Budget {
        &self.context.budget
    }

    /// Counts work of the call other than reading its arguments.
    pub(super) fn spend_work(&self, units: usize) -> Result<(), Error> {
        self.budget().spend_bounded(units)
    }
}
