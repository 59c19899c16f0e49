//! String functions. Positions and lengths are in UTF-16 code units.

mod case;
mod join;
mod pattern;
mod search;
mod slice;
mod trim;
mod utf16;

pub(super) use case::FUNCTIONS as CASES;
pub(super) use join::FUNCTIONS as JOINS;
pub(super) use pattern::FUNCTIONS as PATTERNS;
pub(super) use search::FUNCTIONS as SEARCHES;
pub(super) use slice::FUNCTIONS as SLICES;
pub(super) use trim::FUNCTIONS as TRIMS;

use document::Value;
use evaluation::{Error, Evaluated, Size};

use super::Call;

fn string_value(text: impl Into<String>) -> Evaluated<'static> {
    Evaluated::Owned(Value::String(text.into()))
}

/// Returns an array of strings, checking its size while it is built.
fn string_array<'t>(
    call: &Call<'_, '_>,
    texts: impl Iterator<Item = Result<&'t str, Error>>,
) -> Result<Evaluated<'static>, Error> {
    let mut growth = call.new_growth();
    let mut all = Vec::new();
    for text in texts {
        let text = text?;
        growth.add_size(Size::of_text(text.len()))?;
        growth.push_value(&mut all, Value::from(text))?;
    }
    Ok(Evaluated::Owned(Value::Array(all)))
}

fn bool_value(value: bool) -> Evaluated<'static> {
    Evaluated::Owned(Value::Bool(value))
}
