//! The escapes of Perl's syntax and the character or set of characters that each denotes, inside
//! and outside of classes.
//!
//! ```text
//! \x41  \x{41}  \101  \o{101}     the character A
//! \d  \H  \pL  \p{^Greek}         sets of characters
//! \b  \R  \K  \1                  no set of characters; meaningful outside of classes only
//! ```

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::text::{Text, invalid};
use crate::error::Error;

#[derive(Clone, Debug)]
pub(super) enum Escape {
    Char(char),
    Set(ClassUnicode),
    /// Any other escape, with the letter or digit after the backslash.
    Sign(char),
}

/// Returns the set of the characters in these ranges.
pub(super) fn set_of(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(a, b)| ClassUnicodeRange::new(*a, *b)))
}

/// Returns the complement of a set.
pub(super) fn negated(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

/// Decimal digits. They are ASCII, like all classes of PCRE without the option UCP.
const DIGITS: &[(char, char)] = &[('0', '9')];
pub(super) const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('a', 'z'), ('_', '_')];
pub(super) const SPACE: &[(char, char)] = &[('\t', '\r'), (' ', ' ')];
/// Horizontal white space of all scripts.
const HORIZONTAL: &[(char, char)] = &[
    ('\t', '\t'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];
const VERTICAL: &[(char, char)] = &[('\n', '\r'), ('\u{85}', '\u{85}'), ('\u{2028}', '\u{2029}')];

/// Parses an escape after its backslash. `groups` is the number of groups opened so far, which
/// decides whether `\12` is a backreference or an octal number; `None` inside of a class, where
/// there are no backreferences.
pub(super) fn read_escape(text: &mut Text<'_>, groups: Option<usize>) -> Result<Escape, Error> {
    let Some(next) = text.rest.next() else { return Err(invalid("\\ at end of pattern")) };
    let class = groups.is_none();
    Ok(match next {
        'a' => Escape::Char('\x07'),
        'b' if class => Escape::Char('\x08'),
        'e' => Escape::Char('\x1b'),
        'f' => Escape::Char('\x0c'),
        'n' => Escape::Char('\n'),
        'r' => Escape::Char('\r'),
        't' => Escape::Char('\t'),
        'c' => control(text)?,
        'x' if text.take("{") => braced(text, 16)?,
        'x' => Escape::Char(number(&text.digits(16, 2), 16)?),
        'o' if text.take("{") => braced(text, 8)?,
        'o' => return Err(invalid("missing opening brace after \\o")),
        '0' => Escape::Char(number(&text.digits(8, 2), 8)?),
        '1'..='9' => numbered(text, next, groups)?,
        'd' => Escape::Set(set_of(DIGITS)),
        'D' => Escape::Set(negated(set_of(DIGITS))),
        'w' => Escape::Set(set_of(WORD)),
        'W' => Escape::Set(negated(set_of(WORD))),
        's' => Escape::Set(set_of(SPACE)),
        'S' => Escape::Set(negated(set_of(SPACE))),
        'h' => Escape::Set(set_of(HORIZONTAL)),
        'H' => Escape::Set(negated(set_of(HORIZONTAL))),
        'v' => Escape::Set(set_of(VERTICAL)),
        'V' => Escape::Set(negated(set_of(VERTICAL))),
        'p' => Escape::Set(property(text)?),
        'P' => Escape::Set(negated(property(text)?)),
        'N' if class => return Err(invalid("\\N is not supported in a class")),
        'N' if text.starts_with("{")
            && !text.rest.clone().nth(1).is_some_and(|c| c.is_ascii_digit()) =>
        {
            return Err(changes_case());
        }
        'N' => Escape::Set(negated(set_of(&[('\n', '\n')]))),
        'F' | 'L' | 'l' | 'U' | 'u' => return Err(changes_case()),
        'Q' | 'E' => Escape::Sign(next),
        'b' | 'A' | 'B' | 'C' | 'G' | 'K' | 'R' | 'X' | 'Z' | 'g' | 'k' | 'z' if !class => {
            Escape::Sign(next)
        }
        _ if next.is_ascii_alphabetic() && class => {
            return Err(invalid("escape sequence is invalid in character class"));
        }
        _ if next.is_ascii_alphabetic() => {
            return Err(invalid("unrecognized character follows \\"));
        }
        other => Escape::Char(other),
    })
}

/// Returns the error for escapes of Perl that change the case of text or name a character.
fn changes_case() -> Error {
    invalid("PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u")
}

/// Returns the character whose code these digits are; an empty text is zero.
fn number(digits: &str, base: u32) -> Result<char, Error> {
    let code = match digits.trim_start_matches('0') {
        "" => 0,
        digits => u32::from_str_radix(digits, base).unwrap_or(u32::MAX),
    };
    match char::from_u32(code) {
        Some(found) => Ok(found),
        None if code < 0x11_0000 => {
            Err(invalid("disallowed Unicode code point (>= 0xd800 && <= 0xdfff)"))
        }
        None => Err(invalid("character code point value in \\x{} or \\o{} is too large")),
    }
}

/// Parses the digits of `\x{41}` or `\o{101}` and the closing brace.
fn braced(text: &mut Text<'_>, base: u32) -> Result<Escape, Error> {
    let digits = text.digits(base, usize::MAX);
    if !text.take("}") {
        return Err(invalid(match base {
            16 => "non-hex character in \\x{} (closing brace missing?)",
            _ => "non-octal character in \\o{} (closing brace missing?)",
        }));
    }
    if digits.is_empty() {
        return Err(invalid("digits missing in \\x{} or \\o{}"));
    }
    number(&digits, base).map(Escape::Char)
}

/// Parses the character after `\c`.
fn control(text: &mut Text<'_>) -> Result<Escape, Error> {
    match text.rest.next() {
        None => Err(invalid("\\c at end of pattern")),
        Some(next @ ' '..='~') => {
            Ok(Escape::Char(char::from(next.to_ascii_uppercase() as u8 ^ 64)))
        }
        Some(_) => Err(invalid("\\c must be followed by a printable ASCII character")),
    }
}

/// Parses a number that does not start with zero: a backreference, or up to three octal digits of a
/// character.
fn numbered(text: &mut Text<'_>, first: char, groups: Option<usize>) -> Result<Escape, Error> {
    let mut ahead = text.rest.clone();
    let mut decimal = first.to_digit(10).unwrap_or(0) as usize;
    while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
        decimal = decimal.saturating_mul(10).saturating_add(digit as usize - '0' as usize);
    }
    let octal = first.is_digit(8);
    match groups {
        Some(groups) if decimal < 10 || !octal || decimal <= groups => Ok(Escape::Sign(first)),
        None if !octal => Ok(Escape::Char(first)),
        _ => number(&format!("{first}{}", text.digits(8, 2)), 8).map(Escape::Char),
    }
}

