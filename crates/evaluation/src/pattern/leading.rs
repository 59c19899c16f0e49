//! Splits look-ahead off the start of an anchored pattern: `^(?!a)(?=b)c` matches a text that `^c`
//! and `^(?:b)` match and `^(?:a)` does not. That needs no backtracking.

/// A pattern split into its leading look-aheads and the rest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SplitPattern<'a> {
    /// Look-aheads at the start: patterns that must match there (true) or must not (false).
    pub(super) guards: Vec<(bool, &'a str)>,
    pub(super) rest: &'a str,
}

/// Splits off the look-ahead at the start of a pattern. `None` if it has none, or if it does not
/// apply to the whole pattern: `^(?=a)b|c` may match without its look-ahead.
pub(super) fn split_guards(source: &str) -> Option<SplitPattern<'_>> {
    // Brackets inside of quotations and comments are literal, which the search below does not
    // handle.
    if source.contains("\\Q") || source.contains("(?#") {
        return None;
    }
    let mut rest = source.strip_prefix('^').or_else(|| source.strip_prefix("\\A"))?;
    let mut guards = Vec::new();
    loop {
        let (wanted, inner) = match (rest.strip_prefix("(?="), rest.strip_prefix("(?!")) {
            (Some(inner), _) => (true, inner),
            (_, Some(inner)) => (false, inner),
            _ => break,
        };
        let end = find_outside(inner, |depth, c| depth == 0 && c == ')')?;
        guards.push((wanted, inner.get(..end)?));
        rest = inner.get(end + 1..)?;
    }
    // A repeated look-ahead has another meaning, and an alternative is not anchored.
    let repeated = rest.starts_with(['*', '+', '?', '{']);
    let alternatives = find_outside(rest, |depth, c| depth == 0 && c == '|').is_some();
    (!guards.is_empty() && !repeated && !alternatives).then_some(SplitPattern { guards, rest })
}

/// Returns the position of the first character outside of classes and escapes for which
/// `found(open groups, character)` is true.
fn find_outside(pattern: &str, found: impl Fn(usize, char) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut chars = pattern.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if found(depth, c) {
            return Some(at);
        }
        match c {
            '\\' => drop(chars.next()),
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            '[' => {
                chars.next_if(|(_, c)| *c == '^');
                // A bracket that comes first is literal.
                chars.next_if(|(_, c)| *c == ']');
                loop {
                    match chars.next()? {
                        (_, '\\') => drop(chars.next()),
                        (_, '[') if chars.next_if(|(_, c)| *c == ':').is_some() => {
                            while chars.next()?.1 != ']' {}
                        }
                        (_, ']') => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_ahead_is_taken_off_the_start() {
        for (source, guards, rest) in [
            (r"^(?!system\.)", &[(false, r"system\.")][..], ""),
            (r"\A(?!a)(?=b)c", &[(false, "a"), (true, "b")], "c"),
            ("^(?!(a|b)[)(]x)y(1|2)$", &[(false, "(a|b)[)(]x")], "y(1|2)$"),
            (r"^(?!\)[]|]).", &[(false, r"\)[]|]")], "."),
        ] {
            assert_eq!(
                split_guards(source),
                Some(SplitPattern { guards: guards.to_vec(), rest }),
                "{source}"
            );
        }
        for source in
            ["", "^a", "(?!a)b", "a(?=b)", "^(?!a", "^(?!a)b|c", "^(?!a)*b", r"^(?!\Q)\E)b"]
        {
            assert_eq!(split_guards(source), None, "{source}");
        }
    }
}
