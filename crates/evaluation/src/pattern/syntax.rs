//! Rewrites Perl's pattern syntax for an engine without backtracking. The meaning is preserved;
//! features that need backtracking are refused with their name.
//!
//! The two syntaxes look alike but differ in details: `$` matches before a final line break, `\d`
//! and `\w` are ASCII, braces that are not a count are literal, `\v` is a class, three octal digits
//! are a character. The text is parsed once from left to right and everything that the engine would
//! interpret differently is rewritten.
//!
//! ```text
//! a{,3}$        ->   a\{,3\}(?:\n?\z)
//! \d+\Q.\E      ->   [0-9]+\.
//! (?=x)a        ->   (?P<__ahead_0>)a       with x as a separate pattern, if look-ahead is allowed
//! ```

use super::{
    class::read_class,
    escape::{Escape, read_escape},
    groups::{Flags, Opening, read_opening},
    text::{Text, invalid, unsupported},
};
use crate::error::Error;

/// A look-ahead that was extracted from a pattern.
#[derive(Debug)]
pub(super) struct Lookahead {
    pub(super) is_positive: bool,
    pub(super) pattern: String,
}

/// Maximum nesting of groups, as in PCRE.
const MAX_NESTING: usize = 250;

/// Name prefix, followed by a number, of the empty group that represents a look-ahead in a
/// rewritten pattern.
const AHEAD: &str = "__ahead_";

/// Returns the number of the look-ahead that is represented by the group with this name.
pub(super) fn ahead_of(group: &str) -> Option<usize> {
    group.strip_prefix(AHEAD)?.parse().ok()
}

/// Rewrites a pattern; fails if it contains look-ahead.
pub(super) fn translate(source: &str, flags: Flags) -> Result<String, Error> {
    Rewrite::new(source, flags, None).whole().map(|(out, _)| out)
}

/// Rewrites a pattern and extracts its look-aheads. Inner ones come before the outer ones in the
/// list.
pub(super) fn translate_lookaheads(
    source: &str,
    flags: Flags,
) -> Result<(String, Vec<Lookahead>), Error> {
    Rewrite::new(source, flags, Some(Vec::new())).whole()
}

/// The state of rewriting a pattern.
struct Rewrite<'a> {
    /// The remaining input and the output.
    text: Text<'a>,
    flags: Flags,
    /// For each open group, the flags that were in effect before it.
    around: Vec<Flags>,
    /// Number of capture groups opened so far.
    groups: usize,
    /// Whether a quantifier may follow the last element.
    repeatable: bool,
    /// Whether nothing but flag settings has been read so far; these apply to the whole pattern.
    begins: bool,
    /// Whether `^` was rewritten without a look-ahead, which is wrong if the pattern can match the
    /// empty text.
    plain_line_start: bool,
    /// Extracted look-aheads; `None` if look-ahead is refused.
    lookaheads: Option<Vec<Lookahead>>,
}

impl<'a> Rewrite<'a> {
    fn new(source: &'a str, flags: Flags, lookaheads: Option<Vec<Lookahead>>) -> Self {
        let mut text = Text::new(source);
        // These prefixes have no effect, since patterns are always UTF-8.
        while text.take("(*UTF8)") || text.take("(*UTF)") {}
        Self {
            text,
            flags,
            around: Vec::new(),
            groups: 0,
            repeatable: false,
            begins: true,
            plain_line_start: false,
            lookaheads,
        }
    }

    fn whole(mut self) -> Result<(String, Vec<Lookahead>), Error> {
        while let Some(next) = self.text.rest.next() {
            self.outside(next)?;
        }
        // The engine also matches `^` after the final line break, Perl does not. The results differ
        // only if the pattern matches the empty text there.
        if self.plain_line_start && may_be_empty(&self.text.out) {
            return Err(unsupported("a multiline ^ in a pattern that may match the empty string"));
        }
        Ok((self.text.out, self.lookaheads.unwrap_or_default()))
    }

    /// Writes `$` or `\Z`: the end of the text, or the position before a final line break. If
    /// look-aheads are allowed, it is written as a look-ahead, so that the line break is not part
    /// of the match.
    fn end(&mut self) -> Result<(), Error> {
        let is_last = self.lookaheads.is_none() && self.is_at_end();
        match self.lookaheads {
            Some(_) => self.push_lookahead(true, r"\n?\z".to_owned()),
            None if is_last => {
                self.text.out.push_str(r"(?:\n?\z)");
                Ok(())
            }
            // Without a look-ahead, `$` would consume the line break, and the rest of the pattern
            // could not match it.
            None => Err(unsupported("a $ that is not at the end of the pattern")),
        }
    }

    /// Returns whether the pattern, or its current alternative, ends here except for closing
    /// parentheses.
    fn is_at_end(&mut self) -> bool {
        let mut rest = self.text.rest.clone();
        let closing = (0..self.around.len()).all(|_| rest.next() == Some(')'));
        closing && matches!(rest.next(), None | Some('|'))
    }

