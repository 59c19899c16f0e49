//! Derives a document's entries in an index of geometries: one per cell, with the values at the other
//! paths of the key. Several cells or values give an entry for each combination.
//!
//! ```text
//!  index (kind, place)   document {kind: 1, place: a line}   ──▶   (1, cell a) (1, cell b)
//! ```

use bytes::Bytes;
use document::DocRef;
use geometry::GeoIndex;

use super::{
    DraftedEntries,
    entries::{PathValues, values_of_path},
};
use crate::{
    access::push_component,
    catalog::IndexSpec,
    entry::{NamedRow, naming_body},
    error::{Error, Kind},
    keys,
    limits::MAX_ENTRIES_PER_DOCUMENT,
};

/// Returns a document's entries in an index of geometries; `None` for a document without one. Fails
/// for a value that is no geometry, and if there are too many entries.
pub(super) fn draft_geo(
    index: &IndexSpec,
    geo: &GeoIndex,
    document: DocRef<'_>,
    row: NamedRow<'_>,
) -> Result<Option<DraftedEntries>, Error> {
    let mut keys = vec![keys::index_prefix(index.id)];
    let (mut has_geometry, mut multikey) = (false, false);
    for (path, descending) in &index.key {
        let mut components: Vec<Vec<u8>> = Vec::new();
        if geo.paths.contains(path) {
            let found = geo.cells_at(document, path)?;
            multikey |= found.expanded;
            has_geometry |= !found.cells.is_empty();
            let none = found.cells.is_empty().then_some(None);
            for cell in found.cells.iter().map(|cell| Some(cell.0)).chain(none) {
                let mut component = Vec::new();
                keys::push_cell(cell, &mut component);
                components.push(component);
            }
        } else {
            let PathValues { values, expanded } = values_of_path(index, document, path)?;
            multikey |= expanded;
            for value in values {
                let mut component = Vec::new();
                push_component(index.collation.as_deref(), value, *descending, &mut component);
                components.push(component);
            }
        }
        if MAX_ENTRIES_PER_DOCUMENT < keys.len().saturating_mul(components.len()) {
            let message = format!("a document has too many entries in index '{}'", index.name);
            return Err(Error::new(Kind::TooLarge, message));
        }
        let with = |key: &Vec<u8>| -> Vec<Vec<u8>> {
            components.iter().map(|part| [key.as_slice(), part].concat()).collect()
        };
        keys = keys.iter().flat_map(with).collect();
    }
    if !has_geometry {
        return Ok(None);
    }
    let body = naming_body(row.key);
    let entry = |mut key: Vec<u8>| {
        key.extend_from_slice(row.key);
        (Bytes::from(key), body.clone())
    };
    let mut entries: Vec<(Bytes, Bytes)> = keys.into_iter().map(entry).collect();
    entries.sort_unstable();
    entries.dedup();
    multikey |= 1 < entries.len();
    Ok(Some(DraftedEntries { entries, multikey, date: None }))
}
