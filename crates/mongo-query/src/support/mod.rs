//! The supported parts of MongoDB's language. `docs/compat/mongodb.md` is generated from these
//! tables, and tests compare them with the parsers, so that the page is complete and correct.

/// Filters, projections, sorts and updates.
pub mod operators;
/// The stages, expressions and accumulators of pipelines.
pub mod pipelines;

/// How far a feature of MongoDB is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The feature works as in MongoDB.
    Works,
    /// Supported with this difference from MongoDB.
    Differs(&'static str),
    /// Refused with an error that names the feature.
    NotYet,
}
