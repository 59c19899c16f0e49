//! Strings made of strings, bounded before they are made.

use document::{Value, ValueRef};
use evaluation::{Error, Evaluated, Size};

use super::{
    super::{ANY, Call, Function, UNDEFINED, row},
    string, strings, utf16,
};

pub(in super::super) const FUNCTIONS: &[Function] = &[
    row("CONCAT", 2..=ANY, concat),
    row("REPLACE", 3..=3, replace),
    row("REPLICATE", 2..=2, replicate),
    row("STRINGJOIN", 2..=2, join),
    row("STRINGSPLIT", 2..=2, split),
];

/// Work of one occurrence that is replaced.
const ONE: usize = 32;
/// Longest answer of REPLICATE, in code units.
const MAX_REPLICATED: usize = 10_000;

fn concat<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let mut growth = call.growth();
    let mut texts = Vec::with_capacity(call.args.len());
    for at in 0..call.args.len() {
        let Some(text) = call.text(at) else { return UNDEFINED };
        growth.add(Size::of_text(text.len()))?;
        texts.push(text);
    }
    Ok(string(texts.concat()))
}

/// All occurrences, from the left; nothing occurs nowhere.
fn replace<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(part), Some(by)) = (call.text(0), call.text(1), call.text(2)) else {
        return UNDEFINED;
    };
    if part.is_empty() {
        return UNDEFINED;
    }
    let found = text.matches(part).count();
    call.spend(found.saturating_mul(ONE))?;
    let kept = text.len() - found * part.len();
    call.growth().add(Size::of_text(kept.saturating_add(found.saturating_mul(by.len()))))?;
    Ok(string(text.replace(part, by)))
}

/// So many times; an answer that would be too long is undefined.
fn replicate<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(times)) = (call.text(0), call.number(1)) else { return UNDEFINED };
    if times < 0.0 {
        return UNDEFINED;
    }
    if text.is_empty() {
        return Ok(string(""));
    }
    let times = times as usize;
    if MAX_REPLICATED < utf16::len(text).saturating_mul(times) {
        return UNDEFINED;
    }
    Ok(string(text.repeat(times)))
}

fn join<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(array), Some(separator)) = (call.array(0), call.text(1)) else { return UNDEFINED };
    let mut growth = call.growth();
    let mut all = String::new();
    for (at, value) in array.iter().enumerate() {
        let ValueRef::String(text) = value else { return UNDEFINED };
        growth.add(Size::of_text(separator.len().saturating_add(text.len())))?;
        if 0 < at {
            all.push_str(separator);
        }
        all.push_str(text);
    }
    Ok(string(all))
}

/// The parts between separators; an empty separator separates nothing.
fn split<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(separator)) = (call.text(0), call.text(1)) else { return UNDEFINED };
    if separator.is_empty() {
        return Ok(Evaluated::Own(Value::Array(vec![Value::from(text)])));
    }
    strings(call, text.split(separator).map(Ok))
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
