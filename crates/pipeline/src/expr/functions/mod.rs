//! Functions of expressions by name, in one table; a family of functions is one file. Arguments
//! come evaluated; forms that decide what to evaluate are not here.
//!
//! A new function is a row in the table of its family (name, what it takes, the function, a line
//! for the page of what is supported). The parser finds it by the table and checks the number or
//! the names of its arguments.
//!
//! Null in, null out: most functions return null when an argument is null or missing. Each says so
//! itself, since some do not.

mod accumulate;
mod arithmetic;
mod array;
mod array_make;
mod bits;
mod boolean;
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

/// What a function takes.
/// The parser checks it, so that functions get as many arguments as they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// So many arguments, an array of them or, for one, the argument alone.
    Exactly(usize),
    /// At least and at most so many.
    Between(usize, usize),
    /// Any number.
    Any,
    /// Arguments by name, in the order in which the function gets them.
    Named(&'static [Param]),
    /// One argument, or a document with `date` and `timezone`.
    DateOrNamed,
}

/// A named argument.
/// An argument that is not given is `Absent`, which is not the same as missing: a default holds for
/// the first only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Whether it has to be given.
    pub required: bool,
}

/// A required argument.
pub(crate) const fn required(name: &'static str) -> Param {
    Param { name, required: true }
}

/// An optional argument.
pub(crate) const fn optional(name: &'static str) -> Param {
    Param { name, required: false }
}

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Function {
    /// Its name, with the `$`.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it is for.
    /// It is printed on the page of what is supported.
    pub about: &'static str,
    /// What it does.
    eval: fn(&In<'_>) -> OptionalValue,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A row.
pub(crate) const fn row(
    name: &'static str,
    takes: Takes,
    eval: fn(&In<'_>) -> OptionalValue,
    about: &'static str,
) -> Function {
    Function { name, takes, about, eval }
}

/// One evaluation of a function: its name for messages, its arguments, and the environment.
/// `arg_at` says that an argument was not given, wherever it would stand.
#[derive(Debug)]
pub struct In<'a> {
    /// The function's name, with the `$`.
    pub(crate) name: &'static str,
    /// The values of its arguments.
    pub(crate) args: &'a [Evaluated<'a>],
    /// The document and the variables around the call.
    pub(crate) env: &'a Env<'a>,
}

impl<'a> In<'a> {
    /// An argument; absent past the end.
    pub(crate) fn arg_at(&self, index: usize) -> &'a Evaluated<'a> {
        self.args.get(index).unwrap_or(&Evaluated::Absent)
    }

    /// The account of what the call is building, empty so far.
    pub(crate) fn new_growth(&self) -> Growth<'a> {
        self.env.new_growth()
    }

    /// Whether any argument is null or missing.
    pub(crate) fn any_nullish(&self) -> bool {
        self.args.iter().any(Evaluated::is_nullish)
    }

    /// An argument's value, undefined for nothing.
    /// For functions that treat missing as they treat null, or compare it.
    pub(crate) fn value_at(&self, index: usize) -> ValueRef<'a> {
        self.arg_at(index).operand()
    }
}

/// Work of one call.
const CALL: usize = 128;

impl Function {
    /// Evaluates the arguments, then the function. While one argument is evaluated, those before it
    /// are counted as held.
    /// All arguments are evaluated, also where the first one decides; what must not be so is a
    /// form.
    pub(crate) fn call_with<'e>(
        &'static self,
        args: &'e [Expr],
        env: &Env<'e>,
    ) -> Result<Evaluated<'e>, Error> {
        match args {
            // One and two arguments are most calls: they need no vector.
            [a] => {
                let a = a.evaluate_borrowed(env)?;
                // What an argument borrows is held by the document.
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

    /// Runs the function while `held` bytes of arguments are held. What it reads and makes is
    /// counted, and a result that is too large or too deep is refused.
    /// Reading the arguments is work that is not bounded for one evaluation, since the document was
    /// read anyway; what the function makes is.
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
        let answer = (self.eval)(&In { name: self.name, args, env: &env.with_held(held)? })?;
        if let Some(value @ (Value::String(_) | Value::Array(_) | Value::Document(_))) = &answer {
            // Numbers and the like are too small to check.
            budget.spend_bounded(check_built(value.as_ref())?.memory)?;
        }
        let answer = answer.map(value_without_spare_room);
        Ok(Evaluated::from(answer))
    }
}

/// All families.
static FAMILIES: [&[Function]; 19] = [
    accumulate::FUNCTIONS,
    arithmetic::FUNCTIONS,
    array::FUNCTIONS,
    array_make::FUNCTIONS,
    bits::FUNCTIONS,
    boolean::FUNCTIONS,
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

/// Every function.
pub fn all_functions() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The function of this name (with the `$`).
/// Only the parser asks, once for each call in a request.
pub fn find_function(name: &str) -> Option<&'static Function> {
    all_functions().find(|function| function.name == name)
}
