//! The limits of a capped collection in the arguments of `create`, `collMod`, `convertToCapped` and
//! `cloneCollectionAsCapped`.

use engine::Capped;

use crate::{
    arguments::Args,
    call::Call,
    errors::{BadValue, Error, InvalidOptions, Result},
    parsers::collection_options::unsupported,
};

/// Maximum size of a capped collection in bytes (1 PB).
const MAX_BYTES: i64 = 1 << 50;

/// The unit to which sizes are rounded up, in bytes.
const UNIT: i64 = 256;

/// Error code of a number outside its bounds.
const OUT_OF_BOUNDS: i32 = 51024;

/// Returns the limits that `create` gives a capped collection; `None` without `capped`.
///
/// Fails with 72 if a capped collection has no size or a limit is given without `capped`, with the
/// errors of the limits, and with 115 on a node of a cluster.
pub(crate) fn parse_capped(call: &Call<'_>, args: &Args<'_>) -> Result<Option<Capped>> {
    let (size, max) = (parse_size(args, "size")?, parse_max(args, "max")?);
    if !args.lax_bool("capped")?.unwrap_or(false) {
        if args.get("size").or(args.get("max")).is_none() {
            return Ok(None);
        }
        let message = "the 'capped' field needs to be true when either the 'size' or 'max' fields \
                       are present";
        return Err(Error::new(InvalidOptions, message));
    }
    if call.api.settings.in_cluster {
        return Err(unsupported(args, "capped"));
    }
    let Some(bytes) = size else {
        let message = "the 'size' field is required when 'capped' is true";
        return Err(Error::new(InvalidOptions, message));
    };
    Ok(Some(Capped { bytes, documents: max.flatten() }))
}

/// Returns a size in bytes, rounded up as MongoDB rounds it.
///
/// Fails with 51024 if the size is below 1 byte or above 1 PB.
pub(crate) fn parse_size(args: &Args<'_>, name: &str) -> Result<Option<i64>> {
    let Some(size) = args.int(name)? else { return Ok(None) };
    let (sign, limit) = match size {
        ..1 => (">=", 1),
        1..=MAX_BYTES => return Ok(Some((size + UNIT - 1) / UNIT * UNIT)),
        _ => ("<=", MAX_BYTES),
    };
    let message =
        format!("BSON field '{name}' value must be {sign} {limit}, actual value '{size}'");
    Err(Error::new(OUT_OF_BOUNDS, message))
}

/// Returns a maximum number of documents; the inner `None` is a number below 1, which means that
/// there is no maximum.
///
/// Fails with 2 if the number is 2^31 or more.
pub(crate) fn parse_max(args: &Args<'_>, name: &str) -> Result<Option<Option<i64>>> {
    match args.int(name)? {
        None => Ok(None),
        Some(max) if i64::from(i32::MAX) < max => {
            let message = "max in a capped collection has to be < 2^31 or not set";
            Err(Error::new(BadValue, message))
        }
        Some(max) => Ok(Some(Some(max).filter(|max| 0 < *max))),
    }
}
