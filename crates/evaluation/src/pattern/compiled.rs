//! A compiled regular expression, and finding matches with it. Compiled once, it is matched against
//! strings in linear time.
//!
//! A pattern is compiled in the cheapest of three forms:
//!
//! ```text
//! ^ab+           one automaton
//! ^(?!abc)ab+    the same, with a guard that must not match at the start
//! a(?=b)         machines, which walk a text backward and then forward
//! ```

use std::sync::Arc;

use document::ValueRef;
use memory::Share;
use regex::{Regex, RegexBuilder};

use super::{
    groups::Flags,
    leading,
    looking::{self, Count, KnownPositions, Looking, Spans},
    program,
    syntax::{translate, translate_aheads},
};
use crate::{
    error::{Error, Kind},
    numbers::{PATTERN_OPTION, PATTERN_REFUSED},
};

/// Longest pattern text, in bytes.
const MAX_PATTERN_BYTES: usize = 32_764;

/// A compiled pattern with the text and the options it came from. Clones share the compiled form.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The text it came from.
    source: String,
    /// Its options, in alphabetical order and each once.
    options: String,
    /// The compiled form; that of the empty pattern where machines do the work.
    regex: Regex,
    /// Patterns that have to match at the start of a text beside it, or must not.
    guards: Vec<(bool, Regex)>,
    /// The form of a pattern with look-ahead elsewhere; `regex` is nothing then.
    looking: Option<Arc<Looking>>,
    /// What the compiled forms hold, clones of them included.
    _held: Arc<Vec<Share>>,
}

impl Pattern {
    /// Compiles a pattern in Perl's syntax with options out of `imsxu`. Look-around, references
    /// back and other syntax that needs backtracking are refused by name. Fails also where the text
    /// is too long, or where the patterns of the program or of the process would take too much
    /// memory.
    pub fn new(source: &str, options: &str) -> Result<Self, Error> {
        let flags = flags_of(options)?;
        short_enough(source)?;
        let (regex, held) = compile_regex(source, flags)?;
        let (source, options) = (source.to_owned(), sorted_options(options));
        let (guards, looking) = (Vec::new(), None);
        Ok(Self { source, options, regex, guards, looking, _held: Arc::new(vec![held]) })
    }

    /// The same, with look-ahead. At the start of an anchored pattern that takes no other engine;
    /// elsewhere the pattern is walked by machines of its own.
    pub fn with_look_ahead(source: &str, options: &str) -> Result<Self, Error> {
        match Self::with_guards(source, options) {
            // The machines know more; what they do not know either is refused with the same words.
            Err(error) if error.kind == Kind::Unsupported => Self::with_machines(source, options),
            built => built,
        }
    }

    /// The same for a pattern of which it matters where its matches end. An end (`$`, `\Z`) in the
    /// cheap forms takes the last line break into the match.
    pub fn with_spans(source: &str, options: &str) -> Result<Self, Error> {
        if source.contains('$') || source.contains("\\Z") {
            let exact = Self::with_machines(source, options);
            // What only the cheap forms can do, such as long repetitions, is done by them.
            if exact.is_ok() {
                return exact;
            }
        }
        Self::with_look_ahead(source, options)
    }

    /// A pattern with look-ahead anywhere in it.
    fn with_machines(source: &str, options: &str) -> Result<Self, Error> {
        let flags = flags_of(options)?;
        short_enough(source)?;
        let (main, aheads) = translate_aheads(source, flags)?;
        let (looking, bytes) = Looking::new(&main, &aheads, flags)?;
        let share = looking::hold(bytes)?;
        // Never used: there has to be one.
        let (regex, held) = compile_regex("", Flags::default())?;
        Ok(Self {
            source: source.to_owned(),
            options: sorted_options(options),
            regex,
            guards: Vec::new(),
            looking: Some(Arc::new(looking)),
            _held: Arc::new(vec![held, share]),
        })
    }

    /// A pattern whose look-ahead at its start was taken off it; one without such look-ahead is
    /// compiled as it is.
    fn with_guards(source: &str, options: &str) -> Result<Self, Error> {
        // With these options the beginning of a line, or blanks and comments, may stand where this
        // looks.
        let split = match options.contains(['m', 'x']) {
            true => None,
            false => leading::split_guards(source),
        };
        let Some(split) = split else { return Self::new(source, options) };
        let flags = flags_of(options)?;
        short_enough(source)?;
        let mut guards = Vec::with_capacity(split.guards.len());
        // The anchor was taken off with the look-ahead.
        let (regex, share) = compile_regex(&format!("^{}", split.rest), flags)?;
        let mut held = vec![share];
        for (wanted, guard) in split.guards {
            let (guard, share) = compile_regex(&format!("^(?:{guard})"), flags)?;
            guards.push((wanted, guard));
            held.push(share);
        }
        let (source, options) = (source.to_owned(), sorted_options(options));
        Ok(Self { source, options, regex, guards, looking: None, _held: Arc::new(held) })
    }

    /// Whether a text matches. `count` is told of work beyond that of reading the text, and may end
    /// it.
    pub fn is_match(&self, text: &str, count: Count<'_>) -> Result<bool, Error> {
        match &self.looking {
            Some(looking) => looking.is_match(text, count),
            None => Ok(self.passes_guards(text) && self.regex.is_match(text)),
        }
    }

