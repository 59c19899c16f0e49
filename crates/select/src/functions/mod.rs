//! Built-in functions by name, in one table; a family of functions is one file. An argument that is
//! undefined or of a wrong type makes the result undefined, not an error: errors are limits and
//! wrong patterns only.
//!
//! A new function is a row in the table of its family and a function from [`Call`] to a value. The
//! binder finds it by the table, and so does the page of what is supported.

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
mod text;
mod trigonometry;
mod types;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use document::Value;
use evaluation::{Context, Error, Evaluated, check_built, check_held, without_spare_room};

use crate::work::work_of_reading;

pub use names::{LATER, is_later};

/// A call: arguments are evaluated already, one that is undefined is [`Evaluated::Missing`].
#[derive(Debug)]
pub struct Call<'c, 'a> {
    /// Arguments in order.
    pub args: &'c [Evaluated<'a>],
    /// The operation: its instant, random numbers and budget.
    pub context: &'c Context,
    /// Bytes that are held around it, those of its arguments included.
    held: usize,
}

/// Evaluates a call; undefined is [`Evaluated::Missing`].
pub type Eval = for<'a> fn(&Call<'_, 'a>) -> Result<Evaluated<'a>, Error>;

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name in capitals.
    pub name: &'static str,
    /// How many arguments it takes.
    pub args: RangeInclusive<usize>,
    /// What it does; [`Function::run`] also counts the work.
    pub eval: Eval,
    /// Whether it reads its arguments as a whole, and not their types alone; then the work of that
    /// is counted before each call.
    pub reads: bool,
}

/// Work of one call.
const CALL: usize = 128;

impl Function {
    /// Whether it returns the same for the same arguments: it reads neither the time nor random
    /// numbers.
    pub fn is_repeatable(&self) -> bool {
        let reads_time = self.name.starts_with("GETCURRENT") || matches!(self.name, "NOW" | "AGO");
        !reads_time && self.name != "RAND"
    }

    /// Evaluates a call while `held` bytes are held around it. Counts what the function reads and
    /// builds, and refuses a result that is too large or too deep.
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
        if let Evaluated::Own(value @ (Value::String(_) | Value::Array(_) | Value::Document(_))) =
            &got
        {
            let size = check_built(value.as_ref())?;
            context.budget.spend_bounded(size.memory)?;
            check_held(held.saturating_add(size.memory), &context.holding)?;
        }
        Ok(got)
    }
}

/// A row of a table: a function that reads its arguments.
const fn row(name: &'static str, args: RangeInclusive<usize>, eval: Eval) -> Function {
    Function { name, args, eval, reads: true }
}

/// A row of a table: a function that looks at types alone, and so costs the same for any argument.
const fn row_at_a_glance(name: &'static str, args: RangeInclusive<usize>, eval: Eval) -> Function {
    Function { name, args, eval, reads: false }
}

/// Most arguments of a function that takes any number.
const ANY: usize = usize::MAX;

/// The undefined answer.
const UNDEFINED: Result<Evaluated<'static>, Error> = Ok(Evaluated::Missing);

/// All families.
const FAMILIES: &[&[Function]] = &[
    array::FUNCTIONS,
    array_search::FUNCTIONS,
    choice::FUNCTIONS,
    conversion::FUNCTIONS,
    date::FUNCTIONS,
    integer::FUNCTIONS,
    math::FUNCTIONS,
    set::FUNCTIONS,
    text::CASES,
    text::JOINS,
    text::PATTERNS,
    text::SEARCHES,
    text::SLICES,
    text::TRIMS,
    trigonometry::FUNCTIONS,
    types::FUNCTIONS,
];

/// Every function.
pub fn all_functions() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The function of this name, or of the name that it stands for; case does not count.
pub fn find_function(name: &str) -> Option<&'static Function> {
    let name = names::resolve_alias(name);
    all_functions().find(|function| function.name.eq_ignore_ascii_case(name))
}
