//! Parsers of what several commands are given: index specifications, hints, statements of writes,
//! and the arguments that every command may carry. They know no call and no collection: what they
//! return is a plan, or an error with MongoDB's number and text.

/// `apiVersion` and `apiStrict`.
pub(crate) mod api_version;
/// Options of collections that ask for validators and images.
pub(crate) mod collection_options;
/// `readConcern` and `writeConcern`.
pub(crate) mod concern;
/// Options of `$currentOp`.
pub(crate) mod current_op_options;
/// `hint`.
pub(crate) mod hint;
/// `expireAfterSeconds` of an index.
pub(crate) mod index_seconds;
/// One specification of an index.
pub(crate) mod index_spec;
/// `txnNumber`, `stmtId` and `stmtIds`.
pub(crate) mod number;
/// `partialFilterExpression`.
pub(crate) mod partial_filter;
/// Session, concerns and time limit of every command.
pub(crate) mod shared_arguments;
/// Statements of updates and deletes.
pub(crate) mod statements;
