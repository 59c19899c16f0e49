//! Parses an index specification of `createIndexes`, with mongod's checks, codes and texts. The
//! index on the reserved `_ts` is the collection's default time to live and accepts few options.
//!
//! The checks are in mongod's order: field names, key, version, name, then the kind of index.
//! Restore tools send specifications as `listIndexes` returned them, so everything it returns is
//! accepted.
//!
//! ```text
//! {key: {a: 1, b: -1}, name: "a_1_b_-1", unique: true, sparse: false, hidden: false,
//!     partialFilterExpression: {..}}
//! {key: {a: "hashed"}, name: "a_hashed"}
//! {key: {"$**": 1}, name: "all", wildcardProjection: {a: 0}}
//! {key: {at: 1}, name: "at_1", expireAfterSeconds: 60}       a date index: documents expire by it
//! {key: {_ts: 1}, name: "ttl", expireAfterSeconds: 3600}     the default time to live
//! ```

use document::{DocRef, Document, Number, Value, ValueRef, shell};
use engine::{IndexShape, IndexSpec, TEXT_FIELD};
use full_text::TextIndex;

use super::{
    collation::{GivenCollation, parse_collation},
    collection_options::check_storage_engine,
    geo_index,
    index_key::{self, IndexKey},
    index_seconds, partial_filter, text_index,
};
use crate::{
    arguments::Args,
    errors::{
        BadValue, CannotCreateIndex, CommandNotSupported, Error, FailedToParse,
        InvalidIndexSpecificationOption, Result, TypeMismatch,
    },
    reserved_property::RESERVED,
};

/// Maximum length of an index name in bytes.
const MAX_NAME: usize = 1_000;

/// Supported options in an index specification.
const KNOWN: &[&str] = &[
    "key",
    "name",
    "v",
    "ns",
    "unique",
    "sparse",
    "background",
    "partialFilterExpression",
    "hidden",
    "expireAfterSeconds",
    "collation",
    "dropDups",
    "wildcardProjection",
    "storageEngine",
    "weights",
    "default_language",
    "language_override",
    "textIndexVersion",
    "2dsphereIndexVersion",
    "bits",
    "min",
    "max",
];

/// Options of text indexes only.
const OF_TEXTS: &[&str] = &["weights", "default_language", "language_override", "textIndexVersion"];

/// Options that belong to unsupported kinds of indexes. They are refused with an error that names
/// the feature; all other options are unknown.
const UNSUPPORTED: &[&str] = &["bucketSize", "clustered", "prepareUnique", "columnstoreProjection"];

/// Options that a specification of the `_ts` index may have.
const SYSTEM: &[&str] = &["key", "name", "v", "ns", "background", "expireAfterSeconds"];

/// Treatment of options of unknown name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Unknown options are an error.
    Refused,
    /// Unknown options are left out (`ignoreUnknownIndexOptions`). Dumps of old servers contain
    /// obsolete options.
    LeftOut,
}

/// Parses a specification. Returns `None` for the `_id` index, which every collection has. An index
/// without `collation` has none here, which [`inherits_collation`](super::collation::inherits_collation)
/// distinguishes from the simple one.
///
/// Fails with 197 if a field is unknown and such fields are not ignored, 9 if the key or the name
/// is missing, 14 if the key is not an object, and with the errors of its key, options and filter.
pub(crate) fn parse_spec(spec: DocRef<'_>, unknown: Unknown) -> Result<Option<IndexSpec>> {
    let is_known = |name: &str| KNOWN.contains(&name) || UNSUPPORTED.contains(&name);
    if unknown == Unknown::LeftOut && !spec.iter().all(|(name, _)| is_known(name)) {
        let mut kept = Document::new();
        for (name, value) in spec.iter().filter(|(name, _)| is_known(name)) {
            kept.push(name, value);
        }
        return parse_spec(DocRef::Tree(&kept), Unknown::Refused);
    }
    let args = Args::new("createIndexes.indexes", spec);
    let shown_spec = || shell(ValueRef::Document(spec)).to_string();
    for (name, _) in spec.iter() {
        if !is_known(name) {
            let message = format!(
                "The field '{name}' is not valid for an index specification. Specification: {}",
                shown_spec()
            );
            return Err(Error::new(InvalidIndexSpecificationOption, message));
        }
    }
    let Some(pattern) = spec.get("key") else {
        let message = format!(
            "The 'key' field is a required property of an index specification, but it's missing: {}",
            shown_spec()
        );
        return Err(Error::new(FailedToParse, message));
    };
    let Some(pattern) = pattern.as_document() else {
        return Err(Error::new(TypeMismatch, "The field 'key' must be an object"));
    };
    let parsed = index_key::parse_key(pattern, &args)?;
    let key = &parsed.paths;
    check_version(spec)?;
    let name = parse_name(&args, key, &shown_spec())?;
    if let [(path, _)] = key.as_slice()
        && path == "_id"
        && parsed.shape == IndexShape::Fields
    {
        return id_index(spec, pattern).map(|()| None);
    }
    if key.iter().any(|(path, _)| path == RESERVED) {
        return system_index(spec, parsed, name).map(Some);
    }
    parse_options(&args, spec, parsed, name).map(Some)
}

