//! Parses the key pattern of an index into its paths and its kind.
//!
//! ```text
//! {a: 1, "b.c": -1}          an ordinary index
//! {a: "hashed", b: 1}        the value of one path is hashed
//! {kind: 1, title: "text"}   a text index, for searches within a kind
//! {kind: 1, at: "2dsphere"} an index of geometries
//! {"$**": 1}  {"a.$**": 1}   a wildcard index of all values, or of those at and below `a`
//! {a: 1, "b.$**": -1}        a compound wildcard index
//! ```

use document::{DocRef, Number, ValueRef, shell};
use engine::{IndexShape, TEXT_FIELD};

use super::{geo_index, text_index, wildcard_key};
use crate::{
    arguments::Args,
    errors::{BadValue, CannotCreateIndex, CommandNotSupported, Error, Result},
};

/// The key of an index.
#[derive(Debug)]
pub(super) struct IndexKey {
    /// Paths and directions, `true` for descending.
    pub(super) paths: Vec<(String, bool)>,
    /// The kind of the index.
    pub(super) shape: IndexShape,
}

/// One part of a key pattern.
enum Part {
    Ordered(String, bool),
    Hashed(String),
    /// A path of texts; `$**` for all.
    Text(String),
    /// A path of geometries, and the kind of the index.
    Geo(String, &'static str),
    /// The path above `$**`, empty for whole documents, and whether the values descend.
    Wildcard(String, bool),
}

/// Parses the key pattern, and `wildcardProjection` among the options of the index. Any number but
/// 0 and NaN is a direction; a string names a kind of index.
///
/// Fails with 67 if the pattern is empty or a value is 0, NaN or of another type, 115 or 67 if the
/// kind of the index is unsupported or unknown, 31303 if several paths are hashed, 7246201 if there
/// are several wildcards, and with the errors of [`wildcard_key::parse_paths`] and of geometries.
pub(super) fn parse_key(pattern: DocRef<'_>, options: &Args<'_>) -> Result<IndexKey> {
    if pattern.is_empty() {
        return Err(refuse("Index keys cannot be empty."));
    }
    if pattern.iter().any(|(_, value)| value.as_str() == Some("text")) {
        return parse_text_key(pattern, options);
    }
    let (mut paths, mut shape) = (Vec::with_capacity(pattern.len()), IndexShape::Fields);
    let (mut hashed, mut wildcard, mut geometries) = (0, None, Vec::new());
    for (path, value) in pattern.iter() {
        match parse_part(path, value)? {
            Part::Ordered(path, descending) => paths.push((path, descending)),
            Part::Hashed(path) => {
                hashed += 1;
                shape = IndexShape::Hashed(path.clone());
                paths.push((path, false));
            }
            Part::Geo(path, kind) => {
                geometries.push((path.clone(), kind));
                paths.push((path, false));
            }
            // Patterns with texts are parsed above.
            Part::Text(path) => paths.push((path, false)),
            Part::Wildcard(_, _) if wildcard.is_some() => {
                let message = "Index Key can contain only one wildcard index field";
                return Err(Error::new(7_246_201, message));
            }
            Part::Wildcard(above, descending) => {
                wildcard = Some(above);
                paths.push((path.to_owned(), descending));
            }
        }
    }
    if let Some(above) = wildcard {
        if 0 < hashed {
            return Err(refuse("A wildcard index key pattern cannot have the kind 'hashed'"));
        }
        shape = IndexShape::Wildcard(wildcard_key::parse_paths(&above, &paths, options)?);
    }
    let first = paths.first().map(|(path, _)| path.as_str());
    if let Some(geo) = geo_index::parse_geometries(&geometries, first, options)? {
        if shape != IndexShape::Fields {
            return Err(geo_index::two_kinds());
        }
        shape = IndexShape::Geo(geo);
    }
    if 1 < hashed {
        let shown = shell(ValueRef::Document(pattern));
        let message = format!(
            "A maximum of one index field is allowed to be hashed but found {hashed} for 'key' {shown}"
        );
        return Err(Error::new(31303, message));
    }
    if !matches!(shape, IndexShape::Wildcard(_)) && options.get("wildcardProjection").is_some() {
        let message =
            "The field 'wildcardProjection' is only allowed in a 'wildcard' index specification";
        return Err(Error::new(BadValue, message));
    }
    Ok(IndexKey { paths, shape })
}

/// Parses the key of a text index: ordinary fields, texts, ordinary fields. Two fields stand for the
/// texts in the key.
///
/// Fails with 67 if the texts are not next to each other, or for another kind of key beside them.
fn parse_text_key(pattern: DocRef<'_>, options: &Args<'_>) -> Result<IndexKey> {
    let (mut fields, mut texts): (Vec<(String, bool)>, Vec<String>) = (Vec::new(), Vec::new());
    let mut ended = false;
    for (path, value) in pattern.iter() {
        if path == text_index::SECOND_FIELD {
            continue;
        }
        match parse_part(path, value)? {
            Part::Text(_) if ended => {
                return Err(refuse("'text' fields in index must all be adjacent"));
            }
            Part::Text(path) => {
                if texts.is_empty() {
                    let names = [TEXT_FIELD, text_index::SECOND_FIELD];
                    fields.extend(names.map(|name| (name.to_owned(), false)));
                }
                texts.push(path);
            }
            Part::Ordered(path, descending) => {
                ended = !texts.is_empty();
                fields.push((path, descending));
            }
            Part::Hashed(_) | Part::Geo(..) | Part::Wildcard(_, _) => {
                return Err(geo_index::two_kinds());
            }
        }
    }
    texts.retain(|path| !text_index::stands_for_texts(path));
    let rules = text_index::parse_rules(&texts, options)?;
    Ok(IndexKey { paths: fields, shape: IndexShape::Text(rules) })
}

/// Fails if an index of this kind cannot have one of the options: with 16764 for a unique hashed
/// index, with 67 for a wildcard index that is unique, sparse or a TTL index.
pub(super) fn check_kind(
    shape: &IndexShape,
    unique: bool,
    sparse: bool,
    expire_after: Option<i64>,
) -> Result<()> {
    match shape {
        IndexShape::Text(_) if unique => {
            Err(refuse("Index type 'text' does not support the unique option"))
        }
        IndexShape::Geo(geo) => geo_index::check_options(geo, unique, expire_after),
        IndexShape::Hashed(_) if unique => Err(Error::new(
            16764,
            "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.",
        )),
        IndexShape::Wildcard(_) if sparse => {
            Err(refuse("Index type 'wildcard' does not support the sparse option"))
        }
        IndexShape::Wildcard(_) if unique => {
            Err(refuse("Index type 'wildcard' does not support the unique option"))
        }
        IndexShape::Wildcard(_) if expire_after.is_some() => {
            Err(refuse("Index type 'wildcard' cannot be a TTL index"))
        }
        _ => Ok(()),
    }
}

fn parse_part(path: &str, value: ValueRef<'_>) -> Result<Part> {
    let above = if path == "$**" { Some("") } else { path.strip_suffix(".$**") };
    if above.is_none_or(|above| !above.is_empty()) {
        check_path(above.unwrap_or(path))?;
    }
    if let ValueRef::String(kind) = value {
        return match (kind, above) {
            ("hashed", None) => Ok(Part::Hashed(path.to_owned())),
            ("2dsphere", None) => Ok(Part::Geo(path.to_owned(), "2dsphere")),
            ("2d", None) => Ok(Part::Geo(path.to_owned(), "2d")),
            ("text", None | Some("")) => Ok(Part::Text(path.to_owned())),
            ("hashed", Some(_)) => {
                Err(refuse("A wildcard index key pattern cannot have the kind 'hashed'"))
            }
            _ => Err(unsupported_kind(kind)),
        };
    }
    let order = match Number::of(value).map(Number::to_f64) {
        Some(0.0) => return Err(refuse("Values in the index key pattern cannot be 0.")),
        Some(order) if order.is_nan() => {
            return Err(refuse("Values in the index key pattern cannot be NaN."));
        }
        Some(order) => order,
        None => {
            return Err(refuse(format!(
                "Values in v:2 index key pattern cannot be of type {}. Only numbers > 0, numbers < 0, and strings are allowed.",
                value.kind().name()
            )));
        }
    };
    Ok(match above {
        None => Part::Ordered(path.to_owned(), order < 0.0),
        Some(above) => Part::Wildcard(above.to_owned(), order < 0.0),
    })
}

/// Returns error 67 (CannotCreateIndex) with this text.
pub(super) fn refuse(message: impl Into<String>) -> Error {
    Error::new(CannotCreateIndex, message)
}

/// Returns the error of a kind of index that only MongoDB supports (115), or that is unknown (67).
fn unsupported_kind(kind: &str) -> Error {
    match kind {
        "geoHaystack" | "columnstore" => {
            Error::new(CommandNotSupported, format!("an index of kind '{kind}' is not supported"))
        }
        other => refuse(format!("Unknown index plugin '{other}'")),
    }
}

/// Checks one path of a key pattern. Its errors (67) differ from those of expression paths.
pub(super) fn check_path(path: &str) -> Result<()> {
    if path.is_empty() {
        return Err(refuse("Index keys cannot be an empty field."));
    }
    if path.split('.').any(str::is_empty) {
        return Err(refuse("Index key contains an illegal field name: empty path component."));
    }
    if path.split('.').any(|part| part.starts_with('$') && !matches!(part, "$id" | "$ref" | "$db"))
    {
        return Err(refuse(
            "Index key contains an illegal field name: field name starts with '$'.",
        ));
    }
    Ok(())
}