/// Parses the name of a character property: one letter, or a name in braces, which a leading `^`
/// negates.
fn property(text: &mut Text<'_>) -> Result<ClassUnicode, Error> {
    let malformed = || invalid("malformed \\P or \\p sequence");
    let name = match text.rest.next().ok_or_else(malformed)? {
        '{' => text.up_to('}').ok_or_else(malformed)?,
        letter => letter.to_string(),
    };
    let (wanted, name) = match name.strip_prefix('^') {
        Some(name) => (false, name),
        None => (true, name.as_str()),
    };
    let set = named(name).ok_or_else(|| invalid("unknown property after \\P or \\p"))?;
    Ok(if wanted { set } else { negated(set) })
}

/// Returns the set of characters with a property: a general category, a script, or one of PCRE's
/// own properties.
fn named(name: &str) -> Option<ClassUnicode> {
    let union = |names: &[&str], ranges: &[(char, char)]| {
        let mut set = set_of(ranges);
        names.iter().try_for_each(|name| {
            set.union(&known_property(name)?);
            Some(())
        })?;
        Some(set)
    };
    match name {
        "Any" => Some(negated(set_of(&[]))),
        "L&" => union(&["Lu", "Ll", "Lt"], &[]),
        // No valid text contains a surrogate.
        "Cs" => Some(set_of(&[])),
        "Xan" => union(&["L", "N"], &[]),
        "Xwd" => union(&["L", "N"], &[('_', '_')]),
        "Xsp" | "Xps" => union(&["Z"], &[HORIZONTAL, VERTICAL].concat()),
        "Xuc" => union(
            &[],
            &[
                ('$', '$'),
                ('@', '@'),
                ('`', '`'),
                ('\u{a0}', '\u{d7ff}'),
                ('\u{e000}', '\u{10ffff}'),
            ],
        ),
        // Names of categories are a capital letter and possibly a small one; names of scripts are
        // longer.
        _ => known_property(name),
    }
}

/// Returns a property that the regex engine has by the same name.
fn known_property(name: &str) -> Option<ClassUnicode> {
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let hir = regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(set)) => Some(set),
        // Sets of one character are parsed to a literal.
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            Some(set_of(&text.chars().map(|c| (c, c)).collect::<Vec<_>>()))
        }
        _ => None,
    }
}
