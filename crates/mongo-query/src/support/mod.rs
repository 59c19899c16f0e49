//! What of MongoDB's language is supported. `docs/compat/mongodb.md` is printed from these tables,
//! and tests hold them against the parsers, so that the page can neither promise nor conceal
//! anything.

/// Filters, projections, sorts and updates.
pub mod operators;
/// Stages, expressions and accumulators.
pub mod pipelines;

/// How far something is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// As in MongoDB.
    Works,
    /// It works, but not in every way as in MongoDB.
    Differs(&'static str),
    /// It is refused with an error that names it.
    NotYet,
}
