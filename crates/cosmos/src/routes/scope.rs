//! Which part of a container a request is about, by its headers or by what its query asks for.

use document::ValueRef;
use engine::ItemRange;
use query::json::sarg::{Sarg, Step, Test};

use crate::{
    call::Call,
    containers::Container,
    epk::EpkRange,
    failure::{Failure, Fault, Result},
    partition_key::{Component, KeyPath, Scope},
    session,
};

/// The part of a container that a query is about.
pub(super) struct QueryScope<'a> {
    pub(super) range: ItemRange,
    /// A text that tells what headers name from others.
    pub(super) mark: Vec<u8>,
    /// The paths of the partition key, where it is one logical partition.
    pub(super) partition: &'a [KeyPath],
}

/// The part that headers name, and a text that tells it from others.
pub(super) fn of_headers(container: &Container, call: &Call<'_>) -> Result<(ItemRange, Vec<u8>)> {
    let headers = &call.headers;
    if let Some(id) = headers.range_id.map(str::trim).filter(|id| !id.is_empty())
        && id.rsplit(',').next() != Some(session::RANGE)
    {
        let text = format!("There is no partition key range '{id}'.");
        return Err(Failure::new(Fault::Gone, text));
    }
    if let Some(key) = headers.partition_key {
        let scope = container.key.scope(key)?;
        return Ok((container.range(&scope), key.as_bytes().to_vec()));
    }
    if headers.start_epk.is_none() && headers.end_epk.is_none() {
        return Ok((ItemRange::all(), Vec::new()));
    }
    let (start, end) = (headers.start_epk.unwrap_or(""), headers.end_epk.unwrap_or("FF"));
    let range = EpkRange::parse(start, end).ok_or_else(|| {
        Failure::bad(format!("'{start}' and '{end}' are no range of effective partition keys."))
    })?;
    Ok((container.epk_range(range), format!("{start}-{end}").into_bytes()))
}

/// The same for a query, which may name the partition itself.
pub(super) fn of_query<'a>(
    container: &'a Container,
    call: &Call<'_>,
    sarg: &Sarg,
) -> Result<QueryScope<'a>> {
    let (range, mark) = of_headers(container, call)?;
    let (headers, paths) = (&call.headers, container.key.paths());
    if !range.is_all() || paths.is_empty() {
        let one = match headers.partition_key {
            Some(key) => matches!(container.key.scope(key)?, Scope::Whole(_)),
            None => false,
        };
        let partition = if one { paths } else { &[] };
        return Ok(QueryScope { range, mark, partition });
    }
    if let Some(components) = partition(container, sarg) {
        let range = container.range(&Scope::Whole(components));
        return Ok(QueryScope { range, mark, partition: paths });
    }
    let whole =
        headers.cross_partition || headers.range_id.is_some() || headers.partition_key.is_some();
    if whole { Ok(QueryScope { range, mark, partition: &[] }) } else { Err(disabled()) }
}

fn disabled() -> Failure {
    Failure::bad(
        "Cross partition query is required but disabled. Please set \
         x-ms-documentdb-query-enablecrosspartition to true, specify \
         x-ms-documentdb-partitionkey, or revise your query to avoid this exception.",
    )
}

/// The partition key that every item has which a condition keeps.
fn partition(container: &Container, sarg: &Sarg) -> Option<Vec<Component>> {
    let tests = match sarg {
        Sarg::And(tests) => tests.as_slice(),
        one => std::slice::from_ref(one),
    };
    let component = |path: &KeyPath| {
        tests.iter().find_map(|test| match test {
            Sarg::Test(steps, Test::Equal(value)) if leads(steps, path) => exact(value.as_ref()),
            _ => None,
        })
    };
    container.key.paths().iter().map(component).collect()
}

/// Whether these steps are the path of a partition key.
pub(super) fn leads(steps: &[Step], path: &KeyPath) -> bool {
    steps.len() == path.parts().len()
        && steps.iter().zip(path.parts()).all(|(step, name)| match step {
            Step::Property(property) => property == name,
            Step::Elements => false,
        })
}

/// The one component that is equal to a value. Numbers may be equal and still have other bits.
fn exact(value: ValueRef<'_>) -> Option<Component> {
    match value {
        ValueRef::String(_) | ValueRef::Bool(_) | ValueRef::Null => {
            Some(Component::of(Some(value)))
        }
        _ => None,
    }
}
