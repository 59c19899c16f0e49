//! Which part of a container a request is about, by its headers or by what its query asks for.

use document::ValueRef;
use engine::ItemRange;
use query::json::sarg::{Sarg, Step, Test};

use crate::{
    call::Call,
    containers::Container,
    epk::EpkRange,
    failure::{Failure, Fault, Result},
    partition_key::{Component, Scope},
    session,
};

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
pub(super) fn of_query(
    container: &Container,
    call: &Call<'_>,
    sarg: &Sarg,
) -> Result<(ItemRange, Vec<u8>)> {
    let (range, mark) = of_headers(container, call)?;
    if !range.is_all() || container.key.paths().is_empty() {
        return Ok((range, mark));
    }
    let Some(components) = partition(container, sarg) else {
        let headers = &call.headers;
        let whole = headers.cross_partition
            || headers.range_id.is_some()
            || headers.partition_key.is_some();
        return if whole { Ok((range, mark)) } else { Err(disabled()) };
    };
    Ok((container.range(&Scope::Whole(components)), mark))
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
    let component = |path: &crate::partition_key::KeyPath| {
        let is_path = |steps: &[Step]| {
            steps.len() == path.parts().len()
                && steps.iter().zip(path.parts()).all(|(step, name)| match step {
                    Step::Property(property) => property == name,
                    Step::Elements => false,
                })
        };
        tests.iter().find_map(|test| match test {
            Sarg::Test(steps, Test::Equal(value)) if is_path(steps) => exact(value.as_ref()),
            _ => None,
        })
    };
    container.key.paths().iter().map(component).collect()
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