    /// Writes an empty group in place of a look-ahead, whose pattern is added to the list.
    fn push_lookahead(&mut self, is_positive: bool, pattern: String) -> Result<(), Error> {
        let Some(lookaheads) = &mut self.lookaheads else { return Err(unsupported("look-ahead")) };
        self.text.out.push_str(&format!("(?P<{AHEAD}{}>)", lookaheads.len()));
        lookaheads.push(Lookahead { is_positive, pattern });
        Ok(())
    }

    /// Extracts a look-ahead, from after its start to its closing parenthesis. Inner look-aheads
    /// are extracted first, so that each refers only to those before it in the list.
    fn ahead(&mut self, is_positive: bool) -> Result<(), Error> {
        if self.lookaheads.is_none() {
            return Err(unsupported("look-ahead"));
        }
        // The output up to the closing parenthesis is the pattern of the look-ahead. It is compiled
        // separately, with the flags in effect here.
        let around = std::mem::replace(&mut self.text.out, self.flags.as_group());
        let depth = self.around.len();
        self.open(false)?;
        while depth < self.around.len() {
            match self.text.rest.next() {
                None => return Err(invalid("missing closing parenthesis")),
                Some(next) => self.outside(next)?,
            }
        }
        let pattern = std::mem::replace(&mut self.text.out, around);
        self.push_lookahead(is_positive, pattern)
    }

    /// Opens a group; `keeps` says whether the group captures.
    fn open(&mut self, keeps: bool) -> Result<(), Error> {
        if MAX_NESTING <= self.around.len() {
            return Err(invalid("parentheses are too deeply nested"));
        }
        self.around.push(self.flags);
        self.groups += usize::from(keeps);
        self.repeatable = false;
        Ok(())
    }

    /// Rewrites the construct that starts with this character, which is not in a class.
    fn outside(&mut self, next: char) -> Result<(), Error> {
        let before = std::mem::replace(&mut self.repeatable, true);
        let begins = std::mem::replace(&mut self.begins, false);
        match next {
            '\\' => return self.escape(before),
            '[' => return self.class(),
            '(' => {
                let flags = self.flags;
                self.group(before)?;
                // A group that only sets flags leaves the pattern at its beginning.
                self.begins = begins && self.around.is_empty() && flags != self.flags;
                return Ok(());
            }
            ')' => {
                let Some(flags) = self.around.pop() else {
                    return Err(invalid("unmatched closing parenthesis"));
                };
                self.flags = flags;
                self.text.out.push(')');
            }
            '|' => {
                self.repeatable = false;
                self.text.out.push('|');
            }
            '^' => {
                self.repeatable = false;
                self.line_start(begins)?;
            }
            '$' => {
                self.repeatable = false;
                match self.flags.multi_line {
                    true => self.text.out.push_str("(?m:$)"),
                    false => self.end()?,
                }
            }
            '*' | '+' | '?' => self.repeat(before, &next.to_string())?,
            '{' => match self.count()? {
                Some(count) => self.repeat(before, &count)?,
                // Not a count: a literal brace.
                None => self.text.literal('{'),
            },
            '.' => self.text.out.push_str(match self.flags.dot_all {
                true => "(?s:.)",
                false => r"[^\n]",
            }),
            '#' if self.flags.extended => {
                self.repeatable = before;
                while self.text.rest.next().is_some_and(|c| c != '\n') {}
            }
            _ if self.flags.extended && is_blank(next) => self.repeatable = before,
            other => self.text.literal(other),
        }
        Ok(())
    }

    /// Writes `^`: the start of the text or, with `m`, of any line. `begins` is whether nothing
    /// precedes it.
    fn line_start(&mut self, begins: bool) -> Result<(), Error> {
        if !self.flags.multi_line {
            self.text.out.push_str(r"\A");
        } else if self.lookaheads.is_some() {
            // In Perl no line starts after the final line break.
            self.text.out.push_str(r"(?:\A|(?m:^)");
            self.push_lookahead(false, r"\z".to_owned())?;
            self.text.out.push(')');
        } else if begins {
            self.plain_line_start = true;
            self.text.out.push_str("(?m:^)");
        } else {
            return Err(unsupported("a multiline ^ that is not at the start of the pattern"));
        }
        Ok(())
    }

    fn class(&mut self) -> Result<(), Error> {
        // These two names are assertions: the start and the end of a word.
        for (sign, written) in [("[:<:]]", r"(?-u:\b{start})"), ("[:>:]]", r"(?-u:\b{end})")] {
            if self.text.take(sign) {
                self.text.out.push_str(written);
                return Ok(());
            }
        }
        let set = read_class(&mut self.text, self.flags.ignore_case)?;
        self.text.set(&set)
    }

