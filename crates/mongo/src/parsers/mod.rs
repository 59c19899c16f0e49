//! Parsers of what several commands are given: index specifications, hints, statements of writes,
//! and the arguments that every command may carry. They know no call and no collection: what they
//! return is a plan, or an error with MongoDB's number and text.

pub(crate) mod api_version;
pub(crate) mod concern;
pub(crate) mod hint;
pub(crate) mod index_seconds;
pub(crate) mod index_spec;
pub(crate) mod partial_filter;
pub(crate) mod shared_arguments;
pub(crate) mod statements;
