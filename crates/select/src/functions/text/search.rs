//! Searching strings for strings.

use evaluation::{Error, Evaluated};

use super::{
    super::{ANY, Call, Function, UNDEFINED, row},
    bool_value,
    case::folded_case,
    utf16,
};
use crate::{logic, number::integer_value};

pub(in super::super) const FUNCTIONS: &[Function] = &[
    row("CONTAINS", 2..=3, |call| compare_texts(call, |text, part| text.contains(part))),
    row("CONTAINS_ALL_CI", 2..=ANY, |call| contains_several(call, false, true)),
    row("CONTAINS_ALL_CS", 2..=ANY, |call| contains_several(call, false, false)),
    row("CONTAINS_ANY_CI", 2..=ANY, |call| contains_several(call, true, true)),
    row("CONTAINS_ANY_CS", 2..=ANY, |call| contains_several(call, true, false)),
    row("ENDSWITH", 2..=3, |call| compare_texts(call, |text, part| text.ends_with(part))),
    row("INDEX_OF", 2..=3, index_of),
    row("LASTINDEXOF", 2..=3, last_index_of),
    row("STARTSWITH", 2..=3, |call| compare_texts(call, |text, part| text.starts_with(part))),
    row("STRINGEQUALS", 2..=3, |call| compare_texts(call, |text, part| text == part)),
];

/// Units of work charged per byte for a comparison that ignores case.
const FOLDED: usize = 4;

/// Applies a test to two strings; the third argument determines whether case is ignored.
fn compare_texts<'a>(
    call: &Call<'_, 'a>,
    test: fn(&str, &str) -> bool,
) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(part), Some(ignore_case)) =
        (call.text_at(0), call.text_at(1), call.flag_at(2))
    else {
        return UNDEFINED;
    };
    if !ignore_case {
        return Ok(bool_value(test(text, part)));
    }
    call.spend_work(text.len().saturating_add(part.len()).saturating_mul(FOLDED))?;
    Ok(bool_value(test(&folded_case(text, true), &folded_case(part, true))))
}

/// Returns whether a string contains one (`decides` is true) or all of several parts. A part that
/// is not a string makes the result undefined unless the others decide it.
fn contains_several<'a>(
    call: &Call<'_, 'a>,
    decides: bool,
    ignore_case: bool,
) -> Result<Evaluated<'a>, Error> {
    let Some(text) = call.text_at(0) else { return UNDEFINED };
    call.spend_work(if ignore_case { text.len().saturating_mul(FOLDED) } else { 0 })?;
    let folded_text = folded_case(text, ignore_case);
    let found = (1..call.args.len()).map(|at| {
        let Some(part) = call.text_at(at) else { return Ok(None) };
        call.spend_work(text.len())?;
        Ok(Some(folded_text.contains(&*folded_case(part, ignore_case))))
    });
    Ok(logic::truth_value(logic::decide(found, decides)?))
}

/// Converts a byte offset in a string to a position in UTF-16 code units.
fn position_of_byte(text: &str, byte: usize) -> Evaluated<'static> {
    let units = utf16::utf16_length(text.get(..byte).unwrap_or_default());
    i64::try_from(units).map_or(Evaluated::Missing, integer_value)
}

/// `INDEX_OF(text, part, start)`: the position of the first occurrence at or after a position; -1
/// if none.
fn index_of<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(part), Some(start)) =
        (call.text_at(0), call.text_at(1), call.integer_or(2, 0))
    else {
        return UNDEFINED;
    };
    let start = usize::try_from(start.max(0)).unwrap_or(usize::MAX);
    if utf16::utf16_length(text) < start {
        return Ok(integer_value(-1));
    }
    let start = utf16::at_or_after(text, start);
    let found = text.get(start..).and_then(|rest| rest.find(part));
    Ok(found.map_or_else(|| integer_value(-1), |byte| position_of_byte(text, start + byte)))
}

