//! Functions of expressions by name, in one table; each family of functions is one file. Their
//! arguments are evaluated before the call; forms, which decide what to evaluate, are not here.
//!
//! A new function is a row in the table of its family: name, arguments, function, and a line for
//! the documentation of supported functions. The parser reads the table, and checks the number or
//! the names of the arguments.
//!
//! Most functions return null if an argument is null or missing. Each implements that itself, since
//! some do not.

mod accumulate;
mod arithmetic;
mod array;
mod array_make;
mod bits;
mod comparison;
mod convert;
mod date;
mod date_cursor;
mod date_math;
mod date_parse;
mod date_text;
mod decimal_logs;
mod fields;
mod hexadecimal;
mod number;
mod object;
mod powers;
mod rounding;
mod set;
mod string;
mod substring;
mod trigonometry;
mod type_;
mod zone;

use document::{Value, ValueRef};
use evaluation::{
    Error, Evaluated, Growth, check_built, owned_bytes, readable_bytes, value_without_spare_room,
};

use super::{Env, Expr, OptionalValue};

/// The arguments of a function. The parser checks them, so functions can rely on their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// This number of arguments: an array of them or, for one, the argument itself.
    Exactly(usize),
    /// A number of arguments from a minimum to a maximum.
    Between(usize, usize),
    /// Any number of arguments, including none.
    Any,
    /// Named arguments, in the order in which they are passed to the function.
    Named(&'static [Param]),
    /// One argument: a date, or a document with `date` and `timezone`.
    DateOrNamed,
}

/// A named argument. If it is not given it is `Absent`, which differs from missing: defaults apply
/// to absent arguments only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name of the argument.
    pub name: &'static str,
    /// Whether the argument is required.
    pub required: bool,
}

pub(crate) const fn required(name: &'static str) -> Param {
    Param { name, required: true }
}

pub(crate) const fn optional(name: &'static str) -> Param {
    Param { name, required: false }
}

/// A function: a row of the table.
#[derive(Clone, Copy)]
pub struct Function {
    /// The name, including the `$`.
    pub name: &'static str,
    /// The arguments that it accepts.
    pub arity: Arity,
    /// A short description for the documentation.
    pub about: &'static str,
    eval: fn(&Call<'_>) -> OptionalValue,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub(crate) const fn row(
    name: &'static str,
    arity: Arity,
    eval: fn(&Call<'_>) -> OptionalValue,
    about: &'static str,
) -> Function {
    Function { name, arity, about, eval }
}

/// One call of a function: its name for messages, its arguments, and the environment.
#[derive(Debug)]
pub struct Call<'a> {
    /// Name of the called function, including the `$`.
    pub(crate) name: &'static str,
    pub(crate) args: &'a [Evaluated<'a>],
    /// The environment of the call.
    pub(crate) env: &'a Env<'a>,
}

impl<'a> Call<'a> {
    /// Returns an argument, which is absent if the call has fewer.
    pub(crate) fn arg_at(&self, index: usize) -> &'a Evaluated<'a> {
        self.args.get(index).unwrap_or(&Evaluated::Absent)
    }

    /// Starts the accounting of the value that the call builds.
    pub(crate) fn new_growth(&self) -> Growth<'a> {
        self.env.new_growth()
    }

    /// Returns whether any argument is null or missing.
    pub(crate) fn any_nullish(&self) -> bool {
        self.args.iter().any(Evaluated::is_nullish)
    }

    /// Returns an argument's value, or undefined if it has none. For functions that treat missing
    /// like null, or compare it.
    pub(crate) fn value_at(&self, index: usize) -> ValueRef<'a> {
        self.arg_at(index).operand()
    }
}

const CALL: usize = 128;

impl Function {
    /// Evaluates the arguments, then calls the function. While one argument is evaluated, those
    /// before it are counted as held.
    pub(crate) fn call_with<'e>(
        &'static self,
        args: &'e [Expr],
        env: &Env<'e>,
    ) -> Result<Evaluated<'e>, Error> {
        match args {
            // Most calls have one or two arguments, which need no vector.
            [a] => {
                let a = a.evaluate_borrowed(env)?;
                // Only owned values count, since borrowed ones are part of the document.
                let held = owned_bytes(&a);
                self.run_function(&[a], env, held)
            }
            [a, b] => {
                let a = a.evaluate_borrowed(env)?;
                let held = owned_bytes(&a);
                let b = b.evaluate_borrowed(&env.with_held(held)?)?;
                self.run_function(&[a, b], env, held)
            }
            _ => {
                let mut got = Vec::with_capacity(args.len());
                let mut held = 0;
                for arg in args {
                    let value = arg.evaluate_borrowed(&env.with_held(held)?)?;
                    held += owned_bytes(&value);
                    got.push(value);
                }
                self.run_function(&got, env, held)
            }
        }
    }

    /// Calls the function while `held` bytes of arguments are held. Counts the bytes that it reads
    /// and builds as work, and refuses a result that is too large or too deep. Reading the
    /// arguments does not count toward the limit of one evaluation, since the document was read
    /// anyway.
    fn run_function<'e>(
        &'static self,
        args: &[Evaluated<'_>],
        env: &Env<'_>,
        held: usize,
    ) -> Result<Evaluated<'e>, Error> {
        let budget = &env.context.budget;
        let read: usize = args.iter().map(|arg| readable_bytes(arg.operand())).sum();
        budget.spend(read)?;
        budget.spend_bounded(CALL)?;
        let answer = (self.eval)(&Call { name: self.name, args, env: &env.with_held(held)? })?;
        if let Some(value @ (Value::String(_) | Value::Array(_) | Value::Document(_))) = &answer {
            // Values of other types are too small to be checked.
            budget.spend_bounded(check_built(value.as_ref())?.memory)?;
        }
        let answer = answer.map(value_without_spare_room);
        Ok(Evaluated::from(answer))
    }
}

static FAMILIES: [&[Function]; 18] = [
    accumulate::FUNCTIONS,
    arithmetic::FUNCTIONS,
    array::FUNCTIONS,
    array_make::FUNCTIONS,
    bits::FUNCTIONS,
    comparison::FUNCTIONS,
    convert::FUNCTIONS,
    date::FUNCTIONS,
    date_math::FUNCTIONS,
    date_text::FUNCTIONS,
    object::FUNCTIONS,
    powers::FUNCTIONS,
    rounding::FUNCTIONS,
    set::FUNCTIONS,
    string::FUNCTIONS,
    substring::FUNCTIONS,
    trigonometry::FUNCTIONS,
    type_::FUNCTIONS,
];

/// Returns the functions of all families.
pub fn all_functions() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// Returns the function with this name (including the `$`). Only the parser calls it, once per call
/// in a request.
pub fn find_function(name: &str) -> Option<&'static Function> {
    all_functions().find(|function| function.name == name)
}
