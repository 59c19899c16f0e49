//! Options of `create` and `collMod` for validators and pre-images. Neither feature exists, so an
//! option that enables one is refused. An option that enables nothing is accepted: dumps contain
//! such options, and a refusal would make a restore skip the whole collection.
//!
//! ```text
//! {validator: {}}   {validationLevel: "off"}   {changeStreamPreAndPostImages: {enabled: false}}   accepted
//! {validator: {a: 1}}   {recordPreImages: true}                                                  115
//! ```

use document::ValueRef;

use crate::{
    arguments::Args,
    errors::{BadValue, CommandNotSupported, Error, Result},
};

/// Checks the types and values of the options. Returns the name of the first option that enables a
/// missing feature; the caller refuses it with [`unsupported`].
///
/// Fails with 14 for a wrong type, 2 for an unknown level or action, and 40414 and 40415 for the
/// pre-image document.
pub(crate) fn check_options(args: &Args<'_>) -> Result<Option<&'static str>> {
    let validates = args.document("validator")?.is_some_and(|validator| !validator.is_empty());
    for (name, values) in [
        ("validationLevel", ["off", "strict", "moderate"].as_slice()),
        ("validationAction", &["error", "warn"]),
    ] {
        check_enumeration(args, name, values)?;
    }
    let records = args.lax_bool("recordPreImages")?.unwrap_or(false);
    let images = asks_for_images(args)?;
    let asked = [
        ("validator", validates),
        ("recordPreImages", records),
        ("changeStreamPreAndPostImages", images),
    ];
    Ok(asked.into_iter().find_map(|(name, asked)| asked.then_some(name)))
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
