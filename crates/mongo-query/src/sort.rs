//! Sort documents (`{a: 1, b: -1}`): paths with directions, in order of significance.
//!
//! ```text
//! {a: 1, "b.c": -1}           a ascending, then c of b descending
//! {a: 1.9}                    a ascending: fractions of doubles are truncated
//! {score: {$meta: "textScore"}}    the score of a search, best first
//! ```

use document::{DocRef, Number, Path, Rounding, ValueRef, shell};
use pipeline::{
    SCORE_FIELD,
    sort::{MAX_SORT_PARTS, Sort, SortPart},
};

use crate::{
    Error,
    field_path::check_path,
    text_score::{is_score, no_score},
};

/// Parses a sort document: at most 32 keys, with distinct paths.
///
/// Fails with 7472500 if a path is repeated, 13103 if there are too many keys, 40218 if a key is
/// the score of a search, and with the errors of paths.
pub fn parse(sort: DocRef<'_>) -> Result<Sort, Error> {
    match sort.iter().any(|(_, value)| is_score(value)) {
        true => Err(no_score()),
        false => parse_scored(sort),
    }
}

/// Parses a sort of documents that have the score of a search.
///
/// Fails with the errors of [`parse`] except for 40218.
pub fn parse_scored(sort: DocRef<'_>) -> Result<Sort, Error> {
    let mut parts: Vec<SortPart> = Vec::new();
    for (name, value) in sort.iter() {
        if is_score(value) {
            parts.push(SortPart { path: Path::new(SCORE_FIELD), descending: true });
            continue;
        }
        let descending = is_descending(name, value)?;
        check_path(name)?;
        if parts.iter().any(|part| part.path.as_str() == name) {
            let text = format!("$sort key must not contain duplicate keys (duplicate: '{name}')");
            return Err(Error::new(7_472_500, text));
        }
        if parts.len() >= MAX_SORT_PARTS {
            return Err(Error::new(13103, "too many compound keys"));
        }
        parts.push(SortPart { path: Path::new(name), descending });
    }
    Ok(Sort { parts })
}

/// Parses a sort of the elements of an array by their fields, as in `$sortArray` and in the `$sort`
/// of a `$push`. The rules differ from those of other sorts: a direction is exactly 1 or -1, and a
/// name may start with `$` or occur twice. The error is only a text: its code depends on the
/// operator and is added by the caller.
pub(crate) fn parse_elements(fields: DocRef<'_>) -> Result<Sort, String> {
    if fields.is_empty() {
        return Err("The sort pattern is empty when it should be a set of fields.".to_owned());
    }
    let part = |(name, value): (&str, ValueRef<'_>)| {
        let descending = match Number::of(value).and_then(Number::to_i64_exact) {
            Some(1) => false,
            Some(-1) => true,
            _ => return Err("The sort element value must be either 1 or -1".to_owned()),
        };
        if name.is_empty() {
            return Err("The sort field cannot be empty".to_owned());
        }
        if name.split('.').any(str::is_empty) {
            return Err(format!("The sort field is a dotted field but has an empty part: {name}"));
        }
        Ok(SortPart { path: Path::new(name), descending })
    };
    Ok(Sort { parts: fields.iter().map(part).collect::<Result<_, _>>()? })
}

/// Parses the direction of a key: 1 or -1. Doubles are truncated and decimals rounded half to even,
/// as in mongod.
///
/// Fails with 15974 if the value is not a number, and with 15975 if it is another number.
fn is_descending(name: &str, value: ValueRef<'_>) -> Result<bool, Error> {
    if let ValueRef::Document(meta) = value {
        return Err(refused_document(meta));
    }
    if name == "$natural" {
        return Err(Error::unsupported("$natural in a sort"));
    }
    let Some(number) = Number::of(value) else {
        let text = format!("Illegal key in $sort specification: {name}: {}", shell(value));
        return Err(Error::new(15974, text));
    };
    let direction = match number {
        Number::Int(value) => value,
        Number::Double(value) => value as i64,
        Number::Decimal(value) => value.to_i64(Rounding::HalfEven).unwrap_or(0),
    };
    match direction {
        1 => Ok(false),
        -1 => Ok(true),
        _ => Err(Error::new(
            15975,
            "$sort key ordering must be 1 (for ascending) or -1 (for descending)",
        )),
    }
}

