//! Upper and lower case, character by character: a character without a single counterpart stays as
//! it is.

use std::borrow::Cow;

use evaluation::{Error, Evaluated};

use super::{
    super::{Call, Function, row},
    string,
};

pub(in super::super) const FUNCTIONS: &[Function] =
    &[row("LOWER", 1..=1, |call| each(call, lower)), row("UPPER", 1..=1, |call| each(call, upper))];

/// Work of one character, for each of its bytes.
const ONE: usize = 8;

fn each<'a>(call: &Call<'_, 'a>, function: fn(char) -> char) -> Result<Evaluated<'a>, Error> {
    let Some(text) = call.text(0) else { return Ok(Evaluated::Missing) };
    call.spend(text.len().saturating_mul(ONE))?;
    Ok(string(text.chars().map(function).collect::<String>()))
}

/// The only character of several, or the one they were made of.
fn single(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(mapped), None) => mapped,
        _ => c,
    }
}

fn lower(c: char) -> char {
    single(c, c.to_lowercase())
}

fn upper(c: char) -> char {
    single(c, c.to_uppercase())
}

/// A string as it is compared when case does not count.
pub(super) fn folded(text: &str, ignore_case: bool) -> Cow<'_, str> {
    if !ignore_case {
        return Cow::Borrowed(text);
    }
    Cow::Owned(if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.chars().map(|c| lower(upper(c))).collect()
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
            assert_eq!(folded(a, true), folded(b, true));
            assert_ne!(folded(a, false), folded(b, false));
        }
    }
}
