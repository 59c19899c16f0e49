//! Each escape of Perl's syntax, inside and outside of classes, compared with MongoDB's results: a
//! table of patterns and the characters of a sample that they match. Where MongoDB's match needs
//! what no engine here has, the table contains the refusal.

use super::{KEPT, Pattern, Patterns};
use crate::{
    budget::Budget,
    error::{Error, Kind, numbers::PATTERN_REFUSED},
};

/// The characters that each pattern of `TABLE` is matched against.
const SAMPLE: &str = "\0\x01\x07\x08\t\n\x0b\x0c\r\x11\x1b !-0189AHVahvxz_~é\u{85}\u{a0}\u{17f}\u{1680}\
    \u{180e}\u{2000}\u{200b}\u{2028}\u{2029}\u{202f}\u{205f}\u{212a}\u{3000}日😀";
/// A table of one line per pattern: the pattern, a tab, and the result.
const TABLE: &str = include_str!("escapes.txt");

fn free(_: usize) -> Result<(), Error> {
    Ok(())
}

/// Escapes all but visible ASCII as `\u{..}`, as in `TABLE`.
fn shown(text: &str) -> String {
    let one = |c: char| match c {
        '"'..='~' if c != '\\' => c.to_string(),
        other => format!("\\u{{{:x}}}", u32::from(other)),
    };
    text.chars().map(one).collect()
}

/// Returns the result of a pattern as `TABLE` has it.
fn matched(pattern: &str) -> String {
    match Pattern::perl(&format!(r"\A(?:{pattern})\z"), "") {
        Err(error) => {
            assert_eq!(error.number, PATTERN_REFUSED, "{pattern}");
            let unsupported = error.kind == Kind::Unsupported;
            if unsupported { "unsupported" } else { "invalid" }.to_owned()
        }
        Ok(compiled) => {
            let is_match = |c: &char| compiled.is_match(&c.to_string(), &free).unwrap();
            let (yes, no): (String, String) = SAMPLE.chars().partition(is_match);
            let few = yes.chars().count() * 2 <= SAMPLE.chars().count();
            if few { format!("only {}", shown(&yes)) } else { format!("all but {}", shown(&no)) }
        }
    }
}

