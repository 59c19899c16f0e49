//! Characters taken off the ends of a string: white space, or those that a second string has.

use std::collections::HashSet;

use evaluation::{Error, Evaluated};

use super::{
    super::{Call, Function, UNDEFINED, row},
    string_value,
};

pub(in super::super) const FUNCTIONS: &[Function] = &[
    row("LTRIM", 1..=2, |call| trim(call, true, false)),
    row("RTRIM", 1..=2, |call| trim(call, false, true)),
    row("TRIM", 1..=2, |call| trim(call, true, true)),
];

/// Work of one character of a set.
const ONE: usize = 32;

/// Takes white space off the ends, or the characters of a second string.
fn trim<'a>(call: &Call<'_, 'a>, left: bool, right: bool) -> Result<Evaluated<'a>, Error> {
    let Some(text) = call.text_at(0) else { return UNDEFINED };
    if !call.is_given(1) {
        return Ok(string_value(trim_ends(text, left, right, char::is_whitespace)));
    }
    let Some(chars) = call.text_at(1) else { return UNDEFINED };
    call.spend_work(chars.len().saturating_mul(ONE))?;
    let chars: HashSet<char> = chars.chars().collect();
    Ok(string_value(trim_ends(text, left, right, |c| chars.contains(&c))))
}

/// The text without the characters that `goes` is true for at the wanted ends.
fn trim_ends(text: &str, left: bool, right: bool, goes: impl Fn(char) -> bool) -> &str {
    let text = if left { text.trim_start_matches(&goes) } else { text };
    if right { text.trim_end_matches(&goes) } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::check;

    #[test]
    fn ends_are_taken_off() {
        check(&[
            ("TRIM('   Adventure Works   ')", "'Adventure Works'"),
            ("TRIM('\\t\\u00a0x\\n')", "'x'"),
            ("TRIM('---AdventureWorks---')", "'---AdventureWorks---'"),
            ("TRIM('---AdventureWorks---','-')", "'AdventureWorks'"),
            ("TRIM('-- AdventureWorks --','-')", "' AdventureWorks '"),
            ("TRIM('-_-AdventureWorks-_-','-_')", "'AdventureWorks'"),
            ("TRIM('  x  ','')", "'  x  '"),
            ("TRIM('   ')", "''"),
            ("TRIM(1)", "undefined"),
            ("TRIM('a',1)", "undefined"),
            ("TRIM('a',undefined)", "undefined"),
            ("LTRIM('  x  ')", "'x  '"),
            ("LTRIM('__x__','_')", "'x__'"),
            ("RTRIM('  x  ')", "'  x'"),
            ("RTRIM('__x__','_')", "'__x'"),
        ]);
    }
}
