//! Regular expressions: whether a string matches, and the matching parts.

use std::sync::Arc;

use evaluation::{Error, Evaluated, Kind, Pattern, numbers::PATTERN_OPTION};
use regex::Captures;

use super::{
    super::{Call, Function, UNDEFINED, row},
    bool_value, string_array, string_value,
};

pub(in super::super) const FUNCTIONS: &[Function] = &[
    row("REGEXEXTRACT", 2..=4, extract),
    row("REGEXEXTRACTALL", 2..=4, extract_all),
    row("REGEXMATCH", 2..=3, matches),
];

const MODIFIERS: &str = "imsx";
/// Finding one of many matches may read much of the string again. For each match, 1/READ_AGAIN of
/// the string's length is counted as work.
const READ_AGAIN: usize = 256;

/// Returns the string and the compiled pattern of a call; `None` if an argument is not a string.
/// Unlike a wrong type, an invalid pattern or modifier is an error.
fn text_and_pattern<'c>(call: &Call<'c, '_>) -> Result<Option<(&'c str, Arc<Pattern>)>, Error> {
    let modifiers = if call.is_given(2) { call.text_at(2) } else { Some("") };
    let (Some(text), Some(pattern), Some(modifiers)) =
        (call.text_at(0), call.text_at(1), modifiers)
    else {
        return Ok(None);
    };
    if let Some(other) = modifiers.chars().find(|c| !MODIFIERS.contains(*c)) {
        let text = format!("invalid modifier of a regular expression: {other}");
        return Err(Error::new(Kind::Invalid, PATTERN_OPTION, text));
    }
    let pattern = call.context.patterns.get_or_compile(pattern, modifiers, &call.context.budget)?;
    call.spend_work(text.len())?;
    Ok(Some((text, pattern)))
}

/// `REGEXMATCH(text, pattern, modifiers)`: whether the pattern occurs in the text.
fn matches<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let Some((text, pattern)) = text_and_pattern(call)? else { return UNDEFINED };
    Ok(bool_value(pattern.regex().is_match(text)))
}

/// Returns the requested group of a pattern; 0, the default, is the whole match. `None` if the
/// pattern has no such group.
fn wanted_group(call: &Call<'_, '_>, pattern: &Pattern) -> Option<usize> {
    let group = usize::try_from(call.integer_or(3, 0)?).ok()?;
    (group < pattern.regex().captures_len()).then_some(group)
}

/// Returns the text that a group matched; empty if the group did not take part in the match.
fn group_text<'t>(found: &Captures<'t>, group: usize) -> &'t str {
    found.get(group).map_or("", |part| part.as_str())
}

/// Returns the first match of a pattern, or one group of it.
fn extract<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let Some((text, pattern)) = text_and_pattern(call)? else { return UNDEFINED };
    let Some(group) = wanted_group(call, &pattern) else { return UNDEFINED };
    let found = pattern.regex().captures(text);
    Ok(found.map_or(Evaluated::Missing, |found| string_value(group_text(&found, group))))
}

/// Returns all matches of a pattern, or one group of each match.
fn extract_all<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let Some((text, pattern)) = text_and_pattern(call)? else { return UNDEFINED };
    let Some(group) = wanted_group(call, &pattern) else { return UNDEFINED };
    let parts = pattern.regex().captures_iter(text).map(|found| {
        let part = group_text(&found, group);
        call.spend_work(text.len() / READ_AGAIN + part.len())?;
        Ok(part)
    });
    string_array(call, parts)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{check, evaluate};
    use evaluation::Kind;

    #[test]
    fn patterns_are_met_or_not() {
        check(&[
            ("REGEXMATCH('abcd','ABC')", "false"),
            ("REGEXMATCH('abcd','ABC','i')", "true"),
            ("REGEXMATCH('abcd','ab.','')", "true"),
            ("REGEXMATCH('abcd','ab c','x')", "true"),
            ("REGEXMATCH('abcd','aB c','ix')", "true"),
            ("REGEXMATCH('03a','[0-9]')", "true"),
            ("REGEXMATCH('salt3824908','salt{1}')", "true"),
            ("REGEXMATCH('shame','s....','i')", "true"),
            ("REGEXMATCH('a\\nb','^b')", "false"),
            ("REGEXMATCH('a\\nb','^b','m')", "true"),
            ("REGEXMATCH('a\\nb','a.b')", "false"),
            ("REGEXMATCH('a\\nb','a.b','s')", "true"),
            ("REGEXMATCH(1,'a')", "undefined"),
            ("REGEXMATCH('a',null)", "undefined"),
            ("REGEXMATCH('a','a',undefined)", "undefined"),
        ]);
    }

    #[test]
    fn parts_are_taken_out() {
        check(&[
            ("REGEXEXTRACT('SKU-93821-BLUE','[0-9]+')", "'93821'"),
            ("REGEXEXTRACT('sku-93821','SKU-([0-9]+)','i',1)", "'93821'"),
            ("REGEXEXTRACT('abc','(b)|(x)','',2)", "''"),
            ("REGEXEXTRACT('abc','b','',1)", "undefined"),
            ("REGEXEXTRACT('abc','b','',-1)", "undefined"),
            ("REGEXEXTRACT('abc','x')", "undefined"),
            ("REGEXEXTRACTALL('A12-B34-C56','[0-9]+')", "['12','34','56']"),
            ("REGEXEXTRACTALL('A12-B34','[A-Z]([0-9])','',1)", "['1','3']"),
            ("REGEXEXTRACTALL('abc','x')", "[]"),
            ("REGEXEXTRACTALL('abc',1)", "undefined"),
        ]);
    }

    #[test]
    fn wrong_patterns_are_errors() {
        for (call, kind) in [
            ("REGEXMATCH('a','(')", Kind::Invalid),
            ("REGEXMATCH('a','a','g')", Kind::Invalid),
            ("REGEXMATCH('a','a','u')", Kind::Invalid),
            ("REGEXMATCH('a','(?=a)')", Kind::Unsupported),
            ("REGEXMATCH('a','((a{100}){100}){100}')", Kind::TooLarge),
        ] {
            assert_eq!(evaluate(call).unwrap_err().kind, kind, "{call}");
        }
    }
}
