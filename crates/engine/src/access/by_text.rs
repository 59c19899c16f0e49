//! Chooses the access path of a search for texts: the entries of its words in the collection's text
//! index. No other access path can evaluate such a search.

use std::sync::Arc;

use collation::Collation;
use document::ValueRef;
use full_text::{TextQuery, no_text_index, unusable_text_index};
use pipeline::{Filter, sort::Sort};
use store::Direction;

use super::{
    Hint,
    access_path::{AccessPath, ChosenAccess},
    bounds::{Bounds, collect_conjuncts},
    conditions::{PathBounds, bounds_on_path},
    exact::Residual,
    implied::filter_implies,
    key_texts::KeyTexts,
    prefixes::Prefixes,
};
use crate::{
    catalog::{CollectionState, IndexShape, IndexSpec, TEXT_FIELD},
    error::{Error, Kind},
};

/// Returns the access path of a search. Fails if there is no text index, if a field before the texts
/// has no equality, if the index does not contain all matching documents, and if a hint is given.
/// Words are compared without `collation`, the order of texts in the rest of the filter.
pub(super) fn text_access(
    state: &CollectionState,
    filter: &Filter,
    query: &TextQuery,
    sort: Option<&Sort>,
    hint: &Hint,
    collation: Option<&Collation>,
) -> Result<ChosenAccess, Error> {
    if *hint != Hint::None {
        let message = "text and hint not allowed in same query";
        return Err(Error::new(Kind::Invalid, message));
    }
    let indexes = state.definitions.iter().zip(&state.partial);
    let found =
        indexes.filter(|(index, _)| index.ready && !index.hidden).find_map(|(index, partial)| {
            match &index.shape {
                IndexShape::Text(text) => Some((index, text, partial)),
                _ => None,
            }
        });
    let Some((index, text, partial)) = found else { return Err(no_text_index().into()) };
    if !query.bind(text) {
        let message = "the text index was changed while the query began";
        return Err(Error::new(Kind::Conflict, message));
    }
    let mut parts = Vec::new();
    collect_conjuncts(filter, &mut parts);
    let texts = KeyTexts::of(index.collation.as_deref(), collation);
    let covered = partial.as_deref().is_none_or(|it| filter_implies(filter, it, texts));
    let mut prefixes =
        prefixes(index, &parts, texts).filter(|_| covered).ok_or_else(unusable_text_index)?;
    let words = query.index_words();
    let component = |word| KeyTexts::BYTES.encode_component(ValueRef::String(word), false);
    let mut words: Vec<Vec<u8>> = words.map(component).collect();
    words.sort();
    if !prefixes.extend(&words, 0) {
        let message = "a search for texts has too many words";
        return Err(Error::new(Kind::TooLarge, message));
    }
    let ranges = prefixes.ranges(None);
    Ok(ChosenAccess {
        access: AccessPath::Index { index: Arc::clone(index), ranges },
        direction: Direction::Forward,
        sorted: sort.is_none_or(|sort| sort.parts.is_empty()),
        residual: residual(&parts, query),
    })
}

/// Returns the key prefixes that the filter allows for the fields before the texts; `None` if it
/// does not fix one of them.
fn prefixes(index: &IndexSpec, parts: &[&Filter], texts: KeyTexts<'_>) -> Option<Prefixes> {
    let mut prefixes = Prefixes::of_index(index.id);
    for (path, descending) in index.key.iter().take_while(|(path, _)| path != TEXT_FIELD) {
        // The index has no arrays at these fields.
        match bounds_on_path(parts, path, *descending, true, texts)? {
            PathBounds { bounds: Bounds::Points(points), score } => {
                prefixes.extend(&points, score).then_some(())?;
            }
            PathBounds { bounds: Bounds::Spans(_), .. } => return None,
        }
    }
    Some(prefixes)
}

/// Returns the part of the filter to check on the rows: not the search, if the ranges contain
/// exactly the matching documents.
fn residual(parts: &[&Filter], query: &TextQuery) -> Residual {
    if !query.is_answered_by_words() {
        return Residual::Whole;
    }
    let left = parts.iter().filter(|part| !matches!(part, Filter::Text(_)));
    let left: Vec<Filter> = left.map(|part| (*part).clone()).collect();
    if left.is_empty() { Residual::Nothing } else { Residual::Parts(Filter::all(left)) }
}
