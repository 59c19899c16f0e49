//! The keys of an index between two bounds that the client gives (`min` and `max` of a find).
//!
//! ```text
//!  index (a, -b)    min {a: 1, b: 9}  max {a: 3, b: 0}     [enc(1) enc(-9), enc(3) enc(-0))
//! ```

use std::sync::Arc;

use collation::Collation;
use document::{Document, Value, key::KEPT_KEY_COMPONENT_BYTES};
use pipeline::{Filter, sort::Sort};
use store::{Direction, KeyRange};

use super::{
    access_path::{AccessPath, ChosenAccess},
    bounds::prefix_successor,
    by_index::direction_for_sort,
    exact::residual_of,
    key_texts::KeyTexts,
};
use crate::{
    catalog::{IndexShape, IndexSpec},
    error::{Error, HintRefusal, Kind},
    keys,
};

/// Returns the access path to the keys from `min` on and before `max`; an empty document is no
/// bound. `None` is the primary key.
///
/// Fails if a bound has other fields than the index or a value of more than
/// [`KEPT_KEY_COMPONENT_BYTES`] bytes, if it has a text and the index another collation than the
/// query, or if `min` does not precede `max`.
pub(super) fn between_access(
    index: Option<&Arc<IndexSpec>>,
    min: &Document,
    max: &Document,
    parts: &[&Filter],
    sort: Option<&Sort>,
    collation: Option<&Collation>,
) -> Result<ChosenAccess, Error> {
    let texts = KeyTexts::of(index.and_then(|index| index.collation.as_deref()), collation);
    let id = [("_id".to_owned(), false)];
    let (key, prefix) = match index {
        None => (id.as_slice(), Vec::new()),
        Some(index) if index.shape == IndexShape::Fields => {
            (index.key.as_slice(), keys::index_prefix(index.id))
        }
        Some(_) => return Err(refused(HintRefusal::OtherFields)),
    };
    let start = bound_key(key, &prefix, min, texts)?.unwrap_or_else(|| prefix.clone());
    let end = match (bound_key(key, &prefix, max, texts)?, index) {
        (None, None) => None,
        (None, Some(_)) => Some(prefix_successor(&prefix)),
        (end, _) => end,
    };
    if end.as_ref().is_some_and(|end| *end <= start) {
        return Err(refused(HintRefusal::BoundsReversed));
    }
    let order = sort.filter(|sort| !sort.parts.is_empty());
    let by_order = order.and_then(|sort| match index {
        Some(index) => direction_for_sort(index, 0, sort, texts),
        None => direction_by_id(sort).filter(|_| texts.are_same()),
    });
    let ranges = vec![KeyRange { start, end }];
    let access = match index {
        None => AccessPath::Rows(ranges),
        Some(index) => AccessPath::Index { index: Arc::clone(index), ranges },
    };
    Ok(ChosenAccess {
        access,
        direction: by_order.unwrap_or(Direction::Forward),
        sorted: order.is_none() || by_order.is_some(),
        residual: residual_of(parts, &[], None, texts),
    })
}

/// Returns the direction in which the primary key yields an order; `None` if it does not.
fn direction_by_id(sort: &Sort) -> Option<Direction> {
    let first = sort.parts.first().filter(|part| part.path.as_str() == "_id")?;
    Some(if first.descending { Direction::Backward } else { Direction::Forward })
}

/// Encodes a bound; `None` if it is empty.
fn bound_key(
    key: &[(String, bool)],
    prefix: &[u8],
    bound: &Document,
    texts: KeyTexts<'_>,
) -> Result<Option<Vec<u8>>, Error> {
    if bound.is_empty() {
        return Ok(None);
    }
    let fields = bound.fields();
    let same = fields.len() == key.len()
        && fields.iter().zip(key).all(|((name, _), (path, _))| name == path);
    if !same {
        return Err(refused(HintRefusal::OtherFields));
    }
    let mut out = prefix.to_vec();
    for ((_, value), (path, descending)) in fields.iter().zip(key) {
        if !texts.hold(Value::as_ref(value)) {
            return Err(refused(HintRefusal::OtherFields));
        }
        let component = texts.encode_component(Value::as_ref(value), *descending);
        // Longer values are not in order by their keys.
        if KEPT_KEY_COMPONENT_BYTES < component.len() {
            let message = format!(
                "the bound of '{path}' in min or max has more than {KEPT_KEY_COMPONENT_BYTES} bytes"
            );
            return Err(Error::new(Kind::Invalid, message));
        }
        out.extend_from_slice(&component);
    }
    Ok(Some(out))
}

fn refused(why: HintRefusal) -> Error {
    let message = match why {
        HintRefusal::BoundsReversed => "the lower bound of keys does not precede the upper one",
        _ => "the bounds of keys do not have the fields of the hinted index",
    };
    Error::new(Kind::HintRefused(why), message)
}
