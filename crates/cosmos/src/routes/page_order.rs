//! The order of what has no ORDER BY: in a container of few items that in which they were made,
//! else that of their keys. Pages go on in the order of the first one, which their tokens are
//! sealed with.
//!
//! The order of births is what people expect who look at a small container. Without an index for it
//! all items have to be sorted, which only few items allow. A container may become too large for it
//! between two pages; by its token the second page knows the order of the first.

use std::borrow::Cow;

use engine::{BirthOrder, Item, ScanOrder, Store};
use select::plan::Select;

use crate::{continuation, door::Door, failure::Result, request::Request};

/// What tokens of pages in the order of births are for, in addition to everything else.
const BIRTHS: &[u8] = b"births";

/// What tokens of queries with an ORDER BY are for, in addition to everything else: rows with equal
/// values come in the order of births. Earlier versions had the order of keys, and their tokens are
/// refused.
const TIES_BY_BIRTH: &[u8] = b"ties by birth";

/// What a token of a query is for in addition to its text.
pub(super) fn order_mark(plan: &Select) -> &'static [&'static [u8]] {
    if plan.clauses().order.is_empty() { &[] } else { &[TIES_BY_BIRTH] }
}

/// The place of an item in the order in which items come: what a token holds of the last one.
pub(super) fn order_key(comes: ScanOrder, item: &Item) -> Cow<'_, [u8]> {
    // Births are numbers of commits, which as bytes compare as numbers do.
    match comes {
        ScanOrder::ByBirth => Cow::Owned(item.birth.to_be_bytes().to_vec()),
        ScanOrder::ByKey | ScanOrder::AsAsked => Cow::Borrowed(&item.key),
    }
}

/// In which order a request is answered, and what its continuation token holds. Without a token the
/// engine chooses the order by the number of items.
pub(super) fn resume_page<S: Store>(
    door: &Door<S>,
    request: &Request,
    about: &[&[u8]],
) -> Result<(BirthOrder, Option<Vec<u8>>)> {
    let Some(token) = request.headers.continuation().filter(|token| !token.is_empty()) else {
        return Ok((BirthOrder::WhereFew, None));
    };
    // A token opens for one order alone, so trying tells which one it is.
    if let Ok(held) = continuation::open_token(&door.secret, &[about, &[BIRTHS]].concat(), token) {
        return Ok((BirthOrder::Always, Some(held)));
    }
    Ok((BirthOrder::Never, Some(continuation::open_token(&door.secret, about, token)?)))
}

/// The token of a page whose items came in this order. Items in the order that a query asks for
/// have their place within `state`.
pub(super) fn seal_page<S: Store>(
    door: &Door<S>,
    about: &[&[u8]],
    comes: ScanOrder,
    state: &[u8],
) -> String {
    match comes {
        ScanOrder::ByBirth => {
            continuation::seal_token(&door.secret, &[about, &[BIRTHS]].concat(), state)
        }
        ScanOrder::ByKey | ScanOrder::AsAsked => {
            continuation::seal_token(&door.secret, about, state)
        }
    }
}
