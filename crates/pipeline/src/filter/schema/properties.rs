//! Finds the fields that a schema names in a document.
//!
//! A dotted name denotes a field of an embedded document, as in MongoDB. Many names are found in
//! one pass over the document, so that the work grows with the sum of both sizes instead of their
//! product.

use document::{DocRef, ValueRef};
use evaluation::{Context, Error, STEP, readable_bytes};

use super::matching::BYTES_PER_UNIT;

/// The largest number of names that are looked up one by one, which needs no sorted list.
const SEARCHED_IN_ORDER: usize = 8;

/// A name that remains to be found: its first part, the rest behind the dot, and its position in
/// the list of names.
type Wanted<'n> = (&'n str, Option<&'n str>, usize);

/// Returns the names of a list of named rules.
pub(super) fn names_of<T>(named: &[(String, T)]) -> impl ExactSizeIterator<Item = &str> {
    named.iter().map(|(name, _)| name.as_str())
}

/// Returns whether a document has fields with all these names.
pub(super) fn has_properties(
    document: DocRef<'_>,
    names: &[String],
    context: &Context,
) -> Result<bool, Error> {
    let values = find_properties(document, names.iter().map(String::as_str), context)?;
    Ok(values.iter().all(Option::is_some))
}

/// Returns the values of the fields with these names, in the order of the names. The first field
/// with a name counts. Fails if the operation must end.
pub(super) fn find_properties<'a, 'n>(
    document: DocRef<'a>,
    names: impl ExactSizeIterator<Item = &'n str>,
    context: &Context,
) -> Result<Vec<Option<ValueRef<'a>>>, Error> {
    if names.len() <= SEARCHED_IN_ORDER {
        return names.map(|name| find_property(document, name, context)).collect();
    }
    context.budget.spend(STEP / 4 * names.len())?;
    let mut found = vec![None; names.len()];
    let mut wanted: Vec<Wanted<'n>> =
        names.enumerate().map(|(at, name)| split_name(name, at)).collect();
    find_wanted(document, &mut wanted, &mut found, context)?;
    Ok(found)
}

fn find_property<'a>(
    document: DocRef<'a>,
    name: &str,
    context: &Context,
) -> Result<Option<ValueRef<'a>>, Error> {
    let (mut fields, mut rest) = (document, name);
    loop {
        count_search(fields, context)?;
        let Some((first, below)) = rest.split_once('.') else { return Ok(fields.get(rest)) };
        match fields.get(first) {
            Some(ValueRef::Document(inner)) => (fields, rest) = (inner, below),
            _ => return Ok(None),
        }
    }
}

/// Stores the values of wanted fields in `found`. The recursion is as deep as the document.
fn find_wanted<'a>(
    document: DocRef<'a>,
    wanted: &mut [Wanted<'_>],
    found: &mut [Option<ValueRef<'a>>],
    context: &Context,
) -> Result<(), Error> {
    wanted.sort_unstable();
    let mut seen = vec![false; wanted.len()];
    count_search(document, context)?;
    for (name, value) in document.iter() {
        context.budget.spend(STEP / 4)?;
        let from = wanted.partition_point(|(first, ..)| *first < name);
        let same = wanted.iter().skip(from).take_while(|(first, ..)| *first == name);
        // Later fields with the same name do not count.
        match seen.get_mut(from) {
            Some(seen) if same.clone().next().is_some() && !*seen => *seen = true,
            _ => continue,
        }
        let mut below = Vec::new();
        for (_, rest, at) in same {
            match rest {
                Some(rest) => below.push(split_name(rest, *at)),
                None => {
                    if let Some(found) = found.get_mut(*at) {
                        *found = Some(value);
                    }
                }
            }
        }
        if let (ValueRef::Document(inner), false) = (value, below.is_empty()) {
            find_wanted(inner, &mut below, found, context)?;
        }
    }
    Ok(())
}

fn split_name(name: &str, at: usize) -> Wanted<'_> {
    match name.split_once('.') {
        Some((first, rest)) => (first, Some(rest), at),
        None => (name, None, at),
    }
}

/// Charges the work of a search in a document, which grows with the size of the document.
pub(super) fn count_search(document: DocRef<'_>, context: &Context) -> Result<(), Error> {
    context.budget.spend(STEP / 4 + readable_bytes(ValueRef::Document(document)) / BYTES_PER_UNIT)
}
