//! Rewrites Perl's pattern syntax to that of the regex engine. The meaning is preserved; features
//! that the chosen form of the output cannot express are refused with their name.
//!
//! The two syntaxes look alike but differ in details: `$` matches before a final line break, `\d`
//! and `\w` are ASCII, braces that are not a count are literal, `\v` is a class, three octal digits
//! are a character. The text is parsed once from left to right and everything that the engine would
//! interpret differently is rewritten.
//!
//! ```text
//! a{,3}$        ->   a\{,3\}(?:\n?\z)
//! \d+\Q.\E      ->   [0-9]+\.
//! (?=x)a        ->   (?P<__ahead_0>)a       with x as a separate pattern, if look-ahead is extracted
//! (?<=x)a       ->   (?P<__behind_1>x)a     if constructs that need backtracking are marked
//! ```

mod assertions;
mod quantifiers;
mod references;

pub(super) use assertions::{Lookahead, ahead_of};
pub(super) use references::Reference;

use references::Target;

use super::{
    class::read_class,
    escape::{Escape, read_escape},
    groups::{Flags, Opening, read_opening},
    mark::Mark,
    text::{Text, invalid, unsupported},
};
use crate::error::Error;

/// Maximum nesting of groups, as in PCRE.
const MAX_NESTING: usize = 250;

/// Rewrites a pattern; fails if it contains look-around or needs backtracking.
pub(super) fn translate(source: &str, flags: Flags) -> Result<String, Error> {
    Rewrite::new(source, flags, Form::Linear).whole().map(|rewrite| rewrite.text.out)
}

/// Rewrites a pattern and extracts its look-aheads. Inner ones come before the outer ones in the
/// list. Fails if the pattern needs backtracking.
pub(super) fn translate_lookaheads(
    source: &str,
    flags: Flags,
) -> Result<(String, Vec<Lookahead>), Error> {
    let rewrite = Rewrite::new(source, flags, Form::Extracted(Vec::new())).whole()?;
    let Form::Extracted(lookaheads) = rewrite.form else { return Err(unsupported("look-ahead")) };
    Ok((rewrite.text.out, lookaheads))
}

/// A rewritten pattern whose groups and other constructs are marked (`Mark`).
#[derive(Debug)]
pub(super) struct MarkedPattern {
    pub(super) text: String,
    /// Number of capture groups of the pattern.
    pub(super) groups: usize,
    /// The references back, in the order of the text.
    pub(super) references: Vec<Reference>,
}

/// Rewrites a pattern for an engine that backtracks.
pub(super) fn translate_marked(source: &str, flags: Flags) -> Result<MarkedPattern, Error> {
    let form = Form::Marked { targets: Vec::new(), serial: 0 };
    let rewrite = Rewrite::new(source, flags, form).whole()?;
    let references = rewrite.references()?;
    Ok(MarkedPattern { text: rewrite.text.out, groups: rewrite.groups, references })
}

/// The form of a rewritten pattern, which determines the constructs that it can have.
enum Form {
    /// One pattern, which has no look-around.
    Linear,
    /// One pattern, and a list of the look-aheads taken out of it.
    Extracted(Vec<Lookahead>),
    /// One pattern in which constructs that need backtracking are marked.
    Marked {
        /// The groups to which references refer so far.
        targets: Vec<(Target, bool)>,
        /// Number of marks so far.
        serial: usize,
    },
}

/// An element of a pattern that a quantifier may follow.
#[derive(Clone, Copy)]
struct Item {
    repeatable: bool,
    /// Offset at which the element starts in the output.
    start: usize,
}

/// A group whose closing parenthesis was not read yet.
struct OpenGroup {
    /// The flags that were in effect before the group.
    flags: Flags,
    /// Offset at which the group starts in the output.
    start: usize,
    is_look_around: bool,
}

/// The state of rewriting a pattern.
struct Rewrite<'a> {
    /// The remaining input and the output.
    text: Text<'a>,
    flags: Flags,
    around: Vec<OpenGroup>,
    /// Number of capture groups opened so far.
    groups: usize,
    /// Names of capture groups, with their numbers.
    names: Vec<(String, usize)>,
    /// The element that was read last.
    item: Item,
    /// Whether nothing but flag settings has been read so far; these apply to the whole pattern.
    begins: bool,
    /// Whether `^` was rewritten without a look-ahead, which is wrong if the pattern can match the
    /// empty text.
    plain_line_start: bool,
    form: Form,
}

impl<'a> Rewrite<'a> {
    fn new(source: &'a str, flags: Flags, form: Form) -> Self {
        let mut text = Text::new(source);
        // These prefixes have no effect, since patterns are always UTF-8.
        while text.take("(*UTF8)") || text.take("(*UTF)") {}
        Self {
            text,
            flags,
            around: Vec::new(),
            groups: 0,
            names: Vec::new(),
            item: Item { repeatable: false, start: 0 },
            begins: true,
            plain_line_start: false,
            form,
        }
    }

    fn whole(mut self) -> Result<Self, Error> {
        while let Some(next) = self.text.rest.next() {
            self.outside(next)?;
        }
        // The engine also matches `^` after the final line break, Perl does not. The results differ
        // only if the pattern matches the empty text there.
        if self.plain_line_start && may_be_empty(&self.text.out) {
            return Err(unsupported("a multiline ^ in a pattern that may match the empty string"));
        }
        Ok(self)
    }

