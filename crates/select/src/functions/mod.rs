//! Built-in functions by name, in one table; each family of functions is one file. An argument that
//! is undefined or of a wrong type makes the result undefined. Errors are limits and invalid
//! patterns only.
//!
//! A new function is a row in the table of its family and a function from [`Call`] to a value. The
//! binder and the documentation of supported functions read the table.

mod array;
mod array_search;
mod call;
mod choice;
mod conversion;
mod date;
mod integer;
mod math;
mod names;
mod set;
mod spatial;
mod text;
mod trigonometry;
mod types;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use document::Value;
use evaluation::{Context, Error, Evaluated, check_built, check_held, without_spare_room};

use crate::work::work_of_reading;

pub use geometry::Surface;
pub use names::{LATER, is_later};

/// A call with evaluated arguments. An undefined argument is [`Evaluated::Missing`].
#[derive(Debug)]
pub struct Call<'c, 'a> {
    /// The evaluated arguments in order.
    pub args: &'c [Evaluated<'a>],
    /// The operation's context: its instant, random numbers and budget.
    pub context: &'c Context,
    /// Bytes that the evaluation holds outside of the call, including the call's arguments.
    held: usize,
}

/// Evaluates a call; an undefined result is [`Evaluated::Missing`].
pub type Eval = for<'a> fn(&Call<'_, 'a>) -> Result<Evaluated<'a>, Error>;

/// A built-in function of the language.
#[derive(Debug)]
pub struct Function {
    /// The function's name in capitals.
    pub name: &'static str,
    /// The accepted number of arguments.
    pub args: RangeInclusive<usize>,
    /// Evaluates a call. [`Function::run`] also counts the work.
    pub eval: Eval,
    /// Whether the function reads its arguments in full and not only their types. The work of
    /// reading is then counted before each call.
    pub reads: bool,
}

const CALL: usize = 128;

impl Function {
    /// Returns whether the function returns the same value for the same arguments: it uses neither
    /// the current time nor random numbers.
    pub fn is_repeatable(&self) -> bool {
        let reads_time = self.name.starts_with("GETCURRENT") || matches!(self.name, "NOW" | "AGO");
        !reads_time && self.name != "RAND"
    }

    /// Evaluates a call; `held` is the number of bytes that the evaluation holds outside of it.
    /// Counts the bytes that the function reads and builds, and refuses a result that is too large
    /// or nested too deeply.
    pub fn run<'a>(
        &self,
        args: &[Evaluated<'a>],
        context: &Context,
        held: usize,
    ) -> Result<Evaluated<'a>, Error> {
        context.budget.spend_bounded(CALL)?;
        if self.reads {
            context.budget.spend_bounded(
                args.iter().filter_map(Evaluated::value).map(work_of_reading).sum(),
            )?;
        }
        let got = without_spare_room((self.eval)(&Call { args, context, held })?);
        if let Evaluated::Owned(value @ (Value::String(_) | Value::Array(_) | Value::Document(_))) =
            &got
        {
            let size = check_built(value.as_ref())?;
            context.budget.spend_bounded(size.memory)?;
            check_held(held.saturating_add(size.memory), &context.operation_memory)?;
        }
        Ok(got)
    }
}

/// Returns the table row of a function that reads the whole of its arguments.
const fn row(name: &'static str, args: RangeInclusive<usize>, eval: Eval) -> Function {
    Function { name, args, eval, reads: true }
}

/// Returns the table row of a function that reads only the types of its arguments, so that it costs
/// the same for any argument.
const fn row_at_a_glance(name: &'static str, args: RangeInclusive<usize>, eval: Eval) -> Function {
    Function { name, args, eval, reads: false }
}

/// Maximum number of arguments of a function that takes any number.
const ANY: usize = usize::MAX;

const UNDEFINED: Result<Evaluated<'static>, Error> = Ok(Evaluated::Missing);

const FAMILIES: &[&[Function]] = &[
    array::FUNCTIONS,
    array_search::FUNCTIONS,
    choice::FUNCTIONS,
    conversion::FUNCTIONS,
    date::FUNCTIONS,
    integer::FUNCTIONS,
    math::FUNCTIONS,
    set::FUNCTIONS,
    spatial::FUNCTIONS,
    text::CASES,
    text::JOINS,
    text::PATTERNS,
    text::SEARCHES,
    text::SLICES,
    text::TRIMS,
    trigonometry::FUNCTIONS,
    types::FUNCTIONS,
];

/// Returns the function for containers whose geometries lie on a surface: that of the table, or the
/// spatial function of the same name for the plane.
pub fn on_surface(function: &'static Function, surface: Surface) -> &'static Function {
    match surface {
        Surface::Earth => function,
        Surface::Plane => {
            let in_plane = spatial::IN_PLANE.iter().find(|it| it.name == function.name);
            in_plane.unwrap_or(function)
        }
    }
}

/// Returns the functions of all families.
pub fn all_functions() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// Returns the function with this name or alias, ignoring case.
pub fn find_function(name: &str) -> Option<&'static Function> {
    let name = names::resolve_alias(name);
    all_functions().find(|function| function.name.eq_ignore_ascii_case(name))
}
