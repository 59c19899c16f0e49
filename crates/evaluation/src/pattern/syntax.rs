//! Perl's pattern syntax rewritten for an engine without backtracking: same meaning for what both
//! have, a named refusal for what only a backtracking engine can do.
//!
//! The two syntaxes look alike and differ in many small ways: `$` matches before a final line
//! break, `\d` and `\w` mean ASCII, braces that are not a count stand for themselves, `\v` is a
//! class, three octal digits are a character. The text is read once from left to right, and what
//! the engine would read in another way is written so that it reads it right.
//!
//! ```text
//! a{,3}$        ->   a\{,3\}(?:\n?\z)
//! \d+\Q.\E      ->   [0-9]+\.
//! (?=x)a        ->   (?P<__ahead_0>)a       with x as a pattern of its own, where look-ahead may be
//! ```

use super::{
    class::read_class,
    escape::{Escape, read_escape},
    groups::{Flags, Opening, read_opening},
    text::{Text, invalid, unsupported},
};
use crate::error::Error;

/// A look-ahead that was taken out of a pattern.
#[derive(Debug)]
pub(super) struct Ahead {
    /// It has to be met, or must not be.
    pub(super) wanted: bool,
    /// Rewritten.
    pub(super) pattern: String,
}

/// Deepest nesting of groups, as in Perl's library.
const MAX_NESTING: usize = 250;

/// What stands in a rewritten pattern for a look-ahead, in front of its number: an empty group.
const AHEAD: &str = "__ahead_";

/// The number of the look-ahead that a group of this name stands for.
pub(super) fn ahead_of(group: &str) -> Option<usize> {
    group.strip_prefix(AHEAD)?.parse().ok()
}

/// Rewrites a pattern; look-ahead in it is refused.
pub(super) fn translate(source: &str, flags: Flags) -> Result<String, Error> {
    Rewrite::new(source, flags, None).whole().map(|(out, _)| out)
}

/// Rewrites a pattern with look-aheads in it; those inside of others come before them.
pub(super) fn translate_aheads(source: &str, flags: Flags) -> Result<(String, Vec<Ahead>), Error> {
    Rewrite::new(source, flags, Some(Vec::new())).whole()
}

/// A pattern while it is rewritten.
struct Rewrite<'a> {
    /// The text that is read and the text that was written.
    text: Text<'a>,
    /// The flags that hold here.
    flags: Flags,
    /// The flags that held where each open group began.
    around: Vec<Flags>,
    /// How many groups that keep their text were opened.
    groups: usize,
    /// Whether a repetition may follow: something was read that can be repeated.
    repeatable: bool,
    /// Whether nothing but flags was read.
    begins: bool,
    /// Whether the start of a line was written that has no look-ahead.
    plain_line_start: bool,
    /// Look-aheads so far, where they are taken out.
    aheads: Option<Vec<Ahead>>,
}

impl<'a> Rewrite<'a> {
    fn new(source: &'a str, flags: Flags, aheads: Option<Vec<Ahead>>) -> Self {
        let mut text = Text::new(source);
        // Patterns are UTF-8 whether or not they ask for it.
        while text.take("(*UTF8)") || text.take("(*UTF)") {}
        Self {
            text,
            flags,
            around: Vec::new(),
            groups: 0,
            repeatable: false,
            begins: true,
            plain_line_start: false,
            aheads,
        }
    }

    /// Rewrites all of the pattern.
    fn whole(mut self) -> Result<(String, Vec<Ahead>), Error> {
        while let Some(next) = self.text.rest.next() {
            self.outside(next)?;
        }
        // Behind the last line break no line begins, which only an empty match could show.
        if self.plain_line_start && may_be_empty(&self.text.out) {
            return Err(unsupported("a start of a line that nothing follows"));
        }
        Ok((self.text.out, self.aheads.unwrap_or_default()))
    }

    /// Writes the end of the text, or the line break before it. With look-ahead in the pattern that
    /// is a look-ahead itself: the line break is not part of the match.
    fn end(&mut self) -> Result<(), Error> {
        let is_last = self.aheads.is_none() && self.is_at_end();
        match self.aheads {
            Some(_) => self.stand(true, r"\n?\z".to_owned()),
            None if is_last => {
                self.text.out.push_str(r"(?:\n?\z)");
                Ok(())
            }
            // What follows would have to see the line break again.
            None => Err(unsupported("an end in front of something else")),
        }
    }

    /// Whether nothing follows that would have to match behind this place.
    fn is_at_end(&mut self) -> bool {
        let mut rest = self.text.rest.clone();
        let closing = (0..self.around.len()).all(|_| rest.next() == Some(')'));
        closing && matches!(rest.next(), None | Some('|'))
    }

    /// Writes that a look-ahead stands here, and keeps its pattern.
    fn stand(&mut self, wanted: bool, pattern: String) -> Result<(), Error> {
        let Some(aheads) = &mut self.aheads else { return Err(unsupported("look-ahead")) };
        self.text.out.push_str(&format!("(?P<{AHEAD}{}>)", aheads.len()));
        aheads.push(Ahead { wanted, pattern });
        Ok(())
    }

