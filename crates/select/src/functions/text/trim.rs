//! Trims white space, or the characters of a second string, from the ends of a string.

use evaluation::{Error, Evaluated, TrimEnds, trim_chars, trim_ends};

use super::{
    super::{Call, Function, UNDEFINED, row},
    string_value,
};

pub(in super::super) const FUNCTIONS: &[Function] = &[
    row("LTRIM", 1..=2, |call| trim(call, TrimEnds::LEFT)),
    row("RTRIM", 1..=2, |call| trim(call, TrimEnds::RIGHT)),
    row("TRIM", 1..=2, |call| trim(call, TrimEnds::BOTH)),
];

/// Removes white space, or the characters of the second argument, from the ends of the first string
/// that `ends` names.
fn trim<'a>(call: &Call<'_, 'a>, ends: TrimEnds) -> Result<Evaluated<'a>, Error> {
    let Some(text) = call.text_at(0) else { return UNDEFINED };
    if !call.is_given(1) {
        return Ok(string_value(trim_ends(text, ends, char::is_whitespace)));
    }
    let Some(chars) = call.text_at(1) else { return UNDEFINED };
    Ok(string_value(trim_chars(text, ends, chars, call.budget())?))
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
