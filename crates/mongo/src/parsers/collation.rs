//! Parses `collation`, with MongoDB's checks, codes and texts. A collation is an order of texts; it
//! is a document with a locale and options; the locale determines the others.
//!
//! ```text
//! {locale: "en_US", strength: 2}      texts that differ only in case are equal
//! {locale: "simple"}                  texts compare by their bytes
//! {}                                  as if no collation was given
//! ```

use std::sync::Arc;

use collation::{Alternate, CaseFirst, Collation, MaxVariable, Refusal, VERSION, Wanted};
use document::{DocRef, Value, ValueRef, shell};
use engine::{IndexShape, IndexSpec};

use crate::{
    arguments::Args,
    errors::{
        BadValue, CannotCreateIndex, CommandNotSupported, Error, FailedToParse,
        IncompatibleCollationVersion, Result,
    },
};

/// The collation that a request gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GivenCollation {
    /// None, so the collection's default applies.
    Absent,
    /// The simple collation, also if the collection has a default.
    Simple,
    /// The collation with the given options.
    Of(Arc<Collation>),
}

impl GivenCollation {
    /// Returns the collation in effect for a collection with this default.
    pub(crate) fn or_default(self, default: Option<Arc<Collation>>) -> Option<Arc<Collation>> {
        match self {
            Self::Absent => default,
            Self::Simple => None,
            Self::Of(collation) => Some(collation),
        }
    }
}

const FIELDS: &[&str] = &[
    "locale",
    "caseLevel",
    "caseFirst",
    "strength",
    "numericOrdering",
    "alternate",
    "maxVariable",
    "normalization",
    "backwards",
    "version",
];

/// Parses the argument `collation`.
///
/// Fails with 14 if an option has a wrong type, 40414 if the locale is missing, 40415 if an option
/// is unknown, 2 if a value is unknown or options contradict each other, 9 if the simple collation
/// has options, 51024 if the strength is not from 1 to 5, 161 if the version differs, and 115 if
/// the rules are not supported.
pub(crate) fn parse_collation(args: &Args<'_>) -> Result<GivenCollation> {
    match args.document("collation")? {
        Some(spec) if !spec.is_empty() => parse_spec(spec),
        _ => Ok(GivenCollation::Absent),
    }
}

fn parse_spec(spec: DocRef<'_>) -> Result<GivenCollation> {
    let args = Args::new("collation", spec);
    args.allow_only(FIELDS)?;
    let locale = args.need_str("locale")?;
    if locale == "simple" {
        if 1 < spec.iter().count() {
            let message = format!(
                "If locale=simple, no other fields should be present in: {}",
                shell(ValueRef::Document(spec))
            );
            return Err(Error::new(FailedToParse, message));
        }
        return Ok(GivenCollation::Simple);
    }
    if locale.contains('\0') {
        return Err(refuse("Field 'locale' cannot contain null byte. Collation spec:", spec));
    }
    if locale.is_empty() {
        return Err(refuse("Field 'locale' cannot be the empty string in:", spec));
    }
    let strength = args.int("strength")?;
    if let Some(strength) = strength.filter(|strength| !(1..=5).contains(strength)) {
        let bound = if strength < 1 { ">= 1" } else { "<= 5" };
        let message = format!(
            "BSON field 'collation.strength' value must be {bound}, actual value '{strength}'"
        );
        return Err(Error::new(51024, message));
    }
    let wanted = Wanted {
        locale: locale.to_owned(),
        case_level: args.bool("caseLevel")?,
        case_first: enumeration(&args, "caseFirst", &CaseFirst::ALL, CaseFirst::name)?,
        strength: strength.and_then(|strength| u8::try_from(strength).ok()),
        numeric_ordering: args.bool("numericOrdering")?,
        alternate: enumeration(&args, "alternate", &Alternate::ALL, Alternate::name)?,
        max_variable: enumeration(&args, "maxVariable", &MaxVariable::ALL, MaxVariable::name)?,
        normalization: args.bool("normalization")?,
        backwards: args.bool("backwards")?,
    };
    if let Some(version) = args.str("version")?.filter(|version| *version != VERSION) {
        let message = format!(
            "Requested collation version {version} but the only available collator version was {VERSION}. Requested collation spec: {}",
            shell(ValueRef::Document(spec))
        );
        return Err(Error::new(IncompatibleCollationVersion, message));
    }
    match Collation::new(&wanted) {
        Ok(collation) => Ok(GivenCollation::Of(Arc::new(collation))),
        Err(refusal) => Err(refused(&refusal, &wanted, spec)),
    }
}

