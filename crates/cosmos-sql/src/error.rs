//! Why a text is no query that can be run: what is wrong with it and where, or what it asks for
//! that there is not.

use std::fmt;

/// A place in the text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    /// From the start of this place to the end of another one.
    pub(crate) fn up_to(self, end: Self) -> Self {
        Self { start: self.start, end: end.end }
    }
}

/// A refused query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlError {
    /// The text is wrong: correct it.
    Invalid {
        /// The code that clients know.
        code: &'static str,
        /// For people.
        message: String,
        /// Where it begins, in UTF-16 units.
        start: usize,
        /// Where it ends.
        end: usize,
    },
    /// The query is right, but asks for what is not supported.
    Unsupported {
        /// What it asks for.
        what: String,
    },
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { code, message, .. } => write!(f, "{code}: {message}"),
            Self::Unsupported { what } => write!(f, "{what} is not supported"),
        }
    }
}

impl std::error::Error for SqlError {}

/// What is wrong at a place of the text. It becomes an error when the text is at hand, which is
/// needed to count characters and to show them.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    Syntax(Span),
    Token(Span),
    Literal(Span),
    Number(Span),
    Name(Span, String),
    Parameter(Span, String),
    Function(Span, String),
    Arguments(Span, &'static str, std::ops::RangeInclusive<usize>),
    Ungrouped(Span),
    /// An aggregate where there are no rows to aggregate.
    Aggregate(Span, String),
    StarWithoutFrom(Span),
    StarOfMany(Span),
    Duplicate(Span, String),
    Count(Span, &'static str),
    TopAndLimit(Span),
    Escape(Span),
    /// More than a limit allows.
    Limit(Span, &'static str, String),
    Unsupported(String),
}

impl Fault {
    /// The error that clients see: its place in UTF-16 units, as JavaScript counts.
    pub(crate) fn into_error(self, text: &str) -> SqlError {
        if let Self::Unsupported(what) = self {
            return SqlError::Unsupported { what };
        }
        let (code, span, message) = self.describe(text);
        let units = |end: usize| text.get(..end).map_or(0, |before| before.encode_utf16().count());
        SqlError::Invalid { code, message, start: units(span.start), end: units(span.end) }
    }

    /// The code, the place, and the text of the error.
    fn describe(self, text: &str) -> (&'static str, Span, String) {
        match self {
            Self::Syntax(at) => {
                let near = text_at(text, at);
                ("SC1001", at, format!("Syntax error, incorrect syntax near '{near}'."))
            }
            Self::Token(at) => {
                ("SC1010", at, format!("Syntax error, invalid token '{}'.", text_at(text, at)))
            }
            Self::Number(at) => {
                let near = text_at(text, at);
                ("SC1011", at, format!("Syntax error, invalid numeric value token '{near}'."))
            }
            Self::Literal(at) => {
                let near = text_at(text, at);
                ("SC1012", at, format!("Syntax error, invalid string literal token '{near}'."))
            }
            Self::Name(at, name) | Self::Parameter(at, name) => {
                ("SC2001", at, format!("Identifier '{name}' could not be resolved."))
            }
            Self::Function(at, name) => {
                ("SC2005", at, format!("'{name}' is not a recognized built-in function name."))
            }
            Self::Arguments(at, name, counts) => {
                let counts = shown_counts(&counts);
                ("SC2050", at, format!("The {name} function requires {counts} argument(s)."))
            }
            Self::Ungrouped(at) => ("SC2103", at, ungrouped_message(&text_at(text, at))),
            Self::Aggregate(at, name) => {
                let message =
                    format!("The aggregate function '{name}' is not allowed in this context.");
                ("SC2102", at, message)
            }
            Self::StarWithoutFrom(at) => {
                ("SC2048", at, "'SELECT *' is not valid if FROM clause is omitted.".to_owned())
            }
            Self::StarOfMany(at) => {
                ("SC2049", at, "'SELECT *' is only valid with a single input set.".to_owned())
            }
            Self::Duplicate(at, name) => {
                ("SC2030", at, format!("The name '{name}' is specified more than once."))
            }
            Self::Count(at, clause) => {
                ("SC2060", at, format!("The {clause} value must be a non-negative integer."))
            }
            Self::TopAndLimit(at) => {
                ("SC2061", at, "TOP cannot be used together with OFFSET LIMIT.".to_owned())
            }
            Self::Escape(at) => {
                ("SC2062", at, "The ESCAPE value must be a single character.".to_owned())
            }
            Self::Limit(at, code, message) => (code, at, message),
            Self::Unsupported(what) => ("SC2000", Span::default(), what),
        }
    }
}

/// The message for a property that is neither a key nor inside an aggregate.
fn ungrouped_message(property: &str) -> String {
    format!(
        "Property reference '{property}' is invalid in the select list because it is not \
         contained in an aggregate function or the GROUP BY clause."
    )
}

/// What stands at a place, as messages show it: the first hundred characters.
fn text_at(text: &str, at: Span) -> String {
    let part = text.get(at.start..at.end).unwrap_or_default();
    if part.is_empty() { "end of query".to_owned() } else { part.chars().take(100).collect() }
}

/// How many arguments a function takes, in words.
fn shown_counts(counts: &std::ops::RangeInclusive<usize>) -> String {
    let (least, most) = (*counts.start(), *counts.end());
    if least == most {
        least.to_string()
    } else if most == usize::MAX {
        format!("at least {least}")
    } else {
        format!("{least} to {most}")
    }
}
