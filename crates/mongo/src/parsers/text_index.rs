//! The rules of a text index in an index specification: weights and languages.
//!
//! ```text
//! {key: {title: "text", body: "text"}, weights: {title: 10}, default_language: "german"}
//! => {key: {_fts: "text", _ftsx: 1}, weights: {body: 1, title: 10}, default_language: "german",
//!     language_override: "language", textIndexVersion: 3}
//! ```

use std::collections::BTreeMap;

use document::{DocRef, Document, Number, Value, ValueRef, doc};
use engine::TEXT_FIELD;
use full_text::{ALL_PATHS, Language, TextIndex};

use super::index_key::check_path;
use crate::{
    arguments::Args,
    errors::{CannotCreateIndex, Error, Result},
};

/// Name of the second of the fields that stand for the texts in a key.
pub(super) const SECOND_FIELD: &str = "_ftsx";
/// A weight is less than this.
const MAX_WEIGHT: i64 = 1_000_000_000;
/// Maximum number of weights. mongod has no limit. Here every write compares each path of the
/// document with all of them, without a time limit.
const MAX_WEIGHTS: usize = 1000;

/// Returns the rules of a text index on these paths, which weigh 1 unless `weights` gives another
/// weight. The paths are empty for a key as `listIndexes` returns it.
///
/// Fails with 67 if a weight, path, language or version is invalid, or if there is no path.
pub(super) fn parse_rules(paths: &[String], options: &Args<'_>) -> Result<TextIndex> {
    let mut weights: BTreeMap<String, u32> = paths.iter().map(|path| (path.clone(), 1)).collect();
    match options.get("weights") {
        None => {}
        // MongoDB takes the name of all paths as their weight.
        Some(ValueRef::String(ALL_PATHS)) => {
            weights.insert(ALL_PATHS.to_owned(), 1);
        }
        Some(ValueRef::Document(given)) => add_weights(&mut weights, given)?,
        Some(_) => return Err(refuse("text index option 'weights' must be an object")),
    }
    if weights.is_empty() {
        return Err(refuse("a text index needs a field or a weight"));
    }
    if MAX_WEIGHTS < weights.len() {
        return Err(refuse(format!("a text index may have at most {MAX_WEIGHTS} weights")));
    }
    if let Some(version) = options.get("textIndexVersion") {
        let number = Number::of(version).and_then(Number::to_i64_exact);
        if !matches!(number, Some(1..=3)) {
            return Err(refuse("bad textIndexVersion: 1, 2 and 3 are supported"));
        }
    }
    let default_language = match text_option(options, "default_language")? {
        None => Language::default(),
        Some(name) => Language::named(name)
            .ok_or_else(|| refuse(format!("default_language is not valid: '{name}'")))?,
    };
    let language_override = text_option(options, "language_override")?.unwrap_or("language");
    if language_override.is_empty()
        || language_override.starts_with('$')
        || language_override.contains('.')
    {
        return Err(refuse("language_override is not valid"));
    }
    Ok(TextIndex {
        weights: weights.into_iter().collect(),
        default_language,
        language_override: language_override.to_owned(),
    })
}

/// Adds the options of a text index as `listIndexes` shows them.
pub(super) fn show_rules(text: &TextIndex, shown: &mut Document) {
    let weight = |(path, weight): &(String, u32)| {
        (path.clone(), Value::Int32(i32::try_from(*weight).unwrap_or(i32::MAX)))
    };
    let weights: Document = text.weights.iter().map(weight).collect();
    let options = doc! {
        "weights": weights,
        "default_language": text.default_language.name(),
        "language_override": text.language_override.as_str(),
        "textIndexVersion": 3,
    };
    options.into_iter().for_each(|(name, value)| shown.push(name, value));
}

fn add_weights(weights: &mut BTreeMap<String, u32>, given: DocRef<'_>) -> Result<()> {
    for (path, value) in given.iter() {
        if path != ALL_PATHS {
            check_path(path)?;
        }
        let Some(number) = Number::of(value) else {
            return Err(refuse("weight for text index needs numeric type"));
        };
        // Fractions are dropped.
        let whole = number.to_f64() as i64;
        if !(1..MAX_WEIGHT).contains(&whole) {
            return Err(refuse(format!(
                "text index weight must be in the exclusive interval (0,{MAX_WEIGHT}) but found: {whole}"
            )));
        }
        weights.insert(path.to_owned(), u32::try_from(whole).unwrap_or(u32::MAX));
    }
    Ok(())
}

fn text_option<'a>(options: &Args<'a>, name: &str) -> Result<Option<&'a str>> {
    match options.get(name) {
        None => Ok(None),
        Some(ValueRef::String(text)) => Ok(Some(text)),
        Some(_) => Err(refuse(format!("{name} must be a string"))),
    }
}

fn refuse(message: impl Into<String>) -> Error {
    Error::new(CannotCreateIndex, message)
}

/// Returns whether a path is one of the fields that stand for the texts in a key.
pub(super) fn stands_for_texts(path: &str) -> bool {
    path == TEXT_FIELD || path == SECOND_FIELD
}