    /// Writes a quantifier. A `?` after it makes it lazy; a `+` would make it possessive, which
    /// needs backtracking.
    fn repeat(&mut self, repeatable: bool, sign: &str) -> Result<(), Error> {
        if !repeatable {
            return Err(invalid("quantifier does not follow a repeatable item"));
        }
        self.text.out.push_str(sign);
        self.repeatable = false;
        if self.text.take("+") {
            return Err(unsupported("a possessive quantifier"));
        }
        if self.text.take("?") {
            self.text.out.push('?');
        }
        Ok(())
    }

    /// Parses a repetition count from after its brace; returns `None` if the brace is literal.
    fn count(&mut self) -> Result<Option<String>, Error> {
        let before = self.text.rest.clone();
        // Reads all digits: a number that is too long is an error and not literal text.
        let low = self.text.digits(10, usize::MAX);
        let comma = self.text.take(",");
        let high = if comma { self.text.digits(10, usize::MAX) } else { String::new() };
        if low.is_empty() || !self.text.take("}") {
            self.text.rest = before;
            return Ok(None);
        }
        let number = |digits: &str| match digits.parse::<u16>() {
            Ok(number) => Ok(number),
            Err(_) => Err(invalid("number too big in {} quantifier")),
        };
        let low = number(&low)?;
        Ok(Some(match (comma, high.as_str()) {
            (false, _) => format!("{{{low}}}"),
            (true, "") => format!("{{{low},}}"),
            (true, high) => {
                let high = number(high)?;
                if high < low {
                    return Err(invalid("numbers out of order in {} quantifier"));
                }
                format!("{{{low},{high}}}")
            }
        }))
    }

    /// Rewrites the start of a group, after its opening parenthesis. `before` is whether a
    /// quantifier could follow the element before the group.
    fn group(&mut self, before: bool) -> Result<(), Error> {
        match read_opening(&mut self.text, self.flags)? {
            Opening::Comment => self.repeatable = before,
            Opening::Lookahead(is_positive) => self.ahead(is_positive)?,
            Opening::Flags(flags) => {
                self.flags = flags;
                self.repeatable = false;
                self.text.out.push_str(&flags.as_directive());
            }
            Opening::Group { keeps, flags } => {
                self.open(keeps)?;
                self.flags = flags;
            }
        }
        Ok(())
    }

    /// Rewrites an escape outside of classes. `before` is whether a quantifier could follow the
    /// element before the escape.
    fn escape(&mut self, before: bool) -> Result<(), Error> {
        let sign = match read_escape(&mut self.text, Some(self.groups))? {
            Escape::Char(found) => {
                self.text.literal(found);
                return Ok(());
            }
            Escape::Set(set) => return self.text.set(&set),
            Escape::Sign(sign) => sign,
        };
        match sign {
            'R' => return self.line_break(),
            'E' => self.repeatable = before,
            'Q' => self.repeatable = self.quoted() || before,
            'g' if self.text.starts_with("<") || self.text.starts_with("'") => {
                return Err(unsupported("recursion"));
            }
            '1'..='9' | 'g' | 'k' => return Err(unsupported("a backreference")),
            'C' | 'G' | 'K' | 'X' => return Err(unsupported(&format!("\\{sign}"))),
            _ => {
                self.repeatable = false;
                self.position(sign)?;
            }
        }
        Ok(())
    }

    /// Writes the assertion `\b`, `\B`, `\A`, `\z` or `\Z`. Word characters are ASCII, as in `\w`.
    fn position(&mut self, sign: char) -> Result<(), Error> {
        match sign {
            'b' => self.text.out.push_str(r"(?-u:\b)"),
            // The engine has the ASCII form of `\B` for bytes only, so it is written as "not `\b`".
            'B' if self.lookaheads.is_some() => {
                self.push_lookahead(false, r"(?-u:\b)".to_owned())?
            }
            'B' => return Err(unsupported("\\B")),
            'Z' => self.end()?,
            other => self.text.out.extend(['\\', other]),
        }
        Ok(())
    }

    /// Writes `\R`, any line break; a carriage return followed by a line feed is one line break.
    fn line_break(&mut self) -> Result<(), Error> {
        if self.lookaheads.is_none() {
            return Err(unsupported("\\R"));
        }
        self.text.out.push_str(r"(?:\r\n|\r");
        self.push_lookahead(false, r"\n".to_owned())?;
        self.text.out.push_str(r"|[\n\x0B\f\u{85}\u{2028}\u{2029}])");
        Ok(())
    }

    /// Writes the text up to `\E` literally; returns whether it was not empty.
    fn quoted(&mut self) -> bool {
        let mut any = false;
        while let Some(next) = self.text.rest.next() {
            if next == '\\' && self.text.take("E") {
                break;
            }
            any = true;
            self.text.literal(next);
        }
        any
    }
}

/// Returns whether an extended pattern ignores this character.
fn is_blank(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
}

/// Returns whether a rewritten pattern can match the empty text.
fn may_be_empty(pattern: &str) -> bool {
    regex_syntax::parse(pattern).is_ok_and(|hir| hir.properties().minimum_len() == Some(0))
}
