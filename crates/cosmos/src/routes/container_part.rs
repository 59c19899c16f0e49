//! Which part of a container a request is about, by its headers or by what its query asks for.
//!
//! A part is a range of row keys. Headers name one by a partition key, by a prefix of a
//! hierarchical one, by a range of effective partition keys, or not at all. A query that compares
//! all paths of the partition key with constants names one too, so SDKs need not send a header with
//! it.

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

/// The part of a container that a request is about.
pub(super) struct ContainerPart<'a> {
    /// The row keys that its items have, and perhaps others: see `within`.
    pub(super) range: ItemRange,
    /// A text that tells what headers name from others. Continuation tokens are sealed with it, so
    /// that a token for one part is not good for another.
    pub(super) mark: Vec<u8>,
    /// The paths of the partition key, where it is one logical partition.
    pub(super) partition: &'a [KeyPath],
    /// The effective partition keys, where the range has others too: row keys hold only the
    /// beginning of some.
    pub(super) within: Option<EpkRange>,
}

impl ContainerPart<'_> {
    /// Whether an item of its range is in it.
    pub(super) fn contains_item(&self, container: &Container, item: &Item) -> bool {
        self.within.as_ref().is_none_or(|within| within.contains_key(&container.item_epk(item)))
    }
}

/// Refuses the id of a partition key range that does not exist. There is one range. A client that
/// knows another one has to read the list of ranges anew, which 410 tells it to do. An id may have
/// that of the container before it.
pub(super) fn check_range_id(headers: &Headers) -> Result<()> {
    match headers.range_id().map(str::trim).filter(|id| !id.is_empty()) {
        Some(id) if id.rsplit(',').next() != Some(session::RANGE) => {
            Err(Failure::new(Fault::Gone, format!("There is no partition key range '{id}'.")))
        }
        _ => Ok(()),
    }
}

/// The part that headers name.
pub(super) fn of_headers<'a>(
    container: &'a Container,
    request: &Request,
) -> Result<ContainerPart<'a>> {
    let headers = &request.headers;
    check_range_id(headers)?;
    // A partition key counts before a range: SDKs send both with some feeds, and the key is the
    // smaller part.
    if let Some(key) = headers.partition_key() {
        let scope = container.key.read_scope(key)?;
        let whole = matches!(scope, KeyScope::Whole(_));
        let partition = if whole { container.key.paths() } else { &[] };
        let (range, mark) = (container.item_range(&scope), key.as_bytes().to_vec());
        return Ok(ContainerPart { range, mark, partition, within: None });
    }
    if headers.start_epk().is_none() && headers.end_epk().is_none() {
        let range = ItemRange::all();
        return Ok(ContainerPart { range, mark: Vec::new(), partition: &[], within: None });
    }
    // One end alone is a range from there on or up to there.
    let (start, end) = (headers.start_epk().unwrap_or(""), headers.end_epk().unwrap_or("FF"));
    let range = EpkRange::parse(start, end).ok_or_else(|| {
        Failure::bad_request(format!(
            "'{start}' and '{end}' are no range of effective partition keys."
        ))
    })?;
    let mark = format!("{start}-{end}").into_bytes();
    let (items, exact) = container.epk_range(&range);
    Ok(ContainerPart { range: items, mark, partition: &[], within: (!exact).then_some(range) })
}

/// The same for a query, which may name the partition itself.
pub(super) fn of_query<'a>(
    container: &'a Container,
    request: &Request,
    sarg: &Sarg,
) -> Result<ContainerPart<'a>> {
    let part = of_headers(container, request)?;
    // Headers that name a part count before the query's own condition: the client splits the query.
    if part.within.is_some() {
        return Ok(part);
    }
    let paths = container.key.paths();
    if !part.range.is_all() || paths.is_empty() {
        return Ok(part);
    }
    // Here the condition alone makes the range smaller. The mark stays that of the headers, since
    // the text of the query is part of the token as well.
    if let Some(components) = implied_partition(container, sarg) {
        let range = container.item_range(&KeyScope::Whole(components));
        return Ok(ContainerPart { range, partition: paths, ..part });
    }
    if may_be_whole(container, request) { Ok(part) } else { Err(cross_partition_disabled()) }
}

/// Whether a query may be about the whole container: its headers say so, or name a part of it, or the
/// container is one logical partition.
pub(super) fn may_be_whole(container: &Container, request: &Request) -> bool {
    let headers = &request.headers;
    headers.cross_partition()
        || headers.range_id().is_some()
        || headers.partition_key().is_some()
        || container.key.is_optional()
}

/// Why a query without a partition is not answered: the service refuses it as well, so that nobody
/// reads all partitions without meaning to.
pub(super) fn cross_partition_disabled() -> Failure {
    Failure::bad_request(
        "Cross partition query is required but disabled. Please set \
         x-ms-documentdb-query-enablecrosspartition to true, specify \
         x-ms-documentdb-partitionkey, or revise your query to avoid this exception.",
    )
}

/// The partition key that every item has which a condition keeps; `None` where one of its paths is
/// not compared with a constant.
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

/// Whether these steps are the path of a partition key.
pub(super) fn leads_to(steps: &[PathStep], path: &KeyPath) -> bool {
    steps.len() == path.parts().len()
        && steps.iter().zip(path.parts()).all(|(step, name)| match step {
            PathStep::Property(property) => property == name,
            PathStep::Elements => false,
        })
}

/// The one component that is equal to a value. Numbers may be equal and still have other bits, by
/// which clients hash them, so a number names no partition here.
fn exact_component(value: ValueRef<'_>) -> Option<Component> {
    match value {
        ValueRef::String(_) | ValueRef::Bool(_) | ValueRef::Null => {
            Some(Component::of_value(Some(value)))
        }
        _ => None,
    }
}
