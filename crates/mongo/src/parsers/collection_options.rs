//! Options of `create` and `collMod` for validators and pre-images. There are no pre-images, so an
//! option that enables them is refused. An option that enables nothing is accepted: dumps contain
//! such options, and a refusal would make a restore skip the whole collection.
//!
//! ```text
//! {validator: {a: 1}}   {changeStreamPreAndPostImages: {enabled: false}}   accepted
//! {recordPreImages: true}                                                  115
//! ```

use document::{Document, Value, ValueRef};
use engine::Namespace;

use crate::{
    arguments::Args,
    errors::{BadValue, CommandNotSupported, Error, Result},
    validator::{ACTION, LEVEL, VALIDATOR, check_validator},
};

/// Checks the types and values of the options. Returns the name of the first option that enables a
/// missing feature; the caller refuses it with [`unsupported`].
///
/// Fails with 14 for a wrong type, 2 for an unknown level or action, and 40414 and 40415 for the
/// pre-image document.
pub(crate) fn check_options(args: &Args<'_>) -> Result<Option<&'static str>> {
    args.document(VALIDATOR)?;
    for (name, values) in [
        (LEVEL, ["off", "strict", "moderate"].as_slice()),
        (ACTION, &["error", "warn", "errorAndLog"]),
    ] {
        check_enumeration(args, name, values)?;
    }
    let records = args.lax_bool("recordPreImages")?.unwrap_or(false);
    let images = asks_for_images(args)?;
    let asked = [("recordPreImages", records), ("changeStreamPreAndPostImages", images)];
    Ok(asked.into_iter().find_map(|(name, asked)| asked.then_some(name)))
}

/// Checks the validator and returns the given options of validation, as they are stored and shown.
///
/// Errors: those of [`check_validator`].
pub(crate) fn parse_validation(args: &Args<'_>, namespace: &Namespace) -> Result<Document> {
    if let Some(validator) = args.document(VALIDATOR)? {
        check_validator(namespace, validator)?;
    }
    let names = [VALIDATOR, LEVEL, ACTION];
    let given = names.iter().filter_map(|name| Some((*name, args.get(name)?)));
    Ok(given.map(|(name, value)| (name.to_owned(), value.to_value())).collect())
}

/// Returns the options of a collection after a change of its options of validation. An empty
/// validator is the same as none.
pub(crate) fn with_validation(options: &Document, changed: &Document) -> Document {
    let is_none =
        |value: &Value| matches!(value, Value::Document(validator) if validator.is_empty());
    let mut result = options.clone();
    for (name, value) in changed.fields() {
        if is_none(value) {
            result.remove(name);
        } else {
            result.insert(name.as_str(), value.clone());
        }
    }
    // Always in the same order, since options are compared as a whole.
    [VALIDATOR, LEVEL, ACTION].into_iter().for_each(|name| {
        if let Some(value) = result.remove(name) {
            result.push(name, value);
        }
    });
    result
}

/// Returns the error (115) of an option that enables a missing feature.
pub(crate) fn unsupported(args: &Args<'_>, option: &str) -> Error {
    Error::new(CommandNotSupported, format!("{} with '{option}' is not supported", args.of))
}

fn check_enumeration(args: &Args<'_>, name: &str, values: &[&str]) -> Result<()> {
    match args.str(name)?.filter(|value| !values.contains(value)) {
        None => Ok(()),
        Some(value) => {
            let message = format!(
                "Enumeration value '{value}' for field '{}.{name}' is not a valid value.",
                args.of
            );
            Err(Error::new(BadValue, message))
        }
    }
}

/// Returns whether `changeStreamPreAndPostImages` enables images.
fn asks_for_images(args: &Args<'_>) -> Result<bool> {
    let name = "changeStreamPreAndPostImages";
    let Some(images) = args.document(name)? else { return Ok(false) };
    let path = format!("{}.{name}", args.of);
    let images = Args::new(&path, images);
    images.allow_only(&["enabled"])?;
    images.bool("enabled")?.ok_or_else(|| images.missing_field("enabled"))
}

/// Checks `storageEngine` in the options of a collection, or of the indexes created with it.
/// Options of MongoDB's default engine are accepted without effect, since its dumps contain them.
///
/// Fails with 14 or 2 for a wrong type, and with 72 for another engine.
pub(crate) fn check_storage_engine(args: &Args<'_>) -> Result<()> {
    let Some(engines) = args.document("storageEngine")? else { return Ok(()) };
    for (name, options) in engines.iter() {
        if name != "wiredTiger" {
            let message = format!("{name} is not a registered storage engine for this server");
            return Err(Error::new(crate::errors::InvalidOptions, message));
        }
        if !matches!(options, ValueRef::Document(_)) {
            let message = format!("'storageEngine.{name}' has to be an embedded document.");
            return Err(Error::new(BadValue, message));
        }
    }
    Ok(())
}