    /// Prepares to find matches in a text, one after the other. With machines the text is walked
    /// backward once, here.
    pub fn find_matches<'t>(
        &self,
        text: &'t str,
        count: Count<'_>,
    ) -> Result<MatchFinder<'_, 't>, Error> {
        let known = match &self.looking {
            Some(looking) => {
                looking.may_find()?;
                Some(looking.know(text, count)?)
            }
            None => None,
        };
        Ok(MatchFinder { pattern: self, text, known, admitted: self.passes_guards(text) })
    }

    /// Whether a text has what is looked for ahead of everything.
    fn passes_guards(&self, text: &str) -> bool {
        self.guards.iter().all(|(wanted, guard)| guard.is_match(text) == *wanted)
    }

    /// Whether what is looked for ahead has groups, which count among those of the whole.
    pub fn has_groups_ahead(&self) -> bool {
        let looking = self.looking.as_ref().is_some_and(|looking| looking.has_groups_ahead());
        looking || self.guards.iter().any(|(_, guard)| 1 < guard.captures_len())
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

    /// Whether a string matches, or a stored pattern is the same one. Other values never match.
    pub fn matches_value(&self, value: ValueRef<'_>, count: Count<'_>) -> Result<bool, Error> {
        match value {
            ValueRef::String(text) | ValueRef::Symbol(text) => self.is_match(text, count),
            ValueRef::Regex { pattern, options } => {
                Ok(pattern == self.source && options == self.options)
            }
            _ => Ok(false),
        }
    }

    /// The text that every match starts with, when the pattern is anchored to it: `ab` for `^ab+c`
    /// and `^abc?`. An index need look only at strings that begin with it. Nothing where the
    /// pattern has options or alternatives that make this uncertain.
    pub fn required_prefix(&self) -> Option<String> {
        // Case, lines and comments each let a match begin otherwise.
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
            // The character may be left out or repeated: it is not required. A comment or an empty
            // quotation may stand before the repetition.
            let mut ahead = chars.clone();
            match (ahead.next(), ahead.next()) {
                (Some('*' | '?' | '{'), _) => break,
                (Some('('), Some('?')) | (Some('\\'), Some('Q' | 'E')) => break,
                _ => {}
            }
            prefix.push(literal);
            // The character has to be there once; what follows it is open.
            if chars.peek() == Some(&'+') {
                break;
            }
        }
        (!prefix.is_empty()).then_some(prefix)
    }
}

/// Finds matches in one text, one after the other, with what is known of the text.
#[derive(Debug)]
pub struct MatchFinder<'p, 't> {
    /// The pattern.
    pattern: &'p Pattern,
    /// The text.
    text: &'t str,
    /// Where look-aheads match in the text, for patterns that are walked by machines.
    known: Option<KnownPositions>,
    /// Whether the guards let the text pass.
    admitted: bool,
}

impl MatchFinder<'_, '_> {
    /// The first match from a position on: the spans of the whole and of its groups in bytes,
    /// nothing where a group had no part.
    pub fn find_at(&self, from: usize, count: Count<'_>) -> Result<Option<Spans>, Error> {
        if let (Some(looking), Some(known)) = (&self.pattern.looking, &self.known) {
            return looking.find_at(self.text, known, from, count);
        }
        if !self.admitted {
            return Ok(None);
        }
        let found = self.pattern.regex.captures_at(self.text, from);
        let span = |group: Option<regex::Match<'_>>| group.map(|it| (it.start(), it.end()));
        Ok(found.map(|found| found.iter().map(span).collect()))
    }
}

/// The flags of these options; fails for a letter that is not one.
fn flags_of(options: &str) -> Result<Flags, Error> {
    let mut flags = Flags::default();
    for option in options.chars() {
        match option {
            'i' | 'm' | 's' | 'x' => _ = flags.set(option, true),
            'u' => {}
            other => {
                let text = format!("invalid flag in regex options: {other}");
                return Err(Error::new(Kind::Invalid, PATTERN_OPTION, text));
            }
        }
    }
    Ok(flags)
}

/// Fails when the text of a pattern is too long.
fn short_enough(source: &str) -> Result<(), Error> {
    if source.len() > MAX_PATTERN_BYTES {
        let text = "Regular expression is invalid: regular expression is too large";
        return Err(Error::new(Kind::TooLarge, PATTERN_REFUSED, text));
    }
    Ok(())
}

/// Compiles a pattern and takes the memory that it holds.
fn compile_regex(source: &str, flags: Flags) -> Result<(Regex, Share), Error> {
    let translated = translate(source, flags)?;
    let mut builder = RegexBuilder::new(&translated);
    // The other options are already in what was written.
    builder.case_insensitive(flags.ignore_case);
    program::build_regex(&mut builder)?.map_err(refused_build)
}

/// Options in alphabetical order and each once: stored patterns compare by them.
fn sorted_options(options: &str) -> String {
    let mut options: Vec<char> = options.chars().collect();
    options.sort_unstable();
    options.dedup();
    options.into_iter().collect()
}

/// The failure to build a pattern, as a failure of the request.
fn refused_build(error: regex::Error) -> Error {
    match error {
        regex::Error::CompiledTooBig(_) => {
            let text = "Regular expression is invalid: regular expression is too large";
            Error::new(Kind::TooLarge, PATTERN_REFUSED, text)
        }
        other => refused_syntax(&other.to_string()),
    }
}

/// What is wrong with a pattern, from the text of the compiler's error.
pub(super) fn refused_syntax(text: &str) -> Error {
    let reason = text.lines().last().unwrap_or_default();
    let reason = reason.trim_start_matches("error: ");
    // The words of Perl's library, which users of that syntax know.
    let reason = match reason {
        "unclosed group" => "missing closing parenthesis",
        "unopened group" => "unmatched closing parenthesis",
        "repetition operator missing expression" => "quantifier does not follow a repeatable item",
        other => other,
    };
    let text = format!("Regular expression is invalid: {reason}");
    Error::new(Kind::Invalid, PATTERN_REFUSED, text)
}