/// Parses the required name of the index. Drivers derive it from the key pattern.
fn parse_name(args: &Args<'_>, key: &[(String, bool)], shown: &str) -> Result<String> {
    let Some(name) = args.str("name")? else {
        let message = format!(
            "The 'name' field is a required property of an index specification, but it's missing: {shown}"
        );
        return Err(Error::new(FailedToParse, message));
    };
    let is_id = matches!(key, [(path, false)] if path == "_id");
    if name == "*" || name.is_empty() {
        return Err(Error::new(BadValue, format!("The index name '{name}' is not valid.")));
    }
    if name == "_id_" && !is_id {
        let message = format!(
            "The index name '_id_' is reserved for the _id index, which must have key pattern {{_id: 1}}, found {shown}"
        );
        return Err(Error::new(BadValue, message));
    }
    if MAX_NAME < name.len() || name.contains('\0') {
        return Err(Error::new(CannotCreateIndex, "the index name is too long or has a NUL"));
    }
    Ok(name.to_owned())
}

/// Checks the version: 1 and 2 are valid. The version is only shown: the index is the same.
fn check_version(spec: DocRef<'_>) -> Result<()> {
    let Some(value) = spec.get("v") else { return Ok(()) };
    let Some(number) = Number::of(value) else {
        let message = format!("The field 'v' must be a number, but got {}", value.kind().name());
        return Err(Error::new(TypeMismatch, message));
    };
    match number.to_i64_exact().and_then(|version| i32::try_from(version).ok()) {
        Some(1 | 2) => Ok(()),
        Some(version) => {
            let message = format!(
                "Invalid index specification {}; cannot create an index with v={version}",
                shell(ValueRef::Document(spec))
            );
            Err(Error::new(CannotCreateIndex, message))
        }
        None => {
            let message = format!(
                "Index version must be representable as a 32-bit integer, but got {}",
                shell(value)
            );
            Err(Error::new(BadValue, message))
        }
    }
}

/// Checks a specification of the `_id` index, which exists already.
///
/// Fails with 2 if the key is not `{_id: 1}`, and with 197 if an option would change the index.
fn id_index(spec: DocRef<'_>, pattern: DocRef<'_>) -> Result<()> {
    let order = pattern.get("_id").and_then(Number::of).and_then(Number::to_i64_exact);
    if order != Some(1) {
        let message = format!(
            "The field 'key' for an _id index must be {{_id: 1}}, but got {}",
            shell(ValueRef::Document(pattern))
        );
        return Err(Error::new(BadValue, message));
    }
    for (name, value) in spec.iter() {
        // Options that describe the index as it is are accepted.
        let harmless = match name {
            "key" | "name" | "v" | "ns" | "background" | "collation" => true,
            "unique" => value.is_truthy(),
            "hidden" if value.is_truthy() => {
                return Err(Error::new(BadValue, "can't hide _id index"));
            }
            "hidden" => true,
            _ => false,
        };
        if !harmless {
            let message = format!(
                "The field '{name}' is not valid for an _id index specification. Specification: {}",
                shell(ValueRef::Document(spec))
            );
            return Err(Error::new(InvalidIndexSpecificationOption, message));
        }
    }
    Ok(())
}

/// Parses the index on `_ts`. Its `expireAfterSeconds` is -1 or 1..2147483647; without the option
/// the index sets no default.
///
/// Fails with 67 if there is a second field, an option is unsuitable, or the number is invalid.
fn system_index(spec: DocRef<'_>, key: IndexKey, name: String) -> Result<IndexSpec> {
    let refuse = |what: &str| {
        let message = format!("an index on '_ts' cannot have {what}");
        Err(Error::new(CannotCreateIndex, message))
    };
    if 1 < key.paths.len() {
        return refuse("another key field");
    }
    if key.shape != IndexShape::Fields {
        return refuse("another kind of key");
    }
    for (option, value) in spec.iter() {
        let set = !matches!(value, ValueRef::Bool(false));
        if set && !SYSTEM.contains(&option) {
            return refuse(&format!("'{option}'"));
        }
    }
    let expire_after = match spec.get("expireAfterSeconds") {
        None => None,
        Some(value) => Some(index_seconds::system_seconds(value, spec)?),
    };
    let shown = shown_spec(spec, &name);
    Ok(IndexSpec { expire_after, system_ttl: true, shown, ..IndexSpec::new(name, key.paths) })
}

/// Parses a flag: a bool or a number. Other types fail with 14.
fn parse_flag(spec: DocRef<'_>, name: &str) -> Result<bool> {
    match spec.get(name) {
        None => Ok(false),
        Some(ValueRef::Bool(value)) => Ok(value),
        Some(value) if value.is_number() => Ok(value.is_truthy()),
        Some(value) => {
            let message = format!(
                "The field '{name}' has value {name}: {}, which is not convertible to bool",
                shell(value)
            );
            Err(Error::new(TypeMismatch, message))
        }
    }
}

