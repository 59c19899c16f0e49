//! Bracketed character classes, parsed to the set of characters that they match.
//!
//! ```text
//! [a-c\d-]     ->   a to c, the digits, and -      a set cannot start a range
//! []^[:alpha:]] ->  ], ^ and the letters of ASCII
//! ```

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::{
    escape::{Escape, SPACE, WORD, negated, read_escape, set_of},
    text::{Text, invalid},
};
use crate::error::Error;

/// POSIX class names and their sets.
const NAMED: &[(&str, &[(char, char)])] = &[
    ("alnum", &[('0', '9'), ('A', 'Z'), ('a', 'z')]),
    ("alpha", LETTERS),
    ("ascii", &[('\0', '\x7f')]),
    ("blank", &[('\t', '\t'), (' ', ' ')]),
    ("cntrl", &[('\0', '\x1f'), ('\x7f', '\x7f')]),
    ("digit", &[('0', '9')]),
    ("graph", &[('!', '~')]),
    ("lower", &[('a', 'z')]),
    ("print", &[(' ', '~')]),
    ("punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
    ("space", SPACE),
    ("upper", &[('A', 'Z')]),
    ("word", WORD),
    ("xdigit", &[('0', '9'), ('A', 'F'), ('a', 'f')]),
];

const LETTERS: &[(char, char)] = &[('A', 'Z'), ('a', 'z')];

/// The parser of one character class.
struct Reader<'t, 'a> {
    text: &'t mut Text<'a>,
    ignore_case: bool,
    /// Single characters and ranges, which are case-folded if case is ignored.
    chars: ClassUnicode,
    /// Sets such as `\d`, which are never case-folded.
    sets: ClassUnicode,
    /// Whether the reader is between `\Q` and `\E`.
    quoted: bool,
}

enum Item {
    Char(char),
    /// A set such as `\d`, which was already added to the class.
    Set,
}

/// Parses a class up to its closing bracket, after the opening one.
pub(super) fn read_class(text: &mut Text<'_>, ignore_case: bool) -> Result<ClassUnicode, Error> {
    if posix_end(text).is_some() {
        return Err(invalid("POSIX named classes are supported only within a class"));
    }
    let wanted = !text.take("^");
    let (chars, sets) = (set_of(&[]), set_of(&[]));
    let mut reader = Reader { text, ignore_case, chars, sets, quoted: false };
    reader.items()?;
    let Reader { mut chars, sets, .. } = reader;
    if ignore_case {
        chars.try_case_fold_simple().map_err(|_| invalid("case cannot be ignored"))?;
    }
    chars.union(&sets);
    Ok(if wanted { chars } else { negated(chars) })
}

impl Reader<'_, '_> {
    /// Parses all items and the closing bracket, which is literal if it comes first.
    fn items(&mut self) -> Result<(), Error> {
        let mut first = true;
        while let Some(item) = self.item(first)? {
            first = false;
            let Item::Char(start) = item else {
                self.after_set()?;
                continue;
            };
            match self.range_end()? {
                None => self.add(start, start),
                Some(end) if end < start => {
                    return Err(invalid("range out of order in character class"));
                }
                Some(end) => self.add(start, end),
            }
        }
        Ok(())
    }

    fn add(&mut self, start: char, end: char) {
        self.chars.push(ClassUnicodeRange::new(start, end));
    }

    /// Parses the next item of the class; returns `None` at its end.
    fn item(&mut self, first: bool) -> Result<Option<Item>, Error> {
        loop {
            let Some(next) = self.text.rest.next() else {
                return Err(invalid("missing terminating ] for character class"));
            };
            match next {
                '\\' if self.quoted => match self.text.take("E") {
                    true => self.quoted = false,
                    false => return Ok(Some(Item::Char('\\'))),
                },
                _ if self.quoted => return Ok(Some(Item::Char(next))),
                ']' if !first => return Ok(None),
                '[' => {
                    let Some(kind) = posix_end(self.text) else {
                        return Ok(Some(Item::Char('[')));
                    };
                    let set = self.posix(kind)?;
                    self.sets.union(&set);
                    return Ok(Some(Item::Set));
                }
                '\\' => match read_escape(self.text, None)? {
                    Escape::Char(found) => return Ok(Some(Item::Char(found))),
                    Escape::Set(set) => {
                        self.sets.union(&set);
                        return Ok(Some(Item::Set));
                    }
                    Escape::Sign(sign) => self.quoted = sign == 'Q',
                },
                _ => return Ok(Some(Item::Char(next))),
            }
        }
    }

    /// Parses a `-` after a set, which is a literal character.
    fn after_set(&mut self) -> Result<(), Error> {
        if !self.quoted && self.text.take("-") {
            self.add('-', '-');
        }
        Ok(())
    }

    /// Parses a `-` and the upper end of a range; `None` if this is no range.
    fn range_end(&mut self) -> Result<Option<char>, Error> {
        if self.quoted && self.text.take("\\E") {
            self.quoted = false;
        }
        let at_end = self.text.starts_with("-]");
        if self.quoted || at_end || !self.text.take("-") {
            return Ok(None);
        }
        match self.item(true)? {
            Some(Item::Char(end)) => Ok(Some(end)),
            _ => Err(invalid("invalid range in character class")),
        }
    }

    /// Parses a named set such as `:alpha:]`, up to its closing bracket.
    fn posix(&mut self, kind: char) -> Result<ClassUnicode, Error> {
        self.text.skip(1);
        let name = self.text.up_to(kind).unwrap_or_default();
        self.text.skip(1);
        if kind != ':' {
            return Err(invalid("POSIX collating elements are not supported"));
        }
        let (wanted, name) = match name.strip_prefix('^') {
            Some(name) => (false, name),
            None => (true, name.as_str()),
        };
        let Some((_, ranges)) = NAMED.iter().find(|(known, _)| *known == name) else {
            return Err(invalid("unknown POSIX class name"));
        };
        let both_cases = self.ignore_case && matches!(name, "lower" | "upper");
        let set = set_of(if both_cases { LETTERS } else { ranges });
        Ok(if wanted { set } else { negated(set) })
    }
}

/// Returns the character (`:`, `.` or `=`) at both ends of the named set that starts here, after an
/// opening bracket; `None` if no named set starts here.
fn posix_end(text: &Text<'_>) -> Option<char> {
    let mut rest = text.rest.clone();
    let kind = rest.next().filter(|c| matches!(c, ':' | '.' | '='))?;
    loop {
        match rest.next()? {
            next if next == kind => return (rest.next() == Some(']')).then_some(kind),
            '\\' | '[' | ']' => return None,
            _ => {}
        }
    }
}
