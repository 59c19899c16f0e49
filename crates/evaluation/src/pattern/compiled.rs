//! A compiled regular expression and its matching.
//!
//! A pattern is compiled to the cheapest of four forms, all but the last of which match in linear
//! time:
//!
//! ```text
//! ^ab+           one automaton
//! ^(?!abc)ab+    one automaton, with a guard that must not match at the start
//! a(?=b)         automata, which scan a text backward and then forward
//! (?<=a)(b)\1    a program that tries alternatives one after the other, with a limit
//! ```

use std::sync::Arc;

use document::ValueRef;
use memory::Share;
use regex::{Regex, RegexBuilder};

use super::{
    backtracking::BacktrackingPattern,
    groups::Flags,
    leading,
    lookahead::{Count, KnownPositions, LookaheadPattern, Spans},
    program,
    syntax::{translate, translate_lookaheads, translate_marked},
    text::too_large,
};
use crate::error::{
    Error, Kind,
    numbers::{PATTERN_OPTION, PATTERN_REFUSED},
};

/// Maximum length of a pattern's text, in bytes.
const MAX_PATTERN_BYTES: usize = 32_764;

/// A compiled pattern with its source and options. Clones share the compiled form.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    /// Option letters in alphabetical order, without duplicates.
    options: String,
    /// The compiled form; that of the empty pattern if `engine` is used.
    regex: Regex,
    /// Patterns that must match (true) or must not match (false) at the start of the text, in
    /// addition to `regex`.
    guards: Vec<(bool, Regex)>,
    /// The engine of a pattern that `regex` cannot match; replaces it.
    engine: Option<Arc<Engine>>,
    /// Memory reserved for the compiled forms, which clones share.
    _held: Arc<Vec<Share>>,
}

/// An engine for what the regex engine cannot match.
#[derive(Debug)]
enum Engine {
    /// Look-ahead after the start of the pattern, in linear time.
    Lookahead(LookaheadPattern),
    /// All other patterns, by backtracking.
    Backtracking(BacktrackingPattern),
}

impl Pattern {
    /// Compiles a pattern in Perl's syntax with options out of `imsxu`. Fails for look-around,
    /// backreferences and other syntax that needs backtracking, naming it; if the text is too long;
    /// and if the patterns of the program or of the process would exceed their memory.
    pub fn new(source: &str, options: &str) -> Result<Self, Error> {
        let flags = flags_of(options)?;
        short_enough(source)?;
        let (regex, held) = compile_regex(source, flags)?;
        let (source, options) = (source.to_owned(), sorted_options(options));
        let (guards, engine) = (Vec::new(), None);
        Ok(Self { source, options, regex, guards, engine, _held: Arc::new(vec![held]) })
    }

    /// Compiles a pattern in Perl's syntax, for the engine that matches it in the least time.
    /// Look-ahead at the start of an anchored pattern is checked by the regex engine as a guard;
    /// patterns with look-ahead elsewhere are matched by the automata of `lookahead`; look-behind,
    /// references back, atomic groups and possessive quantifiers by backtracking.
    pub fn perl(source: &str, options: &str) -> Result<Self, Error> {
        let engines = [Self::with_guards, Self::with_lookaheads, Self::with_backtracking];
        let mut refused = None;
        for compile in engines {
            match compile(source, options) {
                Err(error) if error.kind == Kind::Unsupported => refused = Some(error),
                built => return built,
            }
        }
        Err(refused.unwrap_or_else(too_large))
    }

    /// Compiles a pattern in Perl's syntax, for callers that use the end of a match and its groups.
    /// In a pattern with `$` or `\Z` the regex engine would include a final line break in the
    /// match, so such a pattern is matched by the automata of `lookahead` where these support it.
    /// Patterns with groups in look-ahead are matched by backtracking.
    pub fn with_spans(source: &str, options: &str) -> Result<Self, Error> {
        let mut built = None;
        if source.contains('$') || source.contains("\\Z") {
            // Some patterns, such as long repetitions, are not supported by the automata.
            built = Self::with_lookaheads(source, options).ok();
        }
        let built = built.map_or_else(|| Self::perl(source, options), Ok)?;
        if built.has_groups_ahead() {
            return Self::with_backtracking(source, options);
        }
        Ok(built)
    }

    /// Compiles a pattern with look-ahead anywhere in it.
    fn with_lookaheads(source: &str, options: &str) -> Result<Self, Error> {
        let flags = flags_of(options)?;
        short_enough(source)?;
        let (main, lookaheads) = translate_lookaheads(source, flags)?;
        let (lookahead, bytes) = LookaheadPattern::new(&main, &lookaheads, flags)?;
        Self::with_engine(source, options, Engine::Lookahead(lookahead), bytes)
    }