#[test]
fn every_escape_means_what_it_does_in_mongodb() {
    let mut wrong = Vec::new();
    for line in TABLE.lines() {
        let (pattern, wanted) = line.split_once('\t').unwrap();
        let found = matched(pattern);
        if found != wanted {
            wrong.push(format!("{pattern}: {found}, expected: {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn patterns_find_what_they_find_in_mongodb() {
    for (pattern, options, text, wanted) in [
        (r"\Bber", "", "über", false),
        (r"ü\Bb", "", "üb", false),
        (r"o\B", "", "foo", true),
        (r"a\012b", "", "a\nb", true),
        (r"^a\Hb$", "", "a\nb", true),
        (r"^a\Vb$", "", "a b", true),
        // A carriage return and a line feed are one line break, which is never split.
        (r"^\R$", "", "\r\n", true),
        (r"^\R{2}$", "", "\r\n", false),
        (r"^\R\n", "", "\r\n", false),
        (r"^\R\R$", "", "\n\r", true),
        // Flags inside a pattern apply up to the end of the group.
        ("(?m)^b$", "", "a\nb\nc", true),
        ("(?:(?m)^)b$", "", "a\nb\nc", false),
        ("(?i-i)AB", "", "ab", false),
        ("a(?i)b|C", "", "c", true),
        ("(?:a(?i)b)C", "", "abc", false),
        ("(?-i)ab", "i", "AB", false),
        ("(?^)ab", "i", "AB", false),
        ("(?s:a.)b", "", "a\nb", true),
        ("a.b", "", "a\nb", false),
        ("(?)ab", "", "ab", true),
        ("(?-:ab)", "", "ab", true),
        ("(?U)^a+$", "", "aa", true),
        ("a(?i)B(?!C)", "", "abc", false),
        ("a(?i)B(?!C)", "", "abd", true),
        ("(?i)a(?=(?-i)b)", "", "AB", false),
        // No line starts after the final line break.
        ("^$", "m", "a\n", false),
        ("^$", "m", "a\n\nb", true),
        (r"^\s*$", "m", "a\n", false),
        ("^b", "m", "a\nb", true),
        ("(?m)^", "", "a\n", true),
        (r"\n^", "m", "a\n", false),
        ("x|^b", "m", "a\nb", true),
        ("a b", "x", "ab", true),
        ("a #c\nb", "x", "ab", true),
        ("a {2}", "x", "aa", true),
        (r"a\ b", "x", "a b", true),
        (r"a\Q b\E", "x", "a b", true),
        ("[ ]", "x", " ", true),
        ("(?x)a b", "", "ab", true),
        ("a\u{a0}b", "x", "a\u{a0}b", true),
        (r"^\Qa.c\E$", "", "abc", false),
        // `$` and `\Z` consume no text.
        (r"a$\n", "", "a\n", true),
        (r"a\Z\z", "", "a\n", false),
        ("(a$)b", "", "ab", false),
        ("(a$|b)$", "", "a\n", true),
        (r"^\Qa.c", "", "a.c", true),
        (r"a\E+", "", "aa", true),
        (r"^a{,2}$", "", "a{,2}", true),
        ("^a{2$", "", "a{2", true),
        ("(*UTF8)é", "", "é", true),
        (r"[[:<:]]b", "", "a b", true),
        (r"[[:<:]]b", "", "ab", false),
        (r"a[[:>:]]", "", "ab", false),
        (r"^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10$", "", "abcdefghijj", true),
        ("(?<=a)b", "", "ab", true),
        // With ten or more groups a two-digit number is a backreference, with fewer an octal
        // number.
        (r"(a)\11", "", "a\t", true),
        (r"\0011", "", "\u{1}1", true),
    ] {
        let compiled = Pattern::perl(pattern, options).unwrap();
        assert_eq!(compiled.is_match(text, &free), Ok(wanted), "{pattern} {options} {text:?}");
    }
}

#[test]
fn what_is_no_pattern_or_is_not_supported_is_refused() {
    for (pattern, wanted) in [
        ("(?|a|b)", "not supported: it uses a branch reset group"),
        ("(?R)", "not supported: it uses recursion"),
        ("(?1)", "not supported: it uses recursion"),
        ("(?-1)", "not supported: it uses recursion"),
        (r"\g<1>", "not supported: it uses recursion"),
        ("(a)(?P=n)", "invalid: reference to non-existent subpattern"),
        ("(?(1)a|b)", "not supported: it uses a conditional group"),
        ("(?C1)a", "not supported: it uses a callout"),
        ("(*ACCEPT)", "not supported: it uses a backtracking control verb"),
        ("(*UCP)a", "not supported: it uses a backtracking control verb"),
        ("(?J)a", "not supported: it uses duplicate group names"),
        (r"\X", r"not supported: it uses \X"),
        (r"\C(?<=a)", r"not supported: it uses \C"),
        ("(?z)", "invalid: unrecognized character after (? or (?-"),
        ("(?u)a", "invalid: unrecognized character after (? or (?-"),
        ("(?i", "invalid: unrecognized character after (? or (?-"),
        ("(?#a", "invalid: missing ) after (?# comment"),
        ("(?<1>a)", "invalid: subpattern name must start with a non-digit"),
        ("(?<a-b>c)", "invalid: syntax error in subpattern name (missing terminator?)"),
        ("a**", "invalid: quantifier does not follow a repeatable item"),
        ("^*", "invalid: quantifier does not follow a repeatable item"),
        ("(*)", "invalid: quantifier does not follow a repeatable item"),
        ("a{2,1}", "invalid: numbers out of order in {} quantifier"),
        ("a{65536}", "invalid: number too big in {} quantifier"),
        ("a{2147483648}", "invalid: number too big in {} quantifier"),
        ("a{1,99999999999999999999}", "invalid: number too big in {} quantifier"),
        ("a)", "invalid: unmatched closing parenthesis"),
        ("(a", "invalid: missing closing parenthesis"),
        ("a\\", "invalid: \\ at end of pattern"),
    ] {
        let error = Pattern::perl(pattern, "").unwrap_err();
        let wanted = format!("Regular expression is {wanted}");
        assert_eq!((error.number, error.message), (PATTERN_REFUSED, wanted), "{pattern}");
    }
    for deep in ["(".repeat(300), "(?=".repeat(10_000), format!("{}a", "(?:".repeat(30_000))] {
        let error = Pattern::perl(&deep, "").unwrap_err();
        assert_eq!(error.number, PATTERN_REFUSED);
    }
}

#[test]
fn an_optional_character_is_no_part_of_the_required_beginning() {
    for (pattern, wanted) in [
        ("^ab", Some("ab")),
        (r"^ab\E*", Some("a")),
        (r"^ab\Q\E*", Some("a")),
        ("^ab(?#c)*", Some("a")),
        ("^ab(?x) *", Some("a")),
    ] {
        let Ok(compiled) = Pattern::perl(pattern, "") else { continue };
        assert_eq!(compiled.required_prefix().as_deref(), wanted, "{pattern}");
    }
}

#[test]
fn the_patterns_used_last_are_kept() {
    let (patterns, budget) = (Patterns::default(), Budget::default());
    let compiled = |source: &str, options: &str| {
        let before = budget.spent();
        patterns.get_or_compile(source, options, &budget).unwrap();
        budget.spent() != before
    };
    assert!(compiled("a+", ""));
    assert!(!compiled("a+", ""));
    assert!(compiled("a+", "im"));
    assert!(!compiled("a+", "mi"));
    for at in 0..KEPT {
        assert!(compiled(&format!("b{at}"), ""));
    }
    assert!(compiled("a+", ""));
    assert!(!compiled("b7", ""));
}

#[test]
fn a_wrong_pattern_is_refused_every_time() {
    let (patterns, budget) = (Patterns::default(), Budget::default());
    for _ in 0..2 {
        let error = patterns.get_or_compile("(", "", &budget).unwrap_err();
        assert_eq!(error.kind, Kind::Invalid);
    }
}
