//! Regular expressions: compiled once, matched against strings in linear time.

use std::sync::Arc;

use document::ValueRef;
use memory::Share;
use regex::{Regex, RegexBuilder};

use super::{
    compiling, look_ahead,
    pattern_syntax::{Flags, translate},
};
use crate::{Error, Kind};

/// Longest pattern text, in bytes.
const MAX_PATTERN_BYTES: usize = 32_764;

/// A compiled pattern with the text and the options it came from.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    options: String,
    regex: Regex,
    /// What has to be met at the start of a text beside it, or must not be.
    guards: Vec<(bool, Regex)>,
    /// What the compiled forms hold, clones of them included.
    _held: Arc<Vec<Share>>,
}

impl Pattern {
    /// Compiles a pattern in Perl's syntax with options out of `imsxu`. Look-around, references
    /// back and other syntax that needs backtracking are refused by name.
    pub fn new(source: &str, options: &str) -> Result<Self, Error> {
        let flags = flags(options)?;
        short_enough(source)?;
        let (regex, held) = compile(source, flags)?;
        let (source, options) = (source.to_owned(), sorted(options));
        Ok(Self { source, options, regex, guards: Vec::new(), _held: Arc::new(vec![held]) })
    }

    /// The same, with look-ahead at the start of an anchored pattern.
    pub fn with_look_ahead(source: &str, options: &str) -> Result<Self, Error> {
        let split = match options.contains(['m', 'x']) {
            true => None,
            false => look_ahead::split(source),
        };
        let Some(split) = split else { return Self::new(source, options) };
        let flags = flags(options)?;
        short_enough(source)?;
        let mut guards = Vec::with_capacity(split.guards.len());
        let (regex, share) = compile(&format!("^{}", split.rest), flags)?;
        let mut held = vec![share];
        for (wanted, guard) in split.guards {
            let (guard, share) = compile(&format!("^(?:{guard})"), flags)?;
            guards.push((wanted, guard));
            held.push(share);
        }
        let (source, options) = (source.to_owned(), sorted(options));
        Ok(Self { source, options, regex, guards, _held: Arc::new(held) })
    }

    /// Whether a text meets it.
    pub fn is_match(&self, text: &str) -> bool {
        self.admits(text) && self.regex.is_match(text)
    }

    /// Whether a text has what is looked for ahead of everything.
    pub fn admits(&self, text: &str) -> bool {
        self.guards.iter().all(|(wanted, guard)| guard.is_match(text) == *wanted)
    }

    /// Whether what is looked for ahead has groups, which count among those of the whole.
    pub fn has_groups_ahead(&self) -> bool {
        self.guards.iter().any(|(_, guard)| 1 < guard.captures_len())
    }

    /// The text it came from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its options in alphabetical order.
    pub fn options(&self) -> &str {
        &self.options
    }

    /// The compiled form, without what is looked for ahead of it.
    pub fn regex(&self) -> &Regex {
        &self.regex
    }

    /// Whether a string matches, or a stored pattern is the same one.
    pub fn meets(&self, value: ValueRef<'_>) -> bool {
        match value {
            ValueRef::String(text) | ValueRef::Symbol(text) => self.is_match(text),
            ValueRef::Regex { pattern, options } => {
                pattern == self.source && options == self.options
            }
            _ => false,
        }
    }

    /// The text that every match starts with, when the pattern is anchored to it (`^abc`): strings
    /// below it or not beginning with it cannot match.
    pub fn prefix(&self) -> Option<String> {
        if self.options.contains(['i', 'm', 'x']) || self.source.contains('|') {
            return None;
        }
        let rest = self.source.strip_prefix('^').or_else(|| self.source.strip_prefix("\\A"))?;
        let mut prefix = String::new();
        let mut chars = rest.chars().peekable();
        while let Some(next) = chars.next() {
            let literal = match next {
                '\\' => match chars.next() {
                    Some(escaped) if escaped.is_ascii_punctuation() => escaped,
                    _ => break,
                },
                '.' | '[' | '(' | ')' | '$' | '^' | '*' | '+' | '?' | '{' | '}' => break,
                plain => plain,
            };
            if matches!(chars.peek(), Some('*' | '?' | '{')) {
                break;
            }
            prefix.push(literal);
            if chars.peek() == Some(&'+') {
                break;
            }
        }
        (!prefix.is_empty()).then_some(prefix)
    }
}

fn flags(options: &str) -> Result<Flags, Error> {
    let mut flags = Flags::default();
    for option in options.chars() {
        match option {
            'i' => flags.ignore_case = true,
            'm' => flags.multi_line = true,
            's' => flags.dot_all = true,
            'x' => flags.extended = true,
            'u' => {}
            other => {
                let text = format!("invalid flag in regex options: {other}");
                return Err(Error::new(Kind::Invalid, 51108, text));
            }
        }
    }
    Ok(flags)
}

fn short_enough(source: &str) -> Result<(), Error> {
    if source.len() > MAX_PATTERN_BYTES {
        let text = "Regular expression is invalid: regular expression is too large";
        return Err(Error::new(Kind::TooLarge, 51091, text));
    }
    Ok(())
}

fn compile(source: &str, flags: Flags) -> Result<(Regex, Share), Error> {
    let translated = translate(source, flags)?;
    let mut builder = RegexBuilder::new(&translated);
    builder
        .case_insensitive(flags.ignore_case)
        .multi_line(flags.multi_line)
        .dot_matches_new_line(flags.dot_all)
        .ignore_whitespace(flags.extended);
    compiling::build(&mut builder)?.map_err(refused)
}

/// Options in alphabetical order.
fn sorted(options: &str) -> String {
    let mut options: Vec<char> = options.chars().collect();
    options.sort_unstable();
    options.dedup();
    options.into_iter().collect()
}

fn refused(error: regex::Error) -> Error {
    match error {
        regex::Error::CompiledTooBig(_) => {
            let text = "Regular expression is invalid: regular expression is too large";
            Error::new(Kind::TooLarge, 51091, text)
        }
        other => {
            let text = other.to_string();
            let reason = text.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            let reason = match reason {
                "unclosed group" => "missing closing parenthesis",
                "unopened group" => "unmatched closing parenthesis",
                "repetition operator missing expression" => {
                    "quantifier does not follow a repeatable item"
                }
                other => other,
            };
            let text = format!("Regular expression is invalid: {reason}");
            Error::new(Kind::Invalid, 51091, text)
        }
    }
}