    /// Compiles a pattern that is matched by backtracking.
    fn with_backtracking(source: &str, options: &str) -> Result<Self, Error> {
        let flags = flags_of(options)?;
        short_enough(source)?;
        let marked = translate_marked(source, flags)?;
        let (pattern, bytes) = BacktrackingPattern::new(source, &marked, flags)?;
        Self::with_engine(source, options, Engine::Backtracking(pattern), bytes)
    }

    /// Returns a pattern that is matched by this engine, whose memory of `bytes` is reserved.
    fn with_engine(
        source: &str,
        options: &str,
        engine: Engine,
        bytes: usize,
    ) -> Result<Self, Error> {
        let share = program::take_bytes(bytes)?;
        // Never used, but the field needs a value.
        let (regex, held) = compile_regex("", Flags::default())?;
        Ok(Self {
            source: source.to_owned(),
            options: sorted_options(options),
            regex,
            guards: Vec::new(),
            engine: Some(Arc::new(engine)),
            _held: Arc::new(vec![held, share]),
        })
    }

    /// Compiles a pattern with its look-ahead at the start split off. Without such look-ahead it is
    /// compiled as by `new`.
    fn with_guards(source: &str, options: &str) -> Result<Self, Error> {
        // With `m` the anchor matches at the start of any line, and with `x` it contains blanks and
        // comments, which the splitting does not handle.
        let split = match options.contains(['m', 'x']) {
            true => None,
            false => leading::split_guards(source),
        };
        let Some(split) = split else { return Self::new(source, options) };
        let flags = flags_of(options)?;
        short_enough(source)?;
        let mut guards = Vec::with_capacity(split.guards.len());
        // The anchor was split off together with the look-ahead.
        let (regex, share) = compile_regex(&format!("^{}", split.rest), flags)?;
        let mut held = vec![share];
        for (wanted, guard) in split.guards {
            let (guard, share) = compile_regex(&format!("^(?:{guard})"), flags)?;
            guards.push((wanted, guard));
            held.push(share);
        }
        let (source, options) = (source.to_owned(), sorted_options(options));
        Ok(Self { source, options, regex, guards, engine: None, _held: Arc::new(held) })
    }

    /// Returns whether a text matches. Work beyond that of reading the text is reported to `count`,
    /// which may fail in order to end the match.
    pub fn is_match(&self, text: &str, count: Count<'_>) -> Result<bool, Error> {
        match self.engine.as_deref() {
            Some(Engine::Lookahead(lookahead)) => lookahead.is_match(text, count),
            Some(Engine::Backtracking(pattern)) => {
                pattern.find_at(text, 0, count).map(|found| found.is_some())
            }
            None => Ok(self.passes_guards(text) && self.regex.is_match(text)),
        }
    }

    /// Prepares to find successive matches in a text. If the pattern is matched by automata, this
    /// scans the text backward once.
    pub fn find_matches<'t>(
        &self,
        text: &'t str,
        count: Count<'_>,
    ) -> Result<MatchFinder<'_, 't>, Error> {
        let known = match self.engine.as_deref() {
            Some(Engine::Lookahead(lookahead)) => {
                lookahead.may_find()?;
                Some(lookahead.know(text, count)?)
            }
            _ => None,
        };
        Ok(MatchFinder { pattern: self, text, known, admitted: self.passes_guards(text) })
    }

    /// Returns whether the text passes the look-aheads at the start of the pattern.
    fn passes_guards(&self, text: &str) -> bool {
        self.guards.iter().all(|(wanted, guard)| guard.is_match(text) == *wanted)
    }

    /// Returns whether look-aheads contain capture groups, whose spans only backtracking finds.
    fn has_groups_ahead(&self) -> bool {
        let in_engine = match self.engine.as_deref() {
            Some(Engine::Lookahead(lookahead)) => lookahead.has_groups_ahead(),
            _ => false,
        };
        in_engine || self.guards.iter().any(|(_, guard)| 1 < guard.captures_len())
    }

    /// Returns the source text of the pattern.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the options in alphabetical order.
    pub fn options(&self) -> &str {
        &self.options
    }

    /// Returns the compiled form, without look-ahead.
    pub fn regex(&self) -> &Regex {
        &self.regex
    }

    /// Returns whether a string matches, or a stored regular expression has the same source and
    /// options. Other values never match.
    pub fn matches_value(&self, value: ValueRef<'_>, count: Count<'_>) -> Result<bool, Error> {
        match value {
            ValueRef::String(text) | ValueRef::Symbol(text) => self.is_match(text, count),
            ValueRef::Regex { pattern, options } => {
                Ok(pattern == self.source && options == self.options)
            }
            _ => Ok(false),
        }
    }

    /// Returns the prefix of every match of an anchored pattern: `ab` for `^ab+c` and `^abc?`. An
    /// index scan can be limited to strings with this prefix. `None` if there is no such prefix, or
    /// if options or alternatives make it uncertain.
    pub fn required_prefix(&self) -> Option<String> {
        // With these options or alternatives, matches may start with other characters.
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
            // A quantifier may make the character optional, so it is not part of the prefix. A
            // comment or an empty quotation may precede the quantifier.
            let mut ahead = chars.clone();
            match (ahead.next(), ahead.next()) {
                (Some('*' | '?' | '{'), _) => break,
                (Some('('), Some('?')) | (Some('\\'), Some('Q' | 'E')) => break,
                _ => {}
            }
            prefix.push(literal);
            // The character is required once, but what follows it is unknown.
            if chars.peek() == Some(&'+') {
                break;
            }
        }
        (!prefix.is_empty()).then_some(prefix)
    }
}

