//! Derives a document's entries in a text index: one per different word, between the values of the
//! fields before and after the texts.
//!
//! ```text
//!  index (kind, text)   document {kind: 1, text: "dark roast"}   ──▶   (1, dark) (1, roast)
//! ```

use document::{
    DocRef, ValueRef,
    key::{TypeOrder, encode},
};
use evaluation::Context;
use full_text::{TextIndex, array_beside_texts};

use super::{DraftedEntries, single_value::single_value};
use crate::{
    catalog::{IndexSpec, TEXT_FIELD},
    entry::{NamedRow, naming_body},
    error::Error,
    keys,
};

/// Returns a document's entries in a text index; none if it has no words. Fails for an
/// array at one of the other fields of the index.
pub(super) fn draft_text(
    index: &IndexSpec,
    text: &TextIndex,
    document: DocRef<'_>,
    row: NamedRow<'_>,
) -> Result<DraftedEntries, Error> {
    let words = text.words(document, &Context::default())?;
    let mut before = keys::index_prefix(index.id);
    let mut behind = Vec::new();
    let mut is_behind = false;
    for (path, descending) in &index.key {
        if path.starts_with(TEXT_FIELD) {
            is_behind = true;
            continue;
        }
        let value = single_value(document, path).ok_or_else(|| array_beside_texts(path))?;
        let out = if is_behind { &mut behind } else { &mut before };
        encode(value, TypeOrder::Bson, *descending, out);
    }
    behind.extend_from_slice(row.key);
    let body = naming_body(row.key);
    let mut entries = Vec::with_capacity(words.len());
    for word in words.keys() {
        let mut key = before.clone();
        encode(ValueRef::String(word), TypeOrder::Bson, false, &mut key);
        key.extend_from_slice(&behind);
        entries.push((key.into(), body.clone()));
    }
    entries.sort_unstable();
    Ok(DraftedEntries { entries, multikey: false, date: None })
}
