//! The order of items in pages without an ORDER BY: creation order in a small container, key order
//! otherwise. Continuation tokens are signed with the order of the first page, and all later pages
//! follow it.
//!
//! Users expect creation order when they view a small container. There is no index for it, so all
//! items must be sorted, which is feasible only for few items. If a container grows between two
//! pages, the later page still has the order that its token states.

use std::borrow::Cow;

use engine::{CreationOrder, Item, ScanOrder};
use select::plan::Select;

use crate::{api::NoSqlApi, continuation, failure::Result, request::Request};

/// Part of the signature of continuation tokens for pages in creation order, so that these tokens
/// are not valid for pages in key order.
const CREATIONS: &[u8] = b"births";

/// Part of the signature of continuation tokens for queries with an ORDER BY, which states that
/// rows with equal values are in creation order. Earlier versions of the server used key order for
/// them; tokens of those versions are refused.
const TIES_BY_CREATION: &[u8] = b"ties by birth";

/// Returns the additional parts of the signature of a query's continuation tokens.
pub(super) fn order_mark(plan: &Select) -> &'static [&'static [u8]] {
    if plan.clauses().order.is_empty() { &[] } else { &[TIES_BY_CREATION] }
}

/// Returns the position of an item in the order `scan_order`. The continuation token stores the
/// position of the last item.
pub(super) fn order_key(scan_order: ScanOrder, item: &Item) -> Cow<'_, [u8]> {
    // Creation stamps are commit numbers, whose big-endian bytes compare as the numbers do.
    match scan_order {
        ScanOrder::ByCreation => Cow::Owned(item.creation_stamp.to_be_bytes().to_vec()),
        ScanOrder::ByKey | ScanOrder::AsRequested => Cow::Borrowed(&item.key),
    }
}

/// Returns the order of the items in a request's pages, and the state in its continuation token.
/// Without a token the engine chooses the order by the number of items.
pub(super) fn resume_page(
    api: &NoSqlApi,
    request: &Request,
    about: &[&[u8]],
) -> Result<(CreationOrder, Option<Vec<u8>>)> {
    let Some(token) = request.headers.continuation().filter(|token| !token.is_empty()) else {
        return Ok((CreationOrder::WhereFew, None));
    };
    // A token is valid for only one of the two signatures, which tells the order.
    if let Ok(held) = continuation::open_token(&api.secret, &[about, &[CREATIONS]].concat(), token)
    {
        return Ok((CreationOrder::Always, Some(held)));
    }
    Ok((CreationOrder::Never, Some(continuation::open_token(&api.secret, about, token)?)))
}

/// Returns the continuation token of a page whose items are in the order `scan_order`. `state` is
/// the position after the page.
pub(super) fn seal_page(
    api: &NoSqlApi,
    about: &[&[u8]],
    scan_order: ScanOrder,
    state: &[u8],
) -> String {
    match scan_order {
        ScanOrder::ByCreation => {
            continuation::seal_token(&api.secret, &[about, &[CREATIONS]].concat(), state)
        }
        ScanOrder::ByKey | ScanOrder::AsRequested => {
            continuation::seal_token(&api.secret, about, state)
        }
    }
}
