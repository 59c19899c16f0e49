//! Errors of queries: mistakes with their positions in the text, and unsupported features.

use std::fmt;

/// Maximum number of mistakes reported for one query: a text could have one per name, each with a
/// position and a message.
pub const MAX_DIAGNOSTICS: usize = 100;

/// Maximum number of JOINs of a query, including its subqueries.
const MAX_JOINS: usize = 10;

/// Returns whether a query has too many JOINs.
pub(crate) fn is_joined_too_often(joins: usize) -> bool {
    MAX_JOINS < joins
}

/// A range of bytes of the text; `end` is exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    /// Returns the span from the start of this one to the end of another one.
    pub(crate) fn up_to(self, end: Self) -> Self {
        Self { start: self.start, end: end.end }
    }
}

/// A mistake in the text of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Azure Cosmos DB's error code. A mistake with a numeric or an empty code has no position in
    /// the text.
    pub code: &'static str,
    /// Error message as Azure Cosmos DB returns it.
    pub message: String,
    /// Start of the mistake in UTF-16 units. Clients underline the part from here to `end`.
    pub start: usize,
    /// End of the mistake in UTF-16 units, exclusive.
    pub end: usize,
}

/// Reason why a query was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlError {
    /// The query is invalid. There is at least one mistake; mistakes are in the order in which they
    /// were found.
    Invalid(Vec<Diagnostic>),
    /// The query is valid but uses an unsupported feature; Azure Cosmos DB may support it.
    Unsupported {
        /// The unsupported feature, as a phrase.
        what: String,
    },
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(diagnostics) => {
                for (at, Diagnostic { code, message, .. }) in diagnostics.iter().enumerate() {
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

/// A clause that is evaluated per group if the query has groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    Select,
    OrderBy,
}

/// A mistake with its span. To convert it to an error, the query text is needed, for counting
/// UTF-16 units and for quoting.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// SC1001: the parser found an unexpected token.
    Syntax(Span),
    /// SC1002: the text ends too early.
    End(Span),
    /// SC1010: a character that starts no token.
    Token(Span),
    /// SC1012: an unterminated string, or an invalid escape.
    Literal(Span),
    /// SC1011: `1a`, or a number outside the range of a double.
    Number(Span),
    /// SC1021: `SELECT *` without FROM.
    StarWithoutFrom(Span),
    /// SC2001: a name that no alias or parameter has.
    Name(Span, String),
    /// SC2001: a parameter without a value.
    Parameter(Span, String),
    /// SC2005: a function that does not exist.
    Function(Span, String),
    /// SC2021: a duplicate name in FROM.
    Input(Span, String),
    /// SC2022: a duplicate property of an object or of the SELECT list.
    Property(Span, String),
    /// SC2040, SC2041: `SELECT *` with aggregates (false) or with GROUP BY (true).
    StarOfGroups(Span, bool),
    /// SC2042: `SELECT *` with a JOIN.
    StarOfMany(Span),
    /// SC2050: a wrong number of arguments. Contains the function's name as written, and the valid
    /// numbers.
    Arguments(Span, String, std::ops::RangeInclusive<usize>),
    /// SC2060, SC2061, SC2062: the count of a clause is not a non-negative integer of 32 bits.
    /// Contains the clause's name.
    Count(Span, &'static str),
    /// SC2101: an aggregate inside another aggregate.
    Nested(Span),
    /// SC2102, SC2103: a property that is neither a group key nor in an aggregate, in this clause.
    Ungrouped(Span, Clause),
    /// SC2104: an aggregate in WHERE.
    AggregateInWhere(Span),
    /// SC2110: a key of GROUP BY without a property.
    ConstantKey(Span),
    /// SC2111: an aggregate or a query in a key of GROUP BY.
    AggregateInKey(Span),
    /// SC2201: a scalar subquery that may have several results.
    Cardinality(Span),
    /// SC2205: both TOP and OFFSET LIMIT.
    TopAndLimit(Span),
    /// SC2207: the text after ESCAPE does not have exactly one character.
    Escape(Span, String),
    /// SC2202, SC2203, SC2204: a clause that only the outermost query may have, in a subquery; with
    /// the code and the clause's name in the message.
    InSubquery(Span, &'static str, &'static str),
    /// SC2990: a computed step of a path, which Azure Cosmos DB does not support.
    Indexer(Span),
    /// 2206: an ORDER BY expression that is not a path of the document.
    NoPath,
    /// An aggregate inside a larger expression, in a query that needs a plan for several
    /// partitions.
    Composition,
    /// SC3002: too many JOINs. The span is that of the text.
    Joins,
    /// A limit is exceeded. Contains the code and the message.
    Limit(Span, &'static str, String),
    /// An unsupported feature; becomes [`SqlError::Unsupported`].
    Unsupported(String),
}

impl Fault {
    /// Converts the fault to the error that clients see. `text` must be the text that was parsed,
    /// since spans are offsets into it.
    pub(crate) fn into_error(self, text: &str) -> SqlError {
        match self {
            Self::Unsupported(what) => SqlError::Unsupported { what },
            other => SqlError::Invalid(vec![other.into_diagnostic(text)]),
        }
    }

    /// Converts several faults to the error that clients see: with all mistakes or, if there are
    /// none, with the first unsupported feature.
    pub(crate) fn into_errors(faults: Vec<Self>, text: &str) -> SqlError {
        let (mut diagnostics, mut unsupported) = (Vec::new(), String::new());
        for fault in faults {
            match fault {
                Self::Unsupported(what) if unsupported.is_empty() => unsupported = what,
                Self::Unsupported(_) => {}
                other => diagnostics.push(other.into_diagnostic(text)),
            }
        }
        match diagnostics.is_empty() {
            true => SqlError::Unsupported { what: unsupported },
            false => SqlError::Invalid(diagnostics),
        }
    }

    /// Converts the fault to a mistake, whose position is in UTF-16 units.
    fn into_diagnostic(self, text: &str) -> Diagnostic {
        let (code, span, message) = self.describe(text);
        // Clients count in UTF-16 units, like JavaScript, the parser in bytes.
        let units = |end: usize| text.get(..end).map_or(0, |before| before.encode_utf16().count());
        Diagnostic { code, message, start: units(span.start), end: units(span.end) }
    }

    /// Returns the code, the span and the message of the error. Codes and messages are those of
    /// Azure Cosmos DB.
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
            Self::Joins => {
                let whole = Span { start: 0, end: text.len() };
                let message = format!(
                    "The SQL query exceeded the maximum number of joins. The allowed limit is \
                     {MAX_JOINS}."
                );
                ("SC3002", whole, message)
            }
            Self::Limit(at, code, message) => (code, at, message),
            Self::Unsupported(what) => ("SC2000", Span::default(), what),
            other => other.describe_meaning(text),
        }
    }

    /// Returns the code, the span and the message of a fault that is not a syntax error.
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

    /// Returns the code, the span and the message of a fault about aggregates, groups or numbers of
    /// results.
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
            // The service detects these two faults in a later step than the others, and reports
            // them without a position.
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

/// Returns the message for a property that is neither a group key nor inside an aggregate.
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

/// Returns the start of the text in a span, as messages quote it.
fn text_at(text: &str, at: Span) -> String {
    text.get(at.start..at.end).unwrap_or_default().chars().take(127).collect()
}

/// Formats the numbers of arguments that a function accepts.
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
