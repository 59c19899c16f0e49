//! The cluster key of `create`, and the TTL that a collection can have by it.
//!
//! ```text
//! {clusteredIndex: {key: {_id: 1}, unique: true, name: "by day"}, expireAfterSeconds: 60}
//! {collMod: "c", expireAfterSeconds: 60 | "off"}
//! ```

use document::{DocRef, Document, Number, ValueRef, doc, shell};

use crate::{
    arguments::Args,
    errors::{Error, InvalidIndexSpecificationOption, InvalidOptions, Result},
};

/// Name of the option of `create`, under which the cluster key is also stored.
pub(crate) const CLUSTERED_INDEX: &str = "clusteredIndex";
/// Name of the option of `create` and `collMod` that contains the TTL.
pub(crate) const EXPIRE_AFTER: &str = "expireAfterSeconds";

/// Error code: the key is not declared unique.
const NOT_UNIQUE: i32 = 5_979_700;
/// Error code: `true` instead of a specification, which only MongoDB's own collections may have.
const LEGACY_FORMAT: i32 = 5_979_703;
/// Error code: an unknown version of the specification.
const WRONG_VERSION: i32 = 5_979_704;
/// Error code: `autoIndexId: false` on a clustered collection.
const NO_AUTO_INDEX: i32 = 6_026_501;
/// Error code: a capped collection cannot be clustered.
const CAPPED: i32 = 6_127_800;

/// Returns the specification of the cluster key as it is stored and shown; `None` without one.
///
/// # Errors
///
/// 14, 40414 and 40415 for a malformed specification, 197 for another key than `{_id: 1}`, the codes
/// above, and 72 in combination with `idIndex`.
pub(crate) fn parse_cluster_key(args: &Args<'_>) -> Result<Option<Document>> {
    let spec = match args.get(CLUSTERED_INDEX) {
        None | Some(ValueRef::Bool(false)) => return Ok(None),
        Some(ValueRef::Bool(true)) => {
            let message = "The 'clusteredIndex' legacy format {clusteredIndex: <bool>} is only \
                           supported for specific internal collections and vice versa";
            return Err(Error::new(LEGACY_FORMAT, message));
        }
        Some(ValueRef::Document(spec)) => spec,
        Some(other) => {
            return Err(args.wrong_type(CLUSTERED_INDEX, other, "s '[bool, object]'"));
        }
    };
    if args.lax_bool("capped")?.unwrap_or(false) {
        let message = "Clustered capped collections are not supported";
        return Err(Error::new(CAPPED, message));
    }
    if args.document("idIndex")?.is_some_and(|spec| !spec.is_empty()) {
        let message = "The 'clusteredIndex' option is not supported with the 'idIndex' option";
        return Err(Error::new(InvalidOptions, message));
    }
    if args.lax_bool("autoIndexId")? == Some(false) {
        let message = "The 'clusteredIndex' option does not support {autoIndexId: false}";
        return Err(Error::new(NO_AUTO_INDEX, message));
    }
    parse_spec(spec).map(Some)
}

fn parse_spec(spec: DocRef<'_>) -> Result<Document> {
    let args = Args::new("create.clusteredIndex", spec);
    args.allow_only(&["v", "key", "name", "unique"])?;
    let version = args.int("v")?.unwrap_or(2);
    let key = args.need_document("key")?;
    let name = args.str("name")?.unwrap_or("_id_");
    if !args.bool("unique")?.ok_or_else(|| args.missing_field("unique"))? {
        let message = "The clusteredIndex option requires unique: true to be specified";
        return Err(Error::new(NOT_UNIQUE, message));
    }
    let ascending =
        |value: ValueRef<'_>| Number::of(value).and_then(Number::to_i64_exact) == Some(1);
    if key.len() != 1 || !key.get("_id").is_some_and(ascending) {
        let message = "The clusteredIndex option is only supported for key: {_id: 1}";
        return Err(Error::new(InvalidIndexSpecificationOption, message));
    }
    if version != 2 {
        let shown = shell(ValueRef::Document(spec));
        let message = format!(
            "Invalid clusteredIndex specification {shown}; cannot create a clusteredIndex with \
             v={version}"
        );
        return Err(Error::new(WRONG_VERSION, message));
    }
    if name.is_empty() || name.contains('\0') {
        let message = "The name of the clusteredIndex must be non-empty and without null bytes";
        return Err(Error::new(InvalidOptions, message));
    }
    Ok(doc! { "v": 2, "key": doc! { "_id": 1 }, "name": name, "unique": true })
}

/// Returns the TTL of `create`, in seconds after the date in `_id`.
///
/// # Errors
///
/// 72 for a number that is negative or has more than 31 bits.
pub(crate) fn parse_expire_after(args: &Args<'_>) -> Result<Option<i64>> {
    args.int(EXPIRE_AFTER)?.map(check_expire_after).transpose()
}

/// Returns the TTL of `collMod`; `Some(None)` for `"off"`, `None` if it is not given.
///
/// # Errors
///
/// 72 for other text, and those of [`parse_expire_after`].
pub(crate) fn parse_changed_ttl(args: &Args<'_>) -> Result<Option<Option<i64>>> {
    match args.get(EXPIRE_AFTER) {
        None => Ok(None),
        Some(ValueRef::String("off")) => Ok(Some(None)),
        Some(ValueRef::String(other)) => {
            let message = format!(
                "Invalid string value for the 'clusteredIndex::expireAfterSeconds' option. Got: \
                 '{other}'. Accepted value is 'off'"
            );
            Err(Error::new(InvalidOptions, message))
        }
        Some(_) => Ok(parse_expire_after(args)?.map(Some)),
    }
}

fn check_expire_after(seconds: i64) -> Result<i64> {
    let message = match seconds {
        0..=0x7fff_ffff => return Ok(seconds),
        ..0 => "TTL index 'expireAfterSeconds' option cannot be less than 0".to_owned(),
        _ => format!(
            "TTL index 'expireAfterSeconds' option must be within an acceptable range, try a \
             different number than {seconds}"
        ),
    };
    Err(Error::new(InvalidOptions, message))
}
