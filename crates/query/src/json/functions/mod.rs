//! Built-in functions by name, one table; a family is one file.

use std::ops::RangeInclusive;

use crate::{Context, Error, expr::Got};

/// A call: arguments are evaluated already, one that is undefined is [`Got::Missing`].
#[derive(Debug)]
pub struct Call<'c, 'a> {
    /// Arguments in order.
    pub args: &'c [Got<'a>],
    /// The operation: its instant, random numbers and effort.
    pub context: &'c Context,
}

/// Evaluates a call; undefined is [`Got::Missing`].
pub type Eval = for<'a> fn(&Call<'_, 'a>) -> Result<Got<'a>, Error>;

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name in capitals.
    pub name: &'static str,
    /// How many arguments it takes.
    pub args: RangeInclusive<usize>,
    /// What it does.
    pub eval: Eval,
}

/// All families.
const FAMILIES: &[&[Function]] = &[];

/// The function of this name; case does not count.
pub fn find(name: &str) -> Option<&'static Function> {
    let mut all = FAMILIES.iter().flat_map(|family| family.iter());
    all.find(|function| function.name.eq_ignore_ascii_case(name))
}
