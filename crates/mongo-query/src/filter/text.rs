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
/// Errors: 4 without `$search`, 14 for a wrong type, 2 for another value than an object, another
/// field, an unknown language, or a part of a document.
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

/// Checks that a filter has at most one search, and that it is a condition of the whole filter.
///
/// Errors: 2 for two searches, 238 for one inside another operator than `$and`.
pub(super) fn check_place(filter: &Filter) -> Result<(), Error> {
    let conjuncts = match filter {
        Filter::And(all) => all.as_slice(),
        other => std::slice::from_ref(other),
    };
    let searches = conjuncts.iter().filter(|part| matches!(part, Filter::Text(_))).count();
    if 1 < searches {
        return Err(Error::bad_value("Too many text expressions"));
    }
    if conjuncts.iter().any(|part| !matches!(part, Filter::Text(_)) && has_text(part)) {
        return Err(Error::unsupported("$text inside another operator than $and"));
    }
    Ok(())
}

/// Returns whether a filter contains a search. `$elemMatch` cannot have one.
fn has_text(filter: &Filter) -> bool {
    match filter {
        Filter::And(parts) | Filter::Or(parts) | Filter::Nor(parts) => parts.iter().any(has_text),
        Filter::Not(part) => has_text(part),
        Filter::Text(_) => true,
        Filter::Path(..) | Filter::Expr(_) | Filter::Schema(_) | Filter::Never => false,
    }
}
