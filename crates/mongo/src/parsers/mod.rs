//! Parsers for arguments that several commands have: index specifications, hints, write statements,
//! and the arguments that every command accepts. They depend on neither calls nor collections. A
//! failed parse is an error with MongoDB's code and text.

/// `apiVersion` and `apiStrict`.
pub(crate) mod api_version;
/// Collection options for validators and pre-images.
pub(crate) mod collection_options;
/// `readConcern` and `writeConcern`.
pub(crate) mod concern;
/// Options of `$currentOp`.
pub(crate) mod current_op_options;
/// `hint`.
pub(crate) mod hint;
/// `expireAfterSeconds` of an index.
pub(crate) mod index_seconds;
/// An index specification.
pub(crate) mod index_spec;
/// `txnNumber`, `stmtId` and `stmtIds`.
pub(crate) mod number;
/// `partialFilterExpression`.
pub(crate) mod partial_filter;
/// Session, concerns and time limit of every command.
pub(crate) mod shared_arguments;
/// Statements of updates and deletes.
pub(crate) mod statements;
