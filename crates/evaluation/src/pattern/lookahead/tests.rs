//! Patterns with look-ahead, compared with the results of a backtracking engine.

use crate::{
    error::{Error, Kind},
    pattern::Pattern,
};

fn free(_: usize) -> Result<(), Error> {
    Ok(())
}

/// Returns all matches of a pattern with their groups, separated by `|`.
fn found(pattern: &str, options: &str, text: &str) -> String {
    let pattern = Pattern::perl(pattern, options).unwrap();
    let finder = pattern.find_matches(text, &free).unwrap();
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
    assert_eq!(pattern.is_match(text, &free).unwrap(), !all.is_empty(), "{text}");
    all.join("|")
}

#[test]
fn matches_are_those_of_perl() {
    for (pattern, options, text, want) in [
        ("foo(?!bar)", "", "foobar foobaz foo", "foo|foo"),
        ("foo(?=bar)", "", "foobar foobaz", "foo"),
        ("^((?!foo).)*$", "", "a bar", "a bar,r"),
        ("^((?!foo).)*$", "", "a foo", ""),
        (r"\b(?!un)\w+", "", "undo redo", "redo"),
        (r"\w+(?=\s)", "", "one two three", "one|two"),
        ("(?=(?!b)[a-c])[a-z]", "", "abcd", "a|c"),
        ("(?!a(?=b))a.", "", "abac", "ac"),
        ("x|y(?!z)|(?=q)", "", "x yz y q", "x|y|"),
        ("^(?!a).+", "m", "ab\nba\n", "ba"),
        ("(?! b )a # c\n .", "x", "ab", "ab"),
        ("(?i)FOO(?!BAR)", "", "foobar fooBaz", "foo"),
        ("foo(?!BAR)", "i", "Foobar FOObaz", "FOO"),
        ("(a|ab)(?=c|b)(c|bcd)?", "", "abcd", "abcd,a,bcd"),
        ("(a+?)(?=a)(a*)", "", "aaa", "aaa,a,aa"),
        ("(?:(?=a)a|b)+", "", "abba", "abba"),
        ("(?!x)*a", "", "a", "a"),
        (".(?=.{2}$)", "", "äöü", "ä"),
        ("(?=ö)", "", "aöb", ""),
        (r"[(](?!\))[)]?", "", "() (a", "("),
        (r"(?!x)\Bö", "", "aöö", "ö"),
        (r"(?!x)\Bb", "", "ab b", "b"),
        (r"(?!x)\s^", "m", "a\nb\n", "\n"),
        ("a$(?!x)", "", "a\n", "a"),
        ("(?!x)b\\Z", "", "ab\n", "b"),
        ("(?!x)b\\z", "", "ab\n", ""),
        (r"a(?=\Q(\E)", "", "a( a)", "a"),
        ("a(?#(?!b)(?!b)", "", "ab ac", "a"),
    ] {
        assert_eq!(found(pattern, options, text), want, "{pattern} on {text}");
    }
}

#[test]
fn what_needs_more_is_refused() {
    for (pattern, kind) in [
        ("(?R)(?=c)", Kind::Unsupported),
        ("a(?!b", Kind::Invalid),
        ("a(?!b))", Kind::Invalid),
        ("a(?![b)", Kind::Invalid),
        ("(?!(?!a)", Kind::Invalid),
    ] {
        let error = Pattern::perl(pattern, "").unwrap_err();
        assert_eq!((error.kind, error.number), (kind, 51091), "{pattern}: {error}");
    }
    // More look-aheads than the automata support are matched by backtracking.
    let many = "(?!a)".repeat(super::MAX_LOOKAHEADS) + "b(?!c)";
    assert_eq!(found(&many, "", "abcbd"), "b");
    let large = format!("a(?!(?:{}){{9999}})", "[a-z]{99}".repeat(9));
    assert_eq!(Pattern::perl(&large, "").unwrap_err().kind, Kind::TooLarge);
}

#[test]
fn work_grows_with_the_text_and_no_faster() {
    let work = |pattern: &str, text: &str| {
        let pattern = Pattern::perl(pattern, "").unwrap();
        let work = std::cell::Cell::new(0_usize);
        let count = |units: usize| {
            work.set(work.get() + units);
            Ok(())
        };
        pattern.is_match(text, &count).map(|_| work.get())
    };
    // A backtracking engine takes exponential time.
    for pattern in ["(?:(?=a)a*)*b", "(a*)*(?!b)c", "(?=(?:a|aa)+$)(?:a|a)*b", "(?:(?!(a*)*b)a)*c"]
    {
        let few = work(pattern, &"a".repeat(100_000)).unwrap();
        let more = work(pattern, &"a".repeat(200_000)).unwrap();
        assert!(few < more && more < few * 3, "{pattern}: {few} {more}");
    }
    let error = work("(?!x)[a-z]{1,1000}(?!y)b", &"a".repeat(8 << 20)).unwrap_err();
    assert_eq!((error.kind, error.number), (Kind::TooLarge, 146));
}
