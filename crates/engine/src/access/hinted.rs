//! Finds the index that a hint names.

use std::sync::Arc;

use document::{DocRef, Document};

use super::Hint;
use crate::{
    catalog::{CollectionState, IndexShape, IndexSpec},
    error::{Error, HintRefusal, Kind},
};

/// Returns the index that a hint names, by its name or key pattern; `None` for the primary key.
pub(super) fn hinted_index<'a>(
    state: &'a CollectionState,
    hint: &Hint,
) -> Result<Option<&'a IndexSpec>, Error> {
    match hint {
        Hint::Index(name) if state.record.is_primary_key(name) => Ok(None),
        Hint::Index(name) => find_index(state, |index| index.name == *name).map(Some),
        Hint::Key(pattern) if is_id_pattern(pattern) => Ok(None),
        Hint::Key(pattern) => find_index(state, |index| same_pattern(index, pattern)).map(Some),
        Hint::None | Hint::Natural(_) | Hint::Between { .. } => {
            let message = "bounds of keys need a hint of an index";
            Err(Error::new(Kind::HintRefused(HintRefusal::NoIndex), message))
        }
    }
}

/// Returns whether a key pattern denotes the primary key, `_id`.
fn is_id_pattern(pattern: &Document) -> bool {
    matches!(pattern.fields(), [(name, _)] if name == "_id")
}

/// Returns the only index that matches a hint; indexes that are incomplete, hidden or without
/// entries do not count. Fails if none or several match.
fn find_index(
    state: &CollectionState,
    matches: impl Fn(&IndexSpec) -> bool,
) -> Result<&IndexSpec, Error> {
    // A text index serves searches only.
    let usable = |index: &&IndexSpec| {
        let is_text = matches!(index.shape, IndexShape::Text(_));
        index.ready && index.has_entries() && !index.hidden && !is_text
    };
    let mut found = state.record.listed_indexes().filter(|index| matches(index)).filter(usable);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (None, _) => {
            let message =
                "the hint matches no index, or an index that is hidden or still being built";
            Err(Error::new(Kind::HintRefused(HintRefusal::NoIndex), message))
        }
        (Some(one), Some(other)) => {
            let (first, second) = (one.name.clone(), other.name.clone());
            let message = format!("the hint matches more than one index: {first} and {second}");
            let refusal = HintRefusal::SeveralIndexes { first, second };
            Err(Error::new(Kind::HintRefused(refusal), message))
        }
    }
}

/// Returns whether an index has this key pattern; numbers compare by value.
fn same_pattern(index: &IndexSpec, pattern: &Document) -> bool {
    let order =
        document::compare_documents(DocRef::Tree(&index.key_pattern()), DocRef::Tree(pattern));
    order.is_eq()
}

/// Returns the shared definition of an index of the record.
pub(super) fn definition_of(state: &CollectionState, index: &IndexSpec) -> Arc<IndexSpec> {
    let shared = state.definitions.iter().find(|shared| shared.id == index.id);
    // The index of the primary key may be computed.
    shared.map_or_else(|| Arc::new(index.clone()), Arc::clone)
}