/// Returns the error of a document as a direction. `{$meta: ..}` is known but not supported, all
/// other documents are invalid.
///
/// The code is 17312 if there is no `$meta`, 9 if there are further fields, 31138 if MongoDB has no
/// metadata of this name, and 238 if this server does not support it.
fn refused_document(meta: DocRef<'_>) -> Error {
    let Some(name) = meta.get("$meta") else {
        return Error::new(17312, "$meta is the only expression supported by $sort right now");
    };
    if meta.len() > 1 {
        return Error::failed_to_parse("Cannot have additional keys in a $meta sort specification");
    }
    match name.as_str() {
        Some("randVal" | "searchScore" | "geoNearDistance" | "vectorSearchScore") => {
            Error::unsupported("$meta in a sort")
        }
        _ => Error::new(31138, format!("Illegal $meta sort: $meta: {}", shell(name))),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::shell_text::document;

    #[test]
    fn orders_and_refusals() {
        for (sort, expected) in [
            ("{a: 1, 'b.c': -1}", Ok("a+ b.c-")),
            ("{a: 1.0, b: NumberLong(-1), c: NumberDecimal('1')}", Ok("a+ b- c+")),
            ("{a: 1.9, b: -1.5}", Ok("a+ b-")),
            ("{a: NumberDecimal('0.51'), b: NumberDecimal('-0.51')}", Ok("a+ b-")),
            ("{a: NumberDecimal('1.49')}", Ok("a+")),
            ("{a: NumberDecimal('0.5')}", Err(15975)),
            ("{a: NumberDecimal('1.5')}", Err(15975)),
            ("{a: NumberDecimal('NaN')}", Err(15975)),
            ("{a: 0.51}", Err(15975)),
            ("{}", Ok("")),
            ("{a: 0}", Err(15975)),
            ("{a: 2}", Err(15975)),
            ("{a: NaN}", Err(15975)),
            ("{a: 'x'}", Err(15974)),
            ("{a: true}", Err(15974)),
            ("{a: {$meta: 'textScore'}, b: 1}", Err(40218)),
            ("{a: {$meta: 'randVal'}}", Err(238)),
            ("{a: {$meta: 'x'}}", Err(31138)),
            ("{a: {$meta: 'textScore', x: 1}}", Err(9)),
            ("{a: {x: 1}}", Err(17312)),
            ("{$natural: 1}", Err(238)),
            ("{'': 1}", Err(40352)),
            ("{'a.': 1}", Err(40353)),
            ("{'a..b': 1}", Err(15998)),
            ("{$a: 1}", Err(16410)),
            ("{a: 1, b: 1, a: -1}", Err(7_472_500)),
        ] {
            let sort_document = document(sort).to_buf();
            let parsed = parse(sort_document.as_ref()).map_err(|error| error.code);
            let shown = parsed.map(|sort| {
                let sign = |descending| if descending { "-" } else { "+" };
                let show =
                    |part: &super::SortPart| format!("{}{}", part.path, sign(part.descending));
                sort.parts.iter().map(show).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(shown, expected.map(str::to_owned), "{sort}");
        }
    }

    #[test]
    fn a_sort_has_at_most_32_keys() {
        let keys = |count: i32| (0..count).map(|i| (format!("a{i}"), 1.into())).collect();
        let of = |count| -> document::Document { keys(count) };
        assert_eq!(parse(of(32).to_buf().as_ref()).map(|sort| sort.parts.len()), Ok(32));
        assert_eq!(parse(of(33).to_buf().as_ref()).map_err(|error| error.code), Err(13103));
    }
}
