//! The versioned API: what a client that asks for version 1 strictly may use.

use crate::{
    args::Args,
    errors::{APIStrictError, APIVersionError, Error, Result},
};

/// Commands of version 1, with the arguments that are outside of it.
const FIRST: &[(&str, &[&str])] = &[
    ("abortTransaction", &[]),
    ("aggregate", &["explain"]),
    ("authenticate", &[]),
    ("bulkWrite", &[]),
    ("collMod", &[]),
    ("commitTransaction", &[]),
    ("count", &[]),
    (
        "create",
        &[
            "autoIndexId",
            "capped",
            "changeStreamPreAndPostImages",
            "indexOptionDefaults",
            "max",
            "size",
            "storageEngine",
            "temp",
        ],
    ),
    ("createIndexes", &[]),
    ("delete", &[]),
    ("drop", &[]),
    ("dropDatabase", &[]),
    ("dropIndexes", &[]),
    ("endSessions", &[]),
    ("explain", &[]),
    (
        "find",
        &[
            "awaitData",
            "max",
            "min",
            "noCursorTimeout",
            "oplogReplay",
            "returnKey",
            "showRecordId",
            "tailable",
        ],
    ),
    ("findAndModify", &[]),
    ("getMore", &[]),
    ("hello", &[]),
    ("insert", &[]),
    ("killCursors", &[]),
    ("listCollections", &[]),
    ("listDatabases", &[]),
    ("listIndexes", &[]),
    ("ping", &[]),
    ("refreshSessions", &[]),
    ("saslContinue", &[]),
    ("saslStart", &[]),
    ("update", &[]),
    // What a strict client asks of this product alone can only be meant.
    ("ebbClock", &[]),
    ("ebbExpiry", &[]),
];

/// Checks which version of the API a command asks for, and whether it is in it.
pub(super) fn check(name: &str, args: &Args<'_>) -> Result<()> {
    let version = args.str("apiVersion")?;
    let strict = args.bool("apiStrict")?.unwrap_or(false);
    let deprecation = args.bool("apiDeprecationErrors")?;
    match version {
        None if args.get("apiStrict").is_some() || deprecation.is_some() => {
            let message =
                "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion";
            Err(Error::new(4_886_600, message))
        }
        None => Ok(()),
        Some("1") if strict => in_first(name, args),
        Some("1") => Ok(()),
        Some(_) => Err(Error::new(APIVersionError, "API version must be \"1\"")),
    }
}

fn in_first(name: &str, args: &Args<'_>) -> Result<()> {
    let Some((_, outside)) = FIRST.iter().find(|(known, _)| *known == name) else {
        let message =
            format!("Provided apiStrict:true, but the command {name} is not in API Version 1.");
        return Err(Error::new(APIStrictError, message));
    };
    match outside.iter().find(|field| args.get(field).is_some()) {
        Some(field) => {
            let message =
                format!("BSON field '{name}.{field}' is not allowed with apiStrict:true.");
            Err(Error::new(APIStrictError, message))
        }
        None => Ok(()),
    }
}
