//! `$text`: a search for documents by the words of their texts.

use std::sync::Arc;

use document::ValueRef;
use full_text::{Language, TextQuery};
use pipeline::Filter;

use super::{FilterTarget, Scope};
use crate::Error;

/// Parses `{$search: "words", $language: "english", $caseSensitive: false, $diacriticSensitive:
/// false}`.
///
/// Fails with 4 if `$search` is missing, 14 if a field has a wrong type, and 2 if the value is not
/// an object, a field or the language is unknown, or the filter applies to a part of a document.
pub(super) fn parse_text(
    _: &str,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Option<Filter>, Error> {
    if scope.target != FilterTarget::Top {
        return Err(Error::bad_value("$text can only be applied to the top-level document"));
    }
    let Some(operand) = value.as_document() else {
        return Err(Error::bad_value("$text expects an object"));
    };
    let wrong = |name: &str, expected: &str, value: ValueRef<'_>| {
        let found = value.kind().name();
        Error::type_mismatch(format!(
            "\"{name}\" had the wrong type. Expected {expected}, found {found}"
        ))
    };
    let (mut search, mut language) = (None, None);
    let (mut case, mut diacritics) = (false, false);
    for (name, value) in operand.iter() {
        match name {
            "$search" => {
                search = Some(value.as_str().ok_or_else(|| wrong(name, "string", value))?);
            }
            "$language" => {
                let given = value.as_str().ok_or_else(|| wrong(name, "string", value))?;
                let known = Language::named(given).ok_or_else(|| {
                    let text =
                        format!("unsupported language: \"{given}\" for text index version 3");
                    Error::bad_value(text)
                })?;
                language = Some(known);
            }
            "$caseSensitive" => {
                case = value.as_bool().ok_or_else(|| wrong(name, "bool", value))?;
            }
            "$diacriticSensitive" => {
                diacritics = value.as_bool().ok_or_else(|| wrong(name, "bool", value))?;
            }
            _ => return Err(Error::bad_value("extra fields in $text")),
        }
    }
    let Some(search) = search else {
        return Err(Error::new(4, "Missing expected field \"$search\""));
    };
    let query = TextQuery::new(search, language, case, diacritics);
    Ok(Some(Filter::Text(Arc::new(query))))
}

/// Checks that a filter has at most one search, as a condition of the whole filter or in an
/// alternative of an `$or`.
///
/// Fails with 2 if there are two searches, or if one is in a negated condition.
pub(super) fn check_place(filter: &Filter) -> Result<(), Error> {
    match searches(filter)? {
        0 | 1 => Ok(()),
        _ => Err(Error::bad_value("Too many text expressions")),
    }
}

/// Returns the number of searches in a filter. `$elemMatch` cannot have one.
fn searches(filter: &Filter) -> Result<usize, Error> {
    let sum = |parts: &[Filter]| parts.iter().map(searches).sum::<Result<usize, Error>>();
    match filter {
        Filter::And(parts) | Filter::Or(parts) => sum(parts),
        Filter::Nor(parts) if 0 < sum(parts)? => {
            Err(Error::bad_value("text expression not allowed in nor"))
        }
        Filter::Not(part) if 0 < searches(part)? => {
            Err(Error::bad_value("text expression not allowed in nor"))
        }
        Filter::Text(_) => Ok(1),
        Filter::Nor(_)
        | Filter::Not(_)
        | Filter::Path(..)
        | Filter::Expr(_)
        | Filter::Schema(_)
        | Filter::Near(_)
        | Filter::Never => Ok(0),
    }
}
