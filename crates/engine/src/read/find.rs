//! What a query looks for and how it wants to be found, and what it says about its plan. The plan
//! itself is made in `access`.

use std::sync::Arc;

use document::Document;
use pipeline::{Filter, sort::Sort};

use crate::{
    access::{Access, ChosenAccess, Hint},
    catalog::ID_INDEX,
};

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
    /// The index that is read; `None` where all rows are. Rows are kept in the index of `_id`, which
    /// is named where a range or the order of `_id` is used.
    pub index: Option<String>,
    /// Its key pattern.
    pub pattern: Document,
    /// What the index is like.
    pub traits: IndexTraits,
    /// One document is read by its `_id`.
    pub by_id: bool,
    /// Whether rows come in the order of the sort.
    pub sorted: bool,
    /// Backward.
    pub backward: bool,
    /// Entries of the index are counted, and no document is read.
    pub counted: bool,
    /// How each access path is run, where there are several.
    pub branches: Vec<Explain>,
    /// Whether these are merged in the order of the sort.
    pub merged: bool,
    /// Ranges of the index that are walked.
    pub ranges: usize,
    /// Entries looked at so far, expired ones left out.
    pub keys_examined: u64,
    /// Documents looked at so far, expired ones left out.
    pub documents_examined: u64,
}

impl Explain {
    /// Describes a choice that uses this index, before anything was looked at.
    pub(super) fn of_choice(chosen: &ChosenAccess, used: Option<u32>) -> Self {
        let mut explain = Self {
            sorted: chosen.sorted,
            backward: chosen.direction == store::Direction::Backward,
            ..Self::default()
        };
        match &chosen.access {
            Access::Ids(ids) if ids.len() < 2 => explain.by_id = true,
            Access::Ids(ids) => explain.walk_ids(ids.len()),
            Access::Rows(ranges) if used == Some(ID_INDEX) => explain.walk_ids(ranges.len()),
            Access::Rows(_) | Access::Branches { .. } => {}
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

    /// Names the index of `_id`, of which so many ranges are walked.
    fn walk_ids(&mut self, ranges: usize) {
        self.index = Some("_id_".to_owned());
        self.ranges = ranges;
        self.pattern.push("_id", 1);
        self.traits.unique = true;
    }
}
