//! Regular expressions in filters.

use document::{Document, doc};

use super::{matches, refused};

#[test]
fn many_options_of_one_field_are_parsed_in_linear_time() {
    let mut operators = Document::new();
    (0..100_000).for_each(|_| operators.push("$options", "i"));
    operators.push("$regex", "^ab");
    let filter = doc! { "a": operators }.to_buf();
    assert!(crate::filter::parse(filter.as_ref()).is_ok());
}

#[test]
fn patterns_match_as_in_perl() {
    for (pattern, text, expected) in [
        ("/^ab/", "abc", true),
        ("/b/", "abc", true),
        ("/B/i", "abc", true),
        ("/c$/", "abc", true),
        ("/c$/", "abc\n", true),
        ("/c$/", "abc\n\n", false),
        ("/^b$/", "a\nb\nc", false),
        ("/^b$/m", "a\nb\nc", true),
        ("/a.b/", "a\nb", false),
        ("/a.b/s", "a\nb", true),
        ("/a b # c/x", "ab", true),
        (r"/\d/", "٣", false),
        (r"/^\w$/", "é", false),
        (r"/^\W$/", "é", true),
        ("/É/i", "é", true),
        (r"/a\/b/", "a/b", true),
        (r"/^[\w-.]+$/", "a-b.c", true),
        ("/^[[]$/", "[", true),
        ("/^[a&&b]$/", "&", true),
        ("/^[]a]$/", "]", true),
        (r"/^\Qa.b\E$/", "a.b", true),
        (r"/^\Qa.b\E$/", "axb", false),
        ("/^a{,2}$/", "a{,2}", true),
        ("/^a{2}$/", "aa", true),
        ("/^{a}$/", "{a}", true),
        ("/a(?#note)b/", "ab", true),
        ("/^(?<n>a)b$/", "ab", true),
        (r"/^\x41\x{42}$/", "AB", true),
        (r"/\bfoo\b/", "a foo b", true),
        (r"/\<a\>/", "<a>", true),
        (r"/^\h\R$/", " \r\n", true),
        (r"/a\Z/", "a\n", true),
        (r"/a\z/", "a\n", false),
        ("/^[[:alpha:]]+$/", "abc", true),
        ("/^[a b]$/x", " ", true),
    ] {
        let found = matches(&format!("{{a: {pattern}}}"), &doc! {"a": text});
        assert_eq!(found, expected, "{pattern} {text:?}");
    }
}

#[test]
fn look_ahead_at_the_start_is_followed() {
    for (pattern, text, expected) in [
        (r"/^(?!system\.)/", "system.views", false),
        (r"/^(?!system\.)/", "systems", true),
        (r"/^(?!system\.)/", "", true),
        ("/^(?!A|B)[a-z]+$/i", "bc", false),
        ("/^(?!A|B)[a-z]+$/i", "cb", true),
        ("/^(?=.*[0-9])(?=.*[a-z])(?!.* ).{4,}$/", "abc1", true),
        ("/^(?=.*[0-9])(?=.*[a-z])(?!.* ).{4,}$/", "abcd", false),
        ("/^(?=.*[0-9])(?=.*[a-z])(?!.* ).{4,}$/", "ab 1", false),
        ("/^(?!(a|b)c)/", "bc", false),
        ("/^(?!(a|b)c)/", "bd", true),
    ] {
        let found = matches(&format!("{{a: {pattern}}}"), &doc! {"a": text});
        assert_eq!(found, expected, "{pattern} {text:?}");
    }
}

#[test]
fn look_behind_and_references_back_are_followed() {
    for (pattern, text, expected) in [
        ("/(?<=a)b/", "ab", true),
        ("/(?<=a)b/", "cb", false),
        ("/(?<!a)b/", "ab", false),
        ("/(?<!a)b/", "cb", true),
        (r"/^(.+)-\1$/", "no-no", true),
        (r"/^(.+)-\1$/", "no-yes", false),
        (r"/(?<n>a)\k<n>/i", "aA", true),
        ("/^(?>a+)ab/", "aab", false),
        ("/^a++b/", "aab", true),
        (r"/a\Kb/", "ab", true),
    ] {
        let found = matches(&format!("{{a: {pattern}}}"), &doc! {"a": text});
        assert_eq!(found, expected, "{pattern} {text:?}");
    }
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    for (pattern, what) in
        [("/a(?R)?/", "recursion"), ("/(a)?(?(1)b|c)/", "a conditional group"), (r"/a\Xb/", r"\X")]
    {
        let expected = format!("51091 Regular expression is not supported: it uses {what}");
        refused(&[&format!("{{a: {pattern}}}"), &expected]);
    }
    for row in [
        ["{a: /(/}", "51091 Regular expression is invalid: missing closing parenthesis"],
        [
            "{a: /*a/}",
            "51091 Regular expression is invalid: quantifier does not follow a repeatable item",
        ],
        [
            "{a: /(\\w{9}){9000}/}",
            "51091 Regular expression is invalid: regular expression is too large",
        ],
        [r"{a: /\1/}", "51091 Regular expression is invalid: reference to non-existent subpattern"],
        ["{a: /a/z}", "51108 invalid flag in regex options: z"],
    ] {
        refused(&row);
    }
}
