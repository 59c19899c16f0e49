//! What a search by distance finds out about a document: its distance, or its nearest geometry.

use std::sync::Arc;

use document::Value;
use evaluation::{Error, Evaluated};
use geometry::Near;

use super::Env;

/// The part of the result that an expression returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GeoPart {
    /// The distance, multiplied by this factor.
    Distance(f64),
    /// The nearest geometry, as stored.
    Location,
}

/// An expression over the result of a search by distance.
#[derive(Clone, Debug)]
pub struct GeoCall {
    /// The search that has found the document.
    pub near: Arc<Near>,
    /// The part of its result.
    pub part: GeoPart,
}

impl GeoCall {
    /// Evaluates the expression over a document; without a geometry the value is missing.
    pub(super) fn evaluate<'e>(&self, env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
        let budget = &env.context.budget;
        let found = self.near.distance_of(env.root, &|units| budget.spend(units))?;
        Ok(match (found, self.part) {
            (None, _) => Evaluated::Missing,
            (Some((distance, _)), GeoPart::Distance(factor)) => {
                Evaluated::Owned(Value::Double(distance * factor))
            }
            (Some((_, value)), GeoPart::Location) => Evaluated::Ref(value),
        })
    }
}