    /// Takes out a look-ahead whose beginning was read, up to its closing parenthesis. Those inside
    /// it are taken out first, so that each knows only look-aheads before it in the list.
    fn ahead(&mut self, wanted: bool) -> Result<(), Error> {
        if self.aheads.is_none() {
            return Err(unsupported("look-ahead"));
        }
        // The text that is written until the closing parenthesis is the look-ahead's pattern. It is
        // compiled for itself, with the flags that hold here.
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
        self.stand(wanted, pattern)
    }

    /// Notes that a group is open; `keeps` says whether it keeps its text.
    fn open(&mut self, keeps: bool) -> Result<(), Error> {
        if MAX_NESTING <= self.around.len() {
            return Err(invalid("parentheses are too deeply nested"));
        }
        self.around.push(self.flags);
        self.groups += usize::from(keeps);
        self.repeatable = false;
        Ok(())
    }

    /// Rewrites what a character outside of classes begins.
    fn outside(&mut self, next: char) -> Result<(), Error> {
        let before = std::mem::replace(&mut self.repeatable, true);
        let begins = std::mem::replace(&mut self.begins, false);
        match next {
            '\\' => return self.escape(before),
            '[' => return self.class(),
            '(' => {
                let flags = self.flags;
                self.group(before)?;
                // Flags for all that follows are not in a group.
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
                // Not a count: a brace.
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

    /// Writes the start of the text, or of any line; `begins` says that nothing is in front of it.
    fn line_start(&mut self, begins: bool) -> Result<(), Error> {
        if !self.flags.multi_line {
            self.text.out.push_str(r"\A");
        } else if self.aheads.is_some() {
            // Behind the last line break no line begins.
            self.text.out.push_str(r"(?:\A|(?m:^)");
            self.stand(false, r"\z".to_owned())?;
            self.text.out.push(')');
        } else if begins {
            self.plain_line_start = true;
            self.text.out.push_str("(?m:^)");
        } else {
            return Err(unsupported("a start of a line behind something else"));
        }
        Ok(())
    }

    /// Writes a class.
    fn class(&mut self) -> Result<(), Error> {
        // Two classes by name are signs: where a word begins and where it ends.
        for (sign, written) in [("[:<:]]", r"(?-u:\b{start})"), ("[:>:]]", r"(?-u:\b{end})")] {
            if self.text.take(sign) {
                self.text.out.push_str(written);
                return Ok(());
            }
        }
        let set = read_class(&mut self.text, self.flags.ignore_case)?;
        self.text.set(&set)
    }

    /// Writes a repetition. A `+` after it would make it possessive, which needs backtracking; a
    /// `?` makes it lazy.
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

    /// Reads a repetition count whose opening brace was read, if it is one.
    fn count(&mut self) -> Result<Option<String>, Error> {
        let before = self.text.rest.clone();
        // All of them: a number with more digits than a count may have is too big, and no text.
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

    /// Rewrites what an opening parenthesis begins.
    fn group(&mut self, before: bool) -> Result<(), Error> {
        match read_opening(&mut self.text, self.flags)? {
            Opening::Comment => self.repeatable = before,
            Opening::Ahead(wanted) => self.ahead(wanted)?,
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

    /// Rewrites an escape outside of classes.
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
            '1'..='9' | 'g' | 'k' => return Err(unsupported("a reference back")),
            'C' | 'G' | 'K' | 'X' => return Err(unsupported(&format!("\\{sign}"))),
            _ => {
                self.repeatable = false;
                self.position(sign)?;
            }
        }
        Ok(())
    }

    /// Writes a sign that stands for a position. Words are those of ASCII, as `\w` is.
    fn position(&mut self, sign: char) -> Result<(), Error> {
        match sign {
            'b' => self.text.out.push_str(r"(?-u:\b)"),
            // The engine offers the ASCII form of `\B` for bytes only: any position is either
            // between two characters of one kind, or a boundary.
            'B' if self.aheads.is_some() => self.stand(false, r"(?-u:\b)".to_owned())?,
            'B' => return Err(unsupported("\\B")),
            'Z' => self.end()?,
            other => self.text.out.extend(['\\', other]),
        }
        Ok(())
    }

    /// Writes `\R`, any line break; a carriage return and a line feed that follows it are one.
    fn line_break(&mut self) -> Result<(), Error> {
        if self.aheads.is_none() {
            return Err(unsupported("\\R"));
        }
        self.text.out.push_str(r"(?:\r\n|\r");
        self.stand(false, r"\n".to_owned())?;
        self.text.out.push_str(r"|[\n\x0B\f\u{85}\u{2028}\u{2029}])");
        Ok(())
    }

    /// Writes everything up to `\E` as it stands; returns whether that was anything.
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

/// Whether a character is left out of an extended pattern.
fn is_blank(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
}

/// Whether a rewritten pattern can match without reading anything.
fn may_be_empty(pattern: &str) -> bool {
    regex_syntax::parse(pattern).is_ok_and(|hir| hir.properties().minimum_len() == Some(0))
}
