//! Patterns matched by backtracking, compared with the results of PCRE, and their limits.

use std::cell::Cell;

use crate::{
    error::{Error, Kind},
    pattern::Pattern,
};

fn free(_: usize) -> Result<(), Error> {
    Ok(())
}

/// Returns all matches of a pattern with their groups, separated by `|`.
fn found(pattern: &str, options: &str, text: &str) -> String {
    let compiled = Pattern::with_spans(pattern, options).unwrap();
    let finder = compiled.find_matches(text, &free).unwrap();
    let (mut all, mut from) = (Vec::new(), 0);
    while let Some(spans) = finder.find_at(from, &free).unwrap() {
        let part = |span: &Option<(usize, usize)>| span.map_or("-", |(a, b)| &text[a..b]);
        all.push(spans.iter().map(part).collect::<Vec<_>>().join(","));
        let (start, end) = spans[0].unwrap();
        from = if start == end { end + 1 } else { end };
        if text.len() < from {
            break;
        }
    }
    assert_eq!(compiled.is_match(text, &free).unwrap(), !all.is_empty(), "{text}");
    all.join("|")
}

#[test]
fn matches_are_those_of_perl() {
    for (pattern, options, text, want) in [
        ("(?<=foo)bar", "", "foobar bar", "bar"),
        ("(?<!foo)bar", "", "foobar bar", "bar"),
        (r"(?<=\$)\d+", "", "$12 34 $5", "12|5"),
        ("(?<=a|bc)d", "", "ad bcd cd", "d|d"),
        ("(?<=ä)ö", "", "äö aö", "ö"),
        ("(?<!^)b", "", "bb", "b"),
        ("(?<=(a))b", "", "ab", "b,a"),
        ("(?<=a(?=b))b", "", "ab", "b"),
        ("(?<=^|,)x", "", "x,x yx", "x|x"),
        ("(?<=a{2})b", "", "aab ab", "b"),
        (r"(\w)\1", "", "hello aabb", "ll,l|aa,a|bb,b"),
        (r"(?<q>['\x22]).*?\k<q>", "", r#"'a"b' "c""#, r#"'a"b','|"c",""#),
        (r"(?<c>.)(?P=c)", "", "abba", "bb,b"),
        (r"(.)\g1\g{1}\g{-1}", "", "aaaa", "aaaa,a"),
        (r"(a)(b)?\2", "", "ab", ""),
        (r"(É)\1", "i", "éÉ", "éÉ,é"),
        (r"(k)\1", "i", "k\u{212a}", "k\u{212a},k"),
        (r"(a\1?){3}", "", "aaaaaa", "aaaaaa,aaa"),
        (r"^(a|ab)(c|bcd)\1?$", "", "abcd", "abcd,a,bcd"),
        (r"(?:(a)|b)*\1", "", "aba", "aba,a"),
        (r"(\1b|a)+", "", "aab", "aab,ab"),
        (r"\k<late>a|(?<late>b)\k<late>", "", "bb", "bb,b"),
        ("(?>a+)b", "", "aaab", "aaab"),
        ("(?>a+)ab", "", "aaab", ""),
        ("a++b", "", "aab", "aab"),
        ("a++a", "", "aaa", ""),
        ("(?:ab)*+a", "", "ababa", "ababa"),
        ("(ab|a)?+b", "", "ab", "b,-"),
        (r"(|\1b)+", "", "b", ",|,"),
        ("[ab]{2}+b", "", "abb", "abb"),
        (r"\Qab\E++c", "", "abbc", "abbc"),
        (r"(a)(?=.*\1)b", "", "abab", "ab,a"),
        (r"foo\Kbar", "", "foobar", "bar"),
        (r"\Ga", "", "aab a", "a|a"),
        (r"(?!(a)\1)a", "", "aab", "a,-"),
        ("(?=(a+))a", "", "aab", "a,aa|a,a"),
        ("^(?!(a|b)c)b", "", "bd", "b,-"),
        (r"(?<=a)$", "", "a\n", ""),
        (r"(?<=b)\R", "", "b\r\n", "\r\n"),
        ("(?<=a)b?", "s", "ab", "b"),
        ("(?<=A)b", "i", "ab", "b"),
        ("(?<=a)^b", "m", "a\nb", ""),
        ("(?<=\\n)^b$", "m", "a\nb\nc", "b"),
        ("(?<=x)(a*?)(a{1,2}?)b", "", "xaaab", "aaab,a,aa"),
        ("(?<=x)(?:a|ab)*?c", "", "xabac", "abac"),
        ("(?<=x)(?:|a)+b", "", "xab", "ab"),
        ("(?<=x)(a*)*b", "", "xaab", "aab,"),
        ("(?<=x)(?:(a)|(b)|(?:))*", "", "xabc", "ab,a,b"),
        ("(?U)(?<=x)a+", "", "xaa", "a"),
        ("(?x) (?<= a ) b # c", "", "ab", "b"),
    ] {
        assert_eq!(found(pattern, options, text), want, "{pattern} on {text:?}");
    }
}

#[test]
fn what_refers_to_nothing_or_is_unbounded_is_refused() {
    for (pattern, reason) in [
        (r"\1", "reference to non-existent subpattern"),
        (r"(a)\2", "reference to non-existent subpattern"),
        (r"\k<n>(?<m>a)", "reference to non-existent subpattern"),
        (r"(a)\g{-2}", "reference to non-existent subpattern"),
        (r"(a)\g0", "a numbered reference must not be zero"),
        (r"(a)\kb", "\\k is not followed by a braced, angle-bracketed, or quoted name"),
        (r"(?<n>a)\k<n", "syntax error in subpattern name (missing terminator?)"),
        ("(?<n>a)(?<n>b)", "two named subpatterns have the same name (PCRE2_DUPNAMES not set)"),
        ("(?<=a+)b", "lookbehind assertion is not fixed length"),
        (r"(a)(?<=\1)b", "lookbehind assertion is not fixed length"),
        ("(?<=a{256})b", "lookbehind assertion is too long"),
        (
            r"(?=a\K)a",
            "\\K is not allowed in lookarounds (but see PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)",
        ),
        ("(?<=a", "missing closing parenthesis"),
        ("(?>a))", "unmatched closing parenthesis"),
    ] {
        let error = Pattern::perl(pattern, "").unwrap_err();
        let wanted = format!("Regular expression is invalid: {reason}");
        assert_eq!((error.number, error.message), (51091, wanted), "{pattern}");
    }
    let large = format!(r"(a)\1(?:{}){{9999}}", "bc".repeat(99));
    assert_eq!(Pattern::perl(&large, "").unwrap_err().kind, Kind::TooLarge);
}

#[test]
fn a_search_is_bounded_and_its_work_is_counted() {
    let work = Cell::new(0_usize);
    let count = |units: usize| {
        work.set(work.get() + units);
        Ok(())
    };
    for pattern in [r"(a+)+\1b", r"(?:a|aa)+(?<=c)b", r"(a*)*\1c", r"(?=(a+)+\1b)a"] {
        let compiled = Pattern::perl(pattern, "").unwrap();
        work.set(0);
        let error = compiled.is_match(&"a".repeat(5000), &count).unwrap_err();
        assert_eq!((error.kind, error.number), (Kind::TooLarge, 146), "{pattern}");
        assert!(error.message.contains(&format!("/{pattern}/")), "{error}");
        // All steps but those of the last batch were reported while they were done.
        assert!(super::MAX_STEPS as usize <= work.get(), "{pattern}: {}", work.get());
    }
    // What the operation's budget refuses ends a search at once.
    let compiled = Pattern::perl(r"(a+)+\1b", "").unwrap();
    let ended = |_: usize| Err(Error::new(Kind::Stopped, 50, "its time has ended"));
    assert_eq!(compiled.is_match(&"a".repeat(5000), &ended).unwrap_err().kind, Kind::Stopped);
}

#[test]
fn the_alternatives_of_a_search_are_bounded() {
    let compiled = Pattern::perl(r"(?:(a)|b)*\1c", "").unwrap();
    let error = compiled.is_match(&"a".repeat(4 << 20), &free).unwrap_err();
    assert_eq!((error.kind, error.number), (Kind::TooLarge, 146));
    assert!(error.message.contains("more memory than allowed"), "{error}");
}

#[test]
fn long_texts_take_steps_in_proportion_to_their_length() {
    let compiled = Pattern::perl(r"(?<=x)y.*(z)\1", "s").unwrap();
    let text = format!("{}xy{}zz", "x ".repeat(1 << 20), "a".repeat(4 << 20));
    assert_eq!(compiled.is_match(&text, &free), Ok(true));
}
