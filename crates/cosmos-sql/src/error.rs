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
    /// The code that clients know. One that is a number has no place in the text; one that is empty
    /// neither, nor a code.
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

/// A clause that sees groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    /// SELECT.
    Select,
    /// ORDER BY.
    OrderBy,
}

/// What is wrong at a place of the text. It becomes an error when the text is at hand, which is
/// needed to count characters and to show them.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// SC1001: no query goes on with this token.
    Syntax(Span),
    /// SC1002: the text ends too early.
    End(Span),
    /// SC1010: a character that begins no token.
    Token(Span),
    /// SC1012: a string without an end, or with a wrong escape.
    Literal(Span),
    /// SC1011: `1a`, or a number beyond what a double holds.
    Number(Span),
    /// SC1021: `SELECT *` with no FROM.
    StarWithoutFrom(Span),
    /// SC2001: no name of FROM.
    Name(Span, String),
    /// SC2001: a parameter without a value.
    Parameter(Span, String),
    /// SC2005: no function.
    Function(Span, String),
    /// SC2021: a name of FROM given twice.
    Input(Span, String),
    /// SC2022: a property of an object, or of what is selected, given twice.
    Property(Span, String),
    /// SC2040, SC2041: `SELECT *` with aggregates or with groups.
    StarOfGroups(Span, bool),
    /// SC2042: `SELECT *` with a JOIN.
    StarOfMany(Span),
    /// SC2050: the function's name as it was written, and how many arguments it takes.
    Arguments(Span, String, std::ops::RangeInclusive<usize>),
    /// SC2060, SC2061, SC2062: the clause whose count is no whole number of 32 bits.
    Count(Span, &'static str),
    /// SC2101: an aggregate inside another one.
    Nested(Span),
    /// SC2102, SC2103: a property of a row where there are groups, in the named clause.
    Ungrouped(Span, Clause),
    /// SC2104: an aggregate in WHERE.
    AggregateInWhere(Span),
    /// SC2110: a key of GROUP BY without a property.
    ConstantKey(Span),
    /// SC2111: an aggregate or a query in a key of GROUP BY.
    AggregateInKey(Span),
    /// SC2201: the query of a single value that may have several results.
    Cardinality(Span),
    /// SC2205: both TOP and OFFSET LIMIT.
    TopAndLimit(Span),
    /// SC2207: ESCAPE with more than one character, or none.
    Escape(Span, String),
    /// SC2202, SC2203, SC2204: the clause of a query inside another one that only the outermost may
    /// have, its code, and its name in the message.
    InSubquery(Span, &'static str, &'static str),
    /// SC2990: what the language has and the service does not run.
    Indexer(Span),
    /// 2206: ORDER BY of what is no path of the document.
    NoPath,
    /// An aggregate inside an expression, in a query that is planned for several partitions.
    Composition,
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
                Self::Unsupported(what) if unsupported.is_empty() => unsupported = what,
                Self::Unsupported(_) => {}
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
            Self::End(at) => ("SC1002", at, "Syntax error, unexpected end-of-file.".to_owned()),
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
            Self::StarWithoutFrom(at) => {
                let message = "Syntax error, 'SELECT *' is not valid if FROM clause is omitted.";
                ("SC1021", at, message.to_owned())
            }
            Self::Limit(at, code, message) => (code, at, message),
            Self::Unsupported(what) => ("SC2000", Span::default(), what),
            other => other.describe_meaning(text),
        }
    }

    /// The same for what is wrong with a text that is a query by its form.
    fn describe_meaning(self, text: &str) -> (&'static str, Span, String) {
        let fixed = |code, at, message: &str| (code, at, message.to_owned());
        match self {
            Self::Name(at, name) | Self::Parameter(at, name) => {
                ("SC2001", at, format!("Identifier '{name}' could not be resolved."))
            }
            Self::Function(at, name) => {
                ("SC2005", at, format!("'{name}' is not a recognized built-in function name."))
            }
            Self::Input(at, name) => {
                let message = format!(
                    "The input set name or alias '{name}' is specified more than once in the FROM \
                     clause."
                );
                ("SC2021", at, message)
            }
            Self::Property(at, name) => {
                let message = format!(
                    "Object creation error, property name '{name}' specified more than once."
                );
                ("SC2022", at, message)
            }
            Self::Arguments(at, name, counts) => {
                let counts = shown_counts(&counts);
                ("SC2050", at, format!("The {name} function requires {counts} argument(s)."))
            }
            Self::Count(at, "TOP") => {
                fixed("SC2060", at, "The count value provided for a TOP clause must be an integer.")
            }
            Self::Count(at, clause) => {
                let code = if clause == "LIMIT" { "SC2061" } else { "SC2062" };
                let message =
                    format!("The {clause} count value exceeds the maximum allowed value.");
                (code, at, message)
            }
            Self::Escape(at, escape) => {
                let message = format!(
                    "The invalid escape character '{escape}' was specified in a LIKE predicate."
                );
                ("SC2207", at, message)
            }
            Self::InSubquery(at, code, clause) => {
                (code, at, format!("{clause} is not supported in subqueries."))
            }
            other => other.describe_groups(text),
        }
    }

    /// The same for aggregates, groups and the numbers of results.
    fn describe_groups(self, text: &str) -> (&'static str, Span, String) {
        let (code, at, message) = match self {
            Self::StarOfGroups(at, false) => {
                ("SC2040", at, "'SELECT *' is not allowed with aggregate functions.")
            }
            Self::StarOfGroups(at, true) => {
                ("SC2041", at, "'SELECT *' is not allowed with GROUP BY.")
            }
            Self::StarOfMany(at) => {
                ("SC2042", at, "'SELECT *' is only valid with a single input set.")
            }
            Self::Nested(at) => (
                "SC2101",
                at,
                "Cannot perform an aggregate function on an expression containing an aggregate or \
                 a subquery.",
            ),
            Self::Ungrouped(at, clause) => {
                let message = ungrouped_message(&text_at(text, at), clause);
                let code = if clause == Clause::Select { "SC2102" } else { "SC2103" };
                return (code, at, message);
            }
            Self::AggregateInWhere(at) => {
                ("SC2104", at, "Aggregates are not allowed in the WHERE clause.")
            }
            Self::ConstantKey(at) => (
                "SC2110",
                at,
                "Each GROUP BY expression must contain at least one property reference.",
            ),
            Self::AggregateInKey(at) => (
                "SC2111",
                at,
                "Cannot use an aggregate or a subquery in an expression used for the group by list \
                 of a GROUP BY clause.",
            ),
            Self::Cardinality(at) => (
                "SC2201",
                at,
                "The cardinality of a scalar subquery result set cannot be greater than one.",
            ),
            Self::TopAndLimit(at) => {
                ("SC2205", at, "A TOP cannot be used in the same query or subquery as an OFFSET.")
            }
            Self::Indexer(at) => (
                "SC2990",
                at,
                "The specified query includes 'member indexer' which is currently not supported.",
            ),
            // Without a place: the service finds these two later than the others.
            Self::NoPath => (
                "2206",
                Span::default(),
                "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a \
                 document path.",
            ),
            _ => (
                "",
                Span::default(),
                "Compositions of aggregates and other expressions are not allowed.",
            ),
        };
        (code, at, message.to_owned())
    }
}

/// The message for a property that is neither a key nor inside an aggregate.
fn ungrouped_message(property: &str, clause: Clause) -> String {
    let clause = match clause {
        Clause::Select => "select list",
        Clause::OrderBy => "ORDER BY clause",
    };
    format!(
        "Property reference '{property}' is invalid in the {clause} because it is not contained in \
         either an aggregate function or the GROUP BY clause."
    )
}

/// What stands at a place, as messages show it: the first characters of it.
fn text_at(text: &str, at: Span) -> String {
    text.get(at.start..at.end).unwrap_or_default().chars().take(127).collect()
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
