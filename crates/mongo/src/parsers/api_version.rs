//! The versioned API: what a client that asks for version 1 strictly may use. Drivers send
//! `apiVersion` with every command when an application declares it; a server that ignored it would
//! break the promise that the application relies on.

use crate::{
    arguments::Args,
    command_row::{ApiVersion1, CommandRow},
    errors::{APIStrictError, APIVersionError, Error, Result},
};

/// Checks which version of the API a command asks for, and whether the command is in it. Only "1"
/// exists (322). The flags without a version are error 4886600.
pub(crate) fn check_version(row: &CommandRow, args: &Args<'_>) -> Result<()> {
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
        Some("1") if strict => check_strict(row, args),
        Some("1") => Ok(()),
        Some(_) => Err(Error::new(APIVersionError, "API version must be \"1\"")),
    }
}

/// Stages about the server that are outside of version 1.
const OUTSIDE: [&str; 2] = ["$currentOp", "$indexStats"];

/// Fails with 323 on the first stage of a pipeline, where a client asks for version 1 strictly and the
/// stage is outside of it. That the version is 1 was checked before.
pub(crate) fn check_first_stage(stage: &str, args: &Args<'_>) -> Result<()> {
    if !OUTSIDE.contains(&stage) || !args.bool("apiStrict")?.unwrap_or(false) {
        return Ok(());
    }
    let message = format!("{stage} is not allowed with 'apiStrict: true' in API Version 1");
    Err(Error::new(APIStrictError, message))
}

/// Fails with 323 on a command or an argument that is outside of version 1.
fn check_strict(row: &CommandRow, args: &Args<'_>) -> Result<()> {
    let name = row.name;
    let ApiVersion1::Except(outside) = row.api else {
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
