//! Determines the part of a container that a request covers, from its headers or from the condition
//! of its query.
//!
//! A part is a range of row keys. Headers specify a partition key, a prefix of a hierarchical
//! partition key, a range of effective partition keys, or the whole container. A query that
//! compares all partition key paths with constants also determines a partition, so that SDKs need
//! not send a header with it.

use document::ValueRef;
use engine::{Item, ItemRange};
use select::sarg::{PathStep, Sarg, ValueTest};

use crate::{
    catalog::Container,
    epk::EpkRange,
    failure::{Failure, Fault, Result},
    headers::Headers,
    partition_key::{Component, KeyPath, KeyScope},
    request::Request,
    session,
};

/// The part of a container that a request covers.
pub(super) struct ContainerPart<'a> {
    /// Range of row keys that contains the part. The range may include items outside the part,
    /// which `within` excludes.
    pub(super) range: ItemRange,
    /// Identifies the part as specified by the headers. Continuation tokens are signed with it, so
    /// that a token for one part is invalid for another.
    pub(super) part_id: Vec<u8>,
    /// The partition key paths if the part is one logical partition, otherwise empty.
    pub(super) partition: &'a [KeyPath],
    /// The requested range of effective partition keys, if `range` includes keys outside it because
    /// row keys contain only a prefix of these keys; otherwise `None`.
    pub(super) within: Option<EpkRange>,
}

impl ContainerPart<'_> {
    /// Returns whether an item whose key is in `self.range` belongs to the part.
    pub(super) fn contains_item(&self, container: &Container, item: &Item) -> bool {
        self.within.as_ref().is_none_or(|within| within.contains_key(&container.item_epk(item)))
    }
}

/// Refuses a header with the id of a partition key range that does not exist; there is only one
/// range. The failure is 410, on which clients reload the list of ranges. In the header the id of
/// the container and a comma may precede the id of the range.
pub(super) fn check_range_id(headers: &Headers) -> Result<()> {
    match headers.range_id().map(str::trim).filter(|id| !id.is_empty()) {
        Some(id) if id.rsplit(',').next() != Some(session::RANGE) => {
            Err(Failure::new(Fault::Gone, format!("There is no partition key range '{id}'.")))
        }
        _ => Ok(()),
    }
}

/// Returns the part of the container that the request's headers select.
pub(super) fn of_headers<'a>(
    container: &'a Container,
    request: &Request,
) -> Result<ContainerPart<'a>> {
    let headers = &request.headers;
    check_range_id(headers)?;
    // A partition key takes precedence over a range: SDKs send both with some feeds, and the key is
    // the smaller part.
    if let Some(key) = headers.partition_key() {
        let scope = container.key.read_scope(key)?;
        let whole = matches!(scope, KeyScope::Whole(_));
        let partition = if whole { container.key.paths() } else { &[] };
        let (range, part_id) = (container.item_range(&scope), key.as_bytes().to_vec());
        return Ok(ContainerPart { range, part_id, partition, within: None });
    }
    if headers.start_epk().is_none() && headers.end_epk().is_none() {
        let range = ItemRange::all();
        return Ok(ContainerPart { range, part_id: Vec::new(), partition: &[], within: None });
    }
    // A missing bound is replaced by the end of the key space.
    let (start, end) = (headers.start_epk().unwrap_or(""), headers.end_epk().unwrap_or("FF"));
    let range = EpkRange::parse(start, end).ok_or_else(|| {
        Failure::bad_request(format!(
            "'{start}' and '{end}' are not a range of effective partition keys."
        ))
    })?;
    let part_id = format!("{start}-{end}").into_bytes();
    let (items, exact) = container.epk_range(&range);
    Ok(ContainerPart { range: items, part_id, partition: &[], within: (!exact).then_some(range) })
}

/// Returns the part of the container that a query reads; its condition may determine the partition.
pub(super) fn of_query<'a>(
    container: &'a Container,
    request: &Request,
    sarg: &Sarg,
) -> Result<ContainerPart<'a>> {
    let part = of_headers(container, request)?;
    // If headers specify a range, it is not reduced: the client sends the query once for each
    // range.
    if part.within.is_some() {
        return Ok(part);
    }
    let paths = container.key.paths();
    if !part.range.is_all() || paths.is_empty() {
        return Ok(part);
    }
    // The query's condition reduces the range. `part_id` is unchanged, since the continuation token
    // is also bound to the text of the query, which contains the condition.
    if let Some(components) = implied_partition(container, sarg) {
        let range = container.item_range(&KeyScope::Whole(components));
        return Ok(ContainerPart { range, partition: paths, ..part });
    }
    if may_be_whole(container, request) { Ok(part) } else { Err(cross_partition_disabled()) }
}

/// Returns whether a query without a partition key in its condition is permitted: its headers allow
/// it or specify a part, or the container has no partition key.
pub(super) fn may_be_whole(container: &Container, request: &Request) -> bool {
    let headers = &request.headers;
    headers.cross_partition()
        || headers.range_id().is_some()
        || headers.partition_key().is_some()
        || container.key.is_optional()
}

/// Returns the failure for a query without a partition, which Azure Cosmos DB refuses, too, to
/// prevent accidental scans of all partitions.
pub(super) fn cross_partition_disabled() -> Failure {
    Failure::bad_request(
        "Cross partition query is required but disabled. Please set \
         x-ms-documentdb-query-enablecrosspartition to true, specify \
         x-ms-documentdb-partitionkey, or revise your query to avoid this exception.",
    )
}

/// Returns the partition key that all items matching a condition have. `None` if the condition does
/// not compare each path of the key with a constant.
fn implied_partition(container: &Container, sarg: &Sarg) -> Option<Vec<Component>> {
    let tests = match sarg {
        Sarg::And(tests) => tests.as_slice(),
        one => std::slice::from_ref(one),
    };
    let component = |path: &KeyPath| {
        tests.iter().find_map(|test| match test {
            Sarg::Test(steps, ValueTest::Equal(value)) if leads_to(steps, path) => {
                exact_component(value.as_ref())
            }
            _ => None,
        })
    };
    container.key.paths().iter().map(component).collect()
}

/// Returns whether these steps are the path of the partition key.
pub(super) fn leads_to(steps: &[PathStep], path: &KeyPath) -> bool {
    steps.len() == path.parts().len()
        && steps.iter().zip(path.parts()).all(|(step, name)| match step {
            PathStep::Property(property) => property == name,
            PathStep::Elements => false,
        })
}

/// Returns the only component that equals a value; `None` for numbers, because equal numbers may
/// differ in their bits, which are hashed.
fn exact_component(value: ValueRef<'_>) -> Option<Component> {
    match value {
        ValueRef::String(_) | ValueRef::Bool(_) | ValueRef::Null => {
            Some(Component::of_value(Some(value)))
        }
        _ => None,
    }
}
