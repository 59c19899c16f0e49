//! Corner cases of strings and patterns.

const EIGHT: &str = "{$reduce: {input: {$range: [0, 23]}, initialValue: 'x', in: {$concat: ['$$value', '$$value']}}}";

/// Expressions with the variable `EIGHT`, each with the error if its string exceeds the maximum
/// size.
pub(super) const LARGE: &[(&str, Option<i32>)] = &[
    ("{$concat: ['$$t', '$$t']}", Some(16_493)),
    ("{$concat: ['$$t', 'y']}", None),
    ("{$replaceAll: {input: '$$t', find: 'x', replacement: 'yy'}}", Some(16_493)),
    ("{$replaceAll: {input: '$$t', find: 'x', replacement: 'y'}}", None),
    (
        "{$replaceOne: {input: '$$t', find: 'x', replacement: {$concat: ['$$t', 'y']}}}",
        Some(16_493),
    ),
    ("{$replaceOne: {input: '$$t', find: 'z', replacement: '$$t'}}", None),
];

#[test]
fn texts_have_room_in_a_document() {
    for (expression, want) in LARGE {
        let text =
            format!("{{$strLenBytes: {{$let: {{vars: {{t: {EIGHT}}}, in: {expression}}}}}}}");
        let parsed = crate::expression::parse(crate::shell_text::value(&text).as_ref()).unwrap();
        let (nothing, context) = (document::Document::new(), evaluation::Context::default());
        let env = pipeline::Env::new(document::DocRef::Tree(&nothing), &context);
        let number = parsed.evaluate(&env).err().map(|error| error.number);
        assert_eq!(number, *want, "{expression}");
    }
}

pub(super) const ROWS: &[(&str, &str)] = &[
    ("{$indexOfCP: ['cafétéria', 'té']}", "4"),
    ("{$indexOfCP: ['abcabc', 'c', 3]}", "5"),
    ("{$indexOfCP: ['abc', 'c', 1, 2]}", "-1"),
    ("{$indexOfCP: ['abc', '', 3]}", "-1"),
    ("{$indexOfCP: ['abc', '', 4]}", "-1"),
    ("{$indexOfBytes: ['abc', 'c', 3]}", "-1"),
    ("{$indexOfBytes: ['cafétéria', 'té']}", "5"),
    (
        "{$indexOfBytes: ['abc', 'b', null]}",
        "error 40096: $indexOfBytesrequires an integral starting index, found a value of type: null, with value: null",
    ),
    ("{$concat: ['$s', '-', '$s']}", "'abc-abc'"),
    ("{$concat: ['$n', 1]}", "null"),
    ("{$split: ['a,b,,c', ',']}", "['a', 'b', '', 'c']"),
    ("{$split: ['abc', 'x']}", "['abc']"),
    (r#"{$trim: {input: '	\n x  '}}"#, "'x'"),
    ("{$ltrim: {input: 'aab', chars: 'a'}}", "'b'"),
    ("{$rtrim: {input: 'baa', chars: 'ca'}}", "'b'"),
    ("{$toUpper: 'aß'}", "'Aß'"),
    ("{$toLower: null}", "''"),
    ("{$toLower: '$d'}", "'2024-02-29t13:05:07.089z'"),
    ("{$strcasecmp: ['ABC', 'abd']}", "-1"),
    ("{$substrCP: ['héllo', 1, 3]}", "'éll'"),
    ("{$substrBytes: ['héllo', 0, 3]}", "'hé'"),
    ("{$substrBytes: ['abc', 1, 0]}", "''"),
    ("{$substr: ['abc', 1.7, 1]}", "'b'"),
    ("{$strLenBytes: 'é'}", "2"),
    ("{$replaceAll: {input: '$n', find: 'a', replacement: 'b'}}", "null"),
    ("{$replaceAll: {input: 'aaa', find: 'aa', replacement: 'b'}}", "'ba'"),
    ("{$replaceOne: {input: 'abc', find: '', replacement: 'x'}}", "'xabc'"),
    (
        "{$regexFind: {input: 'foo BAR', regex: 'bar', options: 'i'}}",
        "{match: 'BAR', idx: 4, captures: []}",
    ),
    (
        r#"{$regexFindAll: {input: 'a1b22', regex: '[a-z](\\d+)'}}"#,
        "[{match: 'a1', idx: 0, captures: ['1']}, {match: 'b22', idx: 2, captures: ['22']}]",
    ),
    (r#"{$regexMatch: {input: 'line1\nline2', regex: '^line2$', options: 'm'}}"#, "true"),
    ("{$regexMatch: {input: 'a b', regex: 'a b', options: 'x'}}", "false"),
    (
        "{$regexFindAll: {input: 'éaéa', regex: 'a'}}",
        "[{match: 'a', idx: 1, captures: []}, {match: 'a', idx: 3, captures: []}]",
    ),
    ("{$regexMatch: {input: 'bd', regex: '^(?!(a|b)c)'}}", "true"),
    ("{$regexFind: {input: 'abc', regex: '^(?!b)(a)b'}}", "{match: 'ab', idx: 0, captures: ['a']}"),
    ("{$regexFindAll: {input: 'bb', regex: '^(?!b)'}}", "[]"),
    ("{$regexFind: {input: 'bd', regex: '^(?!(a|b)c)'}}", "{match: '', idx: 0, captures: [null]}"),
    ("{$regexFind: {input: 'aab', regex: '(?=(a+))a'}}", "{match: 'a', idx: 0, captures: ['aa']}"),
    ("{$regexMatch: {input: 'abab', regex: '^(ab)\\\\1$'}}", "true"),
    (
        "{$regexFindAll: {input: 'a1 2 a3', regex: '(?<=a)[0-9]'}}",
        "[{match: '1', idx: 1, captures: []}, {match: '3', idx: 6, captures: []}]",
    ),
    ("{$regexFind: {input: 'x', regex: '(a)?x'}}", "{match: 'x', idx: 0, captures: [null]}"),
    (
        "{$regexFindAll: {input: 'aXbX', regex: 'X|$'}}",
        "[{match: 'X', idx: 1, captures: []}, {match: 'X', idx: 3, captures: []}]",
    ),
    ("{$regexFindAll: {input: '', regex: 'a*'}}", "[{match: '', idx: 0, captures: []}]"),
    (
        "{$regexFindAll: {input: 'baac', regex: 'a*'}}",
        "[{match: '', idx: 0, captures: []}, {match: 'aa', idx: 1, captures: []}, {match: '', idx: 3, captures: []}]",
    ),
];
