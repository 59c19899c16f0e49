//! Why a text is no query that can be run: what is wrong with it and where, or what it asks for
//! that there is not.

use std::fmt;

/// A place in the text, in bytes: `end` is behind its last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// Its first byte.
    pub(crate) start: usize,
    /// The byte behind it.
    pub(crate) end: usize,
}

impl Span {
    /// From the start of this place to the end of another one.
    pub(crate) fn up_to(self, end: Self) -> Self {
        Self { start: self.start, end: end.end }
    }
}

/// A mistake in the text of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The code that clients know.
    pub code: &'static str,
    /// For people.
    pub message: String,
    /// Where it begins, in UTF-16 units.
    /// Clients underline the part from here to `end`.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// A refused query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlError {
    /// The text is wrong: correct it. There is at least one mistake, and they stand in the order in
    /// which they were found.
    Invalid(Vec<Mistake>),
    /// The query is right, but asks for what is not supported.
    /// It is no mistake of the client's: the same query may work elsewhere.
    Unsupported {
        /// What it asks for.
        what: String,
    },
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(mistakes) => {
                for (at, Mistake { code, message, .. }) in mistakes.iter().enumerate() {
                    let between = if at == 0 { "" } else { " " };
                    write!(f, "{between}{code}: {message}")?;
                }
                Ok(())
            }
            Self::Unsupported { what } => write!(f, "{what} is not supported"),
        }
    }
}

impl std::error::Error for SqlError {}

/// What is wrong at a place of the text. It becomes an error when the text is at hand, which is
/// needed to count characters and to show them.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// SC1001: no query goes on with this token.
    Syntax(Span),
    /// SC1010: a character that begins no token, or a comment without an end.
    Token(Span),
    /// SC1012: a string without an end, or with an escape that there is not.
    Literal(Span),
    /// SC1011: `1a`, or a number beyond what a double holds.
    Number(Span),
    /// SC2001: no name of FROM.
    Name(Span, String),
    /// SC2001: a parameter without a value.
    Parameter(Span, String),
    /// SC2005: no function.
    Function(Span, String),
    /// SC2050: the function's name, and how many arguments it takes.
    Arguments(Span, &'static str, std::ops::RangeInclusive<usize>),
    /// SC2103: a property of a row where there are groups.
    Ungrouped(Span),
    /// An aggregate where there are no rows to aggregate.
    Aggregate(Span, String),
    /// SC2048: `SELECT *` with no FROM.
    StarWithoutFrom(Span),
    /// SC2049: `SELECT *` with a JOIN.
    StarOfMany(Span),
    /// SC2030: a name given twice.
    Duplicate(Span, String),
    /// SC2060: the clause whose count is no whole number from 0 on.
    Count(Span, &'static str),
    /// SC2061: both TOP and OFFSET LIMIT.
    TopAndLimit(Span),
    /// SC2062: ESCAPE with more than one character, or none.
    Escape(Span),
    /// SC2202, SC2203, SC2204: the clause of a query inside another one that only the outermost may
    /// have, its code, and its name in the message.
    InSubquery(Span, &'static str, &'static str),
    /// 2206: ORDER BY of what is no path of the document.
    NoPath,
    /// More than a limit allows.
    Limit(Span, &'static str, String),
    /// Right, but for what there is not; this becomes the other kind of error.
    Unsupported(String),
}

impl Fault {
    /// The error that clients see.
    /// `text` has to be the one that was parsed: spans are offsets into it.
    pub(crate) fn into_error(self, text: &str) -> SqlError {
        match self {
            // The only fault without a place.
            Self::Unsupported(what) => SqlError::Unsupported { what },
            other => SqlError::Invalid(vec![other.into_mistake(text)]),
        }
    }

    /// The error that clients see of several faults: all mistakes. What is not supported is only told
    /// where there is no mistake.
    pub(crate) fn into_errors(faults: Vec<Self>, text: &str) -> SqlError {
        let (mut mistakes, mut unsupported) = (Vec::new(), String::new());
        for fault in faults {
            match fault {
                Self::Unsupported(what) => unsupported = what,
                other => mistakes.push(other.into_mistake(text)),
            }
        }
        match mistakes.is_empty() {
            true => SqlError::Unsupported { what: unsupported },
            false => SqlError::Invalid(mistakes),
        }
    }

    /// The mistake with its place in UTF-16 units, as JavaScript counts.
    fn into_mistake(self, text: &str) -> Mistake {
        let (code, span, message) = self.describe(text);
        // JavaScript counts in UTF-16 units, the parser in bytes.
        let units = |end: usize| text.get(..end).map_or(0, |before| before.encode_utf16().count());
        Mistake { code, message, start: units(span.start), end: units(span.end) }
    }

    /// The code, the place, and the text of the error.
    /// Wording and codes are those that clients of the service know.
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
            Self::InSubquery(at, code, clause) => {
                (code, at, format!("{clause} is not supported in subqueries."))
            }
            Self::NoPath => (
                // A number, and without a place: the service finds it later than the others.
                "2206",
                Span::default(),
                "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a \
                 document path."
                    .to_owned(),
            ),
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
/// At the end of the text there is nothing to show, and the message says so.
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
