//! What a query looks for and how it wants to be found, and what it says about its plan. The plan
//! itself is made in `access`.

use std::sync::Arc;

use document::Document;
use pipeline::{Filter, sort::Sort};

use crate::access::{Access, ChosenAccess, Hint};

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Find {
    /// Which documents.
    pub filter: Arc<Filter>,
    /// The order that would spare sorting.
    pub sort: Option<Sort>,
    /// A wish for an access path.
    pub hint: Hint,
}

impl Find {
    /// All documents that a filter means, in any order.
    pub fn new(filter: Filter) -> Self {
        Self { filter: Arc::new(filter), sort: None, hint: Hint::None }
    }
}

/// What an index is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexTraits {
    /// No two live documents share a value.
    pub unique: bool,
    /// Documents without any of its fields are left out.
    pub sparse: bool,
    /// Only documents that meet a filter of its own are in it.
    pub partial: bool,
    /// Some document has more than one entry in it.
    pub multikey: bool,
}

/// How a query was or would be run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explain {
    /// The index that is read; `None` for the rows themselves.
    pub index: Option<String>,
    /// Its key pattern.
    pub pattern: Document,
    /// What the index is like.
    pub traits: IndexTraits,
    /// Point reads by id.
    pub by_id: bool,
    /// Whether rows come in the order of the sort.
    pub sorted: bool,
    /// Backward.
    pub backward: bool,
    /// Entries of the index are counted, and no document is read.
    pub counted: bool,
    /// Ranges of the index that are walked.
    pub ranges: usize,
    /// Entries looked at so far, expired ones left out.
    pub keys_examined: u64,
    /// Documents looked at so far, expired ones left out.
    pub documents_examined: u64,
}

impl Explain {
    /// What is told of a choice before anything was looked at.
    pub(super) fn of_choice(chosen: &ChosenAccess) -> Self {
        let mut explain = Self {
            sorted: chosen.sorted,
            backward: chosen.direction == store::Direction::Backward,
            ..Self::default()
        };
        match &chosen.access {
            Access::Ids(_) => explain.by_id = true,
            Access::Rows(_) => {}
            Access::Index { index, ranges } => {
                explain.index = Some(index.name.clone());
                explain.ranges = ranges.len();
                explain.pattern = index.key_pattern();
                explain.traits = IndexTraits {
                    unique: index.unique,
                    sparse: index.sparse,
                    partial: index.partial.is_some(),
                    multikey: index.multikey,
                };
            }
        }
        explain
    }
}
