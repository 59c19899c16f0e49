//! Functions that build strings from strings. The size is checked before a string is built.

use document::{Value, ValueRef};
use evaluation::{Error, Evaluated, Size};

use super::{
    super::{ANY, Call, Function, UNDEFINED, row},
    string_array, string_value, utf16,
};

pub(in super::super) const FUNCTIONS: &[Function] = &[
    row("CONCAT", 2..=ANY, concat_texts),
    row("REPLACE", 3..=3, replace),
    row("REPLICATE", 2..=2, replicate),
    row("STRINGJOIN", 2..=2, join_array),
    row("STRINGSPLIT", 2..=2, split_text),
];

/// Units of work charged for one replaced occurrence.
const ONE: usize = 32;
/// Maximum length of REPLICATE's result, in UTF-16 code units.
const MAX_REPLICATED: usize = 10_000;

/// `CONCAT("a", "b")` is `"ab"`; undefined if an argument is not a string.
fn concat_texts<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let mut growth = call.new_growth();
    let mut texts = Vec::with_capacity(call.args.len());
    for at in 0..call.args.len() {
        let Some(text) = call.text_at(at) else { return UNDEFINED };
        growth.add_size(Size::of_text(text.len()))?;
        texts.push(text);
    }
    Ok(string_value(texts.concat()))
}

/// `REPLACE(text, part, by)`: replaces all occurrences, from the left. The length of the result is
/// computed first. Undefined if `part` is empty.
fn replace<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(part), Some(by)) = (call.text_at(0), call.text_at(1), call.text_at(2))
    else {
        return UNDEFINED;
    };
    if part.is_empty() {
        return UNDEFINED;
    }
    let found = text.matches(part).count();
    call.spend_work(found.saturating_mul(ONE))?;
    let kept = text.len() - found * part.len();
    call.new_growth()
        .add_size(Size::of_text(kept.saturating_add(found.saturating_mul(by.len()))))?;
    Ok(string_value(text.replace(part, by)))
}

/// `REPLICATE("ab", 2)` is `"abab"`; undefined beyond 10,000 code units.
fn replicate<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(times)) = (call.text_at(0), call.number_at(1)) else { return UNDEFINED };
    if times < 0.0 {
        return UNDEFINED;
    }
    if text.is_empty() {
        return Ok(string_value(""));
    }
    let times = times as usize;
    if MAX_REPLICATED < utf16::utf16_length(text).saturating_mul(times) {
        return UNDEFINED;
    }
    Ok(string_value(text.repeat(times)))
}

/// `STRINGJOIN(["a", "b"], "-")` is `"a-b"`.
fn join_array<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(array), Some(separator)) = (call.array_at(0), call.text_at(1)) else {
        return UNDEFINED;
    };
    let mut growth = call.new_growth();
    let mut all = String::new();
    for (at, value) in array.iter().enumerate() {
        let ValueRef::String(text) = value else { return UNDEFINED };
        growth.add_size(Size::of_text(separator.len().saturating_add(text.len())))?;
        if 0 < at {
            all.push_str(separator);
        }
        all.push_str(text);
    }
    Ok(string_value(all))
}

/// `STRINGSPLIT("a-b", "-")` is `["a", "b"]`; an empty separator does not split.
fn split_text<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(separator)) = (call.text_at(0), call.text_at(1)) else {
        return UNDEFINED;
    };
    if separator.is_empty() {
        return Ok(Evaluated::Owned(Value::Array(vec![Value::from(text)])));
    }
    string_array(call, text.split(separator).map(Ok))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{check, evaluate};

    #[test]
    fn strings_are_put_together_and_taken_apart() {
        check(&[
            ("CONCAT('abc','def','ghi')", "'abcdefghi'"),
            ("CONCAT('abc',1)", "undefined"),
            ("CONCAT('abc',undefined)", "undefined"),
            ("REPLACE('This is a Test','Test','desk')", "'This is a desk'"),
            ("REPLACE('aaa','a','bb')", "'bbbbbb'"),
            ("REPLACE('aaa','x','y')", "'aaa'"),
            ("REPLACE('aaa','a','')", "''"),
            ("REPLACE('aaa','','y')", "undefined"),
            ("REPLACE('aaa','a',1)", "undefined"),
            ("REPLICATE('Cosmic',3)", "'CosmicCosmicCosmic'"),
            ("REPLICATE('a',0)", "''"),
            ("REPLICATE('a',1.9)", "'a'"),
            ("REPLICATE('a',-1)", "undefined"),
            ("REPLICATE('a',10001)", "undefined"),
            ("REPLICATE('ab',9223372036854775807)", "undefined"),
            ("REPLICATE('',1e300)", "''"),
            ("REPLICATE('a','2')", "undefined"),
            ("STRINGJOIN(['Iropa','Mountain','Bike'],' ')", "'Iropa Mountain Bike'"),
            ("STRINGJOIN(['6','7'],'')", "'67'"),
            ("STRINGJOIN([],',')", "''"),
            ("STRINGJOIN(['a',1],',')", "undefined"),
            ("STRINGJOIN(['a'],undefined)", "undefined"),
            ("STRINGSPLIT('xenmoun mountain bike','moun')", "['xen',' ','tain bike']"),
            ("STRINGSPLIT('a,,b',',')", "['a','','b']"),
            ("STRINGSPLIT('Helmet','')", "['Helmet']"),
            ("STRINGSPLIT('','')", "['']"),
            ("STRINGSPLIT('',',')", "['']"),
            ("STRINGSPLIT('a',undefined)", "undefined"),
        ]);
        let replicated = evaluate("REPLICATE('a',10000)").unwrap();
        assert_eq!(replicated.len(), 10_002);
    }

    #[test]
    fn a_long_text_may_become_shorter() {
        let long = "a".repeat(9 << 20);
        assert_eq!(evaluate(&format!("LENGTH('{long}')")).unwrap(), "9437184");
        assert_eq!(evaluate(&format!("REPLACE('{long}','aa','b')")).unwrap().len(), (9 << 19) + 2);
    }

    #[test]
    fn what_would_be_too_large_is_refused_before_it_is_made() {
        let long = "a".repeat(100_000);
        for call in [
            format!("REPLACE('{long}','a','{long}')"),
            format!("STRINGJOIN([{}],'{long}')", vec!["''"; 1000].join(",")),
            format!("CONCAT({})", vec![format!("'{long}'"); 200].join(",")),
        ] {
            assert_eq!(evaluate(&call).unwrap_err().kind, evaluation::Kind::TooLarge);
        }
    }
}