/// Finds successive matches in one text.
#[derive(Debug)]
pub struct MatchFinder<'p, 't> {
    pattern: &'p Pattern,
    text: &'t str,
    /// Positions at which look-aheads match in the text, for patterns that are matched by automata.
    known: Option<KnownPositions>,
    /// Whether the text passes the look-aheads at the start of the pattern.
    admitted: bool,
}

impl MatchFinder<'_, '_> {
    /// Finds the first match at or after a position. Returns the byte spans of the whole match and
    /// of its groups, with `None` for groups that did not take part.
    pub fn find_at(&self, from: usize, count: Count<'_>) -> Result<Option<Spans>, Error> {
        match (self.pattern.engine.as_deref(), &self.known) {
            (Some(Engine::Lookahead(lookahead)), Some(known)) => {
                return lookahead.find_at(self.text, known, from, count);
            }
            (Some(Engine::Backtracking(pattern)), _) => {
                return pattern.find_at(self.text, from, count);
            }
            _ => {}
        }
        if !self.admitted {
            return Ok(None);
        }
        let found = self.pattern.regex.captures_at(self.text, from);
        let span = |group: Option<regex::Match<'_>>| group.map(|it| (it.start(), it.end()));
        Ok(found.map(|found| found.iter().map(span).collect()))
    }
}

/// Parses options; fails for an unknown letter.
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

/// Fails if the text of a pattern is too long.
fn short_enough(source: &str) -> Result<(), Error> {
    if source.len() > MAX_PATTERN_BYTES { Err(too_large()) } else { Ok(()) }
}

/// Compiles a pattern and reserves its memory.
fn compile_regex(source: &str, flags: Flags) -> Result<(Regex, Share), Error> {
    let translated = translate(source, flags)?;
    let mut builder = RegexBuilder::new(&translated);
    // Only this option is set, since the translation has already applied the others.
    builder.case_insensitive(flags.ignore_case);
    program::build_regex(&mut builder)?.map_err(refused_build)
}

/// Sorts options and removes duplicates, since stored patterns are compared by them.
fn sorted_options(options: &str) -> String {
    let mut options: Vec<char> = options.chars().collect();
    options.sort_unstable();
    options.dedup();
    options.into_iter().collect()
}

/// Converts an error of the compiler to a failure of the request.
fn refused_build(error: regex::Error) -> Error {
    match error {
        regex::Error::CompiledTooBig(_) => too_large(),
        other => refused_syntax(&other.to_string()),
    }
}

/// Returns the failure for a syntax error, given the text of the compiler's error.
pub(super) fn refused_syntax(text: &str) -> Error {
    let reason = text.lines().last().unwrap_or_default();
    let reason = reason.trim_start_matches("error: ");
    // Uses the messages of PCRE, whose syntax patterns have.
    let reason = match reason {
        "unclosed group" => "missing closing parenthesis",
        "unopened group" => "unmatched closing parenthesis",
        "repetition operator missing expression" => "quantifier does not follow a repeatable item",
        other => other,
    };
    let text = format!("Regular expression is invalid: {reason}");
    Error::new(Kind::Invalid, PATTERN_REFUSED, text)
}