/// Returns the value of an option that has one of a few names.
fn enumeration<T: Copy>(
    args: &Args<'_>,
    option: &str,
    values: &[T],
    name_of: fn(T) -> &'static str,
) -> Result<Option<T>> {
    let Some(given) = args.str(option)? else { return Ok(None) };
    let found = values.iter().copied().find(|value| name_of(*value) == given);
    found.map(Some).ok_or_else(|| {
        let message = format!(
            "Enumeration value '{given}' for field 'collation.{option}' is not a valid value."
        );
        Error::new(BadValue, message)
    })
}

/// Returns the error (2) of a specification.
fn refuse(message: &str, spec: DocRef<'_>) -> Error {
    Error::new(BadValue, format!("{message} {}", shell(ValueRef::Document(spec))))
}

/// Returns the error of options for which there is no collation.
fn refused(refusal: &Refusal, wanted: &Wanted, spec: DocRef<'_>) -> Error {
    match refusal {
        Refusal::UnknownLocale(close) => {
            let mut error = refuse("Field 'locale' is invalid in:", spec);
            if let Some(close) = close {
                error.message.push_str(&format!(". Did you mean '{close}'?"));
            }
            error
        }
        Refusal::MissingVariant => {
            let message = format!("collation with locale '{}' is not supported", wanted.locale);
            Error::new(CommandNotSupported, message)
        }
        Refusal::Direction => {
            let message = format!(
                "collation with 'backwards' and locale '{}' is not supported",
                wanted.locale
            );
            Error::new(CommandNotSupported, message)
        }
        Refusal::Strength => refuse("Field 'strength' must be an integer 1 through 5 in:", spec),
        Refusal::BackwardsAtPrimary => {
            refuse("'backwards' is invalid with 'strength' of 1 in:", spec)
        }
        Refusal::CaseFirstWithoutCase => refuse(
            "'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 in:",
            spec,
        ),
    }
}

/// Returns whether an index with this specification has the default collation of its collection.
pub(crate) fn inherits_collation(spec: DocRef<'_>) -> bool {
    let given = spec.get("collation").and_then(ValueRef::as_document);
    given.is_none_or(DocRef::is_empty)
}

fn without_collation(kind: &str, collation: &Collation) -> Error {
    let shown = Value::Document(collation.to_document());
    let shown = shell(shown.as_ref());
    let message = format!("Index type '{kind}' does not support collation: {shown}");
    Error::new(CannotCreateIndex, message)
}

/// Checks that an index can have its collation (67): the words of a text index have no order.
pub(crate) fn check_index_collation(spec: &IndexSpec) -> Result<()> {
    match (&spec.shape, &spec.collation) {
        (IndexShape::Text(_), Some(collation)) => Err(without_collation("text", collation)),
        (IndexShape::Geo(geo), Some(collation)) if geo.kind() == "2d" => {
            Err(without_collation("2d", collation))
        }
        _ => Ok(()),
    }
}

/// Checks that a specification of the `_id` index has the collation of its collection (2).
pub(crate) fn check_id_collation(spec: DocRef<'_>, default: Option<&Collation>) -> Result<()> {
    let args = Args::new("createIndexes.indexes", spec);
    let given = match parse_collation(&args)? {
        GivenCollation::Absent => return Ok(()),
        GivenCollation::Simple => None,
        GivenCollation::Of(collation) => Some(collation),
    };
    if given.as_deref() == default {
        return Ok(());
    }
    let show = |collation: Option<&Collation>| match collation {
        None => "{}".to_owned(),
        Some(collation) => shell(Value::Document(collation.to_document()).as_ref()).to_string(),
    };
    let message = format!(
        "The _id index must have the same collation as the collection. Index collation: {}, collection collation: {}",
        show(given.as_deref()),
        show(default)
    );
    Err(Error::new(BadValue, message))
}
