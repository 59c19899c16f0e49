//! The filter, order and hint of a query, and the description of its plan. Plans are made in
//! `access`.

use std::sync::Arc;

use document::{
    Document, Value,
    key::{Component, decode},
};
use pipeline::{Filter, sort::Sort};
use store::KeyRange;

use crate::{
    access::{AccessPath, ChosenAccess, Hint},
    catalog::{ID_INDEX, IndexShape, IndexSpec, WildcardKey},
    index::PATH_FIELD,
    keys,
};

/// The selection of a query.
#[derive(Clone, Debug)]
pub struct Find {
    /// Filter that selects the documents.
    pub filter: Arc<Filter>,
    /// Requested order; used if an index yields it.
    pub sort: Option<Sort>,
    /// Access path that the client requests.
    pub hint: Hint,
}

impl Find {
    /// Selects all documents that match a filter, in any order.
    pub fn new(filter: Filter) -> Self {
        Self { filter: Arc::new(filter), sort: None, hint: Hint::None }
    }
}

/// Properties of an index, for `explain`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexTraits {
    /// Whether no two live documents may have the same value.
    pub unique: bool,
    /// Whether the index omits documents that have none of its fields.
    pub sparse: bool,
    /// Whether the index covers only documents that match its own filter.
    pub partial: bool,
    /// Whether some document has more than one entry.
    pub multikey: bool,
    /// Whether a scan may find a document by more than one entry.
    pub repeats_rows: bool,
}

/// The execution of a query: its plan and, once it has run, its counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explain {
    /// The index that is read; `None` for a full scan. The primary key `_id_` is named if a range
    /// or the order of `_id` is used.
    pub index: Option<String>,
    /// Key pattern of the index.
    pub pattern: Document,
    /// Properties of the index that is read.
    pub traits: IndexTraits,
    /// Whether one document is read by its `_id`.
    pub by_id: bool,
    /// Whether rows arrive in the sort order.
    pub sorted: bool,
    /// Kind of the index of geometries whose documents arrive in the order of their distances.
    pub near: Option<&'static str>,
    /// Whether the scan is backward.
    pub backward: bool,
    /// Whether index entries are counted without reading documents.
    pub counted: bool,
    /// Executions of the branches, if there are several access paths.
    pub branches: Vec<Explain>,
    /// Whether the branches are merged in the sort order.
    pub merged: bool,
    /// Number of index ranges scanned.
    pub ranges: usize,
    /// Number of live index entries examined so far.
    pub keys_examined: u64,
    /// Number of live documents examined so far.
    pub documents_examined: u64,
}

/// Returns the key pattern of a scan of an index; in a wildcard index, the path that is read stands
/// after the field of paths.
fn scanned_pattern(index: &IndexSpec, ranges: &[KeyRange]) -> Document {
    if !matches!(index.shape, IndexShape::Wildcard(_)) {
        return index.key_pattern();
    }
    let key = WildcardKey::of(&index.key);
    let order = |descending: bool| if descending { -1 } else { 1 };
    let mut pattern = Document::new();
    let prefix = keys::index_prefix(index.id).len();
    let mut start = ranges.first().and_then(|range| range.start.get(prefix..));
    for (path, descending) in key.before {
        pattern.push(path.as_str(), order(*descending));
        start = start.and_then(|start| decode(start, *descending)).map(|(_, rest)| rest);
    }
    pattern.push(PATH_FIELD, 1);
    if let Some((Component::Value(Value::String(path)), _)) =
        start.and_then(|start| decode(start, false))
    {
        pattern.push(path, order(key.descending));
    }
    for (path, descending) in key.behind {
        pattern.push(path.as_str(), order(*descending));
    }
    pattern
}

impl Explain {
    /// Describes a chosen access path before its execution.
    pub(super) fn of_choice(chosen: &ChosenAccess, used: Option<u32>) -> Self {
        let mut explain = Self {
            sorted: chosen.sorted,
            backward: chosen.direction == store::Direction::Backward,
            ..Self::default()
        };
        match &chosen.access {
            AccessPath::Ids(ids) if ids.len() < 2 => explain.by_id = true,
            AccessPath::Ids(ids) => explain.walk_ids(ids.len()),
            AccessPath::Rows(ranges) if used == Some(ID_INDEX) => explain.walk_ids(ranges.len()),
            AccessPath::Rows(_) | AccessPath::Branches { .. } => {}
            // The insertion order is that of a full scan.
            AccessPath::Index { index, .. } if index.is_insertion_order() => {}
            AccessPath::Index { index, ranges } => {
                explain.walk_index(index, ranges, chosen.repeats_rows());
            }
            AccessPath::Near(near) => {
                explain.walk_index(&near.index, &[], chosen.repeats_rows());
                explain.near = match &near.index.shape {
                    IndexShape::Geo(geo) => Some(geo.kind()),
                    _ => None,
                };
            }
        }
        explain
    }

    /// Describes a scan of an index, which may find a document by several entries if `repeats_rows`.
    fn walk_index(&mut self, index: &IndexSpec, ranges: &[KeyRange], repeats_rows: bool) {
        self.index = Some(index.name.clone());
        self.ranges = ranges.len();
        self.pattern = scanned_pattern(index, ranges);
        self.traits = IndexTraits {
            unique: index.unique,
            sparse: index.sparse,
            partial: index.partial.is_some(),
            multikey: index.multikey,
            repeats_rows,
        };
    }

    /// Describes a scan of `ranges` ranges of the primary key.
    fn walk_ids(&mut self, ranges: usize) {
        self.index = Some("_id_".to_owned());
        self.ranges = ranges;
        self.pattern.push("_id", 1);
        self.traits.unique = true;
    }
}
