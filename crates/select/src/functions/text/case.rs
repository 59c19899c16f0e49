//! Upper and lower case, character by character: a character without a single counterpart is
//! unchanged.

use std::borrow::Cow;

use evaluation::{Error, Evaluated};

use super::{
    super::{Call, Function, row},
    string_value,
};

pub(in super::super) const FUNCTIONS: &[Function] = &[
    row("LOWER", 1..=1, |call| map_characters(call, to_lower)),
    row("UPPER", 1..=1, |call| map_characters(call, to_upper)),
];

/// Units of work charged per byte of a string whose case is converted.
const ONE: usize = 8;

/// Applies a function to every character of the first argument; undefined if it is not a string.
fn map_characters<'a>(
    call: &Call<'_, 'a>,
    function: fn(char) -> char,
) -> Result<Evaluated<'a>, Error> {
    let Some(text) = call.text_at(0) else { return Ok(Evaluated::Missing) };
    call.spend_work(text.len().saturating_mul(ONE))?;
    Ok(string_value(text.chars().map(function).collect::<String>()))
}

/// Returns the character that `c` is mapped to, or `c` itself if it is mapped to several: the
/// number of characters of a string does not change.
fn single_or_self(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(mapped), None) => mapped,
        _ => c,
    }
}

fn to_lower(c: char) -> char {
    single_or_self(c, c.to_lowercase())
}

fn to_upper(c: char) -> char {
    single_or_self(c, c.to_uppercase())
}

/// Returns a string for comparison. If case is ignored, it is converted first to upper and then to
/// lower case, since some characters share only their upper case.
pub(super) fn folded_case(text: &str, ignore_case: bool) -> Cow<'_, str> {
    if !ignore_case {
        return Cow::Borrowed(text);
    }
    Cow::Owned(if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.chars().map(|c| to_lower(to_upper(c))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::{super::super::tests::check, *};

    #[test]
    fn case_is_changed_character_by_character() {
        check(&[
            ("LOWER('AdventureWORKS')", "'adventureworks'"),
            ("LOWER('ÀÉΣ')", "'àéσ'"),
            ("LOWER(1)", "undefined"),
            ("UPPER('adventureWorks é')", "'ADVENTUREWORKS É'"),
            ("UPPER('ß')", "'ß'"),
            ("UPPER(undefined)", "undefined"),
            ("UPPER('')", "''"),
        ]);
    }

    #[test]
    fn folded_strings_are_the_same_whatever_their_case() {
        for (a, b) in [("abc", "ABC"), ("Éa", "éA"), ("Σας", "ΣΑΣ"), ("ı", "I")] {
            assert_eq!(folded_case(a, true), folded_case(b, true));
            assert_ne!(folded_case(a, false), folded_case(b, false));
        }
    }
}
