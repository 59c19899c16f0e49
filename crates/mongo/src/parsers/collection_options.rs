//! Options of `create` and `collMod` for validators and images of change streams. The option of
//! earlier versions for images is refused if it enables them.
//!
//! ```text
//! {validator: {a: 1}}   {changeStreamPreAndPostImages: {enabled: true}}   accepted
//! {recordPreImages: true}                                                 115
//! ```

use document::{DocRef, Document, Value, ValueRef, doc};
use engine::Namespace;

use crate::{
    arguments::Args,
    errors::{BadValue, CommandNotSupported, Error, Result},
    parsers::index_spec::{Unknown, parse_spec},
    validator::{ACTION, LEVEL, VALIDATOR, check_validator},
};

/// The option that enables images.
const IMAGES: &str = "changeStreamPreAndPostImages";

/// Checks the types and values of the options. Returns the name of the first option that enables a
/// missing feature; the caller refuses it with [`unsupported`].
///
/// Fails with 14 if an option has a wrong type, 2 if the level or action is unknown, and 40414 or
/// 40415 if a field of the pre-image document is missing or unknown.
pub(crate) fn check_options(args: &Args<'_>) -> Result<Option<&'static str>> {
    args.document(VALIDATOR)?;
    for (name, values) in [
        (LEVEL, ["off", "strict", "moderate"].as_slice()),
        (ACTION, &["error", "warn", "errorAndLog"]),
    ] {
        check_enumeration(args, name, values)?;
    }
    parse_images(args)?;
    let records = args.lax_bool("recordPreImages")?.unwrap_or(false);
    Ok(records.then_some("recordPreImages"))
}

/// Checks the validator and returns the given options of validation, as they are stored and shown.
///
/// Fails with the errors of [`check_validator`].
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

/// Returns whether `changeStreamPreAndPostImages` enables images; `None` if it is not given.
///
/// Fails with 14 if the value or a field has a wrong type, and with 40414 or 40415 if a field is
/// missing or unknown.
pub(crate) fn parse_images(args: &Args<'_>) -> Result<Option<bool>> {
    let Some(images) = args.document(IMAGES)? else { return Ok(None) };
    let path = format!("{}.{IMAGES}", args.of);
    let images = Args::new(&path, images);
    images.allow_only(&["enabled"])?;
    images.bool("enabled")?.ok_or_else(|| images.missing_field("enabled")).map(Some)
}

/// Returns whether a collection with these options keeps images for change streams.
pub(crate) fn keeps_images(options: &Document) -> bool {
    let images = DocRef::Tree(options).get(IMAGES).and_then(ValueRef::as_document);
    images.is_some_and(|images| matches!(images.get("enabled"), Some(ValueRef::Bool(true))))
}

/// Returns the options of a collection after images were enabled or disabled.
pub(crate) fn with_images(options: &Document, enabled: bool) -> Document {
    let mut result = options.clone();
    result.remove(IMAGES);
    if enabled {
        result.push(IMAGES, doc! { "enabled": true });
    }
    result
}

/// Checks options that have no effect, with the errors of mongod.
pub(crate) fn check_without_effect(args: &Args<'_>) -> Result<()> {
    args.lax_bool("autoIndexId")?;
    args.int("flags")?;
    check_storage_engine(args)?;
    if let Some(defaults) = args.document("indexOptionDefaults")? {
        let defaults = Args::new("create.indexOptionDefaults", defaults);
        defaults.allow_only(&["storageEngine"])?;
        check_storage_engine(&defaults)?;
    }
    match args.document("idIndex")? {
        Some(spec) if parse_spec(spec, Unknown::Refused)?.is_some() => {
            let message = "The field 'key' for an _id index must be {_id: 1}";
            Err(Error::new(BadValue, message))
        }
        _ => Ok(()),
    }
}

/// Name of the storage engine in `serverStatus`.
pub(crate) const ENGINE_NAME: &str = "ebb";

/// Checks `storageEngine` in the options of a collection, or of the indexes created with it.
/// Options of MongoDB's default engine are accepted without effect, since its dumps contain them;
/// and so are options of [`ENGINE_NAME`], since clients take the name from `serverStatus`.
///
/// Fails with 14 or 2 if the value has a wrong type, and with 72 if it names another engine.
pub(crate) fn check_storage_engine(args: &Args<'_>) -> Result<()> {
    let Some(engines) = args.document("storageEngine")? else { return Ok(()) };
    for (name, options) in engines.iter() {
        if name != "wiredTiger" && name != ENGINE_NAME {
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
