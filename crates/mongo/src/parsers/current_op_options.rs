//! Options of the stage `$currentOp`.

use document::{DocRef, ValueRef};

use crate::errors::{Error, FailedToParse, Result, TypeMismatch};

/// Options of `$currentOp`, each with the error code for a value of a wrong type. Only the options
/// for users, idle connections, idle cursors and truncation have an effect.
const OPTIONS: &[(&str, i32)] = &[
    ("allUsers", TypeMismatch),
    ("backtrace", FailedToParse),
    ("idleConnections", FailedToParse),
    ("idleCursors", FailedToParse),
    ("idleSessions", FailedToParse),
    ("localOps", TypeMismatch),
    ("targetAllNodes", FailedToParse),
    ("truncateOps", FailedToParse),
];

/// Checks the options of `$currentOp`. An unknown option fails with 9, an option of a wrong type
/// with its code in [`OPTIONS`].
pub(crate) fn check_current_op_options(spec: DocRef<'_>) -> Result<()> {
    for (name, value) in spec.iter() {
        let Some((_, code)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
            let message = format!("Unrecognized option '{name}' in $currentOp stage.");
            return Err(Error::new(FailedToParse, message));
        };
        if !matches!(value, ValueRef::Bool(_)) {
            let message = format!(
                "The '{name}' parameter of the $currentOp stage must be a boolean value, but found: {}",
                value.kind().name()
            );
            return Err(Error::new(*code, message));
        }
    }
    Ok(())
}