/// `LASTINDEXOF(text, part, start)`: the position of the last occurrence whose last code unit is at
/// or before the start position; -1 if none.
fn last_index_of<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(text), Some(part), Some(start)) =
        (call.text_at(0), call.text_at(1), call.integer_or(2, i64::MAX))
    else {
        return UNDEFINED;
    };
    let Ok(start) = usize::try_from(start) else { return Ok(integer_value(-1)) };
    let end = utf16::at_or_before(text, start.saturating_add(1));
    let found = text.get(..end).and_then(|before| before.rfind(part));
    Ok(found.map_or_else(|| integer_value(-1), |byte| position_of_byte(text, byte)))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::check;

    #[test]
    fn parts_are_found_with_or_without_case() {
        check(&[
            ("CONTAINS('AdventureWorks','ture')", "true"),
            ("CONTAINS('AdventureWorks','adventure')", "false"),
            ("CONTAINS('AdventureWorks','adventure',false)", "false"),
            ("CONTAINS('AdventureWorks','works',true)", "true"),
            ("CONTAINS('AdventureWorks','')", "true"),
            ("CONTAINS('ÉTÉ','été',true)", "true"),
            ("CONTAINS('abc',1)", "undefined"),
            ("CONTAINS(undefined,'a')", "undefined"),
            ("CONTAINS('abc','a',1)", "undefined"),
            ("CONTAINS('abc','a',undefined)", "undefined"),
            ("STARTSWITH('AdventureWorks','Adventure')", "true"),
            ("STARTSWITH('AdventureWorks','adventure',true)", "true"),
            ("STARTSWITH('AdventureWorks','Works')", "false"),
            ("ENDSWITH('AdventureWorks','Works')", "true"),
            ("ENDSWITH('AdventureWorks','wORKS',true)", "true"),
            ("ENDSWITH('AdventureWorks','Adventure')", "false"),
            ("ENDSWITH(null,'a')", "undefined"),
            ("STRINGEQUALS('abc','abc')", "true"),
            ("STRINGEQUALS('abc','ABC')", "false"),
            ("STRINGEQUALS('abc','ABC',true)", "true"),
            ("STRINGEQUALS('1',1)", "undefined"),
        ]);
    }

    #[test]
    fn several_parts_are_found() {
        check(&[
            ("CONTAINS_ALL_CI('Have a nice day!','HAVE','nice','DAY!')", "true"),
            ("CONTAINS_ALL_CI('Have a nice day!','had','nice')", "false"),
            ("CONTAINS_ALL_CI('Have a nice day!',undefined,'nice')", "undefined"),
            ("CONTAINS_ALL_CI('Have a nice day!',undefined,'had')", "false"),
            ("CONTAINS_ALL_CS('Have a nice day!','Have','nice')", "true"),
            ("CONTAINS_ALL_CS('Have a nice day!','HAVE','nice')", "false"),
            ("CONTAINS_ANY_CI('Have a nice day!','HAD','NICE')", "true"),
            ("CONTAINS_ANY_CI('Have a nice day!',undefined,'had')", "undefined"),
            ("CONTAINS_ANY_CS('Have a nice day!','HAVE','NICE')", "false"),
            ("CONTAINS_ANY_CS('Have a nice day!',undefined,'nice')", "true"),
            ("CONTAINS_ANY_CS(1,'a')", "undefined"),
        ]);
    }

    #[test]
    fn positions_count_code_units() {
        check(&[
            ("INDEX_OF('AdventureWorks','A')", "0"),
            ("INDEX_OF('AdventureWorks','tureW')", "5"),
            ("INDEX_OF('AdventureWorks','x')", "-1"),
            ("INDEX_OF('AdventureWorks','Works',5)", "9"),
            ("INDEX_OF('AdventureWorks','Adventure',5)", "-1"),
            ("INDEX_OF('AdventureWorks','A',-3)", "0"),
            ("INDEX_OF('abc','',3)", "3"),
            ("INDEX_OF('abc','',4)", "-1"),
            ("INDEX_OF('\u{1f600}éx','x')", "3"),
            ("INDEX_OF('\u{1f600}é\u{1f600}','\u{1f600}',1)", "3"),
            ("INDEX_OF('abc','c',0.5)", "undefined"),
            ("INDEX_OF('abc',1)", "undefined"),
            ("LASTINDEXOF('abcdeabc','abc')", "5"),
            ("LASTINDEXOF('abcdeabc','abc',6)", "0"),
            ("LASTINDEXOF('abcdeabc','abc',7)", "5"),
            ("LASTINDEXOF('abcdeabc','abc',1)", "-1"),
            ("LASTINDEXOF('abcdeabc','abc',-1)", "-1"),
            ("LASTINDEXOF('abcdeabc','fg')", "-1"),
            ("LASTINDEXOF('x\u{1f600}x','x')", "3"),
            ("LASTINDEXOF('abc',undefined)", "undefined"),
        ]);
    }
}
