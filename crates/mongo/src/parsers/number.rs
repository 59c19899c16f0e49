//! The number of a retryable write (`txnNumber`) and the ids of its statements, by which a repeat
//! is recognized. The error of a server that presents itself as a standalone one is in
//! `shared_arguments.rs`.
//!
//! ```text
//! {lsid: {id: <uuid>}, txnNumber: 7}                     statements are 0, 1, 2, ..
//! {lsid: {id: <uuid>}, txnNumber: 7, stmtId: 5}          statements are 5, 6, 7, ..
//! {lsid: {id: <uuid>}, txnNumber: 7, stmtIds: [3, 9]}    statements are 3, 9
//! ```

use document::ValueRef;

use crate::{
    arguments::Args,
    command_row::CommandRow,
    errors::{BadValue, Error, InvalidLength, InvalidOptions, NotARetryableWriteCommand, Result},
    session::{SessionId, session_id},
};

/// The identity of a retryable write.
#[derive(Clone, Debug)]
pub(crate) struct RetryableWrite {
    pub(crate) session: SessionId,
    pub(crate) number: i64,
    pub(crate) ids: StatementIds,
}

/// The ids of the statements of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StatementIds {
    /// Consecutive ids, starting with this one.
    From(i32),
    Listed(Vec<i32>),
}

impl StatementIds {
    /// Returns the id of the statement at a position.
    pub(crate) fn id_at(&self, at: usize) -> i32 {
        match self {
            Self::From(first) => first.saturating_add(i32::try_from(at).unwrap_or(i32::MAX)),
            Self::Listed(ids) => ids.get(at).copied().unwrap_or(i32::MAX),
        }
    }
}

/// Returns the `txnNumber` of a command.
///
/// Fails with 14 unless it is a 64-bit integer, and with 72 if it is negative or the command has no
/// session.
pub(super) fn numbered(args: &Args<'_>) -> Result<Option<i64>> {
    let Some(number) = args.get("txnNumber") else { return Ok(None) };
    let ValueRef::Int64(number) = number else {
        return Err(args.wrong_type("txnNumber", number, " 'long'"));
    };
    if args.get("lsid").is_none() {
        let message = "Transaction number requires a session ID to also be specified";
        return Err(Error::new(InvalidOptions, message));
    }
    if number < 0 {
        return Err(Error::new(InvalidOptions, "Transaction number cannot be negative"));
    }
    Ok(Some(number))
}

/// Checks the `txnNumber` of a command outside of transactions.
///
/// Fails with the errors of a wrong number, and with 50768 if the command accepts none.
pub(crate) fn check_number(args: &Args<'_>, row: &CommandRow) -> Result<()> {
    if numbered(args)?.is_some() && !row.retryable {
        let message = format!(
            "txnNumber may only be provided for multi-document transactions and retryable write \
             commands. autocommit:false was not provided, and {} is not a retryable write command.",
            row.name
        );
        return Err(Error::new(NotARetryableWriteCommand, message));
    }
    Ok(())
}

/// Returns the `txnNumber` of a command, the session, and the ids of its statements; `None` if the
/// command has no `txnNumber`.
///
/// Fails with 16 if there are not as many ids as statements, 72 if both `stmtIds` and `stmtId` are
/// given, and 2 if an id is negative.
pub(crate) fn parse_retryable_write(
    args: &Args<'_>,
    statements: usize,
) -> Result<Option<RetryableWrite>> {
    let first = args.int("stmtId")?;
    let listed = args.array("stmtIds")?;
    let (Some(ValueRef::Int64(number)), Some(session)) =
        (args.get("txnNumber"), session_id(args.body))
    else {
        return Ok(None);
    };
    let checked = |id: Option<i64>| {
        let id = id.and_then(|id| i32::try_from(id).ok()).filter(|id| 0 <= *id);
        id.ok_or_else(|| {
            Error::new(BadValue, "A statement id must be a non-negative 32-bit integer")
        })
    };
    let ids = match (first, listed) {
        (Some(_), Some(_)) => {
            let message = "May not specify both stmtId and stmtIds in write command.";
            return Err(Error::new(InvalidOptions, message));
        }
        (None, None) => StatementIds::From(0),
        (Some(first), None) => StatementIds::From(checked(Some(first))?),
        (None, Some(listed)) => {
            let number = |id| document::Number::of(id).and_then(document::Number::to_i64_exact);
            let ids: Vec<i32> =
                listed.iter().map(|id| checked(number(id))).collect::<Result<_>>()?;
            if ids.len() != statements {
                let message = format!(
                    "Number of statement ids must match the number of batch entries. Got {} \
                     statement ids but operation contains {statements} statements.",
                    ids.len()
                );
                return Err(Error::new(InvalidLength, message));
            }
            StatementIds::Listed(ids)
        }
    };
    Ok(Some(RetryableWrite { session, number, ids }))
}
