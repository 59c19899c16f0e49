//! Parsers for arguments that several commands have: index specifications, hints, write statements,
//! and the arguments that every command accepts. They depend on neither calls nor collections. A
//! failed parse is an error with MongoDB's code and text.

pub(crate) mod api_version;
/// Limits of a capped collection in the arguments of commands.
pub(crate) mod capped_limits;
/// The cluster key of a collection and its TTL.
pub(crate) mod clustered_index;
pub(crate) mod collation;
/// Collection options for validators and pre-images.
pub(crate) mod collection_options;
pub(crate) mod concern;
pub(crate) mod current_op_options;
/// Geometries of an index, and options of such an index.
pub(crate) mod geo_index;
pub(crate) mod hint;
/// The key pattern of an index, and its kind.
pub(crate) mod index_key;
pub(crate) mod index_seconds;
pub(crate) mod index_spec;
pub(crate) mod number;
pub(crate) mod partial_filter;
/// The level of a command's read concern.
pub(crate) mod read_level;
/// Session, concerns and time limit of every command.
pub(crate) mod shared_arguments;
/// Statements of updates and deletes.
pub(crate) mod statements;
/// Weights and languages of a text index.
pub(crate) mod text_index;
/// The arguments of commands in transactions.
pub(crate) mod transaction;
/// The paths of a wildcard index.
mod wildcard_key;
