//! Rewrites assertions: anchors, word boundaries and look-ahead. Some anchors of Perl have no
//! equal in the engine and are written as look-ahead.

use super::{Form, MAX_NESTING, Rewrite};
use crate::{
    error::Error,
    pattern::{
        mark::Mark,
        text::{invalid, unsupported},
    },
};

/// A look-ahead that was extracted from a pattern.
#[derive(Debug)]
pub(in crate::pattern) struct Lookahead {
    pub(in crate::pattern) is_positive: bool,
    pub(in crate::pattern) pattern: String,
}

/// Name prefix, followed by a number, of the empty group that represents an extracted look-ahead in
/// a rewritten pattern.
const AHEAD: &str = "__ahead_";

/// Returns the number of the extracted look-ahead that is represented by the group with this name.
pub(in crate::pattern) fn ahead_of(group: &str) -> Option<usize> {
    group.strip_prefix(AHEAD)?.parse().ok()
}

impl Rewrite<'_> {
    /// Writes `$` or `\Z`: the end of the text, or the position before a final line break. If
    /// look-aheads are allowed, it is written as a look-ahead, so that the line break is not part
    /// of the match.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        if !matches!(self.form, Form::Linear) {
            return self.push_lookahead(true, r"\n?\z");
        }
        if !self.is_at_end() {
            // Without a look-ahead, `$` would consume the line break, and the rest of the pattern
            // could not match it.
            return Err(unsupported("a $ that is not at the end of the pattern"));
        }
        self.text.out.push_str(r"(?:\n?\z)");
        Ok(())
    }

    /// Returns whether the pattern, or its current alternative, ends here except for closing
    /// parentheses.
    fn is_at_end(&mut self) -> bool {
        let mut rest = self.text.rest.clone();
        let closing = (0..self.around.len()).all(|_| rest.next() == Some(')'));
        closing && matches!(rest.next(), None | Some('|'))
    }

    /// Writes a look-ahead with a rewritten pattern.
    fn push_lookahead(&mut self, is_positive: bool, pattern: &str) -> Result<(), Error> {
        match &mut self.form {
            Form::Linear => Err(unsupported("look-ahead")),
            Form::Extracted(lookaheads) => {
                // An empty group in place of the look-ahead, whose pattern is added to the list.
                self.text.out.push_str(&format!("(?P<{AHEAD}{}>)", lookaheads.len()));
                lookaheads.push(Lookahead { is_positive, pattern: pattern.to_owned() });
                Ok(())
            }
            Form::Marked { .. } => {
                self.write_mark(Mark::Lookahead(is_positive), "look-ahead")?;
                self.text.out.push_str(pattern);
                self.text.out.push(')');
                Ok(())
            }
        }
    }

    /// Rewrites a look-ahead, from after its start. One that is extracted is read up to its closing
    /// parenthesis: inner look-aheads are extracted first, so that each refers only to those before
    /// it in the list.
    pub(super) fn ahead(&mut self, is_positive: bool) -> Result<(), Error> {
        match self.form {
            Form::Linear => return Err(unsupported("look-ahead")),
            Form::Marked { .. } => {
                return self.open_mark(Mark::Lookahead(is_positive), "look-ahead");
            }
            Form::Extracted(_) => {}
        }
        if MAX_NESTING <= self.around.len() {
            return Err(invalid("parentheses are too deeply nested"));
        }
        // The output up to the closing parenthesis is the pattern of the look-ahead. It is compiled
        // separately, with the flags in effect here.
        let around = std::mem::replace(&mut self.text.out, self.flags.as_group());
        let depth = self.around.len();
        self.open(0, true)?;
        while depth < self.around.len() {
            match self.text.rest.next() {
                None => return Err(invalid("missing closing parenthesis")),
                Some(next) => self.outside(next)?,
            }
        }
        let pattern = std::mem::replace(&mut self.text.out, around);
        self.push_lookahead(is_positive, &pattern)
    }

    /// Writes `^`: the start of the text or, with `m`, of any line. `begins` is whether nothing
    /// precedes it.
    pub(super) fn line_start(&mut self, begins: bool) -> Result<(), Error> {
        if !self.flags.multi_line {
            self.text.out.push_str(r"\A");
        } else if !matches!(self.form, Form::Linear) {
            // In Perl no line starts after the final line break.
            self.text.out.push_str(r"(?:\A|(?m:^)");
            self.push_lookahead(false, r"\z")?;
            self.text.out.push(')');
        } else if begins {
            self.plain_line_start = true;
            self.text.out.push_str("(?m:^)");
        } else {
            return Err(unsupported("a multiline ^ that is not at the start of the pattern"));
        }
        Ok(())
    }

    /// Writes the assertion `\b`, `\B`, `\A`, `\z`, `\Z` or `\G`, or `\K`. Word characters are
    /// ASCII, as in `\w`.
    pub(super) fn position(&mut self, sign: char) -> Result<(), Error> {
        match sign {
            'b' => self.text.out.push_str(r"(?-u:\b)"),
            // The engine has the ASCII form of `\B` for bytes only, so it is written as "not `\b`".
            'B' if matches!(self.form, Form::Linear) => return Err(unsupported("\\B")),
            'B' => self.push_lookahead(false, r"(?-u:\b)")?,
            'Z' => self.end()?,
            'G' => self.push_mark(Mark::SearchStart, "\\G")?,
            'K' if self.around.iter().any(|group| group.is_look_around) => {
                let text = "\\K is not allowed in lookarounds (but see \
                            PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)";
                return Err(invalid(text));
            }
            'K' => self.push_mark(Mark::Keep, "\\K")?,
            other => self.text.out.extend(['\\', other]),
        }
        Ok(())
    }

    /// Writes a mark without a pattern.
    fn push_mark(&mut self, mark: Mark, name: &str) -> Result<(), Error> {
        self.write_mark(mark, name)?;
        self.text.out.push(')');
        Ok(())
    }

    /// Writes `\R`, any line break; a carriage return followed by a line feed is one line break.
    pub(super) fn line_break(&mut self) -> Result<(), Error> {
        if matches!(self.form, Form::Linear) {
            return Err(unsupported("\\R"));
        }
        self.text.out.push_str(r"(?:\r\n|\r");
        self.push_lookahead(false, r"\n")?;
        self.text.out.push_str(r"|[\n\x0B\f\u{85}\u{2028}\u{2029}])");
        Ok(())
    }
}
