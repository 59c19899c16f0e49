//! Parts of strings by position or by delimiter, and reversal.

use evaluation::{Error, Evaluated};

use super::{
    super::{Call, Function, UNDEFINED, row},
    string_value, utf16,
};
use crate::number::integer_value;

pub(in super::super) const FUNCTIONS: &[Function] = &[
    row("LASTSUBSTRINGAFTER", 2..=2, |call| {
        one_side(call, |text, at| Some(text.rsplit_once(at)?.1))
    }),
    row("LASTSUBSTRINGBEFORE", 2..=2, |call| {
        one_side(call, |text, at| Some(text.rsplit_once(at)?.0))
    }),
    row("LEFT", 2..=2, left),
    row("LENGTH", 1..=1, length),
    row("REVERSE", 1..=1, reverse),
    row("RIGHT", 2..=2, right),
    row("SUBSTRING", 3..=3, substring),
    row("SUBSTRINGAFTER", 2..=2, |call| one_side(call, |text, at| Some(text.split_once(at)?.1))),
    row("SUBSTRINGBEFORE", 2..=2, |call| one_side(call, |text, at| Some(text.split_once(at)?.0))),
];

/// Returns the text on one side of a delimiter; undefined if the delimiter does not occur.
fn one_side<'a>(
    call: &Call<'_, 'a>,
    side: for<'t> fn(&'t str, &str) -> Option<&'t str>,
) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(delimiter)) = (call.text_at(0), call.text_at(1)) else {
        return UNDEFINED;
    };
    Ok(side(text, delimiter).map_or(Evaluated::Missing, string_value))
}

/// `LENGTH("abc")` is 3; the length is in UTF-16 code units, as in JavaScript.
fn length<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let length = call.text_at(0).and_then(|text| i64::try_from(utf16::utf16_length(text)).ok());
    Ok(length.map_or(Evaluated::Missing, integer_value))
}

/// Converts an integer argument to a length: 0 for a negative one.
fn as_length(value: i64) -> usize {
    usize::try_from(value.max(0)).unwrap_or(usize::MAX)
}

fn left<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(count)) = (call.text_at(0), call.integer_at(1)) else { return UNDEFINED };
    Ok(string_value(utf16::utf16_slice(text, 0, as_length(count))))
}

fn right<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(count)) = (call.text_at(0), call.integer_at(1)) else { return UNDEFINED };
    let start = utf16::utf16_length(text).saturating_sub(as_length(count));
    Ok(string_value(utf16::utf16_slice(text, start, usize::MAX)))
}

/// `SUBSTRING("abcd", 1, 2)` is `"bc"`; empty if the position is negative.
fn substring<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(start), Some(count)) =
        (call.text_at(0), call.integer_at(1), call.integer_at(2))
    else {
        return UNDEFINED;
    };
    Ok(string_value(match usize::try_from(start) {
        Ok(start) => utf16::utf16_slice(text, start, as_length(count)),
        Err(_) => "",
    }))
}

/// Reverses a string by characters, so that the two code units of a character stay in order.
fn reverse<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    Ok(call
        .text_at(0)
        .map_or(Evaluated::Missing, |text| string_value(text.chars().rev().collect::<String>())))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::check;

    #[test]
    fn strings_are_cut_by_position() {
        check(&[
            ("LENGTH('')", "0"),
            ("LENGTH('AdventureWorks')", "14"),
            ("LENGTH('é\u{1f600}')", "3"),
            ("LENGTH(1)", "undefined"),
            ("LENGTH(undefined)", "undefined"),
            ("LEFT('Microsoft',5)", "'Micro'"),
            ("LEFT('Microsoft',0)", "''"),
            ("LEFT('Microsoft',-1)", "''"),
            ("LEFT('Microsoft',100)", "'Microsoft'"),
            ("LEFT('Microsoft',1.5)", "undefined"),
            ("LEFT('Microsoft','1')", "undefined"),
            ("LEFT('\u{1f600}x',1)", "''"),
            ("RIGHT('Microsoft',4)", "'soft'"),
            ("RIGHT('Microsoft',0)", "''"),
            ("RIGHT('Microsoft',-3)", "''"),
            ("RIGHT('Microsoft',100)", "'Microsoft'"),
            ("RIGHT('x\u{1f600}',1)", "''"),
            ("RIGHT(undefined,1)", "undefined"),
            ("SUBSTRING('AdventureWorks',0,9)", "'Adventure'"),
            ("SUBSTRING('AdventureWorks',9,5)", "'Works'"),
            ("SUBSTRING('AdventureWorks',9,99)", "'Works'"),
            ("SUBSTRING('AdventureWorks',0,-1)", "''"),
            ("SUBSTRING('AdventureWorks',-1,3)", "''"),
            ("SUBSTRING('AdventureWorks',99,3)", "''"),
            ("SUBSTRING('AdventureWorks',0.5,3)", "undefined"),
            ("SUBSTRING('AdventureWorks',0,null)", "undefined"),
            ("SUBSTRING('a\u{1f600}b',3,1)", "'b'"),
            ("SUBSTRING('abc',9223372036854775807,9223372036854775807)", "''"),
        ]);
    }

    #[test]
    fn strings_are_cut_by_delimiter_and_turned_round() {
        check(&[
            ("SUBSTRINGAFTER('a/b/c','/')", "'b/c'"),
            ("SUBSTRINGBEFORE('a/b/c','/')", "'a'"),
            ("LASTSUBSTRINGAFTER('bike::touring::frame','::')", "'frame'"),
            ("LASTSUBSTRINGBEFORE('/products/shoes/boots','/')", "'/products/shoes'"),
            ("LASTSUBSTRINGBEFORE('abc','/')", "undefined"),
            ("LASTSUBSTRINGAFTER('abc',1)", "undefined"),
            ("REVERSE('AdventureWorks')", "'skroWerutnevdA'"),
            ("REVERSE('a\u{1f600}')", "'\u{1f600}a'"),
            ("REVERSE([])", "undefined"),
        ]);
    }
}