/// Parses an ordinary index with its options.
fn parse_options(
    args: &Args<'_>,
    spec: DocRef<'_>,
    key: IndexKey,
    name: String,
) -> Result<IndexSpec> {
    let collation = match parse_collation(args)? {
        GivenCollation::Of(collation) => Some(collation),
        GivenCollation::Absent | GivenCollation::Simple => None,
    };
    check_storage_engine(args)?;
    let of_texts: &[&str] = match &key.shape {
        IndexShape::Text(_) => &[],
        _ => OF_TEXTS,
    };
    check_options_of_kinds(args, &key.shape)?;
    for option in UNSUPPORTED.iter().chain(of_texts) {
        if args.get(option).is_some() {
            let message = format!("index option '{option}' is not supported");
            return Err(Error::new(CommandNotSupported, message));
        }
    }
    parse_flag(spec, "background")?;
    let partial = partial_filter::parse_partial_filter(spec)?;
    let expire_after = match spec.get("expireAfterSeconds") {
        None => None,
        Some(_) if 1 < key.paths.len() => {
            let message = format!(
                "TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: {}",
                shell(ValueRef::Document(spec))
            );
            return Err(Error::new(CannotCreateIndex, message));
        }
        Some(value) => Some(index_seconds::date_seconds(value, spec)?),
    };
    let (unique, sparse) = (parse_flag(spec, "unique")?, parse_flag(spec, "sparse")?);
    index_key::check_kind(&key.shape, unique, sparse, expire_after)?;
    if sparse && partial.is_some() {
        let message = "cannot mix \"partialFilterExpression\" and \"sparse\" options";
        return Err(Error::new(CannotCreateIndex, message));
    }
    let shown = match &key.shape {
        IndexShape::Text(text) => shown_text_spec(spec, &name, &key.paths, text),
        IndexShape::Geo(geo) => {
            let mut shown = shown_spec(spec, &name);
            geo_index::show_options(geo, args, &mut shown);
            shown
        }
        _ => shown_spec(spec, &name),
    };
    Ok(IndexSpec {
        unique,
        sparse,
        partial,
        hidden: parse_flag(spec, "hidden")?,
        expire_after,
        shown,
        shape: key.shape,
        collation,
        ..IndexSpec::new(name, key.paths)
    })
}

/// Checks that the options of indexes of geometries are those of the index's own kind.
fn check_options_of_kinds(args: &Args<'_>, shape: &IndexShape) -> Result<()> {
    let kind = match shape {
        IndexShape::Geo(geo) => geo.kind(),
        _ => "",
    };
    for (owner, options) in [("2dsphere", geo_index::OF_SPHERE), ("2d", geo_index::OF_PLANE)] {
        let foreign = options.iter().find(|name| kind != owner && args.get(name).is_some());
        if let Some(name) = foreign {
            return Err(geo_index::foreign_option(name, owner));
        }
    }
    Ok(())
}

/// Returns the specification as `listIndexes` shows it: version, key and name, then the other
/// options in their given order. `background` and a false `sparse` have no effect, but are shown,
/// since tools compare the request with the list; MongoDB omits a false `unique` and `hidden`.
/// Options that are in effect or may change later are added when the index is listed.
fn shown_spec(spec: DocRef<'_>, name: &str) -> Document {
    let mut out = Document::new();
    let is_old = spec.get("v").and_then(Number::of).and_then(Number::to_i64_exact) == Some(1);
    out.push("v", if is_old { 1 } else { 2 });
    let pattern = spec.get("key").map_or(Value::Null, ValueRef::to_value);
    out.push("key", pattern);
    out.push("name", name);
    for (option, value) in spec.iter() {
        if matches!(option, "partialFilterExpression" | "wildcardProjection" | "storageEngine") {
            out.push(option, value);
        }
        if option == "background" || option == "sparse" {
            out.push(option, value.is_truthy());
        }
    }
    out
}

/// Returns the specification of a text index as `listIndexes` shows it. In the key, `_fts` and
/// `_ftsx` replace the text fields. Weights and languages are shown even if the client did not
/// specify them.
fn shown_text_spec(
    spec: DocRef<'_>,
    name: &str,
    key: &[(String, bool)],
    text: &TextIndex,
) -> Document {
    let mut out = shown_spec(spec, name);
    let part = |(path, descending): &(String, bool)| {
        let shown: Value = match descending {
            _ if path == TEXT_FIELD => "text".into(),
            true => Value::Int32(-1),
            false => Value::Int32(1),
        };
        (path.clone(), shown)
    };
    let key: Document = key.iter().map(part).collect();
    out.insert("key", key);
    text_index::show_rules(text, &mut out);
    out
}