    /// Records that a group has been opened, which starts at `start` in the output.
    fn open(&mut self, start: usize, is_look_around: bool) -> Result<(), Error> {
        if MAX_NESTING <= self.around.len() {
            return Err(invalid("parentheses are too deeply nested"));
        }
        self.around.push(OpenGroup { flags: self.flags, start, is_look_around });
        self.item.repeatable = false;
        Ok(())
    }

    /// Writes the start of the group that represents a mark. Fails with the name of the construct
    /// if the output has no marks.
    fn write_mark(&mut self, mark: Mark, name: &str) -> Result<(), Error> {
        let Form::Marked { serial, .. } = &mut self.form else { return Err(unsupported(name)) };
        *serial += 1;
        self.text.out.push_str(&format!("(?P<{}>", mark.group_name(*serial)));
        Ok(())
    }

    /// Opens a group that represents a mark.
    fn open_mark(&mut self, mark: Mark, name: &str) -> Result<(), Error> {
        let start = self.text.out.len();
        self.write_mark(mark, name)?;
        self.open(start, matches!(mark, Mark::Lookahead(_) | Mark::Lookbehind(_)))
    }

    /// Opens a capture group, which may have a name.
    fn open_capture(&mut self, name: Option<String>) -> Result<(), Error> {
        let start = self.text.out.len();
        self.groups += 1;
        match (&self.form, &name) {
            // Own names are not needed, and could be the name of a mark.
            (Form::Marked { .. }, _) => {
                self.write_mark(Mark::Group(self.groups), "a capture group")?
            }
            (_, None) => self.text.out.push('('),
            (_, Some(name)) => self.text.out.push_str(&format!("(?P<{name}>")),
        }
        if let Some(name) = name {
            if self.names.iter().any(|(known, _)| *known == name) {
                let text = "two named subpatterns have the same name (PCRE2_DUPNAMES not set)";
                return Err(invalid(text));
            }
            self.names.push((name, self.groups));
        }
        self.open(start, false)
    }

    /// Rewrites the construct that starts with this character, which is not in a class.
    fn outside(&mut self, next: char) -> Result<(), Error> {
        let item = Item { repeatable: true, start: self.text.out.len() };
        let before = std::mem::replace(&mut self.item, item);
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
                let Some(group) = self.around.pop() else {
                    return Err(invalid("unmatched closing parenthesis"));
                };
                self.flags = group.flags;
                self.item.start = group.start;
                self.text.out.push(')');
            }
            '|' => {
                self.item.repeatable = false;
                self.text.out.push('|');
            }
            '^' => {
                self.item.repeatable = false;
                self.line_start(begins)?;
            }
            '$' => {
                self.item.repeatable = false;
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
                self.item = before;
                while self.text.rest.next().is_some_and(|c| c != '\n') {}
            }
            _ if self.flags.extended && is_blank(next) => self.item = before,
            other => self.text.literal(other),
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

    /// Rewrites the start of a group, after its opening parenthesis. `before` is the element before
    /// the group.
    fn group(&mut self, before: Item) -> Result<(), Error> {
        let start = self.text.out.len();
        match read_opening(&mut self.text, self.flags)? {
            Opening::Comment => self.item = before,
            Opening::Lookahead(is_positive) => self.ahead(is_positive)?,
            Opening::Lookbehind(is_positive) => {
                self.open_mark(Mark::Lookbehind(is_positive), "look-behind")?
            }
            Opening::Atomic => self.open_mark(Mark::Atomic, "an atomic group")?,
            Opening::Reference(name) => self.refer(Target::Name(name))?,
            Opening::Flags(flags) => {
                self.flags = flags;
                self.item.repeatable = false;
                self.text.out.push_str(&flags.as_directive());
            }
            Opening::Capture(name) => self.open_capture(name)?,
            Opening::Group(flags) => {
                self.text.out.push_str(&flags.as_group());
                self.open(start, false)?;
                self.flags = flags;
            }
        }
        Ok(())
    }

    /// Rewrites an escape outside of classes. `before` is the element before the escape.
    fn escape(&mut self, before: Item) -> Result<(), Error> {
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
            'E' => self.item = before,
            'Q' => match self.quoted() {
                Some(last) => self.item.start = last,
                None => self.item = before,
            },
            'g' if self.text.starts_with("<") || self.text.starts_with("'") => {
                return Err(unsupported("recursion"));
            }
            '1'..='9' | 'g' | 'k' => {
                let target = self.target(sign)?;
                return self.refer(target);
            }
            'C' | 'X' => return Err(unsupported(&format!("\\{sign}"))),
            _ => {
                self.item.repeatable = false;
                self.position(sign)?;
            }
        }
        Ok(())
    }

    /// Writes the text up to `\E` literally; returns where its last character starts in the output,
    /// or `None` if the text is empty.
    fn quoted(&mut self) -> Option<usize> {
        let mut last = None;
        while let Some(next) = self.text.rest.next() {
            if next == '\\' && self.text.take("E") {
                break;
            }
            last = Some(self.text.out.len());
            self.text.literal(next);
        }
        last
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
