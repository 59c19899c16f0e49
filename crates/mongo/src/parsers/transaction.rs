//! The arguments by which a command belongs to a transaction, and the concerns that such a command
//! accepts.
//!
//! ```text
//! first      {lsid, txnNumber: 7, startTransaction: true, autocommit: false, readConcern: ..}
//! next       {lsid, txnNumber: 7, autocommit: false}
//! the end    {commitTransaction: 1, lsid, txnNumber: 7, autocommit: false, writeConcern: ..}
//! ```

use document::ValueRef;

use super::number::numbered;
use crate::{
    arguments::Args,
    command_row::{CommandRow, InTransactions},
    errors::{
        CommandFailed, Error, InvalidOptions, OperationNotSupportedInTransaction, Result,
        TypeMismatch,
    },
};

/// The place of a command in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransactionArgs {
    pub(crate) number: i64,
    /// Whether the command is the first one of the transaction.
    pub(crate) starts: bool,
}

/// Returns the place of a command in a transaction; `None` if it belongs to none.
///
/// Fails with 72 if arguments contradict each other, 263 if the command cannot run in a transaction
/// or cannot start one, and 125 if the command ends a transaction and none is open.
pub(crate) fn parse_transaction(
    args: &Args<'_>,
    row: &CommandRow,
) -> Result<Option<TransactionArgs>> {
    let (autocommit, starts) = (args.bool("autocommit")?, args.bool("startTransaction")?);
    let Some(autocommit) = autocommit else {
        if starts.is_some() {
            let message =
                "'startTransaction' field requires 'autocommit' field to also be specified";
            return Err(Error::new(InvalidOptions, message));
        }
        if row.in_transactions == InTransactions::Ends {
            let message = format!("{} must be run within a transaction", row.name);
            return Err(Error::new(CommandFailed, message));
        }
        return Ok(None);
    };
    let Some(number) = numbered(args)? else {
        let message = "'autocommit' field requires a transaction number to also be specified";
        return Err(Error::new(InvalidOptions, message));
    };
    let message = match (autocommit, starts) {
        (true, _) => "Specifying autocommit=true is not allowed.",
        (false, Some(false)) => "Specifying startTransaction=false is not allowed.",
        (false, _) => {
            let starts = starts.is_some();
            check_command(row, starts)?;
            return Ok(Some(TransactionArgs { number, starts }));
        }
    };
    Err(Error::new(InvalidOptions, message))
}

/// Fails with 263 if a command cannot run in a transaction, or not as the first one.
fn check_command(row: &CommandRow, starts: bool) -> Result<()> {
    let name = row.alias_of.unwrap_or(row.name);
    let message = match (row.in_transactions, starts) {
        (InTransactions::Yes, _) | (InTransactions::Later | InTransactions::Ends, false) => {
            return Ok(());
        }
        (InTransactions::Later | InTransactions::Ends, true) => {
            format!("Cannot start a transaction with the command '{name}'.")
        }
        (InTransactions::No, _) if name == "count" => {
            "Cannot run 'count' in a multi-document transaction. Please see \
             http://dochub.mongodb.org/core/transaction-count for a recommended alternative."
                .to_owned()
        }
        (InTransactions::No, _) => {
            format!("Cannot run '{name}' in a multi-document transaction.")
        }
    };
    Err(Error::new(OperationNotSupportedInTransaction, message))
}

/// Checks the concerns of a command in a transaction.
///
/// Fails with 72 if a command other than the first one has a read concern, if the read concern is
/// at an earlier time or of a level other than `local`, `majority` and `snapshot`, and if a command
/// other than the last one has a write concern.
pub(crate) fn check_concerns(
    args: &Args<'_>,
    row: &CommandRow,
    transaction: TransactionArgs,
) -> Result<()> {
    if row.in_transactions != InTransactions::Ends && args.get("writeConcern").is_some() {
        let message = "writeConcern is not allowed within a multi-statement transaction";
        return Err(Error::new(InvalidOptions, message));
    }
    let Some(concern) = args.document("readConcern")? else { return Ok(()) };
    if !transaction.starts {
        let message = "Only the first command in a transaction may specify a readConcern";
        return Err(Error::new(InvalidOptions, message));
    }
    if concern.get("atClusterTime").is_some() {
        let message = "transactions at an earlier time (atClusterTime) are not supported yet";
        return Err(Error::new(InvalidOptions, message));
    }
    match concern.get("level") {
        None | Some(ValueRef::String("local" | "majority" | "snapshot")) => Ok(()),
        Some(ValueRef::String(_)) => {
            let message = "The readConcern level must be either 'local' (default), 'majority' or \
                           'snapshot' in order to run in a transaction";
            Err(Error::new(InvalidOptions, message))
        }
        Some(other) => {
            let kind = other.kind().name();
            let message = format!("\"level\" had the wrong type. Expected string, found {kind}");
            Err(Error::new(TypeMismatch, message))
        }
    }
}
